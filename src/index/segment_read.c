/*
 * segment_read.c: read segments: the cache of their maps and directories, and their pages.
 *
 * Segments never change, so a backend caches the map and the directory of those it uses, up
 * to neardup.cache_size.  The key is the file, the index's identity and the segment's owner
 * number, which is never used twice in an index.  The file is part of it because ALTER INDEX
 * ... SET TABLESPACE copies an index: if that is rolled back, two files may have given the
 * same number to different segments.  The identity is, because an index may be built again
 * in the same file.
 */
#include "index/segment.h"

#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "utils/memutils.h"

#include "index/index.h"

#define CACHE_LINE 64

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

void
segments_forget(const IndexMeta *meta)
{
	Segment *next;

	for (Segment *s = cache; s != NULL; s = next)
	{
		next = s->next;
		if (s->identity == meta->identity)
			evict(s);
	}
}

/* Returns whether a cached segment is the one listed, in case the key is not unique after all. */
static bool
is_listed(const Segment *s, const IndexMeta *meta, const SegmentEntry *entry)
{
	return s->root_block == entry->root && segment_root_page(&s->root) + 1 == entry->pages &&
		s->root.documents == entry->documents && s->root.grouped == entry->grouped &&
		(uint32) s->root.groups == entry->groups && s->grouping.k == meta->shape.k &&
		s->grouping.b == signature_bits(&meta->shape);
}

static Segment *
find_cached(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	Segment *next;

	for (Segment *s = cache; s != NULL; s = next)
	{
		next = s->next;
		if (s->owner != entry->owner || s->identity != meta->identity ||
			!compat_same_file(s->file, compat_file(index)))
			continue;
		if (is_listed(s, meta, entry))
			return s;
		evict(s);
	}
	return NULL;
}

/* Evicts the least recently used segments until the cache has room for so many bytes. */
static void
make_room(Size bytes)
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
 * value fits in 64 bits.
 */
static bool
grouping_is_valid(const Grouping *g)
{
	if (g->groups == 0)
		return true;
	return g->groups > 0 && g->groups <= GROUPS_MAX && g->bucket_bits >= 1 &&
		g->bucket_bits <= BUCKET_BITS_MAX && g->width >= 1 && g->width <= g->k && g->wide >= 0 &&
		g->wide <= g->groups && (g->width + (g->wide > 0)) * g->b <= 64 &&
		g->groups * g->width + g->wide <= g->k;
}

/* Checks a root page against the metapage, and its numbers against one another. */
static void
check_root(Relation index, const SegmentEntry *entry, const Segment *s)
{
	const SegmentRoot *root = &s->root;

	if (root->documents != entry->documents || root->grouped != entry->grouped ||
		root->grouped > root->documents || root->documents > SEGMENT_DOCUMENTS_MAX)
		page_corrupt(index, entry->root, "segment and metapage disagree on its documents");
	if ((uint32) root->groups != entry->groups)
		page_corrupt(index, entry->root, "segment and metapage disagree on its groups");
	if (!grouping_is_valid(&s->grouping) ||
		group_first_offset(&s->grouping, root->groups) > PG_UINT32_MAX)
		page_corrupt(index, entry->root, "impossible grouping");
	if (root->map_pages > ROOT_MAP_PAGES ||
		root->document_pages != pages_for(root->documents, s->documents_per_page) ||
		(uint64) root->document_pages + root->directory_pages + root->posting_pages +
				root->map_pages + 1 !=
			entry->pages)
		page_corrupt(index, entry->root, "segment and metapage disagree on its pages");
	if (root->directory_pages != grouping_directory_pages(&s->grouping) ||
		root->posting_pages != grouping_posting_pages(&s->grouping, root))
		page_corrupt(index, entry->root, "segment with a directory or postings of wrong size");
	if (root->map_pages != pages_for(segment_logical_pages(root), BLOCKS_PER_MAP_PAGE))
		page_corrupt(index, entry->root, "map of wrong size");
}

/* Reads the root page: sets root, grouping and what follows from them, and map_block. */
static bool
load_root(Relation index, const IndexMeta *meta, const SegmentEntry *entry, Segment *s)
{
	Buffer buffer = page_read(index, entry->root, PAGE_ROOT, entry->owner);
	Page page;
	Size map_bytes;

	if (!BufferIsValid(buffer))
		return false;
	page_verify(index, buffer, 0);
	page = BufferGetPage(buffer);
	s->owner = entry->owner;
	s->root = *page_root(page);
	if (s->root.stride != document_stride(&meta->shape) &&
		(s->root.stride != STRIDE_MIN || s->root.grouped > 0))
		page_corrupt(index, entry->root, "segment of signatures of another length");
	s->grouping = root_grouping(&s->root, &meta->shape);
	s->documents_per_page = documents_per_page(s->root.stride);
	s->posting_bytes = posting_bytes(s->root.documents);
	s->postings_per_page = postings_per_page(s->root.documents);
	check_root(index, entry, s);
	map_bytes = s->root.map_pages * sizeof(BlockNumber);
	s->map_block = palloc(map_bytes);
	memcpy(s->map_block, page_root_map(page), map_bytes);
	UnlockReleaseBuffer(buffer);
	return true;
}

