/*
 * page_verify.c: pinning pages, and what this backend has verified of them.
 *
 * Who reads a page in verifies it, and each backend verifies what it sees for the
 * first time.  From then on the page is taken as verified while it stays in its
 * buffer.  That is where it is looked for first: it spares the buffer table.
 */
#include "index/page.h"

#include "executor/instrument.h"
#include "storage/buf_internals.h"

static uint32 version = 1;
static bool was_read_in = false;

uint32
pages_seen_version(void)
{
	return version;
}

bool
page_was_read_in(void)
{
	return was_read_in;
}

/* ---- Pins --------------------------------------------------------------- */

/* Blocks that this backend has read in so far. */
static int64
blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/*
 * Would one use more leave no trace?  To pin a buffer where it is does not count as
 * a use, and a page that is never used is the first to be evicted.
 */
static bool
is_well_used(Buffer buffer)
{
	uint32 state;

	if (BufferIsLocal(buffer))
		return false;
	state = pg_atomic_read_u32(&GetBufferDescriptor(buffer - 1)->state);
	return BUF_STATE_GET_USAGECOUNT(state) == BM_MAX_USAGE_COUNT;
}

Buffer
page_pin_recent(Relation index, BlockNumber block, Buffer *recent)
{
	Buffer before = *recent;
	Buffer buffer;
	int64 reads;

	if (BufferIsValid(before) && is_well_used(before) && compat_pin_if_there(index, block, before))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		was_read_in = false;
		return before;
	}
	/* InvalidBlockNumber, too: to read that would extend the index. */
	if (!BufferIsValid(before) && block >= RelationGetNumberOfBlocks(index))
		page_corrupt(index, block, "there is no such block");
	reads = blocks_read();
	buffer = ReadBuffer(index, block);
	was_read_in = blocks_read() != reads;
	if (buffer != before || was_read_in)
		*recent = InvalidBuffer;
	return buffer;
}

Buffer
page_peek(Relation index, BlockNumber block, BufferAccessStrategy strategy)
{
	int64 reads = blocks_read();
	Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);

	version += blocks_read() != reads;
	return buffer;
}

/* ---- Pages of tails ----------------------------------------------------- */

/*
 * Tails change, so of their pages it is noted how much was verified: what was
 * appended since goes on from there.  Two pages may share a place; that costs no
 * more than to verify them again.
 */
typedef struct PageSeen
{
	CompatFile file;
	BlockNumber block;
	Buffer buffer; /* InvalidBuffer: nothing was */
	uint32 version;
	uint32 count;
	uint32 checksum;
} PageSeen;

#define PAGES_SEEN 4096

static PageSeen pages_seen[PAGES_SEEN];

/* What was seen of a block; nothing where its place is another's. */
static PageSeen *
recall(Relation index, BlockNumber block)
{
	PageSeen *seen = &pages_seen[(RelationGetRelid(index) * 251 + block) % PAGES_SEEN];

	if (seen->block != block || seen->version != version ||
		!compat_same_file(seen->file, compat_file(index)))
	{
		seen->file = compat_file(index);
		seen->block = block;
		seen->version = version;
		seen->buffer = InvalidBuffer;
	}
	return seen;
}

Buffer
page_pin_documents(Relation index, BlockNumber block)
{
	return page_pin_recent(index, block, &recall(index, block)->buffer);
}

/* Is what was appended since the page was seen in order? */
static bool
goes_on(const PageSeen *seen, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);

	return seen->buffer == buffer && page_trailer(page)->count >= seen->count &&
		page_trailer(page)->checksum ==
		page_checksum_documents(page, stride, seen->count, seen->checksum);
}

void
page_verify_documents(Relation index, Buffer buffer, uint32 stride)
{
	Page page = BufferGetPage(buffer);
	PageSeen *seen = recall(index, BufferGetBlockNumber(buffer));

	page_check_documents(index, buffer, stride);
	if (!goes_on(seen, buffer, stride))
	{
		seen->buffer = InvalidBuffer;
		page_verify(index, buffer, stride);
	}
	seen->buffer = buffer;
	seen->count = page_trailer(page)->count;
	seen->checksum = page_trailer(page)->checksum;
}
