/*
 * fields.c: the fields of records.
 */
#include "command/command.h"

#include <string.h>

/* Returns whether a name is that of a field. */
bool
is_name_of(int i, const char *name, size_t length)
{
	const char *wanted = options.field[i];

	return wanted != NULL && strlen(wanted) == length && memcmp(wanted, name, length) == 0;
}

/* Returns whether a field of this name would be written twice. */
bool
is_signature(const char *name, size_t length)
{
	return options.output == OUTPUT_RECORDS && length == strlen("signature") &&
		memcmp(name, "signature", length) == 0;
}

/* Puts a zero behind a field, which does not count. */
static void
end_field(Buffer *field)
{
	*extend(field, 1) = '\0';
	field->length--;
}

/* A defect that may swallow all records behind it. */
const char open_quote[] = "a quote is not closed";

/* Sets a field of the last record. */
static void
set_field(RecordBatch *batch, int i, const char *bytes, size_t length)
{
	put(&batch->field[i], bytes, length);
	end_field(&batch->field[i]);
	batch->seen |= 1u << i;
}

/* Returns where a character is first, or the end. */
static const char *
find_byte(const char *at, const char *end, char c)
{
	const char *found = memchr(at, c, end - at);

	return found != NULL ? found : end;
}

/* Reads a field as in COPY's text format; returns its end. */
static const char *
read_copied(const char *at, const char *end, char separator, Buffer *field)
{
	static const char letters[] = "bfnrtv";
	const char *last = find_byte(at, end, separator);

	if (last - at == 2 && memcmp(at, "\\N", 2) == 0)
		return last;
	for (;; at++)
	{
		const char *escape = find_byte(at, last, '\\');
		const char *found;

		put(field, at, escape - at);
		if (escape == last)
			return last;
		at = escape + (escape + 1 < end);
		if (at == last)
			last = find_byte(at + 1, end, separator);
		found = at > escape ? strchr(letters, *at) : NULL;
		put(field, found != NULL ? "\b\f\n\r\t\v" + (found - letters) : at, 1);
	}
}

/* Reads a field from behind a quote to the quote that closes it; returns what follows. */
static const char *
read_quoted(RecordBatch *batch, const char *at, const char *end, Buffer *field)
{
	for (;; at++)
	{
		const char *quote = find_byte(at, end, '"');

		put(field, at, quote - at);
		if (quote == end)
			batch->defect = open_quote;
		at = quote + (quote < end);
		if (at == end || *at != '"')
			return at;
		put(field, at, 1);
	}
}

/* Reads a field of a CSV or TSV record; returns where the next one begins, or NULL after the last. */
const char *
read_field(RecordBatch *batch, const char *at, const char *end, Buffer *field)
{
	char separator = separator_of(batch->format);
	const char *last;

	field->length = 0;
	if (batch->format == FORMAT_TSV)
		last = read_copied(at, end, separator, field);
	else
	{
		if (at < end && *at == '"')
			at = read_quoted(batch, at + 1, end, field);
		last = find_byte(at, end, separator);
		put(field, at, last - at);
	}
	end_field(field);
	return last < end ? last + 1 : NULL;
}

/* Notes where a text of the last record is, as it is written. */
static void
add_span(RecordBatch *batch, const char *at, size_t length)
{
	Record span = {at - batch->data.bytes, length};

	put(&batch->span, &span, sizeof(span));
}

/* Reads the fields of a CSV or TSV record. */
static void
parse_columns(RecordBatch *batch, const char *at, size_t length)
{
	const char *end = at + length;
	int column;

	for (column = 0; at != NULL; column++)
	{
		const char *start = at;

		at = read_field(batch, at, end, &batch->cell);
		for (int i = 0; i < FIELDS; i++)
			if (batch->column[i] == column)
				set_field(batch, i, batch->cell.bytes, batch->cell.length);
		if (batch->column[TEXT] == column)
			add_span(batch, start, (at != NULL ? at - 1 : end) - start);
	}
	if (options.output == OUTPUT_RECORDS && column != batch->columns)
		batch->defect = "it has more or fewer fields than there are names of columns";
}

/* Returns whether the name of a field says where it is within other values. */
static bool
is_path(int i)
{
	return options.field[i] != NULL && strpbrk(options.field[i], ".[") != NULL;
}

/*
 * Notes that the last record has a field.  Returns whether its value counts: a field that has the
 * whole path as its name counts instead of a nested one.  Only texts of several elements are joined.
 */
static bool
note_field(RecordBatch *batch, int i, const JsonValue *value)
{
	static const char *const twice[] = {"it has the field of the text twice",
										"it has the field of the id twice",
										"it has the field of --best twice",
										"it has the field of --source twice"};
	unsigned bit = 1u << i;
	bool joined = i == TEXT && value->nested && strstr(options.field[i], "[]") != NULL &&
		value->holder != batch->holder;

	if (value->nested && (batch->named & bit) != 0)
		return false;
	if (!value->nested && (batch->named & bit) == 0)
	{
		batch->has &= ~bit;
		batch->field[i].length = 0;
		batch->span.length = i == TEXT ? 0 : batch->span.length;
		batch->border.length = i == TEXT ? 0 : batch->border.length;
	}
	if ((batch->has & bit) != 0 && !joined)
		batch->defect = twice[i];
	batch->has |= bit;
	batch->named |= value->nested ? 0 : bit;
	batch->holder = i == TEXT ? value->holder : batch->holder;
	return true;
}

