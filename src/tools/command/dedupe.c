/*
 * dedupe.c: neardup pairs, clusters and dedupe.
 */
#include "command/command.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The values of all records of files. */
typedef struct RecordValues
{
	neardup_session *session;
	const neardup_signer *signer;
	Files *files;
	neardup_values values;
	Spool out;   /* the bytes of the values */
	Texts texts; /* the texts, if they decide */
	Ends ends;
	Buffer late;        /* the values that were made late */
	Buffer late_number; /* uint32_t: the number of each record's, from 1; 0: there is none */
	Buffer id; /* ids: int64_t, or texts with a zero behind each; empty: the numbers of records */
	Ends id_ends;
	Best best;
	bool against;    /* the records are those of --against */
	bool signatures; /* signatures were read, and there are no texts */
	bool numbers;    /* ids are bigint */
} RecordValues;

/* ---- Bytes -------------------------------------------------------------- */

/* Writes a text as COPY does. */
void
put_copy_text(Buffer *buffer, const char *text)
{
	for (; *text != '\0'; text++)
	{
		static const char special[] = "\n\t\r\\";
		const char *found = strchr(special, *text);

		if (found != NULL)
			*extend(buffer, 1) = '\\';
		*extend(buffer, 1) = found != NULL ? "ntr\\"[found - special] : *text;
	}
}

/* Numbers that were written: signatures have few.  Saves half of the time that 259,000 pairs take. */
#define WRITTEN 1024

typedef struct WrittenNumber
{
	double number;
	char text[32]; /* the number after a tab; empty: none was written */
} WrittenNumber;

/* Writes a tab and a number, in as few digits as give it back. */
void
put_similarity(Buffer *buffer, double similarity)
{
	static WrittenNumber written[WRITTEN];
	uint64_t hash = XXH3_64bits(&similarity, sizeof(similarity));
	WrittenNumber *known = &written[hash % WRITTEN];

	if (known->text[0] == '\0' || known->number != similarity)
	{
		known->number = similarity;
		for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++)
		{
			snprintf(known->text, sizeof(known->text), "\t%.*g", digits, similarity);
			if (strtod(known->text, NULL) == similarity)
				break;
		}
	}
	put(buffer, known->text, strlen(known->text));
}

/* The most bytes of a number that is an id, and a zero. */
#define NUMBER_ROOM 24

/* Returns the id of a record; a number is written to `room`. */
static const char *
record_id(const RecordValues *corpus, uint32_t record, char room[NUMBER_ROOM])
{
	const char *id = corpus->id.bytes + ends_start(&corpus->id_ends, record);
	int64_t number = (int64_t) record + 1;

	if (corpus->id_ends.count > 0 && !corpus->numbers)
		return id;
	if (corpus->numbers)
		memcpy(&number, id, sizeof(number));
	snprintf(room, NUMBER_ROOM, "%" PRId64, number);
	return room;
}

/* Writes the id of a record. */
static void
put_id(Buffer *line, const RecordValues *corpus, uint32_t record)
{
	char room[NUMBER_ROOM];

	put_copy_text(line, record_id(corpus, record, room));
}

/* Writes the ids of two records, their similarity and something behind it. */
static void
dedupe_write_pair(FILE *file, const RecordValues *corpus, uint32_t a, const RecordValues *other,
				  uint32_t b, double similarity, const char *more)
{
	Buffer line = {0};

	put_id(&line, corpus, a);
	put(&line, "\t", 1);
	put_id(&line, other, b);
	put_similarity(&line, similarity);
	put_text(&line, "%s\n", more);
	write_out(file, line.bytes, line.length);
	resize(NULL, line.bytes, 0);
}

/* ---- Reading ------------------------------------------------------------ */

/* Makes the value of a text; returns its length, 0 if it is made when it is read. */
static uint64_t
make_value(RecordBatch *batch, const neardup_signer *signer, const RecordText *document)
{
	const int64_t entry[] = {0, document->length};
	const neardup_column text = {.count = 1,
								 .entry = entry,
								 .width = sizeof(*entry),
								 .data = (const uint8_t *) document->text};
	size_t size = neardup_signature_size(signer);
	neardup_bytes value;
	uint64_t digest;

	if (size > 0)
	{
		check(batch->session,
			  neardup_sign_column(batch->session, signer, &text, NULL,
								  (uint8_t *) extend(&batch->out, size), NULL, NULL, &digest));
		put(&batch->digest, &digest, sizeof(digest));
		if (batch->out.bytes[batch->out.length - size] != 0)
			return size;
		batch->out.length -= size;
		return 0;
	}
	check(batch->session,
		  neardup_sign(batch->session, signer, document->text, document->length, &value));
	put(&batch->out, value.bytes, value.length);
	neardup_free(batch->session, value.bytes);
	return value.length;
}

