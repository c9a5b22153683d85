/*
 * progress.c: how far a call is, in the place where PostgreSQL's own commands
 * leave it for the views pg_stat_progress_*.  They tell commands apart by a
 * number; this one is none of theirs, and read by neardup_progress().
 */
#include "dedup/dedup.h"

#include "catalog/pg_authid.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define PROGRESS_COMMAND_NEARDUP ((ProgressCommandType) 0x6E6475)

enum
{
	PARAM_PHASE,
	PARAM_ROWS,
	PARAM_GROUPS_DONE,
	PARAM_GROUPS_TOTAL,
	PARAM_PAIRS,
	PARAMS
};

/* Pairs that are told of together. */
#define PAIRS_STEP 1024

/* Calls inside a command that is under way: COPY say, or another call. */
static int nested;
static int64 pairs;

PG_FUNCTION_INFO_V1(neardup_progress);

static bool
is_shown(void)
{
	return nested == 0 && compat_progress_command() == PROGRESS_COMMAND_NEARDUP;
}

/* What is under way goes on being shown, and this call is not. */
void
progress_begin(void)
{
	if (compat_progress_command() != PROGRESS_COMMAND_INVALID)
	{
		nested++;
		return;
	}
	nested = 0;
	pairs = 0;
	pgstat_progress_start_command(PROGRESS_COMMAND_NEARDUP, InvalidOid);
}

static void
update(int param, int64 value)
{
	if (is_shown())
		pgstat_progress_update_param(param, value);
}

void
progress_phase(Phase phase)
{
	update(PARAM_PHASE, phase);
}

void
progress_rows(uint32 rows)
{
	update(PARAM_ROWS, rows);
}

void
progress_groups(int64 done, int64 total)
{
	update(PARAM_GROUPS_DONE, done);
	update(PARAM_GROUPS_TOTAL, total);
}

void
progress_pair(void)
{
	if (nested == 0 && ++pairs % PAIRS_STEP == 0)
		update(PARAM_PAIRS, pairs);
}

void
progress_end(void)
{
	if (nested > 0)
		nested--;
	else if (is_shown())
		pgstat_progress_end_command();
}

/* ---- Looking on --------------------------------------------------------- */

static void
put_backend(ReturnSetInfo *result, const PgBackendStatus *backend)
{
	static const char *const phases[] = {"reading", "reading against", "joining", "clustering"};
	const int64 *param = backend->st_progress_param;
	Datum values[1 + PARAMS];
	bool nulls[1 + PARAMS] = {false};

	if (param[PARAM_PHASE] < 0 || param[PARAM_PHASE] >= (int64) lengthof(phases))
		return;
	values[0] = Int32GetDatum(backend->st_procpid);
	values[1] = CStringGetTextDatum(phases[param[PARAM_PHASE]]);
	for (int i = PARAM_ROWS; i < PARAMS; i++)
		values[1 + i] = Int64GetDatum(param[i]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
neardup_progress(PG_FUNCTION_ARGS)
{
	int backends = pgstat_fetch_stat_numbackends();

	begin_rows(fcinfo);
	for (int i = 1; i <= backends; i++)
	{
		const PgBackendStatus *backend = compat_backend_status(i);

		if (backend != NULL && backend->st_progress_command == PROGRESS_COMMAND_NEARDUP &&
			(has_privs_of_role(GetUserId(), compat_read_all_stats) ||
			 has_privs_of_role(GetUserId(), backend->st_userid)))
			put_backend((ReturnSetInfo *) fcinfo->resultinfo, backend);
	}
	return (Datum) 0;
}
