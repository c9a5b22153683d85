/*
 * records.c: the records of files, and their fields.
 */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Files -------------------------------------------------------------- */

struct Files
{
	char **names;
	int *copy; /* of each that cannot be read twice, though it will be: a temporary file; or -1 */
	int next;
	int format;
	struct stat *status; /* of each, when it was opened first */
	bool again;          /* they are read for the second time */
	bool plain;          /* the open file is not packed */
	uint64_t place;      /* of the next batch in it */
	int packed;          /* a temporary file with what packed files hold, or -1 */
	uint64_t packed_end;
	Input *input;        /* the open file, or NULL */
	bool whole; /* records are written as they are read, so their columns must be the same */
	bool head;  /* the names of columns come next */
	int column[FIELDS];
	int count;        /* columns */
	Buffer columns;   /* names of columns of the first file, with a zero behind each */
	Buffer rest;      /* the beginning of the next batch */
	uint64_t records; /* that were read */
	uint64_t done;
	uint64_t bytes;
	unsigned seen; /* as in Batch, of those that are done */
};

/* Returns the format of a file by its name, .gz or .zst left aside; fails if that tells none. */
int
format_of(const char *name)
{
	static const char *const endings[] = {".jsonl",     ".json", ".ndjson",
										  ".jsonlines", ".csv",  ".tsv"};
	static const int formats[] = {FORMAT_JSONL, FORMAT_JSONL, FORMAT_JSONL,
								  FORMAT_JSONL, FORMAT_CSV,   FORMAT_TSV};
	size_t length = without_ending(name, strlen(name), ".gz");

	length = without_ending(name, length, ".zst");
	for (int i = 0; i < 6; i++)
		if (without_ending(name, length, endings[i]) < length)
			return formats[i];
	if (!is_stream(name))
		fail(EXIT_USAGE,
			 "the name of \"%s\" does not tell its format: say --input jsonl, csv or tsv, or "
			 "--input files if each file is a document",
			 name);
	return FORMAT_JSONL;
}

