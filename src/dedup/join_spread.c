/*
 * join_spread.c: the join of signatures that maintenance_work_mem does not hold, by way of files.
 *
 * For each group an entry of each signature, its bucket and prefix, is written to one of several
 * files, by the high bits of the bucket.  Two files are joined in memory if a change within the
 * radius leads from one to the other, so each bucket is looked up once, as in memory.  Pairs
 * whose prefixes are near enough are then compared as a whole (join_hits.c).  A file that memory
 * does not hold, since many documents share a bucket, is joined in pieces, each with each.
 *
 * If the plan has no groups, there is one file, whose entries have all symbols.
 */
#include "dedup/dedup.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

/* More files would take more memory for their buffers than for documents. */
#define FILE_BITS_MAX 10

/* The share of memory for pairs that are compared as a whole. */
#define SHARE_OF_HITS 4

/* The entries of a list, in files. */
typedef struct SpreadList
{
	const Documents *list;
	BufFile **file;
	uint32 *count;
} SpreadList;

/* A piece of a file. */
typedef struct Piece
{
	uint32 file;
	uint32 from;
} Piece;

typedef struct Spread
{
	const AnyJoin *whole;
	SymbolJoin join; /* of two pieces */
	const JoinPlan *plan;
	JoinPrefix *prefixes; /* of all groups */
	Hits *hits;           /* NULL if there are no groups */
	SpreadList list[2];
	bool self;
	int words;     /* of an entry's prefix, or of all symbols */
	size_t stride; /* bytes of an entry */
	uint32 most;   /* entries of a piece */
	int file_bits; /* the logarithm of the number of files ... */
	int bits;      /* ... in this group */
	int group;
	Piece left;
	Piece right;     /* the next one */
	bool alone;      /* the next one is the left one itself */
	bool stopped;    /* by the sink */
	uint8 *entry[2]; /* the pieces in memory */
} Spread;

/* ---- Progress ----------------------------------------------------------- */

/* Documents that are spread between two reports. */
#define SPREAD_STEP 65536

/*
 * Reports how many of a group's files, or of the pieces if there are no groups, are written and
 * joined.  To write them takes about as long as to join them.
 */
static void
report_progress(const Spread *spread, double written, uint32 joined)
{
	const SymbolJoin *whole = &spread->whole->symbols;
	int files = 2 << spread->file_bits;
	int groups = spread->plan->groups;

	if (whole->progress == NULL)
		return;
	if (groups > 0)
		whole->progress(whole->state, spread->group * files + (int) (written * files / 2) + joined,
						groups * files);
	else
		whole->progress(whole->state, spread->left.from / spread->most,
						spread->list[0].list->count / spread->most + 1);
}

/* ---- Files -------------------------------------------------------------- */

/* Makes the entry of a document. */
static void
make_entry(const Spread *spread, uint32 place, const uint8 *record, JoinEntry *entry)
{
	entry->place = place;
	entry->bucket = 0;
	if (spread->plan->groups > 0)
	{
		entry->bucket = group_bucket(&spread->plan->grouping, spread->group, record);
		prefix_make(spread->prefixes + spread->group, record, spread->words, entry->prefix);
	}
	else
		memcpy(entry->prefix, record, spread->words * sizeof(uint64));
}

/* Spreads list l over files. */
static void
spread_list(Spread *spread, int l)
{
	SpreadList *to = &spread->list[l];
	Records *records = to->list->source->records;
	int low_bits = spread->bits == 0 ?
		0 :
		group_bucket_bits(&spread->plan->grouping, spread->group) - spread->bits;
	uint8 *buffer = palloc(records->stride);
	JoinEntry *entry = palloc(spread->stride);

	memset(to->count, 0, sizeof(uint32) << spread->file_bits);
	for (uint32 f = 0; f < UINT32_C(1) << spread->bits; f++)
		file_seek(to->file[f], 0);
	for (uint32 i = 0; i < to->list->count; i++)
	{
		uint32 f;

		if (i % SPREAD_STEP == 0)
			report_progress(spread, (l + (double) i / to->list->count) / (spread->self ? 1 : 2), 0);
		make_entry(spread, i, records_get(records, document_at(to->list, i), buffer), entry);
		f = spread->bits == 0 ? 0 : entry->bucket >> low_bits;
		BufFileWrite(to->file[f], entry, spread->stride);
		to->count[f]++;
		host_check_interrupts_at(i);
	}
	pfree(entry);
	pfree(buffer);
}