/* Makes the values of a batch. */
static void
make_values(void *state, RecordBatch *batch)
{
	const RecordValues *corpus = state;
	RecordText document;

	while (next_document(batch, &document))
	{
		uint64_t length = make_value(batch, corpus->signer, &document);

		put(&batch->size, &length, sizeof(length));
		put(&batch->best, document.best, strlen(document.best) + 1);
		put(&batch->id, document.id, is_numbered(batch) ? 0 : strlen(document.id) + 1);
	}
}

/* Keeps the id of the next record. */
static void
keep_record_id(RecordValues *corpus, const void *id, size_t length)
{
	put(&corpus->id, id, length);
	ends_add(&corpus->id_ends, length);
}

/* Keeps the values of a batch. */
static void
keep_values(void *state, RecordBatch *batch)
{
	RecordValues *corpus = state;

	spool_put(&corpus->out, batch->out.bytes, batch->out.length);
	for (size_t at = 0; at < batch->size.length; at += sizeof(uint64_t))
		ends_add(&corpus->ends, *(const uint64_t *) (batch->size.bytes + at));
	for (size_t at = 0, length; at < batch->id.length; at += length)
	{
		length = strlen(batch->id.bytes + at) + 1;
		keep_record_id(corpus, batch->id.bytes + at, length);
	}
	if (texts_decide())
		texts_add(&corpus->texts, batch);
	if (options.field[BEST] != NULL)
		best_add(&corpus->best, batch);
}

/* A TakeSignature: keeps the value of a record. */
static void
keep_signature(void *state, const SignatureRecord *signature)
{
	RecordValues *corpus = state;
	int64_t number;

	corpus->values.kind = signature->kind;
	corpus->numbers = signature->number;
	if (is_without(signature->id) || !is_of_part(corpus->session, signature, corpus->against))
		return;
	spool_put(&corpus->out, signature->value, signature->length);
	ends_add(&corpus->ends, signature->length);
	number = signature->number ? strtoll(signature->id, NULL, 10) : 0;
	if (signature->number)
		keep_record_id(corpus, &number, sizeof(number));
	else
		keep_record_id(corpus, signature->id, strlen(signature->id) + 1);
}

/* A function of neardup_values: keeps a value that was not made when its record was read. */
static void
keep_late(void *state, size_t record, const uint8_t *value, size_t length)
{
	RecordValues *corpus = state;
	size_t bytes = corpus->ends.count * sizeof(uint32_t);

	if (corpus->late_number.length == 0)
		memset(extend(&corpus->late_number, bytes), 0, bytes);
	put(&corpus->late, value, length);
	((uint32_t *) corpus->late_number.bytes)[record] = corpus->late.length / length;
}

/* A function of neardup_values: reads the value of a record, or a zero byte if it was not made. */
static bool
read_value(void *state, size_t record, const uint8_t **value, size_t *length)
{
	RecordValues *corpus = state;
	uint64_t start = ends_start(&corpus->ends, record);
	uint32_t number = 0;

	*length = ends_start(&corpus->ends, record + 1) - start;
	if (*length > 0)
	{
		*value = spool_get(&corpus->out, start, *length);
		return true;
	}
	if (corpus->late_number.length > 0)
		number = ((const uint32_t *) corpus->late_number.bytes)[record];
	*length = number > 0 ? neardup_signature_size(corpus->signer) : 1;
	*value = number > 0 ? (const uint8_t *) corpus->late.bytes + (number - 1) * *length :
						  (const uint8_t *) "";
	return true;
}

/* The most bytes in which a signer remembers shingles, their share of --memory, and of the files. */
#define REMEMBERED_MOST (512 << 20)
#define REMEMBERED_SHARE 16
#define REMEMBERED_OF 24

/* Lets a signer of texts that decide remember their shingles, and those of --against. */
static void
remember_texts(neardup_session *session, neardup_signer *signer, const Files *files)
{
	uint64_t bytes = files_bytes(files);

	if (options.against != NULL)
		bytes += names_bytes(options.others, NULL, true);
	bytes /= REMEMBERED_OF;
	if (bytes > REMEMBERED_MOST)
		bytes = REMEMBERED_MOST;
	if (options.memory > 0 && bytes > options.memory / REMEMBERED_SHARE)
		bytes = options.memory / REMEMBERED_SHARE;
	check(session, neardup_signer_remember(session, signer, options.join.threshold, bytes, true));
}

