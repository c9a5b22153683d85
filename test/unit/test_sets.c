/*
 * test_sets.c: the exact join of bags compared with all pairs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bags.h"
#include "join/documents.h"
#include "join/set_join.h"
#include "random.h"
#include "unit.h"

/* ---- Bags ---------------------------------------------------------------- */

/* Few elements are in many bags, most in few; some bags are similar to an earlier one. */
static void
random_bags(Bag *bags, uint32_t count, uint32_t longest)
{
	uint64_t hashes[512];

	for (uint32_t b = 0; b < count; b++)
	{
		uint32_t n = random_below(longest + 1);
		uint32_t kept = 0;

		if (b > 0 && b % 3 != 0)
		{
			const Bag *model = bags + random_below(b);

			for (uint32_t i = 0; i < model->count; i++)
				for (uint32_t f = 0; f < bag_frequency(model, i); f++)
					if (kept < 400 && random_below(8) > 0)
						hashes[kept++] = (uint64_t) model->element[i];
			n = random_below(4);
		}
		for (uint32_t i = 0; i < n; i++)
			hashes[kept++] = random_below(random_below(4) == 0 ? 9 : 5000) - UINT64_C(4);
		bags[b] = bag_of(hashes, kept);
	}
}

static void
free_bags(Bag *bags, uint32_t count)
{
	for (uint32_t b = 0; b < count; b++)
		bag_free(bags + b);
}

/* ---- Comparison with all pairs ------------------------------------------- */

/* The similarity of each pair that was given; -1 for the others. */
typedef struct Found
{
	double *similarity;
	uint32_t columns;
	int twice;
} Found;

static bool
note_pair(void *found_state, uint32_t a, uint32_t b, double similarity)
{
	Found *found = found_state;
	double *position = found->similarity + (size_t) a * found->columns + b;

	found->twice += *position >= 0;
	*position = similarity;
	return true;
}

static double
similarity_of(const SetJoin *join, uint32_t a, uint32_t b)
{
	const Bag *x = join->left + a;
	const Bag *y = (join->right ? join->right : join->left) + b;

	return bag_similarity(x, y, join->measure, join->weighted);
}

static void
compare_with_all(const SetJoin *join, const Found *found, const JoinStats *stats)
{
	uint64_t pairs = 0;
	int wrong = 0;

	for (uint32_t a = 0; a < join->left_count; a++)
		for (uint32_t b = 0; b < found->columns; b++)
		{
			double got = found->similarity[(size_t) a * found->columns + b];
			double similarity = join->right || a < b ? similarity_of(join, a, b) : -1;
			bool expected = similarity >= join->threshold;

			pairs += expected;
			wrong += got != (expected ? similarity : -1);
		}
	CHECK_MSG(wrong == 0 && found->twice == 0 && stats->pairs == pairs,
			  "measure %d, threshold %.17g, weighted %d, two sources %d: %d wrong, %d twice",
			  join->measure, join->threshold, join->weighted, join->right != NULL, wrong,
			  found->twice);
	CHECK(stats->compared >= stats->pairs);
	CHECK(stats->hits >= stats->pruned_by_length + stats->pruned_by_frequency + stats->compared);
	CHECK(join->memory > 0 ||
		  stats->bags == join->left_count + (join->right ? join->right_count : 0));
}

/* Joins bags within this many bytes of memory, 0 for any number. */
static JoinStats
join_within(size_t memory, Measure measure, const Bag *left, uint32_t left_count, const Bag *right,
			uint32_t right_count, double threshold, bool weighted)
{
	Found found = {NULL, right ? right_count : left_count, 0};
	SetJoin join = {.left = left,
					.left_count = left_count,
					.right = right,
					.right_count = right_count,
					.threshold = threshold,
					.weighted = weighted,
					.measure = measure,
					.memory = memory,
					.sink = note_pair,
					.state = &found};
	size_t positions = (size_t) left_count * found.columns;
	JoinStats stats;

	found.similarity = malloc((positions + 1) * sizeof(double));
	for (size_t i = 0; i < positions; i++)
		found.similarity[i] = -1;
	CHECK(set_join(&join, &stats));
	compare_with_all(&join, &found, &stats);
	free(found.similarity);
	return stats;
}

