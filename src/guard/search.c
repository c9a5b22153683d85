/*
 * search.c: the search of a guard for rows similar to a new one.
 *
 * It asks indexes with a dirty snapshot, as check_exclusion_or_unique_constraint() does: that
 * sees the rows of all transactions that are committed or in progress.  Each row that an index
 * names is compared again, since an index has hashes of keys, bounds of sets, and row versions
 * that may have been replaced meanwhile.
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "index/index.h"
#include "types/shingles.h"

/* Rows of the same statement that a report looks through for a row stored before. */
#define SAME_STATEMENT_ROWS 100

/* Rows in no order that a report takes the most similar one of. */
#define UNORDERED_ROWS 1000

extern Datum neardup_near(PG_FUNCTION_ARGS);
extern Datum neardup_near_shingles(PG_FUNCTION_ARGS);
extern Datum neardup_holding(PG_FUNCTION_ARGS);
extern Datum neardup_held_in(PG_FUNCTION_ARGS);

/* ---- A scan of one index --------------------------------------------------------------- */

/* How a place is scanned. */
typedef struct PlaceScan
{
	GuardCheck *check;
	const GuardPlace *place;
	Relation table;
	Relation index;
	Datum signature; /* of the new row, as the index takes it: a set, or minhash or simhash */
	FmgrInfo in_ball;
	Datum ball;
	int keys;
	ScanKeyData key[INDEX_MAX_KEYS];
	int orders;
	ScanKeyData order;
	SnapshotData snapshot;
	IndexScanDesc scan;
	TupleTableSlot *row;
	double similarity; /* of the row */
} PlaceScan;

/* Sets a scan key of an operator of an index's family.  Returns false if there is none. */
static bool
set_key(ScanKey key, Relation index, int flags, int column, int strategy, Oid right, Datum argument)
{
	Oid operator= get_opfamily_member(index->rd_opfamily[column - 1],
									  index->rd_opcintype[column - 1], right, strategy);

	if (!OidIsValid(operator))
		return false;
	ScanKeyEntryInitialize(key, flags, column, strategy, right, index->rd_indcollation[column - 1],
						   get_opcode(operator), argument);
	return true;
}

/* Sets the keys of the columns in which rows are equal. */
static void
set_within_keys(PlaceScan *scan)
{
	const GuardPlace *place = scan->place;

	for (int i = 0; i < scan->check->rule->withins; i++)
		if (place->key[i] > 0 &&
			set_key(&scan->key[scan->keys], scan->index, 0, place->key[i], STRATEGY_EQUAL,
					scan->index->rd_opcintype[place->key[i] - 1], scan->check->within[i]))
			scan->keys++;
}

/* Sets the order by distance, if the index has one; a measure of parts has none. */
static void
set_order(PlaceScan *scan)
{
	int column = index_cache(scan->index)->signature;
	Oid type = scan->index->rd_opcintype[column - 1];
	Oid function = scan->check->rule->function;
	Datum value = scan->check->signature.value;

	if (scan->check->rule->measure != MEASURE_RESEMBLANCE)
		return;
	scan->orders =
		set_key(&scan->order, scan->index, SK_ORDER_BY, column, STRATEGY_DISTANCE, type, value) ||
		set_key(&scan->order, scan->index, SK_ORDER_BY, column, STRATEGY_SYMBOLS,
				extension_type(function, type == BITOID ? "minhash" : "simhash"), scan->signature);
}

/* Returns the ball around the signature of the new row. */
static Datum
ball_of(const PlaceScan *scan, Measure measure)
{
	static const PGFunction of_set[MEASURES] = {neardup_near_shingles, neardup_holding,
												neardup_held_in, NULL};
	PGFunction function = index_cache(scan->index)->sets ? of_set[measure] : neardup_near;

	return DirectFunctionCall2(function, scan->signature,
							   Float8GetDatum(scan->check->rule->threshold));
}

