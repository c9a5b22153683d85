/*
 * stats.h: what a join has done.
 */
#ifndef NEARDUP_JOIN_STATS_H
#define NEARDUP_JOIN_STATS_H

#include <stdint.h>

/*
 * The counts of a join, up to date after each part.  A pair of signatures is a candidate each time
 * that a group compares its prefixes.  A pair of sets is one if a list has both; then it is pruned
 * or compared.
 */
typedef struct JoinStats
{
	uint64_t candidates;          /* signatures: pairs in buckets within the radius */
	uint64_t compared;            /* pairs that were compared as a whole */
	uint64_t bags;                /* sets that have searched for others */
	uint64_t hits;                /* entries read from lists, and sets scanned in place of them */
	uint64_t pruned_by_length;    /* pairs pruned by the difference of their lengths */
	uint64_t pruned_by_frequency; /* pairs pruned by the frequency passed, or the bitmaps */
	uint64_t pairs;               /* pairs of sets that were found */
	uint32_t partitions;          /* partitions of sets by length, in the first join */
} JoinStats;

/* Adds what was done in another part, or by another process. */
static inline void
stats_add(JoinStats *stats, const JoinStats *more)
{
	stats->candidates += more->candidates;
	stats->compared += more->compared;
	stats->bags += more->bags;
	stats->hits += more->hits;
	stats->pruned_by_length += more->pruned_by_length;
	stats->pruned_by_frequency += more->pruned_by_frequency;
	stats->pairs += more->pairs;
}

#endif
