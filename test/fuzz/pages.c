/*
 * pages.c: damages pages of an index in its file, as a disk would, for
 * test/fuzz/pages.  A shared library for the server; never installed.
 *
 * It keeps an image of the index and restores that afterwards.  Damage is written to
 * the file, and buffers of the old contents are dropped.
 */
#include "store/page.c"

#include "store/meta.c"

#include "sketch/symbols.c"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_type_d.h"
#include "catalog/storage.h"
#include "fmgr.h"
#include "storage/checksum.h"
#include "storage/fd.h"
#include "storage/smgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fuzz_save);
PG_FUNCTION_INFO_V1(fuzz_damage);
PG_FUNCTION_INFO_V1(fuzz_restore);
PG_FUNCTION_INFO_V1(fuzz_vacuum);

/* The undamaged index. */
static char *image = NULL;
static BlockNumber blocks = 0;
static BlockNumber damaged = 0;

/* ---- The file ----------------------------------------------------------- */

/* Drops all buffers of the index, with changes that were not written. */
static void
drop_buffers(Relation index)
{
	ForkNumber fork = MAIN_FORKNUM;
	BlockNumber first = 0;

#if PG_VERSION_NUM >= 160000
	DropRelationBuffers(RelationGetSmgr(index), &fork, 1, &first);
#else
	DropRelFileNodeBuffers(RelationGetSmgr(index), &fork, 1, &first);
#endif
}

static void
write_block(Relation index, BlockNumber block, char *page)
{
	SMgrRelation file = RelationGetSmgr(index);

	if (block < smgrnblocks(file, MAIN_FORKNUM))
		smgrwrite(file, MAIN_FORKNUM, block, page, true);
	else
		smgrextend(file, MAIN_FORKNUM, block, page, true);
}

Datum
fuzz_save(PG_FUNCTION_ARGS)
{
	Relation index = relation_open(PG_GETARG_OID(0), AccessShareLock);

	FlushRelationBuffers(index);
	blocks = RelationGetNumberOfBlocks(index);
	if (image != NULL)
		pfree(image);
	image = MemoryContextAlloc(TopMemoryContext, (Size) blocks * BLCKSZ);
	for (BlockNumber block = 0; block < blocks; block++)
		smgrread(RelationGetSmgr(index), MAIN_FORKNUM, block, image + (Size) block * BLCKSZ);
	relation_close(index, AccessShareLock);
	PG_RETURN_INT32(blocks);
}

/* fuzz_restore(index, all): restores the damaged page, or all changed pages. */
Datum
fuzz_restore(PG_FUNCTION_ARGS)
{
	Relation index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	bool all = PG_GETARG_BOOL(1);

	drop_buffers(index);
	if (RelationGetNumberOfBlocks(index) > blocks)
		RelationTruncate(index, blocks);
	for (BlockNumber block = 0; block < blocks; block++)
		if (all || block == damaged)
			write_block(index, block, image + (Size) block * BLCKSZ);
	/* The session's cache of the tail may be wrong now. */
	RelationGetSmgr(index)->smgr_targblock = InvalidBlockNumber;
	relation_close(index, AccessShareLock);
	PG_RETURN_VOID();
}

/* ---- Random numbers ----------------------------------------------------- */

static uint64 state;

/* Returns numbers that are the same for a seed on every machine. */
static uint32
chance(uint32 below)
{
	state += UINT64_C(0x9E3779B97F4A7C15);
	return (uint32) ((mix64(state) >> 32) * below >> 32);
}

/* Returns numbers at and beyond bounds, or any others. */
static uint32
odd_number(uint32 now)
{
	static const uint32 edge[] = {0,          1,          2,          0x7F,      0xFF,
								  0x100,      0x7FFF,     0x8000,     0xFFFF,    0x10000,
								  0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};

	switch (chance(4))
	{
		case 0:
			return edge[chance(lengthof(edge))];
		case 1:
			return now + 1 + chance(3);
		case 2:
			return now - 1 - chance(3);
		default:
			return (uint32) mix64(state);
	}
}

