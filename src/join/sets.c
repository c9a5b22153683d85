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

#include "join/set_items.h"
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

/* ---- Lists --------------------------------------------------------------- */

/* A document in the list of one of its rarest items. */
typedef struct Posting
{
	uint64_t remaining; /* length of the document from the item on */
	uint32_t document;
	uint32_t item; /* number of the item in the document */
} Posting;

/* The postings of a rank and a source, by length of their documents. */
typedef struct List
{
	size_t first; /* whose document is not too short by now */
	size_t end;   /* of those entered */
} List;

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
	SetJoinStats *stats;
	SetItems items;
	List *list; /* by rank; with two sources, of left and right in turn */
	Posting *posting;
	uint32_t *met; /* by document: the last document that it has met, plus 1 */
	Needed needed[NEEDED];
	size_t steps; /* since the last check for interrupts */
} Joiner;

static inline List *
list_of(const Joiner *joiner, uint32_t rank, bool of_right)
{
	return joiner->list + (joiner->join->right ? 2 * (size_t) rank + of_right : rank);
}

/*
 * Returns how much of a document's length may come before the first item that it shares
 * with a similar document that is no shorter.
 */
static inline uint64_t
listed_length(const Joiner *joiner, const SetDocument *document)
{
	uint64_t length = document->length;

	return length -
		set_overlap_needed(joiner->join->measure, length, length, joiner->join->threshold);
}

/* Allocates the lists, each with room for all postings that it will get. */
static void
make_lists(Joiner *joiner)
{
	const SetItems *items = &joiner->items;
	size_t lists = (size_t) items->ranks * (joiner->join->right ? 2 : 1);
	size_t room = 0;
	uint32_t i;

	joiner->list = host_alloc(lists * sizeof(List));
	memset(joiner->list, 0, lists * sizeof(List));
	for (uint32_t d = 0; d < items->documents; d++)
	{
		const SetDocument *document = items->document + d;
		uint64_t may_pass = listed_length(joiner, document);
		uint64_t passed = document->lone;

		for (i = 0; i < document->items && passed <= may_pass; i++)
		{
			list_of(joiner, items->rank[document->item + i], document->of_right)->end++;
			passed += set_item_frequency(items, document->item + i);
		}
		host_count_steps(&joiner->steps, i + 1);
	}
	for (size_t l = 0; l < lists; l++)
	{
		size_t count = joiner->list[l].end;

		joiner->list[l].first = joiner->list[l].end = room;
		room += count;
	}
	joiner->posting = host_alloc(room * sizeof(Posting));
}

/* Enters the rarest items of a document in their lists. */
static void
enter(Joiner *joiner, uint32_t d)
{
	const SetItems *items = &joiner->items;
	const SetDocument *document = items->document + d;
	uint64_t may_pass = listed_length(joiner, document);
	uint64_t passed = document->lone;
	uint32_t i;

	for (i = 0; i < document->items && passed <= may_pass; i++)
	{
		List *list = list_of(joiner, items->rank[document->item + i], document->of_right);

		joiner->posting[list->end++] =
			(Posting){.remaining = document->length - passed, .document = d, .item = i};
		passed += set_item_frequency(items, document->item + i);
	}
	host_count_steps(&joiner->steps, i + 1);
}

/* ---- Meetings ------------------------------------------------------------ */

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
	const SetItems *items = &joiner->items;
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
overlap(const SetItems *items, const Seeker *seeker, const Posting *posting, uint64_t needed,
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
meet(Joiner *joiner, const Seeker *seeker, const Posting *posting)
{
	const SetJoin *join = joiner->join;
	const SetItems *items = &joiner->items;
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
	join->sink(join->state, swap ? y->bag : x->bag, swap ? x->bag : y->bag,
			   set_similarity(join->measure, shared, x->length, y->length));
}

/* Meets the documents in the list of the seeker's item. */
static void
read_list(Joiner *joiner, Seeker *seeker, List *list)
{
	const Posting *end = joiner->posting + list->end;
	const Posting *posting;

	while (list->first < list->end &&
		   joiner->posting[list->first].document < seeker->document->earliest)
		list->first++;
	for (posting = joiner->posting + list->first; posting < end; posting++)
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

/* Finds the similar documents among those entered, by the rarest list first. */
static void
seek(Joiner *joiner, uint32_t d)
{
	const SetItems *items = &joiner->items;
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

		read_list(joiner, &seeker, list_of(joiner, items->rank[item], of_right));
		seeker.remaining -= set_item_frequency(items, item);
	}
	host_count_steps(&joiner->steps, seeker.item + 1);
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
	Joiner joiner = {.join = join, .stats = stats};

	memset(stats, 0, sizeof(SetJoinStats));
	if (!set_items_make(join, &joiner.items))
		return false;
	stats->bags = (uint64_t) join->left_count + (join->right ? join->right_count : 0) -
		joiner.items.documents;
	stats->partitions = joiner.items.partitions;
	make_lists(&joiner);
	joiner.met = host_alloc(joiner.items.documents * sizeof(uint32_t));
	memset(joiner.met, 0, joiner.items.documents * sizeof(uint32_t));
	for (uint32_t d = 0; d < joiner.items.documents; d++)
	{
		seek(&joiner, d);
		enter(&joiner, d);
		stats->bags++;
	}
	host_free(joiner.met);
	host_free(joiner.posting);
	host_free(joiner.list);
	set_items_free(&joiner.items);
	return true;
}
