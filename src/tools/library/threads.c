/*
 * threads.c: the threads of a call.
 */
#include "library/session.h"

#include <stdatomic.h>
#include <unistd.h>

#include "join/pairs.h"

/* Pairs that a thread collects before it passes them on. */
#define PAIRS_STEP 2048

/* The fewest texts for which a thread is begun. */
#define WORK_OF_THREAD 16

/* Temporary files that a thread has open, at most, about. */
#define FILES_OF_THREAD 300

/* ---- Teams -------------------------------------------------------------- */

/* Threads that work on a call together. */
typedef struct Team
{
	neardup_session *owner;          /* the session of the call */
	void (*work)(struct Team *team); /* what each thread does */
	int count;                       /* the numbers that threads take, from 0 */
	atomic_int next;
	atomic_bool stopped; /* no more is to be done */
	bool failed;         /* a function that was lent the owner's session has */
	pthread_mutex_t lock;
} Team;

/* One of the threads of a team. */
typedef struct Worker
{
	neardup_session session;
	pthread_t thread;
	neardup_code code;
	Team *team;
} Worker;

/* A call of the library: does the work of a thread. */
static neardup_code
work_in_session(Worker *worker)
{
	SESSION_BEGIN(&worker->session);
	worker->team->work(worker->team);
	return session_end();
}

/* The main function of a thread. */
static void *
run_worker(void *state)
{
	Worker *worker = state;

	worker->code = work_in_session(worker);
	if (worker->code != NEARDUP_OK)
		worker->team->stopped = true;
	return NULL;
}

/*
 * Works in some threads, the caller's among them, each in a session of its own.  If a thread cannot be
 * started, the others do its work.  Fails if one of them has failed, or what they lent the caller's session to.
 */
static void
team_run(Team *team, int threads)
{
	Worker *workers = host_alloc(threads * sizeof(Worker));
	int started = 1;

	memset(workers, 0, threads * sizeof(Worker));
	pthread_mutex_init(&team->lock, NULL);
	for (int i = 0; i < threads; i++)
	{
		workers[i].session.host = team->owner->host;
		workers[i].session.thread = i;
		workers[i].team = team;
	}
	while (started < threads &&
		   pthread_create(&workers[started].thread, NULL, run_worker, workers + started) == 0)
		started++;
	(void) run_worker(workers);
	for (int i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&team->lock);
	if (team->failed)
		session_fail_again();
	for (int i = 0; i < started; i++)
		if (workers[i].code != NEARDUP_OK)
			session_fail(workers[i].code, "%s", workers[i].session.message);
	host_free(workers);
}

/* Does what session_lend() does, of one thread at a time. */
static bool
team_lend(Team *team, void (*function)(void *state), void *state)
{
	pthread_mutex_lock(&team->lock);
	if (!session_lend(team->owner, function, state))
	{
		team->failed = true;
		team->stopped = true;
	}
	pthread_mutex_unlock(&team->lock);
	return !team->stopped;
}

/* A PairNext: returns the next number below team->count that no thread has taken yet, or -1. */
static int
team_next(void *state)
{
	Team *team = state;
	int next = team->stopped ? team->count : atomic_fetch_add(&team->next, 1);

	return next < team->count ? next : -1;
}

/* ---- Joins -------------------------------------------------------------- */

/* A join that threads share. */
typedef struct JoinOfThreads
{
	Team team; /* the first, so that both are one address */
	PairArray array[PAIR_ARRAYS];
	size_t memory; /* bytes of memory for each thread */
	int threads;
	PairSink sink;
	void *state;
	struct JoinThread *thread;
} JoinOfThreads;

/* What one thread does of it. */
typedef struct JoinThread
{
	JoinOfThreads *shared;
	JoinStats stats;
	size_t pairs;
	neardup_pair pair[PAIRS_STEP]; /* the last, since it is not set at first */
} JoinThread;

/* Gives the pairs collected to the sink. */
static void
give_pairs(void *state)
{
	const JoinThread *own = state;
	JoinOfThreads *shared = own->shared;

	for (const neardup_pair *pair = own->pair; pair < own->pair + own->pairs; pair++)
		if (!shared->team.stopped &&
			!shared->sink(shared->state, pair->a, pair->b, pair->similarity))
			shared->team.stopped = true;
}

