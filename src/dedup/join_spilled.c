/*
 * join_spilled.c: the join of sets that maintenance_work_mem does not hold, by way of files.
 *
 * The elements are spread over files by their hashes, so that memory holds one file at a
 * time, in which the sets that have an element are counted, and the elements of each
 * count are numbered.  The ranks that follow from both are then merged into the items of
 * each document, in the order of lengths.
 *
 * At last one block of documents after the other is listed in memory.  The documents that
 * are shorter are read, and searched for in its lists: those of the block itself, too.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

/* The shares of maintenance_work_mem for lists or a file's elements, and for pairs found. */
#define SHARE_OF_BLOCK 2
#define SHARE_OF_PAIRS 8

/* Bytes of a pair found. */
#define PAIR_BYTES 24

/* Bytes that an element takes while its file is ranked, at most. */
#define RANKING_BYTES 88

/* An element of a document; once it is counted, the number of sets and its own take its place. */
typedef struct SpilledItem
{
	int64 element;
	uint32 document;
	uint32 frequency;
} SpilledItem;

typedef struct SpilledJoin
{
	SetJoin join;
	const Documents *list[2]; /* left and right */
	SetJoinStats *stats;
	size_t memory;
	uint64 elements;
	SetItems all; /* the documents; their items are in the file */
	uint32 parts;
	BufFile **part;
	uint64 *part_items;
	uint64 *ranks; /* elements that n sets have, by n; then the first rank */
	BufFile *file; /* the keys of all items */
	uint64 *key;   /* of a document */
	size_t key_room;
	uint32 most; /* documents of the next block */
} SpilledJoin;

/* ---- Ranks -------------------------------------------------------------- */

static BufFile *
create_file(void)
{
	return file_create(CurrentMemoryContext, CurrentResourceOwner);
}

/* Sorts the documents of both lists by length. */
static void
order_documents(SpilledJoin *spilled)
{
	SetJoin *join = &spilled->join;
	size_t count = (size_t) join->left_count + join->right_count;
	uint64 *length = palloc_extended(count * sizeof(uint64), MCXT_ALLOC_HUGE);

	for (size_t i = 0; i < count; i++)
	{
		bool of_right = i >= join->left_count;
		const Documents *list = spilled->list[of_right];
		uint32 place = i - (of_right ? join->left_count : 0);

		length[i] = document_length(list->source, document_at(list, place));
		host_check_interrupts_at(i);
	}
	join->length = length;
	set_documents_make(join, &spilled->all);
	spilled->stats->partitions = spilled->all.partitions;
}

/* Writes the elements of all documents to files, each to one that depends on its hash. */
static void
spread_elements(SpilledJoin *spilled)
{
	Table table; /* for its secret */

	table_begin(&table, 1);
	spilled->parts = Min(spilled->elements * RANKING_BYTES / spilled->memory + 1,
						 spilled->memory / (2 * BLCKSZ) + 1);
	spilled->part = palloc(spilled->parts * sizeof(BufFile *));
	spilled->part_items = palloc0(spilled->parts * sizeof(uint64));
	for (uint32 p = 0; p < spilled->parts; p++)
		spilled->part[p] = create_file();
	for (uint32 d = 0; d < spilled->all.documents; d++)
	{
		const SetDocument *document = spilled->all.document + d;
		const Documents *list = spilled->list[document->of_right];
		void *copy;
		Bag bag = documents_bag(list->source, document_at(list, document->bag), &copy);

		for (uint32 i = 0; i < bag.count; i++)
		{
			SpilledItem item = {bag.element[i], d,
								spilled->join.weighted ? bag_frequency(&bag, i) : 1};
			uint32 p = (table_hash(&table, item.element) >> 32) * spilled->parts >> 32;

			host_check_interrupts_at(i);
			spilled->part_items[p]++;
			BufFileWrite(spilled->part[p], &item, sizeof(item));
		}
		host_free(copy);
	}
	table_end(&table);
}

/* Reads a file of elements. */
static SpilledItem *
load_part(SpilledJoin *spilled, uint32 p)
{
	size_t size = spilled->part_items[p] * sizeof(SpilledItem);
	SpilledItem *item = palloc_extended(Max(size, 1), MCXT_ALLOC_HUGE);

	file_seek(spilled->part[p], 0);
	file_read(spilled->part[p], item, size);
	return item;
}

