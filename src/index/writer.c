/*
 * writer.c: writing a segment: documents as they come, then one group after
 * the other by counting sort.
 */
#include "index/segment.h"

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "index/index.h"

struct SegmentWriter
{
	Relation index;
	const IndexMeta *live;
	SignatureHeader shape;
	uint32 owner;
	bool logged;
	uint32 per_page;
	SegmentRoot root;
	BlockNumber *map;
	uint32 map_room;
	uint32 map_used;
	Grouping grouping;
	PGAlignedBlock page; /* being filled */
};

/* ---- Pages -------------------------------------------------------------- */

static BlockNumber
write_page(SegmentWriter *w)
{
	Buffer buffer = page_allocate(w->index, w->live);
	BlockNumber block = BufferGetBlockNumber(buffer);

	if (page_trailer(w->page.data)->kind != PAGE_DOCUMENTS)
		page_seal(w->page.data);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), w->page.data, BLCKSZ);
	MarkBufferDirty(buffer);
	if (w->logged)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	return block;
}

/* Write the page as the next logical one. */
static void
write_logical(SegmentWriter *w)
{
	if (w->map_used == w->map_room)
	{
		w->map_room *= 2;
		w->map = repalloc_huge(w->map, w->map_room * sizeof(BlockNumber));
	}
	w->map[w->map_used++] = write_page(w);
}

static void
begin_page(SegmentWriter *w, PageKind kind)
{
	page_init(w->page.data, kind, w->owner);
}

/* Write entries of a fixed size as pages of a kind; returns how many pages. */
static uint32
write_array(SegmentWriter *w, PageKind kind, const char *entries, uint32 count, uint32 size)
{
	uint32 per_page = PAGE_ROOM / size;
	uint32 pages = 0;

	for (uint32 done = 0; done < count; done += per_page, pages++)
	{
		uint32 n = Min(per_page, count - done);

		begin_page(w, kind);
		memcpy(PageGetContents(w->page.data), entries + (Size) done * size, (Size) n * size);
		page_trailer(w->page.data)->count = n;
		write_logical(w);
	}
	return pages;
}

/* ---- Documents ---------------------------------------------------------- */

SegmentWriter *
segment_begin(Relation index, const IndexMeta *live, uint32 owner, const SignatureHeader *shape,
			  bool logged)
{
	SegmentWriter *w = palloc0(sizeof(SegmentWriter));

	w->index = index;
	w->live = live;
	w->shape = *shape;
	w->owner = owner;
	w->logged = logged;
	w->root.stride = document_stride(shape);
	w->per_page = documents_per_page(w->root.stride);
	w->map_room = 64;
	w->map = palloc(w->map_room * sizeof(BlockNumber));
	return w;
}

uint32
segment_documents(const SegmentWriter *writer)
{
	return writer->root.documents;
}

void
segment_add(SegmentWriter *w, const ItemPointerData *tid, const uint8_t *symbols)
{
	uint32 slot = w->root.documents % w->per_page;

	if (slot == 0)
	{
		if (w->root.documents > 0)
			write_logical(w);
		begin_page(w, PAGE_DOCUMENTS);
	}
	page_put_document(w->page.data, w->root.stride, tid, symbols,
					  signature_symbol_bytes(&w->shape));
	w->root.grouped += !tid_flags(tid);
	w->root.documents++;
}

/* ---- Groups ------------------------------------------------------------- */

/* A document without postings. */
#define NO_BUCKET PG_UINT32_MAX

/* Groups that are sorted from one reading of the documents. */
typedef struct GroupBatch
{
	int first;
	int count;
	uint32 *bucket; /* documents entries for each group */
} GroupBatch;

static void
buckets_of_page(SegmentWriter *w, Page page, uint32 first, GroupBatch *batch)
{
	for (uint32 i = 0; i < page_trailer(page)->count; i++)
		for (int j = 0; j < batch->count; j++)
			batch->bucket[(Size) j * w->root.documents + first + i] = tid_flags(page_tid(page, i)) ?
				NO_BUCKET :
				group_bucket(&w->grouping, batch->first + j, page_symbols(page, w->root.stride, i));
}

