/*
 * join.c: the join of signatures.
 *
 * For each group the documents of both sides are sorted by bucket.  A document is
 * represented by its prefix (join_prefix.c), which is sorted with it.  Buckets within the
 * radius of each other are then compared, and pairs whose prefixes are near enough are
 * compared as a whole.
 *
 * A plan without groups compares the prefixes of all pairs, which are the first words.  Its
 * prefixes may have the symbols that tell most documents apart.
 */
#include "join/join.h"

#include <string.h>

#include "join/join_compare.h"
#include "join/join_sample.h"

/* Bytes of a tile: neighbouring buckets that stay in the next cache. */
#define TILE_BYTES (96 * 1024)

/* How many documents ahead memory is prefetched. */
#define FETCH_AHEAD 16

/* ---- Sorting ------------------------------------------------------------ */

/* Returns the most documents of a side; 0 if there is no right side. */
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
bits_of_group(const JoinPass *pass, int group)
{
	return group_bucket_bits(&pass->plan.grouping, group) - pass->join->slice.bits;
}

/* Allocates memory for a side and the buckets of any group, of which the first has most. */
static void
sorted_begin(Sorted *sorted, const JoinSide *side, const JoinPass *pass)
{
	size_t n = side_most(pass->join, side);
	size_t buckets = (size_t) 1 << bits_of_group(pass, 0);
	size_t prefix_bytes = pass->shape.words * sizeof(uint64_t);
	size_t tiled = most_documents(pass->join) * prefix_bytes;

	sorted->side = side;
	sorted->document = join_is_sifted(pass->join) ? host_alloc((n + 1) * sizeof(uint32_t)) : NULL;
	sorted->bucket = host_alloc((n + 1) * sizeof(uint32_t));
	sorted->order = host_alloc(n * sizeof(uint32_t));
	sorted->offset = host_alloc((buckets + 2) * sizeof(uint32_t));
	sorted->used = host_alloc((Min(n, buckets) + 1) * sizeof(uint32_t));
	sorted->tile = host_alloc((2 * tiled / TILE_BYTES + 3) * sizeof(uint32_t));
	sorted->prefix = host_alloc(n * prefix_bytes);
}

static void
sorted_end(Sorted *sorted)
{
	host_free(sorted->prefix);
	if (sorted->order == NULL)
		return;
	if (sorted->document != NULL)
		host_free(sorted->document);
	host_free(sorted->bucket);
	host_free(sorted->order);
	host_free(sorted->offset);
	host_free(sorted->used);
	host_free(sorted->tile);
}

/* Returns the symbols of a document, or its entry. */
static inline const uint8_t *
packed_at(const JoinPass *pass, const Sorted *sorted, uint32_t document)
{
	return sorted->side->packed + (size_t) document * pass->join->stride;
}

/* Words that have a bit for each bucket, and one more. */
#define MET_WORDS(bits) (((size_t) 1 << (bits)) / 64 + 1)

/* Documents whose buckets are found at a time. */
#define BUCKETS_AT_ONCE 4096

/* Finds the buckets of `count` documents or entries from the i-th, without the bits of a slice. */
static void
find_some_buckets(const JoinPass *pass, const Sorted *sorted, uint32_t i, uint32_t count,
				  uint32_t *bucket)
{
	const uint8_t *packed = packed_at(pass, sorted, i);
	uint32_t mask = (UINT32_C(1) << pass->bits) - 1;

	host_check_interrupts();
	if (!pass->join->entries)
		group_buckets(&pass->plan.grouping, pass->group, packed, pass->join->stride, count, bucket);
	else
		for (uint32_t j = 0; j < count; j++)
			bucket[j] = ((const JoinEntry *) (packed + j * pass->join->stride))->bucket;
	for (uint32_t j = 0; j < count; j++)
		bucket[j] &= mask;
}

/*
 * Returns the position of the prefix of the i-th document that is sifted, until it is sorted: from the
 * end, where half of the documents leave room.
 */
static inline uint64_t *
sifted_prefix(const JoinPass *pass, const Sorted *sorted, uint32_t i)
{
	return sorted->prefix + (size_t) (sorted->side->documents - 1 - i) * pass->shape.words;
}

/*
 * Keeps the documents of buckets that are met, of `count` documents from the i-th, behind what is
 * kept already, and their prefixes, while they are in the cache.
 */
static void
sift(const JoinPass *pass, const uint32_t *bucket, uint32_t i, uint32_t count, Sorted *sorted)
{
	uint32_t n = sorted->count;

	for (uint32_t j = 0; j < count; j++)
	{
		sorted->document[n] = i + j;
		sorted->bucket[n] = bucket[j];
		n += bucket_is_met(pass, bucket[j]);
	}
	for (uint32_t k = sorted->count; k < n; k++)
		prefix_make(pass->group_prefix + pass->group, packed_at(pass, sorted, sorted->document[k]),
					pass->shape.words, sifted_prefix(pass, sorted, k));
	sorted->count = n;
}

