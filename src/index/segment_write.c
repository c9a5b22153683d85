/*
 * segment_write.c: writing a segment beside others: documents as they come, then one
 * group after the other, on whatever pages are free.
 *
 * Only the map is kept in memory.  A directory goes to its pages while the postings
 * go to theirs: how many pages each takes is known when all documents are there.
 */
#include "index/upkeep.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/indexfsm.h"

#include "index/segment_sort.h"
#include "sql/signature.h"

/* Entries of a fixed size that go to pages of a kind, one after the other. */
typedef struct PageStream
{
	PageKind kind;
	uint32 size;
	uint32 per_page;
	BlockNumber *block; /* where to note the next page's */
	PGAlignedBlock page;
} PageStream;

struct SegmentWriter
{
	Upkeep *upkeep;
	Relation index;
	const IndexMeta *live;
	uint32 owner;
	bool logged;
	uint32 per_page;
	SegmentRoot root;
	BlockNumber *map; /* Invalid where nothing has been written yet */
	uint32 map_room;
	PageStream documents;
	BlockNumber map_block[ROOT_MAP_PAGES];
};

/* ---- Pages -------------------------------------------------------------- */

/* Write a page; nothing once upkeep gives way. */
static BlockNumber
write_page(SegmentWriter *w, Page page)
{
	Buffer buffer;
	BlockNumber block;

	if (w->upkeep->gave_way)
		return InvalidBlockNumber;
	buffer = page_allocate(w->index, w->live);
	block = BufferGetBlockNumber(buffer);
	if (page_trailer(page)->kind != PAGE_DOCUMENTS)
		page_seal(page);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), page, BLCKSZ);
	MarkBufferDirty(buffer);
	if (w->logged)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	upkeep_goes_on(w->upkeep);
	return block;
}

static void
stream_begin_page(SegmentWriter *w, PageStream *s)
{
	page_init(s->page.data, s->kind, w->owner);
}

static void
stream_begin(SegmentWriter *w, PageStream *s, PageKind kind, uint32 size, BlockNumber *block)
{
	s->kind = kind;
	s->size = size;
	s->per_page = PAGE_ROOM / size;
	s->block = block;
	stream_begin_page(w, s);
}

static void
stream_write_page(SegmentWriter *w, PageStream *s)
{
	*s->block++ = write_page(w, s->page.data);
	stream_begin_page(w, s);
}

static void
stream_put(SegmentWriter *w, PageStream *s, const void *entries, uint32 count)
{
	const char *from = entries;

	while (count > 0)
	{
		PageTrailer *trailer = page_trailer(s->page.data);
		uint32 n = Min(s->per_page - trailer->count, count);

		memcpy(PageGetContents(s->page.data) + (Size) trailer->count * s->size, from,
			   (Size) n * s->size);
		trailer->count += n;
		from += (Size) n * s->size;
		count -= n;
		if (trailer->count == s->per_page)
			stream_write_page(w, s);
	}
}

/* Write what is left, and see that it is as much as was laid out. */
static void
stream_end(SegmentWriter *w, PageStream *s, const BlockNumber *end)
{
	if (page_trailer(s->page.data)->count > 0)
		stream_write_page(w, s);
	if (s->block != end)
		elog(ERROR, "a segment of index \"%s\" is not as long as it was laid out",
			 RelationGetRelationName(w->index));
}

/* ---- Documents ---------------------------------------------------------- */

SegmentWriter *
segment_begin(Upkeep *upkeep, const IndexMeta *live, uint32 owner)
{
	SegmentWriter *w = palloc0(sizeof(SegmentWriter));

	w->upkeep = upkeep;
	w->index = upkeep->index;
	w->live = live;
	w->owner = owner;
	w->logged = RelationNeedsWAL(upkeep->index);
	w->root.stride = document_stride(&live->shape);
	w->per_page = documents_per_page(w->root.stride);
	w->map_room = 64;
	w->map = palloc(w->map_room * sizeof(BlockNumber));
	stream_begin(w, &w->documents, PAGE_DOCUMENTS, 1, NULL);
	return w;
}

static void
write_documents(SegmentWriter *w)
{
	if (w->root.document_pages == w->map_room)
	{
		w->map_room *= 2;
		w->map = repalloc_huge(w->map, w->map_room * sizeof(BlockNumber));
	}
	w->documents.block = &w->map[w->root.document_pages++];
	stream_write_page(w, &w->documents);
}

