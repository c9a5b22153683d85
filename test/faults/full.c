/*
 * full.c: simulates a disk that is full after so many writes.  Preloaded into a
 * server, it lets files grow as often as the counter in the file $NEARDUP_ROOM says,
 * and then fails with ENOSPC.  Overwriting existing data and writing WAL never fail.
 *
 *   cc -shared -fPIC -o full.so full.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile long *room; /* shared by all processes */

__attribute__((constructor)) static void
find_room(void)
{
	const char *name = getenv("NEARDUP_ROOM");
	int fd = name == NULL ? -1 : open(name, O_RDWR);

	if (fd < 0)
		return;
	room = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (room == MAP_FAILED)
		room = NULL;
	close(fd);
}

/* Returns whether the growth of this file counts. */
static int
counts(int fd)
{
	char link[64];
	char path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = '\0';
	return strstr(path, "/base/") != NULL;
}

/* Returns whether the file may grow to this end. */
static int
refused(int fd, off_t end)
{
	struct stat status;

	if (room == NULL || fstat(fd, &status) != 0 || end <= status.st_size || !counts(fd))
		return 0;
	if (__sync_fetch_and_sub(room, 1) > 0)
		return 0;
	errno = ENOSPC;
	return 1;
}

static off_t
bytes_of(const struct iovec *iov, int count)
{
	off_t bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += (off_t) iov[i].iov_len;
	return bytes;
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__)) dlsym(RTLD_NEXT, name))

#define PWRITE(name) \
	ssize_t name(int fd, const void *bytes, size_t size, off_t at) \
	{ \
		if (refused(fd, at + (off_t) size)) \
			return -1; \
		return NEXT(ssize_t, #name, int, const void *, size_t, off_t)(fd, bytes, size, at); \
	}
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name) \
	ssize_t name(int fd, const struct iovec *iov, int count, off_t at) \
	{ \
		if (refused(fd, at + bytes_of(iov, count))) \
			return -1; \
		return NEXT(ssize_t, #name, int, const struct iovec *, int, off_t)(fd, iov, count, at); \
	}
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define FALLOCATE(name) \
	int name(int fd, off_t at, off_t size) \
	{ \
		if (refused(fd, at + size)) \
			return ENOSPC; \
		return NEXT(int, #name, int, off_t, off_t)(fd, at, size); \
	}
FALLOCATE(posix_fallocate)
FALLOCATE(posix_fallocate64)
