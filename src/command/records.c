/*
 * records.c: reading files, plain or compressed, and the fields of their records.
 */
#define _GNU_SOURCE
#include "command/command.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A batch has at least this many bytes, if the file has. */
#define BATCH_BYTES ((size_t) 1 << 20)

/* ---- Files -------------------------------------------------------------- */

struct Files
{
	char **names;
	int *copy; /* of each that cannot be read twice, though it will be: a temporary file; or -1 */
	int next;
	int format;
	struct archive *archive; /* the open file, decompressed; NULL: none is open */
	int fd;
	bool head; /* the names of columns come next */
	int column[FIELDS];
	Buffer rest;      /* the beginning of the next batch */
	uint64_t records; /* that were read */
	uint64_t done;
	uint64_t bytes;
	unsigned seen; /* as in Batch, of those that are done */
};

/* Returns the format of files with this name, .gz or .zst left aside. */
static int
format_of(const char *name)
{
	static const char *const endings[] = {".jsonl", ".json", ".ndjson", ".csv", ".tsv"};
	static const int formats[] = {FORMAT_JSONL, FORMAT_JSONL, FORMAT_JSONL, FORMAT_CSV, FORMAT_TSV};

	for (int i = 0; i < 5; i++)
	{
		const char *at = strcasestr(name, endings[i]);
		const char *behind = at != NULL ? at + strlen(endings[i]) : "?";

		if (*behind == '\0' || strcasecmp(behind, ".gz") == 0 || strcasecmp(behind, ".zst") == 0)
			return formats[i];
	}
	return strcmp(name, "-") == 0 ? FORMAT_JSONL : FORMAT_FILES;
}

/* Opens a file, or standard input. */
static int
open_file(const char *name)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, NULL, 0) < 0)
		fail(EXIT_INPUT, "could not read \"%s\": %s", name, strerror(errno));
	return fd;
}

/* Copies what can be read only once to a temporary file without a name, and returns it; or -1. */
static int
copy_file(const char *name)
{
	const char *folder = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
	int fd = open_file(name);
	struct stat status;
	char block[65536];
	Buffer path = {0};
	ssize_t count = 0;
	int copy = -1;

	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
	{
		put_text(&path, "%s/neardup.XXXXXX", folder);
		copy = mkstemp(path.bytes);
		if (copy < 0 || unlink(path.bytes) != 0)
			fail(EXIT_INPUT, "could not make a temporary file in \"%s\": %s", folder,
				 strerror(errno));
		while ((count = read(fd, block, sizeof(block))) > 0)
			if (write(copy, block, count) != count)
				fail(EXIT_INPUT, "could not write a temporary file in \"%s\": %s", folder,
					 strerror(errno));
		resize(NULL, path.bytes, 0);
	}
	if (count < 0)
		fail(EXIT_INPUT, "could not read \"%s\": %s", name, strerror(errno));
	close(fd);
	return copy;
}

