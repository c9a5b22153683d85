/*
 * sets.c: the exact join of bags.
 *
 * Documents come by length, and meet those before them.  If x and y reach the
 * threshold, their first common item by rank lies in the rarest items of both,
 * so that only these are listed and looked up; and all that they share comes
 * from there on, so that nothing needs to be remembered between lists.
 */
#include "join/sets.h"

#include <string.h>

#include "join/set_items.h"

#define PASS_STEP 8192

/* ---- Bounds -------------------------------------------------------------- */

/*
 * All three ask the quotient that the similarity is, which rounds the same way
 * for all and never falls where the true one rises: a guess by the formula,
 * then steps to the first number for which it holds.
 */

uint64_t
set_partition_end(uint64_t start, double threshold)
{
	double guess = (double) start / threshold;
	uint64_t end;

	if (guess >= 0x1p62)
		return UINT64_MAX;
	end = (uint64_t) guess + 1;
	while (end > start + 1 && resemblance_of_lengths(start, start, end - 1) < threshold)
		end--;
	while (end <= start || resemblance_of_lengths(start, start, end) >= threshold)
		end++;
	return end;
}

/* The least length of a bag that is similar to one of this length. */
static uint64_t
least_length(uint64_t length, double threshold)
{
	uint64_t least = (uint64_t) ((double) length * threshold);

	while (least > 0 && resemblance_of_lengths(least, least, length) >= threshold)
		least--;
	while (resemblance_of_lengths(least, least, length) < threshold)
		least++;
	return least;
}

uint64_t
set_overlap_needed(uint64_t length_x, uint64_t length_y, double threshold)
{
	uint64_t most = length_x < length_y ? length_x : length_y;
	uint64_t needed;

	if (resemblance_of_lengths(most, length_x, length_y) < threshold)
		return 0;
	needed = (uint64_t) (((double) length_x + (double) length_y) * threshold / (1 + threshold));
	if (needed > most)
		needed = most;
	while (needed > 0 && resemblance_of_lengths(needed, length_x, length_y) >= threshold)
		needed--;
	while (resemblance_of_lengths(needed, length_x, length_y) < threshold)
		needed++;
	return needed;
}

/* ---- Lists --------------------------------------------------------------- */

/* A document in the list of one of its rarest items. */
typedef struct Posting
{
	uint64_t rest; /* length of the document from the item on */
	uint32_t document;
	uint32_t item; /* of the document's */
} Posting;

/* The postings of one rank and source, by length of their documents. */
typedef struct List
{
	size_t first; /* not yet given up */
	size_t end;   /* of those that are there */
} List;

typedef struct Joiner
{
	const SetJoin *join;
	SetJoinStats *stats;
	SetItems items;
	List *list; /* by rank; with two sources left and right in turn */
	Posting *posting;
	uint32_t *met; /* by document: the last that it has met, plus 1 */
	size_t work;   /* since interrupts were asked for */
} Joiner;

static inline void
count_work(Joiner *joiner, size_t work)
{
	joiner->work += work;
	if (joiner->work < PASS_STEP)
		return;
	joiner->work = 0;
	host_check_interrupts();
}

static inline List *
list_of(const Joiner *joiner, uint32_t rank, bool of_right)
{
	return joiner->list + (joiner->join->right ? 2 * (size_t) rank + of_right : rank);
}

/*
 * How much of a document's length may be passed before an item that is the
 * first that it shares with a partner no shorter.
 */
static inline uint64_t
listed_length(const Joiner *joiner, const SetDocument *document)
{
	uint64_t length = document->length;

	return length - set_overlap_needed(length, length, joiner->join->threshold);
}

/* Lay the lists out, each with room for all that it will ever hold. */
static void
make_lists(Joiner *joiner)
{
	const SetItems *items = &joiner->items;
	size_t lists = (size_t) items->ranks * (joiner->join->right ? 2 : 1);
	size_t room = 0;
	size_t l;
	uint32_t d;
	uint32_t i;

	joiner->list = host_alloc(lists * sizeof(List));
	memset(joiner->list, 0, lists * sizeof(List));
	for (d = 0; d < items->documents; d++)
	{
		const SetDocument *document = items->document + d;
		const SetItem *item = items->item + document->item;
		uint64_t may_pass = listed_length(joiner, document);
		uint64_t passed = document->lone;

		for (i = 0; i < document->items && passed <= may_pass; i++)
		{
			list_of(joiner, item[i].rank, document->of_right)->end++;
			passed += item[i].frequency;
		}
		count_work(joiner, i + 1);
	}
	for (l = 0; l < lists; l++)
	{
		size_t count = joiner->list[l].end;

		joiner->list[l].first = joiner->list[l].end = room;
		room += count;
	}
	joiner->posting = host_alloc(room * sizeof(Posting));
}

