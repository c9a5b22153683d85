/*
 * handler.c: the access method's handler function.
 */
#include "index/index.h"

#include "access/amapi.h"
#include "commands/vacuum.h"

/* What PostgreSQL calls, and what an index can do. */
static const IndexAmRoutine access_method = {
	.type = T_IndexAmRoutine,
	.amstrategies = STRATEGIES,
	.amsupport = SUPPORTS,
	.amcanorderbyop = true,
	.amoptionalkey = true,
	.amcanmulticol = true,
	.amsearcharray = true,
	.amusemaintenanceworkmem = true COMPAT_CAN_BUILD_IN_PARALLEL,
	.amparallelvacuumoptions = COMPAT_PARALLEL_VACUUM,
	.ambuild = neardup_build,
	.ambuildempty = neardup_buildempty,
	.aminsert = neardup_insert,
	.ambulkdelete = neardup_bulkdelete,
	.amvacuumcleanup = neardup_vacuumcleanup,
	.amcostestimate = neardup_costestimate,
	.amoptions = neardup_options,
	.ambuildphasename = neardup_buildphasename,
	.amvalidate = neardup_validate,
	.ambeginscan = neardup_beginscan,
	.amrescan = neardup_rescan,
	.amgettuple = neardup_gettuple,
	.amgetbitmap = neardup_getbitmap,
	.amendscan = neardup_endscan,
};

/* neardup_handler(internal) returns index_am_handler */
PG_FUNCTION_INFO_V1(neardup_handler);
Datum
neardup_handler(PG_FUNCTION_ARGS)
{
	return compat_access_method(&access_method);
}
