/*
 * search.c: the search of a guard for rows similar to a new one.
 *
 * It asks indexes with a dirty snapshot, as check_exclusion_or_unique_constraint() does: that
 * sees the rows of all transactions that are committed or in progress.  It compares each row
 * again, since an index has hashes of keys and replaced versions.  It follows each similar
 * version that has died since the search began (src/README, Guards).
 */
#include "guard/group.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "index/index.h"
#include "calls/objects.h"
#include "types/shingles_type.h"

/* Rows of the same statement that a report looks through for a row stored before. */
#define SAME_STATEMENT_ROWS 100

/* A report names the most similar of this many rows in no order. */
#define UNORDERED_ROWS 1000

/* A search is repeated at most this often because it has lost a similar row. */
#define REPEATS 100

extern Datum neardup_near(PG_FUNCTION_ARGS);
extern Datum neardup_near_shingles(PG_FUNCTION_ARGS);
extern Datum neardup_holding(PG_FUNCTION_ARGS);
extern Datum neardup_held_in(PG_FUNCTION_ARGS);

/* ---- A scan of one index --------------------------------------------------------------- */

/* How a leaf is scanned. */
struct GuardScan
{
	GuardCheck *check;
	const GuardLeaf *leaf;
	Relation table;
	Relation index;
	int column; /* the signature's column of the index */
	bool sets;
	Datum signature; /* the signature of the new row as the index takes it */
	FmgrInfo in_ball;
	int balls;
	Datum ball[2];
	StrategyNumber order; /* the operator of the order; 0: there is none */
	SnapshotData snapshot;
	Snapshot since; /* a snapshot taken before the scan began; NULL: the scan has one itself */
	IndexScanDesc scan;
	TupleTableSlot *row;
	int rows;  /* rows that were similar */
	bool lost; /* a similar row was deleted, or changed, after `since` was taken */
};

/* Sets a scan key of an operator of an index's family.  Returns false if there is none. */
bool
guard_set_key(ScanKey key, Relation index, int flags, int column, int strategy, Oid right,
			  Datum argument)
{
	Oid operator= get_opfamily_member(index->rd_opfamily[column - 1],
									  index->rd_opcintype[column - 1], right, strategy);

	if (!OidIsValid(operator))
		return false;
	ScanKeyEntryInitialize(key, flags, column, strategy, right, index->rd_indcollation[column - 1],
						   get_opcode(operator), argument);
	return true;
}

/* Sets the key of the balls around the signature of the new row. */
static void
set_balls(GuardScan *scan, ScanKey key)
{
	static const PGFunction of_set[] = {neardup_near_shingles, neardup_holding, neardup_held_in};
	const GuardRule *rule = scan->check->rule;
	bool both = rule->measure == MEASURE_CONTAINMENT;
	Measure measure = both ? MEASURE_CONTAINED : rule->measure;
	Datum argument;

	for (scan->balls = 0; scan->balls <= both; scan->balls++)
		scan->ball[scan->balls] =
			DirectFunctionCall2(scan->sets ? of_set[measure + scan->balls] : neardup_near,
								scan->signature, Float8GetDatum(rule->threshold));
	argument = !both ? scan->ball[0] :
					   PointerGetDatum(construct_array(scan->ball, scan->balls, rule->ball, -1,
													   false, TYPALIGN_INT));
	(void) guard_set_key(key, scan->index, both ? SK_SEARCHARRAY : 0, scan->column,
						 STRATEGY_IN_BALL, rule->ball, argument);
	scan->in_ball = key->sk_func;
}

