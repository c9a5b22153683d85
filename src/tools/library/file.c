/*
 * file.c: temporary files, which base/host.h asks for.
 *
 * A file has no name once it is open.  It belongs to the call that created it, which closes it
 * at its end in any case, unless session_keep_file() has been told of it.  A thread that reads the file of another one has a handle of its own.
 */
#include "library/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 8192

struct HostFile
{
	FileLink link; /* the first, so that both are one address */
	int descriptor;
	bool shared;    /* the descriptor is that of another handle */
	uint64_t start; /* position of the buffer's bytes */
	size_t count;
	bool dirty; /* the bytes are not written yet */
	uint8_t buffer[BUFFER_BYTES];
};

/* Ends the call since a file cannot be used. */
static _Noreturn void
file_fail(const char *what)
{
	session_fail(NEARDUP_NO_FILE, "could not %s a temporary file: %s", what, strerror(errno));
}

/* Returns a handle of no file yet. */
static HostFile *
new_handle(void)
{
	HostFile *file = host_alloc(sizeof(HostFile));

	memset(file, 0, offsetof(HostFile, buffer));
	return file;
}

/* Creates an empty file, in the folder that TMPDIR names, or in /tmp. */
HostFile *
host_file_create(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int length = snprintf(name, sizeof(name), "%s/neardup.XXXXXX",
						  folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	HostFile *file = new_handle();

	file->descriptor = length < (int) sizeof(name) ? mkstemp(name) : -1;
	if (file->descriptor < 0)
		file_fail("create");
	(void) unlink(name);
	session_link_file(&file->link);
	return file;
}

/* Returns a handle of a file that another thread has, which must not write to it any more. */
HostFile *
session_reopen(HostFile *other)
{
	HostFile *file = new_handle();

	file->descriptor = other->descriptor;
	file->shared = true;
	session_link_file(&file->link);
	return file;
}

/* Keeps a file beyond the end of this call; then calls of any thread may use it, one at a time. */
void
session_keep_file(HostFile *file)
{
	session_unlink_file(&file->link);
	file->link.next = file->link.previous = &file->link;
	session_keep(file);
}

/* Writes bytes to the file itself. */
static void
write_through(HostFile *file, uint64_t position, const uint8_t *bytes, size_t size)
{
	while (size > 0)
	{
		ssize_t written = pwrite(file->descriptor, bytes, size, (off_t) position);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			file_fail("write");
		position += written;
		bytes += written;
		size -= written;
	}
}

/* Reads bytes from the file itself.  Returns how many there are, at most `size`. */
static size_t
read_through(HostFile *file, uint64_t position, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size)
	{
		ssize_t some =
			pread(file->descriptor, bytes + done, size - done, (off_t) (position + done));

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			file_fail("read");
		if (some == 0)
			break;
		done += some;
	}
	return done;
}

/* Writes what the buffer holds. */
void
session_flush_file(HostFile *file)
{
	if (file->dirty)
		write_through(file, file->start, file->buffer, file->count);
	file->dirty = false;
}

/* Writes bytes at a position. */
void
host_file_write(HostFile *file, uint64_t position, const void *bytes, size_t size)
{
	if (!file->dirty || position != file->start + file->count || file->count + size > BUFFER_BYTES)
	{
		session_flush_file(file);
		file->start = position;
		file->count = 0;
	}
	if (size > BUFFER_BYTES)
	{
		write_through(file, position, bytes, size);
		return;
	}
	memcpy(file->buffer + file->count, bytes, size);
	file->count += size;
	file->dirty = true;
}

/*
 * Reads bytes from a position, all of which the file must have.  The buffer begins at a multiple of
 * its size if it can, so that a search within such a block reads it once.
 */
void
host_file_read(HostFile *file, uint64_t position, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	session_flush_file(file);
	if (size > BUFFER_BYTES)
	{
		if (read_through(file, position, to, size) != size)
			file_fail("read all of");
		return;
	}
	if (size > 0 && (position < file->start || position + size > file->start + file->count))
	{
		file->start = position - position % BUFFER_BYTES;
		if (position + size > file->start + BUFFER_BYTES)
			file->start = position;
		file->count = read_through(file, file->start, file->buffer, BUFFER_BYTES);
		if (position + size > file->start + file->count)
			file_fail("read all of");
	}
	memcpy(to, file->buffer + (position - file->start), size);
}

/* Closes and removes a file, or closes a handle of it. */
void
host_file_close(HostFile *file)
{
	session_unlink_file(&file->link);
	if (!file->shared)
		(void) close(file->descriptor);
	host_free(file);
}
