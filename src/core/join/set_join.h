/*
 * set_join.h: all pairs of similar bags, in memory, exactly.
 *
 * The algorithm of SpotSigs (Theobald, Siddharth, Paepcke, SIGIR 2008, section 4): bags
 * are partitioned by length, so that only bags of the same or of neighbouring partitions
 * can be similar.  Bags with a common element are found by inverted lists, the rarest
 * element first.  A pair is pruned by the difference of the lengths, by the frequency of
 * the elements already passed, and by a bitmap of each bag (Sandes, Teodoro, Melo, 2020).
 * As in PPJoin (Xiao et al., WWW 2008), the lists hold only the rarest elements of each bag,
 * and the frequency passed counts on both sides.  No pair is lost.
 *
 * A bag may be contained in one of any greater length, so containment has one partition.
 * The lists hold the rarest elements of the lesser bag, and the greater one is searched by
 * all of its elements.
 */
#ifndef NEARDUP_JOIN_SETS_H
#define NEARDUP_JOIN_SETS_H

#include "join/forecast.h"
#include "join/labels.h"
#include "join/stats.h"
#include "join/stored_sets.h"

/*
 * Takes a pair: a is the number of a bag in left; b is that of one in right, or of one in
 * left with b > a if there is no right.  Returns false to end the join.
 */
typedef bool (*SetPairSink)(void *state, uint32_t a, uint32_t b, double similarity);

/* Returns the part to join next, or -1.  Then the part that it returned before is done. */
typedef int (*SetNext)(void *next_state);

typedef struct SetJoin
{
	const Bag *left;
	uint32_t left_count;
	const Bag *right; /* NULL: join left with itself */
	uint32_t right_count;
	double threshold; /* the threshold, above 0 and at most 1 */
	bool weighted;    /* lengths are sums of frequencies; if not, numbers of elements */
	Measure measure;  /* the measure: resemblance or containment */
	SetPairSink sink;
	void *state;  /* the state of sink */
	SetNext next; /* NULL: all parts in turn */
	void *next_state;
	JoinLabels labels;      /* the labels of the bags of left; label is NULL if there are none */
	const SetList *list[2]; /* stored sets in place of the bags of left, and of right; or NULL */
	size_t memory;          /* bytes that the join may take; 0: as many as it needs */
	/* Is called by a join by way of files, with the number of parts that are done; or NULL. */
	void (*progress)(void *state, int done, int parts);
	void *progress_state;
	Forecast *forecast; /* what is known of the time that it takes; NULL: nobody wants to know */
} SetJoin;

extern _Noreturn void set_refuse_size(void);
extern bool set_join(const SetJoin *join, JoinStats *stats);
extern uint64_t set_remaining_needed(const SetJoin *join, uint64_t length, bool greater);

#endif
