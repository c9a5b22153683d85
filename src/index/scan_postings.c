/*
 * scan_postings.c: from a query's buckets in a segment to candidates.
 */
#include "index/scan_postings.h"

#include "miscadmin.h"

/*
 * Beyond so many candidates a scan does: it needs no memory, and costs less where
 * there are more of them than documents.  Each takes 16 bytes while they are
 * sorted; half of work_mem is for them.
 */
#define CANDIDATES_MIN 4096

static size_t
candidates_max(const Segment *segment)
{
	size_t by_memory = (Size) work_mem * 1024 / 2 / 16;

	return Min(Max(by_memory, CANDIDATES_MIN), segment->root.documents);
}

/* Lists to choose from take 4 bytes a posting, however often a document is among them. */
static bool
holds_too_many(const PostingReader *r)
{
	if (r->chooser != NULL)
		return r->chooser->used > (Size) work_mem * 1024 / 2 / 4;
	return r->counter.candidates > r->candidates_max;
}

static void
release_page(PostingReader *r)
{
	if (BufferIsValid(r->buffer))
		UnlockReleaseBuffer(r->buffer);
	r->buffer = InvalidBuffer;
}

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

/* Count the postings [from, to) of all groups' postings in a row. */
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
 * A bucket passes through stages, some buckets apart, so that each finds in a near
 * cache what the one before has asked of memory: its bounds in the directory,
 * where its page was last seen, the page.
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

/*
 * The buckets to look up, one after the other: of each group those within its
 * radius of the query's own.
 */
typedef struct ProbeWalk
{
	const SearchPlan *plan;
	const OwnBucket *own; /* of the plan's groups */
	int next_group;
	const uint32 *mask;
	int masks;
	int next_mask;
} ProbeWalk;

static const uint32 no_change = 0;

/* Go to the next bucket; false after the last. */
static bool
next_bucket(const Grouping *g, ProbeWalk *walk, Lookup *lookup)
{
	const OwnBucket *own;

	if (walk->next_mask == walk->masks)
	{
		int radius = walk->plan->radius + (walk->next_group < walk->plan->one_more);

		if (walk->next_group == walk->plan->groups)
			return false;
		walk->mask = &no_change;
		walk->masks = 1;
		if (radius > 0)
			walk->mask = probe_masks(group_width(g, walk->own[walk->next_group].group), g->b,
									 radius, &walk->masks);
		walk->next_mask = 0;
		walk->next_group++;
	}
	own = &walk->own[walk->next_group - 1];
	lookup->group = own->group;
	lookup->bucket = own->bucket ^ walk->mask[walk->next_mask++];
	return true;
}

/* Of the posting pages the one that holds a posting, as the segment numbers its pages. */
static uint32
posting_page(const Segment *segment, uint64 posting)
{
	return segment->root.document_pages + segment->root.directory_pages +
		(uint32) (posting / segment->postings_per_page);
}

static void
expect_bounds(const Segment *segment, const Lookup *lookup)
{
	if (segment->directory != NULL)
		__builtin_prefetch(segment->directory + segment->first_offset[lookup->group] +
						   lookup->bucket);
}

static bool
find_bounds(PostingReader *r, Lookup *lookup)
{
	const Segment *segment = r->segment;
	uint64 base = (uint64) lookup->group * segment->root.grouped;
	uint32 from;
	uint32 to;

	/* Else a page of the directory is read, and one at a time is locked. */
	if (segment->directory == NULL)
		release_page(r);
	if (!segment_bucket(r->index, segment, lookup->group, lookup->bucket, &from, &to))
		return false;
	lookup->from = base + from;
	lookup->to = base + to;
	/* An empty one at the end lies on no page. */
	if (from < to)
	{
		__builtin_prefetch(segment->map + posting_page(segment, lookup->from));
		__builtin_prefetch(segment->recent + posting_page(segment, lookup->from));
	}
	return true;
}

static void
expect_postings(const Segment *segment, const Lookup *lookup)
{
	uint32 first = lookup->from % segment->postings_per_page;

	if (lookup->from < lookup->to)
		segment_expect(segment, posting_page(segment, lookup->from),
					   SizeOfPageHeaderData + (Size) first * segment->posting_bytes,
					   (Size) (lookup->to - lookup->from) * segment->posting_bytes);
}

/* Count the postings of all buckets that a plan looks up. */
static bool
read_buckets(PostingReader *r, const SearchPlan *plan, const OwnBucket *own)
{
	ProbeWalk walk = {.plan = plan, .own = own};
	Lookup lookups[LOOKUPS_UNDER_WAY];
	uint32 begun = 0;

	for (uint32 i = 0; !r->too_many; i++)
	{
		Lookup *stage[STAGES + 1];

		/* A lock would keep interrupts waiting. */
		if (walk.next_mask == walk.masks)
			release_page(r);
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j <= STAGES; j++)
			stage[j] = &lookups[(i - j * STAGE_LENGTH) % LOOKUPS_UNDER_WAY];
		if (begun == i && next_bucket(&r->segment->grouping, &walk, stage[0]))
		{
			expect_bounds(r->segment, stage[0]);
			begun++;
		}
		/* Before the first bucket these wrap around, and are not begun either. */
		if (i - STAGE_LENGTH < begun && !find_bounds(r, stage[1]))
			return false;
		if (i - 2 * STAGE_LENGTH < begun)
			expect_postings(r->segment, stage[2]);
		if (i - 3 * STAGE_LENGTH < begun && !read_postings(r, stage[3]->from, stage[3]->to))
			return false;
		if (i - 3 * STAGE_LENGTH < begun && r->chooser != NULL)
			chooser_end_group(r->chooser);
		if (i + 1 == begun + STAGES * STAGE_LENGTH)
			break;
	}
	r->report->lookups += begun;
	return true;
}

/* Fill the counter by choosing; false as read_buckets. */
static bool
choose_candidates(PostingReader *r, const SearchPlan *plan, const OwnBucket *own)
{
	Chooser chooser;
	bool whole;

	chooser_begin(&chooser, r->segment->root.documents, plan->groups, plan->count);
	r->chooser = &chooser;
	whole = read_buckets(r, plan, own);
	release_page(r);
	if (whole && !r->too_many)
	{
		chooser_candidates(&chooser, &r->counter);
		r->too_many = r->counter.candidates > r->candidates_max;
	}
	chooser_end(&chooser);
	return whole;
}

bool
postings_read(PostingReader *r, Relation index, const Segment *segment, SearchReport *report,
			  const SearchPlan *plan, const OwnBucket *own)
{
	bool choosing = plan->method == SEARCH_CHOOSE;
	bool whole;

	memset(r, 0, sizeof(PostingReader));
	r->index = index;
	r->segment = segment;
	r->report = report;
	r->buffer = InvalidBuffer;
	r->candidates_max = candidates_max(segment);
	counter_begin(&r->counter, segment->root.documents, plan->postings, choosing ? 1 : plan->count);
	whole = choosing ? choose_candidates(r, plan, own) : read_buckets(r, plan, own);
	release_page(r);
	return whole;
}

void
postings_end(PostingReader *r)
{
	counter_end(&r->counter);
}
