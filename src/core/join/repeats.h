/*
 * repeats.h: words of many records that stood before, in runs of a least length.
 */
#ifndef NEARDUP_JOIN_REPEATS_H
#define NEARDUP_JOIN_REPEATS_H

#include "base/host.h"
#include "text/text.h"

/* Words [start, end) that go, and the first of those that stay. */
typedef struct Part
{
	uint64_t start;
	uint64_t end;
	uint64_t first;
} Part;

/* The words of records, in files. */
typedef struct Repeats
{
	uint32_t run;      /* the least words of a run */
	size_t memory;     /* about the most bytes to take */
	HostFile *words;   /* uint64_t: the hashes of words, and 0 for each end of a text or record */
	HostFile *places;  /* their positions, in about two bytes each */
	HostFile *blocks;  /* WordBlock: where the positions of each block of words begin */
	HostFile *records; /* uint64_t: where each record begins, and where the last one ends */
	HostFile *parts;   /* Part: words that go, in order */
	uint64_t length;   /* words and ends */
	uint64_t place_bytes;
	uint32_t place; /* the position from which the next word's is counted */
	uint64_t record_count;
	uint64_t part_count;
	bool found; /* repeats_find() has been called */
} Repeats;

/* Words of a record that go, which stood in an earlier record, or before in the same one. */
typedef struct RepeatedPart
{
	uint64_t record;
	uint64_t words;
	uint64_t left; /* words of the record that are in no part up to this one */
	uint32_t from; /* the position of the words, in characters */
	uint32_t to;
	uint32_t cut_from; /* the position of what goes: the words, and up to the next one */
	uint32_t cut_to;
	bool blank;            /* a blank has to keep apart the words around it */
	uint64_t first_record; /* the record of the first copy */
	uint32_t first_from;
	uint32_t first_to;
} RepeatedPart;

extern Repeats repeats_begin(uint32_t run, size_t memory);
extern void repeats_add(Repeats *repeats, const PlacedWord *words, size_t count);
extern void repeats_find(Repeats *repeats, const uint64_t *others);
extern RepeatedPart *repeats_of(const Repeats *repeats, uint64_t record, uint64_t count,
								size_t *found);
extern void repeats_end(Repeats *repeats);

#endif
