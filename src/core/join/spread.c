/*
 * spread.c: the join of signatures that memory does not hold, by way of files.
 *
 * For each group an entry of each signature, its bucket and prefix, is written to one of several
 * files, chosen by the high bits of the bucket.  Two files are joined in memory if their high bits
 * may be those of buckets within the group's radius of each other.  So each bucket is looked up
 * once, as in a join in memory.  Pairs whose prefixes are near enough are then compared as a whole
 * (hits.c).  Memory may not hold a file if many documents share a bucket.  Such a file is joined in
 * pieces, each with each.
 *
 * If the plan has no groups, there is one file, whose entries have all symbols.
 */
#include "join/spread.h"

#include <math.h>
#include <string.h>

/* With more files, their buffers would take more memory than documents. */
#define FILE_BITS_MAX 7

/* Memory is divided by this for the pairs that are compared as a whole. */
#define SHARE_OF_HITS 4

/* A piece has at least this many entries. */
#define PIECE_MIN 1024

/* The records of a list that are read at a time. */
#define RECORDS_STEP 64

/* The entries of a list, in files. */
typedef struct SpreadList
{
	const FileList *list;
	HostFile **file;
	uint32_t *count; /* the entries of each file */
} SpreadList;

/* A piece of a file. */
typedef struct Piece
{
	uint32_t file; /* the number of the file */
	uint32_t from; /* the number of the first entry */
} Piece;

typedef struct Spread
{
	const SpreadJoin *whole;
	SymbolJoin join; /* the join of two pieces */
	const JoinPlan *plan;
	JoinPrefix *prefixes; /* the prefixes of all groups */
	Hits *hits;           /* NULL if there are no groups */
	SpreadList list[2];
	bool self;
	int words;     /* words of an entry's prefix, or of all symbols */
	size_t stride; /* bytes of an entry */
	uint32_t most; /* the most entries of a piece */
	int file_bits; /* the logarithm of the number of files */
	int bits;      /* the logarithm of the number of files that this group uses */
	int group;
	Piece left;        /* the piece on the left */
	Piece right;       /* the piece that comes next on the right */
	bool with_itself;  /* instead of it, the left piece is joined with itself next */
	bool stopped;      /* the sink has ended the join */
	uint8_t *entry[2]; /* the pieces in memory */
} Spread;

/* ---- Progress ----------------------------------------------------------- */

/* The documents that are spread between two reports. */
#define SPREAD_STEP 65536

/*
 * Reports progress: that a share `written` of a group's files, from 0 to 1, is written, and that
 * `joined` of them are joined.  To write them takes about as long as to join them.  If there are no
 * groups, it reports the pieces on the left instead.
 */
static void
report_progress(const Spread *spread, double written, uint32_t joined)
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

/* Makes the entry of the document at a position of its list, whose symbols are the record. */
static void
make_entry(const Spread *spread, uint32_t position, const uint8_t *record, JoinEntry *entry)
{
	entry->position = position;
	entry->bucket = 0;
	if (spread->plan->groups > 0)
	{
		entry->bucket = group_bucket(&spread->plan->grouping, spread->group, record);
		prefix_make(spread->prefixes + spread->group, record, spread->words, entry->prefix);
	}
	else
		memcpy(entry->prefix, record, spread->words * sizeof(uint64_t));
}

/* Writes the entry of a document to its file. */
static void
spread_document(Spread *spread, SpreadList *to, uint32_t position, const uint8_t *record,
				JoinEntry *entry)
{
	uint32_t f = 0;

	make_entry(spread, position, record, entry);
	if (spread->bits > 0)
		f = entry->bucket >>
			(group_bucket_bits(&spread->plan->grouping, spread->group) - spread->bits);
	host_file_write(to->file[f], (uint64_t) to->count[f]++ * spread->stride, entry, spread->stride);
}