/* Joins bags in memory; few also by way of files.  Returns the statistics of memory. */
static JoinStats
join_by(Measure measure, const Bag *left, uint32_t left_count, const Bag *right,
		uint32_t right_count, double threshold, bool weighted)
{
	if (left_count < 200)
		join_within(16384, measure, left, left_count, right, right_count, threshold, weighted);
	return join_within(0, measure, left, left_count, right, right_count, threshold, weighted);
}

/* Joins by both measures.  Returns the statistics of resemblance. */
static JoinStats
join_and_compare(const Bag *left, uint32_t left_count, const Bag *right, uint32_t right_count,
				 double threshold, bool weighted)
{
	JoinStats stats =
		join_by(MEASURE_RESEMBLANCE, left, left_count, right, right_count, threshold, weighted);
	JoinStats contained =
		join_by(MEASURE_CONTAINMENT, left, left_count, right, right_count, threshold, weighted);

	CHECK(contained.pairs >= stats.pairs);
	return stats;
}

static const double thresholds[] = {1e-300, 0.01, 0.1, 0.25, 1 / 3.0,        0.5, 0.6, 2 / 3.0,
									0.7,    0.8,  0.9, 0.95, 0.999999999999, 1.0};
#define THRESHOLDS ((int) (sizeof(thresholds) / sizeof(thresholds[0])))

/* Joins random bags at all thresholds, or every `step`-th from one on. */
static void
join_random_bags(uint32_t longest, int first, int step)
{
	Bag bags[120];

	random_bags(bags, 120, longest);
	for (int t = first; t < THRESHOLDS; t += step)
		for (int weighted = 0; weighted < 2; weighted++)
		{
			join_and_compare(bags, 120, NULL, 0, thresholds[t], weighted);
			join_and_compare(bags, 70, bags + 70, 50, thresholds[t], weighted);
			/* The second is similar to the first, with lengths in the opposite order. */
			join_and_compare(bags + 70, 50, bags, 70, thresholds[t], weighted);
		}
	free_bags(bags, 120);
}

/* Without NEARDUP_LONG, every other threshold for each length, in turn. */
static void
nothing_is_lost(void)
{
	static const uint32_t longest[] = {3, 12, 60, 150};
	int step = unit_is_long() ? 1 : 2;

	for (int l = 0; l < 4; l++)
		for (int round = 0; round < unit_rounds(2); round++)
			join_random_bags(longest[l], l % step, step);
}

/* No bag, one bag, empty bags, bags with nothing in common. */
static void
little_is_joined(void)
{
	uint64_t one = 7;
	uint64_t other = 0;
	Bag bags[] = {bag_of(&one, 1), bag_of(&one, 0), bag_of(&one, 0), bag_of(&other, 1),
				  bag_of(&one, 1)};

	CHECK(join_and_compare(bags, 0, NULL, 0, 0.5, false).pairs == 0);
	CHECK(join_and_compare(bags, 1, NULL, 0, 0.5, true).pairs == 0);
	CHECK(join_and_compare(bags + 1, 2, NULL, 0, 0.5, false).pairs == 0);
	CHECK(join_and_compare(bags, 4, NULL, 0, 0.5, false).pairs == 0);
	CHECK(join_and_compare(bags, 5, NULL, 0, 0.5, false).pairs == 1);
	CHECK(join_and_compare(bags, 0, bags, 5, 0.5, false).pairs == 0);
	CHECK(join_and_compare(bags, 5, bags, 0, 0.5, false).pairs == 0);
	CHECK(join_and_compare(bags, 1, bags, 5, 0.5, false).pairs == 2);
	free_bags(bags, 5);
}

/* ---- The paper ----------------------------------------------------------- */

/*
 * In section 5.2 of the paper, line 17 prunes a pair by the sum of both differences, which
 * loses this one if only the longer bag is searched.
 */
static void
shorter_partner_is_found(void)
{
	static const uint64_t hashes[] = {4, 4, 2};
	Bag longer = bag_of(hashes, 3);
	Bag shorter = bag_of(hashes, 2);

	CHECK(join_and_compare(&longer, 1, &shorter, 1, 0.5, true).pairs == 1);
	CHECK(join_and_compare(&shorter, 1, &longer, 1, 0.5, true).pairs == 1);
	CHECK(bag_similarity(&longer, &shorter, MEASURE_RESEMBLANCE, true) == 2 / 3.0);
	bag_free(&longer);
	bag_free(&shorter);
}

