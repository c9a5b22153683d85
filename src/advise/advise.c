/*
 * advise.c: neardup_advise(): from studies of schemes to rows that people read.
 */
#include "advise/advise.h"

#include <math.h>

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define SAMPLE_LEAST 2
#define SAMPLE_MOST 20000

/* Texts of fewer tokens are short, and very short. */
#define SHORT_TOKENS 12
#define VERY_SHORT_TOKENS 5

/* Another scheme than the usual one must separate more than this many times as well. */
#define BETTER 1.25
#define CLEARLY 0.01

/* Thresholds are multiples of this many steps. */
#define GRID 5

#define LOWEST_THRESHOLD 40
#define HIGHEST_THRESHOLD 90

#define NO_LANGUAGE "none"

#define PAIRS_SHOWN 10
#define SHOWN_CHARACTERS 36

static const char *const tried_schemes[] = {"word 3", "word 1", "char 5", "char 3"};

/* Tells families if several schemes are tried: it sees near texts of any length. */
#define FAMILY_SCHEME SCHEME_ID(SCHEME_WORD, 2)

#define SCHEMES_MOST ((int) lengthof(tried_schemes))

typedef struct Advice
{
	ReturnSetInfo *result;
	Texts texts;
	Study study[SCHEMES_MOST];
	int studies;
	const Study *advised;
	uint64 median_tokens;
} Advice;

/* ---- Rows ------------------------------------------------------------------ */

static void
put(const Advice *advice, const char *topic, const char *finding)
{
	Datum values[2] = {CStringGetTextDatum(topic), CStringGetTextDatum(finding)};
	bool nulls[2] = {false};

	tuplestore_putvalues(advice->result->setResult, advice->result->setDesc, values, nulls);
}

/* Returns "n (p %)", of a total. */
static const char *
share_of(uint64 count, uint64 total)
{
	return psprintf(UINT64_FORMAT " (%.1f %%)", count, 100.0 * count / Max(total, 1));
}

/* ---- The texts --------------------------------------------------------------- */

/* Names and how many texts have each. */
typedef struct Tally
{
	int names;
	const char *name[PROFILE_SCRIPTS_MAX];
	uint64 count[PROFILE_SCRIPTS_MAX];
} Tally;

/* Counts a text for a name, NULL for none. */
static void
tally(Tally *tally, const char *name)
{
	int i = 0;

	if (name == NULL)
		return;
	while (i < tally->names && strcmp(tally->name[i], name) != 0)
		i++;
	if (i == tally->names)
		tally->name[tally->names++] = name;
	tally->count[i]++;
}

/* Returns "Latin 98.0 %, Han 2.0 %", the most frequent first; changes the tally. */
static char *
show_tally(Tally *tally, uint64 total)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < tally->names; i++)
	{
		int most = 0;

		for (int j = 1; j < tally->names; j++)
			if (tally->count[j] > tally->count[most])
				most = j;
		appendStringInfo(&text, "%s%s %.1f %%", i > 0 ? ", " : "", tally->name[most],
						 100.0 * tally->count[most] / Max(total, 1));
		tally->count[most] = 0;
	}
	return text.data;
}

static int
compare_numbers(const void *x, const void *y)
{
	uint64 a = *(const uint64 *) x;
	uint64 b = *(const uint64 *) y;

	return (a > b) - (a < b);
}

/* What the profiles of the even sample say. */
typedef struct Profiles
{
	uint64 *tokens; /* ascending */
	uint64 without_spaces;
	Tally scripts;
	Tally languages;
} Profiles;

static Profiles
profiles_of_sample(const Sample *sample)
{
	Profiles profiles = {.tokens = palloc(Max(sample->count, 1) * sizeof(uint64))};

	for (uint32 i = 0; i < sample->count; i++)
	{
		TextProfile profile;
		const char *language;

		profile_text(sample->text[i].bytes, sample->text[i].length, &profile);
		language = profile_language(&profile);
		profiles.tokens[i] = profile.tokens;
		profiles.without_spaces += profile.alone * 2 > profile.tokens;
		tally(&profiles.scripts, profile_script(&profile));
		tally(&profiles.languages, language ? language : NO_LANGUAGE);
	}
	qsort(profiles.tokens, sample->count, sizeof(uint64), compare_numbers);
	return profiles;
}

