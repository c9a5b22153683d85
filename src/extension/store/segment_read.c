/*
 * segment_read.c: read segments: the cache of their maps, and their pages.
 *
 * Segments never change, so a backend caches the maps that its searches need, up to
 * neardup.cache_size.  The key is the file, the index's identity and the segment's stamp
 * number, which is never used twice in an index.  The file is part of it because ALTER INDEX
 * ... SET TABLESPACE copies an index: if that is rolled back, two files may have given the
 * same number to different segments.  The identity is, because an index may be built again
 * in the same file.
 */
#include "store/segment_read.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/sort.h"
#include "settings.h"
#include "store/store.h"

static Segment *cache = NULL;
static Size cache_bytes = 0;
static uint64 cache_clock = 0;

/* ---- The cache ---------------------------------------------------------- */

static void
evict(Segment *segment)
{
	Segment **link = &cache;

	while (*link != segment)
		link = &(*link)->next;
	*link = segment->next;
	cache_bytes -= segment->bytes;
	MemoryContextDelete(GetMemoryChunkContext(segment));
}

/* Returns whether a cached segment is the one listed, in case the key is not unique after all. */
static bool
segment_is_listed(const Segment *s, const IndexMeta *meta, const SegmentEntry *entry)
{
	return !s->replaced && s->root_block == entry->root &&
		s->root.document_pages == entry->document_pages &&
		root_other_pages(&s->root) == entry->other_pages && s->root.documents == entry->documents &&
		s->root.grouped == entry->grouped && s->root.empty == entry->empty &&
		s->root.nulls == entry->nulls && (uint32) s->root.groups == entry->groups &&
		s->grouping.k == meta->shape.k && s->grouping.b == signature_bits(&meta->shape);
}

static Segment *
find_cached(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	Segment *next;

	for (Segment *s = cache; s != NULL; s = next)
	{
		next = s->next;
		if (s->stamp != entry->stamp || s->identity != meta->identity ||
			!compat_same_file(s->file, compat_file(index)))
			continue;
		if (segment_is_listed(s, meta, entry))
			return s;
		evict(s);
	}
	return NULL;
}

/* Evicts the least recently used segments until the cache has room for `bytes` bytes. */
static void
segment_make_room(Size bytes)
{
	while (cache != NULL && cache_bytes + bytes > (Size) neardup_cache_size * 1024)
	{
		Segment *oldest = cache;

		for (Segment *s = cache; s != NULL; s = s->next)
			if (s->last_used < oldest->last_used)
				oldest = s;
		evict(oldest);
	}
}

/* ---- Loading ------------------------------------------------------------ */

/*
 * Returns whether every group has symbols, no symbol is in two groups, and every group's
 * value fits in 64 bits; or, if a segment holds sets, whether it is a grouping of these.
 */
static bool
grouping_is_valid(const Grouping *g, bool sets)
{
	if (g->groups == 0)
		return true;
	if (sets)
		return set_grouping_is_valid(g);
	return g->groups > 0 && g->groups <= GROUPS_MAX && g->bucket_bits >= 1 &&
		g->bucket_bits <= BUCKET_BITS_MAX && g->width >= 1 && g->width <= g->k && g->wide >= 0 &&
		g->wide <= g->groups && (g->width + (g->wide > 0)) * g->b <= 64 &&
		g->groups * g->width + g->wide <= g->k;
}

/* Returns whether a segment has no keys or all, with buckets that can be numbered. */
static bool
keys_are_valid(const Grouping *g, uint32 keys)
{
	if (g->keys == 0)
		return g->key_bits == 0;
	return (uint32) g->keys == keys && g->key_bits >= 1 && g->key_bits <= BUCKET_BITS_MAX;
}

