/*
 * store.c: what outgrows memory goes to temporary files, which the transaction's
 * end removes whatever happens.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define ROOM_MIN 1024

/* A file that lives as long as owner, though another may be the current one. */
static BufFile *
create_file(MemoryContext context, ResourceOwner owner)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	ResourceOwner current = CurrentResourceOwner;
	BufFile *file;

	CurrentResourceOwner = owner;
	file = BufFileCreateTemp(false);
	CurrentResourceOwner = current;
	MemoryContextSwitchTo(old);
	return file;
}

static void
read_exactly(BufFile *file, void *bytes, size_t size)
{
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
}

static void
seek(BufFile *file, int64 position)
{
	char skipped[BLCKSZ];

	if (BufFileSeekBlock(file, position / BLCKSZ) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
	if (position % BLCKSZ > 0)
		read_exactly(file, skipped, position % BLCKSZ);
}

/* ---- Records ------------------------------------------------------------ */

Store *
store_begin(MemoryContext context, ResourceOwner owner, size_t stride, uint32 limit)
{
	Store *store = MemoryContextAllocZero(context, sizeof(Store));

	store->context = context;
	store->owner = owner;
	store->stride = stride;
	store->limit = limit;
	store->room = Min(ROOM_MIN, limit);
	store->memory = MemoryContextAllocHuge(context, store->room * stride);
	return store;
}

uint8 *
store_next(Store *store)
{
	uint32 used = store->records - store->flushed;
	uint8 *record;

	if (used == store->room)
	{
		store->room = Min((uint64) store->room * 2, store->limit);
		store->memory = repalloc_huge(store->memory, store->room * store->stride);
	}
	record = store->memory + used * store->stride;
	memset(record, 0, store->stride);
	return record;
}

void
store_add(Store *store)
{
	store->records++;
}

void
store_flush(Store *store)
{
	if (store->file == NULL)
		store->file = create_file(store->context, store->owner);
	seek(store->file, (int64) store->flushed * store->stride);
	for (uint32 i = 0; i < store->records - store->flushed; i++)
		BufFileWrite(store->file, store->memory + i * store->stride, store->stride);
	store->flushed = store->position = store->records;
}

void
store_free_memory(Store *store)
{
	pfree(store->memory);
	store->memory = NULL;
}

const uint8 *
store_record(Store *store, uint32 record, uint8 *buffer)
{
	if (record >= store->flushed)
		return store->memory + (record - store->flushed) * store->stride;
	if (record != store->position)
		seek(store->file, (int64) record * store->stride);
	read_exactly(store->file, buffer, store->stride);
	store->position = record + 1;
	return buffer;
}

void
store_end(Store *store)
{
	if (store->file != NULL)
		BufFileClose(store->file);
}

/* ---- Bytes of any length ------------------------------------------------ */

void
heap_begin(Heap *heap, MemoryContext context, ResourceOwner owner)
{
	heap->context = context;
	heap->owner = owner;
	heap->file = NULL;
	heap->end = 0;
}

int64
heap_add(Heap *heap, const void *bytes, size_t size)
{
	int64 position = heap->end;

	if (heap->file == NULL)
		heap->file = create_file(heap->context, heap->owner);
	BufFileWrite(heap->file, &size, sizeof(size));
	BufFileWrite(heap->file, (void *) bytes, size);
	heap->end += sizeof(size) + size;
	return position;
}

void *
heap_read(Heap *heap, int64 position)
{
	size_t size;
	void *bytes;

	seek(heap->file, position);
	read_exactly(heap->file, &size, sizeof(size));
	bytes = palloc(size);
	read_exactly(heap->file, bytes, size);
	return bytes;
}

void
heap_end(Heap *heap)
{
	if (heap->file != NULL)
		BufFileClose(heap->file);
}
