/*
 * cut_passages.c: neardup dedupe --unit passage: words go that stood before, in runs of a least length.
 *
 * Records are read twice.  First their words go to the library, in order, then it says which of them go
 * from each record.  Positions are counted in characters, which records have in any way to write them.
 */
#include "command/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct AllPassages
{
	neardup_passages *passages;
	FILE *report;     /* the report, or NULL */
	bool against;     /* the records are those of --against */
	uint64_t others;  /* records of --against */
	uint64_t records; /* the other ones */
	bool *left_out;   /* records that --skip-errors leaves out, or NULL */
	Spool id;         /* the ids of all records, if they are reported and not numbers */
	Spool id_end;     /* uint64_t: where each begins, and where the last ends */
	uint64_t id_bytes;
	uint64_t words_gone;
	uint64_t records_changed;
	uint64_t records_gone;
} AllPassages;

/* ---- Words ----------------------------------------------------------------- */

/* Finds the words of the records of a batch. */
static void
find_words(void *state, RecordBatch *batch)
{
	const AllPassages *all = state;
	RecordText document;

	while (next_document(batch, &document))
	{
		int64_t end = document.length;
		neardup_column texts = {.width = sizeof(end), .data = (const uint8_t *) document.text};
		neardup_bytes found;

		batch->border.length = document.skipped ? 0 : batch->border.length;
		if (batch->border.length == 0)
			put(&batch->border, &(int64_t){0}, sizeof(int64_t));
		texts.count = batch->border.length / sizeof(end);
		put(&batch->border, &end, sizeof(end));
		texts.entry = batch->border.bytes;
		check(batch->session,
			  neardup_passages_words(batch->session, all->passages, &texts, true, &found));
		put(&batch->out, found.bytes, found.length);
		neardup_free(batch->session, found.bytes);
		put(&batch->id, document.id, is_numbered(batch) ? 0 : strlen(document.id) + 1);
	}
}

/* Adds the words of a batch. */
static void
add_record_words(void *state, RecordBatch *batch)
{
	AllPassages *all = state;
	neardup_bytes words = {(uint8_t *) batch->out.bytes, batch->out.length};

	check(batch->session, neardup_passages_add(batch->session, all->passages, &words));
	for (size_t at = 0, length; all->report != NULL && at < batch->id.length; at += length)
	{
		length = strlen(batch->id.bytes + at) + 1;
		all->id_bytes += length;
		spool_put(&all->id, batch->id.bytes + at, length);
		spool_put(&all->id_end, &all->id_bytes, sizeof(uint64_t));
	}
	*(all->against ? &all->others : &all->records) += records_of(batch);
}

/* ---- What stays ------------------------------------------------------------- */

/* A walk through a text as it is written, character by character. */
typedef struct Walk
{
	int format;
	const char *at;
	const char *end;
	bool quoted;        /* a quote stands for itself only twice */
	uint64_t character; /* the number of the next one in the record */
} Walk;

/* Begins a walk at the first character of a text. */
static void
begin_walk(Walk *walk, const RecordBatch *batch, const Record *span)
{
	walk->at = batch->data.bytes + span->start;
	walk->end = walk->at + span->length;
	walk->quoted = walk->format != FORMAT_TSV && span->length > 0 && *walk->at == '"';
	walk->at += walk->quoted;
	while (walk->format == FORMAT_JSONL && walk->end > walk->at && *--walk->end != '"')
		;
}

/* Goes on to a character, or to the end; writes a quote that ends what is quoted to `out`, if that is not NULL. */
static void
walk_to(Walk *walk, uint64_t character, Buffer *out)
{
	while (walk->at < walk->end && walk->character < character)
	{
		const char *at = walk->at;
		size_t left = walk->end - at;
		size_t length = 1;
		bool ends = *at == '"' && walk->quoted && (left == 1 || at[1] != '"');

		if (ends && out != NULL)
			put(out, at, 1);
		if (*at == '"' && walk->quoted)
			length += !ends;
		else if (*at == '\\' && walk->format != FORMAT_CSV && left > 1)
			/* Half of a pair of surrogates has another one behind it. */
			length = walk->format == FORMAT_TSV || at[1] != 'u'                   ? 2 :
				(at[2] == 'd' || at[2] == 'D') && strchr("89abAB", at[3]) != NULL ? 12 :
																					6;
		else
			while (length < left && (at[length] & 0xC0) == 0x80)
				length++;
		walk->quoted = walk->quoted && !ends;
		walk->character += !ends;
		walk->at += length;
	}
}

/* Writes a record without what goes; it was parsed last. */
static void
put_without_passages(RecordBatch *batch, uint64_t number, const neardup_passage *passage,
					 const neardup_passage *end)
{
	const Record *record = (const Record *) batch->record.bytes + number;
	const Record *span = (const Record *) batch->span.bytes;
	const char *last = batch->data.bytes + record->start + record->length;
	const char *kept = batch->data.bytes + record->start;
	Walk walk = {.format = batch->format};

	if (passage < end)
		begin_walk(&walk, batch, span);
	for (; passage < end; passage++)
	{
		if (passage->cut_from == passage->cut_to)
			continue;
		for (walk_to(&walk, passage->cut_from, NULL); walk.character < passage->cut_from;
			 walk_to(&walk, passage->cut_from, NULL))
		{
			/* A line end is between two texts. */
			walk.character++;
			begin_walk(&walk, batch, ++span);
		}
		put(&batch->out, kept, walk.at - kept);
		walk_to(&walk, passage->cut_to, &batch->out);
		put(&batch->out, " ", passage->blank);
		kept = walk.at;
	}
	put(&batch->out, kept, last - kept);
	put(&batch->out, "\n", last[-1] != '\n');
}