/* Checks a root against the metapage, and its numbers against one another. */
static void
check_root(Relation index, const SegmentEntry *entry, const Segment *s)
{
	const SegmentRoot *root = &s->root;

	if (root->documents != entry->documents || root->grouped != entry->grouped ||
		root->empty != entry->empty || root->nulls != entry->nulls)
		page_corrupt(index, entry->root, "segment and metapage disagree on its documents");
	if ((uint32) root->groups != entry->groups)
		page_corrupt(index, entry->root, "segment and metapage disagree on its groups");
	if (!grouping_is_valid(&s->grouping, s->sets) ||
		!keys_are_valid(&s->grouping, index_keys(index)) ||
		group_first_bucket(&s->grouping, root_lists(root)) >= BUCKET_CONTINUES)
		page_corrupt(index, entry->root, "impossible grouping");
	if ((uint64) root->document_pages * s->documents_per_page > SEGMENT_NUMBERS_MAX ||
		root->documents > root->document_pages * s->documents_per_page ||
		root->element_pages > (s->sets ? RelationGetNumberOfBlocks(index) : 0) ||
		root->document_maps != pages_for(root_listed_pages(root), ENTRIES_PER_MAP) ||
		root->posting_pages > (uint64) root->posting_maps * ENTRIES_PER_MAP ||
		root->posting_pages < root->posting_maps ||
		(root_postings(root) > 0) != (root->posting_maps > 0))
		page_corrupt(index, entry->root, "impossible number of pages");
	if ((uint64) root->document_pages + root_other_pages(root) > RelationGetNumberOfBlocks(index))
		page_corrupt(index, entry->root, "segment larger than the index");
	if (root->document_pages != entry->document_pages ||
		root_other_pages(root) != entry->other_pages)
		page_corrupt(index, entry->root, "segment and metapage disagree on its pages");
}

/* Copies the entries of a root page, by its number, to the list of maps. */
static void
load_root_list(Relation index, Buffer buffer, Segment *s, uint32 number)
{
	Page page = BufferGetPage(buffer);
	RootList part = root_list(&s->root, number);

	if (page_info(page)->count != part.count)
		page_corrupt(index, BufferGetBlockNumber(buffer), "list of maps of another length");
	memcpy(s->list + part.first, page_contents(page) + part.offset, part.count * sizeof(MapEntry));
}

/* Reads the list of maps from the root, which is locked, and from the root pages after it. */
static bool
load_list(Relation index, Segment *s, Buffer buffer)
{
	uint32 pages = root_pages(&s->root);
	const MapEntry *map;

	s->list = palloc_extended(root_maps(&s->root) * sizeof(MapEntry) + 1, MCXT_ALLOC_HUGE);
	s->root_page = palloc(pages * sizeof(BlockNumber));
	s->root_page[0] = s->root_block;
	load_root_list(index, buffer, s, 0);
	for (uint32 p = 1; p < pages; p++)
	{
		s->root_page[p] = page_info(BufferGetPage(buffer))->next;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		buffer = page_read(index, s->root_page[p], PAGE_ROOT, s->stamp);
		if (!BufferIsValid(buffer))
			return false;
		load_root_list(index, buffer, s, p);
	}
	UnlockReleaseBuffer(buffer);
	map = s->list + s->root.document_maps;
	for (uint32 i = 1; i < s->root.posting_maps; i++)
		if (bucket_of_number(map[i].number) < bucket_of_number(map[i - 1].number))
			page_corrupt(index, s->root_block, "maps out of order");
	return true;
}

/* Reads the root: sets root, list, and what follows from them. */
bool
segment_load_root(Relation index, const IndexMeta *meta, const SegmentEntry *entry, Segment *s)
{
	Buffer buffer = page_read(index, entry->root, PAGE_ROOT, entry->stamp);

	if (!BufferIsValid(buffer))
		return false;
	s->stamp = entry->stamp;
	s->root_block = entry->root;
	s->root = *page_root(BufferGetPage(buffer));
	if (s->root.stride != meta_stride(meta) &&
		(s->root.stride != stride_of_nulls(meta->keys) || s->root.grouped > 0))
		page_corrupt(index, entry->root, "segment of signatures of another length");
	s->sets = shape_is_set(&meta->shape) && s->root.stride == meta_stride(meta);
	s->grouping = root_grouping(&s->root, &meta->shape);
	s->documents_per_page = documents_per_page(s->root.stride);
	check_root(index, entry, s);
	s->numbers = root_numbers(&s->root);
	return load_list(index, s, buffer);
}

