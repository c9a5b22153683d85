/*
 * join.c: two sides of signatures sorted by bucket, group by group, and the
 * runs of neighbouring buckets compared.
 */
#include <string.h>

#include "sketch/symbols.h"
#include "join/join.h"

/* Documents of a bucket that stay in the nearest cache while others pass by. */
#define RUN 256

/* Bytes of a tile: neighbouring buckets that stay in the next cache. */
#define TILE_BYTES (96 * 1024)

/* Pairs found that are looked at together. */
#define HITS 256

/* Ask for interrupts after so many comparisons. */
#define WORK_STEP (UINT32_C(1) << 18)
#define SORT_STEP (UINT32_C(1) << 16)

/* Memory is fetched for the document so many places on. */
#define FETCH_AHEAD 16

/* A side in the order of a group's buckets. */
typedef struct Sorted
{
	const JoinSide *side;
	uint32_t *bucket; /* of each document */
	uint32_t *order;  /* document numbers in bucket order */
	uint32_t *offset; /* where each bucket begins in order, and the end */
	uint32_t *used;   /* buckets that hold documents, ascending */
	uint32_t *tile;   /* where each tile begins in used, and the end */
	uint64_t *lead;   /* first words of the documents, in bucket order */
} Sorted;

typedef struct Pass
{
	const SymbolJoin *join;
	JoinPlan plan;
	int lead_words;
	int group;
	Sorted left;
	Sorted right;
	const Sorted *other; /* right, or left itself */
	int tile_bits;       /* of a bucket's number, that vary within a tile */
	uint32_t work;
	JoinStats stats;
	bool stopped;
	int hits;
	uint32_t hit[HITS][2]; /* places in bucket order */
} Pass;

/* ---- Sorting ------------------------------------------------------------ */

/* With no group there is one bucket. */
static int
bucket_bits(const JoinPlan *plan, int group)
{
	return plan->groups == 0 ? 0 : group_bucket_bits(&plan->grouping, group);
}

/* Documents of the larger side, which tiles are cut to. */
static size_t
most_documents(const SymbolJoin *join)
{
	bool more = join->right.packed != NULL && join->right.documents > join->left.documents;

	return more ? join->right.documents : join->left.documents;
}

static void
sorted_begin(Sorted *sorted, const JoinSide *side, const Pass *pass)
{
	size_t n = side->documents;
	size_t buckets = (size_t) 1 << bucket_bits(&pass->plan, 0);
	int lead_words = pass->lead_words;
	size_t tiled = most_documents(pass->join) * lead_words * sizeof(uint64_t);

	sorted->side = side;
	sorted->bucket = host_alloc(n * sizeof(uint32_t));
	sorted->order = host_alloc(n * sizeof(uint32_t));
	sorted->offset = host_alloc((buckets + 1) * sizeof(uint32_t));
	sorted->used = host_alloc((n < buckets ? n : buckets) * sizeof(uint32_t));
	sorted->tile = host_alloc((2 * tiled / TILE_BYTES + 3) * sizeof(uint32_t));
	sorted->lead = host_alloc(n * lead_words * sizeof(uint64_t));
	/* Where a lead has a word more than a document, it stays zero. */
	memset(sorted->lead, 0, n * lead_words * sizeof(uint64_t));
}

static void
sorted_end(Sorted *sorted)
{
	host_free(sorted->bucket);
	host_free(sorted->order);
	host_free(sorted->offset);
	host_free(sorted->used);
	host_free(sorted->tile);
	host_free(sorted->lead);
}

/* The bucket of each document, and how many each holds: offset[bucket + 1]. */
static void
count_buckets(const Pass *pass, Sorted *sorted)
{
	const uint8_t *packed = sorted->side->packed;

	for (uint32_t i = 0; i < sorted->side->documents; i++)
	{
		if (i % SORT_STEP == 0)
			host_check_interrupts();
		sorted->bucket[i] =
			pass->plan.groups == 0 ? 0 : group_bucket(&pass->plan.grouping, pass->group, packed);
		sorted->offset[sorted->bucket[i] + 1]++;
		packed += pass->join->stride;
	}
}

