/*
 * sort.c: counting sort of a segment's documents, one group after the other.
 */
#include "index/sort.h"

#include "miscadmin.h"

/* A document without postings. */
#define NO_BUCKET PG_UINT32_MAX

GroupSort *
sort_begin(const SortSource *source, Size memory)
{
	GroupSort *sort = palloc(sizeof(GroupSort));
	Size column = (Size) source->root->documents * sizeof(uint32);
	Size columns = memory / column;

	sort->source = *source;
	sort->at_once = columns > 2 ? (int) Min(source->grouping.groups, columns - 1) : 1;
	sort->bucket = palloc_extended(column * sort->at_once, MCXT_ALLOC_HUGE);
	sort->cursor = palloc(sizeof(uint32) << source->grouping.bucket_bits);
	sort->sorted = palloc_extended(column, MCXT_ALLOC_HUGE);
	return sort;
}

void
sort_end(GroupSort *sort)
{
	pfree(sort->sorted);
	pfree(sort->cursor);
	pfree(sort->bucket);
	pfree(sort);
}

static uint32 *
column_of(GroupSort *sort, int group)
{
	return sort->bucket + (Size) (group - sort->first) * sort->source.root->documents;
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

void
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
		page_check_documents(source->index, buffer, source->root->stride);
		if (page_trailer(BufferGetPage(buffer))->count !=
			Min(per_page, source->root->documents - p * per_page))
			page_corrupt(source->index, block, "wrong number of documents");
		read_page(sort, BufferGetPage(buffer), p * per_page, count);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- Sorting ------------------------------------------------------------ */

/* Now and then. */
static inline void
answer_interrupts(uint32 document)
{
	if (document % (1 << 16) == 0)
		CHECK_FOR_INTERRUPTS();
}

/* The offsets of a column's buckets. */
static void
count_buckets(const uint32 *bucket, uint32 documents, uint32 buckets, uint32 *offset)
{
	uint32 sum = 0;

	memset(offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (uint32 d = 0; d < documents; d++)
	{
		answer_interrupts(d);
		if (bucket[d] != NO_BUCKET)
			offset[bucket[d]]++;
	}
	for (uint32 v = 0; v <= buckets; v++)
	{
		uint32 count = offset[v];

		offset[v] = sum;
		sum += count;
	}
}

/* Document numbers in their shortest form, in the place of the long ones. */
static const char *
encode(uint32 *sorted, uint32 count, int bytes)
{
	uint8 *at = (uint8 *) sorted;

	for (uint32 i = 0; i < count; i++)
	{
		uint32 document = sorted[i];

		for (int byte = 0; byte < bytes; byte++)
			*at++ = (uint8) (document >> 8 * byte);
	}
	return (const char *) sorted;
}

const char *
sort_group(GroupSort *sort, int group, uint32 *offset)
{
	const SegmentRoot *root = sort->source.root;
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->source.grouping, group);
	const uint32 *bucket = column_of(sort, group);

	count_buckets(bucket, root->documents, buckets, offset);
	memcpy(sort->cursor, offset, (Size) buckets * sizeof(uint32));
	for (uint32 d = 0; d < root->documents; d++)
	{
		answer_interrupts(d);
		if (bucket[d] != NO_BUCKET)
			sort->sorted[sort->cursor[bucket[d]]++] = d;
	}
	return encode(sort->sorted, root->grouped, posting_bytes(root->documents));
}

uint32
directory_offsets(const Grouping *grouping, int group)
{
	uint32 offsets = 0;

	for (int i = 0; i < group; i++)
		offsets += (UINT32_C(1) << group_bucket_bits(grouping, i)) + 1;
	return offsets;
}
