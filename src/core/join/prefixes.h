/*
 * prefixes.h: prefixes of documents, and documents compared by them, many with many.
 *
 * A run of documents is stored by words: the first words of all, then the second words, and so
 * on.  So a vector register holds a word of each of several documents, and no sum across it is
 * needed.  The result is a bit for each pair, and nothing branches on a distance.
 */
#ifndef NEARDUP_JOIN_PREFIXES_H
#define NEARDUP_JOIN_PREFIXES_H

#include "join/join.h"

/* ---- The prefixes of a group (join_prefix.c) ------------------------------ */

extern JoinPrefix prefix_of_group(const JoinPlan *plan, int group, int words, int h);
extern bool prefix_within(const JoinPrefix *part, const uint8_t *x, const uint8_t *y);

/* ---- Many with many (prefixes.c) ------------------------------------------ */

/* The most documents of a run.  The run stays in the first cache while others are compared with it. */
#define RUN 256
#define RUN_WORDS (RUN / 64)

/* The most documents that are compared with a run in one call. */
#define PREFIXES_AT_ONCE 8

typedef struct PrefixRun
{
	uint64_t word[JOIN_PREFIX_WORDS][RUN];
	int documents;
} __attribute__((aligned(64))) PrefixRun;

/* A bit for each document of a run. */
typedef struct PrefixMatch
{
	uint64_t bits[RUN_WORDS];
} PrefixMatch;

/* The shape of prefixes, and how near they must be. */
typedef struct PrefixShape
{
	int words; /* the words of a prefix */
	int b;     /* the bits of a symbol */
	int h;     /* the greatest distance, in symbols */
} PrefixShape;

/*
 * Sets match[i] to the documents of the run that differ from prefix i in at most h symbols.
 * Returns whether there are any.
 */
typedef bool (*PrefixCompare)(const PrefixShape *shape, const uint64_t *prefix, int count,
							  const PrefixRun *run, PrefixMatch *match);

/* A kernel, for tests and benchmarks. */
typedef struct PrefixKernel
{
	const char *name; /* the name of the kernel, as in base/cpu.h */
	bool (*available)(void);
	PrefixCompare compare;
} PrefixKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const PrefixKernel prefix_kernels[];

extern void prefixes_load(const PrefixShape *shape, const uint64_t *prefix, int documents,
						  PrefixRun *run);
extern bool prefixes_compare(const PrefixShape *shape, const uint64_t *prefix, int count,
							 const PrefixRun *run, PrefixMatch *match);

#endif
