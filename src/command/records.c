/*
 * records.c: reading files, plain or compressed, and the fields of their records.
 */
#define _GNU_SOURCE
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Bytes that are read at once, of which a batch has the whole records. */
#define BATCH_BYTES ((size_t) 1 << 20)

/* ---- Files -------------------------------------------------------------- */

/* How a file is compressed. */
typedef enum Packing
{
	PLAIN,
	GZIP,
	ZSTD
} Packing;

struct Files
{
	char **names;
	int *copy; /* of each that cannot be read twice, though it will be: a temporary file; or -1 */
	int next;
	int format;
	struct stat *status; /* of each, when it was opened first */
	bool again;          /* they are read for the second time */
	int fd;              /* of the open file; -1: none is open */
	Packing packing;
	z_stream gzip;
	ZSTD_DStream *zstd;
	bool inside; /* what is compressed has not come to its end */
	unsigned char block[1 << 17];
	size_t at; /* what is left of the block */
	size_t end;
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

/* Returns the length of a name without an ending, in any case, that it has; or its whole length. */
static size_t
without_ending(const char *name, size_t length, const char *ending)
{
	size_t more = strlen(ending);

	if (length < more || strncasecmp(name + length - more, ending, more) != 0)
		return length;
	return length - more;
}

/* Returns the format of files with this name, .gz or .zst left aside. */
static int
format_of(const char *name)
{
	static const char *const endings[] = {".jsonl", ".json", ".ndjson", ".csv", ".tsv"};
	static const int formats[] = {FORMAT_JSONL, FORMAT_JSONL, FORMAT_JSONL, FORMAT_CSV, FORMAT_TSV};
	size_t length = without_ending(name, strlen(name), ".gz");

	length = without_ending(name, length, ".zst");
	for (int i = 0; i < 5; i++)
		if (without_ending(name, length, endings[i]) < length)
			return formats[i];
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

	if (strcmp(name, "-") == 0 || (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)))
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
	Files *files = resize(NULL, NULL, sizeof(Files));
	int count = 0;