/* Brings a piece into memory, in the place of another.  Returns it as a side of a join. */
static JoinSide
load(Spread *spread, bool right, Piece piece)
{
	SpreadList *list = &spread->list[spread->self ? 0 : right];
	uint32 count = Min(spread->most, list->count[piece.file] - piece.from);
	uint8 *entry = spread->entry[right];

	file_seek(list->file[piece.file], (int64) piece.from * spread->stride);
	file_read(list->file[piece.file], entry, count * spread->stride);
	CHECK_FOR_INTERRUPTS();
	return (JoinSide){entry + (spread->plan->groups > 0 ? 0 : sizeof(JoinEntry)), count};
}

/* ---- Pieces ------------------------------------------------------------- */

/* Returns whether a piece is to be joined with the left one. */
static bool
is_near(const Spread *spread, uint32 file)
{
	int count = 1;

	if (spread->bits > 0)
		(void) join_changes(spread->plan, spread->group, spread->bits, spread->left.file ^ file,
							&count);
	return count > 0;
}

/* Moves from the right piece to the first that is to be joined with the left one; false: none. */
static bool
find_right(Spread *spread)
{
	const SpreadList *list = &spread->list[spread->self ? 0 : 1];
	Piece *right = &spread->right;

	while (right->file < UINT32_C(1) << spread->bits &&
		   (right->from >= list->count[right->file] || !is_near(spread, right->file)))
		*right = (Piece){.file = right->file + 1};
	return right->file < UINT32_C(1) << spread->bits;
}

/* Puts the next piece on the right; false if there is none. */
static bool
next_right(Spread *spread)
{
	if (spread->alone)
		spread->join.right = (JoinSide){NULL, 0};
	else if (find_right(spread))
	{
		spread->join.right = load(spread, true, spread->right);
		spread->join.slice.change = spread->left.file ^ spread->right.file;
		spread->right.from += spread->most;
	}
	else
		return false;
	spread->alone = false;
	return true;
}

/* Spreads the lists by the buckets of the present group, and moves before the first file. */
static void
begin_group(Spread *spread)
{
	spread->bits = spread->plan->groups == 0 ?
		0 :
		Min(spread->file_bits, group_bucket_bits(&spread->plan->grouping, spread->group));
	spread->join.slice.bits = spread->bits;
	spread->left = (Piece){0};
	for (int l = 0; l < (spread->self ? 1 : 2); l++)
		spread_list(spread, l);
}

/* Ends the present group and begins the next one; false if there is none. */
static bool
next_group(Spread *spread)
{
	const SymbolJoin *whole = &spread->whole->symbols;

	if (spread->group >= 0 && spread->hits != NULL && !hits_flush(spread->hits, spread->group))
	{
		spread->stopped = true;
		return false;
	}
	spread->group = whole->next != NULL ? whole->next(whole->next_state) : spread->group + 1;
	if (spread->group < 0 || spread->group >= Max(spread->plan->groups, 1))
		return false;
	begin_group(spread);
	return true;
}

/* Puts the next piece on the left, of this group or the next one; false if there is none. */
static bool
next_left(Spread *spread)
{
	Piece *left = &spread->left;

	left->from += spread->most;
	while (left->file >> spread->bits > 0 || left->from >= spread->list[0].count[left->file])
	{
		*left = (Piece){.file = left->file + 1};
		if (left->file >> spread->bits > 0 && !next_group(spread))
			return false;
	}
	report_progress(spread, 1, left->file);
	spread->join.left = load(spread, false, *left);
	spread->join.slice = (JoinSlice){.bits = spread->bits, .most = spread->most, .new_left = true};
	spread->alone = spread->self;
	spread->right = spread->self ? (Piece){left->file, left->from + spread->most} : (Piece){0};
	return true;
}

/* A JoinNext. */
static int
next_slice(void *next_state)
{
	Spread *spread = next_state;

	spread->join.slice.new_left = false;
	while (!next_right(spread))
		if (!next_left(spread))
			return -1;
	return spread->group;
}

/* A JoinEmit: finds the places of a pair, and passes it on or collects it. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Spread *spread = state;
	const SymbolJoin *whole = &spread->whole->symbols;
	bool alone = spread->join.right.packed == NULL;
	uint32 x = ((JoinEntry *) (spread->entry[0] + a * spread->stride))->place;
	uint32 y = ((JoinEntry *) (spread->entry[!alone] + b * spread->stride))->place;
	bool swap = spread->self && x > y;
	uint32 left = swap ? y : x;
	uint32 right = swap ? x : y;

	if (spread->hits != NULL)
		return hits_add(spread->hits, spread->group, left, right);
	return whole->emit(whole->state, left, right, distance);
}

/* ---- The join ----------------------------------------------------------- */

