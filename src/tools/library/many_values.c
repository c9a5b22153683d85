/*
 * many_values.c: the pairs and clusters of many values.
 */
#include "library/session.h"

#include <unistd.h>

#include "base/sort.h"
#include "join/edges.h"
#include "join/pairs.h"

/* Memory to use where the machine does not say how much it has. */
#define MEMORY_UNKNOWN ((size_t) 1 << 30)

/* Rows that are looked at before they are read. */
#define ROWS_AHEAD 8192

/* A call of neardup_pairs() or neardup_clusters(). */
typedef struct PairCall
{
	ThreadCall threads; /* the first, so that both are one address */
	PairOptions pair;
	const neardup_values *values[2];
	uint64_t *end[2]; /* the position behind each of their columns of texts */
	Documents *documents;
	Documents *against; /* the documents to compare with; NULL: none */
	neardup_part part;
	OtherSets others;
	bool *in_b; /* whether each value is of block b; NULL unless block a is another */
} PairCall;

/* A function of PairOptions. */
static void
thread_say_slow(void *state, double family, double minutes)
{
	session_warn(((const ThreadCall *) state)->session, family, minutes);
}

/* ---- Documents ---------------------------------------------------------- */

/* Reads a value, and finds its block if there are any. */
static Value
value_at(const neardup_values *values, uint32_t row, uint32_t *block, uint32_t blocks)
{
	size_t length;
	const uint8_t *bytes = value_bytes(values, row, &length);

	if (blocks > 0)
		*block = value_block(values->kind, bytes, length, blocks);
	return value_read(values->kind, bytes, length, false);
}

/* Returns the text at a position of some columns. */
static ColumnText
text_of_columns(const neardup_evidence *evidence, const uint64_t *end, size_t position)
{
	size_t column = 0;

	SEARCH_SORTED(column, evidence->columns, end[middle] <= position);
	if (column == evidence->columns)
		session_fail(NEARDUP_INVALID, "the columns have no text %zu", position);
	return text_at(evidence->texts + column,
				   position - (end[column] - evidence->texts[column].count));
}

/* Returns the text of a row of one of the sides, which decides. */
static ColumnText
text_of_row(const PairCall *call, int side, uint32_t row)
{
	const neardup_evidence *evidence = call->values[side]->evidence;
	size_t position = value_position(call->values[side], row);
	ColumnText text = {NULL, 0};

	if (evidence->read == NULL)
		text = text_of_columns(evidence, call->end[side], position);
	else if (!evidence->read(evidence->state, session_thread(), position, &text.utf8, &text.length))
		session_fail(NEARDUP_NO_FILE, "text %zu could not be read", position);
	return text;
}

/* Returns the evidence of a row of one of the sides. */
static Value
set_of_row(const PairCall *call, int side, uint32_t row)
{
	const neardup_evidence *evidence = call->values[side]->evidence;
	ColumnText text;

	if (evidence->sets != NULL)
		return value_at(evidence->sets, value_position(call->values[side], row), &(uint32_t){0}, 0);
	text = text_of_row(call, side, row);
	return set_of_text(&evidence->signer->maker, text.utf8, text.length);
}

/* A function of PairOptions. */
static Bag
thread_read_set(void *state, const Documents *documents, uint32_t row)
{
	const PairCall *call = state;

	return set_of_row(call, documents == call->against, row).bag;
}

/* Fails unless evidence is of what minhashes of a shape estimate. */
static void
check_scheme(const SignatureHeader *shape, const SignatureHeader *evidence)
{
	char name[2][SCHEME_NAME_SIZE];

	scheme_name(shape->scheme, name[0]);
	scheme_name(evidence->scheme, name[1]);
	if (shape->scheme != evidence->scheme)
		session_fail(NEARDUP_MISMATCH,
					 "shingles of scheme \"%s\" cannot decide on minhashes of scheme \"%s\"",
					 name[1], name[0]);
}

