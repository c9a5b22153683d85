/*
 * spots.c: lists of antecedents and stop words, on their way from SQL.
 */
#include "sql/sql.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

/* Adds one word; false where it is not one. */
typedef bool (*AddWord)(SpotWords *words, const char *utf8, size_t length);

/* Add all words of a text[]; what and hint are for the message about a bad one. */
static void
add_words(SpotWords *words, Datum datum, AddWord add, const char *what, const char *hint)
{
	ArrayType *array = DatumGetArrayTypeP(datum);
	Datum *element;
	bool *nulls;
	int count;
	int i;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &element, &nulls, &count);
	for (i = 0; i < count; i++)
	{
		Utf8Text utf8;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("list of %ss must not contain nulls", what),
					 errhint("Leave them out: array_remove(..., NULL).")));
		utf8 = utf8_of_datum(element[i]);
		if (!add(words, utf8.bytes, utf8.length))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is not a single %s", TextDatumGetCString(element[i]), what),
					 errhint("%s", hint)));
		utf8_free(&utf8);
	}
	pfree(element);
	pfree(nulls);
	if ((Pointer) array != DatumGetPointer(datum))
		pfree(array);
}

SpotWords *
spot_words_of_arguments(FunctionCallInfo fcinfo, SchemeId *made)
{
	SchemeId scheme = text_scheme_of_datum(PG_GETARG_DATUM(1));
	bool own_antecedents = !PG_ARGISNULL(2);
	bool own_stop_words = !PG_ARGISNULL(3);
	SpotWords *words;

	if (SCHEME_KIND(scheme) != SCHEME_SPOT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only spot signatures take lists of words"),
				 errhint("Use a scheme such as \"spot 1 2\".")));
	words = spot_words_begin(scheme, own_antecedents, own_stop_words);
	if (own_antecedents)
		add_words(words, PG_GETARG_DATUM(2), spot_words_add_antecedent, "antecedent",
				  "An antecedent is one token, as show_tokens() shows it, with a distance and a chain from 1 to 15 of its own if you like: \"the\" or \"the(1,2)\".");
	if (own_stop_words)
		add_words(words, PG_GETARG_DATUM(3), spot_words_add_stop_word, "stop word",
				  "A stop word is one token, as show_tokens() shows it.");
	*made = spot_words_finish(words);
	return words;
}
