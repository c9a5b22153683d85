/*
 * unit.h: checks for unit tests.  A test's main ends with return unit_report().
 */
#ifndef NEARDUP_UNIT_H
#define NEARDUP_UNIT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls of host_check_interrupts() (host.c). */
extern unsigned long host_interrupt_checks;

/* Bytes that are allocated, and the most that were allocated at a time (host.c). */
extern size_t host_memory;
extern size_t host_peak;

/* The most that host_limit() returns (host.c). */
extern size_t host_limit_most;

/* What host_random_seed returns (host.c). */
extern uint64_t host_seed;

static int unit_passed = 0;
static int unit_failed = 0;

/* Counts a check; one that fails prints its position, its condition, and details as by printf. */
#define CHECK_MSG(condition, ...) \
	do \
	{ \
		if (condition) \
			unit_passed++; \
		else \
		{ \
			unit_failed++; \
			printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

#define CHECK(condition) CHECK_MSG(condition, "%s", __func__)

/* Do the tests run as many rounds as for a release? */
static inline int
unit_is_long(void)
{
	return getenv("NEARDUP_LONG") != NULL;
}

/* Returns how often a test repeats with other random values: a fifth of `most` unless NEARDUP_LONG is set. */
static inline int
unit_rounds(int most)
{
	return unit_is_long() ? most : (most + 4) / 5;
}

/* Prints the totals, and returns the exit code of the test. */
static inline int
unit_report(void)
{
	printf("%d passed, %d failed\n", unit_passed, unit_failed);
	return unit_failed > 0;
}

#endif