/* Writes the records of a batch without what goes, and keeps that for the report. */
static void
write_passages(void *state, RecordBatch *batch)
{
	const AllPassages *all = state;
	size_t count = records_of(batch);
	const neardup_passage *at;
	const neardup_passage *end;
	RecordText document;

	check(batch->session,
		  neardup_passages_of(batch->session, all->passages, all->others + batch->first, count,
							  &batch->passage, &batch->passages));
	at = batch->passage;
	end = at + batch->passages;
	put_head(batch, "");
	for (uint64_t i = 0; !options.mark && i < count; i++)
	{
		const neardup_passage *begin = at;

		while (at < end && at->record == all->others + batch->first + i)
			at++;
		if ((at > begin && at[-1].left < options.min_left) ||
			(all->left_out != NULL && all->left_out[batch->first + i]))
			continue;
		batch->next = i;
		if (at > begin)
			(void) next_document(batch, &document);
		put_without_passages(batch, i, begin, at);
	}
	output_pack(batch);
}

/* Writes the id of a record. */
static void
put_passage_id(Buffer *row, AllPassages *all, uint64_t record)
{
	uint64_t end[2];

	if (all->id_bytes == 0)
	{
		put_text(row, "%" PRIu64, record - (record >= all->others ? all->others : 0) + 1);
		return;
	}
	memcpy(end, spool_get(&all->id_end, record * sizeof(*end), sizeof(end)), sizeof(end));
	put_copy_text(row, (const char *) spool_get(&all->id, end[0], end[1] - end[0]));
}

/* Reports words that go, and where they stay; and the record, if too few of its words are left. */
static void
report_passage(AllPassages *all, const neardup_passage *passage, bool record)
{
	Buffer row = {0};

	put_passage_id(&row, all, passage->record);
	put_text(&row, "\t%" PRIu32 "\t%" PRIu32 "\t", passage->from + 1, passage->to);
	put_passage_id(&row, all, passage->first_record);
	put_text(&row, "\t%" PRIu32 "\t%" PRIu32 "\n", passage->first_from + 1, passage->first_to);
	if (record)
	{
		put_passage_id(&row, all, passage->record);
		put_text(&row, "\t\\N\t\\N\t\\N\t\\N\t\\N\n");
	}
	write_out(all->report, row.bytes, row.length);
	resize(NULL, row.bytes, 0);
}

/* Reports what goes from a batch, and writes what stays. */
static void
take_passages(void *state, RecordBatch *batch)
{
	AllPassages *all = state;
	const neardup_passage *end = batch->passage + batch->passages;

	for (const neardup_passage *passage = batch->passage; passage < end; passage++)
	{
		bool last = passage + 1 == end || passage[1].record != passage->record;
		bool goes = last && passage->left < options.min_left;

		if (all->report != NULL)
			report_passage(all, passage, goes);
		all->words_gone += passage->words + (goes ? passage->left : 0);
		all->records_changed += last;
		all->records_gone += goes;
	}
	neardup_free(batch->session, batch->passage);
	if (!options.mark)
		output_write(NULL, batch);
}

/* The files of the records, and of --against. */
static Files *all_files[2];

/* Bytes of memory for each word of a run, and for what records do not need. */
#define RUN_BYTES 128
#define MEMORY_BASE 1e6

/* Returns the memory in which a batch can hold the longest record; 0 if that record is not known. */
double
memory_for_passages(void)
{
	double longest = fmax(files_longest(all_files[0]), files_longest(all_files[1]));

	return longest > 0 ?
		BATCH_SHARE * options.jobs * longest + RUN_BYTES * options.min_run + MEMORY_BASE :
		0;
}

/* neardup dedupe --unit passage: writes the records without words that stood before. */
void
dedupe_passages(FILE *report)
{
	AllPassages all = {.report = options.mark ? stdout : report};
	neardup_session *session = new_session();
	Files *files;

	spool_put(&all.id_end, &all.id_bytes, sizeof(uint64_t));
	check(session,
		  neardup_passages_new(session, options.min_run, memory_for_join(), &all.passages));
	if (options.against != NULL)
	{
		all.against = true;
		all_files[1] = files_open(options.others, options.format, false);
		pipeline(all_files[1], find_words, add_record_words, &all);
		all.against = false;
	}
	files = all_files[0] = files_open(options.files, options.format, true);
	pipeline(files, find_words, add_record_words, &all);
	check(session,
		  neardup_passages_find(session, all.passages,
								options.against != NULL ? &all.others : NULL));
	if (options.skip_errors)
	{
		all.left_out = resize(NULL, NULL, all.records + 1);
		memset(all.left_out, 0, all.records);
		files_mark(files, all.left_out);
	}
	files_rewind(files);
	pipeline(files, write_passages, take_passages, &all);
	fprintf(stderr,
			"neardup: words that %s: %" PRIu64 "; records that %s some: %" PRIu64 " of %" PRIu64
			"; records that %s: %" PRIu64 "\n",
			options.mark ? "would go" : "went", all.words_gone,
			options.mark ? "would lose" : "lost", all.records_changed, all.records,
			options.mark ? "would keep too few words" : "kept too few words, and went",
			all.records_gone);
}