/* Sets the text of the last record, or adds a line end and one more text to it. */
static void
add_text(RecordBatch *batch, const JsonValue *value)
{
	int64_t start;

	if (batch->span.length > 0)
		put(&batch->field[TEXT], "\n", 1);
	start = batch->field[TEXT].length;
	put(&batch->border, &start, sizeof(start));
	add_span(batch, value->raw, value->raw_length);
	set_field(batch, TEXT, value->bytes, value->length);
}

/* A JsonTake: sets the fields of this path; a text must be a string. */
static void
take_value(void *state, const JsonValue *value)
{
	RecordBatch *batch = state;
	char first = *value->raw;

	if (!value->nested && is_signature(value->path, value->path_length))
		batch->defect = "it has a field \"signature\" already";
	for (int i = 0; i < FIELDS; i++)
	{
		if (!is_name_of(i, value->path, value->path_length) || !note_field(batch, i, value))
			continue;
		if (i == BEST && (first == '{' || first == '['))
			batch->defect = "its field of --best is an object or array, which has no order";
		if (i == BEST && (first == 't' || first == 'f'))
			set_field(batch, i, first == 't' ? "1" : "0", 1);
		else if (i != TEXT)
			set_field(batch, i, value->bytes, first == 'n' ? 0 : value->length);
		else if (first == '"')
			add_text(batch, value);
	}
}

/* Reads the fields of a JSON record. */
static void
parse_json(RecordBatch *batch, const char *at, size_t length)
{
	bool nested = is_path(TEXT) || is_path(ID) || is_path(BEST) || is_path(SOURCE);
	const char *defect;

	batch->has = batch->named = 0;
	batch->holder = 0;
	defect = json_read(&batch->json, at, length, nested, take_value, batch);
	if (defect != NULL)
		batch->defect = defect;
}

/* Notes if a field, or a file, is not UTF-8, or has a zero where none may be. */
static void
check_field(RecordBatch *batch, int i, const char *bytes, size_t length)
{
	if (!is_utf8(bytes, length))
		batch->defect = "it is not UTF-8: iconv converts it";
	else if (i != TEXT && strlen(bytes) < length)
		batch->defect = "its id, or field of --best or --source, has a character U+0000";
}

/* Reads a record of a batch, the last one that was taken; notes what is wrong with it. */
static void
parse_record(RecordBatch *batch, RecordText *document)
{
	Buffer *field = batch->field;
	size_t length;
	const char *at = record_at(batch, batch->next - 1, &length);

	batch->span.length = batch->border.length = 0;
	for (int i = 0; i < FIELDS; i++)
	{
		field[i].length = 0;
		end_field(&field[i]);
	}
	if (batch->format == FORMAT_FILES)
	{
		*document = (RecordText){at, length, batch->file, field[BEST].bytes, field[SOURCE].bytes};
		check_field(batch, TEXT, at, length);
		if (batch->broken.length > 0)
			batch->defect = batch->broken.bytes;
		return;
	}
	if (batch->format == FORMAT_JSONL)
		parse_json(batch, at, length);
	else
		parse_columns(batch, at, length);
	if (is_numbered(batch))
		put_text(&field[ID], "%llu", (unsigned long long) (batch->first + batch->next));
	*document = (RecordText){field[TEXT].bytes, field[TEXT].length, field[ID].bytes,
							 field[BEST].bytes, field[SOURCE].bytes};
	for (int i = 0; i < FIELDS && batch->defect == NULL; i++)
		check_field(batch, i, field[i].bytes, field[i].length);
}

/* Returns whether --skip-errors leaves out the last record, if it cannot be read. */
bool
skip_record(RecordBatch *batch)
{
	Skipped skipped = {batch->first + batch->next - 1, batch->defect};

	if (!options.skip_errors || batch->defect == NULL)
		return false;
	put(&batch->skipped, &skipped, sizeof(skipped));
	batch->defect = NULL;
	return true;
}

/* Masks the text of a record, as --mask says. */
static void
mask_document(RecordBatch *batch, RecordText *document)
{
	if (batch->session == NULL)
		batch->session = new_session();
	neardup_free(batch->session, batch->masked.bytes);
	batch->masked.bytes = NULL;
	check(batch->session,
		  neardup_mask(batch->session, options.mask, document->text, document->length,
					   &batch->masked));
	document->text = (const char *) batch->masked.bytes;
	document->length = batch->masked.length;
}

/*
 * Parses the next record of a batch.  Returns false if there is none, or if it cannot be read,
 * unless --skip-errors leaves it out: then it has no text.
 */
bool
next_document(RecordBatch *batch, RecordText *document)
{
	if (batch->next == records_of(batch))
		return false;
	batch->next++;
	parse_record(batch, document);
	if (options.mask != NULL && batch->defect == NULL)
		mask_document(batch, document);
	if (skip_record(batch))
		*document = (RecordText){.text = "", .id = "", .best = "", .source = "", .skipped = true};
	return batch->defect == NULL;
}