void
segment_add(SegmentWriter *w, const ItemPointerData *tid, const uint8_t *symbols)
{
	page_put_document(w->documents.page.data, w->root.stride, tid, symbols,
					  signature_symbol_bytes(&w->live->shape));
	w->root.grouped += !tid_flags(tid);
	w->root.documents++;
	if (w->root.documents % w->per_page == 0)
		write_documents(w);
}

uint32
segment_length(const SegmentWriter *w)
{
	return w->root.documents;
}

/* ---- Groups ------------------------------------------------------------- */

/* Pages that the map lists. */
static uint32
logical_pages(const SegmentRoot *root)
{
	return root->document_pages + root->directory_pages + root->posting_pages;
}

/* The map will not grow any more. */
static void
complete_map(SegmentWriter *w)
{
	w->map_room = Max(1, logical_pages(&w->root));
	w->map = repalloc_huge(w->map, w->map_room * sizeof(BlockNumber));
	for (uint32 p = w->root.document_pages; p < w->map_room; p++)
		w->map[p] = InvalidBlockNumber;
}

/* Group after group within the memory that the map leaves, as many at once as fit. */
static void
write_groups(SegmentWriter *w, const Grouping *grouping)
{
	const SegmentRoot *root = &w->root;
	SortSource source = {w->index,           root,   w->owner, *grouping,
						 InvalidBlockNumber, w->map, w->upkeep};
	Size map_bytes = w->map_room * sizeof(BlockNumber);
	GroupSort *sort =
		sort_begin(&source, w->upkeep->memory > map_bytes ? w->upkeep->memory - map_bytes : 0);
	BlockNumber *directory_end = w->map + root->document_pages + root->directory_pages;
	PageStream directory;
	PageStream postings;

	stream_begin(w, &directory, PAGE_DIRECTORY, sizeof(uint32), w->map + root->document_pages);
	stream_begin(w, &postings, PAGE_POSTINGS, posting_bytes(root->documents), directory_end);
	for (int group = 0; group < grouping->groups; group++)
	{
		if (group % sort->at_once == 0 &&
			!sort_read(sort, group, Min(sort->at_once, grouping->groups - group)))
			break;
		if (!sort_group(sort, group))
			break;
		stream_put(w, &directory, sort->offset,
				   (UINT32_C(1) << group_bucket_bits(grouping, group)) + 1);
		stream_put(w, &postings, sort->postings, root->grouped);
	}
	if (!w->upkeep->gave_way)
	{
		stream_end(w, &directory, directory_end);
		stream_end(w, &postings, w->map + w->map_room);
	}
	sort_end(sort);
}

/* ---- Root --------------------------------------------------------------- */

/* Write the map, and the root that lists its pages. */
static BlockNumber
write_root(SegmentWriter *w)
{
	PageStream map;
	PGAlignedBlock page;

	stream_begin(w, &map, PAGE_MAP, sizeof(BlockNumber), w->map_block);
	stream_put(w, &map, w->map, logical_pages(&w->root));
	stream_end(w, &map, w->map_block + w->root.map_pages);
	page_init(page.data, PAGE_ROOT, w->owner);
	*page_root(page.data) = w->root;
	memcpy(page_root_map(page.data), w->map_block, w->root.map_pages * sizeof(BlockNumber));
	return write_page(w, page.data);
}

bool
segment_finish(SegmentWriter *w, SegmentEntry *entry)
{
	Grouping grouping;
	BlockNumber root;

	if (w->root.documents % w->per_page > 0)
		write_documents(w);
	grouping = segment_lay_out(w->index, &w->live->shape, &w->root);
	complete_map(w);
	if (grouping.groups > 0)
		write_groups(w, &grouping);
	root = write_root(w);
	if (root == InvalidBlockNumber)
		return false;
	*entry = segment_entry(&w->root, w->owner, root);
	pfree(w->map);
	pfree(w);
	return true;
}

static void
free_blocks(SegmentWriter *w, const BlockNumber *block, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
		if (block[i] != InvalidBlockNumber)
			RecordFreeIndexPage(w->index, block[i]);
}

void
segment_abandon(SegmentWriter *w)
{
	free_blocks(w, w->map, Max(w->root.document_pages, logical_pages(&w->root)));
	free_blocks(w, w->map_block, w->root.map_pages);
	pfree(w->map);
	pfree(w);
}
