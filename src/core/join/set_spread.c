/*
 * set_spread.c: the join of sets that memory does not hold, by way of files.
 *
 * The elements are spread over files by their hashes, so that memory holds one file at a
 * time, in which the sets that have an element are counted, and the elements of each
 * count are numbered.  The ranks that follow from both are then merged into the items of
 * each document, in the order of lengths.
 *
 * Last, blocks of documents are listed in memory, one after the other.  Shorter documents
 * are read, and searched for in the lists of a block; so are those of the block itself.
 */
#include "join/set_spread.h"

#include <string.h>

#include "join/set_plan.h"

/* The shares of memory for lists or a file's elements, and for pairs found. */
#define SHARE_OF_BLOCK 2
#define SHARE_OF_PAIRS 8

/* Bytes of a pair found. */
#define PAIR_BYTES 24

/* The most bytes that an element takes while its file is ranked. */
#define RANKING_BYTES 88

/* Bytes of memory that an open file takes, about. */
#define PART_BYTES (16 * 1024)

/* An element of a document; once it is counted, the number of sets and its own take its place. */
typedef struct SpreadItem
{
	int64_t element;
	uint32_t document;
	uint32_t frequency;
} SpreadItem;

typedef struct SetSpread
{
	const SetSpreadJoin *whole;
	SetJoin join;
	JoinStats *stats;
	size_t memory;
	SetItems all; /* the documents; their items are in the file */
	uint32_t parts;
	HostFile **part;
	uint64_t *part_items;
	uint64_t *ranks; /* elements that n sets have, by n; then the first rank */
	HostFile *file;  /* the keys of all items */
	uint64_t *key;   /* the keys of a document */
	size_t key_room;
	uint32_t most; /* documents of the next block */
} SetSpread;

/* ---- Ranks -------------------------------------------------------------- */

/* Sorts the documents of both lists by length. */
static void
order_documents(SetSpread *spread)
{
	SetJoin *join = &spread->join;
	size_t count = (size_t) join->left_count + join->right_count;
	uint64_t *length = host_alloc(count * sizeof(uint64_t));

	for (size_t i = 0; i < count; i++)
	{
		bool of_right = i >= join->left_count;
		uint32_t place = i - (of_right ? join->left_count : 0);

		length[i] = set_list_at(spread->whole->list[of_right], place)->length;
		host_check_interrupts_at(i);
	}
	join->length = length;
	set_documents_make(join, &spread->all);
	spread->stats->partitions = spread->all.partitions;
}

/* Writes the elements of all documents to files, each to one that depends on its hash. */
static void
spread_elements(SetSpread *spread)
{
	Table table; /* the table that has the secret */

	table_begin(&table, 1);
	spread->parts = Min(spread->whole->elements * RANKING_BYTES / spread->memory + 1,
						spread->memory / PART_BYTES + 1);
	spread->part = host_alloc(spread->parts * sizeof(HostFile *));
	spread->part_items = host_alloc(spread->parts * sizeof(uint64_t));
	memset(spread->part_items, 0, spread->parts * sizeof(uint64_t));
	for (uint32_t p = 0; p < spread->parts; p++)
		spread->part[p] = host_file_create();
	for (uint32_t d = 0; d < spread->all.documents; d++)
	{
		const SetDocument *document = spread->all.document + d;
		const SetList *list = spread->whole->list[document->of_right];
		void *copy;
		Bag bag = set_read(list->store, set_list_at(list, document->bag), &copy);

		for (uint32_t i = 0; i < bag.count; i++)
		{
			SpreadItem item = {bag.element[i], d,
							   spread->join.weighted ? bag_frequency(&bag, i) : 1};
			uint32_t p = (table_hash(&table, item.element) >> 32) * spread->parts >> 32;

			host_check_interrupts_at(i);
			host_file_write(spread->part[p], spread->part_items[p]++ * sizeof(item), &item,
							sizeof(item));
		}
		host_free(copy);
	}
	table_end(&table);
}

/* Reads a file of elements. */
static SpreadItem *
load_part(SetSpread *spread, uint32_t p)
{
	size_t size = spread->part_items[p] * sizeof(SpreadItem);
	SpreadItem *item = host_alloc(size);

	host_file_read(spread->part[p], 0, item, size);
	return item;
}

/* Elements that are counted at a time. */
#define COUNTED 1024

