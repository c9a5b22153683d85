/*
 * join_compare.c: the prefixes of a group compared: many with many, one with few.
 *
 * Buckets within the radius of each other are compared, tile by tile.  Pairs whose prefixes are
 * near enough are collected, and compared as a whole.
 */
#include "join/join_compare.h"

#include "sketch/symbols.h"

/* Buckets of fewer documents are compared one document with one document. */
#define LEFTS_TO_LOAD 4
#define RIGHTS_TO_LOAD 8

/* ---- Pairs found -------------------------------------------------------- */

/* Returns the number of the document at a position. */
static inline uint32_t
document_at(const Sorted *sorted, uint32_t position)
{
	return sorted->order == NULL ? position : sorted->order[position];
}

/* Returns the symbols of the document at a position. */
static inline const uint8_t *
symbols_at(const JoinPass *pass, const Sorted *sorted, uint32_t position)
{
	return sorted->side->packed + document_at(sorted, position) * pass->join->stride;
}

/* Returns the label of the document at a position. */
static inline uint32_t
label_at(const JoinPass *pass, const Sorted *sorted, uint32_t position)
{
	uint32_t document = document_at(sorted, position);

	if (pass->join->entries)
		document = ((const JoinEntry *) symbols_at(pass, sorted, position))->position;
	return pass->join->labels.label[document];
}

/* Emits a pair. */
static void
emit_pair(JoinPass *pass, uint32_t a, uint32_t b, int distance)
{
	const SymbolJoin *join = pass->join;
	bool swap = pass->other == &pass->left && a > b;

	pass->stopped = !join->emit(join->state, swap ? b : a, swap ? a : b, distance);
}

/* Emits the collected pairs of entries, whose symbols are not here. */
static void
emit_hits(JoinPass *pass)
{
	for (int i = 0; i < pass->hits && !pass->stopped; i++)
		emit_pair(pass, document_at(&pass->left, pass->hit[i][0]),
				  document_at(pass->other, pass->hit[i][1]), -1);
	pass->hits = 0;
}

/* Compares the collected pairs as a whole, and emits those within the distance. */
static void
compare_hits(JoinPass *pass)
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

/* Compares the collected pairs as a whole, or emits them if they are entries. */
void
flush_hits(JoinPass *pass)
{
	if (pass->join->entries)
		emit_hits(pass);
	else
		compare_hits(pass);
}

/* Returns whether two documents are known to be connected. */
static bool
are_connected(const JoinPass *pass, uint32_t i, uint32_t j)
{
	return pass->join->labels.label != NULL &&
		labels_connected(&pass->join->labels, label_at(pass, &pass->left, i),
						 label_at(pass, pass->other, j));
}

/* Collects a pair whose prefixes are within the distance. */
static void
add_hit(JoinPass *pass, uint32_t i, uint32_t j)
{
	if (are_connected(pass, i, j))
		return;
	pass->hit[pass->hits][0] = i;
	pass->hit[pass->hits][1] = j;
	if (++pass->hits == HITS)
		flush_hits(pass);
}

/* ---- Comparing many with many ------------------------------------------- */

/* Collects the matches of prefix i in a run, from position `first` of the run on. */
static void
add_matches(JoinPass *pass, uint32_t i, uint32_t run, uint32_t first, uint32_t documents,
			const PrefixMatch *match)
{
	for (uint32_t word = first / 64; word * 64 < documents; word++)
	{
		uint64_t bits = match->bits[word];

		if (word == first / 64)
			bits &= ~UINT64_C(0) << first % 64;
		for (; bits != 0; bits &= bits - 1)
		{
			uint32_t position = word * 64 + __builtin_ctzll(bits);

			if (position < documents)
				add_hit(pass, i, run + position);
		}
	}
}

/* Compares left documents with a run; with those after them if both sides are the same. */
static void
compare_with_run(JoinPass *pass, Range left, uint32_t run, const PrefixRun *loaded, bool same)
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

