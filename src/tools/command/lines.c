/*
 * lines.c: neardup dedupe --unit line: lines that stood before, in any record, go.
 *
 * Lines are equal if their words are, as the recipe normalises them.  A line is looked up by a
 * hash of 64 bits.
 */
#include "command/command.h"

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
	uint64_t secret[2]; /* nobody can write lines that collide; the second is odd */
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

/* Notes a line; returns whether it stood before. */
static bool
note(Seen *seen, uint64_t hash)
{
	uint64_t key = (hash ^ seen->secret[0]) * seen->secret[1];
	int part;
	uint64_t *slot;

	/* Different hashes have different keys, except that 0, which marks a free slot, becomes 1. */
	key = (key ^ key >> 32) * seen->secret[1];
	key += key == 0;
	part = key >> 56;
	/* Nine tenths are used at most. */
	if (seen->used[part] + 1 > seen->slots[part] / 10 * 9)
		grow(seen, part);
	slot = find_line(seen->slot[part], seen->slots[part], key);
	if (*slot == key)
		return true;
	*slot = key;
	seen->used[part]++;
	return false;
}

/* ---- The lines of records ------------------------------------------------- */

/* A line of a text, as it is written. */
typedef struct Line
{
	uint64_t record; /* the record's number in the batch */
	uint64_t hash;
	uint64_t words;
	size_t start; /* the place in the data of the batch */
	size_t end;   /* the place behind it, without its line end */
	bool first;   /* it is the first of its text */
} Line;

/* Returns where a line end begins, as it is written, or the end; sets its length. */
static const char *
find_line_end(int format, const char *at, const char *end, size_t *length)
{
	for (; at < end; at++)
	{
		*length = 1;
		if (*at == '\n')
			return at;
		if (*at != '\\' || format == FORMAT_CSV)
			continue;
		*length = 2;
		if (end - at >= 2 && at[1] == 'n')
			return at;
		*length = 6;
		if (format == FORMAT_JSONL && end - at >= 6 && strncasecmp(at, "\\u000a", 6) == 0)
			return at;
		at++;
	}
	*length = 0;
	return end;
}

/* Adds the lines of a text: its bytes, and where and how it is written. */
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
	for (size_t length = 1; length > 0; line.first = false)
	{
		const char *line_end = find_line_end(batch->format, at, end, &length);
		const char *stop = memchr(text, '\n', text_end - text);

		stop = stop != NULL ? stop : text_end;
		check(batch->session,
			  neardup_hash_words(batch->session, text, stop - text, &line.hash, &line.words));
		line.start = at - batch->data.bytes;
		line.end = line_end - batch->data.bytes;
		put(&batch->line, &line, sizeof(line));
		at = line_end + length;
		text = stop + (stop < text_end);
	}
	return text;
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

		for (size_t i = 0; !document.skipped && i < batch->span.length / sizeof(Record); i++)
			text = add_lines(batch, text, document.text + document.length, span + i);
	}
}

/* Writes a record without the lines that go, unless it keeps no word; returns the lines behind it. */
static const Line *
put_lines(Seen *seen, RecordBatch *batch, uint64_t number, const Line *line, const Line *end)
{
	const Record *record = (const Record *) batch->record.bytes + number;
	const char *data = batch->data.bytes;
	size_t start = batch->out.length;
	size_t at = record->start;
	uint64_t words = 0;
	bool gone = false;
	bool kept = false; /* a line of this text */

	for (; line < end && line->record == number; line++)
	{
		bool goes = line->words >= options.min_words && note(seen, line->hash);

		kept = kept && !line->first;
		gone = gone || goes;
		words += goes ? 0 : line->words;
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
	if (gone && words == 0)
		batch->out.length = start;
	return line;
}

/* Writes the records of a batch without the lines that go. */
static void
write_lines(void *state, RecordBatch *batch)
{
	const Line *line = (const Line *) batch->line.bytes;
	const Line *end = (const Line *) (batch->line.bytes + batch->line.length);
	const Skipped *skipped = (const Skipped *) batch->skipped.bytes;
	const Skipped *last = (const Skipped *) (batch->skipped.bytes + batch->skipped.length);

	put_head(batch, "");
	for (uint64_t i = 0; i < records_of(batch); i++)
		if (skipped < last && skipped->number == batch->first + i)
			skipped++;
		else
			line = put_lines(state, batch, i, line, end);
	output_pack(batch);
	output_write(batch);
}

/* Notes the lines of a batch of --against. */
static void
note_lines(void *state, RecordBatch *batch)
{
	const Line *end = (const Line *) (batch->line.bytes + batch->line.length);

	for (const Line *line = (const Line *) batch->line.bytes; line < end; line++)
		if (line->words >= options.min_words)
			(void) note(state, line->hash);
}

/* neardup dedupe --unit line: writes the records with their lines that stood nowhere before. */
void
dedupe_lines(void)
{
	Seen *seen = resize(NULL, NULL, sizeof(Seen));

	memset(seen, 0, sizeof(*seen));
	if (getrandom(seen->secret, sizeof(seen->secret), 0) != sizeof(seen->secret))
		fail(EXIT_RESOURCES, "could not get random numbers");
	seen->secret[1] |= 1;
	if (options.against != NULL)
		pipeline(files_open(options.others, options.format, false), find_lines, note_lines, seen);
	pipeline(files_open(options.files, options.format, false), find_lines, write_lines, seen);
}
