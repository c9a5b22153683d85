/*
 * neardup.c: the module, and what the plain C layers ask of their host.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "base/host.h"
#include "index/index.h"

PG_MODULE_MAGIC;

int neardup_cache_size;
int neardup_search;
bool neardup_background;
int neardup_segment_pages;

static const struct config_enum_entry search_methods[] = {{"auto", SEARCH_AUTO, false},
														  {"merge", SEARCH_MERGE, false},
														  {"choose", SEARCH_CHOOSE, false},
														  {"probe", SEARCH_PROBE, false},
														  {"scan", SEARCH_SCAN, false},
														  {NULL, 0, false}};

void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("neardup.cache_size",
							"Memory that a session may keep of the indexes it uses.",
							"Maps and directories of segments; the least recently used go first.",
							&neardup_cache_size, 64 * 1024, 0, MAX_KILOBYTES, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomEnumVariable("neardup.search", "How neardup indexes are searched.",
							 "Only the speed depends on it, never the answer.", &neardup_search,
							 SEARCH_AUTO, search_methods, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("neardup.background",
							 "Leave the upkeep of indexes to background workers.",
							 "Off: an insert that fills the tail seals it itself.",
							 &neardup_background, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("neardup.debug_segment_pages", "Pages that a new segment may have.",
							"Lets tests reach what otherwise takes millions of rows.",
							&neardup_segment_pages, INT_MAX, 2, INT_MAX, PGC_SUSET,
							GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	compat_reserve_prefix("neardup");
}

void *
host_alloc(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
}

void *
host_realloc(void *memory, size_t bytes)
{
	return memory ? repalloc_huge(memory, bytes) : host_alloc(bytes);
}

void
host_free(void *memory)
{
	if (memory)
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

uint64_t
host_random_seed(void)
{
	uint64_t seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	return seed;
}

void
host_refuse_size(const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s", what)));
}
