/*
 * segment_read.c: a backend's view of segments.
 *
 * Segments never change, so a backend keeps the map and the directory of those
 * it uses, up to neardup.cache_size.  The key is the file, the index's identity
 * and the segment's owner number, which is never used twice.  Without the file it
 * would not do: ALTER INDEX ... SET TABLESPACE copies an index, and where that is
 * rolled back, two files have given the same numbers to different segments.
 * Without the identity neither: a file may be emptied and built anew in place.
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
forget(Segment *segment)
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
			forget(s);
	}
}

/* Is it what the metapage lists?  A key that is not unique shall do no harm. */
static bool
fits(const Segment *s, const IndexMeta *meta, const SegmentEntry *entry)
{
	return s->root_block == entry->root && s->pages == entry->pages &&
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
		if (fits(s, meta, entry))
			return s;
		forget(s);
	}
	return NULL;
}

/* Forget what was used least recently until so many bytes have room. */
static void
make_room(Size bytes)
{
	while (cache != NULL && cache_bytes + bytes > (Size) neardup_cache_size * 1024)
	{
		Segment *oldest = cache;

		for (Segment *s = cache; s != NULL; s = s->next)
			if (s->last_used < oldest->last_used)
				oldest = s;
		forget(oldest);
	}
}

/* ---- Loading ------------------------------------------------------------ */

/* Is every group of some symbols, each symbol in one group at most, and none too long? */
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

static void
check_root(Relation index, const SegmentEntry *entry, const Segment *s)
{
	const SegmentRoot *root = &s->root;

	if (root->documents != entry->documents || root->grouped != entry->grouped ||
		root->grouped > root->documents || root->documents > SEGMENT_DOCUMENTS_MAX)
		page_corrupt(index, entry->root, "segment and metapage disagree on its documents");
	if ((uint32) root->groups != entry->groups)
		page_corrupt(index, entry->root, "segment and metapage disagree on its groups");
	if (!grouping_is_valid(&s->grouping))
		page_corrupt(index, entry->root, "impossible grouping");
	if (root->map_pages > ROOT_MAP_PAGES ||
		root->document_pages !=
			(root->documents + s->documents_per_page - 1) / s->documents_per_page ||
		(uint64) root->document_pages + root->directory_pages + root->posting_pages +
				root->map_pages + 1 !=
			entry->pages)
		page_corrupt(index, entry->root, "segment and metapage disagree on its pages");
}

static void
load_grouping(const IndexMeta *meta, Segment *s)
{
	s->grouping.k = meta->shape.k;
	s->grouping.b = signature_bits(&meta->shape);
	s->grouping.groups = s->root.groups;
	s->grouping.width = s->root.width;
	s->grouping.wide = s->root.wide;
	s->grouping.bucket_bits = s->root.bucket_bits;
	s->documents_per_page = documents_per_page(s->root.stride);
	s->posting_bytes = posting_bytes(s->root.documents);
	s->postings_per_page = postings_per_page(s->root.documents);
}

bool
segment_load_array(Relation index, uint32 owner, const BlockNumber *block, uint32 pages,
				   PageKind kind, uint32 *entries, uint32 count)
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

/* The directory's layout, and its contents where the cache has room for it. */
static bool
load_directory(Relation index, Segment *s)
{
	uint64 entries = 0;
	uint32 pages;
	Size bytes;

	s->first_offset = palloc((s->grouping.groups + 1) * sizeof(uint32));
	for (int g = 0; g < s->grouping.groups; g++)
	{
		s->first_offset[g] = entries;
		entries += (UINT32_C(1) << group_bucket_bits(&s->grouping, g)) + 1;
	}
	if (entries > PG_UINT32_MAX)
		page_corrupt(index, s->root_block, "impossible grouping");
	s->first_offset[s->grouping.groups] = entries;
	pages = (entries + OFFSETS_PER_PAGE - 1) / OFFSETS_PER_PAGE;
	if (pages != s->root.directory_pages ||
		s->root.posting_pages !=
			((uint64) s->grouping.groups * s->root.grouped + s->postings_per_page - 1) /
				s->postings_per_page)
		page_corrupt(index, s->root_block, "segment with a directory or postings of wrong size");
	bytes = (Size) entries * sizeof(uint32);
	if (s->bytes + bytes > (Size) neardup_cache_size * 1024 || entries == 0)
		return true;
	s->directory = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	s->bytes += bytes;
	if (!segment_load_array(index, s->owner, s->map + s->root.document_pages, pages, PAGE_DIRECTORY,
							s->directory, entries))
		return false;
	check_directory(index, s);
	return true;
}

