/*
 * mask.h: texts without what changes by itself, such as dates and ids.
 */
#ifndef NEARDUP_TEXT_MASK_H
#define NEARDUP_TEXT_MASK_H

#include "base/host.h"

extern const char mask_names[];

extern bool mask_parse(const char *list, size_t length, unsigned *kinds);
extern size_t mask_text(const char *in, size_t length, unsigned kinds, char *out);

#endif
