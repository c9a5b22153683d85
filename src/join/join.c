/*
 * join.c: the join of signatures.
 *
 * For each group the documents of both sides are sorted by bucket.  A document is
 * represented by its prefix (join_prefix.c), which is sorted along.  Buckets within the
 * radius of each other are then compared, and pairs whose prefixes are near enough are
 * compared as a whole.
 *
 * A plan without groups compares the prefixes of all pairs, which are the first words.  Its
 * prefixes may have the symbols that tell most documents apart.
 */
#include "join/join.h"

#include <string.h>

#include "join/join_sample.h"
#include "join/prefixes.h"
#include "sketch/symbols.h"

/* Buckets of fewer documents are compared one document with one document. */
#define LEFTS_TO_LOAD 4
#define RIGHTS_TO_LOAD 8

/* Bytes of a tile: neighbouring buckets that stay in the next cache. */
#define TILE_BYTES (96 * 1024)

/* Pairs that are collected before they are compared as a whole. */
#define HITS 256

/* How many documents ahead memory is prefetched. */
#define FETCH_AHEAD 16

/* A side, sorted by the buckets of a group. */
typedef struct Sorted
{
	const JoinSide *side;
	uint32_t *bucket; /* of each document */
	uint32_t *order;  /* document numbers in bucket order; NULL: all in turn */
	uint32_t *offset; /* of each bucket in order, and of the end */
	uint32_t *used;   /* buckets that hold documents, ascending */
	uint32_t *tile;   /* where each tile starts in used, and the end */
	uint64_t *prefix; /* shape.words of each document, in bucket order */
} Sorted;

/* The state of a join, which goes from group to group. */
typedef struct Pass
{
	const SymbolJoin *join;
	JoinPlan plan;
	PrefixShape shape;
	JoinPrefix *group_prefix; /* the prefixes of each group */
	int group;                /* or part, if the plan has no groups */
	Sorted left;
	Sorted right;
	const Sorted *other; /* right, or left itself */
	int bits;            /* of a bucket's number, without those of a slice */
	int tile_bits;       /* low bits of a bucket's number, which differ within a tile */
	size_t steps;        /* comparisons since the last check for interrupts */
	JoinStats stats;     /* of this group */
	bool stopped;        /* by the caller */
	int hits;
	uint32_t hit[HITS][2]; /* places in bucket order */
} Pass;

/* ---- Sorting ------------------------------------------------------------ */

/* Returns the documents of a side, at most; 0 if there is no right side. */
static size_t
side_most(const SymbolJoin *join, const JoinSide *side)
{
	if (join->slice.bits > 0)
		return join->slice.most;
	return side->packed == NULL ? 0 : side->documents;
}

/* Returns the documents of the larger side, which decides the size of tiles. */
static size_t
most_documents(const SymbolJoin *join)
{
	return Max(side_most(join, &join->left), side_most(join, &join->right));
}

/* Returns how many bits of a bucket's number tell the buckets of a group, or its slice, apart. */
static int
bits_of_group(const Pass *pass, int group)
{
	return group_bucket_bits(&pass->plan.grouping, group) - pass->join->slice.bits;
}

/* Allocates memory for a side and the buckets of any group, of which the first has most. */
static void
sorted_begin(Sorted *sorted, const JoinSide *side, const Pass *pass)
{
	size_t n = side_most(pass->join, side);
	size_t buckets = (size_t) 1 << bits_of_group(pass, 0);
	size_t prefix_bytes = pass->shape.words * sizeof(uint64_t);
	size_t tiled = most_documents(pass->join) * prefix_bytes;

	sorted->side = side;
	sorted->bucket = host_alloc(n * sizeof(uint32_t));
	sorted->order = host_alloc(n * sizeof(uint32_t));
	sorted->offset = host_alloc((buckets + 1) * sizeof(uint32_t));
	sorted->used = host_alloc(Min(n, buckets) * sizeof(uint32_t));
	sorted->tile = host_alloc((2 * tiled / TILE_BYTES + 3) * sizeof(uint32_t));
	sorted->prefix = host_alloc(n * prefix_bytes);
}

