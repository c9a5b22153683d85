/*
 * file_records.c: the records of files, and their fields.
 */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The records that cannot be read of which --skip-errors tells the place. */
#define PLACES 3

/* ---- Files -------------------------------------------------------------- */

struct Files
{
	char **names;
	int *copy; /* a temporary copy of each file that cannot be read twice; or -1 */
	int next;
	int format;
	struct stat *status; /* the status of each file when it was opened first */
	bool again;          /* the files are read for the second time */
	bool plain;          /* the open file is not packed */
	uint64_t place;      /* the place of the next batch in the file */
	int packed;          /* a temporary file with what packed files hold, or -1 */
	uint64_t packed_end;
	Input *input; /* the open file, or NULL */
	bool whole;   /* records are written as they are read, so their columns must be the same */
	bool head;    /* the names of columns come next */
	int column[FIELDS];
	int count;        /* columns */
	Buffer columns;   /* names of columns of the first file, with a zero behind each */
	Buffer rest;      /* the beginning of the next batch */
	uint64_t records; /* records that were read */
	uint64_t done;
	uint64_t bytes;
	uint64_t total;  /* bytes of all files that are known */
	uint64_t before; /* bytes of the files before the open one */
	uint64_t read;   /* bytes that were read of the files that are done, as in RecordBatch */
	time_t begun;
	unsigned seen;   /* what was seen in the files that are done, as in RecordBatch */
	Buffer left_out; /* uint64_t: numbers of records, from 0, that --skip-errors leaves out */
	Buffer places;   /* the places of the first such records, and what is wrong there */
};

/* Returns the format that a file's name tells, .gz or .zst left aside, or FORMAT_AUTO. */
int
format_by_name(const char *name)
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
	return FORMAT_AUTO;
}

/* Returns the format of a file by its name; fails if that tells none. */
int
format_of(const char *name)
{
	int format = format_by_name(name);

	if (format != FORMAT_AUTO)
		return format;
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
	files->whole = twice || options.output == OUTPUT_RECORDS || options.unit == UNIT_LINE;
	files->format = format != FORMAT_AUTO ? format : format_of(*files->names);
	for (char **name = files->names; *name != NULL; name++)
	{
		if (format == FORMAT_AUTO && format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		files->copy = resize(NULL, files->copy, ++count * sizeof(int));
		files->copy[count - 1] = twice ? copy_input(*name) : -1;
	}
	files->status = resize(NULL, NULL, count * sizeof(struct stat));
	files_rewind(files);
	return files;
}

/* Returns how many bytes the files have, those aside that can be read only once. */
uint64_t
files_bytes(const Files *files)
{
	uint64_t bytes = 0;
	struct stat status;

	for (int i = 0; files->names[i] != NULL; i++)
		if (files->copy[i] >= 0 ? fstat(files->copy[i], &status) == 0 :
								  stat(files->names[i], &status) == 0 && S_ISREG(status.st_mode))
			bytes += status.st_size;
	return bytes;
}

/* Starts with the first file, maybe again. */
void
files_rewind(Files *files)
{
	files->total = files_bytes(files);
	files->begun = time(NULL);
	files->again = files->next > 0;
	files->next = 0;
	files->before = files->read = 0;
	files->columns.length = 0;
	files->records = files->done = files->bytes = 0;
}

/* Fails if a file's status is not what it was first. */
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
	files->plain = input_packing(files->input) == PLAIN;
	files->place = 0;
	if (files->again)
		check_unchanged(name, &status, first);
	*first = status;
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
	return true;
}

/* ---- Records ------------------------------------------------------------ */

/* Returns the character between the columns of CSV or TSV. */
char
separator_of(int format)
{
	return options.separator != NULL ? *options.separator : format == FORMAT_TSV ? '\t' : ',';
}

/* A search for the end of a record, which goes on when more has been read. */
typedef struct RecordEnd
{
	size_t at;
	bool quoted;
	bool inside; /* whether a quote opens no field here */
} RecordEnd;

