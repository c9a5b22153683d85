/*
 * test_compare.c: edit distance and longest common substring against the matrix and the loops
 * of reference.h.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/suffix.h"
#include "random.h"
#include "reference.h"
#include "unit.h"

/* Returns a random sequence, or a copy of another with random edits. */
static Sequence
make_sequence(uint64_t *seed, size_t length, uint32_t alphabet, const Sequence *other, int edits)
{
	size_t room = (other ? other->length : length) + edits + 1;
	Sequence made = {malloc(room * sizeof(uint32_t)), other ? 0 : length};

	for (size_t i = 0; i < made.length; i++)
		made.symbol[i] = (uint32_t) (next_random(seed) % alphabet);
	if (!other)
		return made;
	made.length = other->length;
	memcpy(made.symbol, other->symbol, other->length * sizeof(uint32_t));
	for (; edits > 0 && made.length > 1; edits--)
	{
		size_t at = next_random(seed) % made.length;
		uint32_t *position = made.symbol + at;

		switch (next_random(seed) % 3)
		{
			case 0:
				*position = (uint32_t) (next_random(seed) % alphabet);
				break;
			case 1:
				memmove(position, position + 1, (made.length-- - at - 1) * sizeof(uint32_t));
				break;
			default:
				memmove(position + 1, position, (made.length++ - at) * sizeof(uint32_t));
		}
	}
	return made;
}

/* For every bound, the result says whether the distance is within it. */
static void
check_bounds(const SequencePair *pair, EditCosts costs, int64_t distance)
{
	static const int64_t steps[] = {-70, -64, -3, -2, -1, 0, 1, 2, 63, 64, 65, 1000};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
	{
		int64_t most = distance + steps[i];
		int64_t found;

		if (most < 0)
			continue;
		found = edit_distance(pair, costs, most);
		CHECK_MSG(found == (distance <= most ? distance : most + 1),
				  "distance %d, most %d, found %d", (int) distance, (int) most, (int) found);
	}
}

static void
check_pair(const SequencePair *pair)
{
	static const EditCosts costs[] = {{1, 1, 1}, {3, 3, 3}, {1, 2, 3}, {5, 1, 2}, {1, 1, 5},
									  {0, 1, 1}, {2, 0, 1}, {1, 1, 0}, {0, 0, 0}};
	SequencePair turned = {pair->b, pair->a, pair->alphabet};
	Common common = longest_common_run(pair);
	Common slow = reference_common(pair);

	CHECK(common.length == slow.length && common.start == slow.start);
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
	{
		EditCosts opposite = {costs[i].deletion, costs[i].insertion, costs[i].substitution};
		int64_t distance = reference_distance(pair, costs[i]);

		CHECK_MSG(edit_distance(pair, costs[i], EDIT_UNBOUNDED) == distance, "costs %d: %d, not %d",
				  (int) i, (int) edit_distance(pair, costs[i], EDIT_UNBOUNDED), (int) distance);
		CHECK(edit_distance(&turned, opposite, EDIT_UNBOUNDED) == distance);
		check_bounds(pair, costs[i], distance);
	}
}

static void
test_random_pairs(void)
{
	static const size_t lengths[] = {0, 1, 2, 7, 63, 64, 65, 128, 256, 257, 333, 700};
	uint64_t seed = 7;

	for (int round = 0; round < 160; round++)
	{
		uint32_t alphabet =
			round % 4 == 0 ? 1 + round % 3 : 2 + (uint32_t) (next_random(&seed) % 40);
		Sequence a = make_sequence(&seed, lengths[round % 12], alphabet, NULL, 0);
		bool alike = round / 12 % 2 == 0;
		Sequence b = make_sequence(&seed, lengths[round * 7 / 12 % 12], alphabet, alike ? &a : NULL,
								   round % 90);
		SequencePair pair = {a, b, alphabet};

		check_pair(&pair);
		pair_free(&pair);
	}
}

static int
compare_suffixes(const uint32_t *text, uint32_t x, uint32_t y)
{
	while (text[x] == text[y])
		x++, y++;
	return text[x] < text[y] ? -1 : 1;
}

/* The suffixes are sorted, and each is there once. */
static void
check_suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet)
{
	uint32_t *array = malloc(length * sizeof(uint32_t));
	bool *seen = calloc(length, sizeof(bool));
	int wrong = 0;

	suffix_array(text, length, alphabet, array);
	for (uint32_t i = 0; i < length; i++)
	{
		wrong += array[i] >= length || seen[array[i]];
		seen[array[i]] = true;
	}
	for (uint32_t i = 1; i < length && wrong == 0; i++)
		wrong += compare_suffixes(text, array[i - 1], array[i]) >= 0;
	CHECK_MSG(wrong == 0, "length %u alphabet %u", length, alphabet);
	free(array);
	free(seen);
}

