/*
 * texts.h: text arguments as UTF-8, and texts as results.
 */
#ifndef NEARDUP_TYPES_TEXTS_H
#define NEARDUP_TYPES_TEXTS_H

#include "compat.h"

#include "fmgr.h"

/* A text argument, detoasted and as UTF-8. */
typedef struct Utf8Text
{
	const char *bytes;
	size_t length;
	text *detoasted; /* NULL where the datum needed no copy */
	char *converted; /* NULL where the server's encoding is UTF-8 */
} Utf8Text;

/* Throws an error for bytes above 0x7F where the server's encoding is SQL_ASCII. */
extern Utf8Text utf8_of_datum(Datum datum);

/* Frees the copies that utf8_of_datum() made. */
extern void utf8_free(Utf8Text *utf8);

/* Throws the error for two texts that have too many symbols to be compared. */
extern _Noreturn void refuse_long_texts(void);

/* Returns a text in the server's encoding. */
extern text *text_of_utf8(const char *utf8, size_t length);

#endif
