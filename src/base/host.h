/*
 * host.h: what the plain C layers ask of the program they are linked into.
 *
 * text/, compare/, sketch/, grouping/ and join/ know nothing of PostgreSQL.  They reach memory and
 * cancellation through these functions: the extension answers with palloc
 * and CHECK_FOR_INTERRUPTS (neardup.c), unit tests and fuzzers with malloc and
 * nothing (test/unit/host.c).
 */
#ifndef NEARDUP_BASE_HOST_H
#define NEARDUP_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As PostgreSQL has them. */
#define Min(x, y) ((x) < (y) ? (x) : (y))
#define Max(x, y) ((x) > (y) ? (x) : (y))

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

/* The same at every STEPS_BETWEEN_CHECKS-th step of a loop of cheap steps. */
#define STEPS_BETWEEN_CHECKS 4096

static inline void
host_check_interrupts_at(uint64_t step)
{
	if (step % STEPS_BETWEEN_CHECKS == 0)
		host_check_interrupts();
}

/*
 * A random number that nobody can guess, for the secrets of hash tables (base/table.h).
 * No result may depend on it.
 */
extern uint64_t host_random_seed(void);

/* An error about something larger than can be handled; what is a message. */
extern _Noreturn void host_refuse_size(const char *what);

#endif
