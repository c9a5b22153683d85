/*
 * shared_memory.h: what parallel processes share: the library, and chunks of shared memory by
 * key.
 */
#ifndef NEARDUP_SHARED_MEMORY_H
#define NEARDUP_SHARED_MEMORY_H

#include "compat.h"

#include "access/parallel.h"

/* The library, as the extension's functions name it. */
#define NEARDUP_LIBRARY COMPAT_LIBRARY_FOLDER "neardup"

/* Reserves one more chunk, before the context's shared memory is created. */
static inline void
shared_reserve(ParallelContext *context, Size size)
{
	shm_toc_estimate_chunk(&context->estimator, size);
	shm_toc_estimate_keys(&context->estimator, 1);
}

/* Allocates a reserved chunk, which workers look up by its key. */
static inline void *
shared_put(ParallelContext *context, uint64 key, Size size)
{
	void *chunk = shm_toc_allocate(context->toc, size);

	shm_toc_insert(context->toc, key, chunk);
	return chunk;
}

#endif