static void
sorted_end(Sorted *sorted)
{
	host_free(sorted->prefix);
	if (sorted->order == NULL)
		return;
	host_free(sorted->bucket);
	host_free(sorted->order);
	host_free(sorted->offset);
	host_free(sorted->used);
	host_free(sorted->tile);
}

/* Returns the bucket of a document or entry. */
static inline uint32_t
bucket_of(const Pass *pass, const uint8_t *packed)
{
	return pass->join->entries ? ((const JoinEntry *) packed)->bucket :
								 group_bucket(&pass->plan.grouping, pass->group, packed);
}

/* Finds the bucket of each document, and counts those of each bucket in offset[bucket + 1]. */
static void
count_buckets(const Pass *pass, Sorted *sorted)
{
	const uint8_t *packed = sorted->side->packed;
	uint32_t mask = (UINT32_C(1) << pass->bits) - 1;

	for (uint32_t i = 0; i < sorted->side->documents; i++)
	{
		host_check_interrupts_at(i);
		sorted->bucket[i] = bucket_of(pass, packed) & mask;
		sorted->offset[sorted->bucket[i] + 1]++;
		packed += pass->join->stride;
	}
}

/* Makes offsets of the counts: offset[bucket + 1], which fill_buckets() moves to the end. */
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

/* Prefetches about the place to which a document that comes soon is sorted. */
static inline void
fetch_place(const Pass *pass, const Sorted *sorted, uint32_t i)
{
	if (i + 2 * FETCH_AHEAD < sorted->side->documents)
	{
		uint32_t place = sorted->offset[sorted->bucket[i + FETCH_AHEAD] + 1];

		__builtin_prefetch(sorted->offset + sorted->bucket[i + 2 * FETCH_AHEAD] + 1, 1);
		__builtin_prefetch(sorted->order + place, 1);
		__builtin_prefetch(sorted->prefix + (size_t) place * pass->shape.words, 1);
	}
}

/* Sorts the documents and their prefixes by bucket. */
static void
fill_buckets(const Pass *pass, Sorted *sorted)
{
	const uint8_t *packed = sorted->side->packed;
	const JoinPrefix *prefix = pass->group_prefix + pass->group;
	int words = pass->shape.words;

	for (uint32_t i = 0; i < sorted->side->documents; i++, packed += pass->join->stride)
	{
		uint32_t place = sorted->offset[sorted->bucket[i] + 1]++;
		uint64_t *to = sorted->prefix + (size_t) place * words;

		host_check_interrupts_at(i);
		fetch_place(pass, sorted, i);
		sorted->order[place] = i;
		if (pass->join->entries)
			memcpy(to, ((const JoinEntry *) packed)->prefix, words * sizeof(uint64_t));
		else
			prefix_make(prefix, packed, words, to);
	}
}

/* Sorts a side by the buckets of the group. */
static void
sort_side(const Pass *pass, Sorted *sorted)
{
	size_t buckets = (size_t) 1 << pass->bits;

	memset(sorted->offset, 0, (buckets + 1) * sizeof(uint32_t));
	count_buckets(pass, sorted);
	sum_buckets(sorted, buckets, pass->tile_bits);
	fill_buckets(pass, sorted);
}

/* ---- Pairs found -------------------------------------------------------- */

/* Returns the number of the document at a place. */
static inline uint32_t
document_at(const Sorted *sorted, uint32_t place)
{
	return sorted->order == NULL ? place : sorted->order[place];
}

/* Returns the symbols of the document at a place. */
static inline const uint8_t *
symbols_at(const Pass *pass, const Sorted *sorted, uint32_t place)
{
	return sorted->side->packed + document_at(sorted, place) * pass->join->stride;
}

/* Returns the label of the document at a place. */
static inline uint32_t
label_at(const Pass *pass, const Sorted *sorted, uint32_t place)
{
	uint32_t document = document_at(sorted, place);

	if (pass->join->entries)
		document = ((const JoinEntry *) symbols_at(pass, sorted, place))->place;
	return pass->join->labels.label[document];
}

