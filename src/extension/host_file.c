/*
 * host_file.c: temporary files of the plain C layers (base/host.h), in the server.
 *
 * A file belongs to the transaction, or subtransaction, under way, which removes it if an
 * error leaves it open.
 */
#include "host_file.h"

#include "utils/memutils.h"
#include "utils/resowner.h"

struct HostFile
{
	BufFile *file;
	uint64 position;
};

/* Returns a handle for the plain C layers of a temporary file of the server. */
HostFile *
host_file_wrap(BufFile *file)
{
	HostFile *wrapped = MemoryContextAllocZero(CurTransactionContext, sizeof(HostFile));

	wrapped->file = file;
	return wrapped;
}

/* Creates an empty file. */
HostFile *
host_file_create(void)
{
	MemoryContext old = MemoryContextSwitchTo(CurTransactionContext);
	ResourceOwner current = CurrentResourceOwner;
	HostFile *file;

	CurrentResourceOwner = CurTransactionResourceOwner;
	file = host_file_wrap(BufFileCreateTemp(false));
	CurrentResourceOwner = current;
	MemoryContextSwitchTo(old);
	return file;
}

/* Moves to a position. */
static void
seek(HostFile *file, uint64 position)
{
	if (file->position == position)
		return;
	if (BufFileSeek(file->file, 0, (off_t) position, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
	file->position = position;
}

/* Writes bytes at a position. */
void
host_file_write(HostFile *file, uint64_t position, const void *bytes, size_t size)
{
	seek(file, position);
	BufFileWrite(file->file, (void *) bytes, size);
	file->position += size;
}

/* Reads bytes from a position, all of which the file must have. */
void
host_file_read(HostFile *file, uint64_t position, void *bytes, size_t size)
{
	seek(file, position);
	if (BufFileRead(file->file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
	file->position += size;
}

/* Closes and removes a file. */
void
host_file_close(HostFile *file)
{
	BufFileClose(file->file);
	pfree(file);
}
