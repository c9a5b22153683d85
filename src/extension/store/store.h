/*
 * store.h: what an index says of all that it stores: storage parameters, shape, tails.
 */
#ifndef NEARDUP_STORE_STORE_H
#define NEARDUP_STORE_STORE_H

#include "store/meta.h"

/* ---- Storage parameters (reloptions.c) -------------------------------------- */

extern bytea *neardup_options(Datum reloptions, bool validate);
extern Grouping index_grouping(Relation index, const SignatureHeader *shape, uint32 grouped,
							   uint32 keyed);

/* ---- Shapes (shape.c) --------------------------------------------------- */

extern SignatureHeader index_shape(Relation index, const SignatureHeader *header);
extern char *index_describe_shape(const SignatureHeader *shape);
extern void index_check_shape(Relation index, const SignatureHeader *shape,
							  const SignatureHeader *other, bool building);

/* ---- Tails (tail.c) ----------------------------------------------------- */

/* A tail of this number of documents, or of bytes of them or of elements, is to be sealed. */
#define TAIL_DOCUMENTS 8192
#define TAIL_BYTES (512 * 1024)
#define TAIL_ELEMENT_BYTES (4 * 1024 * 1024)

/* How an insert has extended the tail: its length before and after, as tail_times() says. */
typedef struct TailGrowth
{
	uint32 before;
	uint32 after; /* 0: it was not extended */
} TailGrowth;

extern uint32 tail_length(const IndexMeta *meta);
extern uint32 tail_times(const IndexMeta *meta, uint32 pages, uint32 elements);
extern void tail_grew(TailGrowth *growth, uint32 before, const IndexMeta *meta);
extern bool tail_is_due(const IndexMeta *meta);

/* What tail_walk() calls for each page. */
typedef void (*TailVisitor)(void *state, Buffer buffer);
extern bool tail_walk(Relation index, const TailEntry *tail, TailVisitor visit, void *state);

#endif
