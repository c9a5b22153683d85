/*
 * schemes.c: the names of shingling schemes in arguments, and recipes that differ.
 */
#include "calls/schemes.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "calls/arguments.h"
#include "calls/texts.h"

/*
 * Adds a hint for the name of a scheme that does not exist.  Drivers send a number as text if
 * they do not know its type, and a long name is a text that should be signed, too.
 */
static int
hint_at_scheme(const char *name)
{
	if (beginning_of(name) != name)
		return errhint("The second argument is a scheme, such as \"word 3\".  To sign two texts as one, join them: to_minhash(coalesce(title, '') || ' ' || body).");
	if (*name == '\0' || name[strspn(name, "0123456789")] != '\0')
		return errhint("Use a scheme such as \"word 3\" or \"spot 1 2 de\".");
	return errhint("Use a scheme such as \"word 3\", or name the argument, as in k => %s or f => %s.",
				   name, name);
}

/* Returns the scheme of a name, which must read text ('word 3', not 'tokens'). */
SchemeId
text_scheme_of_datum(Datum datum)
{
	text *name = DatumGetTextPP(datum);
	SchemeId scheme;

	if (!scheme_parse(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &scheme) ||
		!scheme_is_valid(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown shingling scheme \"%s\"", beginning_of(text_to_cstring(name))),
				 errdetail("The schemes are " SCHEME_NAMES(" and ") ", with a width from 1 to %d, and \"spot D C\", with a distance and a chain from 1 to %d.",
						   SCHEME_WIDTH_MAX, SPOT_MAX),
				 hint_at_scheme(text_to_cstring(name))));
	if (SCHEME_KIND(scheme) == SCHEME_SPOT && !scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" reads text only with its lists", text_to_cstring(name)),
				 errhint("Pass \"spot D C\" and the lists to to_shingles(text, scheme, antecedents, stopwords).")));
	if (scheme_lexicon(scheme) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" reads text only with its lexicon", text_to_cstring(name)),
				 errhint("Use to_minhash(text, lexicon => ...), or weigh(to_shingles(...), lexicon).")));
	if (!scheme_reads_text(scheme))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scheme \"%s\" does not read text", text_to_cstring(name)),
				 errdetail("The schemes that read text are " SCHEME_NAMES(", ") " and \"spot D C\"."),
				 errhint("Use a scheme such as \"word 3\".")));
	if ((Pointer) name != DatumGetPointer(datum))
		pfree(name);
	return scheme;
}

/* What fn_extra remembers of the last scheme argument. */
typedef struct SchemeCache
{
	SchemeId scheme;
	size_t length;
	char name[SCHEME_NAME_SIZE];
} SchemeCache;

/*
 * Returns the scheme that argument n names, as text_scheme_of_datum() does, and remembers the
 * last name from call to call.
 */
SchemeId
text_scheme_of_argument(FunctionCallInfo fcinfo, int n)
{
	text *name = PG_GETARG_TEXT_PP(n);
	size_t length = VARSIZE_ANY_EXHDR(name);
	SchemeCache *cache = fcinfo->flinfo->fn_extra;
	SchemeId scheme;

	if (cache != NULL && cache->length == length &&
		memcmp(cache->name, VARDATA_ANY(name), length) == 0)
		return cache->scheme;
	scheme = text_scheme_of_datum(PointerGetDatum(name));
	if (length > SCHEME_NAME_SIZE)
		return scheme;
	if (cache == NULL)
		cache = fcinfo->flinfo->fn_extra =
			MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(SchemeCache));
	cache->scheme = scheme;
	cache->length = length;
	memcpy(cache->name, VARDATA_ANY(name), length);
	return scheme;
}

/* Adds one word; returns false for anything else. */
typedef bool (*AddWord)(SpotWords *words, const char *utf8, size_t length);

/* Adds all words of a text[], which errors call names; detail says what a word is. */
static void
add_words(SpotWords *words, Datum datum, AddWord add, const char *names, const char *detail)
{
	ArrayType *array = DatumGetArrayTypeP(datum);
	Datum *element;
	int count;
	int i;

	check_no_nulls(array, names);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &element, NULL, &count);
	for (i = 0; i < count; i++)
	{
		Utf8Text utf8 = utf8_of_datum(element[i]);

		if (!add(words, utf8.bytes, utf8.length))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is not allowed in an array of %s",
							TextDatumGetCString(element[i]), names),
					 errdetail("%s", detail)));
		utf8_free(&utf8);
	}
	pfree(element);
	if ((Pointer) array != DatumGetPointer(datum))
		pfree(array);
}

