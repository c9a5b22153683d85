/*
 * set_plan.h: the bags of a join with the lists of their items (set_plan.c, for set_join.c).
 *
 * The lists do not change while documents are compared, so parts of the documents can be
 * joined by processes that share a plan.  If memory does not hold the items, there are no lists: one block
 * of documents after the other is listed (set_spread.c).
 */
#ifndef NEARDUP_JOIN_SET_PLAN_H
#define NEARDUP_JOIN_SET_PLAN_H

#include "join/set_items.h"

/* A document in the list of one of its rarest items. */
typedef struct SetPosting
{
	uint64_t remaining; /* the length of the document from the item on */
	uint32_t document;
	uint32_t item; /* the number of the item in the document */
} SetPosting;

/* Nanoseconds for a posting whose document is compared by its bitmap, and for a document that is scanned. */
#define COST_OF_HIT 10.0
#define COST_OF_SCANNED 1.0

/*
 * The lists of all documents, which are searched with each longer document; or the lists of a
 * block of documents, which are searched with each shorter document, of the block or not.
 */
typedef struct SetPlan
{
	SetItems items;
	bool block;
	uint32_t mask; /* the bits of a rank that number its list; in a block, ranks may share lists */
	size_t lists;  /* one list for each number; if the join has a right, two: of left, of right */
	size_t *start; /* the start of each list, and the end of the last */
	size_t postings;
	SetPosting *posting; /* the postings of the documents of each list in turn */
	size_t longest;      /* the most postings of a list */
	double cost;         /* nanoseconds, estimated */
	double bytes; /* bytes of memory that the documents, their items and lists take, or would */
} SetPlan;

/* The parts of a join, joined one after the other. */
#define SET_PARTS 128

/* Returns the number of the list of a rank. */
static inline size_t
set_list(const SetJoin *join, const SetPlan *plan, uint32_t rank, bool of_right)
{
	rank &= plan->mask;
	return join->right ? 2 * (size_t) rank + of_right : rank;
}

typedef struct SetJoiner SetJoiner;

/* Returns how many postings a document has at most, if lists are searched by documents that are greater or not. */
static inline uint64_t
set_postings_most(const SetJoin *join, const SetDocument *document, bool greater)
{
	uint64_t rest = document->length - document->unshared;
	uint64_t least = set_remaining_needed(join, document->length, greater);

	return rest < least ? 0 : Min(rest - least + 1, document->items);
}

extern bool set_plan(const SetJoin *join, SetPlan *plan);
extern void set_plan_ranked(const SetJoin *join, SetRanks *ranks, SetPlan *plan);
extern void set_plan_lists(const SetJoin *join, SetPlan *plan, size_t ranks);
extern void set_plan_free(SetPlan *plan);
extern size_t set_run_bytes(const SetPlan *plan);
extern bool set_run(const SetJoin *join, const SetPlan *plan, JoinStats *stats);
extern bool set_spread_run(const SetJoin *join, const SetPlan *plan, JoinStats *stats);
extern SetJoiner *set_join_begin(const SetJoin *join, const SetPlan *plan, JoinStats *stats);
extern size_t set_join_seek(SetJoiner *joiner, const SetDocument *document, uint32_t number,
							uint32_t from, uint32_t to);
extern size_t set_join_cut(SetJoiner *joiner, uint32_t end);
extern bool set_join_give(SetJoiner *joiner);
extern void set_join_end(SetJoiner *joiner);

#endif
