/*
 * hits.c: compares pairs of documents as a whole, if the documents are in files.
 *
 * Groups find pairs whose prefixes are near enough.  These are collected and sorted by way of files
 * (edges.c).  They are compared after the last group, if the caller can wait (spread.c), since to
 * read their documents takes about as long as to read all documents.  First the documents on the
 * left are read, in the order of their list, and written with their pairs into parts, by the positions
 * of the documents on the right.  Then each part is read, with the documents on the right of its
 * pairs, in the order of their list.
 *
 * Similar documents meet in many groups, but only the first of these emits their pair.  So a pair
 * that was collected need not be collected again.  An array remembers pairs by their hashes, each
 * until another takes its place.  A pair that was forgotten is collected again, and sorting brings
 * the two together.
 */
#include "join/spread.h"

#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "join/edges.h"
#include "sketch/symbols.h"

/* The most parts.  Each part has a file, whose buffer takes memory. */
#define PARTS 64

/* Memory is divided by these: for the pairs that were seen, for sorting pairs, and for a part. */
#define SHARE_OF_SEEN 4
#define SHARE_OF_SORT 2
#define SHARE_OF_PART 4

/* The group of a Hit that is no pair. */
#define NO_GROUP UINT32_MAX

/* A pair. */
typedef struct Hit
{
	uint32_t position[2]; /* the positions of its documents in the lists on the left and right */
	uint32_t group;       /* the first group that found it */
} Hit;

/* A pair with its document on the left. */
typedef struct HalfHit
{
	Hit hit;
	uint64_t symbols[]; /* the symbols of this document */
} HalfHit;

struct Hits
{
	const SpreadJoin *join;
	const JoinPrefix *prefixes;
	Edges found; /* the pairs that were collected: left, right, and the group as the similarity */
	uint64_t count;
	Hit last; /* the pair of `found` that is added to its part next; its group is NO_GROUP: none */
	int parts;
	HostFile *file[PARTS]; /* the files of the parts; NULL: not created yet */
	size_t in_part[PARTS]; /* the pairs of each part */
	size_t part_most;      /* pairs of a part that are in memory */
	size_t half_bytes;     /* bytes of a pair with its document on the left */
	uint8_t *half;         /* the pairs of a part, or of all parts if memory has them */
	HalfHit *next;         /* the pair that is added to its part */
	uint64_t *sorted; /* the pairs in memory: high half, position on the right; low half, number */
	uint8_t *packed;  /* the document that was read last */
	uint32_t packed_position; /* its position on the left */
	uint64_t *seen;           /* pairs that were collected; 0: none */
	size_t mask;              /* positions in seen[] - 1 */
};

/* Prepares for the pairs of a join, with the prefixes of its groups, in `memory` bytes. */
Hits *
hits_begin(const SpreadJoin *join, const JoinPrefix *prefixes, size_t memory)
{
	Hits *hits = host_alloc(sizeof(Hits));
	size_t stride = join->symbols.stride;

	*hits = (Hits){.join = join, .prefixes = prefixes, .half_bytes = sizeof(HalfHit) + stride};
	while ((hits->mask + 1) * 2 * sizeof(uint64_t) <= memory / SHARE_OF_SEEN)
		hits->mask = hits->mask * 2 + 1;
	hits->seen = host_alloc((hits->mask + 1) * sizeof(uint64_t));
	memset(hits->seen, 0, (hits->mask + 1) * sizeof(uint64_t));
	hits->found.most = memory / SHARE_OF_SORT / sizeof(LongEdge);
	hits->part_most = Max(memory / SHARE_OF_PART / (hits->half_bytes + sizeof(uint64_t)), 1);
	hits->part_most = Min(hits->part_most, UINT32_MAX);
	hits->half = host_alloc(hits->part_most * hits->half_bytes);
	hits->next = host_alloc(hits->half_bytes);
	hits->sorted = host_alloc(hits->part_most * sizeof(uint64_t));
	hits->packed = host_alloc(stride);
	return hits;
}

/* Frees what hits_begin() has allocated, and closes the files. */
void
hits_end(Hits *hits)
{
	edges_end(&hits->found);
	for (int part = 0; part < PARTS; part++)
		if (hits->file[part] != NULL)
			host_file_close(hits->file[part]);
	host_free(hits->packed);
	host_free(hits->sorted);
	host_free(hits->next);
	host_free(hits->half);
	host_free(hits->seen);
	host_free(hits);
}

/* Remembers a pair.  Returns whether it was remembered before. */
static bool
was_seen(Hits *hits, uint32_t left, uint32_t right)
{
	uint64_t pair = ((uint64_t) left << 32 | right) + 1;
	uint64_t *position = &hits->seen[mix64(pair) & hits->mask];
	bool seen = *position == pair;

	*position = pair;
	return seen;
}

