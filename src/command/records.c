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
#include <unistd.h>
#ifdef WITH_ZLIB
#include <zlib.h>
#endif
#ifdef WITH_ZSTD
#include <zstd.h>
#endif

/* A batch has at least this many bytes, if the file has. */
#define BATCH_BYTES (1 << 20)

/* ---- Files -------------------------------------------------------------- */

struct Files
{
	char **names;
	char **next;
	Format format;
	const char *name; /* of the open one; NULL: none is open */
	int fd;
	bool head;  /* the names of columns come next */
	bool again; /* they are read for the second time */
	int column[COLUMNS];
	Buffer rest; /* the beginning of the next batch */
	FILE *kept;  /* what was read, where it cannot be read twice; or NULL */
#ifdef WITH_ZLIB
	gzFile gz;
#endif
#ifdef WITH_ZSTD
	ZSTD_DStream *zstd; /* NULL: the file is no .zst */
	char in[1 << 17];
	ZSTD_inBuffer unread;
#endif
};

/* Returns whether a name ends in .EXTENSION, perhaps with .gz or .zst behind it. */
static bool
has_extension(const char *name, const char *extension)
{
	const char *at = strcasestr(name, extension);

	return at != NULL &&
		(at[strlen(extension)] == '\0' || strcasecmp(at + strlen(extension), ".gz") == 0 ||
		 strcasecmp(at + strlen(extension), ".zst") == 0);
}

/* Returns the format of files with this name. */
static Format
format_of(const char *name)
{
	if (options.format != FORMAT_AUTO)
		return options.format;
	if (has_extension(name, ".csv"))
		return FORMAT_CSV;
	if (has_extension(name, ".tsv"))
		return FORMAT_TSV;
	if (strcmp(name, "-") == 0 || has_extension(name, ".jsonl") || has_extension(name, ".json") ||
		has_extension(name, ".ndjson"))
		return FORMAT_JSONL;
	return FORMAT_FILES;
}

/* Returns whether a file can be read twice. */
static bool
is_regular(const char *name)
{
	struct stat status;

	return strcmp(name, "-") != 0 && (stat(name, &status) != 0 || S_ISREG(status.st_mode));
}

/* Returns a file that has no name any more. */
static FILE *
temporary_file(void)
{
	const char *folder = getenv("TMPDIR");
	Buffer name = {0};
	int fd;

	if (folder == NULL)
		folder = "/tmp";
	put(&name, folder, strlen(folder));
	put(&name, "/neardup.XXXXXX", 16);
	fd = mkstemp(name.bytes);
	if (fd < 0 || unlink(name.bytes) != 0)
		fail(EXIT_INPUT, "could not make a temporary file in \"%s\": %s", folder, strerror(errno));
	resize(NULL, name.bytes, 0);
	return fdopen(fd, "w+");
}

/* Prepares to read files; keep: they will be read again, so standard input goes to a file. */
Files *
files_open(char **names, bool keep)
{
	static char *standard[] = {"-", NULL};
	Files *files = resize(NULL, NULL, sizeof(Files));

	memset(files, 0, sizeof(Files));
	files->names = files->next = *names != NULL ? names : standard;
	files->format = format_of(*files->names);
	for (char **name = files->names; *name != NULL; name++)
	{
		if (format_of(*name) != files->format)
			fail(EXIT_USAGE, "the files have different formats: name one with --input");
		if (!keep || is_regular(*name))
			continue;
		if (files->names[1] != NULL)
			fail(EXIT_USAGE, "\"%s\" cannot be read together with other files", *name);
		files->kept = temporary_file();
	}
	return files;
}

/* Starts again with the first file. */
void
files_rewind(Files *files)
{
	files->next = files->names;
	files->again = true;
	if (files->kept != NULL &&
		(fflush(files->kept) != 0 || lseek(fileno(files->kept), 0, SEEK_SET) != 0))
		fail(EXIT_INPUT, "could not read a temporary file: %s", strerror(errno));
}

/* Frees files. */
void
files_close(Files *files)
{
	if (files->kept != NULL)
		fclose(files->kept);
	resize(NULL, files->rest.bytes, 0);
	resize(NULL, files, 0);
}

