/*
 * timer.h: what programs that measure times share.
 */
#ifndef NEARDUP_BENCH_TIMER_H
#define NEARDUP_BENCH_TIMER_H

#include <stdlib.h>
#include <time.h>

/* Takes results, so that the compiler does not drop what computes them. */
static volatile long sink;

/* Returns the time since some moment. */
static inline double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Returns the milliseconds that this process had of processors. */
static inline double
processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static inline int
by_value(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return (a > b) - (a < b);
}

/* Sorts times, and returns the one in the middle. */
static inline double
median(double *times, size_t count)
{
	qsort(times, count, sizeof(double), by_value);
	return times[count / 2];
}

#endif
