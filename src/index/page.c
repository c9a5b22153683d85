/*
 * page.c: operations on the contents of single pages: initialize, check, append.
 */
#include "index/page.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

/* The checksum of dead flags where no document is dead. */
#define DEAD_NONE 0x6E6F6E65

/* Initializes an empty page.  All of it is payload, except on pages of documents. */
void
page_init(Page page, PageKind kind, uint32 stamp)
{
	PageInfo *info;

	PageInit(page, BLCKSZ, 0);
	/* Without a hole, generic WAL logs and keeps all of the payload. */
	((PageHeader) page)->pd_lower = kind == PAGE_DOCUMENTS ? CONTENTS_OFFSET : BLCKSZ;
	info = page_info(page);
	memset(info, 0, sizeof(PageInfo));
	info->stamp = stamp;
	info->next = InvalidBlockNumber;
	info->kind = kind;
	info->page_id = PAGE_ID;
	info->dead = kind == PAGE_DOCUMENTS ? DEAD_NONE : 0;
}

/* ---- Checksums ---------------------------------------------------------- */

/* Returns what document i adds to the checksum of its page. */
static uint32
checksum_document(const ItemPointerData *tid, const uint8_t *symbols, uint32 stride, uint32 i)
{
	uint64 place = (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 32 |
		(uint32) (ItemPointerGetOffsetNumberNoCheck(tid) & ~TID_DEAD) << 16 | i;

	return (uint32) mix64(XXH3_64bits(symbols, stride) ^ mix64(place));
}

/* Returns what element i adds to the checksum of its page. */
static inline uint32
checksum_element(uint64 element, uint32 i)
{
	return (uint32) mix64(element ^ i * MIX_MULTIPLIER);
}

/*
 * Returns the checksum of a page's documents, or of its elements of sets, given the checksum of
 * those before `from`.
 */
uint32
page_checksum_from(Page page, uint32 stride, uint32 from, uint32 checksum)
{
	uint32 count = page_info(page)->count;

	if (page_info(page)->kind == PAGE_ELEMENTS)
		for (uint32 i = from; i < count; i++)
			checksum += checksum_element(page_elements(page)[i], i);
	else
		for (uint32 i = from; i < count; i++)
			checksum +=
				checksum_document(page_tid(page, i), page_symbols(page, stride, i), stride, i);
	return checksum;
}

/*
 * Returns the checksum of the dead flags.  They change, so the checksum of the documents
 * does not cover them.
 */
static uint32
checksum_dead(Page page)
{
	uint32 sum = DEAD_NONE;

	for (uint32 i = 0; i < page_info(page)->count; i++)
		if (tid_flags(page_tid(page, i)) & TID_DEAD)
			sum += (uint32) mix64(i + 1);
	return sum;
}

/* Marks a document dead, unless it is already. */
void
page_mark_dead(Page page, uint32 i)
{
	PageInfo *info = page_info(page);

	if (tid_flags(page_tid(page, i)) & TID_DEAD)
		return;
	tid_add_flags(page_tid(page, i), TID_DEAD);
	info->dead += (uint32) mix64(i + 1);
}

/* Returns the checksum of a page that does not hold documents. */
static uint32
checksum_payload(Page page)
{
	uint64 hash = XXH3_64bits(page_contents(page), PAGE_ROOM);

	return (uint32) mix64(hash ^ mix64(page_info(page)->count));
}

/*
 * Sets the checksum of a complete page; a page of documents keeps its checksum up to date.  The
 * zeros at the end become the page's hole, which WAL leaves out.
 */
void
page_set_checksum(Page page)
{
	const char *end = (char *) page + BLCKSZ;

	page_info(page)->checksum = checksum_payload(page);
	while (end > page_contents(page) && end[-1] == 0)
		end--;
	((PageHeader) page)->pd_lower = end - (char *) page;
}

/*
 * Returns what is wrong with the number of documents of a locked page, or of elements of sets, or
 * NULL.  It must fit, and agree with the page's header, which generic WAL relies on.
 */
static const char *
count_damage(Page page, uint32 stride)
{
	uint32 count = page_info(page)->count;

	if (page_info(page)->kind == PAGE_ELEMENTS)
		return count > ELEMENTS_PER_PAGE ? "more elements than fit" : NULL;
	if (count > documents_per_page(stride))
		return "more documents than fit";
	if (((PageHeader) page)->pd_lower !=
			(char *) page_symbols(page, stride, count) - (char *) page ||
		((PageHeader) page)->pd_upper != BLCKSZ - count * (int) sizeof(ItemPointerData))
		return "another number of documents than its header says";
	return NULL;
}

/* Returns the length of a page's documents that would fit its header, if there is one. */
static uint32
stride_by_header(Page page)
{
	uint32 count = page_info(page)->count;
	uint32 bytes = ((PageHeader) page)->pd_lower - CONTENTS_OFFSET;

	return count == 0 ? STRIDE_MIN : Max(STRIDE_MIN, bytes / count);
}

/*
 * Returns what is wrong with a locked page of the index, or NULL.  Reads all of it.  The metapage
 * is compared whenever it is used.
 */
const char *
page_damage(Page page)
{
	const PageInfo *info = page_info(page);
	bool counted = info->kind == PAGE_DOCUMENTS || info->kind == PAGE_ELEMENTS;
	uint32 stride = stride_by_header(page);
	const char *damage = counted ? count_damage(page, stride) : NULL;

	if (info->kind == PAGE_META || damage != NULL)
		return damage;
	if (info->kind == PAGE_DOCUMENTS && info->dead != checksum_dead(page))
		return "other documents are marked dead than vacuum has marked";
	if (info->checksum !=
		(counted ? page_checksum_from(page, stride, 0, 0) : checksum_payload(page)))
		return "its contents do not fit their checksum";
	return NULL;
}

/* Reports damage of a locked page. */
static void
report_damage(Relation index, Buffer buffer, const char *damage)
{
	if (damage != NULL)
		page_corrupt(index, BufferGetBlockNumber(buffer), damage);
}

/* Reports an error unless a locked page of the index is sound. */
void
page_verify(Relation index, Buffer buffer)
{
	report_damage(index, buffer, page_damage(BufferGetPage(buffer)));
}

/* Reports an error unless the number of documents of a locked page, or of elements, is possible. */
void
page_check_documents(Relation index, Buffer buffer, uint32 stride)
{
	report_damage(index, buffer, count_damage(BufferGetPage(buffer), stride));
}

/* ---- Writing ------------------------------------------------ */

/* Appends a document to a page that has room. */
void
page_put_document(Page page, uint32 stride, const Document *document)
{
	PageInfo *info = page_info(page);
	uint32 i = info->count++;
	uint8_t *symbols = page_symbols(page, stride, i);
	Size key_bytes = document->keys * sizeof(uint32);

	*page_tid(page, i) = document->tid;
	memset(symbols, 0, stride);
	if (!tid_flags(&document->tid))
		memcpy(symbols, document->symbols, document->bytes);
	if (key_bytes > 0)
		memcpy(symbols + stride - key_bytes, document->key, key_bytes);
	info->checksum += checksum_document(&document->tid, symbols, stride, i);
	((PageHeader) page)->pd_lower = (char *) page_symbols(page, stride, i + 1) - (char *) page;
	((PageHeader) page)->pd_upper = (char *) page_tid(page, i) - (char *) page;
}

/* Appends elements to a page of elements that has room for them. */
void
page_put_elements(Page page, const uint64 *element, uint32 count)
{
	PageInfo *info = page_info(page);
	uint32 from = info->count;

	memcpy(page_elements(page) + from, element, count * sizeof(uint64));
	info->count += count;
	info->checksum = page_checksum_from(page, 0, from, info->checksum);
}

/* Reports a corrupt page. */
void
page_corrupt(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupt at block %u: %s", RelationGetRelationName(index),
					block, what),
			 errhint("Rebuild the index with REINDEX.")));
}
