/*
 * timer.h: the time of a kernel.
 */
#ifndef NEARDUP_BENCH_TIMER_H
#define NEARDUP_BENCH_TIMER_H

#include <time.h>

/* Takes results, so that the compiler does not drop what computes them. */
static volatile long sink;

/* Returns the time since some moment. */
static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

#endif
