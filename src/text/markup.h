/*
 * markup.h: the text of an HTML or XML document.
 */
#ifndef NEARDUP_TEXT_MARKUP_H
#define NEARDUP_TEXT_MARKUP_H

#include "base/host.h"

/*
 * Write what is left of [in, in + length) without its markup to out, which has
 * room for length bytes; returns how many there are.  Linear time; any input will
 * do, and what is valid UTF-8 stays so.
 */
extern size_t markup_strip(const char *in, size_t length, char *out);

/* The character that a name such as "eacute" stands for, 0 for none (entities.c). */
extern uint32_t entity_named(const char *name, size_t length);

#endif