/* Finds the documents that are sorted, all or those of buckets that are met, and their buckets. */
static void
find_buckets_of_side(const JoinPass *pass, bool sifted, Sorted *sorted)
{
	uint32_t some[BUCKETS_AT_ONCE];
	uint32_t at_once = host_limit(BUCKETS_AT_ONCE);

	sorted->count = 0;
	sorted->sifted = sifted;
	for (uint32_t i = 0; i < sorted->side->documents; i += at_once)
	{
		uint32_t count = Min(sorted->side->documents - i, at_once);

		find_some_buckets(pass, sorted, i, count, sifted ? some : sorted->bucket + i);
		if (sifted)
			sift(pass, some, i, count, sorted);
		else
			sorted->count += count;
	}
}

/* Counts the documents of each bucket in offset[its number + 1]. */
static void
count_buckets(const JoinPass *pass, Sorted *sorted)
{
	for (uint32_t j = 0; j < sorted->count; j++)
	{
		uint32_t number = bucket_number(pass, sorted->bucket[j]);

		sorted->bucket[j] = number;
		sorted->offset[number + 1]++;
	}
}

/* Adds a count to the sum, and replaces it by the sum before. */
static inline void
sum_count(uint32_t *offset, uint32_t *sum)
{
	uint32_t count = *offset;

	*offset = *sum;
	*sum += count;
}

/* Returns the first bucket from one on that may hold documents; at least `buckets` if there is none. */
static inline size_t
next_met(const JoinPass *pass, size_t bucket, size_t buckets)
{
	uint64_t bits = 0;

	if (pass->met == NULL || bucket >= buckets)
		return bucket;
	for (bits = pass->met[bucket / 64] >> bucket % 64; bits == 0 && bucket < buckets;
		 bits = pass->met[bucket / 64])
		bucket += 64 - bucket % 64;
	return bits == 0 ? buckets : bucket + __builtin_ctzll(bits);
}

/* Makes offsets of the counts: offset[number + 1], which fill_buckets() moves to the end. */
static void
sum_buckets(const JoinPass *pass, Sorted *sorted)
{
	size_t buckets = (size_t) 1 << pass->bits;
	uint32_t *offset = sorted->offset + 1;
	uint32_t sum = 0;
	uint32_t used = 0;
	size_t tile = 0;

	for (size_t bucket = next_met(pass, 0, buckets); bucket < buckets;
		 bucket = next_met(pass, bucket + 1, buckets))
	{
		uint32_t before = sum;

		for (; tile <= bucket >> pass->tile_bits; tile++)
			sorted->tile[tile] = used;
		sum_count(offset++, &sum);
		sorted->used[used] = (uint32_t) bucket;
		used += sum > before;
	}
	for (; tile <= buckets >> pass->tile_bits; tile++)
		sorted->tile[tile] = used;
	*offset = sum;
}

/* Prefetches about the position to which a document that comes soon is sorted. */
static inline void
fetch_position(const JoinPass *pass, const Sorted *sorted, uint32_t i)
{
	if (i + 2 * FETCH_AHEAD < sorted->count)
	{
		uint32_t position = sorted->offset[sorted->bucket[i + FETCH_AHEAD] + 1];

		__builtin_prefetch(sorted->offset + sorted->bucket[i + 2 * FETCH_AHEAD] + 1, 1);
		__builtin_prefetch(sorted->order + position, 1);
		__builtin_prefetch(sorted->prefix + (size_t) position * pass->shape.words, 1);
	}
}

/* Sorts the documents and their prefixes by bucket. */
static void
fill_buckets(const JoinPass *pass, Sorted *sorted)
{
	const JoinPrefix *prefix = pass->group_prefix + pass->group;
	int words = pass->shape.words;
	bool kept = sorted->sifted && sorted->count <= sorted->side->documents / 2;

	for (uint32_t i = 0; i < sorted->count; i++)
	{
		uint32_t document = sorted->sifted ? sorted->document[i] : i;
		const uint8_t *packed = packed_at(pass, sorted, document);
		uint32_t position = sorted->offset[sorted->bucket[i] + 1]++;
		uint64_t *to = sorted->prefix + (size_t) position * words;

		host_check_interrupts_at(i);
		fetch_position(pass, sorted, i);
		sorted->order[position] = document;
		if (pass->join->entries)
			memcpy(to, ((const JoinEntry *) packed)->prefix, words * sizeof(uint64_t));
		else if (kept)
			memcpy(to, sifted_prefix(pass, sorted, i), words * sizeof(uint64_t));
		else
			prefix_make(prefix, packed, words, to);
	}
}

/* Sorts a side by the buckets that are found. */
static void
sort_side(const JoinPass *pass, Sorted *sorted)
{
	size_t buckets = pass->met != NULL ? pass->mets : (size_t) 1 << pass->bits;

	memset(sorted->offset, 0, (buckets + 2) * sizeof(uint32_t));
	count_buckets(pass, sorted);
	sum_buckets(pass, sorted);
	fill_buckets(pass, sorted);
}

