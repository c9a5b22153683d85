/*
 * records.c: records of one size, and byte strings, that go to temporary files when they outgrow
 * memory.
 */
#include "join/records.h"

#include <string.h>

#define ROOM_MIN 1024

/* ---- Records ------------------------------------------------------------ */

/* Returns room for one more record, all zero; the caller counts it if it stays. */
uint8_t *
records_next(Records *records)
{
	size_t used = records->count - records->flushed;
	uint8_t *record;

	if (used == records->room)
	{
		records->room = Min(Max(2 * records->room, ROOM_MIN), records->limit);
		records->memory = host_realloc(records->memory, records->room * records->stride);
	}
	record = records->memory + used * records->stride;
	memset(record, 0, records->stride);
	return record;
}

/* Moves the records in memory to the file. */
void
records_flush(Records *records)
{
	if (records->file == NULL)
		records->file = host_file_create();
	host_file_write(records->file, (uint64_t) records->flushed * records->stride, records->memory,
					(records->count - records->flushed) * records->stride);
	records->flushed = records->count;
}

/* Returns a record, in memory or read into buffer. */
const uint8_t *
records_get(const Records *records, uint32_t record, uint8_t *buffer)
{
	if (record >= records->flushed)
		return record_in_memory(records, record);
	host_file_read(records->file, (uint64_t) record * records->stride, buffer, records->stride);
	return buffer;
}

/* Copies a record. */
void
records_copy(const Records *records, uint32_t record, uint8_t *to)
{
	const uint8_t *found = records_get(records, record, to);

	if (found != to)
		memcpy(to, found, records->stride);
}

/* Frees the memory and closes the file. */
void
records_end(Records *records)
{
	host_free(records->memory);
	records->memory = NULL;
	records->room = 0;
	if (records->file != NULL)
		host_file_close(records->file);
	records->file = NULL;
}

/* ---- Byte strings ------------------------------------------------------- */

/* Appends a byte string and returns its position. */
uint64_t
blobs_add(Blobs *blobs, const void *bytes, size_t size)
{
	uint64_t position = blobs->end;

	if (blobs->file == NULL)
		blobs->file = host_file_create();
	host_file_write(blobs->file, position, &size, sizeof(size));
	host_file_write(blobs->file, position + sizeof(size), bytes, size);
	blobs->end += sizeof(size) + size;
	return position;
}

/* Returns a copy of the byte string at a position, which the caller frees. */
void *
blobs_get(const Blobs *blobs, uint64_t position)
{
	size_t size;
	void *bytes;

	host_file_read(blobs->file, position, &size, sizeof(size));
	bytes = host_alloc(size);
	host_file_read(blobs->file, position + sizeof(size), bytes, size);
	return bytes;
}

/* Closes the file. */
void
blobs_end(Blobs *blobs)
{
	if (blobs->file != NULL)
		host_file_close(blobs->file);
	blobs->file = NULL;
}