/* Reads entries of four bytes from pages of a kind. */
static bool
load_array(Relation index, uint32 owner, const BlockNumber *block, uint32 pages, PageKind kind,
		   uint32 *entries, uint32 count)
{
	uint32 done = 0;

	for (uint32 p = 0; p < pages; p++)
	{
		uint32 n = Min(OFFSETS_PER_PAGE, count - done);
		Buffer buffer = page_read(index, block[p], kind, owner);

		if (!BufferIsValid(buffer))
			return false;
		if (page_trailer(BufferGetPage(buffer))->count != n)
			page_corrupt(index, block[p], "wrong number of entries");
		page_verify(index, buffer, 0);
		memcpy(entries + done, PageGetContents(BufferGetPage(buffer)), n * sizeof(uint32));
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		done += n;
	}
	return true;
}

static bool
load_map(Relation index, Segment *s)
{
	Size logical = segment_logical_pages(&s->root);

	s->bytes = sizeof(Segment) + logical * (sizeof(BlockNumber) + sizeof(Buffer));
	s->map = palloc_extended(logical * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	s->recent = palloc_extended(logical * sizeof(Buffer) + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return load_array(index, s->owner, s->map_block, s->root.map_pages, PAGE_MAP, s->map, logical);
}

static void
check_directory(Relation index, const Segment *s)
{
	for (int g = 0; g < s->grouping.groups; g++)
	{
		const uint32 *offset = s->directory + s->first_offset[g];
		uint32 buckets = UINT32_C(1) << group_bucket_bits(&s->grouping, g);
		bool ascending = offset[0] == 0 && offset[buckets] == s->root.grouped;

		for (uint32 v = 0; v < buckets; v++)
			ascending &= offset[v] <= offset[v + 1];
		if (!ascending)
			page_corrupt(index, s->map[s->root.document_pages], "directory out of order");
	}
}

/* Computes the directory's layout, and reads the directory if the cache has room for it. */
static bool
load_directory(Relation index, Segment *s)
{
	int groups = s->grouping.groups;
	Size bytes;

	s->first_offset = palloc((groups + 1) * sizeof(uint32));
	for (int g = 0; g <= groups; g++)
		s->first_offset[g] = group_first_offset(&s->grouping, g);
	bytes = (Size) s->first_offset[groups] * sizeof(uint32);
	if (s->bytes + bytes > (Size) neardup_cache_size * 1024 || groups == 0)
		return true;
	s->directory = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	s->bytes += bytes;
	if (!load_array(index, s->owner, s->map + s->root.document_pages, s->root.directory_pages,
					PAGE_DIRECTORY, s->directory, s->first_offset[groups]))
		return false;
	check_directory(index, s);
	return true;
}

/* Reads a segment into the cache; returns NULL if upkeep has replaced it. */
static Segment *
load_segment(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup segment", ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Segment *s = palloc0(sizeof(Segment));
	bool loaded;

	s->file = compat_file(index);
	s->identity = meta->identity;
	s->root_block = entry->root;
	s->seen_version = pages_seen_version();
	s->planned_for = -1;
	loaded = load_root(index, meta, entry, s) && load_map(index, s) && load_directory(index, s);
	MemoryContextSwitchTo(before);
	if (!loaded)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	make_room(s->bytes);
	MemoryContextSetParent(context, TopMemoryContext);
	cache_bytes += s->bytes;
	s->next = cache;
	cache = s;
	return s;
}

Segment *
segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	Segment *s = find_cached(index, meta, entry);

	if (s == NULL)
		s = load_segment(index, meta, entry);
	if (s == NULL)
		return NULL;
	s->last_used = ++cache_clock;
	if (s->seen_version != pages_seen_version())
	{
		memset(s->recent, 0, segment_logical_pages(&s->root) * sizeof(Buffer));
		s->seen_version = pages_seen_version();
	}
	return s;
}

/* ---- Reading ------------------------------------------------------------ */

/* Returns how many of so many entries lie on a page. */
static uint32
entries_on(uint64 entries, uint32 per_page, uint32 page)
{
	return Min(per_page, entries - (uint64) per_page * page);
}

/* Returns how many entries a logical page must have. */
static uint32
entries_expected(const Segment *s, uint32 logical)
{
	const SegmentRoot *root = &s->root;
	uint32 directory = root->document_pages;
	uint32 postings = directory + root->directory_pages;

	if (logical < directory)
		return entries_on(root->documents, s->documents_per_page, logical);
	if (logical < postings)
		return entries_on(s->first_offset[root->groups], OFFSETS_PER_PAGE, logical - directory);
	return entries_on((uint64) root->groups * root->grouped, s->postings_per_page,
					  logical - postings);
}

Buffer
segment_page(Relation index, const Segment *segment, uint32 logical, PageKind kind)
{
	BlockNumber block = segment->map[logical];
	Buffer *recent = &segment->recent[logical];
	Buffer buffer = page_read_recent(index, block, kind, segment->owner, recent);

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	if (!BufferIsValid(*recent))
	{
		page_verify(index, buffer, segment->root.stride);
		*recent = buffer;
	}
	if (page_trailer(BufferGetPage(buffer))->count != entries_expected(segment, logical))
		page_corrupt(index, block, "wrong number of entries");
	return buffer;
}

void
segment_prefetch(const Segment *segment, uint32 logical, Size from, Size bytes)
{
	Buffer buffer = segment->recent[logical];
	const char *page;

	/* Another page may be in the buffer by now; then the prefetch is in vain. */
	if (!BufferIsValid(buffer) || BufferIsLocal(buffer))
		return;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	page = BufferGetBlock(buffer);
	__builtin_prefetch(page + TRAILER_OFFSET);
	for (Size at = from; at < Min(from + bytes, BLCKSZ); at += CACHE_LINE)
		__builtin_prefetch(page + at);
}

/* Reads an entry of a directory that is not cached. */
static bool
read_offset(Relation index, const Segment *segment, uint32 entry, uint32 *offset)
{
	uint32 logical = segment->root.document_pages + entry / OFFSETS_PER_PAGE;
	Buffer buffer = segment_page(index, segment, logical, PAGE_DIRECTORY);

	if (!BufferIsValid(buffer))
		return false;
	*offset = ((uint32 *) PageGetContents(BufferGetPage(buffer)))[entry % OFFSETS_PER_PAGE];
	UnlockReleaseBuffer(buffer);
	return true;
}

bool
segment_bucket(Relation index, const Segment *segment, int group, uint32 bucket, uint32 *from,
			   uint32 *to)
{
	uint32 entry = segment->first_offset[group] + bucket;

	if (segment->directory != NULL)
	{
		*from = segment->directory[entry];
		*to = segment->directory[entry + 1];
		return true;
	}
	if (!read_offset(index, segment, entry, from) || !read_offset(index, segment, entry + 1, to))
		return false;
	if (*from > *to || *to > segment->root.grouped)
		page_corrupt(index, segment->map[segment->root.document_pages + entry / OFFSETS_PER_PAGE],
					 "directory out of order");
	return true;
}

SegmentStats
segment_stats(const Segment *segment)
{
	return (SegmentStats){.documents = segment->root.grouped,
						  .postings_per_page = segment->postings_per_page,
						  .documents_per_page = segment->documents_per_page};
}

/* ---- Walks -------------------------------------------------------------- */

bool
walk_begin(SegmentWalk *walk, Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	memset(&walk->segment, 0, sizeof(Segment));
	walk->index = index;
	walk->loaded = 0;
	return load_root(index, meta, entry, &walk->segment);
}

void
walk_end(SegmentWalk *walk)
{
	pfree(walk->segment.map_block);
}

BlockNumber
walk_block(SegmentWalk *walk, uint32 logical)
{
	const Segment *segment = &walk->segment;
	uint32 page = logical / BLOCKS_PER_MAP_PAGE;

	if (walk->loaded != page + 1)
	{
		walk->loaded = 0;
		if (!load_array(walk->index, segment->owner, &segment->map_block[page], 1, PAGE_MAP,
						walk->map,
						entries_on(segment_logical_pages(&segment->root), BLOCKS_PER_MAP_PAGE,
								   page)))
			return InvalidBlockNumber;
		walk->loaded = page + 1;
	}
	return walk->map[logical % BLOCKS_PER_MAP_PAGE];
}

Buffer
walk_documents(SegmentWalk *walk, uint32 logical)
{
	const Segment *segment = &walk->segment;
	BlockNumber block = walk_block(walk, logical);
	Buffer buffer;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = page_read(walk->index, block, PAGE_DOCUMENTS, segment->owner);
	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	page_verify(walk->index, buffer, segment->root.stride);
	if (page_trailer(BufferGetPage(buffer))->count != entries_expected(segment, logical))
		page_corrupt(walk->index, block, "wrong number of documents");
	return buffer;
}
