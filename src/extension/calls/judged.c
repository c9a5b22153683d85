/*
 * judged.c: reads what people say of pairs of ids: they are the same, or different.
 */
#include "calls/judged.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/sort.h"
#include "calls/query.h"

#define EXAMPLE "SELECT a, b, same FROM verdicts"
#define ROOM_MIN 64

/* Positions must fit into the key of a verdict, and four times into 32 bits. */
#define VERDICTS_MAX (UINT32_MAX / 16)

/* Adds the rows of the query to verdicts. */
typedef struct VerdictReader
{
	JudgedPairs *verdicts;
	Oid type[2]; /* the types of the columns of ids */
	bool unsure; /* rows whose verdict is NULL are kept */
} VerdictReader;

/* ---- Reading --------------------------------------------------------------- */

/* A RowSink.  The ids of verdict v go to positions 2 v and 2 v + 1, which are not sorted yet. */
static bool
judged_take_row(void *state, const Datum *values, const bool *nulls)
{
	VerdictReader *reader = state;
	JudgedPairs *verdicts = reader->verdicts;
	uint32 v = verdicts->count;

	if (nulls[2] && (!reader->unsure || nulls[0] || nulls[1]))
		return true;
	if (nulls[0] || nulls[1])
	{
		verdicts->nameless++;
		return true;
	}
	if (v >= VERDICTS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("\"%s\" returns more than %u rows", verdicts->name, VERDICTS_MAX),
				 errhint("Return the verdicts on ids that the query returns.")));
	if (v == verdicts->room)
	{
		verdicts->room *= 2;
		verdicts->verdict = repalloc_huge(verdicts->verdict, verdicts->room * sizeof(JudgedPair));
		verdicts->id = repalloc_huge(verdicts->id, (size_t) verdicts->room * 2 * sizeof(Datum));
	}
	for (int i = 0; i < 2; i++)
		verdicts->id[2 * v + i] =
			id_copy(verdicts->ids, reader->type[i], values[i], verdicts->context);
	verdicts->verdict[v] = (JudgedPair){2 * v, 2 * v + 1, !nulls[2] && DatumGetBool(values[2]),
										nulls[2] ? JUDGED_NULL : JUDGED_ONCE};
	verdicts->count++;
	return true;
}

/* Checks the columns of the query. */
static void
judged_check_columns(const char *name, const IdType *ids, TupleDesc row_type)
{
	const char *type = format_type_be(ids->type);

	if (row_type->natts != 3)
		ereport(ERROR,
				(wrong_columns(name, row_type, 3), errhint("Write a query such as %s.", EXAMPLE)));
	for (int i = 0; i < 2; i++)
		if (!id_fits(ids, id_column_type(ids, TupleDescAttr(row_type, i)->atttypid)))
			ereport(ERROR,
					(wrong_column(name, row_type, i), errdetail("Ids must be of type %s.", type),
					 errhint("Return the ids that the query returns.")));
	if (getBaseType(TupleDescAttr(row_type, 2)->atttypid) != BOOLOID)
		ereport(ERROR,
				(wrong_column(name, row_type, 2),
				 errdetail("It must be of type boolean: true for the same, false for different, NULL for unsure.")));
}

/* ---- Positions ---------------------------------------------------------------- */

/* Compares two of the ids read, by their positions. */
static int
judged_compare_positions(const void *x, const void *y, void *state)
{
	const JudgedPairs *verdicts = state;

	CHECK_FOR_INTERRUPTS();
	return id_compare(verdicts->ids, verdicts->id[*(const uint32 *) x],
					  verdicts->id[*(const uint32 *) y]);
}

