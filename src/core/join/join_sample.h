/*
 * join_sample.h: what a sample of documents tells about the pairs of a join.
 */
#ifndef NEARDUP_JOIN_JOIN_SAMPLE_H
#define NEARDUP_JOIN_JOIN_SAMPLE_H

#include "join/join.h"

/* The most documents of each side that are sampled. */
#define SAMPLE 64

/* Evenly chosen documents of both sides.  They depend on nothing but the join. */
typedef struct JoinSample
{
	const uint8_t *left[SAMPLE];
	const uint8_t *right[SAMPLE]; /* the same as left if a side is joined with itself */
	int lefts;
	int rights;
	bool self;
} JoinSample;

extern void sample_take(const SymbolJoin *join, JoinSample *sample);

/* Returns the first right document that is paired with left document i. */
static inline int
sample_first(const JoinSample *sample, int i)
{
	return sample->self ? i + 1 : 0;
}

/* Returns the number of pairs of a sample. */
static inline int
sample_pairs(const JoinSample *sample)
{
	return sample->self ? sample->lefts * (sample->lefts - 1) / 2 : sample->lefts * sample->rights;
}

extern void sample_chances(const SymbolJoin *join, const JoinSample *sample, float *chance);
extern Arrangement arrange_symbols(const SymbolJoin *join, const float *chance);
extern void arrange_prefix(const Arrangement *arrangement, const uint8_t *packed, int b, int words,
						   uint64_t *prefix);
extern void sample_shares(const SymbolJoin *join, const JoinSample *sample,
						  const Arrangement *arrangement, int h,
						  double share[JOIN_PREFIX_WORDS + 1]);

#endif
