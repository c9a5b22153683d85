/*
 * progress.c: neardup_progress(): how far the running calls are.
 *
 * A call reports its progress with pgstat_progress_update_param(), as
 * PostgreSQL's own commands do for the views pg_stat_progress_*.  PostgreSQL
 * has no number for an extension's command, so this one takes a number that no
 * command of PostgreSQL has; its views select their commands by number and
 * ignore others.  The alternative is shared memory of our own, for which users
 * of PostgreSQL 14 to 16 must set shared_preload_libraries.
 *
 * It costs one update of this backend's entry for each 1024 rows or pairs, too
 * little to measure in a call that returns 3 million pairs.  It would break if
 * PostgreSQL checked the number, or gave it to a command of its own, whose view
 * would then show these calls.
 */
#include "calls/progress.h"

#include "catalog/pg_authid.h"
#include "commands/progress.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "calls/arguments.h"

#define PROGRESS_COMMAND_NEARDUP ((ProgressCommandType) 0x6E6475)

enum
{
	PARAM_PHASE,
	PARAM_ROWS,
	PARAM_DONE,
	PARAM_TOTAL,
	PARAM_PAIRS,
	PARAMS_SHOWN,
	PARAM_SINCE = PARAMS_SHOWN /* the time when the phase or the join at hand began */
};

/* Columns of neardup_progress(): those shown, the backend before them, and two estimates after. */
#define COLUMNS (PARAMS_SHOWN + 3)

/* Calls within a command that this backend shows, such as COPY or another call. */
static int nested;
static int64 pairs;
static int64 parts_done; /* reported last */

/* Returns the command whose progress this session shows. */
static ProgressCommandType
shown_command(void)
{
	return MyBEEntry == NULL ? PROGRESS_COMMAND_INVALID : MyBEEntry->st_progress_command;
}

static bool
is_shown(void)
{
	return nested == 0 && shown_command() == PROGRESS_COMMAND_NEARDUP;
}

/* Starts to show this call, unless another command of this backend is shown. */
void
progress_begin(void)
{
	if (shown_command() != PROGRESS_COMMAND_INVALID)
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

/* Reports the phase, of which nothing is done yet. */
void
progress_phase(Phase phase)
{
	parts_done = 0;
	update(PARAM_DONE, 0);
	update(PARAM_TOTAL, 0);
	update(PARAM_SINCE, GetCurrentTimestamp());
	update(PARAM_PHASE, phase);
}

/* Reports the rows read. */
void
progress_rows(uint64 rows)
{
	update(PARAM_ROWS, rows);
}

/* Reports the parts of the phase that are done.  If there are fewer than before, another join has begun. */
void
progress_parts(int64 done, int64 total)
{
	if (done < parts_done)
		update(PARAM_SINCE, GetCurrentTimestamp());
	parts_done = done;
	update(PARAM_DONE, done);
	update(PARAM_TOTAL, total);
}

/* Reports one more pair found. */
void
progress_pair(void)
{
	if (nested == 0 && ++pairs % PROGRESS_STEP == 0)
		update(PARAM_PAIRS, pairs);
}

/* Stops showing this call. */
void
progress_end(void)
{
	if (nested > 0)
		nested--;
	else if (is_shown())
		pgstat_progress_end_command();
}

/* ---- neardup_progress() ------------------------------------------------- */

/* Sets how much of a phase is done, in percent, and how long the rest takes if all goes on as before. */
static void
estimate_rest(const PgBackendStatus *backend, Datum values[2], bool nulls[2])
{
	const int64 *param = backend->st_progress_param;
	double done = param[PARAM_DONE];
	double total = param[PARAM_TOTAL];
	Interval *rest = palloc0(sizeof(Interval));

	nulls[0] = nulls[1] = done <= 0 || done > total;
	if (nulls[0])
		return;
	values[0] = Int32GetDatum((int32) (100 * done / total));
	rest->time = (GetCurrentTimestamp() - param[PARAM_SINCE]) * (total - done) / done;
	values[1] = IntervalPGetDatum(rest);
}

/* Returns a row for each running call whose backend the caller may see. */
PG_FUNCTION_INFO_V1(neardup_progress);
Datum
neardup_progress(PG_FUNCTION_ARGS)
{
	static const char *const phases[PHASES] = {
		[PHASE_READING] = "reading",
		[PHASE_READING_AGAINST] = "reading against",
		[PHASE_JOINING] = "joining",
		[PHASE_CLUSTERING] = "clustering",
		[PHASE_COMPARING] = "comparing",
		[PHASE_CHECKING_INDEX] = "checking index",
		[PHASE_CHECKING_TABLE] = "checking table",
	};
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int backends = pgstat_fetch_stat_numbackends();

	begin_rows(fcinfo);
	for (int i = 1; i <= backends; i++)
	{
		const PgBackendStatus *backend = compat_backend_status(i);
		Datum values[COLUMNS];
		bool nulls[COLUMNS] = {false};
		int64 phase;

		if (backend == NULL || backend->st_progress_command != PROGRESS_COMMAND_NEARDUP ||
			!(has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
			  has_privs_of_role(GetUserId(), backend->st_userid)))
			continue;
		phase = backend->st_progress_param[PARAM_PHASE];
		if (phase < 0 || phase >= PHASES)
			continue;
		values[0] = Int32GetDatum(backend->st_procpid);
		values[1 + PARAM_PHASE] = CStringGetTextDatum(phases[phase]);
		for (int param = PARAM_ROWS; param < PARAMS_SHOWN; param++)
			values[1 + param] = Int64GetDatum(backend->st_progress_param[param]);
		estimate_rest(backend, values + COLUMNS - 2, nulls + COLUMNS - 2);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
