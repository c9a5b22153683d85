/*
 * segment_write.c: the layout of a new segment, and the writing of its directory, postings,
 * map and root.
 */
#include "index/index.h"

/* ---- Layout ------------------------------------------------------------- */

/* The least memory that a segment's size is bounded by. */
#define MEMORY_LEAST ((Size) 1024 * 1024)

/* Bytes that sorting two groups at once takes for each document, at least. */
#define BYTES_PER_DOCUMENT 12

/* Counts the pages that the map of a segment with a grouping lists. */
static uint64
logical_pages_with(const SegmentRoot *root, const Grouping *g)
{
	return root->document_pages + grouping_directory_pages(g) + grouping_posting_pages(g, root);
}

static uint32
logical_pages_max(void)
{
	return Min(ROOT_MAP_PAGES * BLOCKS_PER_MAP_PAGE, (uint32) neardup_segment_pages);
}

void
segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root)
{
	Grouping none = {.k = shape->k, .b = signature_bits(shape)};
	Grouping g = index_grouping(index, shape, root->grouped);
	uint64 logical;

	/* Where the map cannot list its pages, try a sixteenth fewer groups. */
	while (g.groups > 0 && logical_pages_with(root, &g) > logical_pages_max())
	{
		int groups = g.groups - (g.groups + 15) / 16;

		g = groups > 0 ? grouping_with(g.k, g.b, root->grouped, groups) : none;
	}
	logical = logical_pages_with(root, &g);
	if (logical > ROOT_MAP_PAGES * BLOCKS_PER_MAP_PAGE)
		elog(ERROR, "a segment of index \"%s\" has grown to " UINT64_FORMAT " pages",
			 RelationGetRelationName(index), logical);
	root->groups = g.groups;
	root->width = g.width;
	root->wide = g.wide;
	root->bucket_bits = g.bucket_bits;
	root->directory_pages = (uint32) grouping_directory_pages(&g);
	root->posting_pages = (uint32) grouping_posting_pages(&g, root);
	root->map_pages = (uint32) pages_for(logical, BLOCKS_PER_MAP_PAGE);
}

/* Returns whether a segment of so many documents fits into memory and map. */
static bool
fits(Relation index, const SignatureHeader *shape, uint32 documents, Size memory)
{
	/* Before the first signature there are only NULLs, which are in no group. */
	Grouping g = index_grouping(index, shape, shape->k == 0 ? 0 : documents);
	SegmentRoot root = {.documents = documents, .grouped = documents};
	uint64 logical;

	root.document_pages = (uint32) pages_for(documents, documents_per_page(document_stride(shape)));
	logical = logical_pages_with(&root, &g);
	return logical <= logical_pages_max() &&
		group_sort_memory(&root, &g, Min(2, g.groups)) + logical * sizeof(BlockNumber) <= memory;
}

uint32
segment_documents_max(Relation index, const SignatureHeader *shape, Size memory)
{
	uint32 documents;

	memory = Max(memory, MEMORY_LEAST);
	documents = (uint32) Min(memory / BYTES_PER_DOCUMENT, SEGMENT_DOCUMENTS_MAX);
	while (documents > 1 && !fits(index, shape, documents, memory))
		documents -= (documents + 15) / 16;
	return documents;
}

void
segments_too_many(Relation index, const SignatureHeader *shape, Size memory)
{
	bool memory_helps = segment_documents_max(index, shape, memory) <
		segment_documents_max(index, shape, SEGMENT_MEMORY_ANY);

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("index \"%s\" would have too many segments", RelationGetRelationName(index)),
			 memory_helps ?
				 errdetail("A segment holds as many documents as fit in maintenance_work_mem, at 12 bytes each or a little more.") :
				 0,
			 memory_helps ?
				 errhint("Raise maintenance_work_mem, and rebuild the index with REINDEX.") :
				 errhint("Partition the table.")));
}

SegmentEntry
segment_entry(const SegmentWriter *writer)
{
	const SegmentRoot *root = writer->root;
	uint32 root_page = segment_root_page(root);

	return (SegmentEntry){.owner = writer->owner,
						  .root = writer->block_of(writer, root_page),
						  .documents = root->documents,
						  .grouped = root->grouped,
						  .groups = root->groups,
						  .pages = root_page + 1};
}

