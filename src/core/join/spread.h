/*
 * spread.h: the join of signatures that memory does not hold, by way of files.
 */
#ifndef NEARDUP_JOIN_SPREAD_H
#define NEARDUP_JOIN_SPREAD_H

#include "join/join.h"

/* Signatures in a file, one behind the other, which the join reads but does not change. */
typedef struct FileList
{
	HostFile *file;
	uint32_t count;
	size_t stride; /* bytes from one to the next, at least the join's */
} FileList;

/* A join of signatures in files. */
typedef struct SpreadJoin
{
	SymbolJoin symbols; /* the join; its sides do not matter */
	JoinPlan plan;
	FileList left;
	FileList right; /* file is NULL: join left with itself */
	size_t memory;  /* bytes that the join may take */
	bool by_part;   /* the pairs of a group are passed on before the next group begins */
} SpreadJoin;

/* Returns a side. */
static inline const FileList *
spread_side(const SpreadJoin *join, int side)
{
	return side == 0 || join->right.file == NULL ? &join->left : &join->right;
}

extern bool spread_run(const SpreadJoin *join);

/* ---- Pairs to compare as a whole (hits.c) ----------------------------------- */

typedef struct Hits Hits;

extern Hits *hits_begin(const SpreadJoin *join, const JoinPrefix *prefixes, size_t memory);
extern void hits_add(Hits *hits, int group, uint32_t left, uint32_t right);
extern bool hits_flush(Hits *hits);
extern void hits_end(Hits *hits);

#endif
