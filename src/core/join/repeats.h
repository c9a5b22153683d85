/*
 * repeats.h: words of many records that stood before, in runs of a least length.
 */
#ifndef NEARDUP_JOIN_REPEATS_H
#define NEARDUP_JOIN_REPEATS_H

#include "join/edges.h"
#include "text/text.h"

/* Words [start, end) that go, and the first of those that stay. */
typedef struct Part
{
	uint64_t start;
	uint64_t end;
	uint64_t first;
} Part;

/* The hash of the last words, at most `length` of them. */
typedef struct RollingHash
{
	uint64_t hash;
	uint64_t base;
	uint64_t power; /* base to the power of length */
} RollingHash;

/* A word that was scanned last, and the hash of the run of W words that ends with it. */
typedef struct ScannedWord
{
	uint64_t word;
	uint64_t hash;
} ScannedWord;

/* A search for the anchors of windows, which goes on when more words are added. */
typedef struct AnchorScan
{
	RollingHash rolling;
	ScannedWord *scanned; /* word n is at n & mask */
	uint64_t mask;
	uint64_t text;  /* words of the text so far */
	uint64_t least; /* the last word of the anchor */
	LongEdge last;  /* the anchor of the last windows */
} AnchorScan;

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
	AnchorScan scan;
	Edges anchors; /* second: the hash of an anchor; first: its first word; and its windows */
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
extern void repeats_write(Repeats *repeats, const PlacedWord *words, size_t count);
extern void repeats_find(Repeats *repeats, const uint64_t *others);
extern RepeatedPart *repeats_of(const Repeats *repeats, uint64_t record, uint64_t count,
								size_t *found);
extern void repeats_end(Repeats *repeats);

#endif
