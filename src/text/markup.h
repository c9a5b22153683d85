/*
 * markup.h: the text of HTML and XML documents.
 */
#ifndef NEARDUP_TEXT_MARKUP_H
#define NEARDUP_TEXT_MARKUP_H

#include "base/host.h"

/*
 * Writes [in, in + length) without its markup to out, which has room for length bytes;
 * returns how many bytes it has written.  Takes linear time.  Any input is accepted, and
 * valid UTF-8 remains valid.
 */
extern size_t markup_strip(const char *in, size_t length, char *out);

/* Returns the character of an entity's name such as "eacute", 0 for none (entities.c). */
extern uint32_t entity_named(const char *name, size_t length);

#endif
