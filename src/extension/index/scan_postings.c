/*
 * scan_postings.c: the documents that share enough buckets of a segment with a query.
 */
#include "index/scan.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "miscadmin.h"
#include "utils/spccache.h"

#include "store/segment_postings.h"

/* A search may have this many candidates, even if work_mem is smaller. */
#define CANDIDATES_MIN 4096

/* Bytes that a candidate takes while candidates are sorted, and a posting to choose from. */
#define CANDIDATE_BYTES 16
#define CHOICE_BYTES 4

/* Returns how many candidates half of work_mem holds. */
size_t
candidates_room(void)
{
	return host_limit(Max((Size) work_mem * 1024 / 2 / CANDIDATE_BYTES, CANDIDATES_MIN));
}

/*
 * Returns the most candidates of a search of a segment; beyond that it is scanned.  They are
 * as many as memory has room for, and no more than documents.  Beyond that a packed scan,
 * which needs no memory, costs less.
 */
size_t
postings_candidates_max(const Segment *segment)
{
	return Min(candidates_room(), segment->root.documents);
}

/* Notes whether there are too many candidates, or postings to choose from, or postings at all. */
static void
note_limits(PostingReader *r)
{
	if (r->chooser != NULL)
		r->too_many = r->chooser->used > host_limit((Size) work_mem * 1024 / 2 / CHOICE_BYTES);
	else
		r->too_many = r->counter.candidates > r->candidates_max;
	r->too_long = r->postings > r->postings_max;
}

/* Returns whether reading has ended: at a limit, or because maintenance has replaced the segment. */
static bool
has_ended(const PostingReader *r)
{
	return r->too_many || r->too_long || r->segment->replaced;
}

static void
release_page(PostingReader *r)
{
	if (BufferIsValid(r->buffer))
		UnlockReleaseBuffer(r->buffer);
	r->buffer = InvalidBuffer;
}

/* Locks a page of postings.  Returns false if it has another stamp. */
static bool
go_to_page(PostingReader *r, const PostingPosition *position)
{
	if (BufferIsValid(r->buffer) && r->block == position->page.block)
		return true;
	release_page(r);
	CHECK_FOR_INTERRUPTS();
	r->buffer = segment_postings(r->index, r->segment, position);
	r->block = position->page.block;
	r->report->pages++;
	return BufferIsValid(r->buffer);
}

/* ---- Buckets ------------------------------------------------------------ */

/*
 * This number of buckets is looked up at a time, in stages.  A stage prefetches for all of them
 * what the next stage reads: the bucket's slot in the map, the beginning of its page, its
 * postings.  So memory answers, and the processor translates addresses, for several at once.
 */
#define LOOKUPS_AT_ONCE 32

typedef struct Lookup
{
	uint32 number; /* the number of the bucket among all groups' */
	uint32 map;    /* the map that has its page */
	PostingPosition position;
} Lookup;

/* Walks over the buckets to look up: in each group those within its radius of the query's. */
typedef struct ProbeWalk
{
	const SearchPlan *plan;
	const QueryBucket *bucket; /* the buckets of the plan's groups */
	int next_group;
	const uint32 *mask;
	int masks;
	int next_mask;
} ProbeWalk;

static const uint32 no_change = 0;

/* Finds the next bucket.  Returns false after the last. */
static bool
next_bucket(const Segment *segment, ProbeWalk *walk, Lookup *lookup)
{
	const Grouping *g = &segment->grouping;
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
	lookup->number =
		segment_bucket(segment, bucket->group, bucket->bucket ^ walk->mask[walk->next_mask++]);
	lookup->map = segment_map_of(segment, bucket->group, lookup->number);
	return true;
}

/*
 * First stage: finds the next buckets, and prefetches their slots.  Returns how many there
 * are.
 */
static int
next_buckets(const Segment *segment, ProbeWalk *walk, Lookup *lookup)
{
	int count = 0;

	while (count < LOOKUPS_AT_ONCE && next_bucket(segment, walk, &lookup[count]))
	{
		segment_prefetch_position(segment, lookup[count].map, lookup[count].number);
		count++;
	}
	return count;
}

/*
 * Second stage: finds the bucket's page, and prefetches what says where on it the bucket is.
 * Returns false if maintenance has replaced the segment.
 */
static bool
find_page(PostingReader *r, Lookup *lookup)
{
	const MapSlot *slot = &lookup->position.page;

	if (!segment_find(r->index, r->segment, lookup->map, lookup->number, &lookup->position))
		return false;
	slot_prefetch(slot, postings_offset(slot->number, lookup->number), 1);
	return true;
}

/* Third stage: prefetches the bucket's postings.  The last stage reads them. */
static void
prefetch_postings(const PostingReader *r, const Lookup *lookup)
{
	const MapSlot *slot = &lookup->position.page;
	Page page = slot_page_unpinned(slot);
	Size from;
	Size to;

	if (page == NULL)
		return;
	postings_guess(page, slot->number, lookup->number, &from, &to);
	page_prefetch(page, from, to);
}