/* Prepares to read files, once or twice, of a format or of what their names say. */
Files *
files_open(char **names, int format, bool twice)
{
	Files *files = resize(NULL, NULL, sizeof(Files));
	int count = 0;

	memset(files, 0, sizeof(Files));
	files->packed = -1;
	files->names = names;
	files->whole = twice || options.output == OUTPUT_RECORDS;
	files->format = format != FORMAT_AUTO ? format : format_of(*files->names);
	for (char **name = files->names; *name != NULL; name++)
	{
		if (format == FORMAT_AUTO && format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		files->copy = resize(NULL, files->copy, ++count * sizeof(int));
		files->copy[count - 1] = twice ? copy_input(*name) : -1;
	}
	files->status = resize(NULL, NULL, count * sizeof(struct stat));
	return files;
}

/* Starts again with the first file. */
void
files_rewind(Files *files)
{
	files->next = 0;
	files->again = true;
	files->columns.length = 0;
	files->records = files->done = files->bytes = 0;
}

/* Fails if a file has not the status that it had first. */
static void
check_unchanged(const char *name, const struct stat *status, const struct stat *first)
{
	if (status->st_ino != first->st_ino || status->st_size != first->st_size ||
		memcmp(&status->st_mtim, &first->st_mtim, sizeof(status->st_mtim)) != 0)
		fail(EXIT_INPUT, "could not read \"%s\": it has changed since it was read first", name);
}

/* Opens a file that was read, or the copy of packed files, and returns its descriptor. */
int
files_reopen(const Files *files, int source)
{
	struct stat status;
	int file;

	if (source == PACKED_FILES)
		return dup(files->packed);
	file = open_input(files->names[source], files->copy[source]);
	fstat(file, &status);
	check_unchanged(files->names[source], &status, files->status + source);
	return file;
}

/* Opens the next file; returns false if there is none. */
static bool
open_next(Files *files)
{
	const char *name = files->names[files->next];
	struct stat *first = files->status + files->next;
	struct stat status;

	if (name == NULL)
		return false;
	files->input = input_open(name, files->copy[files->next++], &status);
	files->plain = input_is_plain(files->input);
	files->place = 0;
	if (files->again)
		check_unchanged(name, &status, first);
	*first = status;
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
	return true;
}

/* ---- Records ------------------------------------------------------------ */

/* A search for the end of a record, which goes on when more has been read. */
typedef struct Search
{
	size_t at;
	bool quoted;
	bool inside; /* of a field: a quote opens none */
} Search;

/* Returns where a record ends, its line end included; 0 if its end is not there. */
static size_t
end_of_record(int format, const Buffer *data, Search *search)
{
	const char *end = NULL;

	if (format == FORMAT_JSONL || format == FORMAT_TSV)
		end = memchr(data->bytes + search->at, '\n', data->length - search->at);
	for (; format == FORMAT_CSV && end == NULL && search->at < data->length; search->at++)
	{
		char c = data->bytes[search->at];

		if (c == '"' && (search->quoted || !search->inside))
		{
			/* Another one behind it opens the field again. */
			search->inside = !search->quoted;
			search->quoted = !search->quoted;
			continue;
		}
		search->inside = c != ',';
		if (c == '\n' && !search->quoted)
			end = data->bytes + search->at;
	}
	if (end == NULL)
		search->at = data->length;
	return end != NULL ? end + 1 - data->bytes : 0;
}

/* Returns the length of bytes without the line end behind them. */
size_t
without_line_end(const char *bytes, size_t length)
{
	while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
		length--;
	return length;
}

/* Are the ids of a batch the numbers of its records? */
bool
is_numbered(const Batch *batch)
{
	return options.field[ID] == NULL && batch->format != FORMAT_FILES;
}

/* Returns how many records a batch has. */
size_t
records_of(const Batch *batch)
{
	return batch->record.length / sizeof(Record);
}

/* Returns a record, without its line end. */
const char *
record_at(const Batch *batch, size_t number, size_t *length)
{
	Record record = ((const Record *) batch->record.bytes)[number];
	const char *at = batch->data.bytes + record.start;

	*length = batch->format == FORMAT_FILES ? record.length : without_line_end(at, record.length);
	return at;
}

/* Is a name that of a field? */
static bool
is_name_of(int i, const char *name, size_t length)
{
	const char *wanted = options.field[i];

	return wanted != NULL && strlen(wanted) == length && memcmp(wanted, name, length) == 0;
}

/* Would a field of this name be written a second time? */
static bool
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

static const char *read_field(Batch *batch, const char *at, const char *end, Buffer *field);

/* Finds the columns of the fields that are wanted by their names, in the first record. */
static void
read_head(Files *files, Batch *batch, size_t start, size_t end)
{
	const char *at = batch->data.bytes + start;
	const char *last = at + without_line_end(at, end - start);
	Buffer columns = {0};

	files->head = false;
	memset(files->column, -1, sizeof(files->column));
	for (int column = 0; at != NULL; column++)
	{
		files->count = column + 1;
		at = read_field(batch, at, last, &batch->cell);
		put(&columns, batch->cell.bytes, batch->cell.length + 1);
		if (is_signature(batch->cell.bytes, batch->cell.length))
			fail(EXIT_INPUT, "\"%s\" has a column \"signature\" already", batch->file);
		for (int i = 0; i < FIELDS; i++)
			if (is_name_of(i, batch->cell.bytes, batch->cell.length) && files->column[i] < 0)
				files->column[i] = column;
			else if (is_name_of(i, batch->cell.bytes, batch->cell.length))
				fail(EXIT_INPUT, "\"%s\" has two columns \"%s\"", batch->file, options.field[i]);
	}
	for (int i = 0; i < FIELDS; i++)
		if (options.field[i] != NULL && files->column[i] < 0)
			fail(EXIT_INPUT, "\"%s\" has no column \"%s\"", batch->file, options.field[i]);
	if (files->columns.length == 0)
	{
		batch->head = (Record){start, end - start};
		put(&files->columns, columns.bytes, columns.length);
	}
	else if (files->whole &&
			 (columns.length != files->columns.length ||
			  memcmp(columns.bytes, files->columns.bytes, columns.length) != 0))
		fail(EXIT_INPUT, "\"%s\" has other columns than the files before it", batch->file);
	resize(NULL, columns.bytes, 0);
}

/* Adds a record to a batch, unless it is blank, or the names of columns. */
static void
add_record(Files *files, Batch *batch, size_t start, size_t end)
{
	Record record = {start, end - start};
	const char *at = batch->data.bytes + start;
	size_t length = without_line_end(at, end - start);

	while (files->format == FORMAT_JSONL && length > 0 &&
		   (at[length - 1] == ' ' || at[length - 1] == '\t'))
		length--;
	if (files->head)
		read_head(files, batch, start, end);
	else if (length > 0 || files->format == FORMAT_FILES)
		put(&batch->record, &record, sizeof(record));
}

/* Prepares a batch for records of the files. */
void
files_begin_batch(const Files *files, Batch *batch)
{
	batch->format = files->format;
	memcpy(batch->column, files->column, sizeof(files->column));
	batch->columns = files->count;
}

/* Notes where the data of a batch lie; copies them if they are packed, and will be read again. */
static void
place_batch(Files *files, Batch *batch)
{
	batch->source = files->plain ? files->next - 1 : PACKED_FILES;
	batch->place = files->plain ? files->place : files->packed_end;
	files->place += batch->data.length;
	if (files->plain || files->again || !texts_decide())
		return;
	if (files->packed < 0)
		files->packed = temporary_file();
	write_at(files->packed, batch->data.bytes, batch->data.length, batch->place);
	files->packed_end += batch->data.length;
}

/* Fills a batch with the next records of a file; returns false after the last file. */
bool
files_next(Files *files, Batch *batch)
{
	Buffer *data = &batch->data;
	bool opened = files->input == NULL;
	Search search = {0};
	size_t at = 0;
	size_t mark = 0; /* length of the byte order mark */
	size_t end;
	bool more;

	if (opened && !open_next(files))
		return false;
	batch->file = files->names[files->next - 1];
	batch->format = files->format;
	batch->head.length = data->length = batch->record.length = batch->next = 0;
	put(data, files->rest.bytes, files->rest.length);
	do
	{
		more = input_read(files->input, data);
		if (opened && at == 0 && data->length >= 3 && memcmp(data->bytes, "\xef\xbb\xbf", 3) == 0)
			at = mark = search.at = 3;
		for (; (end = end_of_record(files->format, data, &search)) > 0; at = end)
		{
			add_record(files, batch, at, end);
			search = (Search){end};
		}
	} while (more && at == mark);
	if (!more && (at < data->length || files->format == FORMAT_FILES))
		add_record(files, batch, at, data->length);
	if (!more)
	{
		at = data->length;
		files->input = NULL;
	}
	files->rest.length = 0;
	put(&files->rest, data->bytes + at, data->length - at);
	memset(extend(data, JSON_PADDING), 0, JSON_PADDING);
	data->length = at;
	place_batch(files, batch);
	files_begin_batch(files, batch);
	batch->first = files->records;
	files->records += records_of(batch);
	return true;
}

/* Tells a person at a terminal how far the reading is, once a second. */
static void
report_progress(const Files *files, bool last)
{
	static time_t shown;
	time_t now = time(NULL);

	if (!isatty(STDERR_FILENO) || (now == shown && !last))
		return;
	shown = now;
	fprintf(stderr, "\r%llu records, %llu MB%s", (unsigned long long) files->done,
			(unsigned long long) files->bytes / 1000000, last ? "\n" : "");
}

/* Counts a batch, the next one in order, as done; fails if one of its records cannot be read. */
void
files_done(Files *files, const Batch *batch)
{
	if (batch->defect != NULL && batch->format == FORMAT_FILES)
		fail(EXIT_INPUT, "could not read \"%s\": %s", batch->file, batch->defect);
	if (batch->defect != NULL)
		fail(EXIT_INPUT, "record %llu of \"%s\" cannot be read: %s%s",
			 (unsigned long long) (batch->first + batch->next), batch->file, batch->defect,
			 options.format == FORMAT_AUTO && is_stream(batch->file) ?
				 "; if it is not JSONL, name its format with --input" :
				 "");
	files->done += records_of(batch);
	files->bytes += batch->data.length;
	files->seen |= batch->seen;
	report_progress(files, false);
}

/* Fails if none of the records that were parsed has a field that is wanted: its name is wrong. */
void
check_fields(const Files *files)
{
	report_progress(files, true);
	for (int i = 0; i < FIELDS && files->format != FORMAT_FILES && files->done > 0; i++)
		if (options.field[i] != NULL && (files->seen & 1u << i) == 0)
			fail(EXIT_INPUT, "no record of \"%s\"%s has %s field \"%s\"", *files->names,
				 files->names[1] != NULL ? " and the other files" : "",
				 i == TEXT ? "a text in the" : "the", options.field[i]);
}

/* Frees what a batch holds. */
void
batch_free(Batch *batch)
{
	Buffer *buffers[] = {&batch->data,     &batch->record,   &batch->out,  &batch->size,
						 &batch->id,       &batch->best,     &batch->cell, &batch->field[0],
						 &batch->field[1], &batch->field[2], &batch->digest};

	for (int i = 0; i < 11; i++)
		resize(NULL, buffers[i]->bytes, 0);
	json_free(batch->json);
}

/* Returns what a file holds. */
Buffer
read_whole(const char *name)
{
	char *names[] = {(char *) name, NULL};
	Batch batch = {0};

	files_next(files_open(names, FORMAT_FILES, false), &batch);
	return batch.data;
}

/* ---- Fields ------------------------------------------------------------- */

/* Sets a field of the last record. */
static void
set_field(Batch *batch, int i, const char *bytes, size_t length)
{
	put(&batch->field[i], bytes, length);
	end_field(&batch->field[i]);
	batch->seen |= 1u << i;
}

/* Reads a field of a CSV or TSV record; returns where the next one begins, or NULL after the last. */
static const char *
read_field(Batch *batch, const char *at, const char *end, Buffer *field)
{
	bool copied = batch->format == FORMAT_TSV; /* as COPY writes its text format */
	bool quoted = !copied && at < end && *at == '"';
	char separator = copied ? '\t' : ',';

	field->length = 0;
	if (copied && end - at >= 2 && memcmp(at, "\\N", 2) == 0 && (end - at == 2 || at[2] == '\t'))
		at += 2;
	for (at += quoted; at < end && (quoted || *at != separator); at++)
	{
		char c = *at;

		if (quoted && c == '"' && !(at + 1 < end && at[1] == '"'))
		{
			quoted = false;
			continue;
		}
		if (quoted && c == '"')
			at++;
		else if (copied && c == '\\' && at + 1 < end)
		{
			static const char letters[] = "bfnrtv";
			const char *found = strchr(letters, *++at);

			c = found != NULL ? "\b\f\n\r\t\v"[found - letters] : *at;
		}
		*extend(field, 1) = c;
	}
	end_field(field);
	if (quoted)
		batch->defect = "a quote is not closed";
	return at < end ? at + 1 : NULL;
}

/* Reads the fields of a CSV or TSV record. */
static void
parse_columns(Batch *batch, const char *at, size_t length)
{
	const char *end = at + length;
	int column;

	for (column = 0; at != NULL; column++)
	{
		at = read_field(batch, at, end, &batch->cell);
		for (int i = 0; i < FIELDS; i++)
			if (batch->column[i] == column)
				set_field(batch, i, batch->cell.bytes, batch->cell.length);
	}
	if (options.output == OUTPUT_RECORDS && column != batch->columns)
		batch->defect = "it has more or fewer fields than there are names of columns";
}

/* A JsonMember: sets the fields of this name; the text must be a string. */
static void
take_member(void *state, const char *name, size_t name_length, char first, const char *value,
			size_t length)
{
	static const char *const twice[] = {"it has the field of the text twice",
										"it has the field of the id twice",
										"it has the field of --best twice"};
	Batch *batch = state;

	if (is_signature(name, name_length))
		batch->defect = "it has a field \"signature\" already";
	for (int i = 0; i < FIELDS; i++)
	{
		if (!is_name_of(i, name, name_length))
			continue;
		if ((batch->has & 1u << i) != 0)
			batch->defect = twice[i];
		batch->has |= 1u << i;
		if (i == BEST && (first == '{' || first == '['))
			batch->defect = "its field of --best is an object or array, which has no order";
		if (i == BEST && (first == 't' || first == 'f'))
			set_field(batch, i, first == 't' ? "1" : "0", 1);
		else if (i != TEXT || first == '"')
			set_field(batch, i, value, first == 'n' ? 0 : length);
	}
}

/* Reads the fields of a JSON record. */
static void
parse_json(Batch *batch, const char *at, size_t length)
{
	const char *defect;

	batch->has = 0;
	defect = json_read(&batch->json, at, length, take_member, batch);
	if (defect != NULL)
		batch->defect = defect;
}

/* Notes if a field, or a file, is not UTF-8, or has a zero where none may be. */
static void
check_field(Batch *batch, int i, const char *bytes, size_t length)
{
	if (!is_utf8(bytes, length))
		batch->defect = "it is not UTF-8: iconv converts it";
	else if (i != TEXT && strlen(bytes) < length)
		batch->defect = "its id, or field of --best, has a character U+0000";
}

/* Parses the next record of a batch.  Returns false if there is none, or if it cannot be read. */
bool
next_document(Batch *batch, Document *document)
{
	Buffer *field = batch->field;
	const char *at;
	size_t length;

	if (batch->next == records_of(batch))
		return false;
	at = record_at(batch, batch->next++, &length);
	for (int i = 0; i < FIELDS; i++)
	{
		field[i].length = 0;
		end_field(&field[i]);
	}
	if (batch->format == FORMAT_FILES)
	{
		*document = (Document){at, length, batch->file, field[BEST].bytes};
		check_field(batch, TEXT, at, length);
		return batch->defect == NULL;
	}
	if (batch->format == FORMAT_JSONL)
		parse_json(batch, at, length);
	else
		parse_columns(batch, at, length);
	if (is_numbered(batch))
		put_text(&field[ID], "%llu", (unsigned long long) (batch->first + batch->next));
	*document =
		(Document){field[TEXT].bytes, field[TEXT].length, field[ID].bytes, field[BEST].bytes};
	for (int i = 0; i < FIELDS && batch->defect == NULL; i++)
		check_field(batch, i, field[i].bytes, field[i].length);
	return batch->defect == NULL;
}
