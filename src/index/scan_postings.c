/*
 * scan_postings.c: the documents that share enough buckets of a segment with a query.
 */
#include "index/scan.h"

#include "miscadmin.h"

/* A search may have as many candidates, even if work_mem is smaller. */
#define CANDIDATES_MIN 4096

/* Bytes that a candidate takes while they are sorted, and a posting to choose from. */
#define CANDIDATE_BYTES 16
#define CHOICE_BYTES 4

/*
 * Returns the most candidates of a search: as many as half of work_mem holds, and no more
 * than documents.  Beyond that a packed scan, which needs no memory, costs less.
 */
static size_t
candidates_max(const Segment *segment)
{
	size_t by_memory = (Size) work_mem * 1024 / 2 / CANDIDATE_BYTES;

	return Min(Max(by_memory, CANDIDATES_MIN), segment->root.documents);
}

/* Returns true if the candidates, or the postings to choose from, exceed their limit. */
static bool
holds_too_many(const PostingReader *r)
{
	if (r->chooser != NULL)
		return r->chooser->used > (Size) work_mem * 1024 / 2 / CHOICE_BYTES;
	return r->counter.candidates > r->candidates_max;
}

static void
release_page(PostingReader *r)
{
	if (BufferIsValid(r->buffer))
		UnlockReleaseBuffer(r->buffer);
	r->buffer = InvalidBuffer;
}

/* Locks a page of postings, by its number among these.  False if it has another owner. */
static bool
go_to_page(PostingReader *r, uint32 page)
{
	const SegmentRoot *root = &r->segment->root;

	if (BufferIsValid(r->buffer) && r->page == page)
		return true;
	release_page(r);
	CHECK_FOR_INTERRUPTS();
	r->buffer = segment_page(r->index, r->segment,
							 root->document_pages + root->directory_pages + page, PAGE_POSTINGS);
	r->page = page;
	r->report->pages++;
	return BufferIsValid(r->buffer);
}

/*
 * Counts the postings [from, to), as numbered in all groups together.  Returns false if a
 * page belongs to another owner.
 */
static bool
read_postings(PostingReader *r, uint64 from, uint64 to)
{
	uint32 per_page = r->segment->postings_per_page;

	r->report->postings += to - from;
	while (from < to && !r->too_many)
	{
		uint32 first = from % per_page;
		uint32 n = Min(to - from, per_page - first);
		int bytes = r->segment->posting_bytes;
		const uint8 *postings;

		if (!go_to_page(r, from / per_page))
			return false;
		postings = (uint8 *) PageGetContents(BufferGetPage(r->buffer)) + (Size) first * bytes;
		if (r->chooser != NULL)
			chooser_add(r->chooser, postings, n, bytes);
		else
			counter_add(&r->counter, postings, n, bytes);
		r->too_many = holds_too_many(r);
		from += n;
	}
	return true;
}

/*
 * Each bucket passes through a pipeline.  A stage prefetches what the next stage reads:
 * the bucket's bounds in the directory, the place where its page was last seen, the page.
 * Between two stages STAGE_LENGTH other buckets pass, so that memory has time to answer.
 * Among 3 million fingerprints of 64 bits in memory a search within 3 bits takes 14 µs so,
 * and 18 µs without prefetching.
 */
#define STAGE_LENGTH 4
#define STAGES 3
#define LOOKUPS_UNDER_WAY ((STAGES + 1) * STAGE_LENGTH)

typedef struct Lookup
{
	int group;
	uint32 bucket;
	uint64 from; /* among all groups' postings */
	uint64 to;
} Lookup;

/* Walks over the buckets to look up: in each group those within its radius of the query's. */
typedef struct ProbeWalk
{
	const SearchPlan *plan;
	const QueryBucket *bucket; /* of the plan's groups */
	int next_group;
	const uint32 *mask;
	int masks;
	int next_mask;
} ProbeWalk;

static const uint32 no_change = 0;

/* Finds the next bucket.  Returns false after the last. */
static bool
next_bucket(const Grouping *g, ProbeWalk *walk, Lookup *lookup)
{
	const QueryBucket *bucket;

	if (walk->next_mask == walk->masks)
	{
		int radius = walk->plan->radius + (walk->next_group < walk->plan->one_more);

		if (walk->next_group == walk->plan->groups)
			return false;
		walk->mask = &no_change;
		walk->masks = 1;
		if (radius > 0)
			walk->mask = probe_masks(group_width(g, walk->bucket[walk->next_group].group), g->b,
									 radius, &walk->masks);
		walk->next_mask = 0;
		walk->next_group++;
	}
	bucket = &walk->bucket[walk->next_group - 1];
	lookup->group = bucket->group;
	lookup->bucket = bucket->bucket ^ walk->mask[walk->next_mask++];
	return true;
}