/* Counts elements of documents in order. */
static void
count_items(const SetSpread *spread, SetElements *elements, const SpreadItem *item, uint64_t count)
{
	int64_t element[COUNTED];
	uint32_t some;

	for (uint64_t i = 0; i < count; i += some)
	{
		bool of_right = spread->all.document[item[i].document].of_right;

		for (some = 0; some < COUNTED && i + some < count &&
			 spread->all.document[item[i + some].document].of_right == of_right;
			 some++)
			element[some] = item[i + some].element;
		set_elements_count(elements, &(Bag){some, element, NULL}, of_right, elements->number + i);
	}
}

/* Replaces a file of elements by one of the elements that can be shared, counted. */
static void
count_part(SetSpread *spread, uint32_t p)
{
	uint64_t count = spread->part_items[p];
	SpreadItem *item = load_part(spread, p);
	SetElements elements;
	uint64_t *place;

	set_elements_begin(&elements, count);
	count_items(spread, &elements, item, count);
	place = host_alloc(elements.table.count * sizeof(uint64_t));
	for (size_t i = 0; i < elements.table.count; i++)
	{
		uint32_t bags = elements.element[i].bags;

		host_check_interrupts_at(i);
		place[i] = set_may_share(&spread->join, elements.element + i) ?
			(uint64_t) bags << 32 | (uint32_t) spread->ranks[bags]++ :
			0;
	}
	spread->part_items[p] = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		item[i].element = place[elements.number[i]];
		if (item[i].element != 0)
			host_file_write(spread->part[p], spread->part_items[p]++ * sizeof(SpreadItem), item + i,
							sizeof(SpreadItem));
	}
	set_elements_end(&elements);
	host_free(place);
	host_free(item);
}

/* Ranks the elements by the number of their sets.  Returns false if there are too many. */
static bool
set_spread_rank_elements(SetSpread *spread)
{
	size_t most = (size_t) spread->all.documents + 1;
	uint64_t ranks = 0;

	spread->ranks = host_alloc(most * sizeof(uint64_t));
	memset(spread->ranks, 0, most * sizeof(uint64_t));
	for (uint32_t p = 0; p < spread->parts; p++)
		count_part(spread, p);
	for (size_t n = 0; n < most; n++)
	{
		uint64_t count = spread->ranks[n];

		spread->ranks[n] = ranks;
		ranks += count;
	}
	return ranks < NO_RANK;
}

/* The next element of a file. */
typedef struct SpreadHead
{
	SpreadItem item; /* document is UINT32_MAX at the end */
	uint64_t next;   /* number of the element behind it */
} SpreadHead;

/* Reads the next element of a file. */
static void
next_item(const SetSpread *spread, uint32_t p, SpreadHead *head)
{
	if (head->next == spread->part_items[p])
		head->item.document = UINT32_MAX;
	else
		host_file_read(spread->part[p], head->next++ * sizeof(SpreadItem), &head->item,
					   sizeof(SpreadItem));
}

/* Adds the elements that a file has of a document to its keys. */
static void
take_items(SetSpread *spread, uint32_t p, uint32_t d, SpreadHead *head)
{
	SetDocument *document = spread->all.document + d;

	for (; head->item.document == d; next_item(spread, p, head))
	{
		uint64_t bags = (uint64_t) head->item.element >> 32;

		spread->key =
			host_grow(spread->key, &spread->key_room, document->items + 1, sizeof(uint64_t));
		spread->key[document->items++] =
			set_item_key((uint32_t) (spread->ranks[bags] + (uint32_t) head->item.element),
						 head->item.frequency);
		document->lone -= head->item.frequency;
	}
}