/* Counts the postings that are on a page; false if the code is malformed. */
static bool
count_code(PostingReader *r, PostingCode code)
{
	uint32 numbers = r->segment->numbers;

	if (code.bytes == 0)
		return true;
	r->postings += postings_count(code.code, code.bytes);
	return r->chooser != NULL ? chooser_add(r->chooser, code.code, code.bytes, numbers) :
								counter_add(&r->counter, code.code, code.bytes, numbers);
}

/* Counts the postings of a bucket, on one page or several. */
static void
read_bucket(PostingReader *r, const Lookup *lookup)
{
	PostingPosition position = lookup->position;

	do
	{
		PostingCode code;

		if (!go_to_page(r, &position))
			return;
		code = postings_on_page(r->index, r->buffer, position.page.number, lookup->number);
		if (!count_code(r, code))
			page_corrupt(r->index, BufferGetBlockNumber(r->buffer), "malformed postings");
		note_limits(r);
		if (has_ended(r))
			return;
		/* The next map may have to be read. */
		if (segment_at_end_of_map(r->segment, position))
			release_page(r);
	} while (segment_goes_on(r->index, r->segment, lookup->number, &position));
}

/* ---- Reading ahead ------------------------------------------------------ */

/*
 * Prefetches the pages of later lookups, once a page had to be read in: of as many lookups as
 * effective_io_concurrency says.
 */
typedef struct ReadAhead
{
	ProbeWalk walk;
	uint32 prefetched; /* lookups whose pages were prefetched, or read */
	uint32 window;
	bool done; /* there are no more */
	BlockNumber last;
} ReadAhead;

/* Prefetches the pages of lookups, up to `window` after the one at hand. */
static void
read_ahead(PostingReader *r, ReadAhead *ahead, uint32 at)
{
	while (ahead->prefetched < at + LOOKUPS_AT_ONCE + ahead->window && !ahead->done)
	{
		Lookup lookup;

		ahead->done = !next_bucket(r->segment, &ahead->walk, &lookup);
		/* Those up to the one at hand are being read already. */
		if (ahead->done || ahead->prefetched++ < at)
			continue;
		if (!segment_find(r->index, r->segment, lookup.map, lookup.number, &lookup.position))
			return;
		if (lookup.position.page.block != ahead->last)
			PrefetchBuffer(r->index, MAIN_FORKNUM, lookup.position.page.block);
		ahead->last = lookup.position.page.block;
	}
}

/* ---- Postings ----------------------------------------------------------- */

/* Passes buckets through the second and third stage; false if maintenance has replaced the segment. */
static bool
find_some(PostingReader *r, Lookup *lookup, int count)
{
	for (int i = 0; i < count; i++)
		if (!find_page(r, &lookup[i]))
			return false;
	for (int i = 0; i < count; i++)
		prefetch_postings(r, &lookup[i]);
	return true;
}

/*
 * Passes buckets through all stages but the first.  No page is locked before or after, since
 * other stages may have to lock maps.
 */
static void
read_some(PostingReader *r, Lookup *lookup, int count)
{
	if (!find_some(r, lookup, count))
		return;
	for (int i = 0; i < count && !has_ended(r); i++)
	{
		read_bucket(r, &lookup[i]);
		if (r->chooser != NULL)
			chooser_end_group(r->chooser);
	}
	/* Interrupts are held off while a page is locked. */
	release_page(r);
	CHECK_FOR_INTERRUPTS();
}

/* Counts the postings of all buckets that a plan looks up. */
static void
read_buckets(PostingReader *r, const SearchPlan *plan, const QueryBucket *bucket)
{
	ProbeWalk walk = {.plan = plan, .bucket = bucket};
	ReadAhead ahead = {.walk = walk,
					   .window = get_tablespace_io_concurrency(r->index->rd_rel->reltablespace),
					   .last = InvalidBlockNumber};
	Lookup lookup[LOOKUPS_AT_ONCE];
	uint32 at = 0;
	int count;

	while (!has_ended(r) && (count = next_buckets(r->segment, &walk, lookup)) > 0)
	{
		if (ahead.window > 0 && pages_read_in() != r->read_before)
			read_ahead(r, &ahead, at);
		read_some(r, lookup, count);
		at += count;
	}
}

/* Reads the buckets, and fills the counter with the candidates of choices of groups (Alg.G). */
static void
choose_candidates(PostingReader *r, const SearchPlan *plan, const QueryBucket *bucket)
{
	Chooser chooser;

	chooser_begin(&chooser, plan->groups, plan->count);
	r->chooser = &chooser;
	read_buckets(r, plan, bucket);
	if (!has_ended(r))
	{
		chooser_candidates(&chooser, &r->counter);
		r->too_many = r->counter.candidates > r->candidates_max;
	}
	chooser_end(&chooser);
}

