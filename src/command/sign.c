/*
 * sign.c: neardup sign, learn and compare.
 */
#include "command/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The state of a pipeline that signs. */
typedef struct Signing
{
	const neardup_signer *signer;
	uint64_t records;
} Signing;

/* Returns the value of a text: in *room, or new bytes of the library, which the caller frees. */
neardup_bytes
value_of(neardup_session *session, const neardup_signer *signer, const Document *document)
{
	size_t size = neardup_signature_size(signer);
	neardup_bytes value = {NULL, size};

	if (size == 0)
		check(session, neardup_shingles(session, signer, document->text, document->length, &value));
	else
	{
		static _Thread_local uint8_t room[16384];

		value.bytes = room;
		check(session, neardup_sign(session, signer, document->text, document->length, room));
	}
	return value;
}

/* Frees a value. */
void
value_free(neardup_session *session, const neardup_signer *signer, neardup_bytes *value)
{
	if (neardup_signature_size(signer) == 0)
		neardup_free(session, value->bytes);
}

/* ---- sign --------------------------------------------------------------- */

/* Writes a record with its signature added. */
static void
put_record(Batch *batch, const Record *record, const neardup_bytes *text)
{
	const char *at = batch->data.bytes + record->start;
	size_t length = without_line_end(at, record->length);
	Buffer *out = &batch->out;
	const char *before = batch->format == FORMAT_TSV ? "\t" : ",\"";
	const char *after = batch->format == FORMAT_TSV ? "\n" : "\"\n";

	if (batch->format == FORMAT_JSONL)
	{
		while (length > 0 && at[length - 1] != '}')
			length--;
		for (length--; strchr(" \t", at[length - 1]) != NULL; length--)
			;
		before = at[length - 1] == '{' ? "\"signature\":\"" : ",\"signature\":\"";
		after = "\"}\n";
	}
	put(out, at, length);
	put(out, before, strlen(before));
	put(out, text->bytes, text->length);
	put(out, after, strlen(after));
}

/* Writes an id and a value as COPY does in binary format. */
static void
put_binary(Buffer *out, const Document *document, const neardup_bytes *value)
{
	put_big_endian(out, 2, 2);
	if (document->id == NULL || options.id_number)
	{
		put_big_endian(out, 8, 4);
		put_big_endian(out, document->id != NULL ? strtoll(document->id, NULL, 10) : 0, 8);
	}
	else
	{
		put_big_endian(out, strlen(document->id), 4);
		put(out, document->id, strlen(document->id));
	}
	put_big_endian(out, value->length, 4);
	put(out, value->bytes, value->length);
}

/* Are ids the numbers of records, which only the output knows? */
bool
is_numbered(Format format)
{
	return options.id == NULL && format != FORMAT_FILES;
}

/* A Work: writes records as they are signed, without their numbers. */
static void
sign_batch(void *state, neardup_session *session, Parser *parser, Batch *batch)
{
	const Signing *signing = state;
	Document document;

	for (size_t i = 0; i < batch->records && parse(parser, batch, i, &document); i++)
	{
		neardup_bytes value = value_of(session, signing->signer, &document);
		neardup_bytes text = {NULL, 0};

		if (options.output == OUTPUT_COPY_BINARY)
			put_binary(&batch->out, &document, &value);
		else
			check(session, neardup_print(session, options.kind, value.bytes, value.length, &text));
		if (options.output == OUTPUT_RECORDS)
			put_record(batch, batch->record + i, &text);
		else if (options.output == OUTPUT_COPY_TEXT)
		{
			put_copy_text(&batch->out, document.id != NULL ? document.id : "");
			put(&batch->out, "\t", 1);
			put(&batch->out, text.bytes, text.length);
			put(&batch->out, "\n", 1);
		}
		neardup_free(session, text.bytes);
		value_free(session, signing->signer, &value);
		put(&batch->end, &batch->out.length, sizeof(size_t));
	}
}

/* Writes the output of a batch whose records have no ids, and numbers them. */
static void
write_numbered(Signing *signing, const Batch *batch)
{
	const size_t *end = (const size_t *) batch->end.bytes;
	size_t at = 0;

	for (size_t i = 0; i < batch->records; i++)
	{
		char *out = batch->out.bytes + at;

		signing->records++;
		if (options.output == OUTPUT_COPY_TEXT)
		{
			char text[24];

			write_out(stdout, text, snprintf(text, sizeof(text), "%" PRIu64, signing->records));
		}
		else
			/* Behind the number of columns and the length of the first. */
			for (int byte = 0; byte < 8; byte++)
				out[6 + byte] = (char) (signing->records >> (56 - 8 * byte));
		write_out(stdout, out, end[i] - at);
		at = end[i];
	}
}