/* Returns the bytes that an entry of a piece takes, with all that a join allocates for it. */
static double
entry_bytes(const Spread *spread, double documents)
{
	const JoinPlan *plan = spread->plan;
	double buckets =
		plan->groups > 0 ? ldexp(1, group_bucket_bits(&plan->grouping, 0)) / documents : 0;

	return spread->stride + spread->words * sizeof(uint64) + (3 + buckets) * sizeof(uint32);
}

/* Allocates what pieces need.  Two are sorted at a time. */
static void
begin_pieces(Spread *spread, double documents)
{
	double memory = spread->whole->memory;

	if (spread->plan->groups > 0)
	{
		spread->prefixes = join_prefixes(&spread->join, spread->plan);
		spread->hits = hits_begin(spread->whole, spread->prefixes, memory / SHARE_OF_HITS);
		memory -= memory / SHARE_OF_HITS;
	}
	spread->most =
		Max(DOCUMENTS_MIN, Min(memory / (2 * entry_bytes(spread, documents)), documents));
	for (int side = 0; side < 2; side++)
		spread->entry[side] = palloc_extended(spread->most * spread->stride, MCXT_ALLOC_HUGE);
}

/* Creates the files of a list. */
static void
begin_list(SpreadList *list, const Documents *documents, uint32 files)
{
	list->list = documents;
	list->file = palloc(files * sizeof(BufFile *));
	list->count = palloc(files * sizeof(uint32));
	for (uint32 f = 0; f < files; f++)
		list->file[f] = file_create(CurrentMemoryContext, CurrentResourceOwner);
}

static void
end_list(SpreadList *list, uint32 files)
{
	for (uint32 f = 0; f < files; f++)
		BufFileClose(list->file[f]);
}

/* Joins the pieces of all groups.  Returns false if the sink ended the join. */
static bool
join_pieces(Spread *spread)
{
	bool goes_on = true;

	spread->group = -1;
	if (!next_group(spread))
		return true;
	/* The first left piece comes next. */
	spread->left.from = -spread->most;
	spread->right.file = UINT32_C(1) << spread->bits;
	if (spread->plan->groups > 0)
		return join_run(&spread->join, spread->plan) && !spread->stopped;
	spread->join.next = NULL;
	while (goes_on && next_slice(spread) >= 0)
		goes_on = join_run(&spread->join, spread->plan);
	return goes_on;
}

/*
 * Joins two lists of signatures, or one with itself, as planned, in join->memory.  The sides of
 * join->symbols do not matter; the pairs are places in the lists.  Returns false if the sink ended
 * the join.
 */
bool
join_spread(const AnyJoin *join)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup spread join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const JoinPlan *plan = &join->plan;
	const SymbolJoin *whole = &join->symbols;
	Spread spread = {.whole = join, .join = *whole, .plan = plan};
	uint32 documents = Max(join->list[0]->count, join->list[1]->count);
	int lists = join->list[0] == join->list[1] ? 1 : 2;
	bool goes_on;

	spread.self = lists == 1;
	spread.words = plan->groups > 0 ? join_words(whole, plan) : JOIN_STRIDE(whole->k, whole->b) / 8;
	spread.stride = sizeof(JoinEntry) + spread.words * sizeof(uint64);
	begin_pieces(&spread, documents);
	while (plan->groups > 0 && spread.file_bits < FILE_BITS_MAX &&
		   documents >> spread.file_bits > spread.most)
		spread.file_bits++;
	for (int l = 0; l < lists; l++)
		begin_list(&spread.list[l], join->list[l], UINT32_C(1) << spread.file_bits);
	spread.join.entries = plan->groups > 0;
	spread.join.stride = spread.stride;
	spread.join.emit = take_pair;
	spread.join.state = spread.join.next_state = &spread;
	spread.join.progress = NULL;
	spread.join.next = next_slice;
	/* The sink may allocate what outlives the join. */
	MemoryContextSwitchTo(old);
	goes_on = join_pieces(&spread);
	for (int l = 0; l < lists; l++)
		end_list(&spread.list[l], UINT32_C(1) << spread.file_bits);
	MemoryContextDelete(context);
	return goes_on;
}
