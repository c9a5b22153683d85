/*
 * page.c: operations on the contents of single pages: initialize, check, append.
 */
#include "store/page.h"

/*
 * Initializes an empty page.  All of it is payload, except on pages of documents.  Whoever writes
 * it to a block sets PageInfo.block.
 */
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
}

/* Makes the zeros at the end of a complete page its hole, which WAL leaves out. */
void
page_cut_zeros(Page page)
{
	const char *end = (char *) page + BLCKSZ;

	while (end > page_contents(page) && end[-1] == 0)
		end--;
	((PageHeader) page)->pd_lower = end - (char *) page;
}

/* ---- Checks ------------------------------------------------------------- */

/*
 * Returns what is wrong with a page of documents, of `stride` bytes each, or of elements of sets,
 * or NULL.  The count must fit, and agree with the page's header, which generic WAL relies on.
 */
static const char *
damage_of(Page page, BlockNumber block, uint32 stride)
{
	const PageInfo *info = page_info(page);

	if (info->block != block)
		return "page of another block";
	if (info->kind == PAGE_ELEMENTS)
		return info->count > ELEMENTS_PER_PAGE ? "more elements than fit" : NULL;
	if (info->count > documents_per_page(stride))
		return "more documents than fit";
	if (((PageHeader) page)->pd_lower !=
			(char *) page_symbols(page, stride, info->count) - (char *) page ||
		((PageHeader) page)->pd_upper != BLCKSZ - info->count * (int) sizeof(ItemPointerData))
		return "another number of documents than its header says";
	return NULL;
}

/* Reports an error unless the number of documents of a locked page, or of elements, is possible. */
void
page_check_documents(Relation index, Buffer buffer, uint32 stride)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	const char *damage = damage_of(BufferGetPage(buffer), block, stride);

	if (damage != NULL)
		page_corrupt(index, block, damage);
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
	((PageHeader) page)->pd_lower = (char *) page_symbols(page, stride, i + 1) - (char *) page;
	((PageHeader) page)->pd_upper = (char *) page_tid(page, i) - (char *) page;
}

/* Appends elements to a page of elements that has room for them. */
void
page_put_elements(Page page, const uint64 *element, uint32 count)
{
	PageInfo *info = page_info(page);

	memcpy(page_elements(page) + info->count, element, count * sizeof(uint64));
	info->count += count;
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
