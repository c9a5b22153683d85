/*
 * forms.c: what the text and binary formats of all values share.
 */
#include "sketch/forms.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Writing ------------------------------------------------------------ */

/* Returns where the next `more` bytes belong, which the caller writes; a zero may follow them. */
char *
form_extend(FormWriter *writer, size_t more)
{
	writer->bytes = host_grow(writer->bytes, &writer->room, writer->length + more + 1, 1);
	writer->length += more;
	return writer->bytes + writer->length - more;
}

/* Writes bytes. */
void
form_put(FormWriter *writer, const void *bytes, size_t length)
{
	memcpy(form_extend(writer, length), bytes, length);
}

/* Writes a text of at most 127 bytes, as printf() does. */
void
form_put_text(FormWriter *writer, const char *format, ...)
{
	char text[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	form_put(writer, text, length);
}

/* Writes a decimal number. */
void
form_put_decimal(FormWriter *writer, int64_t number)
{
	char digits[20];
	char *at = digits + sizeof(digits);
	uint64_t left = number < 0 ? -(uint64_t) number : (uint64_t) number;

	do
		*--at = (char) ('0' + left % 10);
	while ((left /= 10) > 0);
	if (number < 0)
		*--at = '-';
	form_put(writer, at, digits + sizeof(digits) - at);
}

/* Writes the lowest bytes of a number, the highest of them first. */
void
form_put_number(FormWriter *writer, uint64_t number, int bytes)
{
	char *to = form_extend(writer, bytes);

	while (bytes-- > 0)
		*to++ = (char) (number >> 8 * bytes);
}

/* ---- Reading text ------------------------------------------------------- */

/* Notes what is wrong, and returns false. */
bool
read_invalid(FormReader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->defect, sizeof(reader->defect), format, arguments);
	va_end(arguments);
	return false;
}

/* Notes what is wrong at the next character, as in 'Expected "/"', and returns false. */
bool
read_expected(FormReader *reader, const char *expected)
{
	return read_invalid(reader, "%s at character %zu.", expected,
						(size_t) (reader->at - reader->input) + 1);
}

/* Skips a character, which must be the next one. */
bool
read_char(FormReader *reader, char c)
{
	char expected[] = "Expected \"?\"";

	*strchr(expected, '?') = c;
	if (*reader->at != c)
		return read_expected(reader, expected);
	reader->at++;
	return true;
}

/* Reads a decimal number from least to most; expected is for read_expected(). */
bool
read_number(FormReader *reader, uint64_t least, uint64_t most, const char *expected,
			uint64_t *number)
{
	const char *at = reader->at;
	bool valid = !reader->strict || *at != '0' || at[1] < '0' || at[1] > '9';

	*number = 0;
	for (; valid && *at >= '0' && *at <= '9'; at++)
		valid = !__builtin_mul_overflow(*number, (uint64_t) 10, number) &&
			!__builtin_add_overflow(*number, (uint64_t) (*at - '0'), number);
	if (!valid || at == reader->at || *number < least || *number > most)
		return read_expected(reader, expected);
	reader->at = at;
	return true;
}

/*
 * Returns whether a value of a recipe version may have this scheme.  A version later than
 * RECIPE_VERSION may have any.
 */
bool
recipe_has_scheme(int version, SchemeId scheme)
{
	return version > RECIPE_VERSION || scheme_is_valid(scheme);
}

/* Reads "VERSION/SCHEME/", with which the text of each type begins. */
bool
read_recipe(FormReader *reader, uint8_t *version, SchemeId *scheme)
{
	uint64_t number;
	size_t length;

	if (reader->at == reader->input && reader->at[strspn(reader->at, "0123456789")] != '/')
	{
		reader->strange = true;
		return read_invalid(reader,
							"The text of a value begins with a recipe version and a scheme, such as \"1/word 3/\".");
	}
	if (!read_number(reader, 1, UINT8_MAX, "Expected a recipe version from 1 to 255", &number) ||
		!read_char(reader, '/'))
		return false;
	*version = (uint8_t) number;
	length = strcspn(reader->at, "/");
	if (!scheme_parse(reader->at, length, scheme) || !recipe_has_scheme(*version, *scheme))
		return read_expected(reader, "Expected a scheme such as \"word 3\"");
	reader->at += length;
	return read_char(reader, '/');
}

/* Checks that the text ends here. */
bool
read_end(FormReader *reader)
{
	return *reader->at == '\0' || read_expected(reader, "Expected the end of the text");
}

/* ---- Reading binary formats --------------------------------------------- */

/* Reads a number of some bytes; 0 if the value is cut before its end. */
uint64_t
receive_number(FormReader *reader, int bytes)
{
	uint64_t number = 0;

	if (reader->end - reader->at < bytes)
	{
		reader->cut = true;
		reader->at = reader->end;
		return 0;
	}
	while (bytes-- > 0)
		number = number << 8 | (uint8_t) *reader->at++;
	return number;
}

/* Reads bytes; returns false if the value is cut before their end. */
bool
receive_bytes(FormReader *reader, void *bytes, size_t count)
{
	if ((size_t) (reader->end - reader->at) < count || reader->cut)
	{
		reader->cut = true;
		return false;
	}
	memcpy(bytes, reader->at, count);
	reader->at += count;
	return true;
}

/* Checks that the value was not cut so far, and that its recipe version may have the scheme. */
bool
receive_recipe(FormReader *reader, int version, SchemeId scheme)
{
	if (reader->cut)
		return false;
	if (version == 0)
		return read_invalid(reader, "The recipe version is 0.");
	if (!recipe_has_scheme(version, scheme))
		return read_invalid(reader, "The number of the scheme, %u, is unknown.", scheme);
	return true;
}