/* Counts into offsets, moved up by one: fill_buckets() moves them back. */
static void
sum_buckets(Sorted *sorted, size_t buckets, int tile_bits)
{
	size_t tile_mask = ((size_t) 1 << tile_bits) - 1;
	uint32_t sum = 0;
	uint32_t used = 0;

	for (size_t bucket = 0; bucket < buckets; bucket++)
	{
		uint32_t count = sorted->offset[bucket + 1];

		if ((bucket & tile_mask) == 0)
			sorted->tile[bucket >> tile_bits] = used;
		if (count > 0)
			sorted->used[used++] = (uint32_t) bucket;
		sorted->offset[bucket + 1] = sum;
		sum += count;
	}
	sorted->tile[buckets >> tile_bits] = used;
}

/* The place of a document that comes soon is fetched: nearly. */
static inline void
fetch_place(const Pass *pass, const Sorted *sorted, uint32_t i)
{
	if (i + 2 * FETCH_AHEAD < sorted->side->documents)
	{
		uint32_t place = sorted->offset[sorted->bucket[i + FETCH_AHEAD] + 1];

		__builtin_prefetch(sorted->offset + sorted->bucket[i + 2 * FETCH_AHEAD] + 1, 1);
		__builtin_prefetch(sorted->order + place, 1);
		__builtin_prefetch(sorted->lead + (size_t) place * pass->lead_words, 1);
	}
}

static void
fill_buckets(const Pass *pass, Sorted *sorted)
{
	const uint8_t *packed = sorted->side->packed;
	size_t stride = pass->join->stride;
	size_t bytes = pass->lead_words * sizeof(uint64_t);
	size_t symbols = JOIN_STRIDE(pass->join->k, pass->join->b);
	size_t copied = bytes < symbols ? bytes : symbols;

	for (uint32_t i = 0; i < sorted->side->documents; i++)
	{
		uint32_t place = sorted->offset[sorted->bucket[i] + 1]++;

		if (i % SORT_STEP == 0)
			host_check_interrupts();
		fetch_place(pass, sorted, i);
		sorted->order[place] = i;
		memcpy(sorted->lead + (size_t) place * pass->lead_words, packed + i * stride, copied);
	}
}

static void
sort_side(const Pass *pass, Sorted *sorted)
{
	size_t buckets = (size_t) 1 << bucket_bits(&pass->plan, pass->group);

	memset(sorted->offset, 0, (buckets + 1) * sizeof(uint32_t));
	count_buckets(pass, sorted);
	sum_buckets(sorted, buckets, pass->tile_bits);
	fill_buckets(pass, sorted);
}

/* ---- Pairs found -------------------------------------------------------- */

/* Has an earlier group handed out this pair? */
static bool
found_before(const Pass *pass, const uint8_t *x, const uint8_t *y)
{
	const Grouping *g = &pass->plan.grouping;

	for (int group = 0; group < pass->group; group++)
	{
		uint32_t differ = group_bucket(g, group, x) ^ group_bucket(g, group, y);

		if (count_symbols(differ, g->b) <= join_radius(&pass->plan, group))
			return true;
	}
	return false;
}

/* A document by its place: its lead, which is near, where that is all of it. */
static inline const uint8_t *
symbols_at(const Pass *pass, const Sorted *sorted, uint32_t place)
{
	if (JOIN_STRIDE(pass->join->k, pass->join->b) / 8 <= JOIN_LEAD_WORDS)
		return (const uint8_t *) (sorted->lead + (size_t) place * pass->lead_words);
	return sorted->side->packed + sorted->order[place] * pass->join->stride;
}

/* Hand out the pairs that the leads let pass, where they are near as a whole. */
static void
flush_hits(Pass *pass)
{
	const SymbolJoin *join = pass->join;

	for (int i = 0; i < pass->hits && !pass->stopped; i++)
	{
		uint32_t a = pass->left.order[pass->hit[i][0]];
		uint32_t b = pass->other->order[pass->hit[i][1]];
		const uint8_t *x = symbols_at(pass, &pass->left, pass->hit[i][0]);
		const uint8_t *y = symbols_at(pass, pass->other, pass->hit[i][1]);
		int distance = symbol_distance(x, y, join->k, join->b);
		bool swap = pass->other == &pass->left && a > b;

		pass->stats.compared++;
		if (distance <= join->h && !found_before(pass, x, y))
			pass->stopped = !join->emit(join->state, swap ? b : a, swap ? a : b, distance);
	}
	pass->hits = 0;
}

