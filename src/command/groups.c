/*
 * groups.c: neardup pairs, clusters and dedupe.
 */
#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The values of all records of files. */
typedef struct Corpus
{
	const neardup_signer *signer;
	Files *files;
	Buffer values;
	Buffer offset; /* uint64_t: where each value begins, for shingles */
	Buffer id;     /* ids, each with a zero behind it */
	Buffer id_at;  /* size_t: where each id begins */
	Buffer best;   /* double, of each record */
	uint32_t records;
	bool numbered;
} Corpus;

/* ---- Reading ------------------------------------------------------------ */

/* A Work: makes values. */
static void
make_values(void *state, neardup_session *session, Parser *parser, Batch *batch)
{
	const Corpus *corpus = state;
	Document document;

	for (size_t i = 0; i < batch->records && parse(parser, batch, i, &document); i++)
	{
		neardup_bytes value = value_of(session, corpus->signer, &document);

		put(&batch->out, value.bytes, value.length);
		value_free(session, corpus->signer, &value);
		put(&batch->end, &batch->out.length, sizeof(size_t));
		put(&batch->best, &document.best, sizeof(double));
		if (document.id != NULL)
			put(&batch->id, document.id, strlen(document.id) + 1);
	}
}

/* A Take: keeps the values. */
static void
keep_values(void *state, Batch *batch)
{
	Corpus *corpus = state;
	const size_t *end = (const size_t *) batch->end.bytes;
	const char *id = batch->id.bytes;

	corpus->numbered = is_numbered(batch->format);
	for (size_t i = 0; i < batch->records; i++)
	{
		uint64_t offset = corpus->values.length + end[i];

		if (options.kind == NEARDUP_SHINGLES)
			put(&corpus->offset, &offset, sizeof(uint64_t));
		if (corpus->numbered)
			continue;
		put(&corpus->id_at, &corpus->id.length, sizeof(size_t));
		put(&corpus->id, id, strlen(id) + 1);
		id += strlen(id) + 1;
	}
	put(&corpus->values, batch->out.bytes, batch->out.length);
	if (options.best != NULL)
		put(&corpus->best, batch->best.bytes, batch->best.length);
	corpus->records += batch->records;
}

/* Reads and signs all records of files. */
static Corpus
read_corpus(const neardup_signer *signer, char **names, bool again)
{
	Corpus corpus = {.signer = signer, .files = files_open(names, again)};
	uint64_t first = 0;

	put(&corpus.offset, &first, sizeof(uint64_t));
	pipeline(corpus.files, make_values, keep_values, &corpus);
	return corpus;
}

/* Returns the values as the library takes them. */
static neardup_values
values_of(const Corpus *corpus)
{
	return (neardup_values){.kind = options.kind,
							.count = corpus->records,
							.bytes = (const uint8_t *) corpus->values.bytes,
							.size = neardup_signature_size(corpus->signer),
							.offset = options.kind == NEARDUP_SHINGLES ?
								(const uint64_t *) corpus->offset.bytes :
								NULL};
}

/* Reads the file of --against, whose fields have the same names; returns whether there is one. */
static bool
read_against(const neardup_signer *signer, Corpus *against)
{
	char *names[] = {(char *) options.against, NULL};
	const char *best = options.best;

	if (options.against == NULL)
		return false;
	options.best = NULL;
	*against = read_corpus(signer, names, false);
	options.best = best;
	return true;
}

/* Writes the id of a record. */
static void
put_id(Buffer *out, const Corpus *corpus, uint32_t record)
{
	if (corpus->numbered)
	{
		char text[12];

		put(out, text, snprintf(text, sizeof(text), "%u", record + 1));
		return;
	}
	put_copy_text(out, corpus->id.bytes + ((const size_t *) corpus->id_at.bytes)[record]);
}

/* Writes a line to a file, and empties it. */
static void
write_line(FILE *file, Buffer *line)
{
	put(line, "\n", 1);
	write_out(file, line->bytes, line->length);
	line->length = 0;
}

/* ---- pairs -------------------------------------------------------------- */

/* neardup pairs: writes the pairs of similar records. */
void
command_pairs(void)
{
	neardup_session *session = new_session();
	neardup_signer *signer = new_signer(session);
	Corpus corpus = read_corpus(signer, options.files, false);
	Corpus against;
	bool two = read_against(signer, &against);
	neardup_values left = values_of(&corpus);
	neardup_values right;
	neardup_pair *pair;
	size_t count;
	Buffer line = {0};

	if (two)
		right = values_of(&against);
	check(session,
		  neardup_pairs(session, &left, two ? &right : NULL, &options.join, &pair, &count));
	for (size_t i = 0; i < count; i++)
	{
		put_id(&line, &corpus, pair[i].a);
		put(&line, "\t", 1);
		put_id(&line, two ? &against : &corpus, pair[i].b);
		put_similarity(&line, pair[i].similarity);
		write_line(stdout, &line);
	}
}