/* Enter the rarest items of a document. */
static void
enter(Joiner *joiner, uint32_t d)
{
	const SetDocument *document = joiner->items.document + d;
	const SetItem *item = joiner->items.item + document->item;
	uint64_t may_pass = listed_length(joiner, document);
	uint64_t passed = document->lone;
	uint32_t i;

	for (i = 0; i < document->items && passed <= may_pass; i++)
	{
		List *list = list_of(joiner, item[i].rank, document->of_right);

		joiner->posting[list->end++] = (Posting){document->length - passed, d, i};
		passed += item[i].frequency;
	}
	count_work(joiner, i + 1);
}

/* ---- Meetings ------------------------------------------------------------ */

/* A document that looks for partners, at one of its items. */
typedef struct Seeker
{
	const SetDocument *document;
	uint32_t number;
	uint32_t item;
	uint64_t rest;      /* of its length, from the item on */
	uint64_t of_length; /* the partner's length for which this is needed */
	uint64_t needed;
} Seeker;

static inline uint64_t
lesser(uint64_t x, uint64_t y)
{
	return x < y ? x : y;
}

/*
 * What the two share from their first common item on, or anything less than
 * is needed as soon as it cannot be reached.
 */
static uint64_t
overlap(Joiner *joiner, const Seeker *seeker, const Posting *posting)
{
	const SetDocument *x = seeker->document;
	const SetDocument *y = joiner->items.document + posting->document;
	const SetItem *in_x = joiner->items.item + x->item;
	const SetItem *in_y = joiner->items.item + y->item;
	uint64_t rest_x = seeker->rest;
	uint64_t rest_y = posting->rest;
	uint64_t shared = 0;
	uint32_t i = seeker->item;
	uint32_t j = posting->item;

	while (i < x->items && j < y->items && shared + lesser(rest_x, rest_y) >= seeker->needed)
	{
		bool take_x = in_x[i].rank <= in_y[j].rank;
		bool take_y = in_y[j].rank <= in_x[i].rank;

		shared += take_x && take_y ? lesser(in_x[i].frequency, in_y[j].frequency) : 0;
		rest_x -= take_x ? in_x[i].frequency : 0;
		rest_y -= take_y ? in_y[j].frequency : 0;
		i += take_x;
		j += take_y;
		count_work(joiner, 1);
	}
	return shared;
}

static void
report(const Joiner *joiner, const SetDocument *x, const SetDocument *y, uint64_t shared)
{
	double similarity = resemblance_of_lengths(shared, x->length, y->length);
	bool swap = joiner->join->right ? x->of_right : x->bag > y->bag;

	joiner->stats->pairs++;
	joiner->join->sink(joiner->join->state, swap ? y->bag : x->bag, swap ? x->bag : y->bag,
					   similarity);
}

/* The first item that the seeker and a listed document share. */
static void
meet(Joiner *joiner, Seeker *seeker, const Posting *posting)
{
	const SetDocument *y = joiner->items.document + posting->document;
	uint64_t shared;

	if (seeker->of_length != y->length)
	{
		seeker->of_length = y->length;
		seeker->needed =
			set_overlap_needed(seeker->document->length, y->length, joiner->join->threshold);
	}
	if (seeker->needed == 0)
		joiner->stats->length++;
	else if (lesser(seeker->rest, posting->rest) < seeker->needed)
		joiner->stats->frequency++;
	else
	{
		joiner->stats->compared++;
		shared = overlap(joiner, seeker, posting);
		if (shared >= seeker->needed)
			report(joiner, seeker->document, y, shared);
	}
}

/* Go through the list of the seeker's item. */
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

		count_work(joiner, 1);
		joiner->stats->hits++;
		if (*met == seeker->number + 1)
			continue;
		*met = seeker->number + 1;
		meet(joiner, seeker, posting);
	}
}

/* Find the partners of a document among those entered, the rarest list first. */
static void
seek(Joiner *joiner, uint32_t d)
{
	const SetDocument *document = joiner->items.document + d;
	const SetItem *item = joiner->items.item + document->item;
	uint64_t least = least_length(document->length, joiner->join->threshold);
	bool of_right = joiner->join->right ? !document->of_right : false;
	Seeker seeker = {document, d, 0, document->length - document->lone, 0, 0};

	for (; seeker.item < document->items && seeker.rest >= least; seeker.item++)
	{
		read_list(joiner, &seeker, list_of(joiner, item[seeker.item].rank, of_right));
		seeker.rest -= item[seeker.item].frequency;
	}
	count_work(joiner, seeker.item + 1);
}

bool
set_join(const SetJoin *join, SetJoinStats *stats)
{
	Joiner joiner = {join, stats};
	uint32_t d;

	memset(stats, 0, sizeof(SetJoinStats));
	if (!set_items_make(join, &joiner.items))
		return false;
	stats->bags = (uint64_t) join->left_count + (join->right ? join->right_count : 0) -
		joiner.items.documents;
	stats->partitions = joiner.items.partitions;
	make_lists(&joiner);
	joiner.met = host_alloc(joiner.items.documents * sizeof(uint32_t));
	memset(joiner.met, 0, joiner.items.documents * sizeof(uint32_t));
	for (d = 0; d < joiner.items.documents; d++)
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