static void
add_hit(Pass *pass, uint32_t i, uint32_t j)
{
	pass->hit[pass->hits][0] = i;
	pass->hit[pass->hits][1] = j;
	if (++pass->hits == HITS)
		flush_hits(pass);
}

static void
rest(Pass *pass)
{
	pass->work = 0;
	host_check_interrupts();
}

/* ---- Comparing ---------------------------------------------------------- */

/* Do more than h symbols differ?  Most pairs end after the first words. */
KERNEL_BODY bool
apart(const uint64_t *x, const uint64_t *y, int words, int b, int h)
{
	int distance = count_symbols(x[0] ^ y[0], b);

	if (words > 1)
		distance += count_symbols(x[1] ^ y[1], b);
	for (int i = 2; i < words && distance <= h; i += 2)
		distance += count_symbols(x[i] ^ y[i], b) + count_symbols(x[i + 1] ^ y[i + 1], b);
	return distance > h;
}

/* One document against a run of others. */
KERNEL_BODY void
compare_one(Pass *pass, uint32_t i, uint32_t first, uint32_t end, int words, int b)
{
	const uint64_t *x = pass->left.lead + (size_t) i * words;
	const uint64_t *y = pass->other->lead + (size_t) first * words;
	int h = pass->join->h;

	for (uint32_t j = first; j < end; j++, y += words)
		if (!apart(x, y, words, b, h))
			add_hit(pass, i, j);
	pass->stats.met += end - first;
	pass->work += end - first + 1;
	if (pass->work > WORK_STEP)
		rest(pass);
}

/* Bucket against bucket, or each pair of one bucket. */
KERNEL_BODY void
compare_buckets(Pass *pass, uint32_t x, uint32_t y, int words, int b)
{
	const uint32_t *left = pass->left.offset + x;
	const uint32_t *right = pass->other->offset + y;
	bool same = pass->other == &pass->left && x == y;

	for (uint32_t run = right[0]; run < right[1]; run += RUN)
	{
		uint32_t end = right[1] - run < RUN ? right[1] : run + RUN;

		for (uint32_t i = left[0]; i < left[1] && !pass->stopped; i++)
		{
			uint32_t first = same && i >= run ? i + 1 : run;

			if (first < end)
				compare_one(pass, i, first, end, words, b);
		}
	}
}

/* Every bucket of a tile with those that the masks make of it. */
KERNEL_BODY void
compare_tile(Pass *pass, uint32_t tile, const uint32_t *masks, int count, int words, int b)
{
	const Sorted *left = &pass->left;
	bool self = pass->other == left;

	for (int m = 0; m < count && !pass->stopped; m++)
		for (uint32_t i = left->tile[tile]; i < left->tile[tile + 1] && !pass->stopped; i++)
		{
			uint32_t x = left->used[i];
			uint32_t y = x ^ masks[m];

			if (!self || y >= x)
				compare_buckets(pass, x, y, words, b);
		}
}

/* Shapes are spelled out so that each loop is compiled for its own. */
KERNEL_BODY void
compare_tile_shaped(Pass *pass, uint32_t tile, const uint32_t *masks, int count)
{
	int words = pass->lead_words;

	switch (pass->join->b)
	{
		case 1:
			if (words == 1)
				compare_tile(pass, tile, masks, count, 1, 1);
			else if (words == 8)
				compare_tile(pass, tile, masks, count, 8, 1);
			else
				compare_tile(pass, tile, masks, count, words, 1);
			break;
		case 2:
			compare_tile(pass, tile, masks, count, words, 2);
			break;
		case 4:
			compare_tile(pass, tile, masks, count, words, 4);
			break;
		case 8:
			compare_tile(pass, tile, masks, count, words, 8);
			break;
		case 16:
			compare_tile(pass, tile, masks, count, words, 16);
			break;
		default:
			compare_tile(pass, tile, masks, count, words, 32);
	}
}

typedef struct TileKernel
{
	const char *name; /* as in base/cpu.h */
	bool (*available)(void);
	void (*compare)(Pass *pass, uint32_t tile, const uint32_t *masks, int count);
} TileKernel;

#define TILE_VARIANTS(X) CPU_PLAIN(X) CPU_POPCNT(X)

#define TILE_FUNCTION(name, target) \
	target static void compare_tile_##name(Pass *pass, uint32_t tile, const uint32_t *masks, \
										   int count) \
	{ \
		compare_tile_shaped(pass, tile, masks, count); \
	}

