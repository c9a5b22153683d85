/*
 * statistics.h: what ANALYZE keeps of a column of signatures.
 *
 * In pg_statistic such a column has the most common values, as columns of any type, and
 * a slot of a kind of our own.  The slot's values are a sample of the other rows.  Its
 * numbers are the distribution of distances: number i of n + 1 is the share of pairs of
 * rows (no row with itself) in which at most i / n of the symbols differ.  NULLs are
 * in neither.  Signatures of the empty set are, and are near nothing.
 */
#ifndef NEARDUP_PLANNER_STATISTICS_H
#define NEARDUP_PLANNER_STATISTICS_H

#include "types/signature_type.h"

#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"

/* A random number from the range for private use. */
#define STATISTIC_KIND_SIGNATURES 23847

/* Limits of a sample: signatures, and their bytes. */
#define SAMPLE_MAX 400
#define SAMPLE_BYTES 65536

/* Returns the n of the distribution of distances: a step is a symbol, or several. */
static inline int
distance_steps(int k)
{
	return Min(k, 128);
}

/* The statistics of a column or of an expression. */
typedef struct ColumnStatistics
{
	double rows;    /* rows of its relation; 0 if unknown */
	double nulls;   /* share of rows */
	double present; /* share of rows that are neither NULL nor empty */
	Oid relation;   /* the relation that the statistics are of; InvalidOid if there are none */
	AttrNumber attribute;

	/* Signatures: first the most common values, then sampled rows. */
	int count;
	int common;
	Signature *signature;
	const float4 *common_share; /* the share of all rows for each common value */
	double sampled_share;       /* the share of all rows that each sampled row stands for */

	int steps; /* 0 if the distribution of distances is unknown */
	const float4 *within;

	/* What statistics_free() frees. */
	AttStatsSlot common_slot;
	AttStatsSlot slot;
} ColumnStatistics;

extern void statistics_read(ColumnStatistics *column, PlannerInfo *root, Node *node, Oid function);
extern void statistics_free(ColumnStatistics *column);
extern bool signature_of_value(Oid type, Datum value, uint64 *bits, Signature *signature);
extern const Signature *typical_signature(const Signature *signature, int count);
extern bool statistics_are_same(const ColumnStatistics *x, const ColumnStatistics *y);
extern int statistics_near(const ColumnStatistics *column, const Signature *centre, int self,
						   int radius, double *share);
extern int statistics_spread(const ColumnStatistics *column, int limit, int *row);
extern double statistics_pairs(const ColumnStatistics *x, const ColumnStatistics *y, int radius);

#endif