/* ---- Damage ------------------------------------------------------------- */

/* Keeps the page's LSN, as PostgreSQL would flush WAL up to it. */
#define FIRST_BYTE sizeof(PageXLogRecPtr)

static const char *
change_number(char *page, uint32 offset, int bytes)
{
	uint32 now = 0;

	memcpy(&now, page + offset, bytes);
	now = odd_number(now);
	memcpy(page + offset, &now, bytes);
	return "number";
}

static const char *
change_info(char *page)
{
	static const uint32 field[][2] = {{offsetof(PageInfo, stamp), 4},
									  {offsetof(PageInfo, next), 4},
									  {offsetof(PageInfo, block), 4},
									  {offsetof(PageInfo, kind), 2},
									  {offsetof(PageInfo, count), 2},
									  {offsetof(PageInfo, count), 2},
									  {offsetof(PageInfo, flags), 2},
									  {offsetof(PageInfo, page_id), 2}};
	uint32 i = chance(lengthof(field));

	change_number(page, MAXALIGN(SizeOfPageHeaderData) + field[i][0], field[i][1]);
	return "info";
}

static const char *
change_header(char *page)
{
	change_number(page, FIRST_BYTE + 2 * chance((SizeOfPageHeaderData - FIRST_BYTE) / 2), 2);
	return "header";
}

static const char *
change_bytes(char *page, uint32 most)
{
	uint32 n = 1 + chance(most);
	uint32 from = FIRST_BYTE + chance(BLCKSZ - FIRST_BYTE - n + 1);

	for (uint32 i = 0; i < n; i++)
		page[from + i] = (char) chance(256);
	return "bytes";
}

/* Simulates a torn page: a sector, or half of the page, was not written. */
static const char *
tear(char *page)
{
	uint32 size = chance(2) ? 512 : BLCKSZ / 2;
	uint32 from = size * chance(BLCKSZ / size);

	from = Max(from, FIRST_BYTE);
	memset(page + from, chance(2) ? 0 : 0xFF, size - from % size);
	return "torn";
}

static const char *
change_tid(char *page)
{
	uint32 count = Min(page_info(page)->count, DOCUMENTS_PER_PAGE_MAX);

	if (page_info(page)->kind != PAGE_DOCUMENTS || count == 0)
		return change_bytes(page, 8);
	change_number(page, (char *) page_tid(page, chance(count)) - page + 2 * chance(3), 2);
	return "tid";
}

/* Changes a number at the beginning of a root or metapage, or any. */
static const char *
change_payload(char *page)
{
	uint32 numbers = chance(2) ? 64 : PAGE_ROOM / 4;

	return change_number(page, CONTENTS_OFFSET + 4 * chance(numbers), 4);
}

static const char *
change(char *page)
{
	switch (chance(9))
	{
		case 0:
			return change_info(page);
		case 1:
			return change_header(page);
		case 2:
			return change_bytes(page, 8);
		case 3:
			return change_bytes(page, 1000);
		case 4:
			return change_tid(page);
		case 5:
			return tear(page);
		case 6:
		case 7:
			return change_payload(page);
		default:
			page[FIRST_BYTE + chance(BLCKSZ - FIRST_BYTE)] ^= 1 << chance(8);
			return "bit";
	}
}

/* ---- The functions ------------------------------------------------------ */

static bool
is_of_kind(const char *page, uint32 kind)
{
	const IndexMeta *meta = page_meta(image);
	bool is_tail = page_info(page)->stamp == meta->tail.stamp;

	/* A kind of its own: pages of documents in the tail. */
	if (kind == PAGE_ELEMENTS + 1)
		return page_info(page)->kind == PAGE_DOCUMENTS && is_tail;
	return page_info(page)->kind == kind && (!is_tail || kind == PAGE_ELEMENTS) &&
		(kind == PAGE_META ||
		 (kind == PAGE_DOCUMENTS ? meta_may_hold(meta, page_info(page)->stamp) :
								   meta_lists(meta, page_info(page)->stamp)));
}

