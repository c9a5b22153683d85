/*
 * join_spread.c: the join of signatures that maintenance_work_mem does not hold, by way of files.
 *
 * For each group the signatures are spread over files by the high bits of their buckets.  Two
 * files are joined in memory if a change within the radius leads from one to the other, so each
 * bucket is looked up once, as in memory.  A file that memory does not hold, since many documents
 * share a bucket, is joined in pieces, each with each; so are all documents if the plan has no
 * groups.
 */
#include "dedup/dedup.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

/* More files would take more memory for their buffers than for documents. */
#define FILE_BITS_MAX 10

/* Follows the symbols of a document in its file. */
typedef struct SpreadPlace
{
	uint32 place; /* in the list */
	uint32 zero;
} SpreadPlace;

/* Documents of a list, in files. */
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
	const SymbolJoin *whole;
	SymbolJoin join; /* of two pieces */
	const JoinPlan *plan;
	SpreadList list[2];
	bool self;
	size_t stride; /* bytes of a document in a file */
	uint32 most;   /* documents of a piece */
	int file_bits; /* the logarithm of the number of files ... */
	int bits;      /* ... in this group */
	int group;
	Piece left;
	Piece right; /* the next one */
	bool alone;  /* the next one is the left one itself */

	/* The pieces in memory: symbols with their places, until they are sorted, and the places. */
	uint8 *packed[2];
	uint32 *place[2];
} Spread;

/* ---- Files -------------------------------------------------------------- */

/* Returns the file of a document: the high bits of its bucket. */
static uint32
file_of(const Spread *spread, const uint8 *record)
{
	const Grouping *g = &spread->plan->grouping;

	return spread->bits == 0 ? 0 :
							   group_bucket(g, spread->group, record) >>
			(group_bucket_bits(g, spread->group) - spread->bits);
}

/* Spreads a list over files. */
static void
spread_list(Spread *spread, SpreadList *to)
{
	Records *records = to->list->source->records;
	size_t bytes = spread->stride - sizeof(SpreadPlace);
	uint8 *buffer = palloc(records->stride);

	memset(to->count, 0, sizeof(uint32) << spread->file_bits);
	for (uint32 f = 0; f < UINT32_C(1) << spread->bits; f++)
		file_seek(to->file[f], 0);
	for (uint32 i = 0; i < to->list->count; i++)
	{
		const uint8 *record = records_get(records, document_at(to->list, i), buffer);
		SpreadPlace place = {.place = i};
		uint32 f = file_of(spread, record);

		BufFileWrite(to->file[f], (void *) record, bytes);
		BufFileWrite(to->file[f], &place, sizeof(place));
		to->count[f]++;
		host_check_interrupts_at(i);
	}
	pfree(buffer);
}

/* Brings a piece into memory, in the place of another.  Returns it as a side of a join. */
static JoinSide
load(Spread *spread, bool right, Piece piece)
{
	SpreadList *list = &spread->list[spread->self ? 0 : right];
	uint32 count = Min(spread->most, list->count[piece.file] - piece.from);
	uint8 *packed = spread->packed[right];
	size_t stride = spread->stride;

	file_seek(list->file[piece.file], (int64) piece.from * stride);
	file_read(list->file[piece.file], packed, count * stride);
	for (uint32 i = 0; i < count; i++)
		spread->place[right][i] = ((SpreadPlace *) (packed + (i + 1) * stride))[-1].place;
	CHECK_FOR_INTERRUPTS();
	return (JoinSide){packed, count};
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
	for (int l = 0; l < (spread->self ? 1 : 2); l++)
		spread_list(spread, &spread->list[l]);
	spread->left = (Piece){0};
}

/* Reports the files joined of all groups, or the pieces, if there are no groups. */
static void
report_progress(const Spread *spread)
{
	int64 files = INT64_C(1) << spread->file_bits;
	int groups = spread->plan->groups;

	if (groups > 0)
		progress_groups(spread->group * files + spread->left.file, groups * files);
	else
		progress_groups(spread->left.from / spread->most,
						spread->list[0].list->count / spread->most + 1);
}

/* Puts the next piece on the left, of this group or the next one; false if there is none. */
static bool
next_left(Spread *spread)
{
	int groups = Max(spread->plan->groups, 1);
	Piece *left = &spread->left;

	left->from += spread->most;
	while (left->file >> spread->bits > 0 || left->from >= spread->list[0].count[left->file])
	{
		*left = (Piece){.file = left->file + 1};
		if (left->file >> spread->bits > 0)
		{
			if (++spread->group == groups)
				return false;
			begin_group(spread);
		}
	}
	report_progress(spread);
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

/* A JoinEmit. */
static bool
pass_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Spread *spread = state;
	bool alone = spread->join.right.packed == NULL;
	uint32 x = spread->place[0][a];
	uint32 y = spread->place[!alone][b];
	bool swap = spread->self && x > y;

	return spread->whole->emit(spread->whole->state, swap ? y : x, swap ? x : y, distance);
}

/* ---- The join ----------------------------------------------------------- */

/* Allocates what pieces need.  Two are sorted at a time. */
static void
begin_pieces(Spread *spread, double documents)
{
	const JoinPlan *plan = spread->plan;
	double buckets = plan->groups > 0 ? ldexp(1, plan->grouping.bucket_bits) / documents : 0;
	double bytes =
		2 * (plan->words + 2) * sizeof(uint64) + 2 * buckets * sizeof(uint32) + 2 * spread->stride;

	spread->most = Max(DOCUMENTS_MIN, Min(maintenance_work_mem * 1024.0 / bytes, documents));
	for (int side = 0; side < 2; side++)
	{
		spread->place[side] = palloc_extended(spread->most * sizeof(uint32), MCXT_ALLOC_HUGE);
		spread->packed[side] = palloc_extended(spread->most * spread->stride, MCXT_ALLOC_HUGE);
	}
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

	begin_group(spread);
	/* The first left piece comes next. */
	spread->left.from = -spread->most;
	spread->right.file = UINT32_C(1) << spread->bits;
	if (spread->plan->groups > 0)
		return join_run(&spread->join, spread->plan);
	spread->join.next = NULL;
	while (goes_on && next_slice(spread) >= 0)
		goes_on = join_run(&spread->join, spread->plan);
	return goes_on;
}

/*
 * Joins two lists of signatures, or one with itself, as planned.  join has all but the sides; the
 * pairs are places in the lists.  Returns false if the sink ended the join.
 */
bool
join_spread(const SymbolJoin *join, const JoinPlan *plan, const Documents *left,
			const Documents *right)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup spread join", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Spread spread = {.whole = join, .join = *join, .plan = plan, .self = left == right};
	uint32 documents = Max(left->count, right->count);
	int lists = spread.self ? 1 : 2;
	bool goes_on;

	spread.stride = JOIN_STRIDE(join->k, join->b) + sizeof(SpreadPlace);
	begin_pieces(&spread, documents);
	while (plan->groups > 0 && spread.file_bits < FILE_BITS_MAX &&
		   documents >> spread.file_bits > spread.most)
		spread.file_bits++;
	for (int l = 0; l < lists; l++)
		begin_list(&spread.list[l], l == 0 ? left : right, UINT32_C(1) << spread.file_bits);
	spread.join.stride = spread.stride;
	spread.join.emit = pass_pair;
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