/* Begins a scan of a table; if asked, by distance, where the index and the measure have an order. */
static void
begin_scan(GuardScan *scan, GuardCheck *check, Oid table, bool ordered)
{
	const GuardRule *rule = check->rule;
	ScanKeyData key[INDEX_MAX_KEYS];
	ScanKeyData order;
	int keys = 1;
	Oid type;

	scan->check = check;
	scan->table = table_open(table, NoLock);
	scan->leaf = guard_leaf(check->rule, scan->table);
	scan->index = index_open(guard_index(rule, scan->leaf), AccessShareLock);
	scan->row = table_slot_create(scan->table, NULL);
	scan->column = index_cache(scan->index)->signature;
	scan->sets = index_cache(scan->index)->sets;
	scan->signature = check->values.signature.value;
	type = scan->index->rd_opcintype[scan->column - 1];
	if (!scan->sets)
	{
		Signature signature = index_signature(scan->index, scan->signature);

		scan->signature = PointerGetDatum(signature_value(&signature, 0));
	}
	set_balls(scan, &key[0]);
	for (int i = 0; i < rule->withins; i++)
	{
		int column = scan->leaf->key[i];
		NullableDatum value = check->values.within[i];

		/* A row whose value is unknown is compared with all, and all are with one whose value is. */
		if (column > 0 && !value.isnull)
			keys +=
				guard_set_key(&key[keys], scan->index, rule->within[i].unknown ? SK_SEARCHNULL : 0,
							  column, STRATEGY_EQUAL, scan->index->rd_opcintype[column - 1],
							  value.value);
	}
	if (ordered && rule->measure == MEASURE_RESEMBLANCE &&
		(guard_set_key(&order, scan->index, SK_ORDER_BY, scan->column, STRATEGY_DISTANCE, type,
					   check->values.signature.value) ||
		 guard_set_key(&order, scan->index, SK_ORDER_BY, scan->column, STRATEGY_SYMBOLS,
					   extension_type(rule->function, type == BITOID ? "minhash" : "simhash"),
					   scan->signature)))
		scan->order = order.sk_strategy;
	InitDirtySnapshot(scan->snapshot);
	scan->scan = compat_index_beginscan(scan->table, scan->index,
										scan->since == NULL ? check->snapshot : &scan->snapshot,
										keys, scan->order > 0);
	index_rescan(scan->scan, key, keys, scan->order > 0 ? &order : NULL, scan->order > 0);
}

/* ---- Comparing rows --------------------------------------------------------------------- */

/* Returns whether two times lie at most an interval apart. */
static bool
are_within_span(Interval *span, Oid type, Datum a, Datum b)
{
	PGFunction plus = type == TIMESTAMPTZOID ? timestamptz_pl_interval : timestamp_pl_interval;
	int64 x = DatumGetInt64(type == DATEOID ? DirectFunctionCall1(date_timestamp, a) : a);
	int64 y = DatumGetInt64(type == DATEOID ? DirectFunctionCall1(date_timestamp, b) : b);

	return Max(x, y) <=
		DatumGetInt64(DirectFunctionCall2(plus, Int64GetDatum(Min(x, y)), IntervalPGetDatum(span)));
}

/* Returns whether a row is within the columns of the new one; if asked, only those of the scope. */
bool
guard_is_within(GuardCheck *check, const GuardLeaf *leaf, TupleTableSlot *row, bool scope)
{
	for (int i = 0; i < check->rule->withins; i++)
	{
		const GuardWithin *within = &check->rule->within[i];
		const GuardTerm *term = &leaf->within[i];
		NullableDatum own = check->values.within[i];
		NullableDatum value;

		if (scope && !within->scope)
			continue;
		value = guard_get(check, row, term);
		if (value.isnull || own.isnull ?
				!within->unknown :
				!(within->span != NULL ?
					  are_within_span(within->span, term->type->type_id, value.value, own.value) :
					  DatumGetBool(FunctionCall2Coll(&term->type->eq_opr_finfo, term->collation,
													 value.value, own.value))))
			return false;
	}
	return true;
}

/* Returns the measure of a signature and the new one. */
static double
measure_signature(const GuardScan *scan, Datum signature)
{
	Signature x;
	Signature y;
	Bag new;
	Bag other;

	if (!scan->sets)
	{
		x = signature_of_datum(scan->signature);
		y = index_signature(scan->index, signature);
		return signature_similarity(&x.header, signature_distance(&x, &y));
	}
	new = shingles_bag(shingles_of_datum(scan->signature));
	other = shingles_bag(shingles_of_datum(signature));
	return bag_similarity(&new, &other, scan->check->rule->measure, false);
}

