/*
 * segment_write.c: the layout of a new segment, and the writing of its postings, maps and
 * root.
 */
#include "settings.h"
#include "store/store.h"

#include "miscadmin.h"

#include "base/sort.h"
#include "store/segment_postings.h"
#include "store/sets.h"

/* ---- Layout ------------------------------------------------------------- */

/* The least memory that a segment's size is bounded by. */
#define MEMORY_LEAST ((Size) 1024 * 1024)

/* Bytes that sorting a group takes for each document, at least. */
#define BYTES_PER_DOCUMENT (2 * sizeof(uint32))

/*
 * Chooses the grouping of a segment whose documents are on their pages: as many groups as
 * suit it.
 */
void
segment_lay_out(Relation index, const SignatureHeader *shape, SegmentRoot *root)
{
	Grouping g = shape_is_set(shape) ?
		grouping_with_keys(set_grouping(shape->k, root->grouped, root->elements), index_keys(index),
						   root_keyed(root)) :
		index_grouping(index, shape, root->grouped, root_keyed(root));

	root->groups = g.groups;
	root->width = g.width;
	root->wide = g.wide;
	root->bucket_bits = g.bucket_bits;
	root->keys = g.keys;
	root->key_bits = g.key_bits;
}

/* Returns whether `documents` documents fit into a segment that is sorted in `memory` bytes. */
static bool
fits(Relation index, const SignatureHeader *shape, uint32 documents, Size memory)
{
	/* Before the first signature there are only NULLs, which are in no group. */
	Grouping g = index_grouping(index, shape, shape->k == 0 ? 0 : documents, documents);
	double pages =
		(double) documents / documents_per_page(document_stride(shape, index_keys(index))) +
		postings_estimate(&g, documents) / PAGE_ROOM;

	return pages <= neardup_segment_pages &&
		group_sort_memory(documents, &g, Min(1, grouping_lists(&g))) <= memory;
}

/*
 * Returns the most documents that a new segment may have, so that they can be sorted in `memory`
 * bytes, or in a megabyte if that is more.
 */
uint32
segment_documents_max(Relation index, const SignatureHeader *shape, Size memory)
{
	uint32 documents;

	memory = Max(memory, MEMORY_LEAST);
	if (shape_is_set(shape))
		return (uint32) Min(memory / SET_BYTES_PER_DOCUMENT, SET_DOCUMENTS_MAX);
	documents = (uint32) Min(memory / BYTES_PER_DOCUMENT, SEGMENT_NUMBERS_MAX);
	while (documents > 1 && !fits(index, shape, documents, memory))
		documents -= (documents + 15) / 16;
	return documents;
}

/* Reports that the metapage has no room for more segments of such a size. */
void
segments_too_many(Relation index, const SignatureHeader *shape, Size memory)
{
	bool memory_helps = segment_documents_max(index, shape, memory) <
		segment_documents_max(index, shape, SEGMENT_MEMORY_ANY);

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("index \"%s\" would have too many segments", RelationGetRelationName(index)),
			 memory_helps ?
				 errdetail("A segment holds as many documents as fit in maintenance_work_mem, at 8 bytes each or a little more.") :
				 0,
			 memory_helps ?
				 errhint("Raise maintenance_work_mem, and rebuild the index with REINDEX.") :
				 errhint("Partition the table.")));
}

/* ---- Maps --------------------------------------------------------------- */

/* A map that is being filled. */
typedef struct MapWriter
{
	SegmentWriter *writer;
	PGAlignedBlock page;
} MapWriter;

static void
map_begin(MapWriter *maps, SegmentWriter *writer)
{
	maps->writer = writer;
	page_init(maps->page.data, PAGE_MAP, writer->stamp);
}

/* Writes the map if it has entries.  Returns its entry in the root's list. */
static MapEntry
map_flush(MapWriter *maps)
{
	Page page = maps->page.data;
	MapEntry entry = {.number = page_map(page)[0].number, .block = InvalidBlockNumber};

	if (page_info(page)->count == 0)
		return entry;
	page_cut_zeros(page);
	entry.block = maps->writer->put_page(maps->writer, page);
	page_init(page, PAGE_MAP, maps->writer->stamp);
	return entry;
}

/* Adds an entry, and writes the map if it is full.  Returns what map_flush() does. */
static MapEntry
map_add(MapWriter *maps, MapEntry entry)
{
	PageInfo *info = page_info(maps->page.data);

	page_map(maps->page.data)[info->count++] = entry;
	if (info->count == ENTRIES_PER_MAP)
		return map_flush(maps);
	return (MapEntry){.block = InvalidBlockNumber};
}

/* ---- Postings ----------------------------------------------------------- */

/* The postings of buckets on pages, and maps of these. */
typedef struct PostingsWriter
{
	SegmentWriter *writer;
	MapWriter maps;
	uint32 numbers;
	PostingsPage page;
} PostingsWriter;

/* A bucket with a longer code is cut, to fill a page. */
#define CODE_TO_CUT (PAGE_ROOM / 8)

