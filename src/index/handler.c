/*
 * handler.c: the access method's handler function.
 */
#include "index/index.h"

#include "access/amapi.h"
#include "commands/vacuum.h"

/* neardup_handler(internal) returns index_am_handler */
PG_FUNCTION_INFO_V1(neardup_handler);
Datum
neardup_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = makeNode(IndexAmRoutine);

	am->amstrategies = STRATEGIES;
	am->amsupport = SUPPORTS;
	am->amcanorderbyop = true;
	am->amoptionalkey = true;
	am->amcanmulticol = true;
	am->amsearcharray = true;
	am->amusemaintenanceworkmem = true;
	am->amparallelvacuumoptions = COMPAT_PARALLEL_VACUUM;
	compat_can_build_in_parallel(am);
	am->ambuild = neardup_build;
	am->ambuildempty = neardup_buildempty;
	am->aminsert = neardup_insert;
	am->ambulkdelete = neardup_bulkdelete;
	am->amvacuumcleanup = neardup_vacuumcleanup;
	am->amcostestimate = neardup_costestimate;
	am->amoptions = neardup_options;
	am->ambuildphasename = neardup_buildphasename;
	am->amvalidate = neardup_validate;
	am->ambeginscan = neardup_beginscan;
	am->amrescan = neardup_rescan;
	am->amgettuple = neardup_gettuple;
	am->amgetbitmap = neardup_getbitmap;
	am->amendscan = neardup_endscan;
	PG_RETURN_POINTER(am);
}