/* Opens a place for scans with one measure. */
static void
open_place(PlaceScan *scan, GuardCheck *check, Oid table)
{
	Signature signature;

	*scan = (PlaceScan){.check = check};
	scan->table = table_open(table, AccessShareLock);
	scan->place = guard_place(check->rule, scan->table);
	scan->index = index_open(scan->place->index, AccessShareLock);
	scan->signature = check->signature.value;
	if (!index_cache(scan->index)->sets)
	{
		signature = index_signature(scan->index, scan->signature);
		scan->signature = PointerGetDatum(signature_value(&signature, 0));
	}
	scan->row = table_slot_create(scan->table, NULL);
}

static void
close_place(PlaceScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->row);
	index_close(scan->index, NoLock);
	table_close(scan->table, NoLock);
}

/* Begins a scan for one measure; if ordered, by distance. */
static void
begin_scan(PlaceScan *scan, Measure measure, bool ordered)
{
	scan->ball = ball_of(scan, measure);
	scan->keys = 1;
	scan->orders = 0;
	(void) set_key(&scan->key[0], scan->index, 0, index_cache(scan->index)->signature,
				   STRATEGY_IN_BALL, scan->check->rule->ball, scan->ball);
	scan->in_ball = scan->key[0].sk_func;
	set_within_keys(scan);
	if (ordered)
		set_order(scan);
	InitDirtySnapshot(scan->snapshot);
	scan->scan =
		compat_index_beginscan(scan->table, scan->index, &scan->snapshot, scan->keys, scan->orders);
	index_rescan(scan->scan, scan->key, scan->keys, scan->orders > 0 ? &scan->order : NULL,
				 scan->orders);
}

/* Is it the new row itself or, before that is stored, the version that it replaces? */
static bool
is_own_row(const PlaceScan *scan)
{
	const GuardCheck *check = scan->check;
	TupleTableSlot *own = check->stored                ? check->row :
		TRIGGER_FIRED_BY_UPDATE(check->data->tg_event) ? check->data->tg_trigslot :
														 NULL;

	return own != NULL && ItemPointerEquals(&scan->row->tts_tid, &own->tts_tid) &&
		scan->place->table == check->place->table;
}

/* Do two times lie at most an interval apart? */
static bool
are_within_span(const WithinColumn *within, Oid type, Datum a, Datum b)
{
	PGFunction plus = type == TIMESTAMPTZOID ? timestamptz_pl_interval : timestamp_pl_interval;
	Datum early = type == DATEOID ? DirectFunctionCall1(date_timestamp, a) : a;
	Datum late = type == DATEOID ? DirectFunctionCall1(date_timestamp, b) : b;

	if (DatumGetInt64(early) > DatumGetInt64(late))
	{
		Datum swapped = early;

		early = late;
		late = swapped;
	}
	early = DirectFunctionCall2(plus, early, IntervalPGetDatum(within->span));
	return DatumGetInt64(late) <= DatumGetInt64(early);
}

/* Is the row equal to the new one in a column of the option within, or close enough? */
static bool
is_within(PlaceScan *scan, int i)
{
	const WithinColumn *within = &scan->check->rule->within[i];
	const FormData_pg_attribute *attribute =
		TupleDescAttr(RelationGetDescr(scan->table), scan->place->within[i] - 1);
	Oid type = getBaseType(attribute->atttypid);
	bool is_null;
	Datum value = slot_getattr(scan->row, scan->place->within[i], &is_null);

	if (is_null)
		return false;
	if (within->span != NULL)
		return are_within_span(within, type, value, scan->check->within[i]);
	return DatumGetBool(FunctionCall2Coll(&lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO)
											   ->eq_opr_finfo,
										  attribute->attcollation, value, scan->check->within[i]));
}

/* Does the row lead a group that the new one may join? */
static bool
may_join(const PlaceScan *scan)
{
	bool is_null;
	Datum group = slot_getattr(scan->row, scan->place->group, &is_null);

	if (is_null || !guard_leads(scan->place, scan->row) ||
		guard_is_to_be_placed(scan->check->rule, scan->row))
		return false;
	for (int i = 0; i < scan->check->barred; i++)
		if (guard_is_same_key(scan->place, scan->row, group, scan->check->bar[i]))
			return false;
	return true;
}