/* Prepares to read files, once or twice, of a format or of what their names say. */
Files *
files_open(char **names, int format, bool twice)
{
	static char *standard[] = {"-", NULL};
	Files *files = resize(NULL, NULL, sizeof(Files));
	int count = 0;

	*files = (Files){.names = *names != NULL ? names : standard};
	files->format = format != FORMAT_AUTO ? format : format_of(*files->names);
	for (char **name = files->names; *name != NULL; name++)
	{
		if (format == FORMAT_AUTO && format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		files->copy = resize(NULL, files->copy, ++count * sizeof(int));
		files->copy[count - 1] = twice ? copy_file(*name) : -1;
	}
	return files;
}

/* Starts again with the first file. */
void
files_rewind(Files *files)
{
	files->next = 0;
	files->records = files->done = files->bytes = 0;
}

/* Fails with what is wrong with the open file. */
static void
fail_reading(const Files *files)
{
	fail(EXIT_INPUT, "could not read \"%s\": %s", files->names[files->next - 1],
		 archive_error_string(files->archive));
}

/* Opens the next file; returns false if there is none. */
static bool
open_next(Files *files)
{
	const char *name = files->names[files->next];
	struct archive_entry *entry;
	int copy;

	if (name == NULL)
		return false;
	copy = files->copy[files->next++];
	files->fd = copy >= 0 ? dup(copy) : open_file(name);
	if (copy >= 0)
		lseek(copy, 0, SEEK_SET);
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
	files->archive = archive_read_new();
	archive_read_support_filter_gzip(files->archive);
	archive_read_support_filter_zstd(files->archive);
	archive_read_support_format_raw(files->archive);
	archive_read_support_format_empty(files->archive);
	if (archive_read_open_fd(files->archive, files->fd, 1 << 17) != ARCHIVE_OK ||
		archive_read_next_header(files->archive, &entry) < ARCHIVE_WARN)
		fail_reading(files);
	return true;
}

/* Reads bytes of the open file, fewer than wanted only at its end. */
static bool
read_more(Files *files, Buffer *data, size_t wanted)
{
	char *to = extend(data, wanted);
	la_ssize_t count =
		archive_file_count(files->archive) == 0 ? 0 : archive_read_data(files->archive, to, wanted);

	if (count < 0)
		fail_reading(files);
	data->length -= wanted - count;
	if (count == wanted)
		return true;
	archive_read_free(files->archive);
	close(files->fd);
	files->archive = NULL;
	return false;
}

/* ---- Records ------------------------------------------------------------ */

/* Returns where the record at a place ends, its line end included; 0 if its end is not there. */
static size_t
end_of_record(int format, const Buffer *data, size_t at)
{
	bool quoted = false;
	const char *end = NULL;

	if (format == FORMAT_JSONL || format == FORMAT_TSV)
		end = memchr(data->bytes + at, '\n', data->length - at);
	for (; format == FORMAT_CSV && end == NULL && at < data->length; at++)
	{
		quoted ^= data->bytes[at] == '"';
		if (data->bytes[at] == '\n' && !quoted)
			end = data->bytes + at;
	}
	return end != NULL ? end + 1 - data->bytes : 0;
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

	while (batch->format != FORMAT_FILES && record.length > 0 &&
		   strchr("\r\n", at[record.length - 1]) != NULL)
		record.length--;
	*length = record.length;
	return at;
}

/* Puts a zero behind a field, which does not count. */
static void
end_field(Buffer *field)
{
	*extend(field, 1) = '\0';
	field->length--;
}

static const char *read_field(int format, const char *at, const char *end, Buffer *field);

/* Finds the columns of the fields that are wanted by their names, in the first record. */
static void
read_head(Files *files, Batch *batch, size_t start, size_t end)
{
	const char *at = batch->data.bytes + start;
	Buffer name = {0};

	files->head = false;
	batch->head = files->next == 1 ? end : 0;
	while (end > start && strchr("\r\n", batch->data.bytes[end - 1]) != NULL)
		end--;
	memset(files->column, -1, sizeof(files->column));
	for (int column = 0; at != NULL; column++)
	{
		at = read_field(files->format, at, batch->data.bytes + end, &name);
		for (int i = 0; i < FIELDS; i++)
			if (options.field[i] != NULL && strcmp(options.field[i], name.bytes) == 0)
				files->column[i] = column;
	}
	for (int i = 0; i < FIELDS; i++)
		if (options.field[i] != NULL && files->column[i] < 0)
			fail(EXIT_INPUT, "\"%s\" has no column \"%s\"", batch->file, options.field[i]);
	resize(NULL, name.bytes, 0);
}

/* Adds a record to a batch, unless it is blank, or the names of columns. */
static void
add_record(Files *files, Batch *batch, size_t start, size_t end)
{
	Record record = {start, end - start};

	while (start < end && strchr(" \t\r\n", batch->data.bytes[start]) != NULL)
		start++;
	if (files->head)
		read_head(files, batch, record.start, end);
	else if (start < end || files->format == FORMAT_FILES)
		put(&batch->record, &record, sizeof(record));
}

/* Fills a batch with the next records of a file; returns false after the last file. */
bool
files_next(Files *files, Batch *batch)
{
	Buffer *data = &batch->data;
	bool opened = files->archive == NULL;
	size_t mark = 0; /* length of the byte order mark */
	size_t at = 0;
	size_t end;
	bool more;

	if (opened && !open_next(files))
		return false;
	batch->file = files->names[files->next - 1];
	batch->format = files->format;
	batch->head = data->length = batch->record.length = batch->next = 0;
	put(data, files->rest.bytes, files->rest.length);
	do
	{
		more = read_more(files, data, data->length > BATCH_BYTES ? data->length : BATCH_BYTES);
		if (opened && data->length >= 3 && memcmp(data->bytes, "\xef\xbb\xbf", 3) == 0)
			at = mark = 3;
		for (; (end = end_of_record(files->format, data, at)) > 0; at = end)
			add_record(files, batch, at, end);
	} while (more && at == mark);
	if (!more && (at < data->length || files->format == FORMAT_FILES))
		add_record(files, batch, at, data->length);
	if (!more)
		at = data->length;
	files->rest.length = 0;
	put(&files->rest, data->bytes + at, data->length - at);
	data->length = at;
	memcpy(batch->column, files->column, sizeof(files->column));
	batch->first = files->records;
	files->records += records_of(batch);
	return true;
}

/* Tells a person at a terminal how far the reading is, twice a second. */
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
	if (batch->defect != NULL)
		fail(EXIT_INPUT, "record %llu of \"%s\" cannot be read: %s%s",
			 (unsigned long long) (batch->first + batch->next), batch->file, batch->defect,
			 options.format == FORMAT_AUTO && strcmp(batch->file, "-") == 0 ?
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
	Buffer *buffers[] = {&batch->data,     &batch->record,   &batch->out,
						 &batch->size,     &batch->id,       &batch->best,
						 &batch->field[0], &batch->field[1], &batch->field[2]};

	for (int i = 0; i < 9; i++)
		resize(NULL, buffers[i]->bytes, 0);
	json_object_put(batch->object);
	if (batch->tokener != NULL)
		json_tokener_free(batch->tokener);
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

/*
 * Reads a field of a CSV or TSV record into a buffer, with a zero behind it, or over it if
 * there is no buffer.  Returns where the next one begins, or NULL after the last.
 */
static const char *
read_field(int format, const char *at, const char *end, Buffer *field)
{
	bool quoted = format == FORMAT_CSV && at < end && *at == '"';
	char separator = format == FORMAT_CSV ? ',' : '\t';

	if (field != NULL)
		field->length = 0;
	for (at += quoted; at < end; at++)
	{
		char c = *at;

		if (quoted && c == '"' && !(at + 1 < end && at[1] == '"'))
		{
			quoted = false;
			continue;
		}
		if (!quoted && c == separator)
			break;
		if (quoted && c == '"')
			at++;
		else if (format == FORMAT_TSV && c == '\\' && at + 1 < end)
		{
			static const char letters[] = "ntr";
			const char *found = strchr(letters, *++at);

			c = found != NULL ? "\n\t\r"[found - letters] : *at;
		}
		if (field != NULL)
			*extend(field, 1) = c;
	}
	if (field != NULL)
		end_field(field);
	return at < end ? at + 1 : NULL;
}

/* Reads the fields of a CSV or TSV record. */
static void
parse_columns(Batch *batch, const char *at, size_t length)
{
	const char *end = at + length;

	for (int column = 0; at != NULL; column++)
	{
		Buffer *field = NULL;

		for (int i = 0; i < FIELDS; i++)
			if (batch->column[i] == column)
			{
				field = &batch->field[i];
				batch->seen |= 1u << i;
			}
		at = read_field(batch->format, at, end, field);
	}
}

/* Reads the fields of a JSON record; the text must be a string. */
static void
parse_json(Batch *batch, const char *at, size_t length)
{
	enum json_tokener_error error;
	json_object *value;

	if (batch->tokener == NULL)
		batch->tokener = json_tokener_new_ex(256);
	json_object_put(batch->object);
	json_tokener_reset(batch->tokener);
	batch->object = json_tokener_parse_ex(batch->tokener, at, length);
	error = json_tokener_get_error(batch->tokener);
	if (error == json_tokener_continue)
		batch->defect = "it does not end on its line";
	else if (error != json_tokener_success)
		batch->defect = json_tokener_error_desc(error);
	else if (!json_object_is_type(batch->object, json_type_object))
		batch->defect = "it is no JSON object";
	else if (json_tokener_get_parse_end(batch->tokener) < length)
		batch->defect = "something follows the JSON object";
	if (batch->defect != NULL)
		return;
	for (int i = 0; i < FIELDS; i++)
	{
		const char *text;

		if (options.field[i] == NULL ||
			!json_object_object_get_ex(batch->object, options.field[i], &value) ||
			(i == TEXT && !json_object_is_type(value, json_type_string)))
			continue;
		batch->seen |= 1u << i;
		text = json_object_get_string(value);
		if (i == TEXT)
			put(&batch->field[i], text, json_object_get_string_len(value));
		else if (text != NULL)
			put(&batch->field[i], text, strlen(text));
		end_field(&batch->field[i]);
	}
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
		*document = (Document){at, length, batch->file};
		return true;
	}
	if (batch->format == FORMAT_JSONL)
		parse_json(batch, at, length);
	else
		parse_columns(batch, at, length);
	if (options.field[ID] == NULL)
		put_text(&field[ID], "%llu", (unsigned long long) (batch->first + batch->next));
	*document = (Document){field[TEXT].bytes, field[TEXT].length, field[ID].bytes,
						   strtod(field[BEST].bytes, NULL)};
	return batch->defect == NULL;
}
