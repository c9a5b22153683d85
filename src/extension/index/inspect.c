/*
 * inspect.c: who may inspect an index, and what it consists of.
 */
#include "index/inspect.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/index.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "index/scan.h"
#include "rights.h"

/* ---- Permissions -------------------------------------------------------- */

static _Noreturn void
refuse_kind(const char *name, char kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a neardup index", name),
			 kind == RELKIND_PARTITIONED_INDEX ?
				 errhint("Name the index of one partition.") :
				 errhint("Name an index made with USING neardup, not its table.")));
}

/*
 * Returns the columns of the table that the predicate of an index reads.  The relation cache
 * would evaluate the predicate's constants, which are code of the table's owner.
 */
static Bitmapset *
predicate_columns(HeapTuple tuple)
{
	Bitmapset *columns = NULL;
	bool is_null;
	Datum predicate = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indpred, &is_null);

	if (!is_null)
		pull_varattnos(stringToNode(TextDatumGetCString(predicate)), 1, &columns);
	return columns;
}

/*
 * Returns whether the current user may read all columns that an index is on, and those of its
 * predicate.  For an expression that means all columns of the table.
 */
static bool
may_read_columns(Oid index, Oid table)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	Bitmapset *columns;
	bool allowed = true;
	int column = -1;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	form = (Form_pg_index) GETSTRUCT(tuple);
	for (int i = 0; allowed && i < form->indnkeyatts; i++)
		allowed = role_may_read(table, form->indkey.values[i]);
	columns = predicate_columns(tuple);
	while (allowed && (column = bms_next_member(columns, column)) >= 0)
		allowed = role_may_read(table, column + FirstLowInvalidHeapAttributeNumber);
	ReleaseSysCache(tuple);
	return allowed;
}

/*
 * Reports an error if the current user may not inspect an index.  The result of a search,
 * and even its time, tells how near a signature is to those in the index.
 */
static void
check_permission(Oid index, Oid table, Inspection what)
{
	bool allowed = false;
	const char *detail = NULL;

	switch (what)
	{
		case INSPECT_CHECK:
			allowed = role_may_check(table);
			detail =
				"Only the owner of table \"%s\", members of pg_stat_scan_tables and, from "
				"PostgreSQL 17 on, roles with the MAINTAIN privilege on the table may check it.";
			break;
		case INSPECT_COUNT:
			allowed = role_may_count(table);
			detail = "Only the owner of table \"%s\" and members of pg_read_all_stats or "
					 "pg_stat_scan_tables, such as pg_monitor, may see what it consists of.";
			break;
		case INSPECT_SEARCH:
			allowed = role_owns(table) || may_read_columns(index, table);
			detail =
				"Only the owner of table \"%s\" and roles that may select the indexed columns, and "
				"those of the predicate, from all rows may see how it is searched.";
			break;
	}
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for index \"%s\"", get_rel_name(index)),
				 errdetail(detail, get_rel_name(table))));
}

/* Reports that an index, which may have been dropped while its lock was waited for, is not there. */
void
inspect_dropped(Oid index)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("index with OID %u does not exist", index)));
}

/*
 * Returns the table of an index, or reports an error if the current user may not inspect it.
 * Takes no lock before that.
 */
Oid
inspect_allowed(Oid index, Inspection what)
{
	char *name = get_rel_name(index);
	char kind = get_rel_relkind(index);
	Oid table;

	if (name == NULL)
		inspect_dropped(index);
	if (kind != RELKIND_INDEX)
		refuse_kind(name, kind);
	table = IndexGetRelation(index, true);
	if (!OidIsValid(table))
		inspect_dropped(index);
	check_permission(index, table, what);
	return table;
}

/* Opens an index of a table with AccessShareLock.  It is an error if it is not ours. */
Relation
inspect_open(Oid oid, Oid table)
{
	Relation index = try_relation_open(oid, AccessShareLock);

	if (index == NULL)
		inspect_dropped(oid);
	if (!index_is_ours(index))
		refuse_kind(RelationGetRelationName(index), index->rd_rel->relkind);
	/* Before the lock, the OID may have been reused for another index. */
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

/* ---- Counts ------------------------------------------------------------- */

/* A count of what is in the tails that a metapage lists. */
typedef struct TailCount
{
	const IndexMeta *meta;
	IndexCounts *counts;
} TailCount;

/* Counts the documents of a page and, of sets, the pages of elements that were begun for them. */
static void
inspect_count_documents(void *state, Buffer buffer)
{
	TailCount *count = state;
	Page page = BufferGetPage(buffer);

	count->counts->tail += page_info(page)->count;
	for (uint32 i = 0; shape_is_set(&count->meta->shape) && i < page_info(page)->count; i++)
	{
		const SetRecord *record = (SetRecord *) page_symbols(page, meta_stride(count->meta), i);

		if ((tid_flags(page_tid(page, i)) & ~TID_DEAD) == 0 && record->offset == 0)
			count->counts->elements += pages_for(record->count, ELEMENTS_PER_PAGE);
	}
}

/*
 * Counts a tail.  Returns false if maintenance has replaced it.  A tail with a stamp from first_new
 * on is not counted.
 */
static bool
count_tail(Relation index, const TailEntry *tail, uint32 first_new, TailCount *count)
{
	return tail->stamp >= first_new || tail_walk(index, tail, inspect_count_documents, count);
}

/*
 * Counts both tails.  Returns the metapage that lists them.  Starts again if maintenance has
 * replaced a tail.  Tails that began after the first start are not counted, so it starts
 * again at most twice, whatever inserts do meanwhile.
 */
static IndexMeta *
count_tails(Relation index, IndexCounts *counts)
{
	uint32 first_new = 0;

	for (;;)
	{
		IndexMeta *meta = meta_read(index);
		TailCount count = {.meta = meta, .counts = counts};

		counts->tail = counts->elements = 0;
		if (first_new == 0)
			first_new = meta->next_stamp;
		if (count_tail(index, &meta->closed, first_new, &count) &&
			count_tail(index, &meta->tail, first_new, &count))
			return meta;
		pfree(meta);
	}
}

/* Counts what an index consists of.  Returns the metapage that tells the rest. */
IndexMeta *
inspect_count(Relation index, IndexCounts *counts)
{
	IndexMeta *meta = count_tails(index, counts);

	counts->documents = counts->tail;
	counts->dead = 0;
	for (uint32 i = 0; i < meta->segments; i++)
	{
		counts->documents += meta->segment[i].documents;
		counts->dead += meta->segment[i].dead;
	}
	counts->bytes = (int64) RelationGetNumberOfBlocks(index) * BLCKSZ;
	return meta;
}
