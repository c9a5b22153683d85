/*
 * baselines.c: exact joins of sets as the literature has them, in one thread, beside set_join().
 *
 *   baselines [SETS [THRESHOLD ...]]   at most SETS sets of each kind; default: 100000 .5 .7 .8 .9 .95
 *
 * AllPairs (Bayardo, Ma, Srikant 2007), PPJoin and PPJoin+ with its suffix filter (Xiao, Wang, Lin, Yu
 * 2008), GroupJoin (Bouros, Ge, Mamoulis 2012), AdaptJoin (Wang, Li, Feng 2012) and a bitmap filter
 * (Sandes, Teodoro, Melo 2020), with the verification of Mann, Augsten, Bouros, "An empirical
 * evaluation of set similarity join techniques" (PVLDB 9(9), 2016): it goes on behind the prefixes that
 * were counted, and ends early.
 *
 * Prints processor time in milliseconds, medians of RUNS: of the ranking (counting, numbering and sorting
 * elements, and sorting sets; ours makes its bitmaps then), and of the join, which makes the lists.
 */
#include <stdio.h>

#include "baselines.h"
#include "timer.h"

#define RUNS 3
#define LONG_MS 5000 /* a run that takes longer is the only one */
#define EPSILON 1e-9
#define PRUNED UINT32_MAX
#define SUFFIX_DEPTH 2
#define BITMAP_WORDS 2

/* AdaptJoin: its schemes, and what it takes a verification to cost, in postings. */
#define SCHEMES_MAX 4
#define VERIFY_COST 4

/* ---- Filters ------------------------------------------------------------ */

/* Returns the least overlap of two sets, of these sizes together, that are similar. */
static inline uint32_t
least_overlap(double threshold, uint32_t sizes)
{
	return (uint32_t) ceil(threshold / (1 + threshold) * sizes - EPSILON);
}

/* Returns the least size of a set that may be similar to a set of this size. */
static inline uint32_t
least_size(double threshold, uint32_t size)
{
	return (uint32_t) ceil(threshold * size - EPSILON);
}

/* Returns how many of the rarest elements a longer set searches by. */
static inline uint32_t
probe_prefix(double threshold, uint32_t size)
{
	return size - least_size(threshold, size) + 1;
}

/* Returns how many of the rarest elements are in the lists, of which sets as long or longer have one. */
static inline uint32_t
index_prefix(double threshold, uint32_t size)
{
	return size - least_overlap(threshold, 2 * size) + 1;
}

/* Returns whether two sets that share `shared` elements before places i and j share `needed` in all. */
static bool
share_enough(const Set *r, uint32_t i, const Set *s, uint32_t j, uint32_t shared, uint32_t needed)
{
	while (shared < needed && r->size - i + shared >= needed && s->size - j + shared >= needed)
	{
		if (r->element[i] == s->element[j])
		{
			shared++;
			i++;
			j++;
		}
		else if (r->element[i] < s->element[j])
			i++;
		else
			j++;
	}
	return shared >= needed;
}

/*
 * Verifies a candidate, behind the prefixes in which they share `shared` elements; these are
 * `longer` elements longer than those of which one must be shared.
 */
static bool
verify(double threshold, const Set *r, const Set *s, uint32_t shared, uint32_t longer)
{
	uint32_t probe = Min(probe_prefix(threshold, r->size) + longer, r->size);
	uint32_t index = Min(index_prefix(threshold, s->size) + longer, s->size);
	uint32_t needed = least_overlap(threshold, r->size + s->size);

	if (r->element[probe - 1] < s->element[index - 1])
		return share_enough(r, probe, s, shared, shared, needed);
	return share_enough(r, shared, s, index, shared, needed);
}

static inline uint32_t
apart(uint32_t x, uint32_t y)
{
	return x > y ? x - y : y - x;
}

