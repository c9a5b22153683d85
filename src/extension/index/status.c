/*
 * status.c: neardup_index_status(): a row of the view neardup_indexes.
 *
 * The view shows all indexes of a database.  So an index that cannot be read is no error
 * there, and an index that another session has locked is not waited for.
 */
#include "index/inspect.h"

#include "catalog/index.h"
#include "funcapi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "rights.h"

/* A tail is sealed when it is due, and by an insert at four times that length. */
#define TAILS_OVERDUE 2

typedef struct IndexStatus
{
	Oid index;
	IndexMeta *meta; /* NULL: not known */
	IndexCounts counts;
	const char *advice; /* the advice; NULL: none */
} IndexStatus;

/* An index of FREE_PAGES pages that uses less than a USED_PARTth of them is worth a REINDEX. */
#define FREE_PAGES 1024
#define USED_PART 3

/* Returns the number of pages in use. */
static uint64
pages_used(const IndexMeta *meta, const IndexCounts *counts)
{
	uint64 pages = 1 + (uint64) meta->tail.pages + meta->closed.pages + counts->elements;

	for (uint32 i = 0; i < meta->segments; i++)
		pages += meta->segment[i].document_pages + meta->segment[i].other_pages;
	return pages;
}

/* Returns what the owner of the index should do, or NULL. */
static const char *
advice(Relation index, const IndexMeta *meta, const IndexCounts *counts)
{
	if (!index->rd_index->indisvalid)
		return "It is not valid: a build is running, or has failed. If it has failed, drop the index, or rebuild it with REINDEX.";
	if (tail_times(meta, tail_length(meta) + meta->closed.pages, counts->elements) >= TAILS_OVERDUE)
		return "Maintenance does not keep up. Let background workers start (max_worker_processes, neardup.background), or use VACUUM.";
	if (meta->segments > SEGMENTS_MAX / 2)
		return psprintf("It has %u of at most %zu segments. Raise maintenance_work_mem, and rebuild it with REINDEX.",
						meta->segments, SEGMENTS_MAX);
	if (RelationGetNumberOfBlocks(index) >= FREE_PAGES &&
		pages_used(meta, counts) * USED_PART <= RelationGetNumberOfBlocks(index))
		return "Two thirds of its pages are free. If its table is not going to grow again, REINDEX INDEX CONCURRENTLY returns them.";
	return NULL;
}

/* Reads the status of an index, unless it is locked. */
static void
read_status(void *state)
{
	IndexStatus *status = state;
	Relation index;

	if (!ConditionalLockRelationOid(status->index, AccessShareLock))
	{
		status->advice = "Another session has locked it.";
		return;
	}
	index = inspect_open(status->index, inspect_allowed(status->index, INSPECT_COUNT));
	status->meta = inspect_count(index, &status->counts);
	status->advice = advice(index, status->meta, &status->counts);
	index_close(index, AccessShareLock);
	UnlockRelationOid(status->index, AccessShareLock);
}

static void
put_status(ReturnSetInfo *result, const IndexStatus *status)
{
	const IndexMeta *meta = status->meta;
	Datum values[8] = {0};
	bool nulls[8];

	memset(nulls, meta == NULL, sizeof(nulls));
	if (meta != NULL)
	{
		nulls[0] = meta->shape.k == 0;
		if (!nulls[0])
			values[0] = CStringGetTextDatum(index_describe_shape(&meta->shape));
		values[1] = Int64GetDatum(status->counts.bytes);
		values[2] = Int32GetDatum(meta->segments);
		values[3] = Int64GetDatum(status->counts.documents);
		values[4] = Int64GetDatum(status->counts.dead);
		values[5] = Int64GetDatum(status->counts.tail);
		values[6] = TimestampTzGetDatum(meta->changed);
		/* A forged page may have a time that cannot be shown. */
		nulls[6] = meta->changed == 0 || !IS_VALID_TIMESTAMP(meta->changed);
	}
	nulls[7] = status->advice == NULL;
	if (!nulls[7])
		values[7] = CStringGetTextDatum(status->advice);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* neardup_index_status(index regclass) returns setof record: no row for roles that may not see it */
PG_FUNCTION_INFO_V1(neardup_index_status);
Datum
neardup_index_status(PG_FUNCTION_ARGS)
{
	IndexStatus status = {.index = PG_GETARG_OID(0)};
	Oid table = IndexGetRelation(status.index, true);
	ErrorData *error;

	begin_rows(fcinfo);
	if (!OidIsValid(table) || !role_may_count(table))
		return (Datum) 0;
	error = catch_error(read_status, &status);
	/* It may have been dropped meanwhile. */
	if (error != NULL && get_rel_name(status.index) == NULL)
		return (Datum) 0;
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error != NULL)
		status.advice =
			error->hint == NULL ? error->message : psprintf("%s. %s", error->message, error->hint);
	put_status((ReturnSetInfo *) fcinfo->resultinfo, &status);
	return (Datum) 0;
}