/* Sorts all of a side by the buckets of the group. */
static void
sort_all(const JoinPass *pass, Sorted *sorted)
{
	find_buckets_of_side(pass, false, sorted);
	sort_side(pass, sorted);
}

/* Finds the buckets that are within the radius, as masks say, of the bucket of a document of a side. */
static void
find_met(JoinPass *pass, const Sorted *sorted, const uint32_t *mask, int masks)
{
	size_t words = MET_WORDS(pass->bits);

	memset(pass->met, 0, words * sizeof(uint64_t));
	for (uint32_t i = 0; i < sorted->count; i++)
	{
		host_check_interrupts_at(i);
		for (int j = 0; j < masks; j++)
		{
			uint32_t bucket = sorted->bucket[i] ^ mask[j];

			pass->met[bucket / 64] |= UINT64_C(1) << bucket % 64;
		}
	}
	pass->mets = 0;
	for (size_t word = 0; word < words; word++)
	{
		pass->met_before[word] = pass->mets;
		pass->mets += __builtin_popcountll(pass->met[word]);
	}
}

/* Sorts both sides of a group, the larger one after the other has sifted it. */
static void
sort_sifted(JoinPass *pass, const uint32_t *mask, int masks)
{
	bool left_is_larger = pass->left.side->documents > pass->right.side->documents;
	Sorted *smaller = left_is_larger ? &pass->right : &pass->left;

	find_buckets_of_side(pass, false, smaller);
	find_met(pass, smaller, mask, masks);
	find_buckets_of_side(pass, true, left_is_larger ? &pass->left : &pass->right);
	sort_side(pass, &pass->left);
	sort_side(pass, &pass->right);
}

/* ---- All pairs ---------------------------------------------------------- */

/* Makes the prefixes of a side. */
static void
load_prefixes(const JoinPass *pass, Sorted *sorted, const JoinSide *side)
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
join_part(JoinPass *pass)
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
bits_of_tile(const JoinPass *pass)
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
join_group(JoinPass *pass)
{
	const JoinSlice *slice = &pass->join->slice;
	int count;
	const uint32_t *masks =
		join_changes(&pass->plan, pass->group, slice->bits, slice->change, &count);

	pass->other = pass->join->right.packed == NULL ? &pass->left : &pass->right;
	pass->shape.h = pass->group_prefix[pass->group].h;
	pass->bits = bits_of_group(pass, pass->group);
	pass->tile_bits = bits_of_tile(pass);
	if (pass->met != NULL)
		sort_sifted(pass, masks, count);
	else
	{
		if (slice->bits == 0 || slice->new_left)
			sort_all(pass, &pass->left);
		if (pass->other == &pass->right)
			sort_all(pass, &pass->right);
	}
	compare_tiles(pass, masks, count);
	flush_hits(pass);
}

/* Allocates what all groups or parts need of a side. */
static void
begin_side(const JoinPass *pass, Sorted *sorted, const JoinSide *side)
{
	if (pass->plan.groups == 0)
		load_prefixes(pass, sorted, side);
	else
		sorted_begin(sorted, side, pass);
}

/* Returns the group or part to join next, -1 for none. */
static int
next_group(const JoinPass *pass)
{
	if (pass->join->next != NULL)
		return pass->join->next(pass->join->next_state);
	return pass->group + 1 < join_parts(&pass->plan) ? pass->group + 1 : -1;
}

/* Joins the present group or part and all that come next. */
static void
join_groups(JoinPass *pass)
{
	const SymbolJoin *join = pass->join;

	bool two = side_most(join, &join->right) > 0;

	begin_side(pass, &pass->left, &join->left);
	if (two)
		begin_side(pass, &pass->right, &join->right);
	if (pass->plan.groups > 0 && join_is_sifted(join))
	{
		size_t words = MET_WORDS(bits_of_group(pass, 0));

		pass->met = host_alloc(words * (sizeof(uint64_t) + sizeof(uint32_t)));
		pass->met_before = (uint32_t *) (pass->met + words);
	}
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
		if (join->forecast != NULL)
			join->forecast->done += pass->stats.candidates + pass->skipped;
		pass->skipped = 0;
		memset(&pass->stats, 0, sizeof(pass->stats));
		if (join->progress != NULL)
			join->progress(join->state, pass->group + 1, join_parts(&pass->plan));
		pass->group = pass->stopped ? -1 : next_group(pass);
	}
	sorted_end(&pass->left);
	if (two)
		sorted_end(&pass->right);
	if (pass->met != NULL)
		host_free(pass->met);
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
	JoinPass *pass = host_alloc(sizeof(JoinPass));
	bool done;

	memset(pass, 0, offsetof(JoinPass, hit));
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

	/*
	 * bucket, order, used, and up to eight offsets: four buckets a document, rounded up.  A sifted
	 * side has half of these buckets, and numbers of documents.
	 */
	return (3 + 8) * sizeof(uint32_t) + prefix;
}