/* Merges the elements of all files into the items of the documents. */
static void
merge_parts(SetSpread *spread)
{
	SpreadHead *head = host_alloc(spread->parts * sizeof(SpreadHead));

	spread->file = host_file_create();
	spread->key = host_grow(NULL, &spread->key_room, 1, sizeof(uint64_t));
	for (uint32_t p = 0; p < spread->parts; p++)
	{
		head[p].next = 0;
		next_item(spread, p, head + p);
	}
	for (uint32_t d = 0; d < spread->all.documents; d++)
	{
		SetDocument *document = spread->all.document + d;

		host_check_interrupts_at(d);
		document->item = spread->all.places;
		document->lone = document->length;
		for (uint32_t p = 0; p < spread->parts; p++)
			take_items(spread, p, d, head + p);
		hashes_sort(spread->key, document->items);
		host_file_write(spread->file, spread->all.places * sizeof(uint64_t), spread->key,
						document->items * sizeof(uint64_t));
		spread->all.places += document->items;
	}
	for (uint32_t p = 0; p < spread->parts; p++)
		host_file_close(spread->part[p]);
	host_free(head);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Reads a document, d, with its items, into a block. */
static void
read_document(SetSpread *spread, SetItems *items, uint32_t d, uint32_t to, size_t place)
{
	const SetDocument *document = spread->all.document + d;

	items->document[to] = *document;
	host_file_read(spread->file, document->item * sizeof(uint64_t), spread->key,
				   document->items * sizeof(uint64_t));
	set_items_put(items, to, spread->key, place);
}

/* Returns how many postings a document has in a block, at most. */
static uint64_t
postings_most(const SetSpread *spread, const SetDocument *document)
{
	uint64_t rest = document->length - document->lone;
	uint64_t least = set_remaining_needed(&spread->join, document->length, true);

	return rest < least ? 0 : Min(rest - least + 1, document->items);
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
	size_t item_bytes = spread->join.weighted ? 9 : 5;
	size_t bytes = 0;
	size_t place = 0;
	uint64_t postings = 0;
	size_t ranks = 1;

	while (from + items->documents < spread->all.documents && items->documents < spread->most &&
		   bytes < spread->memory)
	{
		const SetDocument *document = spread->all.document + from + items->documents++;
		uint64_t most = postings_most(spread, document);

		place += document->items;
		postings += most;
		bytes += sizeof(SetDocument) + sizeof(uint32_t) + document->items * item_bytes +
			most * (sizeof(SetPosting) + 3 * sizeof(size_t));
	}
	items->document = host_alloc((items->documents + 1) * sizeof(SetDocument));
	set_items_room(&spread->join, items, items->documents + 1, place + spread->key_room);
	items->places = 0;
	for (uint32_t i = 0; i < items->documents; i++)
	{
		host_check_interrupts_at(i);
		read_document(spread, items, from + i, i, items->places);
		items->places += items->document[i].items;
	}
	while (ranks * (spread->join.right ? 4 : 2) <= postings && ranks <= UINT32_MAX / 2)
		ranks *= 2;
	plan.mask = ranks - 1;
	set_plan_lists(&spread->join, &plan, ranks);
	return plan;
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
	SetJoiner *joiner = set_join_begin(&spread->join, &plan, spread->stats);
	uint64_t pairs_most = spread->memory * SHARE_OF_BLOCK / SHARE_OF_PAIRS / PAIR_BYTES;
	const SetDocument *document = plan.items.document;
	uint32_t end = plan.items.documents;
	uint32_t to = 0;
	bool wanted;

	for (uint32_t d = document->earliest; d < from + end; d++)
	{
		size_t pairs;

		read_document(spread, &plan.items, d, plan.items.documents, plan.items.places);
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

/* Closes the files, and frees what the join has allocated. */
static void
end_spread(SetSpread *spread)
{
	host_file_close(spread->file);
	host_free(spread->part);
	host_free(spread->part_items);
	host_free(spread->ranks);
	host_free(spread->key);
	host_free(spread->all.document);
	host_free((void *) spread->join.length);
}

/* Joins one block after the other.  Returns false if the sink ended the join. */
static bool
join_blocks(SetSpread *spread)
{
	const SetSpreadJoin *whole = spread->whole;
	uint32_t documents = spread->all.documents;
	uint32_t from = 0;

	while (from < documents)
	{
		uint64_t done = (uint64_t) from * SET_PARTS / documents;

		if (whole->progress != NULL)
			whole->progress(whole->progress_state, (int) done, SET_PARTS);
		from = join_block(spread, from);
		if (from == 0)
			return false;
	}
	return true;
}

/*
 * Joins two lists of sets, or one with itself.  Fails if NO_RANK or more elements are shared.  Adds to
 * stats.  Returns false if the sink ended the join.
 */
bool
set_spread_run(const SetSpreadJoin *whole, JoinStats *stats)
{
	SetSpread spread = {.whole = whole,
						.join = whole->join,
						.stats = stats,
						.most = UINT32_MAX,
						.memory = whole->memory / SHARE_OF_BLOCK};
	bool goes_on;

	order_documents(&spread);
	spread_elements(&spread);
	if (!set_spread_rank_elements(&spread))
		set_refuse_size();
	merge_parts(&spread);
	goes_on = join_blocks(&spread);
	end_spread(&spread);
	return goes_on;
}
