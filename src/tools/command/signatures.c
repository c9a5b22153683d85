/*
 * signatures.c: files of ids and signatures, as COPY BINARY has them, and the parts of joins of them.
 */
#include "command/command.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a file begins with; its flags and the length of more header follow. */
static const char signature[] = "PGCOPY\n\377\r\n";

/* The most bytes of a field, as in PostgreSQL. */
#define FIELD_MOST 0x3FFFFFFF

/* Returns whether the first of some files has signatures.  A pipe is not looked at. */
bool
are_signatures(char **names)
{
	char bytes[sizeof(signature)];
	int fd = is_stream(names[0]) ? -1 : open(names[0], O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
		memcmp(bytes, signature, sizeof(bytes)) == 0;

	if (fd >= 0)
		close(fd);
	return found;
}

/* ---- Reading -------------------------------------------------------------- */

/* Files that are read one after the other. */
typedef struct SignatureFiles
{
	neardup_session *session;
	const char *file;
	Input *input;
	bool more; /* more of the file is behind the data */
	Buffer data;
	size_t at;
	uint64_t record; /* number of records so far */
	bool begun;
	bool numbers; /* ids are bigint */
	Buffer first; /* the first value of all */
	Buffer id;    /* the id, with a zero behind it */
} SignatureFiles;

/* Fails with what is wrong with the record. */
static void __attribute__((noreturn)) fail_record(const SignatureFiles *reader, const char *message)
{
	fail(EXIT_INPUT, "record %" PRIu64 " of \"%s\" cannot be read: %s", reader->record + 1,
		 reader->file, message);
}

/* Returns whether the file has `count` more bytes, which are in memory then. */
static bool
has_bytes(SignatureFiles *reader, size_t count)
{
	Buffer *data = &reader->data;

	while (data->length - reader->at < count && reader->more)
	{
		if (reader->at > 0)
			memmove(data->bytes, data->bytes + reader->at, data->length - reader->at);
		data->length -= reader->at;
		reader->at = 0;
		reader->more = input_read(reader->input, data);
	}
	return data->length - reader->at >= count;
}

/* Returns the next bytes of the file, which are valid until the next call. */
static const uint8_t *
next_bytes(SignatureFiles *reader, size_t count)
{
	if (!has_bytes(reader, count))
		fail_record(reader, "the end of the file is missing");
	reader->at += count;
	return (const uint8_t *) reader->data.bytes + reader->at - count;
}

/* Reads a number of 2 or 4 bytes, the highest of them first. */
static int32_t
next_number(SignatureFiles *reader, int bytes)
{
	const uint8_t *at = next_bytes(reader, bytes);

	return bytes == 2 ? (int16_t) (at[0] << 8 | at[1]) :
						(int32_t) ((uint32_t) at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]);
}

/* Reads the length of a field. */
static size_t
next_length(SignatureFiles *reader, const char *if_null)
{
	int32_t length = next_number(reader, 4);

	if (length == -1)
		fail_record(reader, if_null);
	if (length < 0 || length > FIELD_MOST)
		fail_record(reader, "its lengths are wrong");
	return length;
}

/* Reads what is before the records of a file. */
static void
signatures_read_header(SignatureFiles *reader)
{
	size_t more;

	if (!has_bytes(reader, 19) ||
		memcmp(next_bytes(reader, sizeof(signature)), signature, sizeof(signature)) != 0)
		fail(EXIT_INPUT,
			 "could not read \"%s\": it is no file of signatures, as sign --format copy-binary writes it",
			 reader->file);
	if (next_number(reader, 4) != 0)
		fail(EXIT_INPUT, "could not read \"%s\": its header has flags that have no meaning here",
			 reader->file);
	more = next_length(reader, "its header is wrong");
	(void) next_bytes(reader, more);
}

/* Reads an id, which is a bigint if the first one is no text. */
static void
read_id(SignatureFiles *reader)
{
	size_t length = next_length(reader, "its id is null");
	const char *at = (const char *) next_bytes(reader, length);
	bool text = is_utf8(at, length) && memchr(at, 0, length) == NULL;
	int64_t number;

	if (!reader->begun)
		reader->numbers = length == sizeof(number) && (options.id_number || !text);
	reader->begun = true;
	reader->id.length = 0;
	if (reader->numbers && length == sizeof(number))
	{
		memcpy(&number, at, sizeof(number));
		put_text(&reader->id, "%" PRId64, (int64_t) be64toh(number));
	}
	else if (reader->numbers || !text || options.id_number)
		fail_record(reader, "its id is no bigint, or others are none: say --bigint if all are");
	else
		put(&reader->id, at, length);
	put(&reader->id, "", 1);
}

/*
 * Returns the kind of a value.  In its second byte, a minhash sets bit 3 and a simhash none of bits
 * 0 to 2; that of a set is the version of the recipe.
 */
static neardup_kind
kind_of_value(const uint8_t *value)
{
	return (value[1] & 8) != 0 ? NEARDUP_MINHASH :
		(value[1] & 7) != 0    ? NEARDUP_SHINGLES :
								 NEARDUP_SIMHASH;
}

/* Bits of the second byte of a signature: the set is empty, and the cardinality is known. */
#define EMPTY_SET 0x10
#define COUNTED 0x20

