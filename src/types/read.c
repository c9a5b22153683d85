/*
 * read.c: readers of the text and binary formats of this extension's types.
 */
#include "types/read.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* ---- Text --------------------------------------------------------------- */

/* How much of an invalid text an error shows. */
#define SHOWN_BYTES 80

/* A reader of the text that an input function is called with. */
TextReader
text_reader(FunctionCallInfo fcinfo, const char *type)
{
	const char *input = PG_GETARG_CSTRING(0);

	return (TextReader){.at = input, .input = input, .type = type, .context = fcinfo->context};
}

/* Reports that the text is not of the type; the hint may be NULL. */
static bool
report_invalid(const TextReader *reader, const char *detail, const char *hint)
{
	int length = strlen(reader->input);
	int shown = pg_mbcliplen(reader->input, length, SHOWN_BYTES);

	ereturn(reader->context, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%.*s%s\"", reader->type, shown,
					reader->input, shown < length ? "..." : ""),
			 errdetail("%s", detail), hint != NULL ? errhint("%s", hint) : 0));
}

/* Report that the text is not of the type, and return false; detail is a sentence. */
bool
read_invalid(const TextReader *reader, const char *detail)
{
	return report_invalid(reader, detail, NULL);
}

/*
 * Reports invalid input, as read_invalid() does; %zu in detail stands for the number of the
 * character that is read next.
 */
bool
read_expected(const TextReader *reader, const char *detail)
{
	size_t character = (size_t) (reader->at - reader->input) + 1;

	return read_invalid(reader, psprintf(detail, character));
}

/* Reads "VERSION/SCHEME/", with which the text of each type begins. */
bool
read_recipe(TextReader *reader, uint8 *version, SchemeId *scheme)
{
	uint64 number;
	size_t length;

	if (reader->at == reader->input && reader->at[strspn(reader->at, "0123456789")] != '/')
		return report_invalid(reader,
							  "The text of a value begins with a recipe version and a scheme, such as \"1/word 3/\".",
							  psprintf("To make a value of type %s from a text, use to_%s(text).  "
									   "To compare two texts, use text_similarity(text, text).",
									   reader->type, reader->type));
	if (!read_number(reader, 1, PG_UINT8_MAX,
					 "Expected a recipe version from 1 to 255 at character %zu.", &number) ||
		!read_char(reader, '/'))
		return false;
	*version = (uint8) number;
	length = strcspn(reader->at, "/");
	if (!scheme_parse(reader->at, length, scheme) || !recipe_has_scheme(*version, *scheme))
		return read_expected(reader, "Expected a scheme such as \"word 3\" at character %zu.");
	reader->at += length;
	return read_char(reader, '/');
}

/* Reads two hexadecimal digits for each byte, to the end of the text. */
bool
read_hex(TextReader *reader, uint8 *bytes, size_t count)
{
	size_t digits = strspn(reader->at, "0123456789abcdefABCDEF");

	if (strcmp(reader->at + digits, "...") == 0)
		return read_invalid(reader,
							"It ends in \"...\": it is shortened, and cannot be read back.");
	if (reader->at[digits] != '\0')
	{
		reader->at += digits;
		return read_expected(reader, "Expected a hexadecimal digit at character %zu.");
	}
	if (digits != 2 * count)
		return read_invalid(reader,
							psprintf("It has %zu hexadecimal digits of symbols, but its shape takes %zu.",
									 digits, 2 * count));
	hex_decode(reader->at, digits, (char *) bytes);
	reader->at += digits;
	return true;
}

/* ---- Binary format ------------------------------------------------------ */

/* Throw the error for bytes that are not of the type; detail is a sentence. */
void
binary_invalid(const char *type, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid binary format of type %s", type), errdetail("%s", detail)));
}

/* Throws an error unless a value of this recipe version may have the scheme. */
void
binary_check_recipe(const char *type, int version, SchemeId scheme)
{
	if (version == 0)
		binary_invalid(type, "The recipe version is 0.");
	if (!recipe_has_scheme(version, scheme))
		binary_invalid(type, psprintf("The number of the scheme, %u, is unknown.", scheme));
}
