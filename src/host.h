/*
 * host.h: what the plain C layers ask of the program they are linked into.
 *
 * text/, sketch/, match/ and compare/ know nothing of PostgreSQL.  They reach memory and
 * cancellation through these functions: the extension answers with palloc
 * and CHECK_FOR_INTERRUPTS (neardup.c), unit tests and fuzzers with malloc and
 * nothing (test/unit/host.c).
 */
#ifndef NEARDUP_HOST_H
#define NEARDUP_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory of any size.  They never return NULL: a host that cannot serve leaves
 * by its own error path, and frees what the caller held.
 */
extern void *host_alloc(size_t bytes);
extern void *host_realloc(void *memory, size_t bytes);
extern void host_free(void *memory);

/* Memory that is never freed, for tables made once in a process. */
extern void *host_alloc_forever(size_t bytes);

/* Called at least once per 64 kB of input; may leave by a non-local exit. */
extern void host_check_interrupts(void);

#endif
