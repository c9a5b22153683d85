/*
 * test_forms.c: leaving shingles out, and counting which elements many bags have, compared
 * with plain loops.
 */
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "random.h"
#include "sketch/frequent.h"
#include "sketch/minus.h"
#include "unit.h"

/* ---- Leaving out -------------------------------------------------------------- */

#define WORDS 300

/* Writes a text of random words, of which there are few. */
static char *
random_text(int words)
{
	char *text = malloc(words * 5 + 1);
	char *end = text;

	*end = '\0';
	for (int i = 0; i < words; i++)
		end += sprintf(end, "w%u ", random_below(60));
	return text;
}

static int
compare_hashes(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x;
	uint64_t b = *(const uint64_t *) y;

	return (a > b) - (a < b);
}

/* Returns the sorted hashes of a text that are not in a bag, found by a plain loop. */
static HashList
plain_rest(const char *text, SchemeId scheme, const Bag *bag)
{
	HashList list = hashes_from(text, strlen(text), scheme);
	size_t kept = 0;

	for (size_t i = 0; i < list.count; i++)
	{
		uint32_t at = 0;

		while (at < bag->count && (uint64_t) bag->element[at] != list.hash[i])
			at++;
		if (at == bag->count)
			list.hash[kept++] = list.hash[i];
	}
	list.count = kept;
	qsort(list.hash, list.count, sizeof(uint64_t), compare_hashes);
	return list;
}

static void
test_minus(SchemeId scheme, int form_words, int words)
{
	char *form = random_text(form_words);
	char *text = random_text(words);
	BagBuilder builder;
	HashList rest = hashes_from("", 0, scheme);
	HashList plain;
	Minus minus;
	Bag bag;

	bag_begin(&builder);
	shingle_text(form, strlen(form), scheme, bag_add, &builder);
	(void) bag_finish(&builder, &bag);
	minus_begin(&minus, (const uint64_t *) bag.element, bag.count);
	shingle_text_minus(text, strlen(text), scheme, &minus, collect_hashes, &rest);
	qsort(rest.hash, rest.count, sizeof(uint64_t), compare_hashes);
	plain = plain_rest(text, scheme, &bag);
	CHECK_MSG(rest.count == plain.count, "%zu and %zu", rest.count, plain.count);
	CHECK(rest.count == 0 || memcmp(rest.hash, plain.hash, rest.count * sizeof(uint64_t)) == 0);
	table_end(&minus.table);
	host_free(minus.bits);
	bag_free(&bag);
	free(rest.hash);
	free(plain.hash);
	free(form);
	free(text);
}

/* ---- Counting ------------------------------------------------------------------- */

#define BAGS 3000
#define ELEMENTS 400

/* Is element i in a bag?  The greater it is, the more bags have it. */
static bool
is_in(uint64_t bag, uint64_t i)
{
	uint64_t seed = bag * ELEMENTS + i;

	return next_random(&seed) % (2 * ELEMENTS) < i;
}

/* Counts the bags that have each element, and gives the bags with an element of their own to frequent. */
static void
count_bags(Frequent *frequent, uint32_t *bags)
{
	for (uint64_t b = 0; b < BAGS; b++)
	{
		BagBuilder builder;
		uint64_t own = UINT64_C(1) << 40 | b;
		Bag bag;

		bag_begin(&builder);
		bag_add(&builder, &own, 1);
		for (uint64_t i = 0; i < ELEMENTS; i++)
			if (is_in(b, i))
			{
				bag_add(&builder, &i, 1);
				bags[i]++;
			}
		(void) bag_finish(&builder, &bag);
		frequent_add(frequent, &bag);
		bag_free(&bag);
	}
}

static void
test_frequent(double share)
{
	uint32_t bags[ELEMENTS] = {0};
	bool found[ELEMENTS] = {false};
	Frequent frequent;
	Bag common;

	frequent_begin(&frequent, share);
	count_bags(&frequent, bags);
	/* Most of the elements that single bags have are forgotten. */
	CHECK_MSG(frequent.table.count < ELEMENTS + 2 * frequent.width, "%zu", frequent.table.count);
	common = frequent_finish(&frequent);
	CHECK(common.frequency == NULL);
	for (uint32_t i = 0; i < common.count; i++)
	{
		bool known = common.element[i] >= 0 && common.element[i] < ELEMENTS;

		CHECK(known);
		if (known)
			found[common.element[i]] = true;
	}
	for (int i = 0; i < ELEMENTS; i++)
	{
		CHECK_MSG(found[i] || bags[i] < share * BAGS, "%u bags have %d", bags[i], i);
		CHECK_MSG(!found[i] || bags[i] >= 0.95 * share * BAGS, "%u bags have %d", bags[i], i);
	}
	bag_free(&common);
}

int
main(void)
{
	const double share[] = {0.02, 0.1, 0.2, 0.33, 0.45, 1};
	const int words[] = {0, 1, 2, 50, WORDS, 5 * WORDS};
	const int texts = sizeof(words) / sizeof(words[0]);

	for (size_t i = 0; i < sizeof(share) / sizeof(share[0]); i++)
		test_frequent(share[i]);
	for (int form = 0; form < texts; form++)
		for (int text = 0; text < texts; text++)
		{
			test_minus(SCHEME_ID(SCHEME_WORD, 1), words[form], words[text]);
			test_minus(SCHEME_ID(SCHEME_WORD, 3), words[form], words[text]);
			test_minus(SCHEME_ID(SCHEME_CHAR, 4), words[form], words[text]);
		}
	return unit_report();
}