static void
postings_begin(PostingsWriter *p, SegmentWriter *writer)
{
	p->writer = writer;
	p->numbers = root_numbers(writer->root);
	p->page.buckets = 0;
	p->page.used = 0;
	map_begin(&p->maps, writer);
}

/* Writes the page at hand. */
static void
postings_flush(PostingsWriter *p)
{
	PGAlignedBlock page;
	BlockNumber block;

	if (p->page.buckets == 0)
		return;
	postings_finish(&p->page, page.data, p->writer->stamp);
	block = p->writer->put_page(p->writer, page.data);
	map_add(&p->maps, (MapEntry){.number = p->page.first, .block = block});
	p->page.buckets = 0;
	p->page.used = 0;
}

/*
 * Adds the documents of a bucket.  Goes on with another page where the code does not fit,
 * and cuts a long one.
 */
static void
put_bucket(PostingsWriter *p, uint32 bucket, const uint32 *document, Size n)
{
	uint32 continues = 0;

	/* A page begins with a bucket that has documents. */
	if (n == 0 && p->page.buckets == 0)
		return;
	for (;;)
	{
		int room = postings_room(&p->page);
		Size size = postings_size(document, n, p->numbers);
		Size part = n;

		if ((int) size > room)
			part = size > CODE_TO_CUT && room > (int) CODE_TO_CUT ?
				postings_fit(document, n, p->numbers, room) :
				0;
		if (part > 0 || (n == 0 && room >= 0))
		{
			if (p->page.buckets == 0)
				p->page.first = bucket | continues;
			postings_add(&p->page, document, part, p->numbers);
			document += part;
			n -= part;
			continues = BUCKET_CONTINUES;
		}
		if (n == 0)
			return;
		postings_flush(p);
	}
}

/* Writes the buckets of a group that have been sorted. */
static void
put_group(PostingsWriter *p, const GroupSort *sort, int group)
{
	uint32 first = (uint32) group_first_bucket(&sort->grouping, group);
	uint32 end = group_sort_end_of(sort, group);

	for (uint32 v = group_sort_from(sort, group); v < end; v++)
		put_bucket(p, first + v, sort->document + sort->offset[v],
				   sort->offset[v + 1] - sort->offset[v]);
}

/* Returns whether a claimed group is still to be written, or goes on. */
static bool
keeps_group(const GroupSort *sort, int group)
{
	SegmentWriter *writer = sort->writer;

	return group_sort_from(sort, group) > 0 || writer->keeps_group == NULL ||
		writer->keeps_group(writer, group);
}

/*
 * Sorts and writes the groups that have been read.  Sets *group to the first that is not; false if
 * writing was abandoned.
 */
static bool
write_groups(PostingsWriter *p, GroupSort *sort, int *group, BucketLengths *lengths)
{
	for (; *group < sort->first + sort->count; (*group)++)
	{
		if (!keeps_group(sort, *group))
			break;
		if (!group_sort_run(sort, *group))
			return false;
		if (*group < sort->grouping.groups)
		{
			if (sort->sets != NULL)
				set_sort_lengths(sort, *group, lengths);
			else
				group_sort_lengths(sort, *group, lengths);
		}
		put_group(p, sort, *group);
	}
	return true;
}

/* Sorts and writes some groups, at most at_once, and of sets as many at a time as memory holds. */
static bool
write_claimed(PostingsWriter *p, GroupSort *sort, int group, int end, BucketLengths *lengths)
{
	uint32 from = 0;

	while (group < end)
	{
		int last;

		if (!group_sort_read(sort, group, end - group, from) ||
			!write_groups(p, sort, &group, lengths))
			return false;
		last = sort->first + sort->count;
		/* Another participant has taken over the rest. */
		if (group < last)
			return true;
		from = 0;
		if (sort->end < UINT32_C(1) << group_bucket_bits(&sort->grouping, sort->first))
		{
			group = sort->first;
			from = sort->end;
		}
	}
	return true;
}

/*
 * Sorts and writes the groups that the writer claims, and adds to the lengths of buckets; false
 * if that was abandoned.
 */
bool
segment_write_groups(SegmentWriter *writer, BucketLengths *lengths)
{
	GroupSort *sort = group_sort_begin(writer);
	PostingsWriter *p = palloc(sizeof(PostingsWriter));
	bool goes_on = true;
	int first;
	int count;

	while (goes_on && (count = writer->claim_groups(writer, sort->at_once, &first)) > 0)
	{
		postings_begin(p, writer);
		goes_on = write_claimed(p, sort, first, first + count, lengths);
		postings_flush(p);
		map_flush(&p->maps);
	}
	pfree(p);
	group_sort_end(sort);
	return goes_on;
}

/* ---- Root --------------------------------------------------------------- */

/*
 * Returns the block of a page of documents and its stamp, or the size of its first set; after
 * these, the block of a page of elements.
 */
MapEntry
segment_document_page(const SegmentWriter *writer, uint32 number)
{
	uint32 element = number - writer->root->document_pages;

	if (number >= writer->root->document_pages)
		return writer->elements != NULL ? writer->elements[element] :
										  (MapEntry){.block = writer->first_element + element};
	if (writer->documents != NULL)
		return writer->documents[number];
	return (MapEntry){.number = writer->stamp, .block = writer->first_document + number};
}