/* Opens the next file; returns false if there is none. */
static bool
open_next(Files *files)
{
	if (*files->next == NULL)
		return false;
	files->name = *files->next++;
	if (files->again && files->kept != NULL)
		files->fd = dup(fileno(files->kept));
	else
		files->fd = strcmp(files->name, "-") == 0 ? dup(STDIN_FILENO) :
													open(files->name, O_RDONLY | O_CLOEXEC);
	if (files->fd < 0)
		fail(EXIT_INPUT, "could not open \"%s\": %s", files->name, strerror(errno));
	files->head = files->format == FORMAT_CSV || files->format == FORMAT_TSV;
#ifdef WITH_ZSTD
	if (strcasestr(files->name, ".zst") != NULL)
	{
		files->zstd = ZSTD_createDStream();
		files->unread = (ZSTD_inBuffer){files->in, 0, 0};
		return true;
	}
#else
	if (has_extension(files->name, ".zst"))
		fail(EXIT_INPUT, "cannot read \"%s\": this program was built without zstd", files->name);
#endif
#ifdef WITH_ZLIB
	/* It reads files that are not compressed, too. */
	files->gz = gzdopen(files->fd, "rb");
	gzbuffer(files->gz, 1 << 18);
#else
	if (has_extension(files->name, ".gz"))
		fail(EXIT_INPUT, "cannot read \"%s\": this program was built without zlib", files->name);
#endif
	return true;
}

#if defined(WITH_ZSTD) || !defined(WITH_ZLIB)
/* Reads from a file descriptor; fails if that does. */
static size_t
read_descriptor(const Files *files, char *to, size_t room)
{
	ssize_t count;

	while ((count = read(files->fd, to, room)) < 0 && errno == EINTR)
		;
	if (count < 0)
		fail(EXIT_INPUT, "could not read \"%s\": %s", files->name, strerror(errno));
	return count;
}
#endif

/* Reads bytes of the open file, uncompressed; returns 0 at its end. */
static size_t
read_some(Files *files, char *to, size_t room)
{
#ifdef WITH_ZSTD
	if (files->zstd != NULL)
	{
		ZSTD_outBuffer out = {to, room, 0};
		size_t left = 0;

		while (out.pos == 0)
		{
			if (files->unread.pos == files->unread.size)
				files->unread =
					(ZSTD_inBuffer){files->in, read_descriptor(files, files->in, sizeof(files->in)),
									0};
			if (files->unread.size == 0 && left == 0)
				return 0;
			left = ZSTD_decompressStream(files->zstd, &out, &files->unread);
			if (ZSTD_isError(left) || (files->unread.size == 0 && out.pos == 0))
				fail(EXIT_INPUT, "could not decompress \"%s\": %s", files->name,
					 ZSTD_isError(left) ? ZSTD_getErrorName(left) : "its end is missing");
		}
		return out.pos;
	}
#endif
#ifdef WITH_ZLIB
	{
		int count = gzread(files->gz, to, room);
		int error;
		const char *message = gzerror(files->gz, &error);

		if (error == Z_ERRNO)
			message = strerror(errno);
		if (count < 0 || (error != Z_OK && error != Z_STREAM_END))
			fail(EXIT_INPUT, "could not read \"%s\": %s", files->name, message);
		return count;
	}
#else
	return read_descriptor(files, to, room);
#endif
}

/* Closes the open file. */
static void
close_file(Files *files)
{
#ifdef WITH_ZSTD
	if (files->zstd != NULL)
	{
		ZSTD_freeDStream(files->zstd);
		files->zstd = NULL;
		close(files->fd);
		files->name = NULL;
		return;
	}
#endif
#ifdef WITH_ZLIB
	gzclose_r(files->gz);
#else
	close(files->fd);
#endif
	files->name = NULL;
}

/* Returns where the last whole record of the data ends; 0 if none does. */
static size_t
last_end(Format format, const Buffer *data)
{
	bool quoted = false;
	size_t end = 0;

	if (format != FORMAT_CSV)
	{
		const char *at = data->length > 0 ? memrchr(data->bytes, '\n', data->length) : NULL;

		return at == NULL ? 0 : at + 1 - data->bytes;
	}
	for (size_t i = 0; i < data->length; i++)
	{
		quoted ^= data->bytes[i] == '"';
		if (data->bytes[i] == '\n' && !quoted)
			end = i + 1;
	}
	return end;
}

static void read_head(Files *files, Batch *batch);