/* Compares the row with the new one, by its own values; if they are similar, makes a hit of it. */
static bool
search_is_similar(GuardScan *scan, GuardHit *hit)
{
	GuardCheck *check = scan->check;
	const GuardLeaf *leaf = scan->leaf;
	bool groups = check->rule->group != NULL;
	/* The row itself or, before it is stored, the version that it replaces. */
	TupleTableSlot *own = check->stored ? check->row : check->old;
	NullableDatum signature;
	bool in_ball = false;

	if (own != NULL && ItemPointerEquals(&scan->row->tts_tid, &own->tts_tid) &&
		leaf->oid == check->leaf->oid)
		return false;
	if ((groups && !guard_may_join(check, leaf, scan->row)) ||
		!guard_is_within(check, leaf, scan->row, false))
		return false;
	signature = guard_get(check, scan->row, &leaf->signature);
	for (int i = 0; i < scan->balls && !signature.isnull; i++)
		in_ball |= DatumGetBool(FunctionCall2(&scan->in_ball, signature.value, scan->ball[i]));
	if (!in_ball ||
		(leaf->condition.expression != NULL && !guard_is_true(check, scan->row, &leaf->condition)))
		return false;
	*hit = (GuardHit){.row = scan->row, .leaf = leaf, .scan = scan};
	if (!groups && OidIsValid(check->rule->verdicts) && guard_is_judged(check, hit))
		return false;
	hit->similarity = measure_signature(scan, signature.value);
	hit->transaction =
		TransactionIdIsValid(scan->snapshot.xmin) ? scan->snapshot.xmin : scan->snapshot.xmax;
	return true;
}

/* ---- Rows that change while they are searched ---------------------------------------------- */

/*
 * Returns whether a row version has died since the scan began: a transaction deleted or replaced it
 * that is committed, and was not when the snapshot was taken.  While the snapshot is held, nothing
 * removes such a version.  Sets `next` to the version that replaces it, or to itself if none does.
 * Of tables that are no heaps, it does not know.
 */
static bool
has_died(const GuardScan *scan, ItemPointer next)
{
	BufferHeapTupleTableSlot *row = (BufferHeapTupleTableSlot *) scan->row;
	HeapTupleHeader version;
	TransactionId end = InvalidTransactionId;

	if (!TTS_IS_BUFFERTUPLE(scan->row))
		return false;
	version = row->base.tuple->t_data;
	LockBuffer(row->buffer, BUFFER_LOCK_SHARE);
	if (!(version->t_infomask & HEAP_XMAX_INVALID) &&
		!HEAP_XMAX_IS_LOCKED_ONLY(version->t_infomask))
		end = HeapTupleHeaderGetUpdateXid(version);
	*next = version->t_ctid;
	LockBuffer(row->buffer, BUFFER_LOCK_UNLOCK);
	if (ItemPointerIndicatesMovedPartitions(next))
		*next = scan->row->tts_tid;
	return TransactionIdIsValid(end) && XidInMVCCSnapshot(end, scan->since) &&
		TransactionIdDidCommit(end);
}

/* Fetches the version of a row that lives, behind one that died; returns false if it is gone. */
static bool
fetch_living(GuardScan *scan, ItemPointerData next)
{
	ItemPointerData tid;

	do
	{
		CHECK_FOR_INTERRUPTS();
		tid = next;
		if (table_tuple_fetch_row_version(scan->table, &tid, &scan->snapshot, scan->row))
			return true;
	} while (table_tuple_fetch_row_version(scan->table, &tid, SnapshotAny, scan->row) &&
			 has_died(scan, &next) && !ItemPointerEquals(&tid, &next));
	return false;
}

/*
 * Looks at the versions that an entry leads to, or at those after `tid` if there may be more.  None of
 * them lives.  If a similar one has died since the scan began, finds the version of its row that
 * lives; if that is not similar, the row is lost.
 */
static bool
follow_versions(GuardScan *scan, ItemPointerData tid, bool more, GuardHit *hit)
{
	ItemPointerData next;

	while (table_index_fetch_tuple(scan->scan->xs_heapfetch, &tid, SnapshotAny, scan->row, &more,
								   NULL))
	{
		if (!has_died(scan, &next) || !search_is_similar(scan, hit))
			continue;
		if (fetch_living(scan, next) && search_is_similar(scan, hit))
			return true;
		scan->lost = true;
		return false;
	}
	return false;
}