/* Forecasts the join, if it is time to. */
static void
join_look_ahead(const JoinPass *pass)
{
	Forecast *forecast = pass->join->forecast;

	if (forecast_is_due(forecast))
		forecast_look(forecast, forecast->done + pass->stats.candidates + pass->skipped);
}

/* Compares ranges, or all pairs of left and right documents with left before right. */
static void
compare_runs(JoinPass *pass, Range left, Range right, bool same)
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
		join_look_ahead(pass);
	}
}

/* The most left documents that are compared before labels are looked at again. */
#define LABELLED_STEP 4096

/* Returns the end of the documents from a position on that have one label, at most `end`. */
static uint32_t
label_end(const JoinPass *pass, const Sorted *sorted, uint32_t position, uint32_t end)
{
	uint32_t label = label_at(pass, sorted, position);

	while (++position < end && label_at(pass, sorted, position) == label)
		;
	return position;
}

/* Compares ranges of documents with labels: skips documents that are known to be connected. */
static void
compare_labelled(JoinPass *pass, Range left, Range right, bool same)
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
			else
				pass->skipped += (uint64_t) (l.end - l.first) * (r.end - r.first);
		}
	}
}

/* Compares ranges, or all pairs of left and right documents with left before right. */
void
compare_ranges(JoinPass *pass, Range left, Range right, bool same)
{
	if (pass->join->labels.label != NULL)
		compare_labelled(pass, left, right, same);
	else
		compare_runs(pass, left, right, same);
}

/* ---- Comparing one with few --------------------------------------------- */

/* Compares a document with others, which are few. */
KERNEL_BODY void
compare_one(JoinPass *pass, uint32_t i, Range others, int words, int b)
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

/* Compares documents of two buckets, or all pairs of one bucket. */
KERNEL_BODY void
compare_buckets(JoinPass *pass, Range left, Range right, bool same, int words, int b)
{
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

/* Returns the documents of a bucket. */
static inline Range
documents_of_bucket(const JoinPass *pass, const Sorted *sorted, uint32_t bucket)
{
	const uint32_t *offset = sorted->offset + bucket_number(pass, bucket);

	return (Range){offset[0], offset[1]};
}

/* Compares every bucket of a tile with those that the masks lead to. */
KERNEL_BODY void
compare_tile(JoinPass *pass, uint32_t tile, const uint32_t *masks, int count, int words, int b)
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
				compare_buckets(pass, documents_of_bucket(pass, left, x),
								documents_of_bucket(pass, pass->other, y), self && x == y, words,
								b);
		}
	}
}

/* Each shape has constants in a call of its own, so that the compiler unrolls its loop. */
KERNEL_BODY void
compare_tile_shaped(JoinPass *pass, uint32_t tile, const uint32_t *masks, int count)
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
	const char *name; /* the name of the kernel, as in base/cpu.h */
	bool (*available)(void);
	void (*compare)(JoinPass *pass, uint32_t tile, const uint32_t *masks, int count);
} TileKernel;

#define TILE_VARIANTS(X) CPU_PLAIN(X) CPU_POPCNT(X)

#define TILE_FUNCTION(name, target) \
	target static void compare_tile_##name(JoinPass *pass, uint32_t tile, const uint32_t *masks, \
										   int count) \
	{ \
		compare_tile_shaped(pass, tile, masks, count); \
	}

#define TILE_KERNEL(name, target) {#name, cpu_has_##name, compare_tile_##name},

TILE_VARIANTS(TILE_FUNCTION)

static const TileKernel tile_kernels[] = {TILE_VARIANTS(TILE_KERNEL){NULL}};

CPU_CHOICE(best_kernel, TileKernel, tile_kernels)

/* Compares all tiles; masks that lead from a tile to the same other tile go together. */
void
compare_tiles(JoinPass *pass, const uint32_t *masks, int count)
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
				join_look_ahead(pass);
			}
	}
}