/*
 * Returns the last of the maps of postings from `low` on, before `end`, that begins with a bucket or
 * before it; `low` if none does.
 */
static uint32
last_map_from(const Segment *s, uint32 low, uint32 end, uint32 bucket)
{
	const MapEntry *map = s->list + s->root.document_maps;
	uint32 next = low + 1;

	SEARCH_SORTED(next, end, bucket_of_number(map[middle].number) <= bucket);
	return next - 1;
}

/*
 * A backend remembers where the pages of this number of maps of a segment were last, in 2 MB.  Of
 * more maps, some share this memory, so that a page takes the place of another.
 */
#define RECENT_MAPS 512

/* Computes where the groups' buckets begin, and in which map. */
static void
locate_groups(Segment *s)
{
	int lists = grouping_lists(&s->grouping);

	s->first_bucket = palloc((lists + 1) * sizeof(uint32));
	s->first_map = palloc((lists + 1) * sizeof(uint32));
	for (int g = 0; g <= lists; g++)
	{
		s->first_bucket[g] = (uint32) group_first_bucket(&s->grouping, g);
		s->first_map[g] = s->root.posting_maps == 0 ?
			0 :
			last_map_from(s, g == 0 ? 0 : s->first_map[g - 1], s->root.posting_maps,
						  s->first_bucket[g]);
	}
	s->map = palloc0(root_maps(&s->root) * sizeof(CachedMap *) + 1);
	s->recent = palloc0(Min(root_maps(&s->root), RECENT_MAPS) * sizeof(Buffer *) + 1);
	s->bytes = sizeof(Segment) + root_maps(&s->root) * (sizeof(MapEntry) + sizeof(CachedMap *)) +
		(lists + 1) * 2 * sizeof(uint32);
}

/* The share of its pages that have to be read in, as a guess, if the root had to be. */
#define SHARE_IF_COLD 0.5

/* Reads a segment into the cache; returns NULL if maintenance has replaced it. */
static Segment *
load_segment(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup segment", ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Segment *s = palloc0(sizeof(Segment));
	int64 before_read = pages_read_in();
	bool loaded;

	s->file = compat_file(index);
	s->identity = meta->identity;
	loaded = segment_load_root(index, meta, entry, s);
	if (loaded)
		locate_groups(s);
	if (pages_read_in() != before_read)
		s->page_price.share = SHARE_IF_COLD;
	MemoryContextSwitchTo(before);
	if (!loaded)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	MemoryContextSetParent(context, TopMemoryContext);
	cache_bytes += s->bytes;
	s->next = cache;
	cache = s;
	return s;
}

/*
 * Opens a segment, from this backend's cache or from its pages.  Returns NULL if maintenance has
 * replaced it.  The result is valid until the next call.
 */
Segment *
segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	Segment *s = find_cached(index, meta, entry);

	/* The segments opened before may have loaded maps. */
	if (cache_bytes > (Size) neardup_cache_size * 1024)
	{
		segment_make_room(0);
		s = find_cached(index, meta, entry);
	}
	if (s == NULL)
		s = load_segment(index, meta, entry);
	if (s != NULL)
		s->last_used = ++cache_clock;
	return s;
}

/* ---- Maps --------------------------------------------------------------- */

/*
 * Locks a map and checks it.  Its blocks must exist, since they may be prefetched.  Its
 * entries of postings must ascend from the number in the root's list.
 */
Buffer
segment_read_map(Relation index, const Segment *s, uint32 map)
{
	BlockNumber block = s->list[map].block;
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	Buffer buffer = page_read(index, block, PAGE_MAP, s->stamp);
	const MapEntry *entry;
	uint32 count;

	if (!BufferIsValid(buffer))
		return buffer;
	entry = page_map(BufferGetPage(buffer));
	count = page_info(BufferGetPage(buffer))->count;
	if (count == 0 || count > ENTRIES_PER_MAP || entry[0].number != s->list[map].number ||
		(map < s->root.document_maps &&
		 count != Min(ENTRIES_PER_MAP, root_listed_pages(&s->root) - map * ENTRIES_PER_MAP)))
		page_corrupt(index, block, "not the map that the root lists");
	for (uint32 i = 0; i < count; i++)
		if (entry[i].block >= blocks)
			page_corrupt(index, block, "map of blocks that do not exist");
	for (uint32 i = 1; map >= s->root.document_maps && i < count; i++)
		if (bucket_of_number(entry[i].number) < bucket_of_number(entry[i - 1].number))
			page_corrupt(index, block, "map out of order");
	return buffer;
}