/* Finds the next row that is similar to the new one. */
static bool
next_similar(GuardScan *scan, GuardHit *hit)
{
	IndexScanDesc index = scan->scan;

	for (;;)
	{
		ItemPointerData tid;
		bool more;

		CHECK_FOR_INTERRUPTS();
		if (!index->xs_heap_continue && index_getnext_tid(index, ForwardScanDirection) == NULL)
			return false;
		tid = index->xs_heaptid;
		more = index->xs_heap_continue;
		if (index_fetch_heap(index, scan->row))
		{
			if (search_is_similar(scan, hit))
				return true;
		}
		/* Versions that no snapshot sees died before the scan began. */
		else if (scan->since != NULL && !index->kill_prior_tuple &&
				 follow_versions(scan, tid, more, hit))
			return true;
	}
}

/* ---- Visiting rows ------------------------------------------------------------------------- */

/* Lets a visitor see similar rows once; returns whether none was lost that it would have seen. */
static bool
visit_once(GuardCheck *check, bool ordered, GuardVisitor visit, void *state)
{
	Snapshot since = RegisterSnapshot(check->snapshot == NULL ? GetLatestSnapshot() : NULL);
	GuardStep step = STEP_ON;
	bool lost = false;
	ListCell *cell;

	foreach (cell, check->leaf->searched)
	{
		GuardScan scan = {.since = since};
		GuardHit hit;

		begin_scan(&scan, check, lfirst_oid(cell), ordered);
		for (step = STEP_ON; step == STEP_ON && next_similar(&scan, &hit);)
		{
			scan.rows++;
			step = visit(check, &hit, state);
		}
		ExecDropSingleTupleTableSlot(scan.row);
		index_endscan(scan.scan);
		if (since != NULL)
			compat_test_snapshot_age(since, scan.table);
		lost |= scan.lost;
		index_close(scan.index, NoLock);
		table_close(scan.table, NoLock);
		if (step == STEP_OUT)
			break;
	}
	UnregisterSnapshot(since);
	return step == STEP_OUT || !lost;
}

/*
 * Lets a visitor see the rows that are similar to the new one: those of the check's snapshot or, if it
 * has none, all that are committed or of transactions in progress, some of them more than once.
 */
void
guard_visit(GuardCheck *check, bool ordered, GuardVisitor visit, void *state)
{
	int repeats = 0;

	while (!visit_once(check, ordered, visit, state))
		if (repeats++ == REPEATS)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access: rows similar to the new one are replaced all the time"),
					 errhint("Try the transaction again.")));
}

/* ---- Whether any row is similar ----------------------------------------------------------- */

/* What was found: a row that is there to stay, or else the transaction that decides about one. */
typedef struct FoundRow
{
	bool stays;
	TransactionId transaction; /* InvalidTransactionId: none */
	uint32 token;              /* the token of an insertion that ON CONFLICT may take back, or 0 */
	Oid table;
	ItemPointerData tid;
} FoundRow;

/* A GuardVisitor: looks for a row that is there to stay. */
static GuardStep
look(GuardCheck *check, const GuardHit *hit, void *state)
{
	const SnapshotData *snapshot = &hit->scan->snapshot;
	bool made = TransactionIdIsValid(snapshot->xmin);
	/*
	 * The transaction that made the row looks after this check, and then sees the new row: that of
	 * a deferred guard does, and any that began to write after the first look.
	 */
	bool later = made && hit->leaf->table == check->rule->guarded &&
		(check->unfinished == UNFINISHED_IGNORE ||
		 (TransactionIdIsValid(check->later) &&
		  !TransactionIdPrecedes(hit->transaction, check->later)));
	FoundRow *found = state;

	found->stays = !TransactionIdIsValid(hit->transaction);
	/* A transaction that deletes a row is waited for in any case.  All wait for the oldest first. */
	if (!found->stays && !later &&
		(!TransactionIdIsValid(found->transaction) ||
		 TransactionIdPrecedes(hit->transaction, found->transaction)))
		*found = (FoundRow){false, hit->transaction, made ? snapshot->speculativeToken : 0,
							hit->leaf->oid, hit->row->tts_tid};
	return found->stays ? STEP_OUT : STEP_ON;
}