bool
segment_load_root(Relation index, const IndexMeta *meta, const SegmentEntry *entry, Segment *s)
{
	Buffer buffer = page_read(index, entry->root, PAGE_ROOT, entry->owner);
	Page page;
	uint32 logical;

	s->owner = entry->owner;
	if (!BufferIsValid(buffer))
		return false;
	page_verify(index, buffer, 0);
	page = BufferGetPage(buffer);
	s->root = *page_root(page);
	if (s->root.stride != document_stride(&meta->shape) &&
		(s->root.stride != STRIDE_MIN || s->root.grouped > 0))
		page_corrupt(index, entry->root, "segment of signatures of another length");
	load_grouping(meta, s);
	check_root(index, entry, s);
	s->map_block = palloc(s->root.map_pages * sizeof(BlockNumber));
	memcpy(s->map_block, page_root_map(page), s->root.map_pages * sizeof(BlockNumber));
	UnlockReleaseBuffer(buffer);

	logical = entry->pages - 1 - s->root.map_pages;
	if (s->root.map_pages != (logical + BLOCKS_PER_MAP_PAGE - 1) / BLOCKS_PER_MAP_PAGE)
		page_corrupt(index, entry->root, "map of wrong size");
	return true;
}

static bool
load_map(Relation index, const SegmentEntry *entry, Segment *s)
{
	uint32 logical = entry->pages - 1 - s->root.map_pages;

	s->bytes = sizeof(Segment) + (Size) logical * (sizeof(BlockNumber) + sizeof(Buffer));
	s->map = palloc_extended((Size) logical * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	s->recent =
		palloc_extended((Size) logical * sizeof(Buffer) + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return segment_load_array(index, s->owner, s->map_block, s->root.map_pages, PAGE_MAP, s->map,
							  logical);
}

static Segment *
load(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup segment", ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	Segment *s = palloc0(sizeof(Segment));
	bool loaded;

	s->file = compat_file(index);
	s->identity = meta->identity;
	s->owner = entry->owner;
	s->root_block = entry->root;
	s->pages = entry->pages;
	s->seen_version = pages_seen_version();
	s->planned_for = -1;
	loaded = segment_load_root(index, meta, entry, s) && load_map(index, entry, s) &&
		load_directory(index, s);
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

/* Pages but root and map. */
static Size
logical_pages(const Segment *s)
{
	return s->pages - 1 - s->root.map_pages;
}

Segment *
segment_open(Relation index, const IndexMeta *meta, const SegmentEntry *entry)
{
	Segment *s = find_cached(index, meta, entry);

	if (s == NULL)
		s = load(index, meta, entry);
	if (s == NULL)
		return NULL;
	s->last_used = ++cache_clock;
	if (s->seen_version != pages_seen_version())
	{
		memset(s->recent, 0, logical_pages(s) * sizeof(Buffer));
		s->seen_version = pages_seen_version();
	}
	return s;
}

/* ---- Reading ------------------------------------------------------------ */

/* Of so many entries in a row, those on one page. */
static uint32
entries_on(uint64 entries, uint32 per_page, uint32 page)
{
	return Min(per_page, entries - (uint64) per_page * page);
}

/* Entries that a logical page must have. */
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
segment_expect(const Segment *segment, uint32 logical, Size from, Size bytes)
{
	Buffer buffer = segment->recent[logical];
	const char *page;

	/* A guess: by now another page may be there. */
	if (!BufferIsValid(buffer) || BufferIsLocal(buffer))
		return;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	page = BufferGetBlock(buffer);
	__builtin_prefetch(page + TRAILER_OFFSET);
	for (Size at = from; at < Min(from + bytes, BLCKSZ); at += CACHE_LINE)
		__builtin_prefetch(page + at);
}

/* One entry of a directory that is not in memory. */
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
	SegmentStats stats = {segment->root.grouped, segment->postings_per_page,
						  segment->documents_per_page, NULL};

	return stats;
}