/* Sets a row's digest of the evidence, and its symbols to NULL if that is empty. */
static void
add_digest(const PairCall *call, int side, const Documents *documents, DocumentRow *row)
{
	const neardup_values *values = call->values[side];
	const neardup_evidence *evidence = values->evidence;
	uint8_t digest[BAG_DIGEST_BYTES];
	Value set;

	if (evidence->digest != NULL)
	{
		row->digest = evidence->digest[value_position(values, documents->rows)];
		return;
	}
	set = set_of_row(call, side, documents->rows);
	check_scheme(&documents->shape, &set.signature.header);
	bag_digest(&set.bag, digest);
	memcpy(&row->digest, digest, sizeof(row->digest));
	if (set.bag.count == 0)
		row->symbols = NULL;
	bag_free(&set.bag);
}

/*
 * Adds a value, the next one of a side, to documents; one that is left out is in no pair, as an
 * empty one.
 */
static void
thread_add_value(const PairCall *call, int side, Documents *documents, Value *value, bool left_out)
{
	DocumentRow row = {0};
	bool empty = left_out || value_is_empty(value);

	check_comparable(value, &documents->shape);
	if (documents->sets)
		row.bag = empty ? NULL : &value->bag;
	else
		row.symbols = empty ? NULL : value->signature.symbols;
	if (row.symbols != NULL && call->values[side]->evidence != NULL)
		add_digest(call, side, documents, &row);
	documents_add(documents, &row);
	if (documents->sets)
		bag_free(&value->bag);
	host_free((void *) value->signature.symbols);
}

/* Sets the shape of a side by its first value, or by other documents; fails unless evidence has it. */
static void
set_shape(const neardup_values *values, const Documents *others, const SignatureHeader *first,
		  SignatureHeader *shape)
{
	*shape = others != NULL && others->shape.version > 0 ? others->shape : *first;
	if (values->evidence != NULL && values->evidence->signer != NULL)
		check_scheme(shape, &values->evidence->signer->maker.header);
}

/* Rows of a side, from `first` to below `end`, that are looked at before they are read. */
typedef struct RowsAhead
{
	const PairCall *call;
	int side;
	uint32_t first;
	uint32_t end;
	bool lone[ROWS_AHEAD];     /* whether each is lone */
	uint32_t late[ROWS_AHEAD]; /* those whose minhashes are made late */
	int lates;
	uint8_t *made; /* the minhashes of these */
} RowsAhead;

/* A PairWork: makes minhashes late. */
static void
make_late(void *state, PairNext next, void *next_state)
{
	const RowsAhead *ahead = state;
	const neardup_signer *signer = ahead->call->values[ahead->side]->evidence->remembers;
	size_t size = neardup_signature_size(signer);

	for (int i; (i = next(next_state)) >= 0;)
	{
		ColumnText text = text_of_row(ahead->call, ahead->side, ahead->late[i]);

		make_signature(NULL, signer, text.utf8, text.length, ahead->made + i * size, NULL);
		host_check_interrupts();
	}
}

/* Keeps a minhash that was made late. */
static void
keep_made(const neardup_values *values, size_t position, const uint8_t *made, size_t size)
{
	if (values->made != NULL)
		values->made(values->state, position, made, size);
	else
		memcpy((uint8_t *) values->bytes + position * size, made, size);
}

/*
 * Looks at the next rows, and makes those of their minhashes that are needed, and were not made.  If it is not
 * known which rows are lone, none is.
 */
static void
look_ahead(RowsAhead *ahead)
{
	const PairCall *call = ahead->call;
	const neardup_values *values = call->values[ahead->side];
	const neardup_evidence *evidence = values->evidence;
	bool some = (values->made != NULL || values->read == NULL) && evidence != NULL &&
		evidence->remembers != NULL && evidence->remembers->memory != NULL &&
		evidence->remembers->memory->later;
	size_t length;
	size_t size;

	ahead->first = ahead->end;
	ahead->end = Min(ahead->first + ROWS_AHEAD, values->count);
	ahead->lates = 0;
	for (uint32_t row = ahead->first; row < ahead->end; row++)
	{
		bool lone = ahead->lone[row - ahead->first] = row_is_lone(&call->others, values, row);

		if (some && !lone && *value_bytes(values, row, &length) == 0)
			ahead->late[ahead->lates++] = row;
	}
	if (ahead->lates == 0)
		return;
	size = neardup_signature_size(evidence->remembers);
	ahead->made = host_alloc(ahead->lates * size);
	thread_share((void *) call, ahead->lates, make_late, ahead);
	for (int i = 0; i < ahead->lates; i++)
		keep_made(values, value_position(values, ahead->late[i]), ahead->made + i * size, size);
	host_free(ahead->made);
}