static BlockNumber
choose_block(uint32 kind)
{
	uint32 n = 0;
	BlockNumber chosen = InvalidBlockNumber;

	for (BlockNumber block = 0; block < blocks; block++)
		if (is_of_kind(image + (Size) block * BLCKSZ, kind) && chance(++n) == 0)
			chosen = block;
	return chosen;
}

/* Simulates a page that was written to another one's position. */
static const char *
misplace(char *page, uint32 kind)
{
	memcpy(page, image + (Size) choose_block(kind) * BLCKSZ, BLCKSZ);
	return kind == PAGE_META ? change(page) : "misplaced";
}

/* For inspection after a crash. */
static void
note(const char *what)
{
	FILE *file = AllocateFile("fuzz_last", "w");

	if (file != NULL)
	{
		fprintf(file, "%s\n", what);
		FreeFile(file);
	}
}

/*
 * fuzz_damage(index, seed, forged): damages a page and describes how.  A forged page gets the
 * checksum of its new contents, so that PostgreSQL takes it for sound.
 */
Datum
fuzz_damage(PG_FUNCTION_ARGS)
{
	static const char *const name[] = {"meta",     "documents", "root", "map",
									   "postings", "elements",  "tail"};
	Relation index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	uint64 seed = PG_GETARG_INT64(1);
	bool forged = PG_GETARG_BOOL(2);
	PGAlignedBlock page;
	uint32 kind;
	BlockNumber block;
	const char *how;
	char *what;

	state = mix64(seed);
	/* Only an index of sets has pages of elements. */
	do
	{
		kind = PAGE_META + chance(PAGE_ELEMENTS + 1);
		block = choose_block(kind);
	} while (block == InvalidBlockNumber);
	memcpy(page.data, image + (Size) block * BLCKSZ, BLCKSZ);
	do
		how = chance(10) == 0 ? misplace(page.data, kind) : change(page.data);
	while (memcmp(page.data, image + (Size) block * BLCKSZ, BLCKSZ) == 0);
	if (forged)
		((PageHeader) page.data)->pd_checksum = pg_checksum_page(page.data, block);
	what = psprintf("%s %s block %u seed " INT64_FORMAT "%s", name[kind - 1], how, block,
					(int64) seed, forged ? " forged" : "");
	note(what);
	FlushRelationBuffers(index);
	drop_buffers(index);
	write_block(index, block, page.data);
	damaged = block;
	relation_close(index, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(what));
}

typedef struct DeadRows
{
	ItemPointerData *tid;
	int count;
} DeadRows;

static bool
is_dead(ItemPointer tid, void *rows)
{
	DeadRows *dead = rows;

	for (int i = 0; i < dead->count; i++)
		if (ItemPointerEquals(tid, &dead->tid[i]))
			return true;
	return false;
}

/* fuzz_vacuum(index, tid[]): vacuums an index as if these rows were dead. */
Datum
fuzz_vacuum(PG_FUNCTION_ARGS)
{
	Relation table =
		relation_open(IndexGetRelation(PG_GETARG_OID(0), false), ShareUpdateExclusiveLock);
	Relation index = relation_open(PG_GETARG_OID(0), RowExclusiveLock);
	IndexVacuumInfo info = {0};
	IndexBulkDeleteResult *stats;
	DeadRows dead;
	Datum *element;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TIDOID, sizeof(ItemPointerData), false,
					  TYPALIGN_SHORT, &element, NULL, &dead.count);
	dead.tid = palloc(dead.count * sizeof(ItemPointerData) + 1);
	for (int i = 0; i < dead.count; i++)
		dead.tid[i] = *(ItemPointer) DatumGetPointer(element[i]);
	info.index = index;
#if PG_VERSION_NUM >= 160000
	info.heaprel = table;
#endif
	info.message_level = DEBUG2;
	stats = index_bulk_delete(&info, NULL, is_dead, &dead);
	index_vacuum_cleanup(&info, stats);
	relation_close(index, RowExclusiveLock);
	relation_close(table, ShareUpdateExclusiveLock);
	PG_RETURN_VOID();
}
