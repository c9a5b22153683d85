/*
 * lines.c: neardup dedupe --unit line: lines that stood before, in any record, go.
 *
 * A line ends with a line feed, a carriage return, both, U+2028 or U+2029.  Lines are equal if their words
 * are, as the recipe normalises them.  A line is looked up by a hash of 64 bits with a secret seed.
 */
#include "command/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- The lines so far --------------------------------------------------- */

#define PARTS 256

/* A hash table in parts, each of which grows alone, so that little of it is in memory twice. */
typedef struct Seen
{
	uint64_t *slot[PARTS]; /* 0 is free */
	uint32_t slots[PARTS];
	uint32_t used[PARTS];
} Seen;

/* Returns the slot of a key in a part, or the free one where it belongs. */
static uint64_t *
find_line(const uint64_t *slot, uint32_t slots, uint64_t key)
{
	uint32_t at = (key & UINT32_MAX) * slots >> 32;

	while (slot[at] != 0 && slot[at] != key)
		at = at + 1 < slots ? at + 1 : 0;
	return (uint64_t *) slot + at;
}

/* Makes a part a quarter larger. */
static void
grow(Seen *seen, int part)
{
	uint32_t slots = seen->slots[part] + seen->slots[part] / 4 + 16;
	uint64_t *slot = resize(NULL, NULL, slots * sizeof(uint64_t));

	if (slots < seen->slots[part])
		fail(EXIT_RESOURCES, "there are too many lines");
	memset(slot, 0, slots * sizeof(uint64_t));
	for (uint32_t i = 0; i < seen->slots[part]; i++)
		if (seen->slot[part][i] != 0)
			*find_line(slot, slots, seen->slot[part][i]) = seen->slot[part][i];
	resize(NULL, seen->slot[part], 0);
	seen->slot[part] = slot;
	seen->slots[part] = slots;
}

/* Returns whether a line stood before; notes it, if that is wanted.  0 marks a free slot. */
static bool
stood_before(Seen *seen, uint64_t hash, bool note)
{
	uint64_t key = hash + (hash == 0);
	int part = key >> 56;
	uint64_t *slot;

	/* Nine tenths are used at most. */
	if (note && seen->used[part] + 1 > seen->slots[part] / 10 * 9)
		grow(seen, part);
	if (seen->slots[part] == 0)
		return false;
	slot = find_line(seen->slot[part], seen->slots[part], key);
	if (*slot == key)
		return true;
	if (note)
	{
		*slot = key;
		seen->used[part]++;
	}
	return false;
}

/* ---- The lines of records ------------------------------------------------- */

static uint64_t secret; /* the seed of hashes, so that nobody can write lines that collide */

/* Why a line goes; EMPTY: it has no words, and its record keeps none. */
typedef enum Reason
{
	STAYS,
	DUPLICATE,
	AGAINST,
	EMPTY
} Reason;

/* A line of a text, as it is written. */
typedef struct Line
{
	uint64_t record; /* the record's number in the batch */
	uint64_t hash;
	uint64_t words;
	size_t start; /* the position in the data of the batch */
	size_t end;   /* the position behind it, without its line end */
	bool first;   /* it is the first of its text */
	Reason reason;
} Line;

/*
 * Returns the line feed, the carriage return or another character that ends a line here, or 0 for what
 * does not; sets the length in which the character is written.  CSV has no escapes.
 */
static unsigned
line_end_at(int format, const char *at, const char *end, size_t *length)
{
	bool escaped = *at == '\\' && format != FORMAT_CSV && end - at >= 2;
	char digits[5] = "";
	unsigned code = 0;

	at += escaped;
	*length = 1 + escaped;
	if (escaped && (*at == 'n' || *at == 'r'))
		return *at == 'n' ? '\n' : '\r';
	if (escaped && format == FORMAT_JSONL)
	{
		if (*at != 'u' || end - at < 5)
			return 0;
		*length = 6;
		memcpy(digits, at + 1, 4);
		code = strtoul(digits, NULL, 16);
		return code == '\n' || code == '\r' || code == 0x2028 || code == 0x2029 ? code : 0;
	}
	if (*at == '\n' || *at == '\r')
		return *at;
	if (end - at < 3 || memcmp(at, "\xe2\x80", 2) != 0 || (at[2] != '\xa8' && at[2] != '\xa9'))
		return 0;
	*length += 2;
	return 0x2028;
}

