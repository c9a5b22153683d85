/*
 * atomic.c: whether a procedure may commit.
 */
#include "compat.h"

#include "fmgr.h"
#include "nodes/parsenodes.h"

/*
 * neardup_require_commit(): raises an error if the procedure that calls this one cannot commit,
 * as within a transaction block.
 */
PG_FUNCTION_INFO_V1(neardup_require_commit);
Datum
neardup_require_commit(PG_FUNCTION_ARGS)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a procedure that commits cannot run inside a transaction block or a function"),
				 errhint("Call it outside of a transaction, as with autocommit, or write batch => 0 to do all in this one.")));
	PG_RETURN_VOID();
}
