/*
 * sets.c: the exact join of bags.
 *
 * Documents are taken by length, and compared with those before them.  If two documents
 * are similar, the first common item by rank is among the rarest items of both, so only
 * these are listed and searched; by containment, it is among the rarest of the shorter
 * one, so the longer one searches by all its items.  All that the two share comes from
 * that item on, so nothing needs to be remembered from list to list.
 */
#include "join/sets.h"

#include <string.h>

#include "join/set_plan.h"
#include "sketch/sketch.h"

/* ---- Bounds -------------------------------------------------------------- */

/*
 * These bounds, and set_partition_end(), use the quotient that is the similarity, which rounds alike everywhere
 * and is monotonic: they start from a guess by the formula and step to the first number
 * for which the condition holds.
 */

/* Returns the least length of a bag that can be similar to one of this length. */
static uint64_t
least_length(SetMeasure measure, uint64_t length, double threshold)
{
	uint64_t least = (uint64_t) ((double) length * threshold);

	if (measure == SET_CONTAINMENT)
		return 1;
	while (least > 0 && resemblance_of_lengths(least, least, length) >= threshold)
		least--;
	while (resemblance_of_lengths(least, least, length) < threshold)
		least++;
	return least;
}

/* Returns the least that bags of these lengths must share to be similar; 0 if they cannot be. */
uint64_t
set_overlap_needed(SetMeasure measure, uint64_t length_x, uint64_t length_y, double threshold)
{
	uint64_t most = Min(length_x, length_y);
	double guess = measure == SET_CONTAINMENT ?
		(double) most * threshold :
		((double) length_x + (double) length_y) * threshold / (1 + threshold);
	uint64_t needed = Min((uint64_t) guess, most);

	if (set_similarity(measure, most, length_x, length_y) < threshold)
		return 0;
	while (needed > 0 && set_similarity(measure, needed, length_x, length_y) >= threshold)
		needed--;
	while (set_similarity(measure, needed, length_x, length_y) < threshold)
		needed++;
	return needed;
}

/* ---- Meetings ------------------------------------------------------------ */

/* What documents of two lengths must share. */
typedef struct Needed
{
	uint64_t length_x;
	uint64_t length_y;
	uint64_t overlap;
} Needed;

/* Overlaps that are kept, by the length of the listed document. */
#define NEEDED 1024

typedef struct Joiner
{
	const SetJoin *join;
	const SetPlan *plan;
	SetJoinStats *stats;
	size_t *first; /* of each list, whose document is not too short by now */
	uint32_t *met; /* by document: the last document that it has met, plus 1 */
	Needed needed[NEEDED];
	size_t steps; /* since the last check for interrupts */
	bool ended;   /* by the sink */
} Joiner;

/* A document that searches for similar ones, at one of its items. */
typedef struct Seeker
{
	const SetDocument *document;
	uint32_t number;
	uint32_t item;
	uint64_t remaining; /* length from the item on */
} Seeker;

/* Returns the least that documents of these lengths must share, as set_overlap_needed does. */
static uint64_t
overlap_needed(Joiner *joiner, uint64_t length_x, uint64_t length_y)
{
	const SetJoin *join = joiner->join;
	Needed *known = joiner->needed + length_y % NEEDED;

	if (known->length_x != length_x || known->length_y != length_y)
		*known = (Needed){length_x, length_y,
						  set_overlap_needed(join->measure, length_x, length_y, join->threshold)};
	return known->overlap;
}

/*
 * Returns whether two documents may share this much, by their bitmaps: each bit that is
 * set in one only is of an item that the other lacks.
 */
static bool
may_share(const Joiner *joiner, const SetDocument *x, const SetDocument *y, uint64_t needed)
{
	const SetItems *items = &joiner->plan->items;
	const uint64_t *in_x = items->bitmap + (x - items->document) * items->words;
	const uint64_t *in_y = items->bitmap + (y - items->document) * items->words;
	uint64_t differ = (uint64_t) symbol_distance((const uint8_t *) in_x, (const uint8_t *) in_y,
												 (int) items->words * 64, 1);

	return x->length - x->lone + y->length - y->lone >= differ + 2 * needed;
}

/*
 * Returns what two documents share from their first common item on; or a number less than
 * needed, as soon as what remains is not enough.
 */
static inline uint64_t
overlap(const SetItems *items, const Seeker *seeker, const SetPosting *posting, uint64_t needed,
		bool weighted)
{
	const SetDocument *x = seeker->document;
	const SetDocument *y = items->document + posting->document;
	size_t i = x->item + seeker->item;
	size_t j = y->item + posting->item;
	size_t end_x = x->item + x->items;
	size_t end_y = y->item + y->items;
	uint64_t remaining_x = seeker->remaining;
	uint64_t remaining_y = posting->remaining;
	uint64_t shared = 0;

	while (i < end_x && j < end_y && shared + Min(remaining_x, remaining_y) >= needed)
	{
		bool take_x = items->rank[i] <= items->rank[j];
		bool take_y = items->rank[j] <= items->rank[i];
		uint32_t in_x = weighted ? items->frequency[i] : 1;
		uint32_t in_y = weighted ? items->frequency[j] : 1;

		shared += take_x && take_y ? Min(in_x, in_y) : 0;
		remaining_x -= take_x ? in_x : 0;
		remaining_y -= take_y ? in_y : 0;
		i += take_x;
		j += take_y;
	}
	return shared;
}

