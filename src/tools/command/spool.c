/*
 * spool.c: bytes beyond memory, written once and then read at any position.
 */
#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The share of --memory for bytes before they go to a file, and the most without it. */
#define SHARE_OF_SPOOL 8
#define SPOOL_MOST (32 << 20)

/* Bytes that are read at a time. */
#define READ_BYTES (256 * 1024)

/* Adds an item. */
void
ends_add(Ends *ends, uint64_t length)
{
	uint64_t last = ends_start(ends, ends->count) + length;
	uint64_t end = 0;

	if (ends->count > 0 && ends->end.length == 0 && length != ends->length)
		for (size_t i = 0; i < ends->count; i++)
		{
			end += ends->length;
			put(&ends->end, &end, sizeof(end));
		}
	if (ends->end.length > 0)
		put(&ends->end, &last, sizeof(last));
	else
		ends->length = length;
	ends->count++;
}

/* Returns where an item begins, or, for the number of items, where the last one ends. */
uint64_t
ends_start(const Ends *ends, size_t item)
{
	if (item == 0 || ends->end.length == 0)
		return item * ends->length;
	return ((const uint64_t *) ends->end.bytes)[item - 1];
}

/* Writes bytes to a position of a temporary file. */
void
write_at(int file, const void *bytes, size_t length, uint64_t position)
{
	for (size_t done = 0; done < length;)
	{
		ssize_t written = pwrite(file, (const char *) bytes + done, length - done, position + done);

		if (written <= 0 && errno != EINTR)
			fail(EXIT_INPUT, "could not write a temporary file: %s", strerror(errno));
		done += written > 0 ? written : 0;
	}
}

/* Writes what the buffer holds to the file. */
static void
flush(Spool *spool)
{
	const Buffer *buffer = &spool->buffer;

	if (spool->file == 0)
		spool->file = temporary_file() + 1;
	write_at(spool->file - 1, buffer->bytes, buffer->length, spool->start);
	spool->start += buffer->length;
	spool->buffer.length = 0;
}

/* Appends bytes. */
void
spool_put(Spool *spool, const void *bytes, size_t length)
{
	put(&spool->buffer, bytes, length);
	if (spool->buffer.length > (options.memory > 0 ? options.memory / SHARE_OF_SPOOL : SPOOL_MOST))
		flush(spool);
}

/*
 * Reads bytes from a position on into the buffer: `length` of them, or more if they follow on those
 * that were read last.
 */
static void
fill(Spool *spool, uint64_t start, size_t length)
{
	Buffer *buffer = &spool->buffer;
	bool follows = start - spool->start <= buffer->length;
	size_t wanted = length > READ_BYTES || !follows ? length : READ_BYTES;

	buffer->length = 0;
	(void) extend(buffer, wanted);
	buffer->length = 0;
	while (buffer->length < wanted)
	{
		ssize_t some = pread(spool->file - 1, buffer->bytes + buffer->length,
							 wanted - buffer->length, start + buffer->length);

		if (some == 0 && buffer->length >= length)
			break;
		if (some == 0 || (some < 0 && errno != EINTR))
			fail(EXIT_INPUT, "could not read a temporary file: %s", strerror(errno));
		buffer->length += some > 0 ? some : 0;
	}
	spool->start = start;
}

/* Returns bytes, which are valid until the next call.  Nothing may be appended after it. */
const uint8_t *
spool_get(Spool *spool, uint64_t start, size_t length)
{
	if (spool->file != 0 && !spool->reads)
	{
		flush(spool);
		resize(NULL, spool->buffer.bytes, 0);
		spool->buffer = (Buffer){0};
	}
	spool->reads = true;
	if (start < spool->start || start + length > spool->start + spool->buffer.length)
		fill(spool, start, length);
	return (const uint8_t *) spool->buffer.bytes + (start - spool->start);
}

/* Frees the bytes. */
void
spool_free(Spool *spool)
{
	resize(NULL, spool->buffer.bytes, 0);
	if (spool->file != 0)
		close(spool->file - 1);
	*spool = (Spool){0};
}