static void
test_suffix_arrays(void)
{
	uint64_t seed = 11;

	for (uint32_t round = 0; round < 400; round++)
	{
		uint32_t length = 1 + round;
		uint32_t alphabet = 2 + round % 5 * round % 7;
		uint32_t *text = malloc(length * sizeof(uint32_t));

		for (uint32_t i = 0; i < length; i++)
			text[i] = 1 +
				(round % 3 == 0 ? i % (round % 11 + 1) : (uint32_t) (next_random(&seed))) %
					(alphabet - 1);
		text[length - 1] = 0;
		check_suffix_array(text, length, alphabet);
		free(text);
	}
}

static int64_t
distance_of(const char *a, const char *b, bool tokens)
{
	SequencePair pair = {0};
	int64_t distance;

	if (tokens)
		CHECK(pair_of_tokens(a, strlen(a), b, strlen(b), &pair));
	else
		CHECK(pair_of_characters(a, strlen(a), b, strlen(b), &pair));
	distance = edit_distance(&pair, (EditCosts){1, 1, 1}, EDIT_UNBOUNDED);
	pair_free(&pair);
	return distance;
}

static void
test_texts(void)
{
	CHECK(distance_of("kitten", "sitting", false) == 3);
	CHECK(distance_of("intention", "execution", false) == 5);
	CHECK(distance_of("", "abc", false) == 3);
	CHECK(distance_of("", "", false) == 0);
	/* Characters are compared, not bytes; an invalid byte differs from all others. */
	CHECK(distance_of("na\xC3\xAFve", "naive", false) == 1);
	CHECK(distance_of("\xE6\x9D\xB1\xE4\xBA\xAC", "\xE4\xBA\xAC\xE9\x83\xBD", false) == 2);
	CHECK(distance_of("a\xFF", "a\xFE", false) == 1);
	CHECK(distance_of("a\xFF", "a\xFF", false) == 0);
	CHECK(distance_of("The quick, brown fox", "the QUICK red fox jumps", true) == 2);
}

/* A long text of many distinct characters makes the numbering grow. */
static void
test_many_symbols(void)
{
	size_t count = 20000;
	char *a = malloc(count * 4);
	size_t length = 0;
	SequencePair pair;

	for (size_t i = 0; i < count; i++)
	{
		uint32_t c = (uint32_t) (0x4E00 + i % 7000);

		a[length++] = (char) (0xE0 | c >> 12);
		a[length++] = (char) (0x80 | (c >> 6 & 0x3F));
		a[length++] = (char) (0x80 | (c & 0x3F));
	}
	CHECK(pair_of_characters(a, length, a + 3, length - 3, &pair));
	CHECK(pair.a.length == count && pair.alphabet == 7000);
	for (size_t i = 0; i < count; i++)
		CHECK(pair.a.symbol[i] == i % 7000);
	CHECK(edit_distance(&pair, (EditCosts){1, 1, 1}, EDIT_UNBOUNDED) == 1);
	CHECK(longest_common_run(&pair).start == 1 && longest_common_run(&pair).length == count - 1);
	pair_free(&pair);
	free(a);
}

/* Long loops check for interrupts. */
static void
test_interrupts(void)
{
	uint64_t seed = 3;
	Sequence a = make_sequence(&seed, 20000, 50, NULL, 0);
	Sequence b = make_sequence(&seed, 20000, 50, NULL, 0);
	SequencePair pair = {a, b, 50};
	unsigned long before = host_interrupt_checks;

	edit_distance(&pair, (EditCosts){1, 1, 1}, EDIT_UNBOUNDED);
	CHECK(host_interrupt_checks - before > 20000 / 128);
	before = host_interrupt_checks;
	edit_distance(&pair, (EditCosts){1, 2, 1}, 2000);
	CHECK(host_interrupt_checks > before);
	before = host_interrupt_checks;
	longest_common_run(&pair);
	CHECK(host_interrupt_checks - before > 10);
	pair_free(&pair);
}

int
main(void)
{
	test_random_pairs();
	test_suffix_arrays();
	test_texts();
	test_many_symbols();
	test_interrupts();
	return unit_report();
}