/* ---- clusters ----------------------------------------------------------- */

/* The keepers of the records of a corpus. */
typedef struct Clusters
{
	uint32_t *keeper; /* of each record, NEARDUP_NO_KEEPER where there is none */
	double *similarity;
} Clusters;

/* What records are sorted by. */
static const double *sort_best;

/* Compares records for qsort: those with most of the field first, then in their order. */
static int
compare_best(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *) x;
	uint32_t b = *(const uint32_t *) y;

	if (sort_best[a] != sort_best[b])
		return sort_best[a] > sort_best[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Returns the records in the order in which they become keepers, without those that are taken. */
static uint32_t *
order_records(const Corpus *corpus, const uint32_t *taken, uint32_t *count)
{
	uint32_t *order = resize(NULL, NULL, corpus->records * sizeof(uint32_t) + 1);

	*count = 0;
	for (uint32_t i = 0; i < corpus->records; i++)
		if (taken == NULL || taken[i] == NEARDUP_NO_KEEPER)
			order[(*count)++] = i;
	sort_best = (const void *) corpus->best.bytes;
	if (sort_best != NULL)
		qsort(order, *count, sizeof(uint32_t), compare_best);
	return order;
}

/* Returns the values of records in an order. */
static Corpus
reorder(const Corpus *corpus, const uint32_t *order, uint32_t count)
{
	neardup_values values = values_of(corpus);
	Corpus ordered = {.signer = corpus->signer, .records = count};

	put(&ordered.offset, &(uint64_t){0}, sizeof(uint64_t));
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t start = values.offset ? values.offset[order[i]] : order[i] * values.size;
		uint64_t end = values.offset ? values.offset[order[i] + 1] : start + values.size;
		uint64_t offset;

		put(&ordered.values, values.bytes + start, end - start);
		offset = ordered.values.length;
		if (values.offset != NULL)
			put(&ordered.offset, &offset, sizeof(uint64_t));
	}
	return ordered;
}

/* Returns the clusters of a corpus; keepers of `against` only, if there is one. */
static Clusters
find_clusters(neardup_session *session, const Corpus *corpus, const Corpus *against)
{
	Clusters clusters = {resize(NULL, NULL, corpus->records * sizeof(uint32_t) + 1),
						 resize(NULL, NULL, corpus->records * sizeof(double) + 1)};
	neardup_values values = values_of(corpus);
	neardup_values others;

	if (against != NULL)
		others = values_of(against);
	check(session,
		  neardup_clusters(session, &values, against != NULL ? &others : NULL, &options.join,
						   clusters.keeper, clusters.similarity));
	return clusters;
}

/* Returns the clusters of the records that are not taken, the best of each as its keeper. */
static Clusters
cluster_records(neardup_session *session, Corpus *corpus, const uint32_t *taken)
{
	uint32_t count;
	uint32_t *order;
	Corpus ordered;
	Clusters found;
	Clusters clusters;

	if (options.best == NULL && taken == NULL)
		return find_clusters(session, corpus, NULL);
	order = order_records(corpus, taken, &count);
	ordered = reorder(corpus, order, count);
	resize(NULL, corpus->values.bytes, 0);
	corpus->values = (Buffer){0};
	found = find_clusters(session, &ordered, NULL);
	resize(NULL, ordered.values.bytes, 0);
	clusters = (Clusters){resize(NULL, NULL, corpus->records * sizeof(uint32_t) + 1),
						  resize(NULL, NULL, corpus->records * sizeof(double) + 1)};
	for (uint32_t i = 0; i < corpus->records; i++)
		clusters.keeper[i] = NEARDUP_NO_KEEPER;
	for (uint32_t i = 0; i < count; i++)
		if (found.keeper[i] != NEARDUP_NO_KEEPER)
		{
			clusters.keeper[order[i]] = order[found.keeper[i]];
			clusters.similarity[order[i]] = found.similarity[i];
		}
	return clusters;
}

