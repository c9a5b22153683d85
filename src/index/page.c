/*
 * page.c: pages one at a time: making, reading, checking, allocating.
 */
#include "index/page.h"

#include "port/pg_crc32c.h"
#include "storage/indexfsm.h"

#include "base/hash.h"

/* The sum of no dead documents. */
#define DEAD_NONE 0x6E6F6E65

void
page_init(Page page, PageKind kind, uint32 owner)
{
	PageTrailer *trailer;

	PageInit(page, BLCKSZ, sizeof(PageTrailer));
	/* Without a hole whatever is written to the payload is logged and kept. */
	if (kind != PAGE_DOCUMENTS)
		((PageHeader) page)->pd_lower = ((PageHeader) page)->pd_upper;
	trailer = page_trailer(page);
	memset(trailer, 0, sizeof(PageTrailer));
	trailer->owner = owner;
	trailer->next = InvalidBlockNumber;
	trailer->kind = kind;
	trailer->page_id = PAGE_ID;
	trailer->dead = kind == PAGE_DOCUMENTS ? DEAD_NONE : 0;
	INIT_CRC32C(trailer->checksum);
}

/* ---- Checksums ---------------------------------------------------------- */

/* Goes on from the checksum of the documents before. */
static uint32
add_document(uint32 checksum, const ItemPointerData *tid, const uint8_t *symbols, uint32 stride)
{
	pg_crc32c crc = checksum;
	ItemPointerData living = *tid;

	living.ip_posid &= ~TID_DEAD;
	COMP_CRC32C(crc, &living, sizeof(living));
	COMP_CRC32C(crc, symbols, stride);
	return crc;
}

uint32
page_checksum_documents(Page page, uint32 stride, uint32 from, uint32 checksum)
{
	for (uint32 i = from; i < page_trailer(page)->count; i++)
		checksum = add_document(checksum, page_tid(page, i), page_symbols(page, stride, i), stride);
	return checksum;
}

static uint32
checksum_documents(Page page, uint32 stride)
{
	pg_crc32c crc;

	INIT_CRC32C(crc);
	return page_checksum_documents(page, stride, 0, crc);
}

/*
 * Marks change, so they are summed up by themselves.  Pages of 0.1.0 have no sum,
 * and get none.
 */
static uint32
sum_dead(Page page)
{
	uint32 sum = DEAD_NONE;

	for (uint32 i = 0; i < page_trailer(page)->count; i++)
		if (tid_flags(page_tid(page, i)) & TID_DEAD)
			sum += (uint32) mix64(i + 1);
	return sum;
}

void
page_mark_dead(Page page, uint32 i)
{
	PageTrailer *trailer = page_trailer(page);

	if (tid_flags(page_tid(page, i)) & TID_DEAD)
		return;
	tid_add_flags(page_tid(page, i), TID_DEAD);
	if (trailer->dead != 0)
		trailer->dead += (uint32) mix64(i + 1);
}

static uint32
checksum_payload(Page page)
{
	pg_crc32c crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, PageGetContents(page), PAGE_ROOM);
	COMP_CRC32C(crc, &page_trailer(page)->count, sizeof(uint16));
	return crc;
}

void
page_seal(Page page)
{
	page_trailer(page)->checksum = checksum_payload(page);
}

void
page_verify(Relation index, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);
	uint32 checksum;

	if (page_trailer(page)->kind == PAGE_DOCUMENTS)
	{
		page_check_documents(index, buffer, stride);
		checksum = checksum_documents(page, stride);
		if (page_trailer(page)->dead != 0 && page_trailer(page)->dead != sum_dead(page))
			page_corrupt(index, BufferGetBlockNumber(buffer),
						 "other documents are marked dead than vacuum has marked");
	}
	else
		checksum = checksum_payload(page);
	if (page_trailer(page)->checksum != checksum)
		page_corrupt(index, BufferGetBlockNumber(buffer), "its contents do not fit their checksum");
}

void
page_check_documents(Relation index, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);
	uint32 count = page_trailer(page)->count;

	if (count > documents_per_page(stride))
		page_corrupt(index, BufferGetBlockNumber(buffer), "more documents than fit");
	if (((PageHeader) page)->pd_lower !=
			(char *) page_symbols(page, stride, count) - (char *) page ||
		((PageHeader) page)->pd_upper !=
			(char *) page_trailer(page) - count * sizeof(ItemPointerData) - (char *) page)
		page_corrupt(index, BufferGetBlockNumber(buffer),
					 "another number of documents than its header says");
}