/*
 * Returns where a line end begins, as it is written, or the end; sets the length in which it is written,
 * and its length when it is read.
 */
static const char *
find_line_end(int format, const char *at, const char *end, size_t *written, size_t *read)
{
	size_t more;

	for (*written = 1; at < end; at += *written)
	{
		unsigned c = (unsigned char) *at;

		*written = 1;
		if (c > '\r' && c != '\\' && c != 0xE2)
			continue;
		c = line_end_at(format, at, end, written);
		if (c == 0)
			continue;
		*read = c == '\n' || c == '\r' ? 1 : 3;
		if (c == '\r' && at + *written < end &&
			line_end_at(format, at + *written, end, &more) == '\n')
		{
			*written += more;
			*read = 2;
		}
		return at;
	}
	*written = *read = 0;
	return end;
}

/*
 * Adds the lines of a text: its bytes, and where and how it is written.  Both have the same lines, since
 * escapes stand for characters.  Returns what follows the text: a line feed if another text does.
 */
static const char *
add_lines(RecordBatch *batch, const char *text, const char *text_end, const Record *span)
{
	const char *at = batch->data.bytes + span->start;
	const char *end = at + span->length;
	Line line = {.record = batch->next - 1, .first = true};

	/* Without the quotes around it. */
	if (batch->format != FORMAT_TSV && at < end && *at == '"')
		for (at++; end > at && *--end != '"';)
			;
	for (size_t written = 1; written > 0; line.first = false)
	{
		size_t read;
		size_t other;
		const char *line_end = find_line_end(batch->format, at, end, &written, &read);
		const char *stop = find_line_end(FORMAT_CSV, text, text_end, &other, &other);

		line.hash = secret;
		check(batch->session,
			  neardup_hash_words(batch->session, text, stop - text, &line.hash, &line.words));
		line.start = at - batch->data.bytes;
		line.end = line_end - batch->data.bytes;
		put(&batch->line, &line, sizeof(line));
		at = line_end + written;
		text = stop + read;
	}
	return text + (text < text_end);
}

/* Finds the lines of the records of a batch. */
static void
find_lines(void *state, RecordBatch *batch)
{
	RecordText document;

	batch->line.length = 0;
	while (next_document(batch, &document))
	{
		const Record *span = (const Record *) batch->span.bytes;
		const char *text = document.text;

		put(&batch->id, document.id, strlen(document.id) + 1);
		for (size_t i = 0; !document.skipped && i < batch->span.length / sizeof(Record); i++)
			text = add_lines(batch, text, document.text + document.length, span + i);
	}
}

/* What is known of all lines so far. */
typedef struct AllLines
{
	Seen others;  /* the lines of --against */
	Seen seen;    /* those of the records */
	FILE *report; /* the report, or NULL */
	uint64_t lines;
	uint64_t lines_gone;
	uint64_t records;
	uint64_t records_changed; /* records that lost a line */
	uint64_t records_gone;
} AllLines;

/* Decides which of the lines of a record go; returns whether all do, since the record keeps no word. */
static bool
judge_lines(AllLines *all, Line *line, const Line *end)
{
	uint64_t words = 0;
	uint64_t gone = 0;

	for (Line *at = line; at < end; at++)
	{
		bool long_enough = at->words >= options.min_words;

		at->reason = !long_enough                       ? STAYS :
			stood_before(&all->others, at->hash, false) ? AGAINST :
			stood_before(&all->seen, at->hash, true)    ? DUPLICATE :
														  STAYS;
		gone += at->reason != STAYS;
		words += at->reason != STAYS ? 0 : at->words;
	}
	for (Line *at = line; gone > 0 && words == 0 && at < end; at++)
		if (at->reason == STAYS)
			at->reason = EMPTY;
	all->lines += end - line;
	all->lines_gone += gone;
	all->records++;
	all->records_changed += gone > 0;
	all->records_gone += gone > 0 && words == 0;
	return gone > 0 && words == 0;
}

