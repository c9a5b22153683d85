/*
 * set_sort.c: a counting sort of the postings of sets: a document has a posting in the bucket
 * of each of its elements, and in the bucket of each of its keys.
 */
#include "store/sets.h"

/* The postings of a range of buckets, or of a key, by ascending documents. */
typedef struct SetPostings
{
	uint32 *bucket; /* the bucket in the group */
	uint32 *document;
	Size count;
} SetPostings;

/* Returns the number of postings to expect of a range of buckets, or of a key, and some more. */
static Size
expected_postings(const SegmentRoot *root)
{
	uint64 range = root->groups > 0 ? root->elements / root->groups : 0;

	return range + range / 8 + root->documents + 1;
}

/* Returns the bytes that it takes to sort `at_once` ranges at once, each of some postings. */
static Size
sort_bytes(Size postings, int at_once)
{
	return (2 * at_once + 1) * postings * sizeof(uint32);
}

/* Returns the bytes that it takes to sort `at_once` ranges at once, if elements are spread evenly. */
Size
set_sort_memory(const SegmentRoot *root, int at_once)
{
	return sort_bytes(expected_postings(root), at_once);
}

/*
 * Allocates memory for as many ranges at once as memory suffices for.  One range has room at least
 * for a bucket that all documents are in.
 */
void
set_sort_begin(GroupSort *sort, Size memory)
{
	const SegmentRoot *root = sort->writer->root;
	Size bytes;
	Size more;

	sort->room = Min(expected_postings(root), memory / sort_bytes(1, 1));
	sort->room = Max(sort->room, (Size) root->documents + 1);
	bytes = sort->room * sizeof(uint32);
	more = memory > 3 * bytes ? (memory - 3 * bytes) / (2 * bytes) : 0;
	sort->at_once = (int) Min(grouping_lists(&sort->grouping), 1 + more);
	sort->sets = palloc0(sort->at_once * sizeof(SetPostings));
	for (int i = 0; i < sort->at_once; i++)
	{
		sort->sets[i].bucket = palloc_extended(bytes, MCXT_ALLOC_HUGE);
		sort->sets[i].document = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	}
	sort->document = palloc_extended(bytes, MCXT_ALLOC_HUGE);
}

/* Frees the postings. */
void
set_sort_end(GroupSort *sort)
{
	for (int i = 0; i < sort->at_once; i++)
	{
		pfree(sort->sets[i].bucket);
		pfree(sort->sets[i].document);
	}
	pfree(sort->sets);
}

/* ---- Reading ------------------------------------------------------------ */

/* A walk over the documents of a segment that is written, and over their elements. */
typedef struct SetWalk
{
	GroupSort *sort;
	uint32 first;    /* the first of the buckets that are read, among all groups' */
	uint32 buckets;  /* the number of these buckets */
	Buffer page;     /* the page of elements, pinned */
	uint32 next;     /* page of elements */
	uint32 offset;   /* the next element on the page at hand */
	uint32 elements; /* elements on that page */
	uint32 last;     /* bucket that the document had last */
} SetWalk;

/* Finds which buckets are read. */
static void
set_sort_find_buckets(SetWalk *reading)
{
	const GroupSort *sort = reading->sort;
	const Grouping *g = &sort->grouping;
	uint32 first = (uint32) Min(sort->first, g->groups) << g->bucket_bits;
	uint32 end = (uint32) Min(sort->first + sort->count, g->groups) << g->bucket_bits;

	if (sort->first < g->groups && sort->count == 1)
		end = first + sort->end;
	reading->first = first + (sort->first < g->groups ? sort->from : 0);
	reading->buckets = end - reading->first;
}

/* Leaves the last buckets of the first group, with about half of its postings, to another reading. */
static void
drop_last_buckets(const SetWalk *reading)
{
	GroupSort *sort = reading->sort;
	SetPostings *postings = &sort->sets[0];
	uint32 *count = sort->offset;
	Size kept = 0;

	memset(count + sort->from, 0, (Size) (sort->end - sort->from) * sizeof(uint32));
	for (Size i = 0; i < postings->count; i++)
		count[postings->bucket[i]]++;
	for (sort->end = sort->from + 1, kept = count[sort->from];
		 kept + count[sort->end] <= postings->count / 2; sort->end++)
		kept += count[sort->end];
	kept = 0;
	for (Size i = 0; i < postings->count; i++)
	{
		postings->bucket[kept] = postings->bucket[i];
		postings->document[kept] = postings->document[i];
		kept += postings->bucket[i] < sort->end;
	}
	postings->count = kept;
}

/*
 * Leaves a group for which there is no more room, and those after it, to another reading; of the
 * first group, some of its buckets.
 */
static void
set_sort_make_room(SetWalk *reading, uint32 group)
{
	GroupSort *sort = reading->sort;

	sort->count = Max(group, 1);
	if (group == 0)
		drop_last_buckets(reading);
	if (sort->sets[0].count == sort->room)
		page_corrupt(sort->writer->index, META_BLOCK, "more postings of a bucket than documents");
	set_sort_find_buckets(reading);
}

