/*
 * sign.c: neardup sign, learn and compare.
 */
#include "command/command.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The lexicon of --lexicon or --common, in any format. */
static Buffer lexicon;

/* ---- What values are made ------------------------------------------------ */

/* Returns the kind of value that the options say. */
neardup_kind
kind_of_options(void)
{
	return options.shingles     ? NEARDUP_SHINGLES :
		options.simhash != NULL ? NEARDUP_SIMHASH :
								  NEARDUP_MINHASH;
}

/* Returns whether texts decide which records are similar, and signatures only which may be. */
bool
texts_decide(void)
{
	return options.decide == DECIDE_TEXTS && kind_of_options() == NEARDUP_MINHASH;
}

/* Returns the signer of the options, which lives as long as the program. */
neardup_signer *
new_signer(neardup_session *session, neardup_kind kind)
{
	const char *shape = kind == NEARDUP_SIMHASH ? options.simhash : options.minhash;
	neardup_signer *signer;
	bool usual = kind == NEARDUP_MINHASH && shape == NULL;
	const neardup_default *defaults = neardup_defaults();
	bool decided = texts_decide();
	int k = !usual ? 0 : decided ? defaults->decided_k : defaults->k;
	int b = !usual ? kind != NEARDUP_SHINGLES : decided ? defaults->decided_b : defaults->b;
	int end = 0;

	if (kind != NEARDUP_SHINGLES && !usual &&
		(sscanf(shape, "%5d%n,%5d%n", &k, &end, &b, &end) < 1 || shape[end] != '\0' ||
		 strspn(shape, "0123456789,") < end))
		fail(EXIT_USAGE, "\"%s\" is no shape, such as 512,1", shape);
	if (options.lexicon != NULL && lexicon.bytes == NULL)
		lexicon = read_whole(options.lexicon, false);
	check(session,
		  neardup_signer_new(session, kind, k, b, options.scheme, lexicon.bytes, lexicon.length,
							 &signer));
	return signer;
}

/* Says of how many texts a signer's lexicon would have left out all. */
void
tell_whole(const neardup_signer *signer)
{
	size_t whole = neardup_signer_whole(signer);

	if (whole > 0)
		fprintf(stderr, "neardup: texts that have nothing else, and are compared whole: %zu\n",
				whole);
}

/* ---- sign --------------------------------------------------------------- */

/* Writes the lowest bytes of a number, the highest of them first. */
static void
put_number(Buffer *buffer, uint64_t number, int bytes)
{
	number = htobe64(number);
	put(buffer, (const char *) &number + 8 - bytes, bytes);
}

/* Writes a row of COPY in binary format.  Returns false if the id is no bigint, but should be. */
bool
put_copy_row(Buffer *out, const char *id, bool number, const void *value, size_t length)
{
	char *end = NULL;
	bool valid = true;

	put_number(out, 2, 2);
	if (number)
	{
		errno = 0;
		put_number(out, 8, 4);
		put_number(out, strtoll(id, &end, 10), 8);
		valid = end > id && *end == '\0' && errno == 0;
	}
	else
	{
		put_number(out, strlen(id), 4);
		put(out, id, strlen(id));
	}
	put_number(out, length, 4);
	put(out, value, length);
	return valid;
}

/* Writes an id and a value as COPY does in binary format; an id may be a defect of the batch. */
static void
put_binary(RecordBatch *batch, const char *id, const neardup_bytes *value)
{
	size_t start = batch->out.length;

	if (put_copy_row(&batch->out, id, options.id_number || is_numbered(batch), value->bytes,
					 value->length))
		return;
	batch->out.length = start;
	batch->defect = "its id is no bigint";
	(void) skip_record(batch);
}

