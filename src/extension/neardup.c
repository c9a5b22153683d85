/*
 * neardup.c: the module: its settings, and the functions that base/host.h asks for.
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
int neardup_limit;

static const struct config_enum_entry search_methods[] = {{"auto", SEARCH_AUTO, false},
														  {"merge", SEARCH_MERGE, false},
														  {"choose", SEARCH_CHOOSE, false},
														  {"probe", SEARCH_PROBE, false},
														  {"scan", SEARCH_SCAN, false},
														  {NULL, 0, false}};

extern void _PG_init(void);

/* Defines the settings, when the library is loaded. */
void
_PG_init(void)
{
	DefineCustomIntVariable("neardup.cache_size",
							"Sets the memory that a session may use to cache neardup indexes.",
							"The cache holds maps of segments, as searches need them.  "
							"It drops the least recently used first.",
							&neardup_cache_size, 64 * 1024, 0, MAX_KILOBYTES, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomEnumVariable("neardup.search", "Sets how neardup indexes are searched.",
							 "The method changes the speed of a search, not its result.",
							 &neardup_search, SEARCH_AUTO, search_methods, PGC_USERSET, 0, NULL,
							 NULL, NULL);
	DefineCustomBoolVariable("neardup.background",
							 "Lets background workers do the maintenance of neardup indexes.",
							 "If off, an insert that fills the tail seals it.", &neardup_background,
							 true, PGC_USERSET, 0, NULL, NULL, NULL);

	/*
	 * For tests only (test/t/066_segment_size.pl), and hidden from SHOW ALL.  A segment is
	 * limited by memory and by the numbers of its documents, which takes many millions of
	 * rows.  With a small limit, tests reach the code that splits segments, and its errors,
	 * in seconds.  It can only make new segments smaller, so that no value of it does harm.
	 */
	DefineCustomIntVariable("neardup.debug_segment_pages",
							"Limits the pages of a new segment of a neardup index.", NULL,
							&neardup_segment_pages, INT_MAX, 2, INT_MAX, PGC_SUSET,
							GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	/* For tests only, too: host_limit() in base/host.h.  No value changes a result. */
	DefineCustomIntVariable("neardup.debug_limit",
							"Limits the bounded lists, batches, samples and caches of neardup.",
							NULL, &neardup_limit, INT_MAX, 2, INT_MAX, PGC_SUSET,
							GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	compat_reserve_prefix("neardup");
}

/* ---- What base/host.h asks for ------------------------------------------ */

/*
 * Allocates memory of any size, as malloc does, but never returns NULL: a host that has no
 * memory raises its own error, and then frees what the caller holds.
 */
void *
host_alloc(size_t bytes)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
}

/* Reallocates memory of any size, as realloc does, but never returns NULL. */
void *
host_realloc(void *memory, size_t bytes)
{
	return memory ? repalloc_huge(memory, bytes) : host_alloc(bytes);
}

/* Frees memory of host_alloc() or host_realloc(), or NULL. */
void
host_free(void *memory)
{
	if (memory)
		pfree(memory);
}

/* Allocates memory that is never freed, for tables that a process builds once. */
void *
host_alloc_forever(size_t bytes)
{
	return MemoryContextAllocHuge(TopMemoryContext, bytes);
}

/*
 * Checks whether the user cancels; may leave by a non-local exit.  The layers call it at
 * least once per 64 kB of input.
 */
void
host_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Returns a random number that nobody can predict, for the secrets of hash tables
 * (base/table.h).  No result may depend on it.
 */
uint64_t
host_random_seed(void)
{
	uint64_t seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	return seed;
}

/* Returns the number of elements of a bounded list, of which tests make a tiny one. */
size_t
host_limit(size_t usual)
{
	return Min(usual, (size_t) neardup_limit);
}

/* Raises an error about something that is too large; `what` is its message. */
void
host_refuse_size(const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s", what)));
}