static void
begin_reader(PostingReader *r, Relation index, Segment *segment, SearchReport *report)
{
	memset(r, 0, sizeof(PostingReader));
	r->index = index;
	r->segment = segment;
	r->report = report;
	r->buffer = InvalidBuffer;
	r->read_before = pages_read_in();
}

/*
 * Reads the buckets that a plan looks up and collects the candidates; bucket[] are the buckets
 * of its groups.  If too_many, too_long or the segment's `replaced` is set there are no candidates.
 * The caller calls postings_end() in any case.
 */
void
postings_read(PostingReader *r, Relation index, Segment *segment, SearchReport *report,
			  const SearchPlan *plan, const QueryBucket *bucket, double postings_max,
			  size_t candidates_max)
{
	bool choosing = plan->method == SEARCH_CHOOSE;

	begin_reader(r, index, segment, report);
	r->candidates_max = candidates_max;
	r->postings_max = postings_max;
	counter_begin(&r->counter, segment->numbers, plan->postings, choosing ? 1 : plan->count);
	if (plan->end > 0)
	{
		r->counter.from = plan->from;
		r->counter.end = plan->end;
	}
	if (choosing)
		choose_candidates(r, plan, bucket);
	else
		read_buckets(r, plan, bucket);
	report->postings += r->postings;
}

/* Bytes of counters that are many: a search of 100 million documents may have 8 MB. */
#define MANY_COUNTERS ((size_t) 2 * 1024 * 1024)

/*
 * Returns freed memory to the system after the first search with few counters that follows one
 * with many; the C library would keep it for the process.  Doing so after each search with many
 * would cost it a tenth of its time, to get the memory again.
 */
static void
return_memory(size_t counter_bytes)
{
#ifdef __GLIBC__
	static bool kept = false;

	if (kept && counter_bytes <= MANY_COUNTERS)
		malloc_trim(0);
	kept = counter_bytes > MANY_COUNTERS;
#endif
}

/* Frees what postings_read() has collected. */
void
postings_end(PostingReader *r)
{
	counter_end(&r->counter);
	return_memory(r->counter.bytes);
}

/* ---- Lengths ------------------------------------------------------------ */

/* Returns how many postings of a bucket are on a page. */
static uint32
read_part_length(PostingReader *r, const PostingPosition *position, uint32 number)
{
	PostingCode code;
	uint32 length;

	if (!go_to_page(r, position))
		return 0;
	code = postings_on_page(r->index, r->buffer, position->page.number, number);
	length = (uint32) postings_count(code.code, code.bytes);
	release_page(r);
	return length;
}

/*
 * Pages of a bucket that are read for its length.  The first may have other buckets, and the
 * second is full if there are more; these count as the second, so they are not read.
 */
#define PAGES_FOR_LENGTH 2

/* Sets the length of a bucket that was looked up. */
static void
read_length(PostingReader *r, const Lookup *lookup, QueryBucket *bucket)
{
	PostingPosition position = lookup->position;
	int pages = 0;
	uint32 on_page = 0;

	bucket->length = 0;
	do
	{
		if (pages++ < PAGES_FOR_LENGTH)
			on_page = read_part_length(r, &position, lookup->number);
		bucket->length += on_page;
	} while (!has_ended(r) && segment_goes_on(r->index, r->segment, lookup->number, &position));
}

/* Sets the lengths of at most LOOKUPS_AT_ONCE buckets, in the stages of read_some(). */
static void
read_lengths(PostingReader *r, QueryBucket *bucket, int count)
{
	Lookup lookup[LOOKUPS_AT_ONCE];

	for (int i = 0; i < count; i++)
	{
		lookup[i].number = segment_bucket(r->segment, bucket[i].group, bucket[i].bucket);
		lookup[i].map = segment_map_of(r->segment, bucket[i].group, lookup[i].number);
		segment_prefetch_position(r->segment, lookup[i].map, lookup[i].number);
	}
	if (!find_some(r, lookup, count))
		return;
	for (int i = 0; i < count && !has_ended(r); i++)
		read_length(r, &lookup[i], &bucket[i]);
}

/*
 * Sets the lengths of some buckets, unless maintenance has replaced the segment.  That of a bucket on
 * more than two pages is an estimate.
 */
void
postings_lengths(Relation index, Segment *segment, SearchReport *report, QueryBucket *bucket,
				 int buckets)
{
	PostingReader r;

	begin_reader(&r, index, segment, report);
	for (int i = 0; i < buckets; i++)
		bucket[i].length = 0;
	for (int i = 0; i < buckets && !segment->replaced; i += LOOKUPS_AT_ONCE)
	{
		read_lengths(&r, bucket + i, Min(LOOKUPS_AT_ONCE, buckets - i));
		CHECK_FOR_INTERRUPTS();
	}
}
