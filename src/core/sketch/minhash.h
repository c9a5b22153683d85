/*
 * minhash.h: the kernels of minhash.c, for its tests.
 */
#ifndef NEARDUP_SKETCH_MINHASH_H
#define NEARDUP_SKETCH_MINHASH_H

#include "sketch/sketch.h"

/* The most elements whose bins and symbols a kernel computes at once. */
#define LANES 512

typedef struct Lanes
{
	uint32_t bin[LANES];
	uint32_t symbol[LANES];
} Lanes;

/* Computes the bins and symbols of elements. */
typedef struct RoundKernel
{
	const char *name; /* the name of the kernel, as in cpu.h */
	bool (*available)(void);
	/* Computes the first round. */
	void (*first)(const uint64_t *element, int count, uint32_t k, Lanes *lanes);
	/*
	 * Computes for element i the later round first + step[i].  May leave out elements whose bins
	 * have a symbol of a round before `first`; returns how many lanes there are.
	 */
	int (*later)(const uint64_t *element, const uint32_t *step, int count, uint32_t first,
				 uint32_t k, const uint32_t *symbols, Lanes *lanes);
} RoundKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const RoundKernel round_kernels[];

#endif