/* Fills a batch with the next records of a file; returns false after the last file. */
bool
files_next(Files *files, Batch *batch)
{
	size_t end = 0;
	bool ended = false;

	batch->data.length = 0;
	if (files->name == NULL && !open_next(files))
		return false;
	put(&batch->data, files->rest.bytes, files->rest.length);
	files->rest.length = 0;
	while (!ended && end == 0)
	{
		size_t wanted = batch->data.length + BATCH_BYTES;

		while (!ended && batch->data.length < wanted)
		{
			char *to = extend(&batch->data, BATCH_BYTES);
			size_t count = read_some(files, to, BATCH_BYTES);

			batch->data.length -= BATCH_BYTES - count;
			ended = count == 0;
		}
		if (files->format != FORMAT_FILES)
			end = last_end(files->format, &batch->data);
	}
	if (ended)
		end = batch->data.length;
	put(&files->rest, batch->data.bytes + end, batch->data.length - end);
	batch->data.length = end;
	if (files->kept != NULL && !files->again &&
		fwrite(batch->data.bytes, 1, end, files->kept) != end)
		fail(EXIT_INPUT, "could not write a temporary file: %s", strerror(errno));
	batch->file = files->name;
	batch->format = files->format;
	batch->head = 0;
	if (files->head)
		read_head(files, batch);
	files->head = false;
	memcpy(batch->column, files->column, sizeof(files->column));
	if (ended)
		close_file(files);
	return true;
}

/* ---- Records ------------------------------------------------------------ */

/* Returns where the record that begins at a place ends, its line end included. */
static size_t
end_of_record(Format format, const Buffer *data, size_t at)
{
	bool quoted = false;
	const char *end;

	if (format == FORMAT_FILES)
		return data->length;
	if (format != FORMAT_CSV)
	{
		end = memchr(data->bytes + at, '\n', data->length - at);
		return end != NULL ? end + 1 - data->bytes : data->length;
	}
	for (; at < data->length; at++)
	{
		quoted ^= data->bytes[at] == '"';
		if (data->bytes[at] == '\n' && !quoted)
			return at + 1;
	}
	return at;
}

/* Finds the records of a batch, without those that are blank. */
void
batch_split(Batch *batch)
{
	Format format = batch->format;
	const Buffer *data = &batch->data;
	size_t end;

	batch->records = 0;
	for (size_t at = batch->head; at < data->length || (format == FORMAT_FILES && at == 0);
		 at = end)
	{
		size_t first = at;

		end = end_of_record(format, data, at);
		while (first < end && strchr(" \t\r\n", data->bytes[first]) != NULL)
			first++;
		if (first == end && format != FORMAT_FILES)
			continue;
		if (batch->records == batch->record_room)
		{
			batch->record_room = 2 * batch->record_room + 64;
			batch->record = resize(NULL, batch->record, batch->record_room * sizeof(Record));
		}
		batch->record[batch->records++] = (Record){at, end - at};
		if (end == 0)
			break;
	}
}

/* ---- Fields ------------------------------------------------------------- */

struct Parser
{
	json_tokener *tokener;
	json_object *object; /* of the last record */
	Buffer field[COLUMNS];
};

/* Returns a new parser of records. */
Parser *
parser_new(void)
{
	Parser *parser = resize(NULL, NULL, sizeof(Parser));

	memset(parser, 0, sizeof(Parser));
	parser->tokener = json_tokener_new_ex(256);
	return parser;
}

/* Frees a parser. */
void
parser_free(Parser *parser)
{
	json_object_put(parser->object);
	json_tokener_free(parser->tokener);
	for (int i = 0; i < COLUMNS; i++)
		resize(NULL, parser->field[i].bytes, 0);
	resize(NULL, parser, 0);
}

/*
 * Reads a field of a CSV or TSV record into a buffer, with a zero behind it, or over it if
 * there is no buffer.  Returns where the next one begins, or NULL after the last.
 */
static const char *
read_field(Format format, const char *at, const char *end, Buffer *field)
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
		*extend(field, 1) = '\0';
	return at < end ? at + 1 : NULL;
}