/* ---- Writing and reading ------------------------------------------------ */

void
page_put_document(Page page, uint32 stride, const ItemPointerData *tid, const uint8_t *symbols,
				  size_t bytes)
{
	PageTrailer *trailer = page_trailer(page);
	uint32 i = trailer->count++;

	*page_tid(page, i) = *tid;
	memset(page_symbols(page, stride, i), 0, stride);
	if (!tid_flags(tid))
		memcpy(page_symbols(page, stride, i), symbols, bytes);
	trailer->checksum = add_document(trailer->checksum, tid, page_symbols(page, stride, i), stride);
	((PageHeader) page)->pd_lower = (char *) page_symbols(page, stride, i + 1) - (char *) page;
	((PageHeader) page)->pd_upper = (char *) page_tid(page, i) - (char *) page;
}

void
page_corrupt(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupt at block %u: %s", RelationGetRelationName(index),
					block, what),
			 errhint("Rebuild it with REINDEX.")));
}

static BlockNumber refused = InvalidBlockNumber;

BlockNumber
page_refused(void)
{
	return refused;
}

/* Why a page is not what it should be; its owner alone may have changed. */
static Buffer
refuse_page(Relation index, Buffer buffer, uint32 owner)
{
	Page page = BufferGetPage(buffer);

	refused = BufferGetBlockNumber(buffer);

	if (!PageIsNew(page) && !page_is_ours(page))
		page_corrupt(index, BufferGetBlockNumber(buffer), "not a page of a neardup index");
	if (page_is_ours(page) && page_trailer(page)->owner == owner)
		page_corrupt(index, BufferGetBlockNumber(buffer), "page of another kind than expected");
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/* Lock a pinned page; InvalidBuffer, and no pin, where it is not what is looked for. */
static Buffer
lock_page(Relation index, Buffer buffer, PageKind kind, uint32 owner)
{
	const PageTrailer *trailer = page_trailer(BufferGetPage(buffer));

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (trailer->page_id != PAGE_ID || trailer->owner != owner || trailer->kind != kind)
		return refuse_page(index, buffer, owner);
	return buffer;
}

Buffer
page_read_recent(Relation index, BlockNumber block, PageKind kind, uint32 owner, Buffer *recent)
{
	return lock_page(index, page_pin_recent(index, block, recent), kind, owner);
}

Buffer
page_read(Relation index, BlockNumber block, PageKind kind, uint32 owner)
{
	Buffer recent = InvalidBuffer;

	return page_read_recent(index, block, kind, owner, &recent);
}

Buffer
page_read_documents(Relation index, BlockNumber block, uint32 owner)
{
	return lock_page(index, page_pin_documents(index, block), PAGE_DOCUMENTS, owner);
}

/* ---- Free pages --------------------------------------------------------- */

/*
 * What is owned since live was read is not free: live may be a copy, and a tail
 * begun meanwhile has a higher number than it knows.
 */
bool
page_is_free(Page page, const IndexMeta *live)
{
	return PageIsNew(page) ||
		(page_is_ours(page) && page_trailer(page)->kind != PAGE_META &&
		 page_trailer(page)->owner < live->next_owner &&
		 !meta_owns(live, page_trailer(page)->owner));
}

/*
 * The free space map is not logged and may promise pages that are in use, so
 * each is looked at under its lock.
 */
static Buffer
reuse_page(Relation index, const IndexMeta *live)
{
	for (;;)
	{
		BlockNumber block = GetFreeIndexPage(index);
		Buffer buffer;

		if (block == InvalidBlockNumber)
			return InvalidBuffer;
		/* After a crash it may promise what lies beyond the end. */
		if (block >= RelationGetNumberOfBlocks(index))
			continue;
		buffer = page_peek(index, block, NULL);
		if (ConditionalLockBuffer(buffer))
		{
			if (page_is_free(BufferGetPage(buffer), live))
				return buffer;
			UnlockReleaseBuffer(buffer);
		}
		else
			ReleaseBuffer(buffer);
	}
}

Buffer
page_allocate(Relation index, const IndexMeta *live)
{
	Buffer buffer = live == NULL ? InvalidBuffer : reuse_page(index, live);

	return BufferIsValid(buffer) ? buffer : compat_extend(index);
}