/*
 * Returns the documents of a side, which are comparable with the documents of `others`, if there are any.
 * Values of other blocks than a and b are left out.
 */
static Documents *
read_documents(const PairCall *call, int side, const Documents *others, uint32_t blocks)
{
	const neardup_values *values = call->values[side];
	Documents *documents = documents_begin(&call->pair, values->kind == NEARDUP_SHINGLES, false);
	const neardup_part *part = &call->part;
	uint32_t block = part->b;
	RowsAhead *ahead = host_alloc(sizeof(RowsAhead));

	if (values->count >= NO_ROW / 2)
		session_fail(NEARDUP_TOO_LARGE, "there are more than %u values", NO_ROW / 2);
	documents->rows_max = values->count;
	*ahead = (RowsAhead){.call = call, .side = side};
	for (uint32_t row = 0; row < values->count; row++)
	{
		Value value;

		host_check_interrupts_at(row);
		if (row == ahead->end)
			look_ahead(ahead);
		if (ahead->lone[row - ahead->first])
		{
			documents_add(documents, &(DocumentRow){0});
			continue;
		}
		value = value_at(values, row, &block, blocks);
		if (documents->shape.version == 0)
			set_shape(values, others, &value.signature.header, &documents->shape);
		if (call->in_b != NULL)
			call->in_b[row] = block == part->b;
		thread_add_value(call, side, documents, &value, block != part->a && block != part->b);
	}
	host_free(ahead);
	documents_done(documents);
	return documents;
}

/* ---- Calls ---------------------------------------------------------------- */

/* Returns how many bytes a call may take if it is not told: half of the machine's memory. */
size_t
default_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (size_t) pages / 2 * bytes : MEMORY_UNKNOWN;
}

/* Fails if values have evidence that cannot decide; returns whether they have any. */
static bool
thread_check_evidence(const neardup_values *values, const neardup_values *against)
{
	const neardup_values *all[] = {values, against != NULL ? against : values};

	if ((all[0]->evidence != NULL) != (all[1]->evidence != NULL))
		session_fail(NEARDUP_MISMATCH, "both sides must have evidence, or neither");
	for (int i = 0; i < 2 && values->evidence != NULL; i++)
	{
		const neardup_evidence *evidence = all[i]->evidence;

		if (all[i]->count > 0 && all[i]->kind != NEARDUP_MINHASH)
			session_fail(NEARDUP_INVALID,
						 "texts decide on minhashes only: a simhash estimates no resemblance, and sets of shingles are exact");
		if (evidence->sets != NULL ?
				evidence->sets->kind != NEARDUP_SHINGLES :
				evidence->signer == NULL || evidence->signer->kind != NEARDUP_SHINGLES)
			session_fail(NEARDUP_INVALID, "evidence needs sets of shingles, or a signer of them");
		for (size_t column = 0; column < evidence->columns; column++)
			check_column(evidence->texts + column);
	}
	return values->evidence != NULL;
}

/* Returns the position behind each column of texts. */
static uint64_t *
ends_of_columns(const neardup_evidence *evidence)
{
	uint64_t *end = host_alloc(evidence->columns * sizeof(uint64_t));
	uint64_t texts = 0;

	for (size_t column = 0; column < evidence->columns; column++)
		end[column] = texts += evidence->texts[column].count;
	return end;
}

/* Fails unless there is such a part.  Without blocks, or with `against`, a is b. */
static void
check_part(neardup_part *part, bool against)
{
	if (part->blocks == 0)
		*part = (neardup_part){0};
	else if (against)
		part->a = part->b;
	if (part->blocks > 0 && (part->a > part->b || part->b >= part->blocks))
		session_fail(NEARDUP_INVALID, "of %u blocks, there is no part of blocks %u and %u",
					 part->blocks, part->a, part->b);
}