/* Returns where a record ends, its line end included; 0 if its end is not there. */
static size_t
end_of_record(int format, const Buffer *data, RecordEnd *search)
{
	char separator = separator_of(format);
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
		search->inside = c != separator;
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

/* Returns whether the ids of a batch are the numbers of its records. */
bool
is_numbered(const RecordBatch *batch)
{
	return options.field[ID] == NULL && batch->format != FORMAT_FILES;
}

/* Returns how many records a batch has. */
size_t
records_of(const RecordBatch *batch)
{
	return batch->record.length / sizeof(Record);
}

/* Returns a record, without its line end. */
const char *
record_at(const RecordBatch *batch, size_t number, size_t *length)
{
	Record record = ((const Record *) batch->record.bytes)[number];
	const char *at = batch->data.bytes + record.start;

	*length = batch->format == FORMAT_FILES ? record.length : without_line_end(at, record.length);
	return at;
}

/* Finds the columns of the fields that are wanted by their names, in the first record. */
static void
record_read_head(Files *files, RecordBatch *batch, size_t start, size_t end)
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
	if (files->columns.length == 0 || options.folder != NULL)
		batch->head = (Record){start, end - start};
	if (files->columns.length == 0)
		put(&files->columns, columns.bytes, columns.length);
	else if (files->whole &&
			 (columns.length != files->columns.length ||
			  memcmp(columns.bytes, files->columns.bytes, columns.length) != 0))
		fail(EXIT_INPUT, "\"%s\" has other columns than the files before it", batch->file);
	resize(NULL, columns.bytes, 0);
}

/* Returns whether a line has no more than the blanks of JSON. */
static bool
is_blank(const char *at, size_t length)
{
	while (length > 0 && strchr(" \t\r\n", at[length - 1]) != NULL && at[length - 1] != '\0')
		length--;
	return length == 0;
}

/* Adds a record to a batch, unless it is a blank line of JSONL, or the names of columns. */
static void
add_record(Files *files, RecordBatch *batch, size_t start, size_t end)
{
	Record record = {start, end - start};

	if (files->head)
		record_read_head(files, batch, start, end);
	else if (files->format != FORMAT_JSONL || !is_blank(batch->data.bytes + start, end - start))
		put(&batch->record, &record, sizeof(record));
}

/* Prepares a batch for records of the files. */
void
files_begin_batch(const Files *files, RecordBatch *batch)
{
	batch->format = files->format;
	memcpy(batch->column, files->column, sizeof(files->column));
	batch->columns = files->count;
}

