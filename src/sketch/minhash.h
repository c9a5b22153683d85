/*
 * minhash.h: what distinct.c and minhash.c share, and their tests see.
 */
#ifndef NEARDUP_SKETCH_MINHASH_H
#define NEARDUP_SKETCH_MINHASH_H

#include "sketch/sketch.h"

/*
 * The distinct elements gathered, mixed, in the builder's own memory (to be
 * freed by host_free).  The builder is spent.  Returns their number.
 */
extern size_t distinct_elements(MinhashBuilder *builder, uint64_t **elements);

/* Elements whose bins and symbols are computed at once, then applied. */
#define LANES 256

typedef struct Lanes
{
	uint32_t bin[LANES];
	uint32_t symbol[LANES];
} Lanes;

/* From elements to lanes, for the first round and for a later one. */
typedef struct RoundKernels
{
	bool (*available)(void);
	void (*first)(const uint64_t *element, int count, uint32_t k, Lanes *lanes);
	/* Lane i is in the round first + step[i]. */
	void (*later)(const uint64_t *element, const uint32_t *step, int count, uint32_t first,
				  uint32_t k, Lanes *lanes);
} RoundKernels;

/* All kernels of this build, the plain one first; ends with a NULL. */
extern const RoundKernels round_kernels[];

#endif