/* Compares the row with the new one, by its own values. */
static bool
is_similar(PlaceScan *scan)
{
	GuardCheck *check = scan->check;
	NullableDatum signature;

	if (is_own_row(scan) || (check->rule->group != NULL && !may_join(scan)))
		return false;
	for (int i = 0; i < check->rule->withins; i++)
		if (!is_within(scan, i))
			return false;
	signature = guard_value(check, scan->place->signature, scan->row);
	return !signature.isnull &&
		DatumGetBool(FunctionCall2(&scan->in_ball, signature.value, scan->ball)) &&
		guard_holds(check, scan->place->condition, scan->row) &&
		(check->rule->group != NULL || !OidIsValid(check->rule->verdicts) ||
		 !guard_is_judged(check, scan->place, scan->row));
}

/* Gets the next row that is similar.  Returns false if there is none. */
static bool
next_similar(PlaceScan *scan)
{
	while (index_getnext_slot(scan->scan, ForwardScanDirection, scan->row))
	{
		CHECK_FOR_INTERRUPTS();
		if (is_similar(scan))
			return true;
	}
	return false;
}

/* Returns the transaction in progress that made or deletes the row, or InvalidTransactionId. */
static TransactionId
in_progress(const PlaceScan *scan)
{
	return TransactionIdIsValid(scan->snapshot.xmin) ? scan->snapshot.xmin : scan->snapshot.xmax;
}

/* A transaction in progress that decides whether a row remains. */
typedef struct Decider
{
	TransactionId transaction; /* InvalidTransactionId: none */
	uint32 token;              /* of an insertion that ON CONFLICT may take back, or 0 */
	ItemPointerData tid;
} Decider;

/* Returns which transaction decides about the row. */
static Decider
decider_of(const PlaceScan *scan)
{
	Decider decider = {.transaction = in_progress(scan), .tid = scan->row->tts_tid};

	if (TransactionIdIsValid(scan->snapshot.xmin))
		decider.token = scan->snapshot.speculativeToken;
	return decider;
}

/* Waits until a transaction has decided. */
static void
wait_for(PlaceScan *scan, Decider *decider)
{
	if (decider->token != 0)
		SpeculativeInsertionWait(decider->transaction, decider->token);
	else
		XactLockTableWait(decider->transaction, scan->table, &decider->tid,
						  XLTW_RecheckExclusionConstr);
}

/*
 * Looks once for a row that is similar and there to stay.  Sets who decides about a row that may
 * stay, if there is only such a one.
 */
static bool
look(PlaceScan *scan, Measure measure, Decider *decider)
{
	bool found = false;

	*decider = (Decider){InvalidTransactionId};
	begin_scan(scan, measure, false);
	while (!found && next_similar(scan))
	{
		Decider of_row = decider_of(scan);

		found = !TransactionIdIsValid(of_row.transaction);
		/* Who deletes a row is waited for in any case, and who writes to the other table. */
		if (!found &&
			(scan->check->unfinished != UNFINISHED_IGNORE ||
			 scan->place->side != &scan->check->rule->side[0] ||
			 !TransactionIdIsValid(scan->snapshot.xmin)))
			*decider = of_row;
	}
	ExecClearTuple(scan->row);
	index_endscan(scan->scan);
	return found;
}

/* Searches a place by one measure. */
static GuardAnswer
search_place(PlaceScan *scan, Measure measure)
{
	Decider decider;

	while (!look(scan, measure, &decider))
	{
		if (!TransactionIdIsValid(decider.transaction))
			return ANSWER_NONE;
		if (scan->check->unfinished == UNFINISHED_TELL)
			return ANSWER_UNSURE;
		wait_for(scan, &decider);
	}
	return ANSWER_SIMILAR;
}

/* The measures that a measure consists of: both directions, or itself. */
static int
parts_of(Measure measure, Measure *part)
{
	part[0] = measure == MEASURE_CONTAINMENT ? MEASURE_CONTAINED : measure;
	part[1] = MEASURE_CONTAINS;
	return measure == MEASURE_CONTAINMENT ? 2 : 1;
}

