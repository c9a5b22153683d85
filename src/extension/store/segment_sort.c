/*
 * segment_sort.c: a counting sort of a segment's documents by their buckets, group by group.
 */
#include "store/sets.h"

#include <sys/mman.h>

/* Documents between two calls of goes_on. */
#define DOCUMENTS_AT_ONCE (UINT32_C(1) << 16)

/* ---- Memory ------------------------------------------------------------- */

static Size
offset_bytes(const Grouping *grouping)
{
	int bits = Max(grouping->groups > 0 ? grouping->bucket_bits : 0, grouping->key_bits);

	return ((Size) (UINT32_C(1) << bits) + 1) * sizeof(uint32);
}

/* Returns the bytes that it takes to sort `at_once` groups at once. */
Size
group_sort_memory(uint32 numbers, const Grouping *grouping, int at_once)
{
	return (at_once + 1) * (Size) numbers * sizeof(uint32) + offset_bytes(grouping);
}

/* The size of a huge page that processors usually have. */
#define HUGE_PAGE ((Size) 2 * 1024 * 1024)

/*
 * Allocates memory in huge pages, where the system has them: it is written in random order, and
 * all of it is new to a worker.
 */
static void *
allocate_in_huge_pages(Size bytes)
{
	char *memory = palloc_extended(bytes, MCXT_ALLOC_HUGE);
#ifdef MADV_HUGEPAGE
	char *first = (char *) TYPEALIGN(HUGE_PAGE, memory);
	char *end = (char *) TYPEALIGN_DOWN(HUGE_PAGE, memory + bytes);

	if (first < end)
		(void) madvise(first, end - first, MADV_HUGEPAGE);
#endif
	return memory;
}

/* Allocates memory to sort the groups of the segment that is written. */
GroupSort *
group_sort_begin(SegmentWriter *writer)
{
	GroupSort *sort = palloc(sizeof(GroupSort));
	uint32 numbers = root_numbers(writer->root);
	Size bytes = Max((Size) numbers, 1) * sizeof(uint32);
	Grouping grouping = root_grouping(writer->root, writer->shape);
	Size least = group_sort_memory(numbers, &grouping, 1);
	Size more = writer->memory > least ? (writer->memory - least) / bytes : 0;

	sort->writer = writer;
	sort->grouping = grouping;
	sort->numbers = numbers;
	sort->sets = NULL;
	if (shape_is_set(writer->shape))
	{
		bytes = offset_bytes(&grouping);
		set_sort_begin(sort, writer->memory > bytes ? writer->memory - bytes : 0);
		sort->offset = palloc_extended(offset_bytes(&grouping), MCXT_ALLOC_HUGE);
		return sort;
	}
	sort->at_once = (int) Min(grouping_lists(&grouping), 1 + more);
	sort->bucket = allocate_in_huge_pages(bytes * sort->at_once);
	sort->offset = palloc_extended(offset_bytes(&grouping), MCXT_ALLOC_HUGE);
	sort->document = allocate_in_huge_pages(bytes);
	return sort;
}

/* Frees the sort and its memory. */
void
group_sort_end(GroupSort *sort)
{
	if (sort->sets != NULL)
		set_sort_end(sort);
	else
		pfree(sort->bucket);
	pfree(sort->document);
	pfree(sort->offset);
	pfree(sort);
}

/* Returns the buckets of all documents in a group. */
static uint32 *
buckets_of(const GroupSort *sort, int group)
{
	return sort->bucket + (Size) (group - sort->first) * sort->numbers;
}

/* ---- Reading ------------------------------------------------------------ */

/*
 * Returns whether a document has a posting in a group or, after the groups, of a key; flags are
 * those of its TID when the segment is written.
 */
bool
document_has_posting(const Grouping *g, int group, uint16 flags)
{
	return group < g->groups ? flags == 0 : !(flags & TID_DEAD);
}

/* Returns the bucket of a document in a group or, after the groups, of a key. */
uint32
document_bucket(const Grouping *g, int group, const uint8_t *symbols, uint32 stride)
{
	if (group < g->groups)
		return group_bucket(g, group, symbols);
	return key_bucket(g, document_keys(symbols, stride, g->keys)[group - g->groups]);
}

/* Reads the buckets of a page's documents in a group or, after the groups, of a key. */
static void
segment_read_buckets(const GroupSort *sort, int group, Page page, uint32 *bucket)
{
	const Grouping *g = &sort->grouping;
	uint32 stride = sort->writer->root->stride;
	uint32 documents = page_info(page)->count;
	uint32 per_page = documents_per_page(stride);

	if (group < g->groups)
		group_buckets(g, group, page_symbols(page, stride, 0), stride, documents, bucket);
	else
		for (uint32 i = 0; i < documents; i++)
			bucket[i] = document_bucket(g, group, page_symbols(page, stride, i), stride);
	for (uint32 i = 0; i < documents; i++)
	{
		uint16 flags = tid_flags(page_tid(page, i));

		if (flags != 0 && !document_has_posting(g, group, flags))
			bucket[i] = NO_BUCKET;
	}
	for (uint32 i = documents; i < per_page; i++)
		bucket[i] = NO_BUCKET;
}

/* Share-locks a page of documents, or of elements, whose numbers come next. */
Buffer
group_sort_page(SegmentWriter *writer, uint32 number)
{
	MapEntry entry = segment_document_page(writer, number);
	PageKind kind = number < writer->root->document_pages ? PAGE_DOCUMENTS : PAGE_ELEMENTS;
	Buffer buffer = page_read(writer->index, entry.block, kind,
							  shape_is_set(writer->shape) ? writer->stamp : entry.number);

	if (!BufferIsValid(buffer))
		page_corrupt(writer->index, entry.block,
					 "page of a segment that is being written belongs to another");
	page_check_documents(writer->index, buffer, writer->root->stride);
	return buffer;
}