/* Returns the first place in x whose element is at least w. */
static uint32_t
place_of(const uint32_t *x, uint32_t count, uint32_t w)
{
	uint32_t low = 0;

	while (low < count)
	{
		uint32_t middle = low + (count - low) / 2;

		if (x[middle] < w)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* Returns a lower bound of how many elements only one of two suffixes has (Xiao et al., algorithm 4). */
static uint32_t
suffix_bound(const uint32_t *x, uint32_t count_x, const uint32_t *y, uint32_t count_y,
			 uint32_t most, int depth)
{
	uint32_t middle = count_y / 2;
	uint32_t at;
	uint32_t same;
	uint32_t right;
	uint32_t bound;

	if (depth > SUFFIX_DEPTH || count_x == 0 || count_y == 0)
		return apart(count_x, count_y);
	at = place_of(x, count_x, y[middle]);
	same = at < count_x && x[at] == y[middle];
	right = apart(count_x - at - same, count_y - middle - 1);
	bound = apart(at, middle) + right + !same;
	if (bound > most)
		return bound;
	bound = suffix_bound(x, at, y, middle, most - right - !same, depth + 1) + right + !same;
	if (bound > most)
		return bound;
	return bound - right +
		suffix_bound(x + at + same, count_x - at - same, y + middle + 1, count_y - middle - 1,
					 most - bound + right, depth + 1);
}

/* ---- Joins -------------------------------------------------------------- */

typedef enum Method
{
	ALL_PAIRS,
	PPJOIN,
	PPJOIN_PLUS,
	GROUP_JOIN,
	ADAPT_JOIN,
	BITMAPS,
	METHODS
} Method;

static const char *const method_names[] = {"AllPairs",  "PPJoin",    "PPJoin+",
										   "GroupJoin", "AdaptJoin", "AllPairs, bitmaps"};

/* A set, or a group of sets of one size and prefix, in the list of an element. */
typedef struct Posting
{
	uint32_t set;
	uint32_t place;
} Posting;

/* The list of an element.  Sets that are too short for all that follow are before `start`. */
typedef struct List
{
	Posting *posting;
	uint32_t start;
	uint32_t end;
	uint32_t room;
} List;

typedef struct Joiner
{
	const Sets *sets;
	double threshold;
	Method method;
	List *list;          /* of AdaptJoin, one for each scheme and element */
	uint32_t *shared;    /* elements that each set is known to share, or PRUNED */
	uint32_t *candidate; /* sets that a list had */
	uint32_t candidates;
	uint64_t *bitmap;
	uint32_t longer;     /* by how much AdaptJoin has made the prefixes of the set longer */
	uint32_t *group_end; /* behind the last set of the group that a set leads */
	uint64_t pairs;
} Joiner;

/* Returns whether a set may share enough elements with one met first, or again, at these places. */
static bool
may_match(const Joiner *j, const Set *r, uint32_t i, const Set *s, uint32_t at, uint32_t shared)
{
	uint32_t needed = least_overlap(j->threshold, r->size + s->size);
	uint32_t most;

	if (shared + Min(r->size - i, s->size - at) < needed)
		return false;
	if (j->method != PPJOIN_PLUS || shared > 0)
		return true;
	most = r->size + s->size - 2 * needed;
	return i + at <= most &&
		suffix_bound(r->element + i + 1, r->size - i - 1, s->element + at + 1, s->size - at - 1,
					 most - i - at, 1) <= most - i - at;
}

/* Returns a list, without the sets that are shorter than `least`. */
static List *
list_of(const Joiner *j, size_t number, uint32_t least)
{
	List *list = &j->list[number];

	while (list->start < list->end && j->sets->set[list->posting[list->start].set].size < least)
		list->start++;
	return list;
}

/* Gathers the candidates of a set. */
static void
search_lists(Joiner *j, const Set *r)
{
	uint32_t least = least_size(j->threshold, r->size);
	uint32_t probe = probe_prefix(j->threshold, r->size);

	for (uint32_t i = 0; i < probe; i++)
	{
		List *list = list_of(j, r->element[i], least);

		for (uint32_t p = list->start; p < list->end; p++)
		{
			Posting posting = list->posting[p];
			uint32_t *shared = &j->shared[posting.set];

			if (*shared == PRUNED)
				continue;
			if (*shared == 0)
				j->candidate[j->candidates++] = posting.set;
			if (j->method == ALL_PAIRS || j->method == ADAPT_JOIN || j->method == BITMAPS ||
				may_match(j, r, i, &j->sets->set[posting.set], posting.place, *shared))
				++*shared;
			else
				*shared = PRUNED;
		}
	}
}

/*
 * Goes through the lists that prefixes longer by one have more: those of the scheme for the
 * elements that the set was searched by, and those of all schemes for one more.  Counts again if
 * `count` is set, and returns how many postings there are.
 */
static size_t
next_scheme(Joiner *j, const Set *r, uint32_t scheme, bool count)
{
	uint32_t least = least_size(j->threshold, r->size);
	uint32_t probe = probe_prefix(j->threshold, r->size) + scheme;
	size_t postings = 0;

	for (uint32_t i = 0; i < probe; i++)
		for (uint32_t of = i + 1 < probe ? scheme : 0; of <= scheme; of++)
		{
			List *list = list_of(j, of * (size_t) j->sets->universe + r->element[i], least);

			postings += list->end - list->start;
			for (uint32_t p = list->start; count && p < list->end; p++)
				j->shared[list->posting[p].set] += j->shared[list->posting[p].set] > 0;
		}
	return postings;
}

/* Drops the candidates that share less than `least`; returns how many share more. */
static uint32_t
drop_candidates(Joiner *j, uint32_t least)
{
	uint32_t kept = 0;
	uint32_t more = 0;

	for (uint32_t c = 0; c < j->candidates; c++)
	{
		uint32_t *shared = &j->shared[j->candidate[c]];

		if (*shared < least)
			*shared = 0;
		else
			j->candidate[kept++] = j->candidate[c];
		more += *shared > least;
	}
	j->candidates = kept;
	return more;
}

/*
 * Makes the prefixes of a set longer by one as long as this costs less than the candidates that it
 * is expected to drop: sets with prefixes longer by n share n + 1 elements in them.  Those that do
 * not yet share one more are taken to be spread over the new postings as all sets are.
 */
static void
adapt(Joiner *j, const Set *r, uint32_t sets)
{
	uint32_t most = Min(SCHEMES_MAX, least_size(j->threshold, r->size)) - 1;

	for (j->longer = 0; j->longer < most && j->candidates > 0; j->longer++)
	{
		uint32_t sure = drop_candidates(j, j->longer + 1);
		double postings = (double) next_scheme(j, r, j->longer + 1, false);
		double dropped = (j->candidates - sure) * (1 - Min(1, postings / sets));

		if (postings >= VERIFY_COST * dropped)
			return;
		next_scheme(j, r, j->longer + 1, true);
	}
	drop_candidates(j, j->longer + 1);
}

/* Puts the prefix of a set into the lists. */
static void
fill_lists(Joiner *j, uint32_t number)
{
	const Set *set = &j->sets->set[number];
	uint32_t prefix = index_prefix(j->threshold, set->size);
	uint32_t longest = j->method == ADAPT_JOIN ? prefix + SCHEMES_MAX - 1 : prefix;

	for (uint32_t i = 0; i < Min(longest, set->size); i++)
	{
		size_t scheme = i < prefix ? 0 : i + 1 - prefix;
		List *list = &j->list[scheme * j->sets->universe + set->element[i]];

		if (list->end == list->room)
		{
			list->room = list->room * 2 + 4;
			list->posting = realloc(list->posting, list->room * sizeof(Posting));
		}
		list->posting[list->end++] = (Posting){number, i};
	}
}

/* Returns whether the bitmaps of two sets allow that they are similar. */
static bool
bitmaps_allow(const Joiner *j, uint32_t r, uint32_t s)
{
	uint32_t sizes = j->sets->set[r].size + j->sets->set[s].size;
	uint32_t differing = 0;

	for (int w = 0; w < BITMAP_WORDS; w++)
		differing += __builtin_popcountll(j->bitmap[r * (size_t) BITMAP_WORDS + w] ^
										  j->bitmap[s * (size_t) BITMAP_WORDS + w]);
	return (sizes - differing) / 2 >= least_overlap(j->threshold, sizes);
}

/* Verifies the candidates of the sets from r to r_end, which are one set or a group. */
static void
verify_candidates(Joiner *j, uint32_t r, uint32_t r_end)
{
	const Set *set = j->sets->set;

	for (uint32_t c = 0; c < j->candidates; c++)
	{
		uint32_t s = j->candidate[c];
		uint32_t shared = j->shared[s];
		uint32_t s_end = j->method == GROUP_JOIN ? j->group_end[s] : s + 1;

		j->shared[s] = 0;
		if (shared == PRUNED || (j->method == BITMAPS && !bitmaps_allow(j, r, s)))
			continue;
		for (uint32_t x = r; x < r_end; x++)
			for (uint32_t y = s; y < s_end; y++)
				j->pairs += verify(j->threshold, &set[x], &set[y], shared, j->longer);
	}
	j->candidates = 0;
}

/* Finds the sets of one size that begin with the prefix of set r; returns the first behind them. */
static uint32_t
group_of(const Joiner *j, uint32_t r)
{
	const Set *set = j->sets->set;
	uint32_t probe = probe_prefix(j->threshold, set[r].size);
	uint32_t end = r + 1;

	while (end < j->sets->count && set[end].size == set[r].size &&
		   memcmp(set[end].element, set[r].element, probe * sizeof(uint32_t)) == 0)
		end++;
	return end;
}

/* Verifies the pairs within a group, whose prefixes are equal. */
static void
verify_group(Joiner *j, uint32_t r, uint32_t end)
{
	const Set *set = j->sets->set;
	uint32_t probe = probe_prefix(j->threshold, set[r].size);
	uint32_t needed = least_overlap(j->threshold, 2 * set[r].size);

	for (uint32_t x = r; x < end; x++)
		for (uint32_t y = x + 1; y < end; y++)
			j->pairs += share_enough(&set[x], probe, &set[y], probe, probe, needed);
}

static void
make_bitmaps(Joiner *j)
{
	j->bitmap = allocate(j->sets->count * BITMAP_WORDS * sizeof(uint64_t));
	for (uint32_t i = 0; i < j->sets->count; i++)
		for (uint32_t e = 0; e < j->sets->set[i].size; e++)
		{
			uint32_t bit = j->sets->set[i].element[e] % (64 * BITMAP_WORDS);

			j->bitmap[i * (size_t) BITMAP_WORDS + bit / 64] ^= UINT64_C(1) << bit % 64;
		}
}

/* Returns the number of pairs of similar sets. */
static uint64_t
join_by(Method method, const Sets *sets, double threshold)
{
	Joiner j = {.sets = sets, .threshold = threshold, .method = method};
	size_t lists = (size_t) sets->universe * (method == ADAPT_JOIN ? SCHEMES_MAX : 1);

	j.list = allocate(lists * sizeof(List));
	j.shared = allocate(sets->count * sizeof(uint32_t));
	j.candidate = allocate(sets->count * sizeof(uint32_t));
	j.group_end = allocate(sets->count * sizeof(uint32_t));
	if (method == BITMAPS)
		make_bitmaps(&j);
	for (uint32_t r = 0, end; r < sets->count; r = end)
	{
		end = method == GROUP_JOIN ? group_of(&j, r) : r + 1;
		j.group_end[r] = end;
		search_lists(&j, &sets->set[r]);
		if (method == ADAPT_JOIN)
			adapt(&j, &sets->set[r], r + 1);
		verify_candidates(&j, r, end);
		verify_group(&j, r, end);
		fill_lists(&j, r);
	}
	for (size_t l = 0; l < lists; l++)
		free(j.list[l].posting);
	free(j.list);
	free(j.shared);
	free(j.candidate);
	free(j.group_end);
	free(j.bitmap);
	return j.pairs;
}

/* ---- Ours --------------------------------------------------------------- */

static bool
count_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	++*(uint64_t *) state;
	return true;
}

/* Returns the sets as bags of hashes. */
static Bag *
bags_of(const Sets *sets)
{
	Bag *bag = allocate(sets->count * sizeof(Bag));

	for (uint32_t i = 0; i < sets->count; i++)
	{
		BagBuilder builder;

		bag_begin(&builder);
		for (uint32_t j = 0; j < sets->set[i].size; j++)
		{
			uint64_t seed = sets->set[i].element[j];
			uint64_t hash = next_random(&seed);

			bag_add(&builder, &hash, 1);
		}
		(void) bag_finish(&builder, &bag[i]);
	}
	return bag;
}

/* Joins bags; sets *rank and *join to what each phase took, and returns the number of pairs. */
static uint64_t
join_ours(const Bag *bag, uint32_t count, double threshold, double *rank, double *join_ms)
{
	uint64_t pairs = 0;
	SetJoin join = {.left = bag,
					.left_count = count,
					.threshold = threshold,
					.sink = count_pair,
					.state = &pairs};
	SetPlan plan = {.mask = UINT32_MAX};
	JoinStats stats = {0};
	double start = processor_ms();
	double ranked;
	SetRanks *ranks = set_ranks_make(&join, &plan.items);

	if (ranks == NULL)
		abort();
	set_ranks_put(ranks, true);
	ranked = processor_ms();
	set_plan_lists(&join, &plan, plan.items.ranks);
	(void) set_run(&join, &plan, &stats);
	*join_ms = processor_ms() - ranked;
	*rank = ranked - start;
	set_plan_free(&plan);
	return pairs;
}

/* ---- Runs --------------------------------------------------------------- */

/* Prints the row of a kind at a threshold, and ends the program if the joins do not agree. */
static void
race(const Kind *kind, const Sets *sets, const Bag *bag, double threshold, double rank_ms)
{
	double ms[METHODS + 1][RUNS];
	double ours_rank[RUNS];
	uint64_t pairs = 0;
	double best = INFINITY;
	double begun = processor_ms();
	int runs = 0;

	while (runs < RUNS && (runs == 0 || processor_ms() - begun < LONG_MS))
	{
		int run = runs++;

		pairs = join_ours(bag, sets->count, threshold, &ours_rank[run], &ms[METHODS][run]);
		for (Method m = 0; m < METHODS; m++)
		{
			double start = processor_ms();
			uint64_t found = join_by(m, sets, threshold);

			ms[m][run] = processor_ms() - start;
			if (found != pairs)
			{
				fprintf(stderr, "%s at %g: %s finds %llu pairs, set_join() %llu\n", kind->name,
						threshold, method_names[m], (unsigned long long) found,
						(unsigned long long) pairs);
				exit(1);
			}
		}
	}
	printf("| %s | %g | %llu |", kind->name, threshold, (unsigned long long) pairs);
	for (int m = 0; m <= METHODS; m++)
	{
		double median_ms = median(ms[m], runs);

		if (m < METHODS)
			best = Min(best, median_ms);
		printf(" %.0f |", median_ms);
	}
	printf(" **%.2f** | %.0f | %.0f |\n", ms[METHODS][runs / 2] / best, rank_ms,
		   median(ours_rank, runs));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	uint32_t most = argc > 1 ? (uint32_t) atol(argv[1]) : 100000;
	static const double usual[] = {0.5, 0.7, 0.8, 0.9, 0.95};

	printf("| sets | threshold | pairs |");
	for (Method m = 0; m < METHODS; m++)
		printf(" %s |", method_names[m]);
	printf(" neardup | of the best | ranking | neardup's |\n|---|---:|---:|");
	for (int m = 0; m < METHODS + 4; m++)
		printf("---:|");
	printf("\n");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		Sets sets = make_sets(&kinds[k], most);
		Bag *bag = bags_of(&sets);
		double start = processor_ms();
		Sets ranked = rank_sets(&sets);
		double rank_ms = processor_ms() - start;

		for (int t = 0; t < (argc > 2 ? argc - 2 : 5); t++)
			race(&kinds[k], &ranked, bag, argc > 2 ? atof(argv[t + 2]) : usual[t], rank_ms);
		for (uint32_t i = 0; i < sets.count; i++)
			bag_free(&bag[i]);
		free(bag);
		free_sets(&sets);
		free_sets(&ranked);
	}
	return 0;
}
