/*
 * markup_functions.c: SQL functions that strip markup, and mask what changes.
 */
#include "calls/texts.h"

#include "utils/builtins.h"

#include "text/markup.h"
#include "text/mask.h"

/* strip_markup(text) returns text */
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

/* mask_changing(body text, what text) returns text */
PG_FUNCTION_INFO_V1(neardup_mask_changing);
Datum
neardup_mask_changing(PG_FUNCTION_ARGS)
{
	text *what = PG_GETARG_TEXT_PP(1);
	Utf8Text utf8 = utf8_of_datum(PG_GETARG_DATUM(0));
	unsigned kinds;
	char *masked;
	text *result;

	if (!mask_parse(VARDATA_ANY(what), VARSIZE_ANY_EXHDR(what), &kinds))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot mask \"%s\"", text_to_cstring(what)),
				 errhint("Write one or more of %s.", mask_names)));
	masked = host_alloc(utf8.length + 1);
	result = text_of_utf8(masked, mask_text(utf8.bytes, utf8.length, kinds, masked));
	host_free(masked);
	utf8_free(&utf8);
	PG_RETURN_TEXT_P(result);
}