/* Opens files, which are read again if `twice`, or if texts decide. */
static RecordValues *
open_corpus(neardup_session *session, char **names, bool twice, bool against)
{
	RecordValues *corpus = resize(NULL, NULL, sizeof(RecordValues));

	*corpus =
		(RecordValues){.session = session,
					   .values = {.kind = kind_of_options()},
					   .against = against,
					   .signatures = against ? are_signatures(names) : options.signatures != NULL};
	if (!corpus->signatures)
		corpus->files =
			files_open(names, options.format, twice || texts_decide() || options.common > 0);
	corpus->texts.files = corpus->files;
	return corpus;
}

/* Reads and signs all records of a corpus, or reads signatures. */
static void
read_corpus(neardup_session *session, neardup_signer *signer, RecordValues *corpus, char **names)
{
	corpus->signer = signer;
	if (corpus->signatures)
		read_signatures(names, keep_signature, corpus);
	else
	{
		files_keep(corpus->files);
		pipeline(corpus->files, make_values, keep_values, corpus);
	}
	if (corpus->ends.count > NEARDUP_NO_KEEPER / 2)
		fail(EXIT_RESOURCES, "there are too many records");
	corpus->id.bytes = resize(NULL, corpus->id.bytes, corpus->id.length);
	corpus->id.room = corpus->id.length;
	corpus->values = (neardup_values){.kind = corpus->values.kind,
									  .count = corpus->ends.count,
									  .read = read_value,
									  .made = keep_late,
									  .state = corpus};
	if (texts_decide())
		corpus->values.evidence =
			texts_done(&corpus->texts, new_signer(session, NEARDUP_SHINGLES), signer);
}

/*
 * Reads and signs all records, or reads signatures; sets *against to the records of --against, whose text and
 * id have the same names, or NULL.
 */
static RecordValues *
read_sides(neardup_session *session, bool twice, RecordValues **against)
{
	RecordValues *corpus = open_corpus(session, options.files, twice, false);
	const char *best = options.field[BEST];
	neardup_signer *signer;

	*against = NULL;
	if (options.common > 0)
	{
		if (options.against != NULL)
			*against = open_corpus(session, options.others, false, true);
		learn_common(session, corpus->files, *against != NULL ? (*against)->files : NULL);
	}
	signer = new_signer(session, kind_of_options());
	/* By containment, a large share of one set is enough, and any text may be similar to another. */
	if (texts_decide() && options.join.contained == 0)
		remember_texts(session, signer, corpus->files);
	read_corpus(session, signer, corpus, options.files);
	if (options.against != NULL)
	{
		options.field[BEST] = NULL;
		if (*against == NULL)
			*against = open_corpus(session, options.others, false, true);
		read_corpus(session, signer, *against, options.others);
		options.field[BEST] = best;
	}
	tell_whole(signer);
	tell_without();
	return corpus;
}

/* ---- pairs -------------------------------------------------------------- */

/* The records of pairs. */
typedef struct Sides
{
	const RecordValues *corpus;
	const RecordValues *other;
} Sides;

/* A neardup_take. */
static bool
dedupe_take_pair(void *state, const neardup_pair *pair)
{
	const Sides *sides = state;

	dedupe_write_pair(stdout, sides->corpus, pair->a, sides->other, pair->b, pair->similarity, "");
	return true;
}

/* neardup pairs: writes the pairs of similar records. */
void
command_pairs(void)
{
	neardup_session *session = new_session();
	RecordValues *against;
	const RecordValues *corpus = read_sides(session, false, &against);
	Sides sides = {corpus, against != NULL ? against : corpus};

	options.join.memory = memory_for_join();
	check(session,
		  neardup_each_pair(session, &corpus->values, against != NULL ? &against->values : NULL,
							&options.join, dedupe_take_pair, &sides));
}

/* ---- clusters ----------------------------------------------------------- */

/* The keepers of the records of a corpus. */
typedef struct RecordKeepers
{
	uint32_t *keeper; /* the keeper of each record, NEARDUP_NO_KEEPER where there is none */
	double *similarity;
} RecordKeepers;

/* What records are sorted by. */
static const char **best_of;

/* Compares records for qsort: those with the greatest value first, then in their order. */
static int
compare_best(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *) x;
	uint32_t b = *(const uint32_t *) y;

	int order = strcmp(best_of[b], best_of[a]);

	return order != 0 ? order : a < b ? -1 : a > b;
}

