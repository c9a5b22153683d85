/*
 * records.h: records of one size, and byte strings, more than memory holds.
 */
#ifndef NEARDUP_JOIN_RECORDS_H
#define NEARDUP_JOIN_RECORDS_H

#include "base/host.h"

/* ---- Records of one size ------------------------------------------------ */

/*
 * Records in memory up to a limit, then in a temporary file.  The file holds
 * records 0 .. flushed - 1, memory the others.
 */
typedef struct Records
{
	size_t stride;
	uint32_t limit; /* the most records in memory */
	uint32_t count;
	uint32_t flushed; /* records in the file */
	uint8_t *memory;  /* the others */
	size_t room;      /* records that memory has room for */
	HostFile *file;   /* NULL if there is none */
} Records;

/* Returns a record in memory. */
static inline uint8_t *
record_in_memory(const Records *records, uint32_t record)
{
	return records->memory + (record - records->flushed) * records->stride;
}

extern uint8_t *records_next(Records *records);
extern void records_flush(Records *records);
extern const uint8_t *records_get(const Records *records, uint32_t record, uint8_t *buffer);
extern void records_copy(const Records *records, uint32_t record, uint8_t *to);
extern void records_end(Records *records);

/* ---- Byte strings of any length ----------------------------------------- */

/* A temporary file of byte strings, which is created when the first is added. */
typedef struct Blobs
{
	HostFile *file;
	uint64_t end;
} Blobs;

extern uint64_t blobs_add(Blobs *blobs, const void *bytes, size_t size);
extern void *blobs_get(const Blobs *blobs, uint64_t position);
extern void blobs_end(Blobs *blobs);

#endif