/* Spreads the list on the left (l = 0) or on the right (1) over its files. */
static void
spread_list(Spread *spread, int l)
{
	SpreadList *to = &spread->list[l];
	const FileList *list = to->list;
	uint8_t *buffer = host_alloc(RECORDS_STEP * list->stride);
	JoinEntry *entry = host_alloc(spread->stride);

	memset(to->count, 0, sizeof(uint32_t) << spread->file_bits);
	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t some = Min(list->count - i, RECORDS_STEP);

		host_check_interrupts_at(i);
		if (i % SPREAD_STEP == 0)
			report_progress(spread, (l + (double) i / list->count) / (spread->self ? 1 : 2), 0);
		if (i % RECORDS_STEP == 0)
			host_file_read(list->file, (uint64_t) i * list->stride, buffer, some * list->stride);
		spread_document(spread, to, i, buffer + i % RECORDS_STEP * list->stride, entry);
	}
	host_free(entry);
	host_free(buffer);
}

/* Reads a piece into memory, where another one was.  Returns it as a side of a join. */
static JoinSide
load(Spread *spread, bool right, Piece piece)
{
	SpreadList *list = &spread->list[spread->self ? 0 : right];
	uint32_t count = Min(spread->most, list->count[piece.file] - piece.from);
	uint8_t *entry = spread->entry[right];

	host_file_read(list->file[piece.file], (uint64_t) piece.from * spread->stride, entry,
				   count * spread->stride);
	host_check_interrupts();
	return (JoinSide){entry + (spread->plan->groups > 0 ? 0 : sizeof(JoinEntry)), count};
}

/* ---- Pieces ------------------------------------------------------------- */

/* Returns whether a file of the right is joined with the file of the left piece. */
static bool
is_near(const Spread *spread, uint32_t file)
{
	int count = 1;

	if (spread->bits > 0)
		(void) join_changes(spread->plan, spread->group, spread->bits, spread->left.file ^ file,
							&count);
	return count > 0;
}

/* Moves `right` on to a piece that is joined with the left one.  Returns false if there is none. */
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

/* Puts the next piece on the right.  Returns false if there is none. */
static bool
next_right(Spread *spread)
{
	if (spread->with_itself)
		spread->join.right = (JoinSide){NULL, 0};
	else if (find_right(spread))
	{
		spread->join.right = load(spread, true, spread->right);
		spread->join.slice.change = spread->left.file ^ spread->right.file;
		spread->right.from += spread->most;
	}
	else
		return false;
	spread->with_itself = false;
	return true;
}

/* Spreads the lists by the buckets of the present group, and sets the first piece. */
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

/*
 * Compares the pairs that were collected, if this is the last group.  It does so after each group if
 * the caller wants groups apart, or if there are labels, which then keep later groups from
 * collecting pairs that are connected already.  Returns false if the sink ended the join.
 */
static bool
end_group(Spread *spread, bool last)
{
	bool each = spread->whole->by_part || spread->whole->symbols.labels.label != NULL;

	if (spread->hits != NULL && (each || last))
		spread->stopped = !hits_flush(spread->hits);
	return !spread->stopped;
}

/* Ends the present group and begins the next one.  Returns false if there is none. */
static bool
spread_next_group(Spread *spread)
{
	const SymbolJoin *whole = &spread->whole->symbols;

	if (!end_group(spread, false))
		return false;
	spread->group = whole->next != NULL ? whole->next(whole->next_state) : spread->group + 1;
	if (spread->group < 0 || spread->group >= Max(spread->plan->groups, 1))
	{
		(void) end_group(spread, true);
		return false;
	}
	begin_group(spread);
	return true;
}

/* Puts the next piece on the left, of this group or the next one.  Returns false if there is none. */
static bool
next_left(Spread *spread)
{
	Piece *left = &spread->left;

	left->from += spread->most;
	while (left->file >> spread->bits > 0 || left->from >= spread->list[0].count[left->file])
	{
		*left = (Piece){.file = left->file + 1};
		if (left->file >> spread->bits > 0 && !spread_next_group(spread))
			return false;
	}
	report_progress(spread, 1, left->file);
	spread->join.left = load(spread, false, *left);
	spread->join.slice = (JoinSlice){.bits = spread->bits, .most = spread->most, .new_left = true};
	spread->with_itself = spread->self;
	spread->right = spread->self ? (Piece){left->file, left->from + spread->most} : (Piece){0};
	return true;
}