#define TILE_KERNEL(name, target) {#name, cpu_has_##name, compare_tile_##name},

TILE_VARIANTS(TILE_FUNCTION)

static const TileKernel tile_kernels[] = {TILE_VARIANTS(TILE_KERNEL){NULL}};

CPU_CHOICE(best_kernel, TileKernel, tile_kernels)

/* Masks that lead from a tile to the same other one are taken together. */
static void
run_masks(Pass *pass, const uint32_t *masks, int count)
{
	uint32_t tiles = UINT32_C(1) << (bucket_bits(&pass->plan, pass->group) - pass->tile_bits);
	bool self = pass->other == &pass->left;
	int next;

	for (int first = 0; first < count; first = next)
	{
		uint32_t high = masks[first] >> pass->tile_bits;

		for (next = first; next < count && masks[next] >> pass->tile_bits == high; next++)
			;
		for (uint32_t tile = 0; tile < tiles && !pass->stopped; tile++)
			if (!self || (tile ^ high) >= tile)
			{
				rest(pass);
				best_kernel.compare(pass, tile, masks + first, next - first);
			}
	}
}

/* ---- The join ----------------------------------------------------------- */

/* So that a tile of either side holds TILE_BYTES or so. */
static int
bits_of_tile(const Pass *pass)
{
	int bits = bucket_bits(&pass->plan, pass->group);
	double bytes = most_documents(pass->join) * pass->lead_words * sizeof(uint64_t);

	while (bits > 0 && bytes > TILE_BYTES)
	{
		bits--;
		bytes /= 2;
	}
	return bits;
}

static void
join_group(Pass *pass)
{
	static const uint32_t no_change = 0;
	const Grouping *g = &pass->plan.grouping;
	int radius = pass->plan.groups == 0 ? 0 : join_radius(&pass->plan, pass->group);
	const uint32_t *masks = &no_change;
	int count = 1;

	if (radius > 0)
		masks = probe_masks(group_width(g, pass->group), g->b, radius, &count);
	pass->tile_bits = bits_of_tile(pass);
	sort_side(pass, &pass->left);
	if (pass->other == &pass->right)
		sort_side(pass, &pass->right);
	run_masks(pass, masks, count);
	flush_hits(pass);
}

static int
next_group(const Pass *pass, int groups)
{
	if (pass->join->next != NULL)
		return pass->join->next(pass->join->next_state);
	return pass->group + 1 < groups ? pass->group + 1 : -1;
}

static void
add_stats(Pass *pass)
{
	if (pass->join->stats != NULL)
	{
		pass->join->stats->met += pass->stats.met;
		pass->join->stats->compared += pass->stats.compared;
	}
	memset(&pass->stats, 0, sizeof(pass->stats));
}

/* The groups from the first one on. */
static void
join_groups(Pass *pass, int groups)
{
	const SymbolJoin *join = pass->join;
	bool self = pass->other == &pass->left;

	sorted_begin(&pass->left, &join->left, pass);
	if (!self)
		sorted_begin(&pass->right, &join->right, pass);
	while (pass->group >= 0)
	{
		join_group(pass);
		add_stats(pass);
		if (join->progress != NULL)
			join->progress(join->state, pass->group + 1, groups);
		pass->group = pass->stopped ? -1 : next_group(pass, groups);
	}
	sorted_end(&pass->left);
	if (!self)
		sorted_end(&pass->right);
}

bool
join_run(const SymbolJoin *join, const JoinPlan *plan)
{
	Pass *pass = host_alloc(sizeof(Pass));
	int groups;
	bool done;

	memset(pass, 0, offsetof(Pass, hit));
	pass->join = join;
	pass->plan = *plan;
	pass->lead_words = join_lead_words(join->k, join->b);
	pass->other = join->right.packed == NULL ? &pass->left : &pass->right;
	groups = pass->plan.groups > 0 ? pass->plan.groups : 1;
	pass->group = -1;
	pass->group = next_group(pass, groups);
	if (pass->group >= 0)
		join_groups(pass, groups);
	done = !pass->stopped;
	host_free(pass);
	return done;
}

size_t
join_bytes(int k, int b)
{
	/* bucket, order, used; four buckets for each document, and twice that where rounded up. */
	return (3 + 8) * sizeof(uint32_t) + join_lead_words(k, b) * sizeof(uint64_t);
}