/* Allocates memory of a segment, and counts it. */
static void *
cache_alloc(Segment *s, Size bytes)
{
	s->bytes += bytes;
	cache_bytes += bytes;
	return MemoryContextAllocZero(GetMemoryChunkContext(s), bytes);
}

/* Returns for how many pages a map, or all maps that share `recent` with it, remember buffers. */
static uint32
recent_slots(const Segment *s, const CachedMap *map)
{
	return root_maps(&s->root) > RECENT_MAPS ? ENTRIES_PER_MAP : map->count;
}

/* Reads a map into the cache. */
static CachedMap *
load_map(Relation index, Segment *s, uint32 map)
{
	Buffer buffer = segment_read_map(index, s, map);
	Buffer **recent = &s->recent[map % RECENT_MAPS];
	CachedMap *cached;
	Page page;

	if (!BufferIsValid(buffer))
	{
		s->replaced = true;
		return NULL;
	}
	page = BufferGetPage(buffer);
	cached = map_pack(page_map(page), page_info(page)->count);
	UnlockReleaseBuffer(buffer);
	if (*recent == NULL)
		*recent = cache_alloc(s, recent_slots(s, cached) * sizeof(Buffer));
	cached->recent = *recent;
	s->map[map] = memcpy(cache_alloc(s, map_bytes(cached)), cached, map_bytes(cached));
	pfree(cached);
	return s->map[map];
}

/* Returns a map, or NULL if maintenance has replaced the segment. */
static CachedMap *
segment_map(Relation index, Segment *s, uint32 map)
{
	return s->map[map] != NULL ? s->map[map] : load_map(index, s, map);
}

/* ---- Documents ---------------------------------------------------------- */

/* Returns the slot of a page of documents, without a block if its map is not in the cache. */
MapSlot
segment_documents_slot(const Segment *segment, uint32 page)
{
	const CachedMap *map = segment->map[page / ENTRIES_PER_MAP];

	return map == NULL ? (MapSlot){.block = InvalidBlockNumber} :
						 map_slot(map, page % ENTRIES_PER_MAP);
}

/* Notes that maintenance has replaced a segment if there is no page.  Returns the page. */
static Buffer
page_or_replaced(Segment *segment, Buffer buffer)
{
	if (!BufferIsValid(buffer))
		segment->replaced = true;
	return buffer;
}

/*
 * Pins and share-locks a page of documents, by its number, or of elements, whose numbers come next.
 * Returns InvalidBuffer if maintenance has replaced the segment.  Checks each time what is used as a
 * bound.
 */
Buffer
segment_documents(Relation index, Segment *segment, uint32 page)
{
	PageKind kind = page < segment->root.document_pages ? PAGE_DOCUMENTS : PAGE_ELEMENTS;
	CachedMap *map = segment_map(index, segment, page / ENTRIES_PER_MAP);
	MapSlot slot;
	Buffer buffer;

	if (map == NULL)
		return InvalidBuffer;
	slot = map_slot(map, page % ENTRIES_PER_MAP);
	buffer = page_read_recent(index, slot.block, kind, segment->sets ? segment->stamp : slot.number,
							  segment->stamp, slot.recent);
	if (!BufferIsValid(page_or_replaced(segment, buffer)))
		return buffer;
	if (kind == PAGE_ELEMENTS)
		page_check_documents(index, buffer, 0);
	else if (page_info(BufferGetPage(buffer))->count > segment->documents_per_page)
		page_corrupt(index, slot.block, "more documents than fit");
	return buffer;
}

