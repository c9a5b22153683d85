/*
 * leads.h: documents compared by their leads, many with many.
 *
 * A run of documents is stored by words: the first words of all, then the second words,
 * and so on.  So a vector holds a word of each of several documents, and no sum across a
 * vector is needed.  The result is a bit for each pair, and nothing branches on a
 * distance.
 */
#ifndef NEARDUP_JOIN_LEADS_H
#define NEARDUP_JOIN_LEADS_H

#include "join/join.h"

/* Documents of a run.  The run stays in the nearest cache while others are compared with it. */
#define RUN 256
#define RUN_WORDS (RUN / 64)

/* Documents that are compared with a run in one call, at most. */
#define LEADS_AT_ONCE 8

typedef struct LeadRun
{
	uint64_t word[JOIN_LEAD_WORDS][RUN];
	int documents;
} __attribute__((aligned(64))) LeadRun;

/* A bit for each document of a run. */
typedef struct LeadMatch
{
	uint64_t bits[RUN_WORDS];
} LeadMatch;

/* How leads are compared: their first `words` words, of symbols of b bits. */
typedef struct LeadShape
{
	int lead_words; /* from one lead to the next */
	int words;
	int b;
	int h;
} LeadShape;

/*
 * Sets match[i] to the documents of the run that differ from lead i in at most h symbols.
 * Returns whether there are any.
 */
typedef bool (*LeadCompare)(const LeadShape *shape, const uint64_t *lead, int count,
							const LeadRun *run, LeadMatch *match);

/* A kernel, for tests and benchmarks. */
typedef struct LeadKernel
{
	const char *name; /* as in base/cpu.h */
	bool (*available)(void);
	LeadCompare compare;
} LeadKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const LeadKernel lead_kernels[];

/* Stores up to RUN leads as a run. */
extern void leads_load(const LeadShape *shape, const uint64_t *lead, int documents, LeadRun *run);

/* Compares as the best kernel does. */
extern bool leads_compare(const LeadShape *shape, const uint64_t *lead, int count,
						  const LeadRun *run, LeadMatch *match);

#endif
