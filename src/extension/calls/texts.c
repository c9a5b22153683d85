/*
 * texts.c: text arguments as UTF-8, and texts as results.
 */
#include "calls/texts.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "text/utf8.h"

/* How much of a text a message repeats. */
#define SHOWN_BYTES 80

/* Throws an error for the first byte above 0x7F. */
static void
refuse_high_bytes(const char *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
	{
		if (IS_HIGHBIT_SET(bytes[i]))
			ereport(ERROR,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("byte 0x%02x has no meaning in encoding SQL_ASCII",
							(unsigned char) bytes[i]),
					 errdetail("The byte is at offset %zu of the text. A SQL_ASCII database knows the meaning of ASCII only.",
							   i),
					 errhint("Use a database with encoding UTF8, or with the encoding of the text.")));
	}
}

/* Throws an error for bytes above 0x7F where the server's encoding is SQL_ASCII. */
Utf8Text
utf8_of_datum(Datum datum)
{
	Utf8Text utf8 = {0};
	text *detoasted = DatumGetTextPP(datum);

	if ((Pointer) detoasted != DatumGetPointer(datum))
		utf8.detoasted = detoasted;
	utf8.bytes = VARDATA_ANY(detoasted);
	utf8.length = VARSIZE_ANY_EXHDR(detoasted);

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		refuse_high_bytes(utf8.bytes, utf8.length);
	else if (GetDatabaseEncoding() != PG_UTF8 && utf8.length > 0)
	{
		utf8.converted = pg_server_to_any(utf8.bytes, (int) utf8.length, PG_UTF8);
		utf8.bytes = utf8.converted;
		utf8.length = strlen(utf8.converted);
	}
	return utf8;
}

/* Frees the copies that utf8_of_datum() made. */
void
utf8_free(Utf8Text *utf8)
{
	if (utf8->converted)
		pfree(utf8->converted);
	if (utf8->detoasted)
		pfree(utf8->detoasted);
}

/* Throws the error for two texts that have too many symbols to be compared. */
void
refuse_long_texts(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("texts are too long to compare"),
			 errdetail("Together they have more than %d symbols.", PG_INT32_MAX - 1),
			 errhint("Compare parts of the texts, or their shingles.")));
}

/* Throws an error for the first character that is not ASCII. */
static void
refuse_unknown_to_ascii(const char *utf8, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
	{
		uint32_t character;

		if (!IS_HIGHBIT_SET(utf8[i]))
			continue;
		utf8_decode((const uint8_t *) utf8 + i, length - i, &character);
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("character U+%04X has no equivalent in encoding SQL_ASCII",
						(unsigned) character),
				 errdetail("A SQL_ASCII database knows the meaning of ASCII only."),
				 errhint("Use a database with encoding UTF8, or with an encoding that has the character.")));
	}
}

/* Returns a text in the server's encoding. */
text *
text_of_utf8(const char *utf8, size_t length)
{
	char *converted;
	text *result;

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		refuse_unknown_to_ascii(utf8, length);
	if (length == 0 || GetDatabaseEncoding() == PG_UTF8)
		return cstring_to_text_with_len(utf8, (int) length);
	converted = (char *) pg_do_encoding_conversion((unsigned char *) utf8, (int) length, PG_UTF8,
												   GetDatabaseEncoding());
	if (converted == utf8)
		return cstring_to_text_with_len(utf8, (int) length);
	result = cstring_to_text(converted);
	pfree(converted);
	return result;
}

/* Returns a text, or if it is long its beginning and "...", for a message. */
const char *
beginning_of(const char *text)
{
	int length = strlen(text);
	int shown = pg_mbcliplen(text, length, SHOWN_BYTES);

	return shown < length ? psprintf("%.*s...", shown, text) : text;
}