/* An abstract is found in its report, however long that is, and a part of it is measured by it. */
static void
lesser_is_found_in_greater(void)
{
	static uint64_t hashes[1000];
	Bag bags[3];

	for (uint64_t i = 0; i < 1000; i++)
		hashes[i] = i * i;
	bags[0] = bag_of(hashes, 1000);
	bags[1] = bag_of(hashes + 400, 20);
	for (uint64_t i = 0; i < 5; i++)
		hashes[400 + i] = i * i + 2;
	bags[2] = bag_of(hashes + 400, 20);
	CHECK(join_by(MEASURE_CONTAINMENT, bags, 3, NULL, 0, 1, false).pairs == 1);
	CHECK(join_by(MEASURE_CONTAINMENT, bags, 3, NULL, 0, 0.75, false).pairs == 3);
	CHECK(join_by(MEASURE_CONTAINMENT, bags + 2, 1, bags, 2, 0.75, true).pairs == 2);
	CHECK(join_by(MEASURE_CONTAINMENT, bags, 2, bags + 2, 1, 0.7500000000000001, true).pairs == 0);
	CHECK(join_by(MEASURE_RESEMBLANCE, bags, 3, NULL, 0, 0.7, false).pairs == 0);
	free_bags(bags, 3);
}

/* Counts the partitions of lengths 1 to range. */
static int
count_partitions(double threshold, uint64_t range)
{
	uint64_t least;
	uint64_t most = 0;
	int count = 0;

	for (; most < range; count++)
		overlap_sizes(MEASURE_RESEMBLANCE, most + 1, threshold, &least, &most);
	return count;
}

/* By definition 3; the paper prints 501, 41 and 3. */
static void
partitions_are_those_of_the_rule(void)
{
	CHECK(count_partitions(1.0, 1000) == 1000);
	CHECK(count_partitions(0.9, 1000) == 49);
	CHECK(count_partitions(0.1, 1000) == 3);
}

/*
 * The paper's example of deduplication: of three documents, only the first and the third
 * are a pair at 0.8, with exactly that similarity.
 */
static void
example_of_deduplication(void)
{
	static const uint8_t frequency[3][3] = {{5, 4, 4}, {8, 4, 0}, {4, 5, 5}};
	Bag bags[3];

	for (int d = 0; d < 3; d++)
	{
		uint64_t hashes[16];
		size_t count = 0;

		for (int s = 0; s < 3; s++)
			for (int f = 0; f < frequency[d][s]; f++)
				hashes[count++] = s + 1;
		bags[d] = bag_of(hashes, count);
	}
	CHECK(bag_similarity(&bags[0], &bags[2], MEASURE_RESEMBLANCE, true) == 0.8);
	CHECK(join_and_compare(bags, 3, NULL, 0, 0.8, true).pairs == 1);
	CHECK(join_and_compare(bags, 3, NULL, 0, 0.8000000000000002, true).pairs == 0);
	CHECK(join_and_compare(bags, 1, bags + 1, 2, 0.8, true).pairs == 1);
	free_bags(bags, 3);
}

/* ---- Stress -------------------------------------------------------------- */

/* Long lists and long bags check for interrupts, and most pairs do not meet. */
static void
much_is_pruned(void)
{
	static Bag bags[2000];
	static uint64_t hashes[400];
	JoinStats stats;
	unsigned long before = host_interrupt_checks;

	for (uint32_t b = 0; b < 2000; b++)
	{
		uint32_t n = 20 + random_below(100);

		for (uint32_t i = 0; i < n; i++)
			hashes[i] = i < 10 ? i : random_below(1 << 20);
		bags[b] = bag_of(hashes, n);
	}
	stats = join_and_compare(bags, 2000, NULL, 0, 0.7, false);
	CHECK(stats.hits < 2000 * 1999 / 2 / 1000);
	CHECK(stats.partitions > 3 && stats.partitions < 12);
	CHECK(host_interrupt_checks > before + 50);
	free_bags(bags, 2000);
}

