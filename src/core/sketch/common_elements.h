/*
 * common_elements.h: the elements that a share of the distinct documents have, or of those of one source.
 *
 * Counts are exact.  The keys of the elements (sketch/weights.h) of all documents go to parts by
 * their highest bits, and to one temporary file once they are many; the end reads, sorts and counts
 * one part after the other.
 */
#ifndef NEARDUP_SKETCH_COMMON_ELEMENTS_H
#define NEARDUP_SKETCH_COMMON_ELEMENTS_H

#include "base/table.h"

#define COMMON_PARTS 512

/* Numbers of keys, each at most once: the first gets 0. */
typedef struct KeyNumbers
{
	Table table;
	uint64_t *key;
} KeyNumbers;

/* Occurrences of elements whose keys begin with the same bits. */
typedef struct CommonPart
{
	uint64_t *occurrence; /* those in memory, a part of CommonElements.occurrences */
	size_t count;
	uint64_t *chunk; /* the positions of full chunks in the file */
	size_t chunks;
	size_t room;
} CommonPart;

typedef struct CommonElements
{
	double share;
	uint64_t secret;    /* the secret of the documents' hashes */
	size_t chunk_count; /* occurrences of a part that are written at once */
	KeyNumbers seen;    /* hashes of documents, and of documents of a source */
	KeyNumbers sources;
	uint32_t *of_source; /* distinct documents of each source */
	size_t source_room;
	uint64_t documents; /* distinct documents */
	HostFile *file;     /* full chunks; NULL if there are none */
	uint64_t end;       /* the end of the file */
	uint64_t *occurrences;
	CommonPart part[COMMON_PARTS];
} CommonElements;

extern void common_begin(CommonElements *common, double share, size_t memory);
extern void common_add(CommonElements *common, uint64_t source, const uint64_t *mixed,
					   size_t count);
extern uint32_t common_finish(CommonElements *common, uint32_t **key);

#endif