/* Returns whether all bits of a signature with a valid head and length are allowed. */
static bool
is_regular(const uint8_t *value, neardup_kind kind)
{
	int bits = (value[2] << 8 | value[3]) << (value[1] & 7);
	static const uint8_t zero[4];

	return kind != NEARDUP_SHINGLES && (value[1] & EMPTY_SET) == 0 && bits % 8 == 0 &&
		(kind == NEARDUP_SIMHASH ||
		 ((value[1] & COUNTED) != 0 && memcmp(value + 8, zero, sizeof(zero)) != 0));
}

/* Fails unless a value is one, and comparable with the first. */
static void
check_value(SignatureFiles *reader, const uint8_t *value, size_t length)
{
	const uint8_t *first;
	neardup_comparison result;
	neardup_kind kind;
	neardup_code code;

	if (length < 8)
		fail_record(reader, "its signature is too short");
	if (reader->first.length == 0)
		put(&reader->first, value, length);
	first = (const uint8_t *) reader->first.bytes;
	kind = kind_of_value(first);
	if (reader->record > 0 && length == reader->first.length && memcmp(value, first, 8) == 0 &&
		is_regular(value, kind))
		return;
	/* A set is read once; the library compares its head with that of the first. */
	code = neardup_compare(reader->session, kind, value, length,
						   kind == NEARDUP_SHINGLES && memcmp(value, first, 2) == 0 &&
								   memcmp(value + 4, first + 4, 4) == 0 ?
							   value :
							   first,
						   kind == NEARDUP_SHINGLES ? length : reader->first.length, &result);
	if (code != NEARDUP_OK)
		fail_record(reader, neardup_message(reader->session));
}

/* Reads the records of a file. */
static void
read_file(SignatureFiles *reader, TakeSignature take, void *state)
{
	struct stat status;
	int columns;

	reader->input = input_open(reader->file, -1, &status, NULL);
	reader->more = true;
	reader->data.length = reader->at = 0;
	signatures_read_header(reader);
	for (; (columns = next_number(reader, 2)) != -1; reader->record++)
	{
		const uint8_t *value;
		size_t length;

		if (columns != 2)
			fail_record(reader, "it has other columns than an id and a signature");
		read_id(reader);
		length = next_length(reader, "its signature is null");
		value = next_bytes(reader, length);
		check_value(reader, value, length);
		take(state,
			 &(SignatureRecord){reader->id.bytes, reader->numbers,
								kind_of_value((const uint8_t *) reader->first.bytes), value,
								length});
	}
	if (has_bytes(reader, 1))
		fail(EXIT_INPUT, "could not read \"%s\": there are bytes behind its last record",
			 reader->file);
}

/* Passes on the signatures of files, in order, all of which are comparable. */
void
read_signatures(char **names, TakeSignature take, void *state)
{
	SignatureFiles reader = {.session = new_session()};

	for (; *names != NULL; names++)
	{
		reader.file = *names;
		read_file(&reader, take, state);
	}
	neardup_close(reader.session);
	resize(NULL, reader.data.bytes, 0);
	resize(NULL, reader.first.bytes, 0);
	resize(NULL, reader.id.bytes, 0);
}

/* ---- Parts ---------------------------------------------------------------- */

/* Returns how many parts the pairs of a number of blocks have. */
static uint64_t
signatures_parts_of(uint64_t blocks)
{
	return blocks * (blocks + 1) / 2;
}

/*
 * Returns a part I/N, from 1/N to N/N: of the pairs of B blocks, where N is B (B + 1) / 2, those of
 * a block with itself or with one before it; with --against, those of one of N blocks of it.
 */
neardup_part
read_part(const char *part, bool against)
{
	unsigned number = 0;
	unsigned count = 0;
	uint64_t blocks = 0;
	uint32_t block = 0;
	int end = 0;

	if (sscanf(part, "%9u/%9u%n", &number, &count, &end) < 2 || part[end] != '\0' ||
		strspn(part, "0123456789/") < end || number < 1 || number > count)
		fail(EXIT_USAGE,
			 "--part cannot be \"%s\": it is a part and the number of parts, such as 7/55", part);
	if (against)
		return (neardup_part){count, number - 1, number - 1};
	while (signatures_parts_of(blocks) < count)
		blocks++;
	if (signatures_parts_of(blocks) != count)
		fail(EXIT_USAGE,
			 "--part cannot be \"%s\": there are %" PRIu64 " parts, or %" PRIu64
			 " (B (B + 1) / 2, for B blocks)",
			 part, signatures_parts_of(blocks - 1), signatures_parts_of(blocks));
	while (signatures_parts_of(block + 1) < number)
		block++;
	return (neardup_part){blocks, number - 1 - signatures_parts_of(block), block};
}

/* Returns whether a part needs a signature, one of --against or else of the records. */
bool
is_of_part(neardup_session *session, const SignatureRecord *signature, bool against)
{
	const neardup_part *part = &options.join.part;
	neardup_values value = {.kind = signature->kind,
							.count = 1,
							.bytes = signature->value,
							.size = signature->length};
	uint32_t block;

	if (part->blocks == 0 || against != (options.against != NULL))
		return true;
	check(session, neardup_blocks(session, &value, part->blocks, &block));
	return block == part->a || block == part->b;
}