/* Long bags that share many frequent elements meet, but few are compared. */
static void
bitmaps_prune(void)
{
	static Bag bags[300];
	static uint64_t hashes[600];

	for (uint32_t b = 0; b < 300; b++)
	{
		for (uint32_t i = 0; i < 600; i++)
			hashes[i] = random_below(1500 + b % 2 * 500);
		bags[b] = bag_of(hashes, 600);
	}
	for (int weighted = 0; weighted < 2; weighted++)
	{
		JoinStats stats = join_by(MEASURE_RESEMBLANCE, bags, 300, NULL, 0, 0.4, weighted);

		CHECK(stats.pruned_by_frequency > 300 * 299 / 2 / 2);
		CHECK(stats.compared < 300 * 299 / 2 / 100);
	}
	join_and_compare(bags, 100, bags + 100, 200, 0.18, true);
	free_bags(bags, 300);
}

/*
 * Texts on one form, whose lists would have every pair, are scanned, and few are compared.  Some are equal,
 * just similar, or shorter, and some bitmaps are longer than a prefix.
 */
static void
forms_are_scanned(uint32_t length, uint32_t changed)
{
	static Bag bags[300];
	static uint64_t hashes[2000];
	double needed = (double) (length - changed) / (length + changed);

	for (uint32_t b = 0; b < 300; b++)
	{
		uint32_t n = b % 50 == 0 ? length - random_below(changed) : length;

		for (uint32_t i = 0; i < n; i++)
			hashes[i] = i;
		for (uint32_t i = 0; i < changed && b % 7 != 0; i++)
			hashes[random_below(n)] = random_below(2) ? random_below(n) : next_random(&random_seed);
		bags[b] = bag_of(hashes, n);
	}
	for (int weighted = 0; weighted < 2; weighted++)
	{
		JoinStats stats = join_and_compare(bags, 300, NULL, 0, needed, weighted);

		join_and_compare(bags, 150, bags + 150, 150, nextafter(needed, 1), weighted);
		CHECK(stats.compared < 300 * 299 / 2 / 3 * 2);
	}
	free_bags(bags, 300);
}

/* ---- Forecasts ---------------------------------------------------------- */

/* A function of PairOptions. */
static void
note_family(void *state, double family, double minutes)
{
	*(double *) state = family;
}

static bool
take_any(void *state, uint32_t a, uint32_t b, double similarity)
{
	return true;
}

/* Half of the bags are a family, which is told, in memory and by way of files. */
static void
family_is_told(size_t memory)
{
	static Bag bags[2000];
	uint64_t hashes[20];
	uint64_t pairs = 0;
	double family = 0;
	JoinStats stats;
	PairStats pair_stats = {0};
	PairOptions options = {.slow = note_family, .state = &family, .stats = &pair_stats};
	Forecast forecast = {&options, 1, UINT64_MAX, &pairs};
	SetJoin join = {.left = bags,
					.left_count = 2000,
					.threshold = 0.8,
					.sink = take_any,
					.memory = memory,
					.forecast = &forecast};

	for (uint32_t b = 0; b < 2000; b++)
	{
		for (uint32_t i = 0; i < 20; i++)
			hashes[i] = b % 2 == 0 && i > 0 ? i : next_random(&random_seed);
		bags[b] = bag_of(hashes, 20);
	}
	CHECK(set_join(&join, &stats) && family == 1000);
	free_bags(bags, 2000);
}

int
main(void)
{
	nothing_is_lost();
	forms_are_scanned(20, 2);
	forms_are_scanned(200, 18);
	forms_are_scanned(2000, 150);
	host_limit_most = 1; /* all lists are long */
	forms_are_scanned(60, 6);
	join_random_bags(60, 0, 2);
	join_random_bags(12, 1, 2);
	family_is_told(0);
	family_is_told(1 << 20);
	host_limit_most = SIZE_MAX;
	little_is_joined();
	shorter_partner_is_found();
	example_of_deduplication();
	lesser_is_found_in_greater();
	partitions_are_those_of_the_rule();
	much_is_pruned();
	bitmaps_prune();
	return unit_report();
}