/* Writes a line for COPY as it is written: in JSON and TSV its escapes are those of COPY. */
static void
put_line(Buffer *row, const RecordBatch *batch, const Line *line)
{
	const char *data = batch->data.bytes;

	for (size_t i = line->start; i < line->end; i++)
	{
		put(row, "\\", data[i] == '\t' || (data[i] == '\\' && batch->format == FORMAT_CSV));
		put(row, data[i] == '\t' ? "t" : data + i, 1);
	}
}

/* Reports the lines of a record that go: its id, their numbers, why, and how they are written. */
static void
report_lines(FILE *report, const RecordBatch *batch, const char *id, const Line *line,
			 const Line *end)
{
	static const char *const reasons[] = {"", "duplicate", "against", "empty"};
	Buffer row = {0};

	for (const Line *at = line; at < end; at++)
	{
		if (at->reason == STAYS)
			continue;
		row.length = 0;
		put_copy_text(&row, id);
		put_text(&row, "\t%zu\t%s\t", at - line + 1, reasons[at->reason]);
		put_line(&row, batch, at);
		put(&row, "\n", 1);
		write_out(report, row.bytes, row.length);
	}
	resize(NULL, row.bytes, 0);
}

/* Writes a record without the lines that go. */
static void
put_lines(RecordBatch *batch, uint64_t number, const Line *line, const Line *end)
{
	const Record *record = (const Record *) batch->record.bytes + number;
	const char *data = batch->data.bytes;
	size_t at = record->start;
	bool kept = false; /* a line of this text */

	for (; line < end; line++)
	{
		bool goes = line->reason != STAYS;

		kept = kept && !line->first;
		/* What stands before a text stays, and the line end before a line if a line is before that. */
		if (line->first || (kept && !goes))
			put(&batch->out, data + at, line->start - at);
		if (!goes)
			put(&batch->out, data + line->start, line->end - line->start);
		kept = kept || !goes;
		at = line->end;
	}
	put(&batch->out, data + at, record->start + record->length - at);
	put(&batch->out, "\n", data[record->start + record->length - 1] != '\n');
}

/* Writes the records of a batch without the lines that go. */
static void
write_lines(void *state, RecordBatch *batch)
{
	AllLines *all = state;
	Line *line = (Line *) batch->line.bytes;
	const Line *last_line = (const Line *) (batch->line.bytes + batch->line.length);
	const Skipped *skipped = (const Skipped *) batch->skipped.bytes;
	const Skipped *last = (const Skipped *) (batch->skipped.bytes + batch->skipped.length);
	const char *id = batch->id.bytes;

	put_head(batch, "");
	for (uint64_t i = 0; i < records_of(batch); i++, id += strlen(id) + 1)
	{
		Line *end = line;

		while (end < last_line && end->record == i)
			end++;
		if (skipped < last && skipped->number == batch->first + i)
		{
			skipped++;
			continue;
		}
		if (!judge_lines(all, line, end))
			put_lines(batch, i, line, end);
		if (all->report != NULL)
			report_lines(all->report, batch, id, line, end);
		line = end;
	}
	output_pack(batch);
	output_write(NULL, batch);
}

/* Notes the lines of a batch of --against. */
static void
note_lines(void *state, RecordBatch *batch)
{
	AllLines *all = state;
	const Line *end = (const Line *) (batch->line.bytes + batch->line.length);

	for (const Line *line = (const Line *) batch->line.bytes; line < end; line++)
		if (line->words >= options.min_words)
			(void) stood_before(&all->others, line->hash, true);
}

/* neardup dedupe --unit line: writes the records with their lines that stood nowhere before. */
void
dedupe_lines(FILE *report)
{
	AllLines *all = resize(NULL, NULL, sizeof(AllLines));

	memset(all, 0, sizeof(*all));
	all->report = report;
	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		fail(EXIT_RESOURCES, "could not get random numbers");
	if (options.against != NULL)
		pipeline(files_open(options.others, options.format, false), find_lines, note_lines, all);
	pipeline(files_open(options.files, options.format, false), find_lines, write_lines, all);
	fprintf(stderr,
			"neardup: lines that went: %" PRIu64 " of %" PRIu64 "; records that lost some: %" PRIu64
			" of %" PRIu64 "; records that kept no word, and went: %" PRIu64 "\n",
			all->lines_gone, all->lines, all->records_changed, all->records, all->records_gone);
}
