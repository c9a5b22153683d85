/*
 * markup.h: the text of HTML and XML documents.
 */
#ifndef NEARDUP_TEXT_MARKUP_H
#define NEARDUP_TEXT_MARKUP_H

#include "base/host.h"

extern size_t markup_strip(const char *in, size_t length, char *out);
extern uint32_t entity_named(const char *name, size_t length);

#endif
