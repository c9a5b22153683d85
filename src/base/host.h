/*
 * host.h: what the plain C layers need of the program that links them.
 *
 * base/, text/, compare/, sketch/, grouping/ and join/ do not use PostgreSQL.  They
 * allocate memory and check for interrupts through these functions.  The extension
 * implements them by palloc and CHECK_FOR_INTERRUPTS (neardup.c), unit tests and fuzzers
 * by malloc and a counter (test/unit/host.c).
 */
#ifndef NEARDUP_BASE_HOST_H
#define NEARDUP_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in PostgreSQL. */
#define Min(x, y) ((x) < (y) ? (x) : (y))
#define Max(x, y) ((x) > (y) ? (x) : (y))

/*
 * Like malloc, realloc and free, for any size, but they never return NULL: a host that
 * has no memory raises its own error, and then frees what the caller holds.
 */
extern void *host_alloc(size_t bytes);
extern void *host_realloc(void *memory, size_t bytes);
extern void host_free(void *memory);

/*
 * Returns an array with room for at least `needed` elements of `size` bytes.  *room is
 * the number of elements that it has room for, 0 if it is NULL; it at least doubles.
 */
static inline void *
host_grow(void *array, size_t *room, size_t needed, size_t size)
{
	if (needed > *room)
	{
		*room = Max(needed, 2 * *room);
		array = host_realloc(array, *room * size);
	}
	return array;
}

/* Allocates memory that is never freed, for tables that a process builds once. */
extern void *host_alloc_forever(size_t bytes);

/*
 * Checks whether the user cancels; may leave by a non-local exit.  The layers call it at
 * least once per 64 kB of input.
 */
extern void host_check_interrupts(void);

#define STEPS_BETWEEN_CHECKS 4096

/* Checks at every STEPS_BETWEEN_CHECKS-th step of a loop, counted by the caller from 0. */
static inline void
host_check_interrupts_at(uint64_t step)
{
	if (step % STEPS_BETWEEN_CHECKS == 0)
		host_check_interrupts();
}

/* Adds to a count of steps; checks, and starts again, when STEPS_BETWEEN_CHECKS are done. */
static inline void
host_count_steps(size_t *steps, size_t more)
{
	*steps += more;
	if (*steps < STEPS_BETWEEN_CHECKS)
		return;
	*steps = 0;
	host_check_interrupts();
}

/*
 * Returns a random number that nobody can predict, for the secrets of hash tables
 * (base/table.h).  No result may depend on it.
 */
extern uint64_t host_random_seed(void);

/* Raises an error about something that is too large; `what` is its message. */
extern _Noreturn void host_refuse_size(const char *what);

#endif
