/*
 * distinct.h: how minhash.c gets at the elements that distinct.c gathered.
 */
#ifndef NEARDUP_DISTINCT_H
#define NEARDUP_DISTINCT_H

#include "sketch.h"

/*
 * The distinct elements, mixed and in no order, in the builder's own memory
 * (to be freed by host_free).  The builder is spent.  Returns their number.
 */
extern size_t distinct_elements(MinhashBuilder *builder, uint64_t **elements);

#endif