/* neardup clusters: writes the clusters of two records and more. */
void
command_clusters(void)
{
	neardup_session *session = new_session();
	Corpus corpus = read_corpus(new_signer(session), options.files, false);
	Clusters clusters = cluster_records(session, &corpus, NULL);
	uint32_t *size = resize(NULL, NULL, corpus.records * sizeof(uint32_t) + 1);
	Buffer line = {0};

	memset(size, 0, corpus.records * sizeof(uint32_t));
	for (uint32_t i = 0; i < corpus.records; i++)
		if (clusters.keeper[i] != NEARDUP_NO_KEEPER)
			size[clusters.keeper[i]]++;
	for (uint32_t i = 0; i < corpus.records; i++)
	{
		uint32_t keeper = clusters.keeper[i];
		char text[24];

		if (keeper == NEARDUP_NO_KEEPER || size[keeper] < 2)
			continue;
		put_id(&line, &corpus, i);
		put(&line, "\t", 1);
		put_id(&line, &corpus, keeper);
		put_similarity(&line, clusters.similarity[i]);
		put(&line, text, snprintf(text, sizeof(text), "\t%u", size[keeper]));
		write_line(stdout, &line);
	}
}

/* ---- dedupe ------------------------------------------------------------- */

/* The state of the second reading. */
typedef struct Dedupe
{
	const bool *goes; /* of each record */
	uint32_t record;
	bool head_written;
} Dedupe;

/* A Work: there is nothing to do but to split batches. */
static void
do_nothing(void *state, neardup_session *session, Parser *parser, Batch *batch)
{
}

/* A Take: writes the records that stay; of files, their names. */
static void
write_kept(void *state, Batch *batch)
{
	Dedupe *dedupe = state;

	if (!dedupe->head_written)
		write_out(stdout, batch->data.bytes, batch->head);
	dedupe->head_written |= batch->head > 0;
	for (size_t i = 0; i < batch->records; i++)
	{
		const Record *record = batch->record + i;
		const char *bytes = batch->data.bytes + record->start;
		size_t length = record->length;

		if (dedupe->goes[dedupe->record++])
			continue;
		if (batch->format == FORMAT_FILES)
		{
			bytes = batch->file;
			length = strlen(bytes);
		}
		write_out(stdout, bytes, length);
		if (bytes[length - 1] != '\n')
			write_out(stdout, "\n", 1);
	}
}

/* Writes what goes, and why: the record, what it is similar to, how much, and which of the two reasons. */
static void
write_report(FILE *report, const Corpus *corpus, const Corpus *keepers, const Clusters *clusters,
			 const char *reason, bool *goes)
{
	Buffer line = {0};

	for (uint32_t i = 0; i < corpus->records; i++)
	{
		uint32_t keeper = clusters->keeper[i];

		if (keeper == NEARDUP_NO_KEEPER || (keepers == corpus && keeper == i))
			continue;
		goes[i] = true;
		if (report == NULL)
			continue;
		put_id(&line, corpus, i);
		put(&line, "\t", 1);
		put_id(&line, keepers, keeper);
		put_similarity(&line, clusters->similarity[i]);
		put(&line, reason, strlen(reason));
		write_line(report, &line);
	}
}

/* neardup dedupe: writes the records that stay. */
void
command_dedupe(void)
{
	neardup_session *session = new_session();
	neardup_signer *signer = new_signer(session);
	Corpus corpus = read_corpus(signer, options.files, true);
	Corpus against;
	bool held_out = read_against(signer, &against);
	Clusters taken = {NULL, NULL};
	Clusters clusters;
	bool *goes = resize(NULL, NULL, corpus.records + 1);
	FILE *report = options.report != NULL ? fopen(options.report, "w") : NULL;
	Dedupe dedupe = {.goes = goes};

	if (options.report != NULL && report == NULL)
		fail(EXIT_INPUT, "could not open \"%s\": %s", options.report, strerror(errno));
	memset(goes, 0, corpus.records);
	if (held_out)
	{
		taken = find_clusters(session, &corpus, &against);
		write_report(report, &corpus, &against, &taken, "\tagainst", goes);
	}
	clusters = cluster_records(session, &corpus, taken.keeper);
	write_report(report, &corpus, &corpus, &clusters, "\tduplicate", goes);
	if (report != NULL && fclose(report) != 0)
		fail(EXIT_INPUT, "could not write \"%s\": %s", options.report, strerror(errno));
	resize(NULL, corpus.values.bytes, 0);
	files_rewind(corpus.files);
	pipeline(corpus.files, do_nothing, write_kept, &dedupe);
	files_close(corpus.files);
}
