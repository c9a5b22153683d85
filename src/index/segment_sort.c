/*
 * segment_sort.c: a counting sort of a segment's documents by their buckets, group by group.
 */
#include "index/segment.h"

/* The bucket of a document without postings. */
#define NO_BUCKET PG_UINT32_MAX

/* Documents between two calls of goes_on. */
#define DOCUMENTS_AT_ONCE (UINT32_C(1) << 16)

/* ---- Memory ------------------------------------------------------------- */

static Size
bucket_bytes(const SegmentRoot *root)
{
	return (Size) root->documents * sizeof(uint32);
}

static Size
offset_bytes(const Grouping *grouping)
{
	return ((Size) (UINT32_C(1) << grouping->bucket_bits) + 1) * sizeof(uint32);
}

static Size
postings_bytes(const SegmentRoot *root)
{
	return (Size) root->documents * posting_bytes(root->documents);
}

Size
group_sort_memory(const SegmentRoot *root, const Grouping *grouping, int at_once)
{
	return at_once * bucket_bytes(root) + postings_bytes(root) + offset_bytes(grouping);
}

GroupSort *
group_sort_begin(SegmentWriter *writer)
{
	GroupSort *sort = palloc(sizeof(GroupSort));
	const SegmentRoot *root = writer->root;
	Grouping grouping = root_grouping(root, writer->shape);
	Size least = group_sort_memory(root, &grouping, 1);
	Size more = writer->memory > least ? (writer->memory - least) / bucket_bytes(root) : 0;

	sort->writer = writer;
	sort->grouping = grouping;
	sort->at_once = (int) Min(grouping.groups, 1 + more);
	sort->bucket = palloc_extended(bucket_bytes(root) * sort->at_once, MCXT_ALLOC_HUGE);
	sort->offset = palloc_extended(offset_bytes(&grouping), MCXT_ALLOC_HUGE);
	sort->postings = palloc_extended(postings_bytes(root), MCXT_ALLOC_HUGE);
	return sort;
}

void
group_sort_end(GroupSort *sort)
{
	pfree(sort->postings);
	pfree(sort->offset);
	pfree(sort->bucket);
	pfree(sort);
}

/* Returns the buckets of all documents in a group. */
static uint32 *
buckets_of(GroupSort *sort, int group)
{
	return sort->bucket + (Size) (group - sort->first) * sort->writer->root->documents;
}

/* ---- Reading ------------------------------------------------------------ */

bool
group_sort_read(GroupSort *sort, int first, int count)
{
	SegmentWriter *writer = sort->writer;
	const SegmentRoot *root = writer->root;
	uint32 per_page = documents_per_page(root->stride);

	sort->first = first;
	for (uint32 p = 0; p < root->document_pages; p++)
	{
		BlockNumber block = writer->block_of(writer, p);
		int64 before = pages_read_in();
		Buffer buffer = page_read(writer->index, block, PAGE_DOCUMENTS, writer->owner);
		Page page;

		if (!BufferIsValid(buffer))
			page_corrupt(writer->index, block,
						 "page of a segment that is being written belongs to another");
		/* The page is still as it was written, unless it comes from disk. */
		if (pages_read_in() != before)
			page_verify(writer->index, buffer, root->stride);
		page = BufferGetPage(buffer);
		if (page_trailer(page)->count != Min(per_page, root->documents - p * per_page))
			page_corrupt(writer->index, block, "wrong number of documents");
		for (int group = first; group < first + count; group++)
		{
			uint32 *bucket = buckets_of(sort, group) + p * per_page;

			for (uint32 i = 0; i < page_trailer(page)->count; i++)
				bucket[i] = tid_flags(page_tid(page, i)) ?
					NO_BUCKET :
					group_bucket(&sort->grouping, group, page_symbols(page, root->stride, i));
		}
		UnlockReleaseBuffer(buffer);
		if (!writer->goes_on(writer))
			return false;
	}
	return true;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Counts how many of the documents first .. end - 1 each bucket has. */
static void
count_buckets(const uint32 *bucket, uint32 first, uint32 end, uint32 *count)
{
	for (uint32 d = first; d < end; d++)
		if (bucket[d] != NO_BUCKET)
			count[bucket[d]]++;
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

/* Puts the documents first .. end - 1 behind those that their buckets have already. */
static inline void
put_documents(GroupSort *sort, const uint32 *bucket, uint32 first, uint32 end, int bytes)
{
	for (uint32 d = first; d < end; d++)
		if (bucket[d] != NO_BUCKET)
		{
			uint8 *at = sort->postings + (Size) sort->offset[bucket[d]]++ * bytes;

			at[0] = (uint8) d;
			at[1] = (uint8) (d >> 8);
			if (bytes > 2)
				at[2] = (uint8) (d >> 16);
		}
}

bool
group_sort_run(GroupSort *sort, int group)
{
	uint32 documents = sort->writer->root->documents;
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);
	const uint32 *bucket = buckets_of(sort, group);
	bool short_numbers = posting_bytes(documents) == 2;

	memset(sort->offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (uint32 d = 0; d < documents; d += DOCUMENTS_AT_ONCE)
	{
		count_buckets(bucket, d, Min(d + DOCUMENTS_AT_ONCE, documents), sort->offset);
		if (!sort->writer->goes_on(sort->writer))
			return false;
	}
	sum_up(sort->offset, buckets);
	for (uint32 d = 0; d < documents; d += DOCUMENTS_AT_ONCE)
	{
		uint32 end = Min(d + DOCUMENTS_AT_ONCE, documents);

		if (short_numbers)
			put_documents(sort, bucket, d, end, 2);
		else
			put_documents(sort, bucket, d, end, 3);
		if (!sort->writer->goes_on(sort->writer))
			return false;
	}
	/* By now each offset has moved to the end of its bucket, where the next begins. */
	memmove(sort->offset + 1, sort->offset, (Size) buckets * sizeof(uint32));
	sort->offset[0] = 0;
	return true;
}
