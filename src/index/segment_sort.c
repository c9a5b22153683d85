/*
 * segment_sort.c: counting sort of a segment's documents, one group after the other.
 */
#include "index/segment_sort.h"

#include "miscadmin.h"

#include "index/upkeep.h"

/* A document without postings. */
#define NO_BUCKET PG_UINT32_MAX

/* Documents that are sorted between looks at what else there is to heed. */
#define DOCUMENTS_AT_ONCE (UINT32_C(1) << 16)

/* ---- Memory ------------------------------------------------------------- */

static Size
column_bytes(const SegmentRoot *root)
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
sort_memory(const SegmentRoot *root, const Grouping *grouping, int at_once)
{
	return at_once * column_bytes(root) + postings_bytes(root) + offset_bytes(grouping);
}

GroupSort *
sort_begin(const SortSource *source, Size memory)
{
	GroupSort *sort = palloc(sizeof(GroupSort));
	const SegmentRoot *root = source->root;
	Size least = sort_memory(root, &source->grouping, 1);
	Size more = memory > least ? (memory - least) / column_bytes(root) : 0;

	sort->source = *source;
	sort->at_once = (int) Min(source->grouping.groups, 1 + more);
	sort->bucket = palloc_extended(column_bytes(root) * sort->at_once, MCXT_ALLOC_HUGE);
	sort->offset = palloc_extended(offset_bytes(&source->grouping), MCXT_ALLOC_HUGE);
	sort->postings = palloc_extended(postings_bytes(root), MCXT_ALLOC_HUGE);
	return sort;
}

void
sort_end(GroupSort *sort)
{
	pfree(sort->postings);
	pfree(sort->offset);
	pfree(sort->bucket);
	pfree(sort);
}

static uint32 *
column_of(GroupSort *sort, int group)
{
	return sort->bucket + (Size) (group - sort->first) * sort->source.root->documents;
}

/* Nobody but upkeep gives way. */
static bool
goes_on(const SortSource *source)
{
	if (source->upkeep != NULL)
		return upkeep_goes_on(source->upkeep);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* ---- Reading ------------------------------------------------------------ */

static void
read_page(GroupSort *sort, Page page, uint32 document, int count)
{
	uint32 stride = sort->source.root->stride;

	for (uint32 i = 0; i < page_trailer(page)->count; i++)
		for (int group = sort->first; group < sort->first + count; group++)
			column_of(sort, group)[document + i] = tid_flags(page_tid(page, i)) ?
				NO_BUCKET :
				group_bucket(&sort->source.grouping, group, page_symbols(page, stride, i));
}

bool
sort_read(GroupSort *sort, int first, int count)
{
	const SortSource *source = &sort->source;
	uint32 per_page = documents_per_page(source->root->stride);

	sort->first = first;
	for (uint32 p = 0; p < source->root->document_pages; p++)
	{
		BlockNumber block = source->map == NULL ? source->first + p : source->map[p];
		Buffer buffer = page_read(source->index, block, PAGE_DOCUMENTS, source->owner);

		if (!BufferIsValid(buffer))
			page_corrupt(source->index, block, "page of a segment that is being written is gone");
		if (page_was_read_in())
			page_verify(source->index, buffer, source->root->stride);
		page_check_documents(source->index, buffer, source->root->stride);
		if (page_trailer(BufferGetPage(buffer))->count !=
			Min(per_page, source->root->documents - p * per_page))
			page_corrupt(source->index, block, "wrong number of documents");
		read_page(sort, BufferGetPage(buffer), p * per_page, count);
		UnlockReleaseBuffer(buffer);
		if (!goes_on(source))
			return false;
	}
	return true;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Count the documents first .. end of each bucket. */
static void
count_buckets(const uint32 *bucket, uint32 first, uint32 end, uint32 *count)
{
	for (uint32 d = first; d < end; d++)
		if (bucket[d] != NO_BUCKET)
			count[bucket[d]]++;
}

/* Turn counts into where each bucket begins; the last of them is where all end. */
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

/* Put the documents first .. end behind those of their buckets. */
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
sort_group(GroupSort *sort, int group)
{
	uint32 documents = sort->source.root->documents;
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->source.grouping, group);
	const uint32 *bucket = column_of(sort, group);
	bool short_numbers = posting_bytes(documents) == 2;

	memset(sort->offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (uint32 d = 0; d < documents; d += DOCUMENTS_AT_ONCE)
	{
		count_buckets(bucket, d, Min(d + DOCUMENTS_AT_ONCE, documents), sort->offset);
		if (!goes_on(&sort->source))
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
		if (!goes_on(&sort->source))
			return false;
	}
	/* Now each is where its bucket ends, and the next begins. */
	memmove(sort->offset + 1, sort->offset, (Size) buckets * sizeof(uint32));
	sort->offset[0] = 0;
	return true;
}