/* Reads a document of one side into `packed`. */
static void
read_packed(Hits *hits, int side, uint32_t position)
{
	const FileList *list = spread_side(hits->join, side);

	host_file_read(list->file, (uint64_t) position * list->stride, hits->packed,
				   hits->join->symbols.stride);
}

/* Returns a pair of the part in memory. */
static HalfHit *
half_at(const Hits *hits, size_t i)
{
	return (HalfHit *) (hits->half + i * hits->half_bytes);
}

/* Adds a pair to its part, with its document on the left, which is read if it is another one. */
static void
add_half(Hits *hits, Hit hit)
{
	uint32_t documents = spread_side(hits->join, 1)->count;
	int part = (uint64_t) hit.position[1] * hits->parts / documents;
	size_t number = hits->in_part[part]++;
	HalfHit *half = hits->parts == 1 ? half_at(hits, number) : hits->next;

	if (hit.position[0] != hits->packed_position)
		read_packed(hits, 0, hits->packed_position = hit.position[0]);
	half->hit = hit;
	memcpy(half->symbols, hits->packed, hits->join->symbols.stride);
	if (hits->parts == 1)
		return;
	if (hits->file[part] == NULL)
		hits->file[part] = host_file_create();
	host_file_write(hits->file[part], number * hits->half_bytes, half, hits->half_bytes);
}

/* An EdgeSink for sorted pairs: adds each pair to its part once, with the first group that found it. */
static bool
take_collected(void *state, const LongEdge *edge)
{
	Hits *hits = state;
	Hit hit = {{(uint32_t) edge->second, (uint32_t) edge->first}, (uint32_t) edge->similarity};
	Hit *last = &hits->last;

	if (last->group != NO_GROUP && last->position[0] == hit.position[0] &&
		last->position[1] == hit.position[1])
	{
		last->group = Min(last->group, hit.group);
		return true;
	}
	if (last->group != NO_GROUP)
		add_half(hits, *last);
	*last = hit;
	return true;
}

/* Reads the documents on the left, and adds the pairs with them to their parts. */
static void
make_parts(Hits *hits)
{
	memset(hits->in_part, 0, sizeof(hits->in_part));
	hits->packed_position = UINT32_MAX;
	hits->last.group = NO_GROUP;
	edges_give(&hits->found, take_collected, hits);
	add_half(hits, hits->last);
}

/* Compares a pair whose document on the right is in `packed`.  Returns false if the sink ended the join. */
static bool
compare_half(const Hits *hits, const HalfHit *half)
{
	const SymbolJoin *join = &hits->join->symbols;
	const Hit *hit = &half->hit;
	const uint8_t *x = (const uint8_t *) half->symbols;
	int distance = symbol_distance(x, hits->packed, join->k, join->b);

	join->stats->compared++;
	if (distance > join->h ||
		join_found_before(&hits->join->plan, hits->prefixes, hit->group, x, hits->packed))
		return true;
	return join->emit(join->state, hit->position[0], hit->position[1], distance);
}

/* Compares the first `count` pairs in memory.  Returns false if the sink ended the join. */
static bool
compare_halves(Hits *hits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hits->sorted[i] = (uint64_t) half_at(hits, i)->hit.position[1] << 32 | i;
	sort_records(hits->sorted, count, sizeof(uint64_t), sort_key_unsigned);
	for (size_t i = 0; i < count; i++)
	{
		uint32_t position = hits->sorted[i] >> 32;

		host_check_interrupts_at(i);
		if (i == 0 || position != hits->sorted[i - 1] >> 32)
			read_packed(hits, 1, position);
		if (!compare_half(hits, half_at(hits, (uint32_t) hits->sorted[i])))
			return false;
	}
	return true;
}

/*
 * Compares the pairs of a part.  If there is only one, it is in memory already.  Returns false if
 * the sink ended the join.
 */
static bool
compare_part(Hits *hits, int part)
{
	size_t some;

	for (size_t from = 0; from < hits->in_part[part]; from += some)
	{
		some = Min(hits->in_part[part] - from, hits->part_most);
		if (hits->parts > 1)
			host_file_read(hits->file[part], from * hits->half_bytes, hits->half,
						   some * hits->half_bytes);
		if (!compare_halves(hits, some))
			return false;
	}
	return true;
}

/* Compares and removes the pairs that were collected.  Returns false if the sink ended the join. */
bool
hits_flush(Hits *hits)
{
	bool wanted = true;

	if (hits->count == 0)
		return true;
	hits->parts = (int) Min((hits->count + hits->part_most - 1) / hits->part_most, PARTS);
	make_parts(hits);
	for (int part = 0; part < hits->parts && wanted; part++)
		wanted = compare_part(hits, part);
	hits->count = 0;
	return wanted;
}

/* Collects a pair that a group has found, by its positions in the lists on the left and right. */
void
hits_add(Hits *hits, int group, uint32_t left, uint32_t right)
{
	if (was_seen(hits, left, right))
		return;
	edges_add(&hits->found, (LongEdge){left, right, group});
	hits->count++;
}