/*
 * Reads the buckets of some groups, at most at_once, from bucket `from` of the first on; of sets
 * as many as memory suffices for.  Returns false if writing is to be abandoned.
 */
bool
group_sort_read(GroupSort *sort, int first, int count, uint32 from)
{
	SegmentWriter *writer = sort->writer;
	uint32 per_page = documents_per_page(writer->root->stride);

	sort->first = first;
	sort->count = count;
	sort->from = from;
	sort->end = UINT32_C(1) << group_bucket_bits(&sort->grouping, first);
	if (sort->sets != NULL)
		return set_sort_read(sort);
	for (uint32 p = 0; p < writer->root->document_pages; p++)
	{
		Buffer buffer = group_sort_page(writer, p);

		for (int group = first; group < first + count; group++)
			segment_read_buckets(sort, group, BufferGetPage(buffer),
								 buckets_of(sort, group) + (Size) p * per_page);
		UnlockReleaseBuffer(buffer);
		if (!writer->goes_on(writer))
			return false;
	}
	return true;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Counts how many of the postings first .. end - 1 each bucket has. */
static void
segment_count_buckets(const uint32 *bucket, Size first, Size end, uint32 *count)
{
	for (Size i = first; i < end; i++)
		if (bucket[i] != NO_BUCKET)
			count[bucket[i]]++;
}

/* How many documents ahead a sort fetches memory into the processor's cache. */
#define SORT_AHEAD 16

/*
 * Fetches the positions where documents after the i-th of n will be put, in two steps: first where
 * the bucket's offset is, then where it points to.  Always inline: gcc 12 leaves out calls of
 * functions that only prefetch.
 */
static pg_attribute_always_inline void
prefetch_positions(const GroupSort *sort, const uint32 *bucket, Size i, Size n)
{
	if (i + 2 * SORT_AHEAD >= n)
		return;
	if (bucket[i + 2 * SORT_AHEAD] != NO_BUCKET)
		__builtin_prefetch(&sort->offset[bucket[i + 2 * SORT_AHEAD]], 1);
	if (bucket[i + SORT_AHEAD] != NO_BUCKET)
		__builtin_prefetch(&sort->document[sort->offset[bucket[i + SORT_AHEAD]]], 1);
}

/* Turns the counts of buckets into the offsets where they begin; the last is the end of all. */
static void
sum_up(uint32 *offset, uint32 buckets)
{
	uint32 sum = 0;

	for (uint32 v = 0; v <= buckets; v++)
	{
		uint32 count = offset[v];

		offset[v] = sum;
		sum += count;
	}
}

/*
 * Sorts n documents, which have these buckets in a group: sets offset and document.  Without `document`
 * they are 0 to n - 1.  Returns false as group_sort_read() does.
 */
bool
group_sort_counting(GroupSort *sort, int group, const uint32 *bucket, const uint32 *document,
					Size n)
{
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);

	memset(sort->offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (Size i = 0; i < n; i += DOCUMENTS_AT_ONCE)
	{
		segment_count_buckets(bucket, i, Min(i + DOCUMENTS_AT_ONCE, n), sort->offset);
		if (!sort->writer->goes_on(sort->writer))
			return false;
	}
	sum_up(sort->offset, buckets);
	for (Size i = 0; i < n; i++)
	{
		if (i % DOCUMENTS_AT_ONCE == 0 && !sort->writer->goes_on(sort->writer))
			return false;
		prefetch_positions(sort, bucket, i, n);
		if (bucket[i] != NO_BUCKET)
			sort->document[sort->offset[bucket[i]]++] = document == NULL ? i : document[i];
	}
	/* By now each offset has moved to the end of its bucket, where the next begins. */
	memmove(sort->offset + 1, sort->offset, (Size) buckets * sizeof(uint32));
	sort->offset[0] = 0;
	return true;
}

/* Sorts a group that was read: sets offset and document; false as group_sort_read(). */
bool
group_sort_run(GroupSort *sort, int group)
{
	return sort->sets != NULL ?
		set_sort_run(sort, group) :
		group_sort_counting(sort, group, buckets_of(sort, group), NULL, sort->numbers);
}

/* ---- Lengths ------------------------------------------------------------ */

/* Documents of a group whose buckets are looked at. */
#define LENGTH_SAMPLES 64

/* Returns the mean length of the buckets that differ from one in a bit. */
static uint64
length_near(const GroupSort *sort, uint32 bucket, int bits)
{
	uint64 sum = 0;

	for (int i = 0; i < bits; i++)
	{
		uint32 other = bucket ^ UINT32_C(1) << i;

		sum += sort->offset[other + 1] - sort->offset[other];
	}
	return sum / bits;
}

/* Adds the lengths of the buckets of some documents, and of those near them. */
void
group_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths)
{
	int bits = group_bucket_bits(&sort->grouping, group);
	const uint32 *bucket = buckets_of(sort, group);

	for (uint32 i = 0; i < LENGTH_SAMPLES; i++)
	{
		uint32 v = bucket[(uint64) sort->numbers * i / LENGTH_SAMPLES];

		if (v == NO_BUCKET)
			continue;
		lengths->own += sort->offset[v + 1] - sort->offset[v];
		lengths->near += length_near(sort, v, bits);
		lengths->samples++;
	}
}