/* A Take. */
static void
write_batch(void *state, Batch *batch)
{
	if (options.output == OUTPUT_RECORDS && batch->head > 0)
	{
		write_out(stdout, batch->data.bytes, without_line_end(batch->data.bytes, batch->head));
		write_out(stdout, batch->format == FORMAT_TSV ? "\tsignature\n" : ",signature\n", 11);
	}
	if (is_numbered(batch->format) && options.output != OUTPUT_RECORDS)
		write_numbered(state, batch);
	else
		write_out(stdout, batch->out.bytes, batch->out.length);
}

/* neardup sign: signs records. */
void
command_sign(void)
{
	static const char copy_begins[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
	neardup_session *session = new_session();
	Signing signing = {.signer = new_signer(session)};
	Files *files = files_open(options.files, false);

	if (options.output == OUTPUT_COPY_BINARY)
		write_out(stdout, copy_begins, 19);
	pipeline(files, sign_batch, write_batch, &signing);
	if (options.output == OUTPUT_COPY_BINARY)
		write_out(stdout, "\377\377", 2);
	files_close(files);
}

/* ---- learn -------------------------------------------------------------- */

typedef struct Learning
{
	neardup_session *session;
	neardup_learner *learner;
} Learning;

/* A Work: keeps the texts. */
static void
gather_texts(void *state, neardup_session *session, Parser *parser, Batch *batch)
{
	Document document;

	for (size_t i = 0; i < batch->records && parse(parser, batch, i, &document); i++)
	{
		put(&batch->out, document.text, document.length);
		put(&batch->end, &batch->out.length, sizeof(size_t));
	}
}

/* A Take: counts the shingles of the texts. */
static void
learn_batch(void *state, Batch *batch)
{
	const Learning *learning = state;
	const size_t *end = (const size_t *) batch->end.bytes;
	size_t at = 0;

	for (size_t i = 0; i < batch->records; at = end[i++])
		check(learning->session,
			  neardup_learn(learning->session, learning->learner, batch->out.bytes + at,
							end[i] - at));
}

/* neardup learn: makes a lexicon of records. */
void
command_learn(void)
{
	Learning learning = {.session = new_session()};
	Files *files = files_open(options.files, false);
	neardup_lexicon *lexicon;
	neardup_bytes text;

	check(learning.session,
		  neardup_learner_new(learning.session, options.scheme != NULL ? options.scheme : "word 1",
							  options.entries, options.memory / 2, &learning.learner));
	pipeline(files, gather_texts, learn_batch, &learning);
	check(learning.session,
		  neardup_learner_finish(learning.session, learning.learner, options.share, &lexicon));
	check(learning.session, neardup_lexicon_print(learning.session, lexicon, &text));
	write_out(stdout, text.bytes, text.length);
	write_out(stdout, "\n", 1);
	files_close(files);
}

/* ---- compare ------------------------------------------------------------ */

/* Writes a line with a name and a number. */
static void
put_named(const char *name, double number)
{
	Buffer line = {0};

	put(&line, name, strlen(name));
	put_similarity(&line, number);
	put(&line, "\n", 1);
	write_out(stdout, line.bytes, line.length);
	resize(NULL, line.bytes, 0);
}

/* neardup compare: compares two files. */
void
command_compare(void)
{
	neardup_session *session = new_session();
	neardup_kind kinds[] = {NEARDUP_SHINGLES,
							options.kind == NEARDUP_SIMHASH ? NEARDUP_SIMHASH : NEARDUP_MINHASH};
	Batch batch[2] = {0};
	neardup_comparison result;
	int64_t distance;

	if (options.files[0] == NULL || options.files[1] == NULL || options.files[2] != NULL)
		fail(EXIT_USAGE, "compare takes two files");
	options.format = FORMAT_FILES;
	for (int side = 0; side < 2; side++)
	{
		char *names[] = {options.files[side], NULL};

		files_next(files_open(names, false), &batch[side]);
	}
	if (options.kind == NEARDUP_SHINGLES)
		options.k = 512, options.b = 1;
	for (int i = 0; i < 2; i++)
	{
		neardup_bytes value[2];
		neardup_signer *signer;

		options.kind = kinds[i];
		signer = new_signer(session);
		for (int side = 0; side < 2; side++)
		{
			Document document = {batch[side].data.bytes, batch[side].data.length};
			neardup_bytes made = value_of(session, signer, &document);
			Buffer copy = {0};

			put(&copy, made.bytes, made.length);
			value[side] = (neardup_bytes){(uint8_t *) copy.bytes, copy.length};
		}
		check(session,
			  neardup_compare(session, kinds[i], value[0].bytes, value[0].length, value[1].bytes,
							  value[1].length, &result));
		put_named(kinds[i] == NEARDUP_SHINGLES    ? "resemblance" :
					  kinds[i] == NEARDUP_MINHASH ? "minhash" :
													"simhash",
				  result.similarity);
		if (i == 0)
		{
			put_named("containment", result.containment);
			put_named("weighted", result.weighted);
		}
	}
	check(session,
		  neardup_edit_distance(session, batch[0].data.bytes, batch[0].data.length,
								batch[1].data.bytes, batch[1].data.length, &distance));
	printf("edit distance\t%" PRId64 "\n", distance);
}
