/*
 * writer.c: writing a segment beside others: documents as they come, then one
 * group after the other, on whatever pages are free.
 */
#include "index/index.h"
#include "index/segment.h"

#include "access/xloginsert.h"
#include "miscadmin.h"

#include "index/sort.h"
#include "sketch/pg_signature.h"

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

/* Append postings to the stream of posting pages. */
static void
put_postings(SegmentWriter *w, const char *postings, uint32 count)
{
	int bytes = posting_bytes(w->root.documents);
	uint32 per_page = postings_per_page(w->root.documents);

	for (uint32 done = 0; done < count;)
	{
		uint32 used = page_trailer(w->page.data)->count;
		uint32 n = Min(per_page - used, count - done);

		if (n == 0)
		{
			write_logical(w);
			begin_page(w, PAGE_POSTINGS);
			continue;
		}
		memcpy(PageGetContents(w->page.data) + (Size) used * bytes, postings + (Size) done * bytes,
			   (Size) n * bytes);
		page_trailer(w->page.data)->count += n;
		done += n;
	}
}

/* Group after group within the memory given, as many at once as fit. */
static void
write_postings(SegmentWriter *w, Size memory, uint32 *offset)
{
	SortSource source = {w->index, &w->root, w->owner, w->grouping, InvalidBlockNumber, w->map};
	GroupSort *sort = sort_begin(&source, memory);

	begin_page(w, PAGE_POSTINGS);
	for (int group = 0; group < w->grouping.groups; group++)
	{
		if (group % sort->at_once == 0)
			sort_read(sort, group, Min(sort->at_once, w->grouping.groups - group));
		/* The map moves as it grows. */
		put_postings(w, sort_group(sort, group, offset + directory_offsets(&w->grouping, group)),
					 w->root.grouped);
		sort->source.map = w->map;
	}
	write_logical(w);
	sort_end(sort);
}

/* Postings, then the directory; logically the directory comes first. */
static void
write_groups(SegmentWriter *w, Size memory)
{
	uint32 entries = directory_offsets(&w->grouping, w->grouping.groups);
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

void
segment_check_size(Relation index, const SegmentRoot *root)
{
	if (root->map_pages > ROOT_MAP_PAGES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a segment of index \"%s\" has grown to %u pages, more than it can describe",
						RelationGetRelationName(index), segment_pages(root)),
				 errhint("Partition the table.")));
}

/* Map pages are written like any other; their blocks go to the root. */
static BlockNumber
write_root(SegmentWriter *w)
{
	uint32 logical = w->map_used;

	w->root.map_pages = write_array(w, PAGE_MAP, (char *) w->map, logical, sizeof(BlockNumber));
	segment_check_size(w->index, &w->root);
	begin_page(w, PAGE_ROOT);
	*page_root(w->page.data) = w->root;
	memcpy(page_root_map(w->page.data), w->map + logical, w->root.map_pages * sizeof(BlockNumber));
	return write_page(w);
}

SegmentEntry
segment_finish(SegmentWriter *w, Size memory)
{
	SegmentEntry entry;

	if (w->root.documents > 0)
		write_logical(w);
	w->root.document_pages = w->map_used;
	w->grouping = index_grouping(w->index, &w->shape, w->root.grouped);
	root_set_grouping(&w->root, &w->grouping);
	if (w->grouping.groups > 0)
		write_groups(w, memory);
	entry = segment_entry(&w->root, w->owner, write_root(w));
	pfree(w->map);
	pfree(w);
	return entry;
}