/* Lets go of the page of elements at hand, and pins the next one. */
static void
next_elements(SetWalk *reading)
{
	SegmentWriter *writer = reading->sort->writer;

	if (BufferIsValid(reading->page))
		ReleaseBuffer(reading->page);
	reading->page = InvalidBuffer;
	if (reading->next >= writer->root->element_pages)
		page_corrupt(writer->index, META_BLOCK, "set on a page that does not exist");
	reading->page = group_sort_page(writer, writer->root->document_pages + reading->next++);
	reading->elements = page_info(BufferGetPage(reading->page))->count;
	reading->offset = 0;
	/* Nobody changes the page any more. */
	LockBuffer(reading->page, BUFFER_LOCK_UNLOCK);
	CHECK_FOR_INTERRUPTS();
}

/* Adds the postings of elements to the ranges that are read. */
static void
add_elements(SetWalk *reading, const uint64 *element, uint32 count, uint32 document)
{
	GroupSort *sort = reading->sort;
	const Grouping *g = &sort->grouping;
	uint32 mask = (UINT32_C(1) << g->bucket_bits) - 1;
	uint32 last = reading->last;

	for (uint32 i = 0; i < count; i++)
	{
		uint32 bucket = set_bucket(g, element[i]);
		SetPostings *to;

		/* Elements of one bucket follow each other. */
		if (bucket == last || bucket - reading->first >= reading->buckets)
			continue;
		last = bucket;
		to = &sort->sets[(bucket >> g->bucket_bits) - sort->first];
		if (to->count == sort->room)
			set_sort_make_room(reading, (bucket >> g->bucket_bits) - sort->first);
		if (bucket - reading->first >= reading->buckets)
			continue;
		to->bucket[to->count] = bucket & mask;
		to->document[to->count++] = document;
	}
	reading->last = last;
}

/* Adds the postings of a document's elements, which follow the elements of the document before. */
static void
add_set(SetWalk *reading, const SetRecord *record, uint32 document)
{
	reading->last = PG_UINT32_MAX;
	for (uint32 left = record->count; left > 0;)
	{
		uint32 part;

		if (reading->offset == reading->elements)
			next_elements(reading);
		if (left == record->count &&
			(record->page != reading->next - 1 || record->offset != reading->offset))
			page_corrupt(reading->sort->writer->index, BufferGetBlockNumber(reading->page),
						 "set that does not follow the one before");
		part = Min(left, reading->elements - reading->offset);
		add_elements(reading, page_elements(BufferGetPage(reading->page)) + reading->offset, part,
					 document);
		reading->offset += part;
		left -= part;
	}
}

/* Adds the postings of a document's keys. */
static void
add_keys(const SetWalk *reading, Page page, uint32 i, uint32 document)
{
	GroupSort *sort = reading->sort;
	const Grouping *g = &sort->grouping;
	uint32 stride = sort->writer->root->stride;

	for (int group = Max(sort->first, g->groups); group < sort->first + sort->count; group++)
	{
		SetPostings *to = &sort->sets[group - sort->first];

		if (to->count == sort->room)
			page_corrupt(sort->writer->index, META_BLOCK, "more postings of a key than documents");
		to->bucket[to->count] = document_bucket(g, group, page_symbols(page, stride, i), stride);
		to->document[to->count++] = document;
	}
}

/* Adds the postings of the documents of a page, a copy. */
static void
set_sort_add_page(SetWalk *reading, Page page, uint32 number)
{
	const GroupSort *sort = reading->sort;
	uint32 stride = sort->writer->root->stride;

	for (uint32 i = 0; i < page_info(page)->count; i++)
	{
		uint32 document = number * documents_per_page(stride) + i;

		add_keys(reading, page, i, document);
		if (reading->buckets > 0 && tid_flags(page_tid(page, i)) == 0)
			add_set(reading, (SetRecord *) page_symbols(page, stride, i), document);
	}
}

/*
 * Reads the postings of the groups that the sort says, of as many of their buckets as memory
 * suffices for.  Returns false if writing is to be abandoned.
 */
bool
set_sort_read(GroupSort *sort)
{
	SetWalk reading = {.sort = sort, .page = InvalidBuffer};
	bool goes_on = true;

	for (int i = 0; i < sort->count; i++)
		sort->sets[i].count = 0;
	set_sort_find_buckets(&reading);
	for (uint32 p = 0; goes_on && p < sort->writer->root->document_pages; p++)
	{
		PGAlignedBlock page;
		Buffer buffer = group_sort_page(sort->writer, p);

		memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		set_sort_add_page(&reading, page.data, p);
		goes_on = sort->writer->goes_on(sort->writer);
	}
	if (BufferIsValid(reading.page))
		ReleaseBuffer(reading.page);
	return goes_on;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Sorts a group that was read: sets offset and document; false as set_sort_read(). */
bool
set_sort_run(GroupSort *sort, int group)
{
	const SetPostings *postings = &sort->sets[group - sort->first];

	return group_sort_counting(sort, group, postings->bucket, postings->document, postings->count);
}

/* Adds the lengths of the lists that the postings of a group are in. */
void
set_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths)
{
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);

	for (uint32 v = 0; v < buckets; v++)
	{
		uint64 length = sort->offset[v + 1] - sort->offset[v];

		lengths->own += length * length;
		lengths->samples += length;
	}
}