/* Emits a pair. */
static void
emit_pair(Pass *pass, uint32_t a, uint32_t b, int distance)
{
	const SymbolJoin *join = pass->join;
	bool swap = pass->other == &pass->left && a > b;

	if (join->labels.label != NULL && !join->entries)
		labels_connect(&join->labels, a, b);
	pass->stopped = !join->emit(join->state, swap ? b : a, swap ? a : b, distance);
}

/* Emits the collected pairs of entries, whose symbols are not here. */
static void
emit_hits(Pass *pass)
{
	for (int i = 0; i < pass->hits && !pass->stopped; i++)
		emit_pair(pass, document_at(&pass->left, pass->hit[i][0]),
				  document_at(pass->other, pass->hit[i][1]), -1);
	pass->hits = 0;
}

/* Compares the collected pairs as a whole, and emits those within the distance. */
static void
compare_hits(Pass *pass)
{
	const SymbolJoin *join = pass->join;
	int group = Min(pass->group, pass->plan.groups);

	for (int i = 0; i < pass->hits; i++)
	{
		__builtin_prefetch(symbols_at(pass, &pass->left, pass->hit[i][0]));
		__builtin_prefetch(symbols_at(pass, pass->other, pass->hit[i][1]));
	}
	for (int i = 0; i < pass->hits && !pass->stopped; i++)
	{
		uint32_t a = document_at(&pass->left, pass->hit[i][0]);
		uint32_t b = document_at(pass->other, pass->hit[i][1]);
		const uint8_t *x = symbols_at(pass, &pass->left, pass->hit[i][0]);
		const uint8_t *y = symbols_at(pass, pass->other, pass->hit[i][1]);
		int distance = symbol_distance(x, y, join->k, join->b);

		pass->stats.compared++;
		if (distance <= join->h && !join_found_before(&pass->plan, pass->group_prefix, group, x, y))
			emit_pair(pass, a, b, distance);
	}
	pass->hits = 0;
}

/* Does what is to be done with the collected pairs. */
static void
flush_hits(Pass *pass)
{
	if (pass->join->entries)
		emit_hits(pass);
	else
		compare_hits(pass);
}

/* Returns whether two documents are known to be connected. */
static bool
are_connected(const Pass *pass, uint32_t i, uint32_t j)
{
	return pass->join->labels.label != NULL &&
		labels_connected(&pass->join->labels, label_at(pass, &pass->left, i),
						 label_at(pass, pass->other, j));
}

/* Collects a pair whose prefixes are within the distance. */
static void
add_hit(Pass *pass, uint32_t i, uint32_t j)
{
	if (are_connected(pass, i, j))
		return;
	pass->hit[pass->hits][0] = i;
	pass->hit[pass->hits][1] = j;
	if (++pass->hits == HITS)
		flush_hits(pass);
}

/* ---- Comparing many with many ------------------------------------------- */

/* Documents [first, end) of each side, in bucket order. */
typedef struct Range
{
	uint32_t first;
	uint32_t end;
} Range;

/* Collects the matches of prefix i in a run, from place `first` of the run on. */
static void
add_matches(Pass *pass, uint32_t i, uint32_t run, uint32_t first, uint32_t documents,
			const PrefixMatch *match)
{
	for (uint32_t word = first / 64; word * 64 < documents; word++)
	{
		uint64_t bits = match->bits[word];

		if (word == first / 64)
			bits &= ~UINT64_C(0) << first % 64;
		for (; bits != 0; bits &= bits - 1)
		{
			uint32_t place = word * 64 + __builtin_ctzll(bits);

			if (place < documents)
				add_hit(pass, i, run + place);
		}
	}
}