/* A JoinNext: puts the next pieces on both sides.  Returns the group that they are of. */
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

/* A JoinEmit: finds the positions of a pair in the lists, and collects the pair or passes it on. */
static bool
take_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Spread *spread = state;
	const SymbolJoin *whole = &spread->whole->symbols;
	bool with_itself = spread->join.right.packed == NULL;
	uint32_t x = ((JoinEntry *) (spread->entry[0] + a * spread->stride))->position;
	uint32_t y = ((JoinEntry *) (spread->entry[!with_itself] + b * spread->stride))->position;
	bool swap = spread->self && x > y;
	uint32_t left = swap ? y : x;
	uint32_t right = swap ? x : y;

	if (spread->hits != NULL)
	{
		hits_add(spread->hits, spread->group, left, right);
		return true;
	}
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

	return spread->stride + spread->words * sizeof(uint64_t) + (3 + buckets) * sizeof(uint32_t);
}

/* Allocates memory for two pieces, which are sorted at a time, and for pairs. */
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
		host_limit(Max(PIECE_MIN,
					   (size_t) Min(memory / (2 * entry_bytes(spread, documents)), documents)));
	for (int side = 0; side < 2; side++)
		spread->entry[side] = host_alloc(spread->most * spread->stride);
}

/* Creates the files of a list. */
static void
begin_list(Spread *spread, int l)
{
	SpreadList *list = &spread->list[l];
	uint32_t files = UINT32_C(1) << spread->file_bits;

	list->list = spread_side(spread->whole, l);
	list->file = host_alloc(files * sizeof(HostFile *));
	list->count = host_alloc(files * sizeof(uint32_t));
	for (uint32_t f = 0; f < files; f++)
		list->file[f] = host_file_create();
}

/* Closes the files, and frees what the join has allocated. */
static void
spread_end(Spread *spread)
{
	for (int l = 0; l < (spread->self ? 1 : 2); l++)
	{
		for (uint32_t f = 0; f < UINT32_C(1) << spread->file_bits; f++)
			host_file_close(spread->list[l].file[f]);
		host_free(spread->list[l].file);
		host_free(spread->list[l].count);
	}
	for (int side = 0; side < 2; side++)
		host_free(spread->entry[side]);
	if (spread->hits != NULL)
		hits_end(spread->hits);
	host_free(spread->prefixes);
}

/* Joins the pieces of all groups.  Returns false if the sink ended the join. */
static bool
join_pieces(Spread *spread)
{
	bool goes_on = true;

	spread->group = -1;
	if (!spread_next_group(spread))
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
 * Joins two lists of signatures, or one with itself, as planned.  The sink gets the positions of pairs
 * in the lists.  Returns false if the sink ended the join.
 */
bool
spread_run(const SpreadJoin *join)
{
	const JoinPlan *plan = &join->plan;
	const SymbolJoin *whole = &join->symbols;
	Spread spread = {.whole = join, .join = *whole, .plan = plan, .self = join->right.file == NULL};
	uint32_t documents = Max(join->left.count, join->right.count);
	bool goes_on;

	spread.words = plan->groups > 0 ? join_words(whole, plan) : JOIN_STRIDE(whole->k, whole->b) / 8;
	spread.stride = sizeof(JoinEntry) + spread.words * sizeof(uint64_t);
	begin_pieces(&spread, documents);
	while (plan->groups > 0 && spread.file_bits < FILE_BITS_MAX &&
		   documents >> spread.file_bits > spread.most)
		spread.file_bits++;
	for (int l = 0; l < (spread.self ? 1 : 2); l++)
		begin_list(&spread, l);
	spread.join.entries = plan->groups > 0;
	if (plan->groups == 0)
		spread.join.labels.label = NULL;
	spread.join.stride = spread.stride;
	spread.join.emit = take_pair;
	spread.join.state = spread.join.next_state = &spread;
	spread.join.progress = NULL;
	spread.join.next = next_slice;
	goes_on = join_pieces(&spread);
	spread_end(&spread);
	return goes_on;
}