/* ---- Entries ------------------------------------------------------------ */

/* An array of entries on the pages of one kind. */
typedef struct EntryStream
{
	SegmentWriter *writer;
	PageKind kind;
	uint32 entry_size;
	uint32 per_page;
	uint32 first_page; /* of the kind */
	uint64 next;       /* entry to be put next */
	PGAlignedBlock page;
} EntryStream;

static void
stream_begin(EntryStream *s, SegmentWriter *writer, PageKind kind, uint32 entry_size,
			 uint32 first_page)
{
	s->writer = writer;
	s->kind = kind;
	s->entry_size = entry_size;
	s->per_page = PAGE_ROOM / entry_size;
	s->first_page = first_page;
	s->next = 0;
	page_init(s->page.data, kind, writer->owner);
}

/* Stores the entries that are on the page at hand. */
static void
stream_flush(EntryStream *s)
{
	if (page_trailer(s->page.data)->count == 0)
		return;
	page_set_checksum(s->page.data);
	s->writer->put_page(s->writer, s->first_page + (s->next - 1) / s->per_page, s->page.data);
	page_init(s->page.data, s->kind, s->writer->owner);
}

/* Goes on with another entry. */
static void
stream_seek(EntryStream *s, uint64 entry)
{
	if (s->next == entry)
		return;
	stream_flush(s);
	s->next = entry;
}

/* Puts the next entries, and stores each page that is complete. */
static void
stream_put(EntryStream *s, const void *entries, uint32 count)
{
	const char *from = entries;

	while (count > 0)
	{
		uint32 slot = s->next % s->per_page;
		uint32 n = Min(s->per_page - slot, count);

		memcpy(PageGetContents(s->page.data) + (Size) slot * s->entry_size, from,
			   (Size) n * s->entry_size);
		page_trailer(s->page.data)->count += n;
		s->next += n;
		from += (Size) n * s->entry_size;
		count -= n;
		if (s->next % s->per_page == 0)
			stream_flush(s);
	}
}

/* ---- Groups ------------------------------------------------------------- */

/* The directory goes to its pages while the postings go to theirs. */
bool
segment_write_groups(SegmentWriter *writer)
{
	const SegmentRoot *root = writer->root;
	GroupSort *sort = group_sort_begin(writer);
	bool goes_on = true;
	EntryStream directory;
	EntryStream postings;
	int first;
	int count;

	stream_begin(&directory, writer, PAGE_DIRECTORY, sizeof(uint32), root->document_pages);
	stream_begin(&postings, writer, PAGE_POSTINGS, posting_bytes(root->documents),
				 root->document_pages + root->directory_pages);
	while (goes_on && (count = writer->claim_groups(writer, sort->at_once, &first)) > 0)
	{
		stream_seek(&directory, group_first_offset(&sort->grouping, first));
		stream_seek(&postings, (uint64) first * root->grouped);
		goes_on = group_sort_read(sort, first, count);
		for (int group = first; goes_on && group < first + count; group++)
		{
			uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);

			goes_on = group_sort_run(sort, group);
			if (goes_on)
			{
				stream_put(&directory, sort->offset, buckets + 1);
				stream_put(&postings, sort->postings, root->grouped);
			}
		}
	}
	if (goes_on)
	{
		stream_flush(&directory);
		stream_flush(&postings);
	}
	group_sort_end(sort);
	return goes_on;
}

/* ---- Map and root ------------------------------------------------------- */

void
segment_write_root(SegmentWriter *writer)
{
	const SegmentRoot *root = writer->root;
	uint32 logical = segment_logical_pages(root);
	EntryStream map;
	PGAlignedBlock page;

	stream_begin(&map, writer, PAGE_MAP, sizeof(BlockNumber), logical);
	for (uint32 p = 0; p < logical; p++)
	{
		BlockNumber block = writer->block_of(writer, p);

		stream_put(&map, &block, 1);
	}
	stream_flush(&map);
	page_init(page.data, PAGE_ROOT, writer->owner);
	*page_root(page.data) = *root;
	for (uint32 p = 0; p < root->map_pages; p++)
		page_root_map(page.data)[p] = writer->block_of(writer, logical + p);
	page_set_checksum(page.data);
	writer->put_page(writer, segment_root_page(root), page.data);
}