/* Returns the length of the byte order mark that text begins with, if there is one. */
static size_t
byte_order_mark(const char *text, size_t length)
{
	return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Returns the length of a record without its line end. */
size_t
without_line_end(const char *bytes, size_t length)
{
	while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
		length--;
	return length;
}

/* Finds the columns of the fields that are wanted by their names, in the first record. */
static void
read_head(Files *files, Batch *batch)
{
	const char *wanted[COLUMNS] = {options.field, options.id, options.best};
	const char *at = batch->data.bytes;
	const char *end;
	Buffer name = {0};

	batch->head = end_of_record(files->format, &batch->data, 0);
	end = at + without_line_end(at, batch->head);
	at += byte_order_mark(at, batch->head);
	for (int i = 0; i < COLUMNS; i++)
		files->column[i] = -1;
	for (int column = 0; at != NULL; column++)
	{
		at = read_field(files->format, at, end, &name);
		for (int i = 0; i < COLUMNS; i++)
			if (wanted[i] != NULL && strcmp(wanted[i], name.bytes) == 0)
				files->column[i] = column;
	}
	for (int i = 0; i < COLUMNS; i++)
		if (wanted[i] != NULL && files->column[i] < 0)
			fail(EXIT_INPUT, "\"%s\" has no column \"%s\"", files->name, wanted[i]);
	resize(NULL, name.bytes, 0);
}

/* Returns the fields of a CSV or TSV record. */
static Document
parse_columns(Parser *parser, const Batch *batch, const char *at, size_t length)
{
	const char *end = at + without_line_end(at, length);

	for (int i = 0; i < COLUMNS; i++)
	{
		parser->field[i].length = 0;
		put(&parser->field[i], "", 1);
	}
	for (int column = 0; at != NULL; column++)
	{
		Buffer *field = NULL;

		for (int i = 0; i < COLUMNS; i++)
			if (batch->column[i] == column)
				field = &parser->field[i];
		at = read_field(batch->format, at, end, field);
	}
	return (Document){.text = parser->field[0].bytes,
					  .length = parser->field[0].length - 1,
					  .id = options.id != NULL ? parser->field[1].bytes : NULL,
					  .best = strtod(parser->field[2].bytes, NULL)};
}

/* Finds a field of the JSON record; the text must be a string.  Notes in the batch what it found. */
static bool
find_field(const Parser *parser, Batch *batch, int column, const char *name, json_object **value)
{
	if (name == NULL || !json_object_object_get_ex(parser->object, name, value) ||
		(column == 0 && !json_object_is_type(*value, json_type_string)))
		return false;
	batch->seen |= 1u << column;
	return true;
}

/* Fails if none of the JSON records that were read has a field that is wanted: its name is wrong. */
void
check_fields(const Files *files, unsigned seen)
{
	const char *wanted[COLUMNS] = {options.field, options.id, options.best};

	for (int i = 0; i < COLUMNS; i++)
		if (wanted[i] != NULL && (seen & 1u << i) == 0 && files->format == FORMAT_JSONL &&
			!files->again)
			fail(EXIT_INPUT, "no record of \"%s\"%s has %s field \"%s\"", *files->names,
				 files->names[1] != NULL ? " and the other files" : "",
				 i == 0 ? "a text in the" : "the", wanted[i]);
}

/* Returns the fields of a JSON record. */
static Document
parse_json(Parser *parser, Batch *batch, const char *at, size_t length)
{
	Document document = {.text = ""};
	size_t mark = byte_order_mark(at, length);
	json_object *value;
	enum json_tokener_error error;

	json_object_put(parser->object);
	json_tokener_reset(parser->tokener);
	parser->object = json_tokener_parse_ex(parser->tokener, at + mark, length - mark);
	if (!json_object_is_type(parser->object, json_type_object))
	{
		error = json_tokener_get_error(parser->tokener);
		document.defect = error == json_tokener_success ? "it is no JSON object" :
			error == json_tokener_continue              ? "it does not end on its line" :
														  json_tokener_error_desc(error);
		return document;
	}
	if (find_field(parser, batch, 0, options.field, &value))
	{
		document.text = json_object_get_string(value);
		document.length = json_object_get_string_len(value);
	}
	if (options.id != NULL)
		document.id =
			find_field(parser, batch, 1, options.id, &value) ? json_object_get_string(value) : "";
	if (find_field(parser, batch, 2, options.best, &value))
		document.best = json_object_get_double(value);
	return document;
}

/* Reads a record; returns false, and tells the batch, if it cannot be read. */
bool
parse(Parser *parser, Batch *batch, size_t record, Document *document)
{
	const char *at = batch->data.bytes + batch->record[record].start;
	size_t length = batch->record[record].length;

	if (batch->format == FORMAT_JSONL)
		*document = parse_json(parser, batch, at, length);
	else if (batch->format == FORMAT_FILES)
		*document = (Document){.text = at, .length = length, .id = batch->file};
	else
		*document = parse_columns(parser, batch, at, length);
	batch->bad = record;
	batch->defect = document->defect;
	return batch->defect == NULL;
}