/* Pins and share-locks a page of elements of sets, by its number, as segment_documents() does. */
Buffer
segment_elements(Relation index, Segment *segment, uint32 page)
{
	if (page >= segment->root.element_pages)
		page_corrupt(index, segment->root_block, "set on a page that does not exist");
	return segment_documents(index, segment, segment->root.document_pages + page);
}

/*
 * Sets the size of the first set on a page of documents, as its map says; false if maintenance has
 * replaced the segment.
 */
bool
segment_size_of_page(Relation index, Segment *segment, uint32 page, uint32 *size)
{
	CachedMap *map;

	if (page % ENTRIES_PER_MAP == 0)
	{
		*size = segment->list[page / ENTRIES_PER_MAP].number;
		return true;
	}
	map = segment_map(index, segment, page / ENTRIES_PER_MAP);
	if (map == NULL)
		return false;
	*size = map_number(map, page % ENTRIES_PER_MAP);
	return true;
}

/* ---- Postings ----------------------------------------------------------- */

/* Returns in which map of postings a bucket of a group begins. */
uint32
segment_map_of(const Segment *s, int group, uint32 number)
{
	return last_map_from(s, s->first_map[group], s->first_map[group + 1] + 1, number);
}

/* Prefetches where a cached map is likely to have a bucket. */
void
segment_prefetch_position(const Segment *segment, uint32 map, uint32 number)
{
	const CachedMap *cached = segment->map[segment->root.document_maps + map];

	if (cached != NULL)
		map_prefetch(cached, number);
}

/*
 * Finds the page where a bucket begins, or would begin; map is where segment_map_of says.
 * Returns false if maintenance has replaced the segment.
 */
bool
segment_find(Relation index, Segment *segment, uint32 map, uint32 number, PostingPosition *position)
{
	CachedMap *cached;

	position->map = map;
	cached = segment_map(index, segment, segment->root.document_maps + position->map);
	if (cached == NULL)
		return false;
	position->slot = map_find(cached, number);
	/* A bucket of several pages begins on the first of them. */
	while (map_number(cached, position->slot) == (number | BUCKET_CONTINUES))
	{
		if (position->slot > 0)
			position->slot--;
		else if (position->map == 0)
			break;
		else
		{
			position->map--;
			cached = segment_map(index, segment, segment->root.document_maps + position->map);
			if (cached == NULL)
				return false;
			position->slot = cached->count - 1;
		}
	}
	position->page = map_slot(cached, position->slot);
	return true;
}

/*
 * Moves to the next page of postings.  Returns false if there is none, or if maintenance has
 * replaced the segment.
 */
bool
segment_next(Relation index, Segment *segment, PostingPosition *position)
{
	const CachedMap *map;

	if (segment_at_end_of_map(segment, *position))
		*position = (PostingPosition){.map = position->map + 1};
	else
		position->slot++;
	if (position->map == segment->root.posting_maps)
		return false;
	map = segment_map(index, segment, segment->root.document_maps + position->map);
	if (map == NULL)
		return false;
	position->page = map_slot(map, position->slot);
	return true;
}

/*
 * Moves to the next page if it goes on with a bucket, named by its number among all.  Returns
 * false if it does not, or if maintenance has replaced the segment.
 */
bool
segment_goes_on(Relation index, Segment *segment, uint32 number, PostingPosition *position)
{
	uint32 next_map = segment->root.document_maps + position->map + 1;

	if (!segment_at_end_of_map(segment, *position))
	{
		const CachedMap *cached = segment->map[segment->root.document_maps + position->map];

		if (map_number(cached, position->slot + 1) != (number | BUCKET_CONTINUES))
			return false;
	}
	/* The list tells whether the next map is needed at all. */
	else if (next_map == root_maps(&segment->root) ||
			 segment->list[next_map].number != (number | BUCKET_CONTINUES))
		return false;
	return segment_next(index, segment, position);
}

/* Pins and share-locks a page of postings, as segment_documents() does. */
Buffer
segment_postings(Relation index, Segment *segment, const PostingPosition *position)
{
	return page_or_replaced(segment,
							page_read_recent(index, position->page.block, PAGE_POSTINGS,
											 segment->stamp, segment->stamp,
											 position->page.recent));
}
