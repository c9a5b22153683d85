/*
 * file_records.c: the records of files, and their fields.
 */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The records, and the files, that cannot be read of which --skip-errors tells the position. */
#define POSITIONS 3

/* ---- Files -------------------------------------------------------------- */

struct Files
{
	char **names;
	int *copy; /* a temporary copy of each file that cannot be read twice; or -1 */
	int next;
	int format;
	struct stat *status; /* the status of each file when it was opened first, or zeros */
	bool texts;          /* they hold texts, so --skip-errors applies */
	Buffer defect;       /* why the rest of the open file cannot be read, or nothing */
	bool again;          /* the files have been read before */
	bool keeps;          /* what packed files hold is copied in this reading, to be read again */
	bool plain;          /* the open file is not packed */
	uint64_t position;   /* the position of the next batch in the file */
	int packed;          /* a temporary file with what packed files hold, or -1 */
	uint64_t packed_end;
	Input *input; /* the open file, or NULL */
	bool whole;   /* records are written as they are read, so their columns must be the same */
	bool head;    /* the names of columns come next */
	bool marked;  /* a byte order mark was read */
	int column[FIELDS];
	int count;               /* columns */
	Buffer columns;          /* names of columns of the first file, with a zero behind each */
	Buffer rest;             /* the beginning of the next batch */
	uint64_t records;        /* records that were read */
	uint64_t records_first;  /* records of the first reading, if this is another one */
	uint64_t before_records; /* records of the files before the open one */
	uint64_t done;
	uint64_t bytes;
	uint64_t total;  /* bytes of all files that are known */
	uint64_t before; /* bytes of the files before the open one */
	uint64_t read;   /* bytes that were read of the files that are done, as in RecordBatch */
	time_t begun;
	unsigned seen;        /* what was seen in the files that are done, as in RecordBatch */
	Buffer left_out;      /* uint64_t: numbers of records, from 0, that --skip-errors leaves out */
	Buffer positions;     /* the positions of the first such records, and what is wrong there */
	size_t ends;          /* files of which the end, or all, is left out */
	Buffer end_positions; /* the positions where the first of these begin */
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

/* Returns where to write why a file cannot be read, or NULL if that ends the program. */
static Buffer *
position_of_defect(Files *files)
{
	return files->texts && options.skip_errors ? &files->defect : NULL;
}

/* Sets the format of files by their names; folders, which cannot be read, say none. */
static void
find_format(Files *files)
{
	struct stat status;

	for (char **name = files->names; *name != NULL; name++)
	{
		if (options.skip_errors && stat(*name, &status) == 0 && S_ISDIR(status.st_mode))
			continue;
		if (files->format != FORMAT_AUTO && format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		files->format = format_of(*name);
	}
	if (files->format == FORMAT_AUTO)
		files->format = FORMAT_JSONL;
}

/* Prepares to read files of texts, once or twice, of a format or of what their names say. */
Files *
files_open(char **names, int format, bool twice)
{
	Files *files = resize(NULL, NULL, sizeof(Files));
	int count = 0;

	memset(files, 0, sizeof(Files));
	files->packed = -1;
	files->names = names;
	files->texts = true;
	files->whole = twice || options.output == OUTPUT_RECORDS || options.unit == UNIT_LINE;
	files->format = format;
	if (format == FORMAT_AUTO)
		find_format(files);
	for (char **name = files->names; *name != NULL; name++)
	{
		files->copy = resize(NULL, files->copy, ++count * sizeof(int));
		files->copy[count - 1] = twice ? copy_input(*name, position_of_defect(files)) : -1;
	}
	files->status = resize(NULL, NULL, count * sizeof(struct stat));
	files_rewind(files);
	return files;
}

/* Packed files of texts hold about this many times their bytes. */
#define UNPACKED 3

/* Returns whether a name says that a file is packed. */
static bool
name_is_packed(const char *name)
{
	size_t length = strlen(name);

	return without_ending(name, length, ".gz") < length ||
		without_ending(name, length, ".zst") < length;
}

/*
 * Returns how many bytes files have, or about how many packed ones hold; those aside that can be read only
 * once and have no copy.
 */
uint64_t
names_bytes(char **names, const int *copy, bool unpacked)
{
	uint64_t bytes = 0;
	struct stat status;

	for (int i = 0; names[i] != NULL; i++)
		if (copy != NULL && copy[i] >= 0 ? fstat(copy[i], &status) == 0 :
										   stat(names[i], &status) == 0 && S_ISREG(status.st_mode))
			bytes += status.st_size * (unpacked && name_is_packed(names[i]) ? UNPACKED : 1);
	return bytes;
}

/* Returns about how many bytes of texts the files have. */
uint64_t
files_bytes(const Files *files)
{
	return names_bytes(files->names, files->copy, true);
}

/* Starts with the first file, maybe again. */
void
files_rewind(Files *files)
{
	files->total = names_bytes(files->names, files->copy, false);
	files->begun = time(NULL);
	files->again = files->next > 0;
	files->records_first = files->records;
	files->keeps = files->marked = false;
	files->left_out.length = files->ends = 0;
	files->next = 0;
	files->before = files->read = 0;
	files->columns.length = 0;
	files->records = files->before_records = files->done = files->bytes = 0;
}

/* Lets the next reading keep what texts_decide() reads again: what packed files hold. */
void
files_keep(Files *files)
{
	files->keeps = texts_decide();
}

/* Fails if files that are read again have more records than before, or fewer. */
static void
check_records(const Files *files, bool more)
{
	if (files->again &&
		(more ? files->records > files->records_first : files->records < files->records_first))
		fail(EXIT_INPUT, "the files have changed since they were read first");
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
	struct stat status = {0};
	Buffer defect = {0};
	int file;

	if (source == PACKED_FILES)
		return dup(files->packed);
	file = open_input(files->names[source], files->copy[source], &defect);
	if (file >= 0)
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
	files->defect.length = 0;
	files->input = input_open(name, files->copy[files->next++], &status, position_of_defect(files));
	files->plain = files->input == NULL || input_packing(files->input) == PLAIN;
	files->position = 0;
	files->before_records = files->records;
	if (files->again)
		check_unchanged(name, &status, first);
	*first = status;
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
	return true;
}

/* ---- Records ------------------------------------------------------------ */

/* Returns the length of the longest record; 0 if a file cannot be read again. */
size_t
files_longest(const Files *files)
{
	size_t longest = 0;

	for (int i = 0; files != NULL && files->names[i] != NULL; i++)
	{
		bool again = files->copy[i] >= 0 || !is_stream(files->names[i]);
		struct stat status;
		Buffer defect = {0};
		Input *input = again ? input_open(files->names[i], files->copy[i], &status, &defect) : NULL;
		size_t length = input != NULL ? longest_of_file(files->format, input) : 0;

		if (!again)
			return 0;
		longest = longest > length ? longest : length;
	}
	return longest;
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

/* Finds a column of a field that is wanted; writes why the file cannot be read, if it has two. */
static void
find_column(Files *files, int column, const Buffer *name, Buffer *why)
{
	if (is_signature(name->bytes, name->length))
		put_text(why, "it has a column \"signature\" already");
	for (int i = 0; i < FIELDS; i++)
	{
		if (!is_name_of(i, name->bytes, name->length))
			continue;
		if (files->column[i] >= 0)
			put_text(why, "it has two columns \"%s\"", options.field[i]);
		files->column[i] = column;
	}
}

/* Finds the columns of the fields that are wanted by their names; returns false if they are refused. */
static bool
find_columns(Files *files, RecordBatch *batch, size_t start, size_t end)
{
	const char *at = batch->data.bytes + start;
	const char *last = at + without_line_end(at, end - start);
	bool first = files->columns.length == 0;
	bool refused;
	Buffer columns = {0};
	Buffer why = {0};

	files->head = false;
	memset(files->column, -1, sizeof(files->column));
	for (int column = 0; at != NULL; column++)
	{
		files->count = column + 1;
		at = read_field(batch, at, last, &batch->cell);
		put(&columns, batch->cell.bytes, batch->cell.length + 1);
		find_column(files, column, &batch->cell, &why);
	}
	for (int i = 0; i < FIELDS; i++)
		if (options.field[i] != NULL && files->column[i] < 0 && why.length == 0)
			put_text(&why, "it has no column \"%s\"", options.field[i]);
	if (why.length == 0 && !first && files->whole &&
		(columns.length != files->columns.length ||
		 memcmp(columns.bytes, files->columns.bytes, columns.length) != 0))
		put_text(&why, "it has other columns than the files before it");
	if (why.length > 0)
		refuse_file(batch->file, position_of_defect(files), why.bytes);
	else if (first || options.folder != NULL)
		batch->head = (Record){start, end - start};
	if (why.length == 0 && first)
		put(&files->columns, columns.bytes, columns.length);
	refused = why.length > 0;
	resize(NULL, columns.bytes, 0);
	resize(NULL, why.bytes, 0);
	return !refused;
}

/* Returns whether a line has no more than the blanks of JSON. */
static bool
is_blank(const char *at, size_t length)
{
	while (length > 0 && strchr(" \t\r\n", at[length - 1]) != NULL && at[length - 1] != '\0')
		length--;
	return length == 0;
}

/*
 * Adds a record to a batch, unless it is a blank line of JSONL, or the names of columns; returns false if
 * these are refused.
 */
static bool
add_record(Files *files, RecordBatch *batch, size_t start, size_t end)
{
	Record record = {start, end - start};

	if (files->head)
		return find_columns(files, batch, start, end);
	if (files->format != FORMAT_JSONL || !is_blank(batch->data.bytes + start, end - start))
		put(&batch->record, &record, sizeof(record));
	return true;
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
position_batch(Files *files, RecordBatch *batch)
{
	batch->source = files->plain ? files->next - 1 : PACKED_FILES;
	batch->position = files->plain ? files->position : files->packed_end;
	files->position += batch->data.length;
	if (files->plain || !files->keeps)
		return;
	if (files->packed < 0)
		files->packed = temporary_file();
	write_at(files->packed, batch->data.bytes, batch->data.length, batch->position);
	files->packed_end += batch->data.length;
}

/* Returns the length of the byte order mark before a text; sets *refused if it is in another encoding. */
static size_t
begin_text(Files *files, RecordBatch *batch, bool *refused)
{
	const Buffer *data = &batch->data;

	*refused = files->texts &&
		refuse_encoding(batch->file, batch->packing, data, position_of_defect(files));
	if (*refused || data->length < 3 || memcmp(data->bytes, "\xef\xbb\xbf", 3) != 0)
		return 0;
	batch->marked = options.folder != NULL ||
		(!files->marked && files->records == 0 && files->columns.length == 0);
	files->marked = true;
	return 3;
}

/*
 * Ends a file behind its last line end, which is at `at`: what follows is its last record, unless the file
 * cannot be read to its end, or is refused.  Then the batch says why, and where.
 */
static void
end_file(Files *files, RecordBatch *batch, size_t at, bool quoted, bool refused)
{
	Buffer *data = &batch->data;
	Buffer *defect = &files->defect;
	uint64_t records;

	if (quoted && at < data->length && position_of_defect(files) != NULL)
		refuse_file(batch->file, defect, open_quote);
	if (defect->length == 0 && (at < data->length || files->format == FORMAT_FILES))
		refused = !add_record(files, batch, at, data->length);
	if (defect->length == 0)
		return;
	data->length = at = refused ? 0 : at;
	records = files->records + records_of(batch) - files->before_records;
	if (files->format == FORMAT_FILES)
	{
		put_text(&batch->broken, "%s", defect->bytes);
		data->length = 0;
		(void) add_record(files, batch, 0, 0);
	}
	else if (files->position + at == 0)
		put_text(&batch->broken, "could not read \"%s\": %s", batch->file, defect->bytes);
	else
		put_text(&batch->broken,
				 "could not read \"%s\" from byte %llu on, behind its record %llu: %s", batch->file,
				 (unsigned long long) (files->position + at), (unsigned long long) records,
				 defect->bytes);
}

/* Reads whole records, or to the end of a file; returns where the next record begins. */
static size_t
read_records(Files *files, RecordBatch *batch, bool opened, bool *more)
{
	Buffer *data = &batch->data;
	RecordEnd search = {0};
	bool refused = false;
	size_t at = 0;
	size_t mark = 0; /* length of the byte order mark */
	size_t end;

	do
	{
		*more = files->input != NULL && input_read(files->input, data);
		if (opened && data->length > 0)
			at = mark = search.at = begin_text(files, batch, &refused);
		opened = false;
		while (!refused && search.at < data->length &&
			   (end = end_of_record(files->format, data, &search)) > 0)
		{
			refused = !add_record(files, batch, at, end);
			search = (RecordEnd){at = end};
		}
	} while (*more && at == mark && !refused);
	if (*more && !refused)
		return at;
	if (*more)
		input_close(files->input);
	*more = false;
	end_file(files, batch, at, search.quoted, refused);
	return data->length;
}

/* Fills a batch with the next records of a file; returns false after the last file. */
bool
files_next(Files *files, RecordBatch *batch)
{
	Buffer *data = &batch->data;
	bool opened = files->input == NULL;
	size_t at;
	bool more;

	if (opened && !open_next(files))
		return false;
	batch->file = files->names[files->next - 1];
	batch->format = files->format; /* the names of columns are read by it */
	batch->packing = files->input != NULL ? input_packing(files->input) : PLAIN;
	batch->head.length = data->length = batch->record.length = batch->next = 0;
	batch->marked = false;
	batch->skipped.length = batch->broken.length = 0;
	put(data, files->rest.bytes, files->rest.length);
	at = read_records(files, batch, opened, &more);
	batch->read = files->before +
		(more ? input_position(files->input) : files->status[files->next - 1].st_size);
	if (!more)
	{
		files->input = NULL;
		files->before = batch->read;
	}
	files->rest.length = 0;
	put(&files->rest, data->bytes + at, data->length - at);
	memset(extend(data, JSON_PADDING), 0, JSON_PADDING);
	data->length = at;
	position_batch(files, batch);
	files_begin_batch(files, batch);
	batch->first = files->records;
	files->records += records_of(batch);
	check_records(files, true);
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
put_position(Buffer *buffer, const RecordBatch *batch, uint64_t number, const char *defect)
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

/* Notes what --skip-errors leaves out of a batch, the next one in order. */
static void
leave_out(Files *files, const RecordBatch *batch)
{
	const Skipped *end = (const Skipped *) (batch->skipped.bytes + batch->skipped.length);

	for (const Skipped *skipped = (const Skipped *) batch->skipped.bytes; skipped < end; skipped++)
	{
		if (files->left_out.length < POSITIONS * sizeof(uint64_t))
		{
			put(&files->positions, "\n  ", 3);
			put_position(&files->positions, batch, skipped->number, skipped->defect);
		}
		put(&files->left_out, &skipped->number, sizeof(uint64_t));
	}
	if (batch->broken.length > 0 && batch->format != FORMAT_FILES && files->ends++ < POSITIONS)
		put_text(&files->end_positions, "\n  %s", batch->broken.bytes);
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
	Buffer position = {0};

	if (batch->defect != NULL)
	{
		put_position(&position, batch, batch->first + batch->next - 1, batch->defect);
		fail(EXIT_INPUT, "%s", position.bytes);
	}
	leave_out(files, batch);
	files->done += records_of(batch);
	files->bytes += batch->data.length;
	files->read = batch->read;
	files->seen |= batch->seen;
	record_report_progress(files, false);
}

/* Says how much is left out, and which comes first. */
static void
tell_left_out(const char *what, size_t count, const Buffer *positions)
{
	if (count > 0)
		fprintf(stderr, "neardup: %s they cannot be read: %zu%s%s\n", what, count, positions->bytes,
				count > POSITIONS ? "\n  …" : "");
}

/* Fails if nothing can be read, or no record that was parsed has a field that is wanted: its name is wrong. */
void
check_fields(const Files *files)
{
	size_t left_out = files->left_out.length / sizeof(uint64_t);

	record_report_progress(files, true);
	check_records(files, false);
	if (!files->again)
	{
		tell_left_out("records that are left out, since", left_out, &files->positions);
		tell_left_out("files that are left out from where", files->ends, &files->end_positions);
	}
	for (int i = 0; i < FIELDS && files->format != FORMAT_FILES && files->done > 0; i++)
		if (options.field[i] != NULL && (files->seen & 1u << i) == 0)
			fail(EXIT_INPUT, "no record of \"%s\"%s has %s field \"%s\"", *files->names,
				 files->names[1] != NULL ? " and the other files" : "",
				 i == TEXT ? "a text in the" : "the", options.field[i]);
	if (left_out + files->ends > 0 && left_out >= files->done)
		fail(EXIT_INPUT, "nothing can be read");
}

/* Frees what a batch holds. */
void
batch_free(RecordBatch *batch)
{
	Buffer *buffers[] = {&batch->data,     &batch->record,   &batch->out,      &batch->size,
						 &batch->id,       &batch->best,     &batch->cell,     &batch->field[0],
						 &batch->field[1], &batch->field[2], &batch->field[3], &batch->span,
						 &batch->skipped,  &batch->line,     &batch->digest,   &batch->broken,
						 &batch->border};

	for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
		resize(NULL, buffers[i]->bytes, 0);
	neardup_free(batch->session, batch->masked.bytes);
	json_free(batch->json);
}

/* Returns what a file holds, which may have to be a text. */
Buffer
read_whole(const char *name, bool text)
{
	char *names[] = {(char *) name, NULL};
	Files *files = files_open(names, FORMAT_FILES, false);
	RecordBatch batch = {0};

	files->texts = text;
	files_next(files, &batch);
	return batch.data;
}
