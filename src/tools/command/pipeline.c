/*
 * pipeline.c: threads that read batches of records, and work on them.
 */
#include "command/command.h"

#include <pthread.h>

typedef struct Pipeline
{
	Files *files;
	Step work;
	Step take;
	void *state;
	pthread_mutex_t reading;
	pthread_mutex_t taking;
	pthread_cond_t taken;
	uint64_t batches; /* batches that were read */
	uint64_t turn;    /* the batch to take next */
} Pipeline;

/* The main function of a thread: works on one batch after the other until there are none. */
static void *
run(void *state)
{
	Pipeline *pipeline = state;
	RecordBatch batch = {.session = new_session()};
	uint64_t number;
	bool more;

	for (;;)
	{
		pthread_mutex_lock(&pipeline->reading);
		more = files_next(pipeline->files, &batch);
		number = pipeline->batches++;
		pthread_mutex_unlock(&pipeline->reading);
		if (!more)
			break;
		batch.out.length = batch.size.length = batch.digest.length = 0;
		batch.id.length = batch.best.length = 0;
		pipeline->work(pipeline->state, &batch);
		pthread_mutex_lock(&pipeline->taking);
		while (pipeline->turn != number)
			pthread_cond_wait(&pipeline->taken, &pipeline->taking);
		files_done(pipeline->files, &batch);
		pipeline->take(pipeline->state, &batch);
		pipeline->turn++;
		pthread_cond_broadcast(&pipeline->taken);
		pthread_mutex_unlock(&pipeline->taking);
	}
	batch_free(&batch);
	return NULL;
}

/* Reads all records of files: works on batches in options.jobs threads, and takes them in order. */
void
pipeline(Files *files, Step work, Step take, void *state)
{
	Pipeline pipeline = {.files = files,
						 .work = work,
						 .take = take,
						 .state = state,
						 .reading = PTHREAD_MUTEX_INITIALIZER,
						 .taking = PTHREAD_MUTEX_INITIALIZER,
						 .taken = PTHREAD_COND_INITIALIZER};
	pthread_t thread[JOBS_MAX];
	int threads = options.jobs;

	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, run, &pipeline) != 0)
			fail(EXIT_RESOURCES, "could not start a thread");
	run(&pipeline);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	check_fields(files);
}