/* Checks the arguments of a call, and reads its values.  If there are none, their kind is ignored. */
static PairCall *
begin_call(neardup_session *session, const neardup_values *values, const neardup_values *against,
		   const neardup_options *options)
{
	PairCall *call = host_alloc(sizeof(PairCall));
	bool some = values->count > 0;
	bool evidence = thread_check_evidence(values, against);

	if (options->contained != 0 && !(options->contained > 0 && options->contained <= 1 && evidence))
		session_fail(NEARDUP_INVALID,
					 "the share that is contained must be above 0, at most 1, and of texts or sets that decide");
	session_check_threshold(options->threshold);
	if (values->kind == NEARDUP_LEXICON ||
		(against != NULL && against->count > 0 && some && against->kind != values->kind))
		session_fail(NEARDUP_MISMATCH,
					 "both sides must have values of the same kind, which are no lexicons");
	if (some && values->kind != NEARDUP_SHINGLES && (options->multiset || options->containment))
		session_fail(NEARDUP_INVALID, "only shingles are compared by containment or as multisets");
	*call = (PairCall){.threads = {.session = session, .jobs = options->jobs},
					   .values = {values, against},
					   .part = options->part};
	check_part(&call->part, against != NULL);
	if (against == NULL && call->part.a != call->part.b)
		call->in_b = host_alloc(values->count);
	call->pair =
		(PairOptions){.threshold = options->threshold,
					  .recall = 1,
					  .evidence = evidence,
					  .contained = options->contained,
					  .read_set = evidence ? thread_read_set : NULL,
					  .multiset = options->multiset,
					  .measure = options->containment ? MEASURE_CONTAINMENT : MEASURE_RESEMBLANCE,
					  .memory = options->memory > 0 ? options->memory : default_memory(),
					  .sides = against != NULL ? 2 : 1,
					  .run = thread_run_join,
					  .share = thread_share,
					  .slow = thread_say_slow,
					  .state = call,
					  .stats = &call->threads.stats};
	for (int side = 0; evidence && side < call->pair.sides; side++)
		call->end[side] = ends_of_columns(call->values[side]->evidence);
	/* By containment, a large share of one set is enough. */
	if (evidence && options->contained == 0)
		call->others = find_others(session, call->values, call->pair.sides, call->pair.threshold);
	call->documents = read_documents(call, 0, NULL, against == NULL ? call->part.blocks : 0);
	if (against != NULL)
		call->against = read_documents(call, 1, call->documents, call->part.blocks);
	return call;
}

/* Frees what a call holds. */
static void
end_call(PairCall *call)
{
	documents_end(call->documents);
	if (call->against != NULL)
		documents_end(call->against);
}

/* ---- Pairs -------------------------------------------------------------- */

/* The pairs of a call, which are sorted. */
typedef struct SortedPairs
{
	PairCall *call;
	Edges edges;
	neardup_take take;
	void *state;
} SortedPairs;

/* A PairSink: keeps the first rows of one list; of two, each row of a with the first of b. */
static bool
keep_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	SortedPairs *pairs = state;
	const Documents *documents = pairs->call->documents;
	const Documents *against = pairs->call->against;
	uint32_t row = documents->first[a];

	if (against == NULL)
		edges_add(&pairs->edges,
				  (LongEdge){Min(row, documents->first[b]), Max(row, documents->first[b]),
							 similarity});
	for (; against != NULL && row != NO_ROW; row = documents->next[row])
		edges_add(&pairs->edges, (LongEdge){row, against->first[b], similarity});
	return true;
}

/* Keeps the pairs of equal rows of one list: of each document, the first with the others. */
static void
keep_equal(SortedPairs *pairs)
{
	const Documents *documents = pairs->call->documents;

	for (uint32_t i = 0; i < documents->count; i++)
		for (uint32_t b = documents->next[documents->first[i]]; b != NO_ROW; b = documents->next[b])
			edges_add(&pairs->edges, (LongEdge){documents->first[i], b, 1});
}