/* Returns room for the clusters of some records. */
static RecordKeepers
new_clusters(size_t count)
{
	return (RecordKeepers){resize(NULL, NULL, count * sizeof(uint32_t) + 1),
						   resize(NULL, NULL, count * sizeof(double) + 1)};
}

/*
 * Returns the clusters of a corpus: keepers are records of `against`, if there is one, or else the
 * best of the records that are not taken.
 */
static RecordKeepers
find_clusters(neardup_session *session, const RecordValues *corpus, const RecordValues *against,
			  const uint32_t *taken)
{
	neardup_values values = corpus->values;
	uint32_t *order = resize(NULL, NULL, values.count * sizeof(uint32_t) + 1);
	RecordKeepers clusters = new_clusters(values.count);
	RecordKeepers found;

	values.chosen = order;
	values.count = 0;
	for (uint32_t i = 0; i < corpus->values.count; i++)
	{
		clusters.keeper[i] = NEARDUP_NO_KEEPER;
		if (taken == NULL || taken[i] == NEARDUP_NO_KEEPER)
			order[values.count++] = i;
	}
	if (corpus->best.count > 0)
	{
		best_of = best_keys(&corpus->best);
		qsort(order, values.count, sizeof(uint32_t), compare_best);
		resize(NULL, best_of, 0);
	}
	found = new_clusters(values.count);
	options.join.memory = memory_for_join();
	check(session,
		  neardup_clusters(session, &values, against != NULL ? &against->values : NULL,
						   &options.join, found.keeper, found.similarity));
	for (uint32_t i = 0; i < values.count; i++)
		if (found.keeper[i] != NEARDUP_NO_KEEPER)
		{
			clusters.keeper[order[i]] = against != NULL ? found.keeper[i] : order[found.keeper[i]];
			clusters.similarity[order[i]] = found.similarity[i];
		}
	resize(NULL, order, 0);
	resize(NULL, found.keeper, 0);
	resize(NULL, found.similarity, 0);
	return clusters;
}

/* neardup clusters: writes the clusters of two records and more. */
void
command_clusters(void)
{
	neardup_session *session = new_session();
	RecordValues *against;
	const RecordValues *corpus = read_sides(session, false, &against);
	RecordKeepers clusters = find_clusters(session, corpus, NULL, NULL);
	uint32_t *size = resize(NULL, NULL, corpus->values.count * sizeof(uint32_t) + 1);
	char text[16];

	memset(size, 0, corpus->values.count * sizeof(uint32_t));
	for (uint32_t i = 0; i < corpus->values.count; i++)
		if (clusters.keeper[i] != NEARDUP_NO_KEEPER)
			size[clusters.keeper[i]]++;
	look_for_templates(session, corpus->values.evidence, clusters.keeper, corpus->values.count);
	for (uint32_t i = 0; i < corpus->values.count; i++)
	{
		uint32_t keeper = clusters.keeper[i];

		if (keeper == NEARDUP_NO_KEEPER || size[keeper] < 2)
			continue;
		snprintf(text, sizeof(text), "\t%u", size[keeper]);
		dedupe_write_pair(stdout, corpus, i, corpus, keeper, clusters.similarity[i], text);
	}
}

/* ---- dedupe ------------------------------------------------------------- */

/* Gathers the records of a batch that stay; of files, their names.  The state is whether each goes. */
static void
gather_kept(void *state, RecordBatch *batch)
{
	const bool *goes = state;

	put_head(batch, "");
	for (size_t i = 0; i < records_of(batch); i++)
	{
		const Record *record = (const Record *) batch->record.bytes + i;
		bool file = batch->format == FORMAT_FILES;
		const char *bytes = file ? batch->file : batch->data.bytes + record->start;
		size_t length = file ? strlen(bytes) : record->length;

		if (goes[batch->first + i])
			continue;
		put(&batch->out, bytes, length);
		if (options.null)
			put(&batch->out, "", 1);
		else
			put(&batch->out, "\n", bytes[length - 1] != '\n');
	}
	output_pack(batch);
}

/* Writes the signatures that stay. */
static void
write_kept_signatures(const RecordValues *corpus, const bool *goes)
{
	Buffer row = {0};
	char room[NUMBER_ROOM];

	write_copy_begin();
	for (uint32_t i = 0; i < corpus->values.count; i++)
	{
		const uint8_t *value;
		size_t length;

		if (goes[i])
			continue;
		row.length = 0;
		(void) read_value(corpus->values.state, i, &value, &length);
		(void) put_copy_row(&row, record_id(corpus, i, room), corpus->numbers, value, length);
		write_out(stdout, row.bytes, row.length);
	}
	write_copy_end();
	resize(NULL, row.bytes, 0);
}