/* Writes the last record with a signature added. */
static void
put_record(RecordBatch *batch, const neardup_bytes *signature)
{
	size_t length;
	const char *at = record_at(batch, batch->next - 1, &length);
	char separator[] = {separator_of(batch->format), '\0'};
	const char *before = batch->format == FORMAT_JSONL ? "," : separator;
	const char *quote = batch->format == FORMAT_TSV ? "" : "\"";
	const char *name = "";

	if (batch->format == FORMAT_JSONL)
	{
		while (at[length - 1] != '}')
			length--;
		for (length--; at[length - 1] == ' ' || at[length - 1] == '\t' || at[length - 1] == '\r';)
			length--;
		before = at[length - 1] == '{' ? "" : ",";
		name = "\"signature\":";
	}
	put(&batch->out, at, length);
	put_text(&batch->out, "%s%s%s", before, name, quote);
	for (size_t i = 0; i < signature->length; i++)
	{
		char c = signature->bytes[i];

		/* As COPY does in text format. */
		put(&batch->out, "\\", batch->format == FORMAT_TSV && c == *separator);
		put(&batch->out, &c, 1);
	}
	put_text(&batch->out, "%s%s\n", quote, batch->format == FORMAT_JSONL ? "}" : "");
}

/* Signs the records of a batch. */
static void
sign_batch(void *signer, RecordBatch *batch)
{
	RecordText document;
	char name[] = {separator_of(batch->format), 's', 'i', 'g', 'n', 'a', 't', 'u', 'r', 'e', '\0'};

	if (options.output == OUTPUT_RECORDS)
		put_head(batch, name);
	while (batch->defect == NULL && next_document(batch, &document))
	{
		neardup_bytes value;
		neardup_bytes text = {NULL, 0};

		if (document.skipped)
			continue;
		check(batch->session,
			  neardup_sign(batch->session, signer, document.text, document.length, &value));
		if (options.output == OUTPUT_COPY_BINARY)
			put_binary(batch, document.id, &value);
		else
			check(batch->session,
				  neardup_print(batch->session, kind_of_options(), value.bytes, value.length,
								&text));
		if (options.output == OUTPUT_RECORDS)
			put_record(batch, &text);
		if (options.output == OUTPUT_COPY_TEXT)
		{
			put_copy_text(&batch->out, document.id);
			put(&batch->out, "\t", 1);
			put(&batch->out, text.bytes, text.length);
			put(&batch->out, "\n", 1);
		}
		neardup_free(batch->session, text.bytes);
		neardup_free(batch->session, value.bytes);
	}
	output_pack(batch);
}

