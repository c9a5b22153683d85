/*
 * scan_postings.h: the documents that share enough buckets of a segment with a query.
 */
#ifndef NEARDUP_INDEX_SCAN_POSTINGS_H
#define NEARDUP_INDEX_SCAN_POSTINGS_H

#include "index/index.h"

/* The query's own bucket in a group, and how many postings it holds. */
typedef struct OwnBucket
{
	uint32 length;
	int group;
	uint32 bucket;
} OwnBucket;

/* Reads ranges of postings; neighbours share a page. */
typedef struct PostingReader
{
	Relation index;
	const Segment *segment;
	SearchReport *report; /* lookups, postings and pages are added to */
	HitCounter counter;   /* holds the candidates in the end */
	Chooser *chooser;     /* takes the postings instead of counter, unless NULL */
	Buffer buffer;
	uint32 page; /* of buffer, among the posting pages */
	size_t candidates_max;
	bool too_many; /* for memory: read no further */
} PostingReader;

/*
 * Look up the buckets of a plan, own[] being those of its groups, and gather the
 * candidates; false where a page belongs to another owner.  Where too_many is set,
 * there are none, and a scan is cheaper.  End the reader in any case.
 */
extern bool postings_read(PostingReader *r, Relation index, const Segment *segment,
						  SearchReport *report, const SearchPlan *plan, const OwnBucket *own);
extern void postings_end(PostingReader *r);

#endif
