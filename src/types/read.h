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

/* A reader of the text that an input function is called with. */
extern TextReader text_reader(FunctionCallInfo fcinfo, const char *type);

/* Report that the text is not of the type, and return false; detail is a sentence. */
extern bool read_invalid(const TextReader *reader, const char *detail);

/* The same; %zu in detail stands for the number of the character that is read next. */
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

/* Reads "VERSION/SCHEME/", with which the text of each type begins. */
extern bool read_recipe(TextReader *reader, uint8 *version, SchemeId *scheme);

/* Reads two hexadecimal digits for each byte, to the end of the text. */
extern bool read_hex(TextReader *reader, uint8 *bytes, size_t count);

/* ---- Binary format ------------------------------------------------------ */

/* Throw the error for bytes that are not of the type; detail is a sentence. */
extern _Noreturn void binary_invalid(const char *type, const char *detail);

/* Throws an error unless a value of this recipe version may have the scheme. */
extern void binary_check_recipe(const char *type, int version, SchemeId scheme);

#endif
