/*
 * segment_size.c: how large a segment may be, and what it consists of.
 *
 * Its root lists so many pages of a map, and so the map so many pages; grouping its
 * documents takes memory.  Both bound the documents before any of them is written.
 */
#include "index/segment_sort.h"

#include "index/index.h"

/* Memory less than this is not to be asked for: upkeep and builds use as much. */
#define MEMORY_LEAST ((Size) 1024 * 1024)

/* What a document takes at least while two groups are sorted at once. */
#define BYTES_PER_DOCUMENT 12

/* ---- Pages -------------------------------------------------------------- */

static uint64
pages_for(uint64 entries, uint32 per_page)
{
	return (entries + per_page - 1) / per_page;
}

static uint64
directory_pages(const Grouping *g)
{
	return pages_for(group_first_offset(g, g->groups), OFFSETS_PER_PAGE);
}

static uint64
posting_pages(const SegmentRoot *root, const Grouping *g)
{
	return pages_for((uint64) g->groups * root->grouped, postings_per_page(root->documents));
}

/* Pages that a map lists: of documents, directory and postings. */
static uint64
logical_pages(const SegmentRoot *root, const Grouping *g)
{
	return root->document_pages + directory_pages(g) + posting_pages(root, g);
}

/* The most that a map may list. */
static uint32
logical_pages_max(void)
{
	return Min(ROOT_MAP_PAGES * BLOCKS_PER_MAP_PAGE, (uint32) neardup_segment_pages);
}

/* The next grouping to try, of a sixteenth fewer groups. */
static Grouping
fewer_groups(const Grouping *g, uint32 grouped)
{
	Grouping none = {.k = g->k, .b = g->b};
	int groups = g->groups - (g->groups + 15) / 16;

	return groups > 0 ? grouping_with(g->k, g->b, grouped, groups) : none;
}

Grouping
segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root)
{
	Grouping g = index_grouping(index, shape, root->grouped);
	uint64 logical;

	while (g.groups > 0 && logical_pages(root, &g) > logical_pages_max())
		g = fewer_groups(&g, root->grouped);
	logical = logical_pages(root, &g);
	if (logical > ROOT_MAP_PAGES * BLOCKS_PER_MAP_PAGE)
		elog(ERROR, "a segment of index \"%s\" has grown to " UINT64_FORMAT " pages",
			 RelationGetRelationName(index), logical);
	root_set_grouping(root, &g);
	root->directory_pages = (uint32) directory_pages(&g);
	root->posting_pages = (uint32) posting_pages(root, &g);
	root->map_pages = (uint32) pages_for(logical, BLOCKS_PER_MAP_PAGE);
	return g;
}

/* ---- Documents ---------------------------------------------------------- */

/* Does a segment of so many documents, grouped as suits, keep to memory and map? */
static bool
fits(Relation index, const SignatureHeader *shape, uint32 documents, Size memory)
{
	/* Before the first signature there are only NULLs, in no group. */
	Grouping g = index_grouping(index, shape, shape->k == 0 ? 0 : documents);
	SegmentRoot root = {.documents = documents, .grouped = documents};
	uint64 logical;

	root.document_pages = (uint32) pages_for(documents, documents_per_page(document_stride(shape)));
	logical = logical_pages(&root, &g);
	return logical <= logical_pages_max() &&
		sort_memory(&root, &g, Min(2, g.groups)) + logical * sizeof(BlockNumber) <= memory;
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

const char *
segment_size_hint(Relation index, const SignatureHeader *shape, Size memory)
{
	if (segment_documents_max(index, shape, memory) <
		segment_documents_max(index, shape, SEGMENT_MEMORY_ANY))
		return _("Raise maintenance_work_mem and build the index anew: a segment holds as many documents as fit into it, at 12 bytes each or a little more.");
	return _("Partition the table.");
}