/* Compares left documents with a run; with those after them if both sides are the same. */
static void
compare_with_run(Pass *pass, Range left, uint32_t run, const PrefixRun *loaded, bool same)
{
	const uint64_t *prefix = pass->left.prefix;
	int count;

	for (uint32_t i = left.first; i < left.end && !pass->stopped; i += count)
	{
		PrefixMatch match[PREFIXES_AT_ONCE];

		count = (int) Min(left.end - i, PREFIXES_AT_ONCE);
		if (prefixes_compare(&pass->shape, prefix + (size_t) i * pass->shape.words, count, loaded,
							 match))
			for (int m = 0; m < count; m++)
			{
				uint32_t first = same && i + m >= run ? i + m + 1 - run : 0;

				add_matches(pass, i + m, run, first, loaded->documents, match + m);
			}
		host_count_steps(&pass->steps, (size_t) count * loaded->documents);
	}
}

/* Compares ranges, or all pairs of left and right documents with left before right. */
static void
compare_runs(Pass *pass, Range left, Range right, bool same)
{
	PrefixRun loaded;

	for (uint32_t run = right.first; run < right.end && !pass->stopped; run += RUN)
	{
		uint32_t documents = Min(right.end - run, RUN);
		Range with = left;

		prefixes_load(&pass->shape, pass->other->prefix + (size_t) run * pass->shape.words,
					  documents, &loaded);
		if (same)
			with.end = Min(left.end, run + documents);
		compare_with_run(pass, with, run, &loaded, same);
		pass->stats.candidates += (uint64_t) (with.end - with.first) * documents;
		if (same && left.first <= run)
			pass->stats.candidates -= (uint64_t) documents * (documents + 1) / 2;
	}
}

/* Left documents that are compared with right ones before labels are looked at again, at most. */
#define LABELLED_STEP 4096

/* Returns the end of the documents from a place on that have one label, at most `end`. */
static uint32_t
label_end(const Pass *pass, const Sorted *sorted, uint32_t place, uint32_t end)
{
	uint32_t label = label_at(pass, sorted, place);

	while (++place < end && label_at(pass, sorted, place) == label)
		;
	return place;
}

/* The same, for documents with labels: skips documents that are known to be connected. */
static void
compare_labelled(Pass *pass, Range left, Range right, bool same)
{
	Range l = left;
	Range r;

	for (; l.first < left.end && !pass->stopped; l.first = l.end)
	{
		l.end = label_end(pass, &pass->left, l.first, Min(left.end, l.first + LABELLED_STEP));
		for (r = right; r.first < right.end && !pass->stopped; r.first = r.end)
		{
			r.end = label_end(pass, pass->other, r.first, Min(right.end, r.first + RUN));
			if (same && r.end <= l.first)
				continue;
			host_count_steps(&pass->steps, r.end - r.first);
			if (!are_connected(pass, l.first, r.first))
				compare_runs(pass, l, r, same && r.first < l.end);
		}
	}
}

/* Compares ranges, or all pairs of left and right documents with left before right. */
static void
compare_ranges(Pass *pass, Range left, Range right, bool same)
{
	if (pass->join->labels.label != NULL)
		compare_labelled(pass, left, right, same);
	else
		compare_runs(pass, left, right, same);
}

/* ---- Comparing one with few --------------------------------------------- */

/* Compares a document with others, which are few. */
KERNEL_BODY void
compare_one(Pass *pass, uint32_t i, Range others, int words, int b)
{
	const uint64_t *x = pass->left.prefix + (size_t) i * words;
	const uint64_t *y = pass->other->prefix + (size_t) others.first * words;
	int h = pass->shape.h;

	for (uint32_t j = others.first; j < others.end; j++, y += words)
	{
		int distance = 0;

		/* A branch for each word would cost more than the words that it saves. */
		for (int w = 0; w < words; w++)
			distance += count_symbols(x[w] ^ y[w], b);
		if (distance <= h)
			add_hit(pass, i, j);
	}
}

/* Compares two buckets, or all pairs within one. */
KERNEL_BODY void
compare_buckets(Pass *pass, uint32_t x, uint32_t y, int words, int b)
{
	Range left = {pass->left.offset[x], pass->left.offset[x + 1]};
	Range right = {pass->other->offset[y], pass->other->offset[y + 1]};
	bool same = pass->other == &pass->left && x == y;

	if (right.end - right.first >= RIGHTS_TO_LOAD && left.end - left.first >= LEFTS_TO_LOAD)
	{
		compare_ranges(pass, left, right, same);
		return;
	}
	for (uint32_t i = left.first; i < left.end && !pass->stopped; i++)
	{
		if (same)
			right.first = i + 1;
		compare_one(pass, i, right, words, b);
		pass->stats.candidates += right.end - right.first;
		host_count_steps(&pass->steps, right.end - right.first + 1);
	}
}