/* Returns the logical page of a posting. */
static uint32
posting_page(const Segment *segment, uint64 posting)
{
	return segment->root.document_pages + segment->root.directory_pages +
		(uint32) (posting / segment->postings_per_page);
}

/* First stage: prefetches the bucket's entries in the directory. */
static void
prefetch_bounds(const Segment *segment, const Lookup *lookup)
{
	if (segment->directory != NULL)
		__builtin_prefetch(segment->directory + segment->first_offset[lookup->group] +
						   lookup->bucket);
}

/*
 * Second stage: reads the bucket's bounds and prefetches the place of its first page.
 * Returns false if a page belongs to another owner.
 */
static bool
read_bounds(PostingReader *r, Lookup *lookup)
{
	const Segment *segment = r->segment;
	uint64 base = (uint64) lookup->group * segment->root.grouped;
	uint32 from;
	uint32 to;

	/* Without a directory in memory its page is locked, and a scan locks one at a time. */
	if (segment->directory == NULL)
		release_page(r);
	if (!segment_bucket(r->index, segment, lookup->group, lookup->bucket, &from, &to))
		return false;
	lookup->from = base + from;
	lookup->to = base + to;
	/* An empty bucket at the end lies on no page. */
	if (from < to)
	{
		__builtin_prefetch(segment->map + posting_page(segment, lookup->from));
		__builtin_prefetch(segment->recent + posting_page(segment, lookup->from));
	}
	return true;
}

/* Third stage: prefetches the bucket's postings.  The last stage reads them. */
static void
prefetch_postings(const Segment *segment, const Lookup *lookup)
{
	uint32 first = lookup->from % segment->postings_per_page;

	if (lookup->from < lookup->to)
		segment_prefetch(segment, posting_page(segment, lookup->from),
						 SizeOfPageHeaderData + (Size) first * segment->posting_bytes,
						 (Size) (lookup->to - lookup->from) * segment->posting_bytes);
}

/*
 * Counts the postings of all buckets that a plan looks up.  Returns false if a page
 * belongs to another owner.
 */
static bool
read_buckets(PostingReader *r, const SearchPlan *plan, const QueryBucket *bucket)
{
	ProbeWalk walk = {.plan = plan, .bucket = bucket};
	Lookup lookup[LOOKUPS_UNDER_WAY];
	uint32 begun = 0; /* lookups that have entered the pipeline */

	for (uint32 i = 0; !r->too_many; i++)
	{
		Lookup *stage[STAGES + 1];

		/* Interrupts are held off while a page is locked. */
		if (walk.next_mask == walk.masks)
			release_page(r);
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j <= STAGES; j++)
			stage[j] = &lookup[(i - j * STAGE_LENGTH) % LOOKUPS_UNDER_WAY];
		if (begun == i && next_bucket(&r->segment->grouping, &walk, stage[0]))
		{
			prefetch_bounds(r->segment, stage[0]);
			begun++;
		}
		/* For small i these numbers wrap around and exceed begun. */
		if (i - STAGE_LENGTH < begun && !read_bounds(r, stage[1]))
			return false;
		if (i - 2 * STAGE_LENGTH < begun)
			prefetch_postings(r->segment, stage[2]);
		if (i - 3 * STAGE_LENGTH < begun && !read_postings(r, stage[3]->from, stage[3]->to))
			return false;
		if (i - 3 * STAGE_LENGTH < begun && r->chooser != NULL)
			chooser_end_group(r->chooser);
		if (i + 1 == begun + STAGES * STAGE_LENGTH)
			break;
	}
	return true;
}

/* The same by choices of groups (Alg.G): fills the counter with the candidates. */
static bool
choose_candidates(PostingReader *r, const SearchPlan *plan, const QueryBucket *bucket)
{
	Chooser chooser;
	bool complete;

	chooser_begin(&chooser, r->segment->root.documents, plan->groups, plan->count);
	r->chooser = &chooser;
	complete = read_buckets(r, plan, bucket);
	release_page(r);
	if (complete && !r->too_many)
	{
		chooser_candidates(&chooser, &r->counter);
		r->too_many = r->counter.candidates > r->candidates_max;
	}
	chooser_end(&chooser);
	return complete;
}

bool
postings_read(PostingReader *r, Relation index, const Segment *segment, SearchReport *report,
			  const SearchPlan *plan, const QueryBucket *bucket)
{
	bool choosing = plan->method == SEARCH_CHOOSE;
	bool complete;

	memset(r, 0, sizeof(PostingReader));
	r->index = index;
	r->segment = segment;
	r->report = report;
	r->buffer = InvalidBuffer;
	r->candidates_max = candidates_max(segment);
	counter_begin(&r->counter, segment->root.documents, plan->postings, choosing ? 1 : plan->count);
	complete = choosing ? choose_candidates(r, plan, bucket) : read_buckets(r, plan, bucket);
	release_page(r);
	return complete;
}

void
postings_end(PostingReader *r)
{
	counter_end(&r->counter);
}
