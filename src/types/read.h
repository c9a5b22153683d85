/*
 * read.h: readers of the text and binary formats of this extension's types.
 *
 * A reader of text returns false after an error.  On PostgreSQL 16 and later the error
 * is saved where the caller of the input function wants it, as pg_input_is_valid() and
 * COPY ... ON_ERROR do; otherwise it is thrown, and the reader does not return.
 */
#ifndef NEARDUP_TYPES_READ_H
#define NEARDUP_TYPES_READ_H

#include "types/calls.h"
#include "types/schemes.h"

#include "common/int.h"
#include "lib/stringinfo.h"

/* ---- Text --------------------------------------------------------------- */

typedef struct TextReader
{
	const char *at;    /* what is read next */
	const char *input; /* the whole text */
	const char *type;  /* what errors call its type */
	bool strict;       /* numbers have no leading zeros */
	Node *context;     /* where errors are saved */
} TextReader;

extern TextReader text_reader(FunctionCallInfo fcinfo, const char *type);
extern bool read_invalid(const TextReader *reader, const char *detail);
extern bool read_expected(const TextReader *reader, const char *detail);

/* Skips a character, which must be the next one. */
static inline bool
read_char(TextReader *reader, char c)
{
	if (*reader->at != c)
		return read_expected(reader, psprintf("Expected \"%c\" at character %%zu.", c));
	reader->at++;
	return true;
}

/* Reads a decimal number from least to most; expected is for read_expected(). */
static inline bool
read_number(TextReader *reader, uint64 least, uint64 most, const char *expected, uint64 *number)
{
	const char *at = reader->at;
	bool valid = !reader->strict || *at != '0' || at[1] < '0' || at[1] > '9';

	*number = 0;
	for (; valid && *at >= '0' && *at <= '9'; at++)
		valid = !pg_mul_u64_overflow(*number, 10, number) &&
			!pg_add_u64_overflow(*number, *at - '0', number);
	if (!valid || at == reader->at || *number < least || *number > most)
		return read_expected(reader, expected);
	reader->at = at;
	return true;
}

extern bool read_recipe(TextReader *reader, uint8 *version, SchemeId *scheme);
extern bool read_hex(TextReader *reader, uint8 *bytes, size_t count);

/* ---- Binary format ------------------------------------------------------ */

extern _Noreturn void binary_invalid(const char *type, const char *detail);
extern void binary_check_recipe(const char *type, int version, SchemeId scheme);

#endif