	memset(files, 0, sizeof(Files));
	files->names = names;
	files->whole = twice || options.output == OUTPUT_RECORDS;
	files->fd = -1;
	files->format = format != FORMAT_AUTO ? format : format_of(*files->names);
	for (char **name = files->names; *name != NULL; name++)
	{
		if (format == FORMAT_AUTO && format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		files->copy = resize(NULL, files->copy, ++count * sizeof(int));
		files->copy[count - 1] = twice ? copy_file(*name) : -1;
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

/* Fails with what is wrong with the open file. */
static void
fail_reading(const Files *files, const char *message)
{
	fail(EXIT_INPUT, "could not read \"%s\": %s", files->names[files->next - 1], message);
}

/* Fills the block; returns false at the end of the file. */
static bool
fill_block(Files *files)
{
	ssize_t count;

	files->at = files->end = 0;
	while ((count = read(files->fd, files->block + files->end, sizeof(files->block) - files->end)) >
		   0)
		files->end += count;
	if (count < 0)
		fail_reading(files, strerror(errno));
	return files->end > 0;
}

/* Decompresses what gzip wrote; zeros may follow each member.  Returns how many bytes it made. */
static size_t
unpack_gzip(Files *files, char *to, size_t room)
{
	z_stream *gzip = &files->gzip;
	int result;

	while (!files->inside && files->at < files->end && files->block[files->at] == 0)
		files->at++;
	gzip->next_in = files->block + files->at;
	gzip->avail_in = files->end - files->at;
	gzip->next_out = (unsigned char *) to;
	gzip->avail_out = room;
	result = inflate(gzip, Z_NO_FLUSH);
	files->inside |= gzip->avail_in < files->end - files->at;
	files->at = files->end - gzip->avail_in;
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		fail_reading(files, gzip->msg != NULL ? gzip->msg : "it is not what gzip wrote");
	if (result == Z_STREAM_END)
	{
		files->inside = false;
		inflateReset(gzip);
	}
	return room - gzip->avail_out;
}

/* Decompresses what is left of the block.  Returns how many bytes it made. */
static size_t
unpack(Files *files, char *to, size_t room)
{
	ZSTD_inBuffer input = {files->block, files->end, files->at};
	ZSTD_outBuffer out = {to, room, 0};
	size_t left = files->end - files->at;

	if (files->packing == GZIP)
		return unpack_gzip(files, to, room);
	if (files->packing == PLAIN)
	{
		left = left < room ? left : room;
		memcpy(to, files->block + files->at, left);
		files->at += left;
		return left;
	}
	left = ZSTD_decompressStream(files->zstd, &out, &input);
	if (ZSTD_isError(left))
		fail_reading(files, ZSTD_getErrorName(left));
	if (input.pos > files->at || out.pos > 0)
		files->inside = left > 0;
	files->at = input.pos;
	return out.pos;
}

/* Learns how the open file is compressed, from what it begins with. */
static void
find_packing(Files *files, const char *name)
{
	const unsigned char *at = files->block;
	size_t length = strlen(name);
	bool some = fill_block(files);

	files->inside = false;
	files->packing = PLAIN;
	if (files->end >= 2 && memcmp(at, "\x1f\x8b", 2) == 0)
		files->packing = GZIP;
	/* The second is how zstd begins a frame to skip. */
	if (files->end >= 4 &&
		(memcmp(at, "\x28\xb5\x2f\xfd", 4) == 0 ||
		 ((at[0] & 0xF0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", 3) == 0)))
		files->packing = ZSTD;
	if (files->packing == PLAIN && some &&
		(without_ending(name, length, ".gz") < length ||
		 without_ending(name, length, ".zst") < length))
		fail_reading(files, "it is not compressed");
	if ((files->packing == GZIP && inflateInit2(&files->gzip, 15 + 16) != Z_OK) ||
		(files->packing == ZSTD && (files->zstd = ZSTD_createDStream()) == NULL))
		fail(EXIT_RESOURCES, "out of memory");
}

/* Opens the next file; returns false if there is none. */
static bool
open_next(Files *files)
{
	const char *name = files->names[files->next];
	struct stat *first = files->status + files->next;
	struct stat status;
	int copy;

	if (name == NULL)
		return false;
	copy = files->copy[files->next++];
	if (copy >= 0)
		lseek(copy, 0, SEEK_SET);
	files->fd = copy >= 0 ? dup(copy) : open_file(name);
	fstat(files->fd, &status);
	if (files->again &&
		(status.st_ino != first->st_ino || status.st_size != first->st_size ||
		 memcmp(&status.st_mtim, &first->st_mtim, sizeof(status.st_mtim)) != 0))
		fail_reading(files, "it has changed since it was read first");
	*first = status;
	find_packing(files, name);
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
	return true;
}

/* Reads more bytes of the open file; closes it, and returns false, at its end. */
static bool
read_more(Files *files, Buffer *data)
{
	char *to = extend(data, BATCH_BYTES);
	size_t count = 0;
	size_t made = 1;

	while (made > 0 && count < BATCH_BYTES)
	{
		bool some;

		do
			some = files->at < files->end || fill_block(files);
		while ((made = unpack(files, to + count, BATCH_BYTES - count)) == 0 && some);
		count += made;
	}
	data->length -= BATCH_BYTES - count;
	if (count == BATCH_BYTES)
		return true;
	if (files->inside)
		fail_reading(files, "its end is missing");
	inflateEnd(&files->gzip);
	ZSTD_freeDStream(files->zstd);
	files->zstd = NULL;
	close(files->fd);
	files->fd = -1;
	return false;
}

/* ---- Records ------------------------------------------------------------ */

/* Returns where the record at a place ends, its line end included; 0 if its end is not there. */
static size_t
end_of_record(int format, const Buffer *data, size_t at)
{
	const char *end = NULL;
	bool quoted = false;
	bool may_open = true; /* a quote there opens a field, or opens it again */

	if (format == FORMAT_JSONL || format == FORMAT_TSV)
		end = memchr(data->bytes + at, '\n', data->length - at);
	for (; format == FORMAT_CSV && end == NULL && at < data->length; at++)
	{
		char c = data->bytes[at];

		if (c == '"' && (quoted || may_open))
		{
			may_open = quoted;
			quoted = !quoted;
			continue;
		}
		may_open = c == ',';
		if (c == '\n' && !quoted)
			end = data->bytes + at;
	}
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
		for (int i = 0; i < FIELDS; i++)
			if (options.field[i] != NULL && strcmp(options.field[i], batch->cell.bytes) == 0)
				files->column[i] = column;
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

/* Fills a batch with the next records of a file; returns false after the last file. */
bool
files_next(Files *files, Batch *batch)
{
	Buffer *data = &batch->data;
	bool opened = files->fd < 0;
	size_t mark = 0; /* length of the byte order mark */
	size_t at = 0;
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
		more = read_more(files, data);
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
	batch->columns = files->count;
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
	Buffer *buffers[] = {&batch->data,     &batch->record,  &batch->out,  &batch->size,
						 &batch->id,       &batch->best,    &batch->cell, &batch->field[0],
						 &batch->field[1], &batch->field[2]};

	for (int i = 0; i < 10; i++)
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

/* Reads the fields of a JSON record; the text must be a string. */
static void
parse_json(Batch *batch, const char *at, size_t length)
{
	const char *first = at + strspn(at, " \t");
	enum json_tokener_error error;
	json_object *value;

	if (batch->tokener == NULL)
	{
		batch->tokener = json_tokener_new_ex(256);
		json_tokener_set_flags(batch->tokener, JSON_TOKENER_STRICT);
	}
	json_object_put(batch->object);
	json_tokener_reset(batch->tokener);
	batch->object = json_tokener_parse_ex(batch->tokener, at, length);
	error = json_tokener_get_error(batch->tokener);
	if (error == json_tokener_continue && (*first == '{' || *first == '['))
		batch->defect = "it does not end on its line";
	else if (error != json_tokener_success && error != json_tokener_continue)
		batch->defect = json_tokener_error_desc(error);
	else if (!json_object_is_type(batch->object, json_type_object))
		batch->defect = "it is no JSON object";
	for (size_t end = json_tokener_get_parse_end(batch->tokener); end < length; end++)
		if (batch->defect == NULL && at[end] != ' ' && at[end] != '\t' && at[end] != '\r')
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
		text = json_object_get_string(value);
		if (i == BEST && json_object_is_type(value, json_type_boolean))
			text = json_object_get_boolean(value) ? "1" : "0";
		if (i == BEST &&
			(json_object_is_type(value, json_type_object) ||
			 json_object_is_type(value, json_type_array)))
			batch->defect = "its field of --best is an object or array, which has no order";
		if (i != TEXT && json_object_is_type(value, json_type_int) &&
			(json_object_get_uint64(value) == UINT64_MAX ||
			 json_object_get_int64(value) == INT64_MIN))
			batch->defect = i == ID ?
				"its id is too large for a number: make it a string" :
				"its field of --best is too large for a number: make it a string";
		set_field(batch, i, text,
				  i == TEXT        ? json_object_get_string_len(value) :
					  text != NULL ? strlen(text) :
									 0);
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
		*document = (Document){at, length, batch->file, field[BEST].bytes};
		return true;
	}
	if (batch->format == FORMAT_JSONL)
		parse_json(batch, at, length);
	else
		parse_columns(batch, at, length);
	if (is_numbered(batch))
		put_text(&field[ID], "%llu", (unsigned long long) (batch->first + batch->next));
	*document =
		(Document){field[TEXT].bytes, field[TEXT].length, field[ID].bytes, field[BEST].bytes};
	return batch->defect == NULL;
}
