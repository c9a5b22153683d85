/*
 * host.h: what the plain C layers need of the program that links them.
 *
 * base/, text/, compare/, sketch/, grouping/ and join/ do not use PostgreSQL.  They
 * allocate memory and check for interrupts through these functions.  The extension
 * implements them by palloc and CHECK_FOR_INTERRUPTS (neardup.c), the library by what its
 * program gives it (library/session.c), unit tests and fuzzers by malloc and a counter
 * (test/unit/host.c).  Several threads may use the layers at once: tables that are made in
 * the first call are published atomically.
 */
#ifndef NEARDUP_BASE_HOST_H
#define NEARDUP_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in PostgreSQL. */
#define Min(x, y) ((x) < (y) ? (x) : (y))
#define Max(x, y) ((x) > (y) ? (x) : (y))

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

extern void *host_alloc_forever(size_t bytes);
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

extern uint64_t host_random_seed(void);
extern _Noreturn void host_refuse_size(const char *what);

#endif
