/*
 * reread_texts.c: texts that are read again where they lie, each by itself.
 *
 * Only records that may be similar are read again.  What packed files hold was copied to a temporary
 * file.
 */
#include "command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How a thread reads records again. */
typedef struct TextReader
{
	int source;
	int file; /* the descriptor of the source + 1; 0: none is open */
	RecordBatch batch;
} TextReader;

/* Adds the records of a batch, the next one in order. */
void
texts_add(Texts *texts, const RecordBatch *batch)
{
	const Record *record = (const Record *) batch->record.bytes;

	for (size_t i = 0; i < records_of(batch); i++)
	{
		RecordPosition position = {batch->position + record[i].start, record[i].length,
								   batch->source};

		if (position.length != record[i].length)
			fail(EXIT_RESOURCES, "record %llu of \"%s\" has more than 4 GB",
				 (unsigned long long) (batch->first + i + 1), batch->file);
		put(&texts->position, &position, sizeof(position));
	}
	put(&texts->digest, batch->digest.bytes, batch->digest.length);
}

/* Reads the bytes of a record. */
static void
read_bytes(TextReader *reader, const Texts *texts, const RecordPosition *position)
{
	Buffer *data = &reader->batch.data;

	if (reader->file == 0 || reader->source != position->source)
	{
		if (reader->file != 0)
			close(reader->file - 1);
		reader->file = files_reopen(texts->files, position->source) + 1;
		reader->source = position->source;
	}
	data->length = 0;
	memset(extend(data, position->length + JSON_PADDING) + position->length, 0, JSON_PADDING);
	for (data->length = 0; data->length < position->length;)
	{
		ssize_t some = pread(reader->file - 1, data->bytes + data->length,
							 position->length - data->length, position->at + data->length);

		if (some == 0 || (some < 0 && errno != EINTR))
			fail(EXIT_INPUT, "could not read a record again: %s",
				 some == 0 ? "the file has changed" : strerror(errno));
		data->length += some > 0 ? some : 0;
	}
}

/* A function of neardup_evidence.  What could be read once is parsed alike again. */
static bool
read_text(void *state, int thread, size_t position, const char **utf8, size_t *length)
{
	const Texts *texts = state;
	TextReader *reader = texts->reader + thread;
	RecordBatch *batch = &reader->batch;
	RecordText document = {0};

	read_bytes(reader, texts, (const RecordPosition *) texts->position.bytes + position);
	batch->record.length = batch->next = 0;
	put(&batch->record, &(Record){0, batch->data.length}, sizeof(Record));
	(void) next_document(batch, &document);
	*utf8 = document.text;
	*length = document.length;
	return true;
}

/* Prepares to read texts again; returns the evidence that they are, by a signer of shingles. */
const neardup_evidence *
texts_done(Texts *texts, const neardup_signer *signer, const neardup_signer *remembers)
{
	size_t readers = options.join.jobs;

	texts->reader = resize(NULL, NULL, readers * sizeof(TextReader));
	memset(texts->reader, 0, readers * sizeof(TextReader));
	for (size_t i = 0; i < readers; i++)
		files_begin_batch(texts->files, &texts->reader[i].batch);
	texts->evidence = (neardup_evidence){.signer = signer,
										 .read = read_text,
										 .state = texts,
										 .digest = (const uint64_t *) texts->digest.bytes,
										 .remembers = remembers};
	return &texts->evidence;
}