/* Does give_pairs() within the call that runs the join.  Returns false if no more are wanted. */
static bool
thread_pass_on(JoinThread *own)
{
	bool more = team_lend(&own->shared->team, give_pairs, own);

	own->pairs = 0;
	return more;
}

/* A PairSink. */
static bool
thread_take_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	JoinThread *own = state;

	own->pair[own->pairs++] = (neardup_pair){a, b, similarity};
	return own->pairs < PAIRS_STEP ? !own->shared->team.stopped : thread_pass_on(own);
}

/* The work of a thread: joins parts until there are none left. */
static void
thread_join_parts(Team *team)
{
	JoinOfThreads *shared = (JoinOfThreads *) team;
	JoinThread *own = shared->thread + session_thread();
	PairArray array[PAIR_ARRAYS];
	PairJoin *join;
	PairRun run = {.sink = thread_take_pair,
				   .state = own,
				   .next = team_next,
				   .next_state = team,
				   .stats = &own->stats,
				   .reports = session_thread() == 0};

	for (int i = 0; i < PAIR_ARRAYS; i++)
	{
		array[i] = shared->array[i];
		if (array[i].file != NULL)
			array[i].file = session_reopen(array[i].file);
	}
	join = pairs_attach(array);
	join->memory = shared->memory;
	join->processes = shared->threads;
	(void) pairs_run(join, &run);
	(void) thread_pass_on(own);
}

/* Returns how many threads a join with these arrays has work and memory for. */
static int
threads_for(const ThreadCall *call, const PairJoin *join, const PairArray array[PAIR_ARRAYS])
{
	double threads = Min(Max(call->jobs, 1), join->parts);
	double memory = (double) join->memory - (double) join->held;

	for (int i = 0; i < PAIR_ARRAYS; i++)
		memory -= array[i].file != NULL ? 0 : (double) array[i].bytes;
	if (join->files)
		threads = Min(threads, (double) sysconf(_SC_OPEN_MAX) / FILES_OF_THREAD);
	threads = Min(threads, memory / (double) (join->process_bytes + sizeof(JoinThread)));
	return (int) Max(threads, 1);
}

/* A function of PairOptions, whose state begins with a ThreadCall: runs a join by some threads, the caller's among them. */
void
thread_run_join(void *state, PairJoin *join, PairSink sink, void *sink_state)
{
	ThreadCall *call = state;
	JoinOfThreads shared = {.team = {.owner = call->session,
									 .work = thread_join_parts,
									 .count = join->parts},
							.sink = sink,
							.state = sink_state};
	int threads;

	pairs_arrays(join, shared.array);
	shared.threads = threads = threads_for(call, join, shared.array);
	shared.memory = join->memory / threads;
	shared.thread = host_alloc(threads * sizeof(JoinThread));
	for (int i = 0; i < threads; i++)
	{
		memset(shared.thread + i, 0, offsetof(JoinThread, pair));
		shared.thread[i].shared = &shared;
	}
	for (int i = 0; i < PAIR_ARRAYS; i++)
		if (shared.array[i].file != NULL)
			session_flush_file(shared.array[i].file);
	team_run(&shared.team, threads);
	for (int i = 0; i < threads; i++)
		stats_add(&call->stats.join, &shared.thread[i].stats);
	host_free(shared.thread);
}

/* ---- Shared work -------------------------------------------------------- */

/* Work that threads share. */
typedef struct SharedWork
{
	Team team; /* the first, so that both are one address */
	PairWork work;
	void *state;
} SharedWork;

/* The work of a thread. */
static void
thread_share_work(Team *team)
{
	const SharedWork *shared = (const SharedWork *) team;

	shared->work(shared->state, team_next, team);
}

/* A function of PairOptions, whose state begins with a ThreadCall. */
void
thread_share(void *state, int count, PairWork work, void *work_state)
{
	const ThreadCall *call = state;
	SharedWork shared = {{.owner = call->session, .work = thread_share_work, .count = count},
						 work,
						 work_state};

	team_run(&shared.team, Max(Min(call->jobs, count / WORK_OF_THREAD), 1));
}
