/*
 * test_spot.c: spot signatures against their definition, computed slowly.
 */
#include <stdio.h>

#include "collect.h"
#include "random.h"
#include "unit.h"

#define WORDS_MAX 4000

/* ---- The definition ------------------------------------------------------- */

typedef struct Chain
{
	uint64_t hash;
	size_t ends; /* content words before its end */
	size_t first_same;
	size_t starts;
} Chain;

static int
compare_chains(const void *x, const void *y)
{
	const Chain *a = x;
	const Chain *b = y;

	if (a->ends != b->ends)
		return a->ends < b->ends ? -1 : 1;
	if (a->first_same != b->first_same)
		return a->first_same < b->first_same ? -1 : 1;
	return a->starts < b->starts ? -1 : a->starts > b->starts;
}

/* Finds the chain of a rule from a word on; returns false if the text ends before. */
static bool
chain_from(const uint64_t *word, const char *kind, size_t words, size_t start, const SpotRule *rule,
		   Chain *chain)
{
	uint64_t sum = word[start];
	int found = 0;
	size_t i;

	for (i = start + 1; i < words && found < rule->distance * rule->chain; i++)
		if (kind[i] == 'c' && ++found % rule->distance == 0)
			sum = sum * SHINGLE_MULTIPLIER + word[i];
	chain->hash = mix64(sum);
	chain->starts = start;
	chain->ends = i;
	return found == rule->distance * rule->chain;
}

static void
check_signatures(const uint64_t *word, const char *kind, size_t words, const SpotRule *rules,
				 int rule_count, const HashList *list)
{
	static Chain chain[WORDS_MAX * 4];
	size_t count = 0;

	for (size_t i = 0; i < words; i++)
		for (int r = 0; r < rule_count; r++)
			if (kind[i] == 'a' && (rules[r].antecedent == 0 || rules[r].antecedent == word[i]) &&
				chain_from(word, kind, words, i, &rules[r], &chain[count]))
			{
				Chain *c = &chain[count];

				/* Chains of the same rule at the same position among chain words count as one. */
				c->first_same = count;
				for (size_t j = 0; j < count; j++)
					if (chain[j].ends == c->ends && chain[j].hash == c->hash &&
						chain[j].first_same == j)
						c->first_same = j;
				count++;
			}
	qsort(chain, count, sizeof(Chain), compare_chains);
	CHECK_MSG(count == list->count, "%zu signatures, not %zu", list->count, count);
	for (size_t i = 0; i < count && i < list->count; i++)
		CHECK_MSG(chain[i].hash == list->hash[i], "signature %zu of %zu", i, count);
}

/* ---- Texts ---------------------------------------------------------------- */

/* Words "a0" to "a3" are antecedents, "s0" to "s3" stop words. */
static size_t
random_text(char *text, uint64_t *word, char *kind, size_t words, int content)
{
	size_t length = 0;

	for (size_t i = 0; i < words; i++)
	{
		char *start = text + length;

		kind[i] = (int) random_below(100) < content ? 'c' : "aas"[random_below(3)];
		length += sprintf(start, "%c%u", kind[i], random_below(kind[i] == 'c' ? 500 : 4));
		word[i] = shingle_of_token(start, strlen(start));
		text[length++] = ' ';
	}
	return length;
}

static SpotWords *
make_words(SchemeId scheme, const char *const *antecedents, int count)
{
	SpotWords *words = spot_words_begin(scheme, true, true);
	char stop[3] = "s0";

	for (int i = 0; i < count; i++)
		CHECK(spot_words_add_antecedent(words, antecedents[i], strlen(antecedents[i])));
	for (; stop[1] < '4'; stop[1]++)
		CHECK(spot_words_add_stop_word(words, stop, 2));
	return words;
}

static void
shown_are_the_same(const char *text, size_t length, const SpotWords *words, const HashList *list)
{
	ShownShingles shown;
	bool all = spots_to_show(text, length, words, &shown);
	size_t total = 0;

	CHECK(all);
	for (size_t i = 0; i < shown.count; i++)
	{
		uint64_t sum = 0;
		size_t own_length;
		const char *at = shown_text(&shown, &shown.shingle[i], &own_length);
		const char *end = at + own_length;

		total += shown.shingle[i].count;
		while (at <= end)
		{
			const char *colon = memchr(at, ':', end - at);
			size_t bytes = (colon ? colon : end) - at;

			sum = sum * SHINGLE_MULTIPLIER + shingle_of_token(at, bytes);
			at += bytes + 1;
		}
		CHECK(mix64(sum) == shown.shingle[i].hash);
	}
	CHECK(total == list->count);
	shown_free(&shown);
}

static void
compare_with_definition(size_t words, int content, int d, int c)
{
	static const char *const all[] = {"a0", "a1", "a2", "a3"};
	static char text[WORDS_MAX * 8];
	static uint64_t word[WORDS_MAX];
	static char kind[WORDS_MAX];
	size_t length = random_text(text, word, kind, words, content);
	SpotWords *lists = make_words(SCHEME_SPOT_ID(d, c, 0), all, 4);
	SpotRule rule = {0, d, c};
	HashList list = {calloc(1, LIST_ROOM), 0};

	CHECK(SCHEME_VARIANT(spot_words_finish(lists)) >= SPOT_LISTS);
	spots_of_text(text, length, lists, collect_hashes, &list);
	check_signatures(word, kind, words, &rule, 1, &list);
	text[length] = '\0';
	shown_are_the_same(text, length, lists, &list);
	spot_words_free(lists);
	free(list.hash);
}

