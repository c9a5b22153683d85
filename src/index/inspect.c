/*
 * inspect.c: what an index is made of, and what a search in it does.
 */
#include "index/inspect.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "rights.h"

PG_FUNCTION_INFO_V1(neardup_index_info);
PG_FUNCTION_INFO_V1(neardup_explain);
PG_FUNCTION_INFO_V1(neardup_explain_threshold);

/* ---- Who may look at what ----------------------------------------------- */

static _Noreturn void
refuse_kind(const char *name, char kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a neardup index", name),
			 kind == RELKIND_PARTITIONED_INDEX ?
				 errhint("Name the index of one partition.") :
				 errhint("Name an index made with USING neardup, not its table.")));
}

/* The column of a table that an index is on; InvalidAttrNumber: an expression. */
static AttrNumber
indexed_column(Oid index)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	AttrNumber column;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	column = ((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0];
	ReleaseSysCache(tuple);
	return column;
}

/* Matches, candidates and times tell how near a signature is to those in the index. */
static void
check_rights(Oid index, Oid table, Inspection what)
{
	static const char *const hint[] =
		{"The owner of table \"%s\" may check it, and members of pg_stat_scan_tables; "
		 "from PostgreSQL 17 on, whoever has the right MAINTAIN on the table.",
		 "The owner of table \"%s\" may see it, and members of pg_read_all_stats or "
		 "pg_stat_scan_tables, such as pg_monitor.",
		 "The owner of table \"%s\" may search it so, and whoever may SELECT what is indexed, "
		 "of all rows."};
	bool allowed[] = {role_may_check(table), role_may_count(table),
					  role_owns(table) || role_may_read(table, indexed_column(index))};

	if (!allowed[what])
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for index \"%s\"", get_rel_name(index)),
				 errhint(hint[what], get_rel_name(table))));
}

/* Is a table listed in the catalog that Citus keeps, should there be one? */
static bool
is_shell(Oid table)
{
	Oid catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	AttrNumber column;
	Relation relation;
	ScanKeyData key;
	SysScanDesc scan;
	bool listed;

	if (!OidIsValid(catalog) || get_rel_relkind(catalog) != RELKIND_RELATION)
		return false;
	column = get_attnum(catalog, "logicalrelid");
	if (column <= 0 || get_atttype(catalog, column) != REGCLASSOID)
		return false;
	relation = table_open(catalog, AccessShareLock);
	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(relation, InvalidOid, false, NULL, 1, &key);
	listed = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return listed;
}

static void
refuse_shell(Oid index, Oid table)
{
	if (is_shell(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the entries of index \"%s\" are not here", get_rel_name(index)),
				 errdetail("Citus keeps the rows of table \"%s\" in shards, which have indexes "
						   "of their own; this one is always empty.",
						   get_rel_name(table)),
				 errhint("Look into the indexes of the shards, with run_command_on_shards().")));
}

Oid
inspect_allowed(Oid index, Inspection what)
{
	char *name = get_rel_name(index);
	char kind = get_rel_relkind(index);
	Oid table;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("index with OID %u does not exist", index)));
	if (kind != RELKIND_INDEX)
		refuse_kind(name, kind);
	table = IndexGetRelation(index, false);
	check_rights(index, table, what);
	refuse_shell(index, table);
	return table;
}

Relation
inspect_open(Oid oid, Oid table)
{
	Relation index = index_open(oid, AccessShareLock);

	if (!index_is_ours(index))
		refuse_kind(RelationGetRelationName(index), index->rd_rel->relkind);
	/* Its number may have become another's before there was a lock. */
	if (IndexGetRelation(oid, false) != table)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open parent table of index \"%s\"",
						RelationGetRelationName(index))));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read temporary tables of other sessions")));
	return index;
}

/* ---- neardup_index_info ------------------------------------------------- */

static void
count_documents(void *state, Buffer buffer)
{
	*(int64 *) state += page_trailer(BufferGetPage(buffer))->count;
}

/* Documents of both tails; they may move while we count. */
static int64
tail_documents(Relation index, IndexMeta **meta)
{
	uint32 gone = 0;

	for (;;)
	{
		int64 documents = 0;

		*meta = meta_read(index);
		if (gone != 0 && meta_owns(*meta, gone))
			page_corrupt(index, page_refused(), "page of a tail belongs to another");
		if (!tail_walk(index, &(*meta)->frozen, count_documents, &documents))
			gone = (*meta)->frozen.owner;
		else if (!tail_walk(index, &(*meta)->tail, count_documents, &documents))
			gone = (*meta)->tail.owner;
		else
			return documents;
		pfree(*meta);
	}
}

