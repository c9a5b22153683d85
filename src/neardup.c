/*
 * neardup.c: the module, and what the plain C layers ask of their host.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "host.h"

PG_MODULE_MAGIC;

void *
host_alloc(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
}

void *
host_realloc(void *memory, size_t bytes)
{
	return repalloc_huge(memory, bytes);
}

void
host_free(void *memory)
{
	pfree(memory);
}

void *
host_alloc_forever(size_t bytes)
{
	return MemoryContextAllocHuge(TopMemoryContext, bytes);
}

void
host_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}
