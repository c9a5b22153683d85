/*
 * pair_kinds.h: the kinds of joins that pairs.c makes: of signatures, of sets, and of evidence.
 */
#ifndef NEARDUP_JOIN_PAIR_KINDS_H
#define NEARDUP_JOIN_PAIR_KINDS_H

#include "join/pairs.h"
#include "join/set_plan.h"
#include "join/spread.h"

/* A join of signatures. */
typedef struct SignaturePairs
{
	SignatureHeader shape;
	SpreadJoin spread; /* the join; its symbols and plan also in memory */
	uint8_t *copy[2];  /* copies of signatures that are not in order, or NULL */
} SignaturePairs;

/* A join of sets, which documents are or which are their evidence. */
typedef struct SetPairs
{
	SetJoin join;
	SetPlan plan;
	SetList list[2];
} SetPairs;

typedef enum PairKindName
{
	PAIRS_OF_SIGNATURES,
	PAIRS_OF_SETS,
	PAIRS_OF_EVIDENCE
} PairKindName;

/* Where evidence judges pairs. */
typedef enum PairJudging
{
	PAIRS_ARE_SIMILAR, /* nowhere */
	JUDGED_HERE,       /* where parts run, since evidence is read */
	JUDGED_LATER       /* where they are taken, since evidence is kept, or by the sink */
} PairJudging;

/* All that a join has.  pairs_attach() replaces its arrays. */
typedef struct Inside
{
	PairJoin join; /* the first, so that both are one address */
	PairKindName kind;
	const PairOptions *options;
	const DocumentList *list[2]; /* equal: one list is joined with itself */
	JoinLabels labels;           /* label is NULL if there are none */
	PairJudging judging;
	SignaturePairs signatures; /* planned unless documents are sets */
	SetPairs sets;
} Inside;

/* What differs between kinds of joins. */
typedef struct PairKind
{
	void (*begin)(Inside *inside);
	bool (*run)(const Inside *inside, const PairRun *run);
	void (*end)(Inside *inside);
	void (*arrays)(const Inside *inside, PairArray *array);
	void (*attach)(Inside *inside, const PairArray *array);
} PairKind;

/* Returns the number of different lists of a join, 1 or 2. */
static inline int
list_count(const Inside *inside)
{
	return inside->list[0] == inside->list[1] ? 1 : 2;
}

extern const PairKind pair_kinds[];

extern void signatures_plan(Inside *inside);
extern void make_sets(const DocumentList *list, uint32_t count, uint64_t limit, SetStore *store);
extern bool evidence_is_cheaper(const DocumentList *left, const DocumentList *right,
								const SpreadJoin *planned);
extern SetJoin set_pairs_join(const PairOptions *options, bool weighted, const SetList *left,
							  const SetList *right);

#endif