/* Several specifications together, two of them for one word. */
static void
compare_combination(size_t words)
{
	static const char *const mixed[] = {"a0(1, 2)", "A1(2,3)", "a2 (15,15)", "a0( 4,1 )"};
	static char text[WORDS_MAX * 8];
	static uint64_t word[WORDS_MAX];
	static char kind[WORDS_MAX];
	SpotRule rules[] = {{shingle_of_token("a0", 2), 1, 2},
						{shingle_of_token("a0", 2), 4, 1},
						{shingle_of_token("a1", 2), 2, 3},
						{shingle_of_token("a2", 2), 15, 15}};
	size_t length = random_text(text, word, kind, words, 60);
	SpotWords *lists = make_words(SCHEME_SPOT_ID(1, 2, 0), mixed, 4);
	HashList list = {calloc(1, LIST_ROOM), 0};

	/* A word without a rule may be in chains. */
	for (size_t i = 0; i < words; i++)
		if (word[i] == shingle_of_token("a3", 2))
			kind[i] = 'c';
	spot_words_finish(lists);
	spots_of_text(text, length, lists, collect_hashes, &list);
	check_signatures(word, kind, words, rules, 4, &list);
	spot_words_free(lists);
	free(list.hash);
}

static void
test_definition(void)
{
	for (size_t words = 0; words < 60; words++)
		for (int d = 1; d <= 3; d++)
			compare_with_definition(words, 50, d, 1 + random_below(3));
	compare_with_definition(3000, 5, 1, 2);
	compare_with_definition(3000, 50, 15, 15);
	compare_with_definition(3000, 95, 2, 7);
	compare_with_definition(WORDS_MAX, 70, 1, 3);
	for (size_t words = 0; words < 1500; words += 29)
		compare_combination(words);
}

/* ---- Lists ---------------------------------------------------------------- */

static SchemeId
scheme_of_lists(SchemeId scheme, const char *const *antecedents, int count, const char *stop)
{
	SpotWords *words = spot_words_begin(scheme, antecedents != NULL, stop != NULL);
	SchemeId id;

	for (int i = 0; i < count; i++)
		spot_words_add_antecedent(words, antecedents[i], strlen(antecedents[i]));
	if (stop)
		spot_words_add_stop_word(words, stop, strlen(stop));
	id = spot_words_finish(words);
	spot_words_free(words);
	return id;
}

/* Schemes differ if and only if lists differ. */
static void
test_scheme_of_lists(void)
{
	static const char *const some[] = {"the", "a"};
	static const char *const again[] = {"A", "the(1,2)", "the"};
	static const char *const more[] = {"the", "a", "an"};
	static const char *const longer[] = {"the", "a(1,3)"};
	SchemeId scheme = SCHEME_SPOT_ID(1, 2, 0);
	SchemeId id = scheme_of_lists(scheme, some, 2, NULL);

	CHECK(id == scheme_of_lists(scheme, again, 3, NULL));
	CHECK(id != scheme_of_lists(scheme, more, 3, NULL));
	CHECK(id != scheme_of_lists(scheme, longer, 2, NULL));
	CHECK(id != scheme_of_lists(scheme, some, 2, "x"));
	CHECK(id != scheme_of_lists(scheme | 1, some, 2, NULL));
	CHECK(id != scheme_of_lists(SCHEME_SPOT_ID(1, 3, 0), some, 2, NULL));
	CHECK(scheme_of_lists(scheme, NULL, 0, "x") != scheme_of_lists(scheme, NULL, 0, "y"));
	CHECK(scheme_of_lists(scheme, NULL, 0, NULL) == scheme);
	CHECK(scheme_is_valid(id) && !scheme_reads_text(id));
}

static void
test_bad_words(void)
{
	static const char *const bad[] = {"",        " ",         "two words", "a-b",      "the(1,2",
									  "the(1)",  "the(0,2)",  "the(1,16)", "(1,2)",    "the(1,2)x",
									  "the(,2)", "the(1,2) ", "the(-1,2)", "the(1;2)", "the("};
	SpotWords *words = spot_words_begin(SCHEME_SPOT_ID(1, 2, 0), true, true);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!spot_words_add_antecedent(words, bad[i], strlen(bad[i])), "%s", bad[i]);
	CHECK(!spot_words_add_stop_word(words, "two words", 9));
	CHECK(!spot_words_add_stop_word(words, "", 0));
	CHECK(spot_words_add_antecedent(words, " The ", 5));
	spot_words_free(words);
}

/*
 * Very many antecedents with no word between start chains that end at the same word.  This
 * takes linear time; it would not if each antecedent searched those before it.
 */
static void
test_many_antecedents(void)
{
	const size_t count = 200000;
	SpotWords *words = spot_words_begin(SCHEME_SPOT_ID(1, 1, 0), true, false);
	char *text = malloc(2 * count * 10 + 10);
	ShownShingles shown;
	size_t length = 0;

	for (size_t i = 0; i < 2 * count; i++)
	{
		size_t bytes = (size_t) sprintf(text + length, "a%06zu ", i % count);

		if (i < count)
			CHECK(spot_words_add_antecedent(words, text + length, bytes - 1));
		length += bytes;
	}
	memcpy(text + length, "end", 3);
	spot_words_finish(words);
	CHECK(spots_to_show(text, length + 3, words, &shown));
	CHECK(shown.count == count);
	CHECK(shown.shingle[0].count == 2 && shown.shingle[count - 1].count == 2);
	shown_free(&shown);
	spot_words_free(words);
	free(text);
}

int
main(void)
{
	test_definition();
	test_many_antecedents();
	test_scheme_of_lists();
	test_bad_words();
	return unit_report();
}