/* The list of a segment's maps. */
typedef struct MapList
{
	MapEntry *entry;
	uint32 count;
	Size room;
} MapList;

static void
list_map(MapList *list, MapEntry entry)
{
	if (entry.block == InvalidBlockNumber)
		return;
	list->entry = host_grow(list->entry, &list->room, list->count + 1, sizeof(MapEntry));
	list->entry[list->count++] = entry;
}

/* Writes the maps of documents, and of elements of sets. */
static void
write_document_maps(SegmentWriter *writer, MapList *list)
{
	MapWriter *maps = palloc(sizeof(MapWriter));

	map_begin(maps, writer);
	for (uint32 p = 0; p < root_listed_pages(writer->root); p++)
		list_map(list, map_add(maps, segment_document_page(writer, p)));
	list_map(list, map_flush(maps));
	writer->root->document_maps = list->count;
	pfree(maps);
}

/* A map of postings, and when it was written. */
typedef struct WrittenMap
{
	MapEntry entry;
	uint32 age;
} WrittenMap;

/*
 * A SortKey of maps: by the first bucket.  Of those that go on with the same bucket, the one written
 * first comes first, since one process has written them all.
 */
static inline uint64
key_of_map(const void *record)
{
	const WrittenMap *map = record;

	return (uint64) bucket_of_number(map->entry.number) << 32 | (PG_UINT32_MAX - map->age);
}

/* Adds the maps of postings, which follow each other by their links, youngest first. */
static void
list_posting_maps(SegmentWriter *writer, BlockNumber block, MapList *list)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(writer->index);
	Size room = 0;
	uint32 count = 0;
	WrittenMap *map = NULL;

	writer->root->posting_pages = 0;
	while (block != InvalidBlockNumber)
	{
		Buffer buffer = page_read(writer->index, block, PAGE_MAP, writer->stamp);
		Page page;

		if (!BufferIsValid(buffer))
			page_corrupt(writer->index, block, "map of a segment that is being written is gone");
		if (count == blocks)
			page_corrupt(writer->index, block, "maps are linked in a circle");
		page = BufferGetPage(buffer);
		map = host_grow(map, &room, count + 1, sizeof(WrittenMap));
		map[count].entry = (MapEntry){.number = page_map(page)[0].number, .block = block};
		map[count].age = count;
		count++;
		writer->root->posting_pages += page_info(page)->count;
		block = page_info(page)->next;
		UnlockReleaseBuffer(buffer);
		if (!writer->goes_on(writer))
			break;
	}
	if (count > 0)
		sort_records(map, count, sizeof(WrittenMap), key_of_map);
	for (uint32 i = 0; i < count; i++)
		list_map(list, map[i].entry);
	writer->root->posting_maps = count;
	host_free(map);
}

/* Writes the root pages, the last one first, since each has a link to the next. */
static BlockNumber
write_root_pages(SegmentWriter *writer, const MapList *list)
{
	uint32 pages = root_pages(writer->root);
	BlockNumber block = InvalidBlockNumber;

	for (uint32 p = pages; p-- > 0;)
	{
		PGAlignedBlock page;
		RootList part = root_list(writer->root, p);

		page_init(page.data, PAGE_ROOT, writer->stamp);
		page_info(page.data)->count = (uint16) part.count;
		page_info(page.data)->next = block;
		if (p == 0)
			*page_root(page.data) = *writer->root;
		memcpy(page_contents(page.data) + part.offset, list->entry + part.first,
			   part.count * sizeof(MapEntry));
		page_cut_zeros(page.data);
		block = writer->put_page(writer, page.data);
	}
	return block;
}

/* Returns a mean; rounding does not make it greater than all lengths. */
static float
mean_length(uint64 sum, uint64 samples)
{
	return (float) ((double) sum / samples);
}

/*
 * Writes the maps of documents and the root, when all groups are written; last_map is the map
 * written last.  Returns the segment's entry in the metapage, without the stamps of its documents.
 */
SegmentEntry
segment_write_root(SegmentWriter *writer, BlockNumber last_map, const BucketLengths *lengths)
{
	SegmentRoot *root = writer->root;
	MapList list = {.room = 64};
	SegmentEntry entry = {.stamp = writer->stamp,
						  .documents = root->documents,
						  .grouped = root->grouped,
						  .empty = root->empty,
						  .nulls = root->nulls,
						  .groups = root->groups,
						  .document_pages = root->document_pages};

	list.entry = palloc(list.room * sizeof(MapEntry));
	write_document_maps(writer, &list);
	list_posting_maps(writer, last_map, &list);
	if (lengths->samples > 0)
	{
		entry.own_length = root->own_length = mean_length(lengths->own, lengths->samples);
		entry.near_length = root->near_length = mean_length(lengths->near, lengths->samples);
	}
	if (shape_is_set(writer->shape) && root->grouped > 0)
		entry.near_length = root->near_length = (float) ((double) root->elements / root->grouped);
	entry.root = write_root_pages(writer, &list);
	entry.other_pages = root_other_pages(root);
	pfree(list.entry);
	return entry;
}
