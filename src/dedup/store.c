/*
 * store.c: records and byte strings that go to temporary files when they
 * outgrow memory.  The end of the transaction removes the files in any case.
 */
#include "dedup/dedup.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define ROOM_MIN 1024

/* Creates a file that lives as long as owner, which need not be the current one. */
BufFile *
file_create(MemoryContext context, ResourceOwner owner)
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

/* Reads this many bytes. */
void
file_read(BufFile *file, void *bytes, size_t size)
{
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
}

/* Moves to a byte position, which may lie in a later segment of the file. */
void
file_seek(BufFile *file, int64 position)
{
	char skipped[BLCKSZ];

	if (BufFileSeekBlock(file, position / BLCKSZ) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
	if (position % BLCKSZ > 0)
		file_read(file, skipped, position % BLCKSZ);
}

/* ---- Records ------------------------------------------------------------ */

/*
 * Creates an empty store.  owner owns the file if there will be one; it must
 * outlive the query that fills the store.
 */
Records *
records_begin(MemoryContext context, ResourceOwner owner, size_t stride, uint32 limit)
{
	Records *records = MemoryContextAllocZero(context, sizeof(Records));

	records->context = context;
	records->owner = owner;
	records->stride = stride;
	records->limit = limit;
	records->room = Min(ROOM_MIN, limit);
	records->memory = MemoryContextAllocHuge(context, records->room * stride);
	return records;
}

/* Returns room for one more record, all zero; records_add() then counts it. */
uint8 *
records_next(Records *records)
{
	uint32 used = records->count - records->flushed;
	uint8 *record;

	if (used == records->room)
	{
		records->room = Min((uint64) records->room * 2, records->limit);
		records->memory = repalloc_huge(records->memory, records->room * records->stride);
	}
	record = records->memory + used * records->stride;
	memset(record, 0, records->stride);
	return record;
}

/* Counts the record of records_next(). */
void
records_add(Records *records)
{
	records->count++;
}

/* Moves the records in memory to the file. */
void
records_flush(Records *records)
{
	if (records->file == NULL)
		records->file = file_create(records->context, records->owner);
	file_seek(records->file, (int64) records->flushed * records->stride);
	for (uint32 i = 0; i < records->count - records->flushed; i++)
		BufFileWrite(records->file, records->memory + i * records->stride, records->stride);
	records->flushed = records->position = records->count;
}

/* Frees the memory.  All records must be in the file, and none may be added. */
void
records_free_memory(Records *records)
{
	pfree(records->memory);
	records->memory = NULL;
}

/* Returns a record, in memory or read into buffer. */
const uint8 *
records_get(Records *records, uint32 record, uint8 *buffer)
{
	if (record >= records->flushed)
		return records->memory + (record - records->flushed) * records->stride;
	if (record != records->position)
		file_seek(records->file, (int64) record * records->stride);
	file_read(records->file, buffer, records->stride);
	records->position = record + 1;
	return buffer;
}

/* Copies a record. */
void
records_copy(Records *records, uint32 record, uint8 *to)
{
	const uint8 *found = records_get(records, record, to);

	if (found != to)
		memcpy(to, found, records->stride);
}

/* Closes the file. */
void
records_end(Records *records)
{
	if (records->file != NULL)
		BufFileClose(records->file);
}

/* ---- Byte strings ------------------------------------------------------- */

/* Appends a byte string and returns its position. */
int64
blobs_add(Blobs *blobs, const void *bytes, size_t size)
{
	int64 position = blobs->end;

	if (blobs->file == NULL)
		blobs->file = file_create(blobs->context, blobs->owner);
	if (blobs->moved)
		file_seek(blobs->file, blobs->end);
	blobs->moved = false;
	BufFileWrite(blobs->file, &size, sizeof(size));
	BufFileWrite(blobs->file, (void *) bytes, size);
	blobs->end += sizeof(size) + size;
	return position;
}

/* Returns a palloc'd copy of the byte string at a position. */
void *
blobs_get(Blobs *blobs, int64 position)
{
	size_t size;
	void *bytes;

	blobs->moved = true;
	file_seek(blobs->file, position);
	file_read(blobs->file, &size, sizeof(size));
	bytes = palloc(size);
	file_read(blobs->file, bytes, size);
	return bytes;
}

/* Closes the file. */
void
blobs_end(Blobs *blobs)
{
	if (blobs->file != NULL)
		BufFileClose(blobs->file);
}
