/*
 * segment_write.h: the writing of segments.
 */
#ifndef NEARDUP_STORE_SEGMENT_WRITE_H
#define NEARDUP_STORE_SEGMENT_WRITE_H

#include "store/segment.h"

/* Sums over documents and groups. */
typedef struct BucketLengths
{
	uint64 own;     /* lengths of the documents' own buckets */
	uint64 near;    /* lengths of buckets that differ in a symbol */
	uint64 samples; /* lengths that each sum has */
} BucketLengths;

extern void segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root);
extern uint32 segment_documents_max(Relation index, const SignatureHeader *shape, Size memory);

/* As much memory as a segment can use. */
#define SEGMENT_MEMORY_ANY ((Size) 1 << 40)

extern _Noreturn void segments_too_many(Relation index, const SignatureHeader *shape, Size memory);

/*
 * A segment whose documents are on their pages, and which gets its groups, maps and root.
 * The functions say where its pages lie, and how they get there: a build extends the index,
 * maintenance takes free pages and logs them.
 */
typedef struct SegmentWriter SegmentWriter;
struct SegmentWriter
{
	Relation index;
	const SignatureHeader *shape;
	SegmentRoot *root;
	uint32 stamp;
	Size memory; /* bytes for sorting */
	MapEntry
		*documents; /* the pages of documents; NULL: the pages of its stamp from first_document */
	MapEntry *elements; /* the pages of elements of sets; NULL: the pages from first_element */
	BlockNumber first_document;
	BlockNumber first_element;

	/*
	 * Writes a page to a new block, and returns the block.  A map is linked to the map of
	 * this segment written before it, by `next`.
	 */
	BlockNumber (*put_page)(SegmentWriter *writer, Page page);

	/*
	 * Returns how many groups, or keys after the groups, to write next, at most `most`, and
	 * which is the first.
	 */
	int (*claim_groups)(SegmentWriter *writer, int most, int *first);

	/* Returns whether a claimed group is still to be written; NULL if all are. */
	bool (*keeps_group)(SegmentWriter *writer, int group);

	/* Called for each page: answers interrupts; false if writing is to be abandoned. */
	bool (*goes_on)(SegmentWriter *writer);
};

extern MapEntry segment_document_page(const SegmentWriter *writer, uint32 number);
extern bool segment_write_groups(SegmentWriter *writer, BucketLengths *lengths);
extern SegmentEntry segment_write_root(SegmentWriter *writer, BlockNumber last_map,
									   const BucketLengths *lengths);

#endif