/* Returns how similar two records are by their signatures. */
static double
dedupe_estimate(neardup_session *session, RecordValues *corpus, uint32_t a, RecordValues *other,
				uint32_t b)
{
	static Buffer first;
	neardup_comparison comparison;
	const uint8_t *value;
	size_t length;

	read_value(corpus, a, &value, &length);
	first.length = 0;
	put(&first, value, length);
	read_value(other, b, &value, &length);
	check(session,
		  neardup_compare(session, corpus->values.kind, first.bytes, first.length, value, length,
						  &comparison));
	return comparison.similarity;
}

/*
 * Reports a record that goes, what it is similar to, how much, which of two reasons, and whether texts or
 * signatures say so; if texts do, how similar they are by their signatures.
 */
static void
dedupe_report(neardup_session *session, FILE *report, RecordValues *corpus, uint32_t i,
			  RecordValues *keepers, uint32_t keeper, double similarity, const char *reason)
{
	bool exact = texts_decide();
	char room[NUMBER_ROOM];
	Buffer more = {0};

	if (options.null)
	{
		const char *names[] = {record_id(corpus, i, room), record_id(keepers, keeper, room)};

		write_out(report, names[0], strlen(names[0]) + 1);
		write_out(report, names[1], strlen(names[1]) + 1);
		return;
	}
	put_text(&more, "\t%s\t%s", reason, exact || options.shingles ? "texts" : "signatures");
	if (exact)
		put_similarity(&more, dedupe_estimate(session, corpus, i, keepers, keeper));
	put(&more, "", 1);
	dedupe_write_pair(report, corpus, i, keepers, keeper, similarity, more.bytes);
	resize(NULL, more.bytes, 0);
}

/* Marks what goes, and reports it. */
static void
dedupe_drop(neardup_session *session, FILE *report, RecordValues *corpus, RecordValues *keepers,
			const RecordKeepers *clusters, const char *reason, bool *goes)
{
	for (uint32_t i = 0; i < corpus->values.count; i++)
	{
		uint32_t keeper = clusters->keeper[i];

		if (keeper == NEARDUP_NO_KEEPER || (keepers == corpus && keeper == i))
			continue;
		goes[i] = true;
		if (keepers == corpus && options.drop == DROP_ALL)
			goes[keeper] = true;
	}
	for (uint32_t i = 0; report != NULL && i < corpus->values.count; i++)
		if (clusters->keeper[i] != NEARDUP_NO_KEEPER && goes[i])
			dedupe_report(session, report, corpus, i, keepers, clusters->keeper[i],
						  clusters->similarity[i], reason);
}

/* Writes the records that stay. */
static void
dedupe_records(FILE *report)
{
	neardup_session *session = new_session();
	RecordKeepers taken = {NULL, NULL};
	RecordKeepers clusters;
	RecordValues *against;
	RecordValues *corpus = read_sides(session, true, &against);
	bool *goes = resize(NULL, NULL, corpus->values.count + 1);

	memset(goes, 0, corpus->values.count);
	if (against != NULL)
	{
		taken = find_clusters(session, corpus, against, NULL);
		dedupe_drop(session, report, corpus, against, &taken, "against", goes);
	}
	clusters = find_clusters(session, corpus, NULL, taken.keeper);
	look_for_templates(session, corpus->values.evidence, clusters.keeper, corpus->values.count);
	dedupe_drop(session, report, corpus, corpus, &clusters, "duplicate", goes);
	if (corpus->signatures)
	{
		write_kept_signatures(corpus, goes);
		return;
	}
	files_mark(corpus->files, goes);
	spool_free(&corpus->out);
	files_rewind(corpus->files);
	pipeline(corpus->files, gather_kept, output_write, goes);
}

/* neardup dedupe: writes the records that stay, or their lines that do. */
void
command_dedupe(void)
{
	FILE *report = options.report != NULL ? output_open_report() : NULL;

	if (options.unit == UNIT_LINE)
		dedupe_lines(report);
	else if (options.unit == UNIT_PASSAGE)
		dedupe_passages(report);
	else
		dedupe_records(report);
	if (report != NULL && fclose(report) != 0)
		fail(EXIT_INPUT, "could not write \"%s\": %s", options.report, strerror(errno));
}
