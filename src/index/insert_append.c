/*
 * insert_append.c: one document more on a page of a tail, and the WAL of that.
 *
 * This is what every insert does, so it is written as directly as can be.
 * Generic WAL finds out what has changed by comparing the page with a copy, byte
 * by byte, which takes several times as long as all the rest of an insert.  Here
 * it is known, so the same record is put together at once.  Replay is generic
 * WAL's own.
 */
#include "index/page.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#if COMPAT_GENERIC_FRAGMENTS

/* What generic WAL has before each run of bytes. */
typedef struct FragmentHeader
{
	OffsetNumber offset;
	OffsetNumber length;
} FragmentHeader;

/* Let the record hold some bytes of the page; the header must stay until it is written. */
static void
register_fragment(FragmentHeader *header, Page page, const void *from, Size length)
{
	header->offset = (const char *) from - (const char *) page;
	header->length = length;
	XLogRegisterBufData(0, (char *) header, sizeof(FragmentHeader));
	XLogRegisterBufData(0, (char *) from, length);
}

/* Log what page_put_document has changed. */
static void
log_document(Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);
	PageTrailer *trailer = page_trailer(page);
	uint32 i = trailer->count - 1;
	FragmentHeader header[4];
	XLogRecPtr record;

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	register_fragment(&header[0], page, &((PageHeader) page)->pd_lower, 2 * sizeof(LocationIndex));
	register_fragment(&header[1], page, page_symbols(page, stride, i), stride);
	register_fragment(&header[2], page, page_tid(page, i), sizeof(ItemPointerData));
	register_fragment(&header[3], page, &trailer->checksum,
					  (char *) &trailer->flags - (char *) &trailer->checksum);
	record = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, record);
}

void
page_append_document(Relation index, Buffer buffer, uint32 stride, const ItemPointerData *tid,
					 const uint8_t *symbols, size_t bytes)
{
	START_CRIT_SECTION();
	page_put_document(BufferGetPage(buffer), stride, tid, symbols, bytes);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_document(buffer, stride);
	END_CRIT_SECTION();
}

#else

void
page_append_document(Relation index, Buffer buffer, uint32 stride, const ItemPointerData *tid,
					 const uint8_t *symbols, size_t bytes)
{
	GenericXLogState *state = GenericXLogStart(index);

	page_put_document(GenericXLogRegisterBuffer(state, buffer, 0), stride, tid, symbols, bytes);
	GenericXLogFinish(state);
}

#endif
