/*
 * host.h: what the plain C layers need of the program that links them.
 *
 * base/, text/, compare/, sketch/, grouping/ and join/ do not use PostgreSQL.  They
 * allocate memory, check for interrupts and write temporary files through these functions.
 * The extension implements them by palloc, CHECK_FOR_INTERRUPTS (neardup.c) and BufFile
 * (host_file.c), the library by what its program gives it and by files of its own
 * (library/session.c, file.c), unit tests and fuzzers by malloc, a counter and tmpfile()
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
 * Grows an array to at least `needed` elements of `size` bytes.  *room is the number of elements
 * that it has room for, 0 for NULL, and at least doubles if it must grow.
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

/* Checks for interrupts at every STEPS_BETWEEN_CHECKS-th step, counted from 0. */
static inline void
host_check_interrupts_at(uint64_t step)
{
	if (step % STEPS_BETWEEN_CHECKS == 0)
		host_check_interrupts();
}

/* Counts steps; every STEPS_BETWEEN_CHECKS it checks for interrupts and starts again. */
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

/*
 * Returns how many elements a bounded list, batch, sample or cache has, usually `usual`.  Tests make
 * all of them tiny, so that each overflows on small inputs.  Prices keep the usual numbers, and so do
 * plans.
 */
extern size_t host_limit(size_t usual);

/*
 * A temporary file.  It has no name that others see, and the end of the call removes it in any
 * case.  Positions are bytes from its start; a write may begin at its end or before.
 */
typedef struct HostFile HostFile;

extern HostFile *host_file_create(void);
extern void host_file_write(HostFile *file, uint64_t position, const void *bytes, size_t size);
extern void host_file_read(HostFile *file, uint64_t position, void *bytes, size_t size);
extern void host_file_close(HostFile *file);

extern _Noreturn void host_refuse_size(const char *what);

#endif