/* Notes where the data of a batch lie; copies them if they are packed, and will be read again. */
static void
place_batch(Files *files, RecordBatch *batch)
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
files_next(Files *files, RecordBatch *batch)
{
	Buffer *data = &batch->data;
	bool opened = files->input == NULL;
	RecordEnd search = {0};
	size_t at = 0;
	size_t mark = 0; /* length of the byte order mark */
	size_t end;
	bool more;

	if (opened && !open_next(files))
		return false;
	batch->file = files->names[files->next - 1];
	batch->format = files->format; /* the names of columns are read by it */
	batch->packing = input_packing(files->input);
	batch->head.length = data->length = batch->record.length = batch->next = 0;
	batch->marked = false;
	batch->skipped.length = 0;
	put(data, files->rest.bytes, files->rest.length);
	do
	{
		more = input_read(files->input, data);
		if (opened && at == 0 && data->length >= 3 && memcmp(data->bytes, "\xef\xbb\xbf", 3) == 0)
		{
			at = mark = search.at = 3;
			batch->marked =
				options.folder != NULL || (files->records == 0 && files->columns.length == 0);
		}
		for (; (end = end_of_record(files->format, data, &search)) > 0; at = end)
		{
			add_record(files, batch, at, end);
			search = (RecordEnd){end};
		}
	} while (more && at == mark);
	if (!more && (at < data->length || files->format == FORMAT_FILES))
		add_record(files, batch, at, data->length);
	batch->read =
		files->before + (more ? input_place(files->input) : files->status[files->next - 1].st_size);
	if (!more)
	{
		at = data->length;
		files->input = NULL;
		files->before = batch->read;
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

/* Tells a person at a terminal how far the reading is and how long it goes on, once a second. */
static void
record_report_progress(const Files *files, bool last)
{
	static time_t shown;
	time_t now = time(NULL);
	double share = files->total > 0 ? (double) files->read / files->total : 0;
	long left = share > 0 ? (now - files->begun) * (1 - share) / share + 0.5 : 0;

	if (!isatty(STDERR_FILENO) || (now == shown && !last))
		return;
	shown = now;
	fprintf(stderr, "\r%llu records, %llu MB", (unsigned long long) files->done,
			(unsigned long long) files->bytes / 1000000);
	if (share > 0 && share <= 1 && !last)
		fprintf(stderr, ", %.0f %%, %ld:%02ld left", share * 100, left / 60, left % 60);
	fprintf(stderr, "\033[K%s", last ? "\n" : "");
}

/* Writes why a record of a batch, the number of which counts from 0, cannot be read. */
static void
put_place(Buffer *buffer, const RecordBatch *batch, uint64_t number, const char *defect)
{
	if (batch->format == FORMAT_FILES)
		put_text(buffer, "could not read \"%s\": %s", batch->file, defect);
	else
		put_text(buffer, "record %llu of \"%s\" cannot be read: %s%s",
				 (unsigned long long) number + 1, batch->file, defect,
				 options.format == FORMAT_AUTO && is_stream(batch->file) ?
					 "; if it is not JSONL, name its format with --input" :
					 "");
}

/* Notes the records of a batch, the next one in order, that --skip-errors leaves out. */
static void
leave_out(Files *files, const RecordBatch *batch)
{
	const Skipped *end = (const Skipped *) (batch->skipped.bytes + batch->skipped.length);

	for (const Skipped *skipped = (const Skipped *) batch->skipped.bytes; skipped < end; skipped++)
	{
		if (files->left_out.length < PLACES * sizeof(uint64_t))
		{
			put(&files->places, "\n  ", 3);
			put_place(&files->places, batch, skipped->number, skipped->defect);
		}
		put(&files->left_out, &skipped->number, sizeof(uint64_t));
	}
}

/* Marks the records that --skip-errors leaves out. */
void
files_mark(const Files *files, bool *mark)
{
	const uint64_t *number = (const uint64_t *) files->left_out.bytes;

	for (size_t i = 0; i < files->left_out.length / sizeof(uint64_t); i++)
		mark[number[i]] = true;
}

/* Counts a batch, the next one in order, as done; fails if one of its records cannot be read. */
void
files_done(Files *files, const RecordBatch *batch)
{
	Buffer place = {0};

	if (batch->defect != NULL)
	{
		put_place(&place, batch, batch->first + batch->next - 1, batch->defect);
		fail(EXIT_INPUT, "%s", place.bytes);
	}
	leave_out(files, batch);
	files->done += records_of(batch);
	files->bytes += batch->data.length;
	files->read = batch->read;
	files->seen |= batch->seen;
	record_report_progress(files, false);
}

/* Fails if none of the records that were parsed has a field that is wanted: its name is wrong. */
void
check_fields(const Files *files)
{
	record_report_progress(files, true);
	if (files->left_out.length > 0 && !files->again)
		fprintf(stderr, "neardup: records that are left out, since they cannot be read: %zu%s%s\n",
				files->left_out.length / sizeof(uint64_t), files->places.bytes,
				files->left_out.length > PLACES * sizeof(uint64_t) ? "\n  …" : "");
	for (int i = 0; i < FIELDS && files->format != FORMAT_FILES && files->done > 0; i++)
		if (options.field[i] != NULL && (files->seen & 1u << i) == 0)
			fail(EXIT_INPUT, "no record of \"%s\"%s has %s field \"%s\"", *files->names,
				 files->names[1] != NULL ? " and the other files" : "",
				 i == TEXT ? "a text in the" : "the", options.field[i]);
}

/* Frees what a batch holds. */
void
batch_free(RecordBatch *batch)
{
	Buffer *buffers[] = {&batch->data,     &batch->record,   &batch->out,  &batch->size,
						 &batch->id,       &batch->best,     &batch->cell, &batch->field[0],
						 &batch->field[1], &batch->field[2], &batch->span, &batch->skipped,
						 &batch->line,     &batch->digest};

	for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		resize(NULL, buffers[i]->bytes, 0);
	neardup_free(batch->session, batch->masked.bytes);
	json_free(batch->json);
}

/* Returns what a file holds. */
Buffer
read_whole(const char *name)
{
	char *names[] = {(char *) name, NULL};
	RecordBatch batch = {0};

	files_next(files_open(names, FORMAT_FILES, false), &batch);
	return batch.data;
}