/* Returns how many texts of a sample have no spot signature in a language, NULL for English. */
static uint64
texts_without_spots(const Sample *sample, const char *language)
{
	uint64 without = 0;
	SchemeId scheme;
	char name[SCHEME_NAME_SIZE];

	snprintf(name, sizeof(name), "spot 1 2 %s", language ? language : "en");
	(void) scheme_parse(name, strlen(name), &scheme);
	for (uint32 i = 0; i < sample->count; i++)
	{
		BagBuilder builder;

		bag_begin(&builder);
		shingle_text(sample->text[i].bytes, sample->text[i].length, scheme, bag_add, &builder);
		without += builder.count == 0;
		if (builder.hash)
			host_free(builder.hash);
	}
	return without;
}

/* Returns the code of the language that most texts are in, NULL if none is known. */
static const char *
most_frequent_language(const Tally *languages)
{
	int most = -1;

	for (int i = 0; i < languages->names; i++)
		if (strcmp(languages->name[i], NO_LANGUAGE) != 0 &&
			(most < 0 || languages->count[i] > languages->count[most]))
			most = i;
	return most < 0 ? NULL : languages->name[most];
}

static void
put_texts(Advice *advice)
{
	const Texts *texts = &advice->texts;
	const Sample *sample = &texts->even;
	Profiles profiles = profiles_of_sample(sample);
	uint32 last = sample->count - 1;
	StringInfoData text;
	const char *language;

	initStringInfo(&text);
	appendStringInfo(&text, "%u different ones from " UINT64_FORMAT " rows", sample->count,
					 texts->rows);
	if (texts->nulls > 0)
		appendStringInfo(&text, "; null: " UINT64_FORMAT, texts->nulls);
	if (texts->wordless > 0)
		appendStringInfo(&text, "; without shingles: " UINT64_FORMAT, texts->wordless);
	if (texts->too_long > 0)
		appendStringInfo(&text, "; too long to look at: " UINT64_FORMAT, texts->too_long);
	put(advice, "texts", text.data);
	if (sample->count == 0)
		return;
	advice->median_tokens = profiles.tokens[last / 2];
	put(advice, "length",
		psprintf("median " UINT64_FORMAT " words; 9 of 10 have " UINT64_FORMAT " to " UINT64_FORMAT,
				 advice->median_tokens, profiles.tokens[last / 20],
				 profiles.tokens[last - last / 20]));
	put(advice, "scripts",
		psprintf("%s%s",
				 profiles.scripts.names > 0 ? show_tally(&profiles.scripts, sample->count) :
											  "no letters",
				 profiles.without_spaces == 0 ?
					 "" :
					 psprintf("; %s without spaces: each letter is a word there",
							  share_of(profiles.without_spaces, sample->count))));
	language = most_frequent_language(&profiles.languages);
	put(advice, "languages",
		psprintf("%s; without a signature of \"spot 1 2%s%s\": %s",
				 show_tally(&profiles.languages, sample->count),
				 language && strcmp(language, "en") != 0 ? " " : "",
				 language && strcmp(language, "en") != 0 ? language : "",
				 share_of(texts_without_spots(sample, language), sample->count)));
}

/* ---- Schemes ------------------------------------------------------------------ */

/* Learns whether there is a form.  Words tell; three characters are common in any language. */
static bool
learn_form(Advice *advice)
{
	const char *scheme = tried_schemes[0];
	const char *common;
	SchemeId id;
	Form form;

	(void) scheme_parse(scheme, strlen(scheme), &id);
	form_learn(&form, &advice->texts, id);
	common =
		psprintf("%u shingles of \"%s\" are in a fifth of the texts or more, %.1f %% of a text",
				 form.shingles, scheme, 100 * form.share);
	put(advice, "form",
		form.found ?
			psprintf("%s: a form.\n"
					 "to_minhash(to_shingles(body) - neardup_common_shingles(query, share => 0.2))\n"
					 "leaves them out. All that follows is without them.",
					 common) :
			psprintf("none: %s", common));
	return form.found;
}

/* Returns the share of all texts whose nearest text is at a step or above. */
static double
share_from(const Study *study, int step)
{
	double share = 0;

	for (int i = step; i <= STEPS; i++)
		share += study->share[i];
	return Min(share, 1);
}

/*
 * Returns how well a scheme tells near texts from unrelated ones: how far the nearest texts
 * stand above chance, from 0 to 1, on average over all texts.
 */
static double
separation(const Study *study)
{
	double sum = 0;

	for (int i = study->floor; i <= STEPS; i++)
		sum += study->share[i] * (i - study->floor) / Max(STEPS - study->floor, 1);
	return sum;
}