/* Returns whether there is a row that is similar to the new one. */
GuardAnswer
guard_search(GuardCheck *check)
{
	Measure part[2];
	int parts = parts_of(check->rule->measure, part);
	GuardAnswer answer = ANSWER_NONE;
	ListCell *cell;

	foreach (cell, check->trigger->tables)
	{
		PlaceScan scan;

		open_place(&scan, check, lfirst_oid(cell));
		for (int i = 0; i < parts && answer != ANSWER_SIMILAR; i++)
		{
			GuardAnswer next = search_place(&scan, part[i]);

			answer = next == ANSWER_NONE ? answer : next;
		}
		close_place(&scan);
		if (answer == ANSWER_SIMILAR)
			break;
	}
	return answer;
}

/* ---- The row that a report names --------------------------------------------------------- */

/* Returns the measure of the row and the new one. */
static double
measure_row(PlaceScan *scan)
{
	NullableDatum value = guard_value(scan->check, scan->place->signature, scan->row);
	Signature x;
	Signature y;
	Bag new;
	Bag other;

	if (!index_cache(scan->index)->sets)
	{
		x = signature_of_datum(scan->signature);
		y = index_signature(scan->index, value.value);
		return signature_similarity(&x.header, signature_distance(&x, &y));
	}
	new = shingles_bag(shingles_of_datum(scan->signature));
	other = shingles_bag(shingles_of_datum(value.value));
	return bag_similarity(&new, &other, scan->check->rule->measure, false);
}

/* Returns the command of this transaction that made a row, or InvalidCommandId. */
CommandId
guard_command_of(TupleTableSlot *row)
{
	CommandId command = InvalidCommandId;
	bool is_copy;
	HeapTuple tuple = ExecFetchSlotHeapTuple(row, false, &is_copy);

	if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
		command = HeapTupleHeaderGetCmin(tuple->t_data);
	if (is_copy)
		heap_freetuple(tuple);
	return command;
}

/* Did the statement that made the new row make the row, too? */
static bool
is_of_same_statement(PlaceScan *scan)
{
	GuardCheck *check = scan->check;

	return guard_command_of(scan->row) ==
		(check->stored ? guard_command_of(check->row) : GetCurrentCommandId(false));
}

/* Is a leader's key less than that of another one? */
static bool
has_less_key(const GuardHit *hit, const GuardHit *other)
{
	AttrNumber column = hit->place->group_key;
	const FormData_pg_attribute *attribute =
		TupleDescAttr(hit->row->tts_tupleDescriptor, column - 1);
	TypeCacheEntry *type =
		lookup_type_cache(getBaseType(attribute->atttypid), TYPECACHE_CMP_PROC_FINFO);
	bool is_null;

	return OidIsValid(type->cmp_proc_finfo.fn_oid) &&
		DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, attribute->attcollation,
										slot_getattr(hit->row, column, &is_null),
										slot_getattr(other->row, other->place->group_key,
													 &is_null))) < 0;
}

/* Is a hit to be named rather than another one, which may be none? */
static bool
is_better(const GuardHit *hit, const GuardHit *other)
{
	if (hit->row == NULL || other->row == NULL)
		return other->row == NULL && hit->row != NULL;
	if (hit->place->group > 0)
		return hit->similarity > other->similarity ||
			(hit->similarity == other->similarity && has_less_key(hit, other));
	return hit->same_statement != other->same_statement ? other->same_statement :
														  hit->similarity > other->similarity;
}

/* Puts a hit in the place of another one if it is better, and frees the lesser one. */
static void
keep_better(GuardHit *hit, GuardHit *kept)
{
	TupleTableSlot *freed = hit->row;

	if (is_better(hit, kept))
	{
		freed = kept->row;
		*kept = *hit;
	}
	if (freed != NULL)
		ExecDropSingleTupleTableSlot(freed);
}

/* Takes a copy of the row if it is better than what was found. */
static void
take_if_better(PlaceScan *scan, GuardHit *found)
{
	GuardHit hit = {.row = scan->row,
					.place = scan->place,
					.same_statement = is_of_same_statement(scan)};

	hit.similarity = scan->similarity = measure_row(scan);

	if (!is_better(&hit, found))
		return;
	hit.row = MakeSingleTupleTableSlot(RelationGetDescr(scan->table), &TTSOpsHeapTuple);
	ExecCopySlot(hit.row, scan->row);
	keep_better(&hit, found);
}

