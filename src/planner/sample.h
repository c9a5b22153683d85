/*
 * sample.h: what ANALYZE keeps of a column of signatures.
 *
 * Beside the common values that PostgreSQL keeps of any type there is a slot of
 * a kind of our own in pg_statistic.  Its values are a sample of the other rows.
 * Its numbers tell how far rows are from each other: number i of n + 1 is the
 * share of pairs of rows (no row with itself) in which at most i / n of the
 * symbols differ.  NULLs are left out of both; signatures of the empty set are
 * not, and are near nothing.
 */
#ifndef NEARDUP_PLANNER_SAMPLE_H
#define NEARDUP_PLANNER_SAMPLE_H

#include "sql/signature.h"

#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"

/* Chosen at random from the range for private use. */
#define STATISTIC_KIND_SIGNATURES 23847

/* A sample has at most so many signatures, and bytes of them. */
#define SAMPLE_MOST 400
#define SAMPLE_BYTES 65536

/* Distances are told in steps of one symbol, or in so many. */
#define SAMPLE_STEPS 128

static inline int
sample_steps(int k)
{
	return Min(k, SAMPLE_STEPS);
}

/* What is known of a column, or of an expression. */
typedef struct Sample
{
	double rows;    /* of its relation; 0 where that is unknown */
	double nulls;   /* share of rows */
	double present; /* share of rows that are near anything */
	Oid relation;   /* whose statistics these are; 0 for none */
	AttrNumber column;

	/* Signatures; the first ones are common, each with a share of its own. */
	int count;
	int common;
	Signature *signature;
	const float4 *share; /* of all rows */
	double rest;         /* share of all rows that each other one stands for */

	int steps; /* 0: pairs are unknown */
	const float4 *within;

	/* To be freed. */
	AttStatsSlot common_slot;
	AttStatsSlot slot;
} Sample;

/*
 * The column that node is, in any relation of the query.  is_signature tells a
 * value's type; values that are none are passed over.  function is the one that
 * asks: without leave to read the rows, the user sees only their number.
 */
extern void sample_read(Sample *sample, PlannerInfo *root, Node *node, Oid function);
extern void sample_free(Sample *sample);

/* A value of any of our types, if it is one that can be compared at all. */
extern bool signature_of_value(Oid type, Datum value, uint64 *bits, Signature *signature);

/* The first that is not of the empty set, or NULL. */
extern const Signature *sample_typical(const Sample *sample);

/* Of the same column of the same table? */
extern bool sample_is_same(const Sample *x, const Sample *y);

/*
 * The share of all rows that are within radius of a signature.  Returns how many
 * of the sample it is taken from, not counting common values.
 */
extern int sample_near(const Sample *sample, const Signature *centre, int radius, double *share);

/* The share of pairs of rows, one of each, that are within radius. */
extern double sample_pairs(const Sample *x, const Sample *y, int radius);

#endif