/* Compares every bucket of a tile with those that the masks lead to. */
KERNEL_BODY void
compare_tile(Pass *pass, uint32_t tile, const uint32_t *masks, int count, int words, int b)
{
	const Sorted *left = &pass->left;
	bool self = pass->other == left;

	for (int m = 0; m < count && !pass->stopped; m++)
	{
		uint32_t change = masks[m] & ((UINT32_C(1) << pass->bits) - 1);

		for (uint32_t i = left->tile[tile]; i < left->tile[tile + 1] && !pass->stopped; i++)
		{
			uint32_t x = left->used[i];
			uint32_t y = x ^ change;

			if (!self || y >= x)
				compare_buckets(pass, x, y, words, b);
		}
	}
}

/* Each shape has constants in a call of its own, so that the compiler unrolls its loop. */
KERNEL_BODY void
compare_tile_shaped(Pass *pass, uint32_t tile, const uint32_t *masks, int count)
{
	int words = pass->shape.words;

	switch (pass->join->b)
	{
		case 1:
			if (words == 1)
				compare_tile(pass, tile, masks, count, 1, 1);
			else if (words == 2)
				compare_tile(pass, tile, masks, count, 2, 1);
			else if (words == 3)
				compare_tile(pass, tile, masks, count, 3, 1);
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

/* Compares all tiles; masks that lead from a tile to the same other tile go together. */
static void
compare_tiles(Pass *pass, const uint32_t *masks, int count)
{
	uint32_t tiles = UINT32_C(1) << (pass->bits - pass->tile_bits);
	bool self = pass->other == &pass->left;
	int next;

	for (int first = 0; first < count; first = next)
	{
		uint32_t high = masks[first] >> pass->tile_bits;

		for (next = first; next < count && masks[next] >> pass->tile_bits == high; next++)
			;
		high &= tiles - 1;
		for (uint32_t tile = 0; tile < tiles && !pass->stopped; tile++)
			if (!self || (tile ^ high) >= tile)
			{
				host_check_interrupts();
				best_kernel.compare(pass, tile, masks + first, next - first);
			}
	}
}

/* ---- All pairs ---------------------------------------------------------- */

/* Makes the prefixes of a side. */
static void
load_prefixes(const Pass *pass, Sorted *sorted, const JoinSide *side)
{
	const Arrangement *arrangement = &pass->plan.arrangement;
	int words = pass->shape.words;
	const uint8_t *packed = side->packed;
	uint64_t *prefix = host_alloc((size_t) side->documents * words * sizeof(uint64_t));

	sorted->side = side;
	sorted->order = NULL;
	sorted->prefix = prefix;
	for (uint32_t i = 0; i < side->documents; i++)
	{
		host_check_interrupts_at(i);
		if (arrangement->symbols > 0)
			arrange_prefix(arrangement, packed, pass->join->b, words, prefix);
		else
			memcpy(prefix, packed, words * sizeof(uint64_t));
		packed += pass->join->stride;
		prefix += words;
	}
}

/* Compares all pairs of a part: all left documents with some of the right. */
static void
join_part(Pass *pass)
{
	uint64_t rights = pass->other->side->documents;
	int parts = join_parts(&pass->plan);
	Range left = {0, pass->left.side->documents};
	Range right = {rights * pass->group / parts, rights * (pass->group + 1) / parts};

	compare_ranges(pass, left, right, pass->other == &pass->left);
	flush_hits(pass);
}

/* ---- The join ----------------------------------------------------------- */

/* Returns the tile_bits for a group: a tile of either side holds at most about TILE_BYTES. */
static int
bits_of_tile(const Pass *pass)
{
	int bits = pass->bits;
	double bytes = most_documents(pass->join) * pass->shape.words * sizeof(uint64_t);

	while (bits > 0 && bytes > TILE_BYTES)
	{
		bits--;
		bytes /= 2;
	}
	return bits;
}

/* Finds the pairs of a group, or of a slice of it. */
static void
join_group(Pass *pass)
{
	const JoinSlice *slice = &pass->join->slice;
	int count;
	const uint32_t *masks =
		join_changes(&pass->plan, pass->group, slice->bits, slice->change, &count);

	pass->other = pass->join->right.packed == NULL ? &pass->left : &pass->right;
	pass->shape.h = pass->group_prefix[pass->group].h;
	pass->bits = bits_of_group(pass, pass->group);
	pass->tile_bits = bits_of_tile(pass);
	if (slice->bits == 0 || slice->new_left)
		sort_side(pass, &pass->left);
	if (pass->other == &pass->right)
		sort_side(pass, &pass->right);
	compare_tiles(pass, masks, count);
	flush_hits(pass);
}

/* Allocates what all groups or parts need of a side. */
static void
begin_side(const Pass *pass, Sorted *sorted, const JoinSide *side)
{
	if (pass->plan.groups == 0)
		load_prefixes(pass, sorted, side);
	else
		sorted_begin(sorted, side, pass);
}

/* Returns the group or part to join next, -1 for none. */
static int
next_group(const Pass *pass)
{
	if (pass->join->next != NULL)
		return pass->join->next(pass->join->next_state);
	return pass->group + 1 < join_parts(&pass->plan) ? pass->group + 1 : -1;
}

/* Joins the present group or part and all that come next. */
static void
join_groups(Pass *pass)
{
	const SymbolJoin *join = pass->join;

	bool two = side_most(join, &join->right) > 0;

	begin_side(pass, &pass->left, &join->left);
	if (two)
		begin_side(pass, &pass->right, &join->right);
	while (pass->group >= 0)
	{
		if (pass->plan.groups == 0)
			join_part(pass);
		else
			join_group(pass);
		if (join->stats != NULL)
		{
			join->stats->candidates += pass->stats.candidates;
			join->stats->compared += pass->stats.compared;
		}
		memset(&pass->stats, 0, sizeof(pass->stats));
		if (join->progress != NULL)
			join->progress(join->state, pass->group + 1, join_parts(&pass->plan));
		pass->group = pass->stopped ? -1 : next_group(pass);
	}
	sorted_end(&pass->left);
	if (two)
		sorted_end(&pass->right);
}

/* Returns how many words the prefixes of a plan have. */
int
join_words(const SymbolJoin *join, const JoinPlan *plan)
{
	int words = Min((int) (JOIN_STRIDE(join->k, join->b) / 8), JOIN_PREFIX_WORDS);

	return plan->words > 0 ? Min(words, plan->words) : words;
}

/* Emits every pair once, as planned.  Returns false if the caller ended the join. */
bool
join_run(const SymbolJoin *join, const JoinPlan *plan)
{
	Pass *pass = host_alloc(sizeof(Pass));
	bool done;

	memset(pass, 0, offsetof(Pass, hit));
	pass->join = join;
	pass->plan = *plan;
	pass->shape = (PrefixShape){.b = join->b, .h = join->h, .words = join_words(join, plan)};
	pass->group_prefix = join_prefixes(join, plan);
	pass->other = join->right.packed == NULL ? &pass->left : &pass->right;
	pass->group = -1;
	pass->group = next_group(pass);
	if (pass->group >= 0)
		join_groups(pass);
	done = !pass->stopped;
	host_free(pass->group_prefix);
	host_free(pass);
	return done;
}

/* Returns the bytes of memory that a join allocates for each document, at most. */
size_t
join_bytes(int k, int b)
{
	size_t prefix = Min(JOIN_STRIDE(k, b), JOIN_PREFIX_WORDS * sizeof(uint64_t));

	/* bucket, order, used, and up to eight offsets: four buckets a document, rounded up. */
	return (3 + 8) * sizeof(uint32_t) + prefix;
}