/* Sorts the ids, keeps one of equal ones, and changes their positions in the verdicts. */
static void
sort_ids(JudgedPairs *verdicts)
{
	size_t count = (size_t) verdicts->count * 2;
	uint32 *order = palloc_extended(Max(count, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32 *position = palloc_extended(Max(count, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	Datum *id = MemoryContextAllocHuge(verdicts->context, Max(count, 1) * sizeof(Datum));

	for (uint32 i = 0; i < count; i++)
		order[i] = i;
	qsort_arg(order, count, sizeof(uint32), judged_compare_positions, verdicts);
	for (uint32 i = 0; i < count; i++)
	{
		if (i == 0 || judged_compare_positions(order + i - 1, order + i, verdicts) != 0)
			id[verdicts->positions++] = verdicts->id[order[i]];
		position[order[i]] = verdicts->positions - 1;
	}
	for (uint32 v = 0; v < verdicts->count; v++)
	{
		uint32 a = position[2 * v];
		uint32 b = position[2 * v + 1];

		verdicts->verdict[v].a = Min(a, b);
		verdicts->verdict[v].b = Max(a, b);
	}
	pfree(verdicts->id);
	verdicts->id = id;
	pfree(order);
	pfree(position);
}

/* Returns the position of an id, or NOT_JUDGED. */
uint32
judged_position(const JudgedPairs *verdicts, Datum id)
{
	uint32 position = 0;

	SEARCH_SORTED(position, verdicts->positions,
				  id_compare(verdicts->ids, verdicts->id[middle], id) < 0);
	return position < verdicts->positions &&
			id_compare(verdicts->ids, verdicts->id[position], id) == 0 ?
		position :
		NOT_JUDGED;
}

/* Returns a number for each position, UINT32_MAX so far. */
uint32 *
judged_rows(const JudgedPairs *verdicts)
{
	uint32 *row =
		MemoryContextAllocHuge(verdicts->context, Max(verdicts->positions, 1) * sizeof(uint32));

	memset(row, 0xFF, verdicts->positions * sizeof(uint32));
	return row;
}

/* ---- Pairs ------------------------------------------------------------------ */

/* A SortKey: by the pair, then by the verdict. */
static inline uint64
verdict_key(const void *record)
{
	const JudgedPair *verdict = record;

	return (uint64) verdict->a << 32 | (uint64) verdict->b << 1 | verdict->same;
}

/* Tells how many verdicts do not name two rows. */
static void
tell_nameless(const JudgedPairs *verdicts, uint32 nameless)
{
	if (nameless + verdicts->nameless > 0)
		ereport(NOTICE,
				(errmsg("%u of %u verdicts in \"%s\" name a row that is not compared",
						nameless + verdicts->nameless, verdicts->count + verdicts->nameless,
						verdicts->name)));
}

/*
 * Reads a query that returns pairs of ids and whether they are the same.  `unsure` says whether
 * a pair whose verdict is NULL counts as judged.  Returns NULL if the query returns no verdict.
 */
JudgedPairs *
judged_read(const char *name, const char *query, const IdType *ids, bool unsure)
{
	JudgedPairs *verdicts = palloc0(sizeof(JudgedPairs));
	VerdictReader reader = {.verdicts = verdicts, .unsure = unsure};
	SPIPlanPtr plan;

	verdicts->name = name;
	verdicts->context = CurrentMemoryContext;
	verdicts->ids = ids;
	verdicts->room = ROOM_MIN;
	verdicts->verdict = palloc(ROOM_MIN * sizeof(JudgedPair));
	verdicts->id = palloc(ROOM_MIN * 2 * sizeof(Datum));
	SPI_connect();
	plan = query_prepare(name, query, CURSOR_OPT_PARALLEL_OK, EXAMPLE);
	judged_check_columns(name, ids, query_columns(plan));
	for (int i = 0; i < 2; i++)
		reader.type[i] = id_column_type(ids, TupleDescAttr(query_columns(plan), i)->atttypid);
	query_rows(plan, judged_take_row, &reader);
	SPI_finish();
	sort_ids(verdicts);
	sort_records(verdicts->verdict, verdicts->count, sizeof(JudgedPair), verdict_key);
	if (verdicts->count > 0)
		return verdicts;
	tell_nameless(verdicts, 0);
	return NULL;
}

/* Raises an error: the verdicts on two ids contradict each other. */
void
judged_contradict(const JudgedPairs *verdicts, uint32 a, uint32 b, const char *detail)
{
	char *x = id_text(verdicts->ids, verdicts->id[a]);
	char *y = id_text(verdicts->ids, verdicts->id[b]);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" contradicts itself on ids %s and %s", verdicts->name, x, y),
			 errdetail_internal("%s", detail),
			 errhint("Look at the two rows again, and delete the wrong verdicts.")));
}

/*
 * Keeps one verdict on each pair of ids that the rows of a call have, and tells how many have others.
 * A pair whose verdicts differ is kept as unsure, or raises an error; so does an id that is judged
 * different from itself.
 */
void
judged_keep(JudgedPairs *verdicts, bool (*is_met)(const void *state, uint32 a, uint32 b),
			const void *state, bool unsure)
{
	uint32 kept = 0;
	uint32 nameless = 0;

	for (uint32 v = 0; v < verdicts->count; v++)
	{
		const JudgedPair *verdict = verdicts->verdict + v;
		JudgedPair *last = kept > 0 ? verdicts->verdict + kept - 1 : NULL;
		bool again = last != NULL && last->a == verdict->a && last->b == verdict->b;

		nameless +=
			!is_met(state, verdict->a, verdict->a) || !is_met(state, verdict->b, verdict->b);
		if (!is_met(state, verdict->a, verdict->b))
			continue;
		if (verdict->a == verdict->b && !verdict->same && verdict->times != JUDGED_NULL)
			judged_contradict(verdicts, verdict->a, verdict->b,
							  "The id is judged different from itself.");
		if (again && verdict->times == JUDGED_NULL)
			continue;
		if (again && last->times == JUDGED_NULL)
		{
			*last = *verdict;
			continue;
		}
		if (again && last->same != verdict->same && !unsure)
			judged_contradict(verdicts, verdict->a, verdict->b,
							  "The pair is judged both same and different.");
		if (again && last->times != JUDGED_UNSURE)
			last->times = last->same == verdict->same ? JUDGED_AGAIN : JUDGED_UNSURE;
		if (!again && verdict->a != verdict->b)
			verdicts->verdict[kept++] = *verdict;
	}
	tell_nameless(verdicts, nameless);
	verdicts->count = kept;
}

/* Returns the verdict on the ids of two positions, or NULL. */
JudgedPair *
judged_find(const JudgedPairs *verdicts, uint32 x, uint32 y)
{
	JudgedPair sought = {.a = Min(x, y), .b = Max(x, y)};
	JudgedPair *verdict = verdicts->verdict;
	uint32 v = 0;

	SEARCH_SORTED(v, verdicts->count, verdict_key(verdict + middle) < verdict_key(&sought));
	return v < verdicts->count && verdict[v].a == sought.a && verdict[v].b == sought.b ?
		verdict + v :
		NULL;
}