Datum
neardup_index_info(PG_FUNCTION_ARGS)
{
	Oid oid = PG_GETARG_OID(0);
	Relation index = inspect_open(oid, inspect_allowed(oid, INSPECT_COUNT));
	TupleDesc tupdesc;
	IndexMeta *meta;
	Datum values[5];
	bool nulls[5] = {false};
	int64 tail = tail_documents(index, &meta);
	int64 documents = tail;
	int64 dead = 0;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (uint32 i = 0; i < meta->segments; i++)
	{
		documents += meta->segment[i].documents;
		dead += meta->segment[i].dead;
	}
	values[0] = Int32GetDatum(meta->segments);
	values[1] = Int64GetDatum(documents);
	values[2] = Int64GetDatum(dead);
	values[3] = Int64GetDatum(tail);
	values[4] = Int64GetDatum((int64) RelationGetNumberOfBlocks(index) * BLCKSZ);
	index_close(index, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

/* ---- neardup_explain ---------------------------------------------------- */

typedef struct ExplainRow
{
	SearchReport report;
	double seconds;
} ExplainRow;

typedef struct Explain
{
	ExplainRow *row;
	int rows;
	int room;
	instr_time last;
} Explain;

static const char *
method_name(MatchMethod method)
{
	static const char *const name[] = {"auto", "merge", "choose", "probe", "scan"};

	return name[method];
}

static void
note_row(void *state, const SearchReport *report)
{
	Explain *explain = state;
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, explain->last);
	if (explain->rows == explain->room)
	{
		explain->room *= 2;
		explain->row = repalloc(explain->row, explain->room * sizeof(ExplainRow));
	}
	explain->row[explain->rows++] = (ExplainRow){*report, INSTR_TIME_GET_DOUBLE(now)};
	INSTR_TIME_SET_CURRENT(explain->last);
}

/* Segments by their numbers, then the tails. */
static int
compare_rows(const void *x, const void *y)
{
	uint32 a = ((const ExplainRow *) x)->report.owner - 1;
	uint32 b = ((const ExplainRow *) y)->report.owner - 1;

	return a < b ? -1 : a > b;
}

static void
put_row(ReturnSetInfo *result, const SearchReport *report, double seconds)
{
	Datum values[14];
	bool nulls[14] = {false};

	values[0] = Int32GetDatum(report->owner);
	values[1] = Int64GetDatum(report->documents);
	values[2] = CStringGetTextDatum(method_name(report->plan.method));
	values[3] = Int32GetDatum(report->plan.groups);
	values[4] = Int32GetDatum(report->plan.radius);
	values[5] = Int32GetDatum(report->plan.count);
	values[6] = Float8GetDatum(rint(report->plan.postings));
	values[7] = Float8GetDatum(rint(report->plan.candidates));
	values[8] = Float8GetDatum(rint(report->plan.cost / 100) / 10);
	values[9] = Int64GetDatum(report->postings);
	values[10] = Int64GetDatum(report->candidates);
	values[11] = Int64GetDatum(report->pages);
	values[12] = Float8GetDatum(rint(seconds * 1e7) / 10);
	values[13] = Int64GetDatum(report->matches);
	/* The tails: no segment, and no plan but the scan. */
	nulls[0] = nulls[6] = nulls[7] = nulls[8] = report->owner == 0;
	nulls[3] = nulls[4] = nulls[5] = report->plan.method == MATCH_SCAN;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Search twice: once to fill the caches, once to look at. */
static Datum
explain(FunctionCallInfo fcinfo, const Ball *ball)
{
	Oid oid = PG_GETARG_OID(0);
	Relation index = inspect_open(oid, inspect_allowed(oid, INSPECT_SEARCH));
	SearchQuery query = {ball->centre, ball->header.radius, false, neardup_search, 0, 0};
	MatchList found;
	Explain explain = {.room = 16};

	begin_rows(fcinfo);
	explain.row = palloc(explain.room * sizeof(ExplainRow));
	matches_begin(&found);
	index_search(index, &query, &found, NULL, NULL);
	INSTR_TIME_SET_CURRENT(explain.last);
	index_search(index, &query, &found, note_row, &explain);
	index_close(index, AccessShareLock);
	qsort(explain.row, explain.rows, sizeof(ExplainRow), compare_rows);
	for (int i = 0; i < explain.rows; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, &explain.row[i].report,
				explain.row[i].seconds);
	return (Datum) 0;
}

Datum
neardup_explain(PG_FUNCTION_ARGS)
{
	Ball ball = PG_GETARG_BALL(1);

	return explain(fcinfo, &ball);
}

Datum
neardup_explain_threshold(PG_FUNCTION_ARGS)
{
	Ball ball = {{0}};

	ball.centre = PG_GETARG_SIGNATURE(1);
	ball.header.threshold = PG_GETARG_FLOAT8(2);
	check_threshold(ball.header.threshold, NULL);
	ball.header.radius = signature_radius(&ball.centre.header, ball.header.threshold);
	return explain(fcinfo, &ball);
}
