/*
 * no_files.c: temporary files, which base/host.h asks for, in WebAssembly: there are none.
 */
#include "library/session.h"

/* Ends the call, which needs a file. */
static _Noreturn void
no_files_fail(void)
{
	session_fail(NEARDUP_NO_FILE, "there are no temporary files here, and memory does not suffice");
}

/* Fails. */
HostFile *
host_file_create(void)
{
	no_files_fail();
}

/* Fails. */
HostFile *
session_reopen(HostFile *file)
{
	no_files_fail();
}

/* Does nothing, since there is no file. */
void
session_keep_file(HostFile *file)
{
}

/* Does nothing, since there is no file. */
void
session_flush_file(HostFile *file)
{
}

/* Fails. */
void
host_file_write(HostFile *file, uint64_t position, const void *bytes, size_t size)
{
	no_files_fail();
}

/* Fails. */
void
host_file_read(HostFile *file, uint64_t position, void *bytes, size_t size)
{
	no_files_fail();
}

/* Does nothing, since there is no file. */
void
host_file_close(HostFile *file)
{
}