/*
 * Returns the distance of the row in the order of the scan; of sets, a bound of it.  Signatures
 * of other types are ordered by the symbols that differ.
 */
static double
bound_of(PlaceScan *scan)
{
	return scan->order.sk_strategy == STRATEGY_DISTANCE ?
		DatumGetFloat8(scan->scan->xs_orderbyvals[0]) :
		1 - scan->similarity;
}

/* Can none of the rows that follow be better than what was found among the first ones? */
static bool
is_settled(PlaceScan *scan, const GuardHit *found, int rows)
{
	bool groups = scan->check->rule->group != NULL;

	if (scan->orders == 0)
		return !groups && rows >= UNORDERED_ROWS;
	if (groups)
		return bound_of(scan) > 1 - found->similarity;
	if (found->row == NULL || found->same_statement)
		return rows >= SAME_STATEMENT_ROWS && scan->check->rule->action != ACTION_REJECT;
	/* The distances of sets are bounds. */
	return !scan->scan->xs_recheckorderby || bound_of(scan) >= 1 - found->similarity;
}

/* Finds the row of a place to name; that of a transaction in progress was not the reason. */
static GuardHit
nearest_of_place(PlaceScan *scan, Measure measure)
{
	GuardHit found = {NULL};
	int rows = 0;

	begin_scan(scan, measure, true);
	while (next_similar(scan))
	{
		/* Who has not ended could not change a leader yet: that takes the lock of groups. */
		if (!TransactionIdIsValid(in_progress(scan)) || scan->check->rule->group != NULL)
			take_if_better(scan, &found);
		if (is_settled(scan, &found, ++rows))
			break;
	}
	ExecClearTuple(scan->row);
	index_endscan(scan->scan);
	return found;
}

/*
 * Finds the row to name: one stored before rather than one of the same statement, and then the
 * most similar one.  Returns false if there is none any more.
 */
bool
guard_finds_nearest(GuardCheck *check, GuardHit *hit)
{
	Measure part[2];
	int parts = parts_of(check->rule->measure, part);
	ListCell *cell;

	*hit = (GuardHit){NULL};
	foreach (cell, check->trigger->tables)
	{
		PlaceScan scan;

		open_place(&scan, check, lfirst_oid(cell));
		for (int i = 0; i < parts; i++)
		{
			GuardHit found = nearest_of_place(&scan, part[i]);

			keep_better(&found, hit);
		}
		close_place(&scan);
	}
	return hit->row != NULL;
}

/* Visits the rows of a place that are similar, unless they were by the measure before, too. */
static void
visit_place(PlaceScan *scan, Measure measure, Datum before, GuardVisitor visit, void *state)
{
	begin_scan(scan, measure, false);
	while (next_similar(scan))
	{
		NullableDatum value = guard_value(scan->check, scan->place->signature, scan->row);
		GuardHit hit = {.row = scan->row, .place = scan->place};

		if (TransactionIdIsValid(in_progress(scan)) ||
			(before != (Datum) 0 &&
			 DatumGetBool(FunctionCall2(&scan->in_ball, value.value, before))))
			continue;
		hit.similarity = measure_row(scan);
		visit(scan->check, &hit, state);
	}
	ExecClearTuple(scan->row);
	index_endscan(scan->scan);
}

/* Visits all rows that are similar to a row and not of a transaction in progress. */
void
guard_visit(GuardCheck *check, GuardVisitor visit, void *state)
{
	Measure part[2];
	int parts = parts_of(check->rule->measure, part);
	ListCell *cell;

	foreach (cell, check->trigger->tables)
	{
		PlaceScan scan;
		Datum before = (Datum) 0;

		open_place(&scan, check, lfirst_oid(cell));
		for (int i = 0; i < parts; i++)
		{
			visit_place(&scan, part[i], before, visit, state);
			before = scan.ball;
		}
		close_place(&scan);
	}
}
