/*
 * host.c: base/host.h for unit tests and fuzzers: malloc, and checks for interrupts that are
 * counted.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/host.h"

size_t host_memory = 0;
size_t host_peak = 0;

/* Counts memory, and exits if there is none. */
static void *
counted(void *memory)
{
	if (memory == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	host_memory += malloc_usable_size(memory);
	host_peak = host_memory > host_peak ? host_memory : host_peak;
	return memory;
}

void *
host_alloc(size_t bytes)
{
	return counted(malloc(bytes > 0 ? bytes : 1));
}

void *
host_realloc(void *memory, size_t bytes)
{
	host_memory -= malloc_usable_size(memory);
	return counted(realloc(memory, bytes > 0 ? bytes : 1));
}

void
host_free(void *memory)
{
	host_memory -= malloc_usable_size(memory);
	free(memory);
}

void *
host_alloc_forever(size_t bytes)
{
	return host_alloc(bytes);
}

unsigned long host_interrupt_checks = 0;

void
host_check_interrupts(void)
{
	host_interrupt_checks++;
}

uint64_t host_seed = 20120;

uint64_t
host_random_seed(void)
{
	return host_seed;
}

size_t host_limit_most = SIZE_MAX;

/* The size of tiny lists is in the environment, or fuzzers set it. */
size_t
host_limit(size_t usual)
{
	const char *limit = getenv("NEARDUP_LIMIT");

	return Min(usual, Min(host_limit_most, limit != NULL ? strtoul(limit, NULL, 10) : SIZE_MAX));
}

void
host_refuse_size(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(2);
}

/* A temporary file is one of the C library. */
struct HostFile
{
	FILE *file;
};

HostFile *
host_file_create(void)
{
	HostFile *file = host_alloc(sizeof(HostFile));

	file->file = tmpfile();
	if (file->file == NULL)
		host_refuse_size("no temporary file");
	return file;
}

void
host_file_write(HostFile *file, uint64_t position, const void *bytes, size_t size)
{
	if (fseeko(file->file, (off_t) position, SEEK_SET) != 0 ||
		fwrite(bytes, 1, size, file->file) != size)
		host_refuse_size("a temporary file cannot be written");
}

void
host_file_read(HostFile *file, uint64_t position, void *bytes, size_t size)
{
	if (fseeko(file->file, (off_t) position, SEEK_SET) != 0 ||
		fread(bytes, 1, size, file->file) != size)
		host_refuse_size("a temporary file cannot be read");
}

void
host_file_close(HostFile *file)
{
	fclose(file->file);
	host_free(file);
}
