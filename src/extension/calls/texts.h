/*
 * texts.h: text arguments as UTF-8, and texts as results.
 */
#ifndef NEARDUP_CALLS_TEXTS_H
#define NEARDUP_CALLS_TEXTS_H

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

extern Utf8Text utf8_of_datum(Datum datum);
extern void utf8_free(Utf8Text *utf8);
extern _Noreturn void refuse_long_texts(void);
extern text *text_of_utf8(const char *utf8, size_t length);
extern const char *beginning_of(const char *text);

#endif