static void
put_scheme(Advice *advice, const Study *study)
{
	put(advice, psprintf("scheme %s", study->name),
		psprintf("random pairs %.3f, 99.99 %% up to %.2f; usable from %.2f: %.1f %% have a near text, score %.3f%s",
				 study->mean, study->high, (double) study->floor / STEPS,
				 100 * share_from(study, study->floor), separation(study),
				 study->few == 0 ? "" : psprintf("; few shingles: %u", study->few)));
}

/* Returns the scheme that texts of this length usually need. */
static const char *
usual_scheme(uint64 tokens)
{
	return tokens >= SHORT_TOKENS ? "word 3" : tokens >= VERY_SHORT_TOKENS ? "char 5" : "char 3";
}

/* Chooses the usual scheme, or the one that separates near texts clearly better. */
static void
choose_scheme(Advice *advice)
{
	const char *usual = usual_scheme(advice->median_tokens);
	const Study *expected = &advice->study[0];
	const Study *best;
	double least;

	for (int i = 0; i < advice->studies; i++)
		if (strcmp(advice->study[i].name, usual) == 0)
			expected = &advice->study[i];
	best = expected;
	least = BETTER * separation(expected) + CLEARLY;
	for (int i = 0; i < advice->studies; i++)
		if (separation(&advice->study[i]) > least)
		{
			best = &advice->study[i];
			least = separation(best);
		}
	advice->advised = best;
	if (advice->studies > 1)
		put(advice, "ADVICE: scheme",
			best == expected ? psprintf("%s, as usual for texts of this length", best->name) :
							   psprintf("%s: near texts stand higher above chance than by %s",
										best->name, expected->name));
}

static void
study_schemes(Advice *advice, const SchemeId *scheme, int count)
{
	bool minus = learn_form(advice);

	advice->studies = count;
	for (int i = 0; i < count; i++)
	{
		study_scheme(&advice->study[i], &advice->texts, scheme[i], minus);
		put_scheme(advice, &advice->study[i]);
	}
}

/* ---- Thresholds ---------------------------------------------------------------- */

static int
lowest_threshold(const Study *study)
{
	int floor = (study->floor + GRID - 1) / GRID * GRID;

	return Max(floor, LOWEST_THRESHOLD);
}

/* Returns the number of pairs of the families from a step on. */
static uint64
pairs_from(const Study *study, int step)
{
	uint64 pairs = 0;

	for (int i = step; i <= STEPS; i++)
		pairs += study->pairs[i];
	return pairs;
}

static void
put_thresholds(Advice *advice)
{
	const Study *study = advice->advised;

	for (int t = (lowest_threshold(study) + 9) / 10 * 10; t <= STEPS; t += 10)
		put(advice, psprintf("at %.1f", (double) t / STEPS),
			psprintf("%.1f %% have a text so near; " UINT64_FORMAT " pairs in the sample",
					 100 * share_from(study, t), pairs_from(study, t)));
}

/*
 * Returns the share of the texts near another from a threshold on whose nearest lies about
 * there.
 */
static double
share_about(const Study *study, int threshold)
{
	double about = 0;

	for (int i = threshold - GRID; i < Min(threshold + GRID, STEPS + 1); i++)
		about += study->share[i];
	return about == 0 ? 0 : about / share_from(study, threshold);
}

/*
 * Returns the threshold at which the least share of the answer depends on it; of several,
 * the middle of the longest run.
 */
static int
choose_threshold(const Study *study)
{
	int lowest = lowest_threshold(study);
	int highest = Max(HIGHEST_THRESHOLD, lowest);
	double least = INFINITY;
	int run = 0;
	int longest = 0;
	int end = highest;

	for (int t = lowest; t <= highest; t += GRID)
		least = Min(least, share_about(study, t));
	for (int t = lowest; t <= highest; t += GRID)
	{
		run = share_about(study, t) <= least ? run + 1 : 0;
		if (run > longest)
		{
			longest = run;
			end = t;
		}
	}
	return end - longest / 2 * GRID;
}

/* Returns the beginning of a text in the server's encoding, its blanks squeezed. */
static const char *
beginning(const SampleText *from)
{
	StringInfoData shown;
	int characters = 0;
	size_t at = 0;

	initStringInfo(&shown);
	while (at < from->length && characters < SHOWN_CHARACTERS)
	{
		int bytes = pg_utf_mblen((const unsigned char *) from->bytes + at);
		bool blank = (unsigned char) from->bytes[at] <= ' ';

		if (!blank || (characters > 0 && shown.data[shown.len - 1] != ' '))
		{
			appendBinaryStringInfo(&shown, blank ? " " : from->bytes + at, bytes);
			characters++;
		}
		at += bytes;
	}
	return text_to_cstring(text_of_utf8(shown.data, shown.len));
}