/* Counts elements of documents in order. */
static void
count_items(const SpilledJoin *spilled, SetElements *elements, const SpilledItem *item,
			uint64 count)
{
	int64 element[1024];
	uint32 some;

	for (uint64 i = 0; i < count; i += some)
	{
		bool of_right = spilled->all.document[item[i].document].of_right;

		for (some = 0; some < lengthof(element) && i + some < count &&
			 spilled->all.document[item[i + some].document].of_right == of_right;
			 some++)
			element[some] = item[i + some].element;
		set_elements_count(elements, &(Bag){some, element, NULL}, of_right, elements->number + i);
	}
}

/* Replaces a file of elements by one of the elements that can be shared, counted. */
static void
count_part(SpilledJoin *spilled, uint32 p)
{
	uint64 count = spilled->part_items[p];
	SpilledItem *item = load_part(spilled, p);
	SetElements elements;
	uint64 *place;

	set_elements_begin(&elements, count);
	count_items(spilled, &elements, item, count);
	place = palloc_extended(elements.table.count * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (size_t i = 0; i < elements.table.count; i++)
	{
		uint32 bags = elements.element[i].bags;

		host_check_interrupts_at(i);
		place[i] = set_may_share(&spilled->join, elements.element + i) ?
			(uint64) bags << 32 | (uint32) spilled->ranks[bags]++ :
			0;
	}
	BufFileClose(spilled->part[p]);
	spilled->part[p] = create_file();
	for (uint64 i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		item[i].element = place[elements.number[i]];
		if (item[i].element != 0)
			BufFileWrite(spilled->part[p], item + i, sizeof(SpilledItem));
	}
	file_seek(spilled->part[p], 0);
	set_elements_end(&elements);
	pfree(place);
	pfree(item);
}

/* Ranks the elements by the number of their sets.  Returns false if there are too many. */
static bool
rank_elements(SpilledJoin *spilled)
{
	size_t most = (size_t) spilled->all.documents + 1;
	uint64 ranks = 0;

	spilled->ranks = clusters_allocate(most, sizeof(uint64));
	for (uint32 p = 0; p < spilled->parts; p++)
		count_part(spilled, p);
	for (size_t n = 0; n < most; n++)
	{
		uint64 count = spilled->ranks[n];

		spilled->ranks[n] = ranks;
		ranks += count;
	}
	return ranks < NO_RANK;
}

/* Reads the next element of a file. */
static void
next_item(BufFile *file, SpilledItem *item)
{
	if (BufFileRead(file, item, sizeof(SpilledItem)) != sizeof(SpilledItem))
		item->document = UINT32_MAX;
}

/* Merges the elements of all files into the items of the documents. */
static void
merge_parts(SpilledJoin *spilled)
{
	SpilledItem *head = palloc(spilled->parts * sizeof(SpilledItem));

	spilled->file = create_file();
	spilled->key = host_grow(NULL, &spilled->key_room, 1, sizeof(uint64));
	for (uint32 p = 0; p < spilled->parts; p++)
		next_item(spilled->part[p], head + p);
	for (uint32 d = 0; d < spilled->all.documents; d++)
	{
		SetDocument *document = spilled->all.document + d;

		host_check_interrupts_at(d);
		document->item = spilled->all.places;
		document->lone = document->length;
		for (uint32 p = 0; p < spilled->parts; p++)
			for (; head[p].document == d; next_item(spilled->part[p], head + p))
			{
				spilled->key = host_grow(spilled->key, &spilled->key_room, document->items + 1,
										 sizeof(uint64));
				spilled->key[document->items++] =
					set_item_key(spilled->ranks[head[p].element >> 32] + (uint32) head[p].element,
								 head[p].frequency);
				document->lone -= head[p].frequency;
			}
		hashes_sort(spilled->key, document->items);
		BufFileWrite(spilled->file, spilled->key, document->items * sizeof(uint64));
		spilled->all.places += document->items;
	}
	for (uint32 p = 0; p < spilled->parts; p++)
		BufFileClose(spilled->part[p]);
	pfree(head);
}

/* ---- Blocks ------------------------------------------------------------- */

/* Moves to the items of a document. */
static void
seek_items(const SpilledJoin *spilled, uint32 d)
{
	file_seek(spilled->file, (int64) spilled->all.document[d].item * sizeof(uint64));
}

/* Reads the next document, d, with its items, into a block. */
static void
read_document(SpilledJoin *spilled, SetItems *items, uint32 d, uint32 to, size_t place)
{
	items->document[to] = spilled->all.document[d];
	file_read(spilled->file, spilled->key, items->document[to].items * sizeof(uint64));
	set_items_put(items, to, spilled->key, place);
}

/* Returns how many postings a document has in a block, at most. */
static uint64
postings_most(const SpilledJoin *spilled, const SetDocument *document)
{
	uint64 rest = document->length - document->lone;
	uint64 least = set_remaining_needed(&spilled->join, document->length, true);

	return rest < least ? 0 : Min(rest - least + 1, document->items);
}

/*
 * Makes a block of documents from a number on, with room for one more document that is
 * searched for, and its lists.
 */
static SetPlan
make_block(SpilledJoin *spilled, uint32 from)
{
	SetPlan plan = {.block = true};
	SetItems *items = &plan.items;
	size_t item_bytes = spilled->join.weighted ? 9 : 5;
	size_t bytes = 0;
	size_t place = 0;
	uint64 postings = 0;
	size_t ranks = 1;

	while (from + items->documents < spilled->all.documents && items->documents < spilled->most &&
		   bytes < spilled->memory)
	{
		const SetDocument *document = spilled->all.document + from + items->documents++;
		uint64 most = postings_most(spilled, document);

		place += document->items;
		postings += most;
		bytes += sizeof(SetDocument) + sizeof(uint32) + document->items * item_bytes +
			most * (sizeof(SetPosting) + 3 * sizeof(size_t));
	}
	items->document = host_alloc((items->documents + 1) * sizeof(SetDocument));
	set_items_room(&spilled->join, items, items->documents + 1, place + spilled->key_room);
	items->places = 0;
	seek_items(spilled, from);
	for (uint32 i = 0; i < items->documents; i++)
	{
		host_check_interrupts_at(i);
		read_document(spilled, items, from + i, i, items->places);
		items->places += items->document[i].items;
	}
	while (ranks * (spilled->join.right ? 4 : 2) <= postings && ranks <= UINT32_MAX / 2)
		ranks *= 2;
	plan.mask = ranks - 1;
	set_plan_lists(&spilled->join, &plan, ranks);
	return plan;
}

/*
 * Joins a block of documents from a number on with the documents before each.  If it has
 * too many pairs, the last half of its documents is left for the next block.  Returns the
 * end of the block, 0 if the sink ended the join.
 */
static uint32
join_block(SpilledJoin *spilled, uint32 from)
{
	SetPlan plan = make_block(spilled, from);
	SetJoiner *joiner = set_join_begin(&spilled->join, &plan, spilled->stats);
	uint64 pairs_most = (uint64) maintenance_work_mem * 1024 / SHARE_OF_PAIRS / PAIR_BYTES;
	const SetDocument *document = plan.items.document;
	uint32 end = plan.items.documents;
	uint32 to = 0;
	bool wanted;

	seek_items(spilled, document->earliest);
	for (uint32 d = document->earliest; d < from + end; d++)
	{
		size_t pairs;

		read_document(spilled, &plan.items, d, plan.items.documents, plan.items.places);
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
	spilled->most = Min(2 * (uint64) end, UINT32_MAX);
	return wanted ? from + end : 0;
}

/*
 * Joins two lists of sets that have this many elements, or one with itself, as set_join()
 * does.  join has all but the bags.  Adds to stats.
 */
bool
join_spilled(const SetJoin *join, const Documents *left, const Documents *right, uint64 elements,
			 SetJoinStats *stats)
{
	static const Bag none;
	SpilledJoin spilled = {.join = *join,
						   .list = {left, right},
						   .stats = stats,
						   .elements = elements,
						   .most = UINT32_MAX,
						   .memory = (size_t) maintenance_work_mem * 1024 / SHARE_OF_BLOCK};
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup spilled join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint32 from = 0;

	spilled.join.right = left == right ? NULL : &none;
	order_documents(&spilled);
	spread_elements(&spilled);
	if (!rank_elements(&spilled))
		return false;
	merge_parts(&spilled);
	MemoryContextSwitchTo(old);
	do
	{
		progress_parts(from, spilled.all.documents);
		from = join_block(&spilled, from);
	} while (from > 0 && from < spilled.all.documents);
	BufFileClose(spilled.file);
	MemoryContextDelete(context);
	return true;
}
