/*
 * sets.h: how an index stores sets.
 *
 * A document of such an index has in the place of symbols a record of its set.  The elements
 * are on pages of their own, one set after the other: in a segment on the pages that its maps
 * list after pages of documents, in a tail on pages that records name and `next` links.
 *
 * In a segment the documents are in the order of their sizes; those that are NULL or empty come
 * first.
 */
#ifndef NEARDUP_STORE_SETS_H
#define NEARDUP_STORE_SETS_H

#include "store/segment_read.h"
#include "store/segment_sort.h"

#include "utils/tuplesort.h"

/* ---- Elements (set_elements.c) -------------------------------------------- */

/* A page of elements that stays pinned, since the next set often begins on it, and a count of pages. */
typedef struct KeptPage
{
	Buffer buffer; /* the page that stays pinned, or InvalidBuffer */
	uint32 page;   /* the page's number in a segment, its block in a tail */
	uint64 pages;  /* pages that were read */
} KeptPage;

/* Where the elements of sets are: a segment that is searched or walked, else a tail. */
typedef struct ElementSource
{
	Relation index;
	uint32 stamp;
	Segment *segment;
	SegmentWalk *walk;
	KeptPage *kept; /* the page that stays pinned between sets; NULL: none does */
} ElementSource;

/* Receives the next elements of a set; returns whether it takes more. */
typedef bool (*ElementVisitor)(void *state, const uint64 *element, uint32 count);

extern MapEntry documents_entry(const SignatureHeader *shape, Page page, uint32 stride);
extern bool elements_read(const ElementSource *source, const SetRecord *record,
						  ElementVisitor visit, void *state);
extern void kept_release(KeptPage *kept);
extern uint64 *elements_copy(const ElementSource *source, const SetRecord *record);

/* A large set is sorted in parts of this number of elements. */
#define PART_PAGES 8
#define PART_ELEMENTS (PART_PAGES * ELEMENTS_PER_PAGE)

extern uint32 elements_part(const ElementSource *source, SetRecord *rest, uint64 *part);

/* ---- Postings (set_sort.c) -------------------------------------------------- */

/*
 * Bytes that a merge takes for each document at least, half of them for the postings of a bucket
 * that all documents are in, half for the sort by sizes.
 */
#define SET_BYTES_PER_DOCUMENT (2 * 3 * sizeof(uint32))

extern Size set_sort_memory(const SegmentRoot *root, int at_once);
extern void set_sort_begin(GroupSort *sort, Size memory);
extern bool set_sort_read(GroupSort *sort);
extern bool set_sort_run(GroupSort *sort, int group);
extern void set_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths);
extern void set_sort_end(GroupSort *sort);

/* ---- The order of sizes (set_order.c) -------------------------------------- */

typedef struct SizeSort SizeSort;

extern SizeSort *size_sort_begin(Size memory, SortCoordinate coordinate);

/* Some elements of a document, all unless they are many. */
typedef struct SortedPart
{
	Document document; /* the document; its symbols are its record */
	uint32 from;       /* the number of the first of these elements */
	uint32 count;
	const uint64 *element;
} SortedPart;

extern void size_sort_put(SizeSort *sort, const SortedPart *part);
extern void size_sort_put_all(SizeSort *sort, const Document *document, const uint64 *element);
extern void size_sort_perform(SizeSort *sort);
extern bool size_sort_get(SizeSort *sort, SortedPart *part);
extern void size_sort_end(SizeSort *sort);

/* ---- Writing (set_elements.c) ---------------------------------------------- */

extern bool elements_put(SegmentRoot *root, Page page, const SortedPart *part, SetRecord *record,
						 void (*full)(void *state), void *state);

#endif