/*
 * Returns whether there is a row that is similar to the new one.  If that is stored, only
 * transactions of the first look are waited for: else sessions that try again and again could
 * keep each other waiting in circles, and none would ever commit.
 */
bool
guard_search(GuardCheck *check)
{
	for (;;)
	{
		FoundRow found = {false};
		Relation table;

		guard_visit(check, false, look, &found);
		if (found.stays)
			return true;
		if (!TransactionIdIsValid(found.transaction))
			return false;
		if (check->stored && !TransactionIdIsValid(check->later))
			check->later = ReadNextTransactionId();
		check->unsure = check->unfinished == UNFINISHED_TELL;
		if (check->unsure)
			return false;
		table = table_open(found.table, NoLock);
		if (found.token != 0)
			SpeculativeInsertionWait(found.transaction, found.token);
		else
			XactLockTableWait(found.transaction, table, &found.tid, XLTW_RecheckExclusionConstr);
		table_close(table, NoLock);
	}
}

/* ---- The row that a report names --------------------------------------------------------- */

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

/* Returns whether a hit is to be named rather than another one, which may be none. */
static bool
is_better(GuardCheck *check, const GuardHit *hit, const GuardHit *other)
{
	const GuardTerm *key = &hit->leaf->group_key;

	if (other->row == NULL || check->rule->group == NULL)
		return other->row == NULL ||
			(hit->same_statement != other->same_statement ? other->same_statement :
															hit->similarity > other->similarity);
	if (hit->similarity != other->similarity || !OidIsValid(key->type->cmp_proc_finfo.fn_oid))
		return hit->similarity > other->similarity;
	return DatumGetInt32(FunctionCall2Coll(&key->type->cmp_proc_finfo, key->collation,
										   guard_get(check, hit->row, key).value,
										   guard_get(check, other->row, &other->leaf->group_key)
											   .value)) < 0;
}

/*
 * A GuardVisitor: keeps the best row; a row of a transaction in progress was not the reason.  Ends the
 * scan where no row that follows can be better.
 */
static GuardStep
keep_best(GuardCheck *check, const GuardHit *found, void *state)
{
	const GuardScan *scan = found->scan;
	const GuardAction *action = check->rule->action;
	GuardHit *best = state;
	GuardHit hit = *found;
	double distance = 1 - hit.similarity;
	bool settled;

	hit.same_statement = guard_command_of(hit.row) ==
		(check->stored ? guard_command_of(check->row) : GetCurrentCommandId(false));
	/* A transaction in progress has changed no leader: that takes the lock of groups. */
	if ((!TransactionIdIsValid(hit.transaction) || action->groups) && is_better(check, &hit, best))
	{
		if (best->row != NULL)
			ExecDropSingleTupleTableSlot(best->row);
		*best = hit;
		best->row = MakeSingleTupleTableSlot(hit.row->tts_tupleDescriptor, &TTSOpsHeapTuple);
		ExecCopySlot(best->row, hit.row);
	}
	/* Of sets, the distance in the order of the scan is a bound. */
	if (scan->order == STRATEGY_DISTANCE)
		distance = DatumGetFloat8(scan->scan->xs_orderbyvals[0]);
	if (scan->order == 0)
		settled = !action->groups && scan->rows >= UNORDERED_ROWS;
	else if (action->groups)
		settled = distance > 1 - best->similarity;
	else if (best->row == NULL || best->same_statement)
		settled = scan->rows >= SAME_STATEMENT_ROWS && (!action->promises || action->looks_before);
	else
		settled = distance >= 1 - best->similarity ||
			(!hit.same_statement && !scan->scan->xs_recheckorderby);
	return settled ? STEP_OVER : STEP_ON;
}

/* Finds the row to name: one stored before the statement, then the most similar; false if none. */
bool
guard_finds_nearest(GuardCheck *check, GuardHit *hit)
{
	*hit = (GuardHit){NULL};
	guard_visit(check, true, keep_best, hit);
	return hit->row != NULL;
}
