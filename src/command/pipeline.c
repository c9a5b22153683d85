/*
 * pipeline.c: one thread reads records and takes results in their order; others work.
 */
#include "command/command.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum State
{
	FREE,
	READ,
	WORKING,
	DONE
} State;

typedef struct Slot
{
	Batch batch;
	State state;
} Slot;

typedef struct Pipeline
{
	Files *files;
	Work work;
	void *work_state;
	Slot *slot; /* a ring */
	int slots;
	int waiting;      /* the next slot to work on */
	bool ended;       /* no more slots will be filled */
	uint64_t records; /* that were taken */
	uint64_t bytes;
	unsigned seen; /* as in Batch, of these records */
	pthread_mutex_t lock;
	pthread_cond_t changed;
} Pipeline;

/* The main function of a thread: works on slots until there are no more. */
static void *
work(void *state)
{
	Pipeline *pipeline = state;
	neardup_session *session = new_session();
	Parser *parser = parser_new();

	pthread_mutex_lock(&pipeline->lock);
	for (;;)
	{
		Slot *slot = pipeline->slot + pipeline->waiting;

		if (slot->state == READ)
		{
			slot->state = WORKING;
			pipeline->waiting = (pipeline->waiting + 1) % pipeline->slots;
			pthread_mutex_unlock(&pipeline->lock);
			batch_split(&slot->batch);
			slot->batch.out.length = slot->batch.end.length = 0;
			slot->batch.id.length = slot->batch.best.length = 0;
			slot->batch.defect = NULL;
			slot->batch.seen = 0;
			pipeline->work(pipeline->work_state, session, parser, &slot->batch);
			pthread_mutex_lock(&pipeline->lock);
			slot->state = DONE;
			pthread_cond_broadcast(&pipeline->changed);
		}
		else if (pipeline->ended)
			break;
		else
			pthread_cond_wait(&pipeline->changed, &pipeline->lock);
	}
	pthread_mutex_unlock(&pipeline->lock);
	parser_free(parser);
	neardup_close(session);
	return NULL;
}

/* Fills a slot with the next records; returns false if there are none. */
static bool
fill(Pipeline *pipeline, Slot *slot)
{
	bool filled = files_next(pipeline->files, &slot->batch);

	pthread_mutex_lock(&pipeline->lock);
	slot->state = filled ? READ : FREE;
	pipeline->ended = !filled;
	pthread_cond_broadcast(&pipeline->changed);
	pthread_mutex_unlock(&pipeline->lock);
	return filled;
}

/* Waits until a slot is done. */
static void
wait_for(Pipeline *pipeline, const Slot *slot)
{
	pthread_mutex_lock(&pipeline->lock);
	while (slot->state != DONE)
		pthread_cond_wait(&pipeline->changed, &pipeline->lock);
	pthread_mutex_unlock(&pipeline->lock);
}

/* Tells a person at a terminal how far the reading is, twice a second. */
static void
report_progress(const Pipeline *pipeline, bool last)
{
	static time_t shown;
	time_t now = time(NULL);

	if (!isatty(STDERR_FILENO) || (now == shown && !last))
		return;
	shown = now;
	fprintf(stderr, "\r%llu records, %llu MB%s", (unsigned long long) pipeline->records,
			(unsigned long long) pipeline->bytes / 1000000, last ? "\n" : "");
}

/* Takes the results of a slot, the oldest. */
static void
take_slot(Pipeline *pipeline, Slot *slot, Take take, void *state)
{
	const Batch *batch = &slot->batch;

	wait_for(pipeline, slot);
	if (batch->defect != NULL)
		fail(EXIT_INPUT, "record %llu of \"%s\" cannot be read: %s%s",
			 (unsigned long long) (pipeline->records + batch->bad + 1), batch->file, batch->defect,
			 options.format == FORMAT_AUTO && strcmp(batch->file, "-") == 0 ?
				 "; if it is not JSONL, name its format with --input" :
				 "");
	take(state, &slot->batch);
	pipeline->records += batch->records;
	pipeline->bytes += batch->data.length;
	pipeline->seen |= batch->seen;
	report_progress(pipeline, false);
	pthread_mutex_lock(&pipeline->lock);
	slot->state = FREE;
	pthread_mutex_unlock(&pipeline->lock);
}

/* Frees what a batch holds. */
static void
free_batch(Batch *batch)
{
	Buffer *buffers[] = {&batch->data, &batch->out, &batch->end, &batch->id, &batch->best};

	for (int i = 0; i < 5; i++)
		resize(NULL, buffers[i]->bytes, 0);
	resize(NULL, batch->record, 0);
}

/* Reads all records of files, works on them in options.jobs threads, and takes the results in order. */
void
pipeline(Files *files, Work to_do, Take take, void *state)
{
	Pipeline pipeline = {.files = files,
						 .work = to_do,
						 .work_state = state,
						 .slots = 2 * options.jobs + 2,
						 .lock = PTHREAD_MUTEX_INITIALIZER,
						 .changed = PTHREAD_COND_INITIALIZER};
	pthread_t *threads = resize(NULL, NULL, options.jobs * sizeof(pthread_t));
	int first = 0;
	int filled = 0;

	pipeline.slot = resize(NULL, NULL, pipeline.slots * sizeof(Slot));
	memset(pipeline.slot, 0, pipeline.slots * sizeof(Slot));
	for (int i = 0; i < options.jobs; i++)
		if (pthread_create(threads + i, NULL, work, &pipeline) != 0)
			fail(EXIT_RESOURCES, "could not start a thread");
	while (!pipeline.ended || filled > 0)
	{
		while (!pipeline.ended && filled < pipeline.slots)
			filled += fill(&pipeline, pipeline.slot + (first + filled) % pipeline.slots);
		if (filled == 0)
			break;
		take_slot(&pipeline, pipeline.slot + first, take, state);
		first = (first + 1) % pipeline.slots;
		filled--;
	}
	report_progress(&pipeline, true);
	for (int i = 0; i < options.jobs; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < pipeline.slots; i++)
		free_batch(&pipeline.slot[i].batch);
	resize(NULL, pipeline.slot, 0);
	resize(NULL, threads, 0);
	if (pipeline.records > 0)
		check_fields(files, pipeline.seen);
}