/* Writes what is before the rows of COPY in binary format. */
void
write_copy_begin(void)
{
	write_out(stdout, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0", 19);
}

/* Writes what is behind the rows. */
void
write_copy_end(void)
{
	write_out(stdout, "\377\377", 2);
}

/* neardup sign: signs records. */
void
command_sign(void)
{
	neardup_session *session = new_session();
	bool binary = options.output == OUTPUT_COPY_BINARY;
	Files *files = files_open(options.files, options.format, false);

	neardup_signer *signer = new_signer(session, kind_of_options());

	if (binary)
		write_copy_begin();
	pipeline(files, sign_batch, output_write, signer);
	if (binary)
		write_copy_end();
	tell_whole(signer);
}

/* ---- learn -------------------------------------------------------------- */

typedef struct TextsToLearn
{
	Files *files;
	Files *others; /* those that come next, or NULL */
	RecordBatch batch;
} TextsToLearn;

/* Begins with the next batch; returns false if there is none. */
static bool
next_batch(TextsToLearn *texts)
{
	if (texts->batch.file != NULL)
		files_done(texts->files, &texts->batch);
	while (!files_next(texts->files, &texts->batch))
	{
		check_fields(texts->files);
		if (texts->others == NULL)
			return false;
		texts->files = texts->others;
		texts->others = NULL;
		texts->batch.seen = 0;
		options.field[SOURCE] = NULL;
	}
	return true;
}

/* A neardup_next. */
static bool
next_text(void *state, const char **utf8, size_t *length, uint64_t *source)
{
	TextsToLearn *texts = state;
	RecordText document;

	do
		while (!next_document(&texts->batch, &document))
			if (!next_batch(texts))
				return false;
	while (document.skipped);
	if (*document.source != '\0')
		*source = XXH3_64bits(document.source, strlen(document.source)) | 1;
	*utf8 = document.text;
	*length = document.length;
	return true;
}

/* neardup learn: makes a lexicon of records. */
void
command_learn(void)
{
	neardup_session *session = new_session();
	TextsToLearn texts = {.files = files_open(options.files, options.format, false)};
	neardup_bytes learnt;
	neardup_bytes text;

	check(session,
		  neardup_learn(session, options.scheme, options.entries, options.share, options.memory / 2,
						next_text, &texts, &learnt));
	check(session, neardup_print(session, NEARDUP_LEXICON, learnt.bytes, learnt.length, &text));
	write_out(stdout, text.bytes, text.length);
	write_out(stdout, "\n", 1);
}

/*
 * Learns what --common leaves out of the texts of files, and of those of --against or NULL; they are read
 * again.  The source of a text counts in this reading only.
 */
void
learn_common(neardup_session *session, Files *files, Files *others)
{
	TextsToLearn texts = {.files = files, .others = others};
	neardup_bytes learnt;
	size_t count;

	check(session,
		  neardup_common(session, options.scheme, options.common, options.memory / 2, next_text,
						 &texts, &count, &learnt));
	batch_free(&texts.batch);
	options.field[SOURCE] = NULL;
	files_rewind(files);
	if (others != NULL)
		files_rewind(others);
	fprintf(stderr, "neardup: shingles that many texts have, and are left out: %zu\n", count);
	if (count > 0)
		put(&lexicon, learnt.bytes, learnt.length);
	neardup_free(session, learnt.bytes);
}

/* ---- compare ------------------------------------------------------------ */

/* Writes a line with a name and a number. */
static void
put_named(const char *name, double number)
{
	Buffer line = {0};

	put_text(&line, "%s", name);
	put_similarity(&line, number);
	put(&line, "\n", 1);
	write_out(stdout, line.bytes, line.length);
}

/* Compares two texts by a kind of value. */
static neardup_comparison
sign_compare(neardup_session *session, neardup_kind kind, const Buffer *text)
{
	neardup_signer *signer = new_signer(session, kind);
	neardup_bytes value[2];
	neardup_comparison result;

	for (int i = 0; i < 2; i++)
		check(session, neardup_sign(session, signer, text[i].bytes, text[i].length, &value[i]));
	check(session,
		  neardup_compare(session, kind, value[0].bytes, value[0].length, value[1].bytes,
						  value[1].length, &result));
	return result;
}

/* Reads a file; masks it, as --mask says. */
static Buffer
read_masked(neardup_session *session, const char *name)
{
	Buffer text = read_whole(name, true);
	neardup_bytes masked;

	if (options.mask == NULL)
		return text;
	check(session, neardup_mask(session, options.mask, text.bytes, text.length, &masked));
	return (Buffer){.bytes = (char *) masked.bytes, .length = masked.length};
}

/* neardup compare: compares two files. */
void
command_compare(void)
{
	neardup_session *session = new_session();
	bool simhash = options.simhash != NULL;
	neardup_comparison sets;
	Buffer text[2];
	int64_t distance;

	if (options.files[0] == NULL || options.files[1] == NULL || options.files[2] != NULL)
		fail(EXIT_USAGE, "compare takes two files");
	for (int i = 0; i < 2; i++)
		text[i] = read_masked(session, options.files[i]);
	sets = sign_compare(session, NEARDUP_SHINGLES, text);
	put_named("resemblance", sets.similarity);
	put_named("containment", sets.containment);
	put_named("weighted", sets.weighted);
	put_named(simhash ? "simhash" : "minhash",
			  sign_compare(session, simhash ? NEARDUP_SIMHASH : NEARDUP_MINHASH, text).similarity);
	check(session,
		  neardup_edit_distance(session, text[0].bytes, text[0].length, text[1].bytes,
								text[1].length, &distance));
	printf("edit distance\t%" PRId64 "\n", distance);
}
