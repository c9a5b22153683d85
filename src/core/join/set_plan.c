/*
 * set_plan.c: the lists of the rarest items of all documents.
 */
#include "join/set_plan.h"

#include <math.h>
#include <string.h>

/*
 * Adds a document to the lists of its rarest items, as long as `least` remains; counts it in next[] if
 * there is no room.
 */
static void
enter(const SetJoin *join, SetPlan *plan, uint32_t d, uint64_t least, size_t *next)
{
	const SetItems *items = &plan->items;
	const SetDocument *document = items->document + d;
	uint64_t remaining = document->length - document->unshared;

	for (uint32_t i = 0; i < document->items && remaining >= least; i++)
	{
		size_t item = document->item + i;
		size_t position = next[set_list(join, plan, items->rank[item], document->of_right)]++;

		host_check_interrupts_at(position);
		if (plan->posting != NULL)
			plan->posting[position] =
				(SetPosting){.remaining = remaining, .document = d, .item = i};
		remaining -= set_item_frequency(items, item);
	}
}

/* Adds all documents to their lists, as enter() does.  They are sorted by length. */
static void
enter_all(const SetJoin *join, SetPlan *plan, size_t *next)
{
	uint64_t length = 0;
	uint64_t least = 0;

	for (uint32_t d = 0; d < plan->items.documents; d++)
	{
		if (plan->items.document[d].length != length)
		{
			length = plan->items.document[d].length;
			least = set_remaining_needed(join, length, plan->block);
		}
		enter(join, plan, d, least, next);
	}
}

/* Makes the lists for numbers below `ranks`, each by length of its documents. */
void
set_plan_lists(const SetJoin *join, SetPlan *plan, size_t ranks)
{
	double scanned = 0;
	size_t *next;
	size_t room = 0;

	plan->lists = ranks * (join->right ? 2 : 1);
	plan->start = host_alloc((plan->lists + 1) * sizeof(size_t));
	next = host_alloc((plan->lists + 1) * sizeof(size_t));
	memset(next, 0, plan->lists * sizeof(size_t));
	enter_all(join, plan, next);
	for (uint32_t d = 0; d < plan->items.documents; d++)
		scanned += d - plan->items.document[d].earliest;
	for (size_t l = 0; l <= plan->lists; l++)
	{
		double count = l < plan->lists ? (double) next[l] : 0;

		plan->longest = Max(plan->longest, (size_t) count);
		plan->start[l] = next[l] = room;
		room += (size_t) count;
		plan->cost += count * (count - 1) / 2 * COST_OF_HIT;
	}
	plan->cost = fmin(plan->cost, scanned * COST_OF_SCANNED);
	plan->postings = room;
	plan->posting = host_alloc(room * sizeof(SetPosting));
	enter_all(join, plan, next);
	host_free(next);
}

/* Returns how many bytes documents, their items and their lists take in memory, at most. */
static double
bytes_of_plan(const SetJoin *join, const SetItems *items)
{
	double postings = 0;

	for (uint32_t d = 0; d < items->documents; d++)
	{
		host_check_interrupts_at(d);
		postings += (double) set_postings_most(join, items->document + d, false);
	}
	return set_items_bytes(join, items) + postings * sizeof(SetPosting) +
		items->documents * sizeof(uint32_t) +
		2.0 * items->ranks * (join->right ? 2 : 1) * sizeof(size_t);
}

/* Makes a plan of ranks, which it frees. */
void
set_plan_ranked(const SetJoin *join, SetRanks *ranks, SetPlan *plan)
{
	bool in_memory;

	plan->bytes = bytes_of_plan(join, &plan->items);
	in_memory = join->memory == 0 || plan->bytes <= (double) host_limit(join->memory);
	set_ranks_put(ranks, in_memory);
	plan->mask = UINT32_MAX;
	if (in_memory)
		set_plan_lists(join, plan, plan->items.ranks);
}

/* Prepares the bags for set_run(), or for set_spread_run().  Returns false as set_join() does. */
bool
set_plan(const SetJoin *join, SetPlan *plan)
{
	SetRanks *ranks;

	memset(plan, 0, sizeof(SetPlan));
	ranks = set_ranks_make(join, &plan->items);
	if (ranks != NULL)
		set_plan_ranked(join, ranks, plan);
	return ranks != NULL;
}

/* Frees what set_plan() has allocated. */
void
set_plan_free(SetPlan *plan)
{
	host_free(plan->start);
	host_free(plan->posting);
	set_items_free(&plan->items);
}
