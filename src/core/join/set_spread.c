/*
 * set_spread.c: the join of sets whose items are in a file, since memory does not hold them.
 *
 * Blocks of documents are listed in memory, one after the other.  Shorter documents are read, and searched
 * for in the lists of a block; so are those of the block itself.
 */
#include <string.h>

#include "join/set_plan.h"

/* The shares of memory for lists, and for pairs found. */
#define SHARE_OF_BLOCK 2
#define SHARE_OF_PAIRS 8

/* Bytes of a pair found. */
#define PAIR_BYTES 24

typedef struct SetSpread
{
	const SetJoin *join;
	const SetItems *all; /* the documents; their items are in a file */
	JoinStats *stats;
	uint64_t *key; /* the keys of a document */
	uint32_t most; /* documents of the next block */
} SetSpread;

/* Reads a document, d, with its items, into a block. */
static void
read_document(SetSpread *spread, SetItems *items, uint32_t d, uint32_t to, size_t position)
{
	const SetDocument *document = spread->all->document + d;

	items->document[to] = *document;
	host_file_read(spread->all->file, document->item * sizeof(uint64_t), spread->key,
				   document->items * sizeof(uint64_t));
	set_items_put(items, to, spread->key, position);
}

/*
 * Makes a block of documents from a number on, with room for one more document that is
 * searched for, and its lists.
 */
static SetPlan
make_block(SetSpread *spread, uint32_t from)
{
	SetPlan plan = {.block = true};
	SetItems *items = &plan.items;
	size_t memory = spread->join->memory / SHARE_OF_BLOCK;
	size_t item_bytes = spread->join->weighted ? 9 : 5;
	size_t bytes = 0;
	size_t position = 0;
	uint64_t postings = 0;
	size_t ranks = 1;

	while (from + items->documents < spread->all->documents && items->documents < spread->most &&
		   bytes < memory)
	{
		const SetDocument *document = spread->all->document + from + items->documents++;
		uint64_t most = set_postings_most(spread->join, document, true);

		position += document->items;
		postings += most;
		bytes += sizeof(SetDocument) + sizeof(uint32_t) + document->items * item_bytes +
			most * (sizeof(SetPosting) + 3 * sizeof(size_t));
	}
	items->document = host_alloc((items->documents + 1) * sizeof(SetDocument));
	set_items_room(spread->join, items, items->documents + 1, position + spread->all->items_most);
	items->positions = 0;
	for (uint32_t i = 0; i < items->documents; i++)
	{
		host_check_interrupts_at(i);
		read_document(spread, items, from + i, i, items->positions);
		items->positions += items->document[i].items;
	}
	while (ranks * (spread->join->right ? 4 : 2) <= postings && ranks <= UINT32_MAX / 2)
		ranks *= 2;
	plan.mask = ranks - 1;
	set_plan_lists(spread->join, &plan, ranks);
	return plan;
}

/* Forecasts the join, which compares the documents [from, to) of a block with document `d`. */
static void
block_look_ahead(const SetSpread *spread, uint32_t from, uint32_t to, uint32_t earliest, uint32_t d)
{
	double before = set_work_before(spread->join, spread->all, from);
	double block = set_work_before(spread->join, spread->all, to) - before;

	forecast_look(spread->join->forecast, before + block * (d - earliest) / (to - earliest));
}

/*
 * Joins a block of documents from a number on with the documents before each.  If it has
 * too many pairs, the last half of its documents is left for the next block.  Returns the
 * end of the block, 0 if the sink ended the join.
 */
static uint32_t
join_block(SetSpread *spread, uint32_t from)
{
	SetPlan plan = make_block(spread, from);
	SetJoiner *joiner = set_join_begin(spread->join, &plan, spread->stats);
	uint64_t pairs_most = spread->join->memory / SHARE_OF_PAIRS / PAIR_BYTES;
	const SetDocument *document = plan.items.document;
	uint32_t end = plan.items.documents;
	uint32_t to = 0;
	bool wanted;

	for (uint32_t d = document->earliest; d < from + end; d++)
	{
		size_t pairs;

		if (forecast_is_due(spread->join->forecast))
			block_look_ahead(spread, from, from + end, document->earliest, d);
		read_document(spread, &plan.items, d, plan.items.documents, plan.items.positions);
		while (to < end && document[to].earliest <= d)
			to++;
		pairs = set_join_seek(joiner, document + plan.items.documents, d,
							  d < from ? 0 : d + 1 - from, Min(to, end));
		for (; pairs > pairs_most && end > 1; pairs = set_join_cut(joiner, end))
			end = (end + 1) / 2;
	}
	wanted = set_join_give(joiner);
	set_join_end(joiner);
	set_plan_free(&plan);
	spread->most = Min(2 * (uint64_t) end, UINT32_MAX);
	return wanted ? from + end : 0;
}

/*
 * Joins documents whose items are in a file, one block after the other.  Adds to stats.  Returns false if
 * the sink ended the join.
 */
bool
set_spread_run(const SetJoin *join, const SetPlan *plan, JoinStats *stats)
{
	SetSpread spread = {.join = join, .all = &plan->items, .stats = stats, .most = UINT32_MAX};
	uint32_t documents = plan->items.documents;
	uint32_t from = 0;
	bool goes_on = true;

	spread.key = host_alloc((plan->items.items_most + 1) * sizeof(uint64_t));
	while (goes_on && from < documents)
	{
		if (join->progress != NULL)
			join->progress(join->progress_state, (int) ((uint64_t) from * SET_PARTS / documents),
						   SET_PARTS);
		from = join_block(&spread, from);
		goes_on = from > 0;
	}
	host_free(spread.key);
	return goes_on;
}