/* Returns the documents that are of block b, or those that are not. */
static DocumentList
documents_of_block(const PairCall *call, bool in_b)
{
	Documents *documents = call->documents;
	uint32_t *chosen = host_alloc(documents->count * sizeof(uint32_t));
	uint32_t count = 0;

	for (uint32_t i = 0; i < documents->count; i++)
		if (call->in_b[documents->first[i]] == in_b)
			chosen[count++] = i;
	return (DocumentList){documents, chosen, count, NULL};
}

/* An EdgeSink: gives a pair to the caller's function. */
static bool
give_pair(void *state, const LongEdge *edge)
{
	const SortedPairs *pairs = state;
	neardup_pair pair = {(uint32_t) edge->second, (uint32_t) edge->first, edge->similarity};

	return pairs->take(pairs->state, &pair);
}

neardup_code
neardup_each_pair(neardup_session *session, const neardup_values *values,
				  const neardup_values *against, const neardup_options *options, neardup_take take,
				  void *state)
{
	SortedPairs pairs = {.take = take, .state = state};
	DocumentList left;
	DocumentList right;
	bool across; /* whether pairs go from block to block */

	SESSION_BEGIN(session);
	pairs.call = begin_call(session, values, against, options);
	pairs.edges.most = EDGE_MEMORY(&pairs.call->pair) / sizeof(LongEdge);
	left = all_documents(pairs.call->documents);
	across = pairs.call->in_b != NULL;
	if (across)
	{
		left = documents_of_block(pairs.call, false);
		right = documents_of_block(pairs.call, true);
	}
	else if (against != NULL)
		right = all_documents(pairs.call->against);
	(void) pairs_join(&left, across || against != NULL ? &right : NULL, UINT64_MAX, keep_pair,
					  &pairs);
	if (!across && against == NULL)
		keep_equal(&pairs);
	end_call(pairs.call);
	edges_give(&pairs.edges, give_pair, &pairs);
	return session_end();
}

/* The pairs of a call, in memory. */
typedef struct FoundPairs
{
	neardup_pair *pair;
	size_t count;
	size_t room;
	size_t most;
} FoundPairs;

/* A neardup_take. */
static bool
take_found(void *state, const neardup_pair *pair)
{
	FoundPairs *found = state;

	if (found->count == found->most)
		session_fail(NEARDUP_TOO_LARGE, "there are more pairs than the memory holds");
	found->pair =
		host_grow(found->pair, &found->room, Max(found->count + 1, 1024), sizeof(neardup_pair));
	session_keep(found->pair);
	found->pair[found->count++] = *pair;
	return true;
}

neardup_code
neardup_pairs(neardup_session *session, const neardup_values *values, const neardup_values *against,
			  const neardup_options *options, neardup_pair **pairs, size_t *count)
{
	size_t memory = options->memory > 0 ? options->memory : default_memory();
	FoundPairs found = {.most = memory / sizeof(neardup_pair)};
	neardup_code code = neardup_each_pair(session, values, against, options, take_found, &found);

	if (code != NEARDUP_OK)
	{
		neardup_free(session, found.pair);
		return code;
	}
	*pairs = found.pair;
	*count = found.count;
	return code;
}

/* ---- Clusters ----------------------------------------------------------- */

neardup_code
neardup_clusters(neardup_session *session, const neardup_values *values,
				 const neardup_values *against, const neardup_options *options, uint32_t *keeper,
				 double *similarity)
{
	Stars stars = {.nearest = options->nearest, .keeper = keeper};
	PairCall *call;

	SESSION_BEGIN(session);
	if (options->part.blocks > 0)
		session_fail(NEARDUP_INVALID, "only pairs are found in parts");
	call = begin_call(session, values, against, options);
	stars.documents = call->documents;
	stars.first = call->documents->first;
	stars.keepers = call->against;
	stars.keeper_first = call->against != NULL ? call->against->first : NULL;
	stars.similarity = similarity != NULL ? similarity : host_alloc(values->count * sizeof(double));
	for (size_t i = 0; i < values->count; i++)
	{
		bool own = against == NULL && row_is_lone(&call->others, values, i);

		keeper[i] = own ? i : NO_ROW;
		stars.similarity[i] = own;
	}
	stars_make(&stars);
	end_call(call);
	return session_end();
}
