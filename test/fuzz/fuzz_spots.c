/*
 * fuzz_spots.c: names of schemes, and texts that are shingled and shown by any scheme, with
 * and without lists of words.  The hashes of both agree.
 */
#include "fuzz.h"
#include "text/internal.h"

/* A HashSink that counts hashes and sums them up. */
typedef struct HashCount
{
	uint64_t hashes;
	uint64_t sum;
} HashCount;

static void
count_hashes(void *state, const uint64_t *hashes, size_t count)
{
	HashCount *total = state;

	total->hashes += count;
	for (size_t i = 0; i < count; i++)
		total->sum += hashes[i];
}

/* The shingles shown are those hashed, with the same counts.  Frees them. */
static void
require_same(const HashCount *hashed, ShownShingles *shown)
{
	HashCount seen = {0, 0};

	for (size_t i = 0; i < shown->count; i++)
	{
		const ShownShingle *shingle = &shown->shingle[i];
		size_t length;
		const char *text = shown_text(shown, shingle, &length);
		uint8_t sum = 0;

		REQUIRE(shingle->count > 0 && length > 0 && shown_find(shown, shingle->hash) == shingle);
		for (size_t at = 0; at < length; at++)
			sum += (uint8_t) text[at];
		seen.hashes += shingle->count + 0 * sum;
		seen.sum += shingle->count * shingle->hash;
	}
	REQUIRE(seen.hashes == hashed->hashes && seen.sum == hashed->sum);
	shown_free(shown);
}

/* ---- Schemes ------------------------------------------------------------- */

/* Checks that every name written is read back. */
static void
check_number(SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];
	SchemeId read;

	memset(name, 'x', sizeof(name));
	scheme_name(scheme, name);
	REQUIRE(memchr(name, '\0', sizeof(name)) != NULL);
	REQUIRE(scheme_parse(name, strlen(name), &read) && read == scheme);
}

static void
check_name(Input *in)
{
	size_t length = take_byte(in) % 48;
	uint8_t *name = take_copy(in, &length);
	SchemeId scheme;

	if (scheme_parse((char *) name, length, &scheme))
		check_number(scheme);
	free(name);
}

/* ---- Texts --------------------------------------------------------------- */

static void
check_scheme(SchemeId scheme, const char *text, size_t length)
{
	HashCount hashed = {0, 0};
	ShownShingles shown;

	if (!scheme_is_valid(scheme) || !scheme_reads_text(scheme))
		return;
	shingle_text(text, length, scheme, count_hashes, &hashed);
	REQUIRE(shingles_to_show(text, length, scheme, &shown));
	require_same(&hashed, &shown);
}

/* Adds up to seven words of up to fifteen bytes. */
static void
add_words(Input *in, SpotWords *words, bool (*add)(SpotWords *, const char *, size_t))
{
	for (int count = take_byte(in) & 7; count > 0; count--)
	{
		size_t length = take_byte(in) & 15;
		uint8_t *word = take_copy(in, &length);

		add(words, (char *) word, length);
		free(word);
	}
}

static void
check_lists(Input *in, SchemeId scheme, uint8_t option)
{
	bool own_antecedents = (option & 1) != 0;
	bool own_stop_words = (option & 2) != 0;
	SpotWords *words = spot_words_begin(scheme, own_antecedents, own_stop_words);
	HashCount hashed = {0, 0};
	ShownShingles shown;
	size_t length;
	uint8_t *text;

	if (own_antecedents)
		add_words(in, words, spot_words_add_antecedent);
	if (own_stop_words)
		add_words(in, words, spot_words_add_stop_word);
	check_number(spot_words_finish(words));
	length = in->left;
	text = take_copy(in, &length);
	spots_of_text((char *) text, length, words, count_hashes, &hashed);
	REQUIRE(spots_to_show((char *) text, length, words, &shown));
	require_same(&hashed, &shown);
	free(text);
	spot_words_free(words);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	SchemeId scheme = (SchemeId) take_number(&in, 4);
	SchemeId spot = SCHEME_SPOT_ID(1 + (scheme >> 4) % SPOT_MAX, 1 + scheme % SPOT_MAX,
								   (scheme >> 8) % (unsigned) language_count);

	check_number(scheme);
	check_number(spot);
	check_name(&in);
	if (option & 4)
		check_lists(&in, spot, option);
	else
	{
		size_t length = in.left;
		uint8_t *text = take_copy(&in, &length);

		check_scheme(SCHEME_ID(SCHEME_WORD + option % 3, 1 + option / 8), (char *) text, length);
		check_scheme(spot, (char *) text, length);
		free(text);
	}
	return 0;
}
