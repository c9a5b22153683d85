/*
 * host.c: the host of unit tests and fuzzers: malloc, and interrupts that are only counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

static void *
checked(void *memory)
{
	if (memory == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return memory;
}

void *
host_alloc(size_t bytes)
{
	return checked(malloc(bytes > 0 ? bytes : 1));
}

void *
host_realloc(void *memory, size_t bytes)
{
	return checked(realloc(memory, bytes > 0 ? bytes : 1));
}

void
host_free(void *memory)
{
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