static const char *
show_text(const SampleText *text)
{
	const char *id = text->id ? text->id : psprintf(UINT64_FORMAT, text->row);

	return psprintf("%s \"%s\"", id, beginning(text));
}

static void
put_pairs(Advice *advice, double threshold)
{
	const SampleText *text = advice->texts.families.text;
	NearPair pair[PAIRS_SHOWN];
	int pairs = study_pairs_near(advice->advised, &advice->texts, threshold, pair, PAIRS_SHOWN);

	for (int i = 0; i < pairs; i++)
		put(advice, psprintf("pair %.2f", pair[i].similarity),
			psprintf("%s | %s", show_text(&text[pair[i].a]), show_text(&text[pair[i].b])));
}

/* Returns what a threshold below the advised one finds. */
static const char *
what_lower_finds(const Study *study, double threshold)
{
	double floor = (double) study->floor / STEPS;

	return floor < threshold ? psprintf("lower, down to %.2f, finds more versions", floor) :
							   "lower finds unrelated texts, too";
}

static void
put_threshold(Advice *advice)
{
	const Study *study = advice->advised;
	double lowest = (double) lowest_threshold(study) / STEPS;
	double threshold = (double) choose_threshold(study) / STEPS;

	if (pairs_from(study, lowest_threshold(study)) == 0)
		put(advice, "ADVICE: threshold",
			psprintf("none: the sample has no pair from %.2f on.  Copies have 0.8 and more,\n"
					 "versions 0.35 to 0.5; chance reports less than a pair from %.2f on.",
					 lowest, (double) study->floor / STEPS));
	else
	{
		put(advice, "ADVICE: threshold",
			psprintf("%.2f: of what a threshold finds, here the least lies near it. Look at these pairs:\n"
					 "higher finds copies only; %s.\n"
					 "A minhash has a standard error of %.3f there; verify what it finds.",
					 threshold, what_lower_finds(study, threshold),
					 minhash_standard_error(ADVISED_K, ADVISED_B, threshold)));
		put_pairs(advice, threshold);
	}
}

/* ---- The function ----------------------------------------------------------------- */

static int
sample_argument(FunctionCallInfo fcinfo)
{
	int32 sample = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);

	if (sample < SAMPLE_LEAST || sample > SAMPLE_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"sample\" %s is out of range",
						PG_ARGISNULL(2) ? "null" : psprintf("%d", sample)),
				 errdetail("A sample has from %d to %d texts.", SAMPLE_LEAST, SAMPLE_MOST)));
	return sample;
}

/* Sets the schemes to study, and returns how many: the one of the argument, or several. */
static int
schemes_of_argument(FunctionCallInfo fcinfo, SchemeId *scheme)
{
	if (!PG_ARGISNULL(1))
	{
		scheme[0] = text_scheme_of_datum(PG_GETARG_DATUM(1));
		return 1;
	}
	for (int i = 0; i < SCHEMES_MOST; i++)
		(void) scheme_parse(tried_schemes[i], strlen(tried_schemes[i]), &scheme[i]);
	return SCHEMES_MOST;
}

/*
 * neardup_advise(query text, scheme text, sample int) returns SETOF (topic text, finding
 * text)
 */
PG_FUNCTION_INFO_V1(neardup_advise);
Datum
neardup_advise(PG_FUNCTION_ARGS)
{
	Advice *advice = palloc0(sizeof(Advice));
	SchemeId scheme[SCHEMES_MOST];
	int schemes = schemes_of_argument(fcinfo, scheme);
	int sample = sample_argument(fcinfo);

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"query\" must not be null")));
	begin_rows(fcinfo);
	advice->result = (ReturnSetInfo *) fcinfo->resultinfo;
	texts_read(&advice->texts, text_to_cstring(PG_GETARG_TEXT_PP(0)),
			   schemes > 1 ? FAMILY_SCHEME : scheme[0], sample);
	put_texts(advice);
	if (advice->texts.families.count < 2)
		return (Datum) 0;
	study_schemes(advice, scheme, schemes);
	choose_scheme(advice);
	put_thresholds(advice);
	put_threshold(advice);
	return (Datum) 0;
}