static void
read_buckets(SegmentWriter *w, GroupBatch *batch)
{
	for (uint32 p = 0; p < w->root.document_pages; p++)
	{
		Buffer buffer = page_read(w->index, w->map[p], PAGE_DOCUMENTS, w->owner);

		if (!BufferIsValid(buffer))
			page_corrupt(w->index, w->map[p], "page of a segment that is being written is gone");
		buckets_of_page(w, BufferGetPage(buffer), p * w->per_page, batch);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Counting sort: the offsets of a group's buckets, and its documents in order. */
static void
sort_group(const uint32 *bucket, uint32 documents, uint32 buckets, uint32 *offset, uint32 *cursor,
		   uint32 *sorted)
{
	uint32 sum = 0;

	memset(offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (uint32 d = 0; d < documents; d++)
		if (bucket[d] != NO_BUCKET)
			offset[bucket[d]]++;
	for (uint32 v = 0; v <= buckets; v++)
	{
		uint32 count = offset[v];

		offset[v] = sum;
		sum += count;
	}
	memcpy(cursor, offset, (Size) buckets * sizeof(uint32));
	for (uint32 d = 0; d < documents; d++)
		if (bucket[d] != NO_BUCKET)
			sorted[cursor[bucket[d]]++] = d;
}

/* Append postings to the stream of posting pages. */
static void
put_postings(SegmentWriter *w, const uint32 *sorted, uint32 count)
{
	int bytes = posting_bytes(w->root.documents);
	uint32 per_page = postings_per_page(w->root.documents);

	for (uint32 i = 0; i < count; i++)
	{
		PageTrailer *trailer = page_trailer(w->page.data);
		uint8 *at;

		if (trailer->count == per_page)
		{
			write_logical(w);
			begin_page(w, PAGE_POSTINGS);
			trailer = page_trailer(w->page.data);
		}
		at = (uint8 *) PageGetContents(w->page.data) + (Size) trailer->count++ * bytes;
		for (int byte = 0; byte < bytes; byte++)
			at[byte] = (uint8) (sorted[i] >> 8 * byte);
	}
}

static void
write_batch(SegmentWriter *w, GroupBatch *batch, uint32 **offset, uint32 *cursor, uint32 *sorted)
{
	read_buckets(w, batch);
	for (int j = 0; j < batch->count; j++)
	{
		uint32 buckets = UINT32_C(1) << group_bucket_bits(&w->grouping, batch->first + j);

		sort_group(batch->bucket + (Size) j * w->root.documents, w->root.documents, buckets,
				   *offset, cursor, sorted);
		put_postings(w, sorted, w->root.grouped);
		*offset += buckets + 1;
		if (!w->logged)
			pgstat_progress_update_param(PROGRESS_CREATEIDX_PARTITIONS_DONE, batch->first + j + 1);
	}
}

/* Offsets of all groups' buckets, one end each. */
static uint32
directory_entries(const Grouping *g)
{
	uint32 entries = 0;

	for (int i = 0; i < g->groups; i++)
		entries += (UINT32_C(1) << group_bucket_bits(g, i)) + 1;
	return entries;
}

/* Group after group within the memory given, as many at once as fit. */
static void
write_postings(SegmentWriter *w, Size memory, uint32 *offset)
{
	Size column = (Size) w->root.documents * sizeof(uint32);
	Size columns = memory / column;
	int at_once = columns > 2 ? (int) Min(w->grouping.groups, columns - 1) : 1;
	uint32 *cursor = palloc(sizeof(uint32) << BUCKET_BITS_MAX);
	uint32 *sorted = palloc_extended(column, MCXT_ALLOC_HUGE);
	GroupBatch batch;

	batch.bucket = palloc_extended(column * at_once, MCXT_ALLOC_HUGE);
	begin_page(w, PAGE_POSTINGS);
	for (batch.first = 0; batch.first < w->grouping.groups; batch.first += batch.count)
	{
		batch.count = Min(at_once, w->grouping.groups - batch.first);
		write_batch(w, &batch, &offset, cursor, sorted);
	}
	write_logical(w);
	pfree(batch.bucket);
	pfree(sorted);
	pfree(cursor);
}

/* Postings, then the directory; logically the directory comes first. */
static void
write_groups(SegmentWriter *w, Size memory)
{
	uint32 entries = directory_entries(&w->grouping);
	uint32 before = w->map_used;
	uint32 *directory = palloc_extended((Size) entries * sizeof(uint32), MCXT_ALLOC_HUGE);
	BlockNumber *postings;

	write_postings(w, memory, directory);
	w->root.posting_pages = w->map_used - before;
	w->root.directory_pages =
		write_array(w, PAGE_DIRECTORY, (char *) directory, entries, sizeof(uint32));
	postings = palloc_extended(w->root.posting_pages * sizeof(BlockNumber), MCXT_ALLOC_HUGE);
	memcpy(postings, w->map + before, w->root.posting_pages * sizeof(BlockNumber));
	memmove(w->map + before, w->map + before + w->root.posting_pages,
			w->root.directory_pages * sizeof(BlockNumber));
	memcpy(w->map + before + w->root.directory_pages, postings,
		   w->root.posting_pages * sizeof(BlockNumber));
	pfree(postings);
	pfree(directory);
}

/* ---- Root --------------------------------------------------------------- */

/* Map pages are written like any other; their blocks go to the root. */
static BlockNumber
write_root(SegmentWriter *w)
{
	uint32 logical = w->map_used;

	w->root.map_pages = write_array(w, PAGE_MAP, (char *) w->map, logical, sizeof(BlockNumber));
	if (w->root.map_pages > ROOT_MAP_PAGES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a segment of index \"%s\" has grown to %u pages, more than it can describe",
						RelationGetRelationName(w->index), logical),
				 errhint("Partition the table.")));
	begin_page(w, PAGE_ROOT);
	*page_root(w->page.data) = w->root;
	memcpy(page_root_map(w->page.data), w->map + logical, w->root.map_pages * sizeof(BlockNumber));
	return write_page(w);
}

SegmentEntry
segment_finish(SegmentWriter *w, Size memory)
{
	SegmentEntry entry = {0};

	if (w->root.documents > 0)
		write_logical(w);
	w->root.document_pages = w->map_used;
	w->grouping = index_grouping(w->index, &w->shape, w->root.grouped);
	w->root.groups = w->grouping.groups;
	w->root.width = w->grouping.width;
	w->root.wide = w->grouping.wide;
	w->root.bucket_bits = w->grouping.bucket_bits;
	if (w->grouping.groups > 0)
		write_groups(w, memory);
	entry.root = write_root(w);
	entry.owner = w->owner;
	entry.documents = w->root.documents;
	entry.grouped = w->root.grouped;
	entry.groups = w->root.groups;
	entry.pages = w->map_used + 1;
	pfree(w->map);
	pfree(w);
	return entry;
}
