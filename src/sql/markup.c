/*
 * markup.c: the SQL function that strips markup.
 */
#include "sql/sql.h"

#include "text/markup.h"

PG_FUNCTION_INFO_V1(neardup_strip_markup);
Datum
neardup_strip_markup(PG_FUNCTION_ARGS)
{
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	char *stripped = host_alloc(utf8.length + 1);
	size_t length = markup_strip(utf8.bytes, utf8.length, stripped);
	text *result = text_of_utf8(stripped, length);

	host_free(stripped);
	utf8_free(&utf8);
	PG_RETURN_TEXT_P(result);
}