/* Compares the seeker and a listed document at the first item that they share. */
static void
meet(Joiner *joiner, const Seeker *seeker, const SetPosting *posting)
{
	const SetJoin *join = joiner->join;
	const SetItems *items = &joiner->plan->items;
	const SetDocument *x = seeker->document;
	const SetDocument *y = items->document + posting->document;
	bool swap = join->right ? x->of_right : x->bag > y->bag;
	uint64_t needed = overlap_needed(joiner, x->length, y->length);
	uint64_t shared;

	if (needed == 0)
	{
		joiner->stats->pruned_by_length++;
		return;
	}
	if (Min(seeker->remaining, posting->remaining) < needed || !may_share(joiner, x, y, needed))
	{
		joiner->stats->pruned_by_frequency++;
		return;
	}
	joiner->stats->compared++;
	shared = join->weighted ? overlap(items, seeker, posting, needed, true) :
							  overlap(items, seeker, posting, needed, false);
	host_count_steps(&joiner->steps, x->items + (size_t) y->items);
	if (shared < needed)
		return;
	joiner->stats->pairs++;
	joiner->ended = !join->sink(join->state, swap ? y->bag : x->bag, swap ? x->bag : y->bag,
								set_similarity(join->measure, shared, x->length, y->length));
}

/* Meets the documents in a list that come before the seeker. */
static void
read_list(Joiner *joiner, const Seeker *seeker, size_t list)
{
	const SetPlan *plan = joiner->plan;
	const SetPosting *end = plan->posting + plan->start[list + 1];
	const SetPosting *posting = plan->posting + joiner->first[list];

	while (posting < end && posting->document < seeker->document->earliest)
		posting++;
	joiner->first[list] = (size_t) (posting - plan->posting);
	for (; posting < end && posting->document < seeker->number && !joiner->ended; posting++)
	{
		uint32_t *met = joiner->met + posting->document;

		host_count_steps(&joiner->steps, 1);
		joiner->stats->hits++;
		if (*met == seeker->number + 1)
			continue;
		*met = seeker->number + 1;
		meet(joiner, seeker, posting);
	}
}

/* Finds the similar documents that come before a document, by the rarest list first. */
static void
seek(Joiner *joiner, uint32_t d)
{
	const SetItems *items = &joiner->plan->items;
	const SetDocument *document = items->document + d;
	const SetJoin *join = joiner->join;
	uint64_t least = least_length(join->measure, document->length, join->threshold);
	bool of_right = join->right ? !document->of_right : false;
	Seeker seeker = {.document = document,
					 .number = d,
					 .remaining = document->length - document->lone};

	for (; seeker.item < document->items && seeker.remaining >= least; seeker.item++)
	{
		size_t item = document->item + seeker.item;

		read_list(joiner, &seeker, set_list(join, items->rank[item], of_right));
		seeker.remaining -= set_item_frequency(items, item);
	}
	host_count_steps(&joiner->steps, seeker.item + 1);
	joiner->stats->bags++;
}

/* Returns the first document of a part. */
static uint32_t
part_start(const SetPlan *plan, int part)
{
	return (uint32_t) ((uint64_t) plan->items.documents * part / SET_PARTS);
}

/* Returns how many bytes set_run() allocates. */
size_t
set_run_bytes(const SetPlan *plan)
{
	return plan->items.documents * sizeof(uint32_t) + plan->lists * sizeof(size_t);
}

/*
 * Joins parts in ascending order: all, or those that join->next returns.  Adds to stats.
 * Returns false if the sink ended the join.
 */
bool
set_run(const SetJoin *join, const SetPlan *plan, SetJoinStats *stats)
{
	Joiner *joiner = host_alloc(sizeof(Joiner));
	size_t documents = plan->items.documents;
	bool ended;
	int part = -1;

	memset(joiner, 0, sizeof(Joiner));
	joiner->join = join;
	joiner->plan = plan;
	joiner->stats = stats;
	joiner->first = host_alloc((plan->lists + 1) * sizeof(size_t));
	memcpy(joiner->first, plan->start, (plan->lists + 1) * sizeof(size_t));
	joiner->met = host_alloc(documents * sizeof(uint32_t));
	memset(joiner->met, 0, documents * sizeof(uint32_t));
	for (;;)
	{
		part = join->next ? join->next(join->next_state) : part + 1;
		if (part < 0 || part >= SET_PARTS)
			break;
		for (uint32_t d = part_start(plan, part); d < part_start(plan, part + 1) && !joiner->ended;
			 d++)
			seek(joiner, d);
		if (joiner->ended)
			break;
	}
	ended = joiner->ended;
	host_free(joiner->met);
	host_free(joiner->first);
	host_free(joiner);
	return !ended;
}

/*
 * Gives sink every pair whose similarity, the exact number that the functions of
 * sketch/bag.h return, is at least the threshold.  Each pair is given once, in an order
 * that depends only on the bags.  An empty bag is in no pair.  The join allocates about 80
 * bytes for each element of the bags.
 *
 * n equal bags are n (n - 1) / 2 pairs; a caller that does not want them collapses equal
 * bags first.  Returns false, without a pair, if UINT32_MAX or more elements are in more
 * than one bag, or there are that many bags.
 */
bool
set_join(const SetJoin *join, SetJoinStats *stats)
{
	SetPlan plan;

	memset(stats, 0, sizeof(SetJoinStats));
	if (!set_plan(join, &plan))
		return false;
	stats->bags =
		(uint64_t) join->left_count + (join->right ? join->right_count : 0) - plan.items.documents;
	stats->partitions = plan.items.partitions;
	(void) set_run(join, &plan, stats);
	set_plan_free(&plan);
	return true;
}