/*
 * Returns the lists of spot signatures in arguments 1 to 3: the name of a scheme,
 * antecedents and stop words (text[]; NULL for the language's own).  *made is the scheme
 * of the spot signatures that they make.
 */
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
		add_words(words, PG_GETARG_DATUM(2), spot_words_add_antecedent, "antecedents",
				  "An antecedent is one token, as show_tokens() shows it, which may have a distance and a chain from 1 to 15, as in \"the(1,2)\".");
	if (own_stop_words)
		add_words(words, PG_GETARG_DATUM(3), spot_words_add_stop_word, "stop words",
				  "A stop word is one token, as show_tokens() shows it.");
	*made = spot_words_finish(words);
	return words;
}

/* Does scheme_call() for a scheme with a lexicon. */
static const char *
lexicon_call(const char *function, const char *sizes, SchemeId scheme)
{
	SchemeId without = scheme - scheme_lexicon(scheme);
	const char *set = scheme_call("to_shingles", "", without);

	if (strcmp(function, "to_shingles") == 0)
		return psprintf("weigh(%s, lexicon) with lexicon %04x", set, scheme_lexicon(scheme));
	if (strcmp(function, "to_minhash") == 0 && scheme_reads_text(without))
		return psprintf("%s(text%s, lexicon => ...) with lexicon %04x", function, sizes,
						scheme_lexicon(scheme));
	return psprintf("%s(weigh(%s, lexicon)%s) with lexicon %04x", function, set, sizes,
					scheme_lexicon(scheme));
}

/*
 * Returns the call that makes a value of a scheme, for hints: to_minhash(text, k => 512,
 * scheme => 'word 3').  sizes are the arguments in between, each after a comma, or "".
 */
const char *
scheme_call(const char *function, const char *sizes, SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(scheme, name);
	if (scheme_reads_text(scheme))
		return psprintf("%s(text%s, scheme => '%s')", function, sizes, name);
	if (SCHEME_KIND(scheme) == SCHEME_WEIGHTED)
		return psprintf("%s(text[]%s, weights => ...)", function, sizes);
	if (scheme_lexicon(scheme) != 0)
		return lexicon_call(function, sizes, scheme);
	if (SCHEME_KIND(scheme) == SCHEME_TOKENS)
		return psprintf("%s(text[]%s)", function, sizes);
	if (SCHEME_KIND(scheme) == SCHEME_HASHES)
		return psprintf("%s(bigint[]%s)", function, sizes);
	return psprintf("%s(...%s) for scheme \"%s\"", function, sizes, name);
}

/*
 * Throws the error for two values of different recipes.  type is the plural for the
 * message: "shingles", "minhash values"; the calls are those that make such values.
 */
void
refuse_recipes(const char *type, int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y,
			   const char *call_x, const char *call_y)
{
	char name_x[SCHEME_NAME_SIZE];
	char name_y[SCHEME_NAME_SIZE];

	scheme_name(scheme_x, name_x);
	scheme_name(scheme_y, name_y);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 version_x == version_y ?
				 errmsg("cannot compare %s of different schemes", type) :
				 errmsg("cannot compare %s of different recipe versions", type),
			 errdetail("The first is of scheme \"%s\" (recipe %d), the second of scheme \"%s\" (recipe %d).",
					   name_x, version_x, name_y, version_y),
			 version_x == version_y ?
				 errhint("To match the first, use %s.  To match the second, use %s.", call_x,
						 call_y) :
				 errhint("Make the one of the earlier recipe version again.")));
}

/* Throws that error unless two sets of shingles have the same recipe version and scheme. */
void
check_same_recipe(int version_x, SchemeId scheme_x, int version_y, SchemeId scheme_y)
{
	if (version_x != version_y || scheme_x != scheme_y)
		refuse_recipes("shingles", version_x, scheme_x, version_y, scheme_y,
					   scheme_call("to_shingles", "", scheme_x),
					   scheme_call("to_shingles", "", scheme_y));
}
