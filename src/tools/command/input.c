/*
 * input.c: the bytes of files, plain or compressed, and the formats that are not read.
 */
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct Input
{
	const char *name;
	Buffer *defect; /* why it cannot be read to its end; NULL: that ends the program */
	bool whole;     /* nothing of the file is used before all of it is read */
	int fd;
	Packing packing;
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t zstd_bytes; /* bytes of memory */
	bool inside;       /* a compressed part has not come to its end */
	unsigned char block[1 << 17];
	size_t at; /* the position of what is left of the block */
	size_t end;
};

/* ---- Formats that are not read ------------------------------------------ */

#define PANDAS(read) \
	"python3 -c \"import pandas, sys; " read ".to_json(sys.stdout, orient='records', lines=True)\""

static const struct
{
	const char *name;
	const char *converter; /* a command that writes what can be read, without the file */
	size_t at;             /* the position of these bytes in each of its files */
	size_t length;
	const char *bytes;
} foreign[] = {{"Parquet, which 'python3 -m neardup dedupe' takes",
				PANDAS("pandas.read_parquet(sys.argv[1])"), 0, 5, "PAR1\x15"},
			   {"Arrow", PANDAS("pandas.read_feather(sys.argv[1])"), 0, 8, "ARROW1\0\0"},
			   {"an Arrow stream",
				PANDAS("import pyarrow; pyarrow.ipc.open_stream(sys.argv[1]).read_pandas()"), 0, 4,
				"\xff\xff\xff\xff"},
			   {"bzip2", "bzip2 -dc", 4, 6, "1AY&SY"},
			   {"xz", "xz -dc", 0, 6,
				"\xfd"
				"7zXZ\0"},
			   {"lz4", "lz4 -dc", 0, 4, "\x04\x22\x4d\x18"},
			   {"zip", "unzip -p", 0, 4, "PK\x03\x04"},
			   {"PDF", "pdftotext", 0, 5, "%PDF-"},
			   {"SQLite", "echo 'SELECT * FROM …' | sqlite3 -csv -header", 0, 16,
				"SQLite format 3"},
			   {"UTF-32", "iconv -f UTF-32 -t UTF-8", 0, 4, "\xff\xfe\0\0"},
			   {"UTF-32", "iconv -f UTF-32 -t UTF-8", 0, 4, "\0\0\xfe\xff"},
			   {"UTF-16", "iconv -f UTF-16 -t UTF-8", 0, 2, "\xff\xfe"},
			   {"UTF-16", "iconv -f UTF-16 -t UTF-8", 0, 2, "\xfe\xff"}};

/* Notes why a file cannot be read, or fails with that if there is no place for it. */
void
refuse_file(const char *name, Buffer *defect, const char *why)
{
	if (defect == NULL)
		fail(EXIT_INPUT, "could not read \"%s\": %s", name, why);
	if (defect->length == 0)
		put_text(defect, "%s", why);
}

/* Refuses a file that begins as a format does that is not read. */
static void
refuse_foreign(const char *name, Buffer *defect, const unsigned char *bytes, ssize_t length)
{
	Buffer why = {0};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign) && why.length == 0; i++)
		if (length >= (ssize_t) (foreign[i].at + foreign[i].length) &&
			memcmp(bytes + foreign[i].at, foreign[i].bytes, foreign[i].length) == 0)
			put_text(&why, "it is %s; convert it first: %s '%s'", foreign[i].name,
					 foreign[i].converter, name);
	if (why.length > 0)
		refuse_file(name, defect, why.bytes);
	resize(NULL, why.bytes, 0);
}

/* Bytes of a text by which its encoding is recognised. */
#define RECOGNISED 4096

/*
 * Returns the encoding of two or four bytes a character that a text has, or NULL.  More than half of its
 * bytes at every second position, or at two of four, are below 0x20, and one of them is zero, as the first
 * bytes of the characters of alphabets are.  In a text of UTF-8 they would be control characters.
 */
static const char *
wide_encoding(const unsigned char *bytes, size_t length)
{
	static const char *const encodings[16] =
		{[5] = "UTF-16BE", [10] = "UTF-16LE", [3] = "UTF-32BE",
		 [7] = "UTF-32BE", [12] = "UTF-32LE", [14] = "UTF-32LE"};
	size_t low[4] = {0};
	unsigned positions = 0;

	length = length < RECOGNISED ? length : RECOGNISED;
	for (size_t i = 0; i < length; i++)
		low[i % 4] += bytes[i] < 0x20;
	for (size_t position = 0; position < 4; position++)
		positions |= (unsigned) (low[position] * 2 > (length + 3 - position) / 4) << position;
	return memchr(bytes, 0, length) != NULL ? encodings[positions] : NULL;
}

/* Refuses a file, packed or not, whose text is in UTF-16 or UTF-32; returns whether it is. */
bool
refuse_encoding(const char *name, Packing packing, const Buffer *data, Buffer *defect)
{
	static const char *const readers[] = {"cat", "gzip -dc", "zstd -dc"};
	const char *encoding = wide_encoding((const unsigned char *) data->bytes, data->length);
	Buffer why = {0};

	if (encoding == NULL)
		return false;
	put_text(&why, "it is %s; convert it first: %s '%s' | iconv -f %s -t UTF-8", encoding,
			 readers[packing], name, encoding);
	refuse_file(name, defect, why.bytes);
	resize(NULL, why.bytes, 0);
	return true;
}

/* ---- Opening ------------------------------------------------------------ */

/* Returns the length of a name without an ending, in any case, that it has; or its whole length. */
size_t
without_ending(const char *name, size_t length, const char *ending)
{
	size_t more = strlen(ending);

	if (length < more || strncasecmp(name + length - more, ending, more) != 0)
		return length;
	return length - more;
}

/* Opens a file, or standard input; returns -1 if it is refused. */
static int
open_file(const char *name, Buffer *defect)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, NULL, 0) >= 0)
		return fd;
	refuse_file(name, defect, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Returns whether an input is a pipe, a terminal or the like, whose name says nothing. */
bool
is_stream(const char *name)
{
	struct stat status;

	return strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0 ||
		strncmp(name, "/dev/fd/", 8) == 0 ||
		(stat(name, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

/* Fails if a file cannot be opened, or is of a format that is not read. */
void
check_readable(const char *name)
{
	unsigned char bytes[16];
	int fd;

	if (is_stream(name))
		return;
	fd = open_file(name, NULL);
	refuse_foreign(name, NULL, bytes, pread(fd, bytes, sizeof(bytes), 0));
	close(fd);
}

/* Returns the folder of temporary files. */
static const char *
temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

/* Makes a temporary file without a name, and returns it. */
int
temporary_file(void)
{
	Buffer path = {0};
	int file;

	put_text(&path, "%s/neardup.XXXXXX", temporary_folder());
	file = mkstemp(path.bytes);
	if (file < 0 || unlink(path.bytes) != 0)
		fail(EXIT_INPUT, "could not make a temporary file in \"%s\": %s", temporary_folder(),
			 strerror(errno));
	resize(NULL, path.bytes, 0);
	return file;
}

/* Copies what can be read only once to a temporary file, and returns it; or -1, also if it is refused. */
int
copy_input(const char *name, Buffer *defect)
{
	int fd = open_file(name, defect);
	struct stat status;
	char block[65536];
	ssize_t count = 0;
	int copy = -1;

	if (fd < 0)
		return -1;
	if (strcmp(name, "-") == 0 || (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)))
	{
		copy = temporary_file();
		while ((count = read(fd, block, sizeof(block))) > 0)
			if (write(copy, block, count) != count)
				fail(EXIT_INPUT, "could not write a temporary file in \"%s\": %s",
					 temporary_folder(), strerror(errno));
	}
	if (count < 0)
		fail(EXIT_INPUT, "could not read \"%s\": %s", name, strerror(errno));
	close(fd);
	return copy;
}

/* Notes what is wrong with a file, or fails with that. */
static void
fail_reading(const Input *input, const char *message)
{
	refuse_file(input->name, input->defect, message);
}

/* Notes that what is compressed is damaged, or fails with that: what was read before may be wrong, too. */
static void
fail_unpacking(const Input *input, const char *message)
{
	refuse_file(input->name, input->whole ? input->defect : NULL, message);
}

/* What is wrong with a file that is cut, and right up to there. */
static const char cut[] = "its end is missing";

/* Returns whether an input has been refused. */
static bool
is_refused(const Input *input)
{
	return input->defect != NULL && input->defect->length > 0;
}

/* Fills the block; returns false at the end of the file. */
static bool
fill_block(Input *input)
{
	ssize_t count;

	input->at = input->end = 0;
	while ((count = read(input->fd, input->block + input->end, sizeof(input->block) - input->end)) >
		   0)
		input->end += count;
	if (count < 0)
		fail_reading(input, strerror(errno));
	return input->end > 0;
}

/* Returns memory for zlib. */
static void *
allocate_for_zlib(void *state, unsigned count, unsigned size)
{
	return resize(state, NULL, (size_t) count * size);
}

/* Frees memory of zlib. */
static void
free_of_zlib(void *state, void *memory)
{
	resize(state, memory, 0);
}

/* Prepares to decompress, by what the file begins with. */
static void
find_packing(Input *input)
{
	static const char *const endings[] = {".gz", ".zst"};
	const unsigned char *at = input->block;
	ZSTD_bounds window = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);

	if (input->end >= 2 && memcmp(at, "\x1f\x8b", 2) == 0)
		input->packing = GZIP;
	/* The second is how zstd begins a frame to skip. */
	if (input->end >= 4 &&
		(memcmp(at, "\x28\xb5\x2f\xfd", 4) == 0 ||
		 ((at[0] & 0xF0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", 3) == 0)))
		input->packing = ZSTD;
	for (int i = 0; i < 2; i++)
		if (input->packing == PLAIN && input->end > 0 &&
			without_ending(input->name, strlen(input->name), endings[i]) < strlen(input->name))
			fail_reading(input, "it is not compressed");
	input->gzip.zalloc = allocate_for_zlib;
	input->gzip.zfree = free_of_zlib;
	if (input->packing == ZSTD)
		input->zstd = ZSTD_createDStream();
	if ((input->packing == GZIP && inflateInit2(&input->gzip, 15 + 16) != Z_OK) ||
		(input->packing == ZSTD &&
		 (input->zstd == NULL ||
		  ZSTD_isError(ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax,
											  window.upperBound)))))
		fail(EXIT_RESOURCES, "out of memory");
}

/* Opens a file, or its copy, for reading at any position. */
int
open_input(const char *name, int copy, Buffer *defect)
{
	return copy >= 0 ? dup(copy) : open_file(name, defect);
}

/* Closes a file. */
void
input_close(Input *input)
{
	inflateEnd(&input->gzip);
	ZSTD_freeDStream(input->zstd);
	count_memory(input->zstd_bytes, 0);
	close(input->fd);
	resize(NULL, input, 0);
}

/* Opens a file, or its copy, whose status it sets; returns NULL if it is refused. */
static Input *
open_once(const char *name, int copy, struct stat *status, Buffer *defect)
{
	Input *input;
	int fd = open_input(name, copy, defect);

	memset(status, 0, sizeof(*status));
	if (fd < 0)
		return NULL;
	input = resize(NULL, NULL, sizeof(Input));
	memset(input, 0, sizeof(Input));
	input->name = name;
	input->fd = fd;
	input->defect = defect;
	input->whole = options.format == FORMAT_FILES;
	if (copy >= 0)
		lseek(copy, 0, SEEK_SET);
	fstat(input->fd, status);
	fill_block(input);
	refuse_foreign(name, defect, input->block, input->end);
	find_packing(input);
	if (!is_refused(input))
		return input;
	input_close(input);
	return NULL;
}

/* Refuses a file that is damaged, not only cut, which it reads to its end. */
static void
refuse_damaged(const char *name, int copy, Buffer *defect)
{
	struct stat status;
	Buffer why = {0};
	Buffer data = {0};
	Input *input = open_once(name, copy, &status, &why);

	if (input != NULL)
		input->whole = true;
	while (input != NULL && input_read(input, &data))
		data.length = 0;
	if (why.length > 0 && strcmp(why.bytes, cut) != 0)
		refuse_file(name, defect, why.bytes);
	resize(NULL, why.bytes, 0);
	resize(NULL, data.bytes, 0);
}

/*
 * Opens a file, or its copy, whose status it sets.  What cannot be read ends the program, unless there is
 * a position for why it cannot: then NULL is returned, or input_read() says that the file ends.  Of what is
 * compressed, damage may be noticed behind what it has changed; so all of it is read before.
 */
Input *
input_open(const char *name, int copy, struct stat *status, Buffer *defect)
{
	Input *input = open_once(name, copy, status, defect);

	if (input == NULL || defect == NULL || input->packing == PLAIN || input->whole ||
		!S_ISREG(status->st_mode))
		return input;
	input_close(input);
	refuse_damaged(name, copy, defect);
	return defect->length > 0 ? NULL : open_once(name, copy, status, defect);
}

/* Returns how a file is compressed. */
Packing
input_packing(const Input *input)
{
	return input->packing;
}

/* Returns how many bytes of a file were read. */
uint64_t
input_position(const Input *input)
{
	off_t position = lseek(input->fd, 0, SEEK_CUR);

	return position > 0 ? position : 0;
}

/* ---- Reading ------------------------------------------------------------ */

/* Decompresses what gzip wrote; zeros may follow each member.  Returns how many bytes it made. */
static size_t
unpack_gzip(Input *input, char *to, size_t room)
{
	z_stream *gzip = &input->gzip;
	int result;

	while (!input->inside && input->at < input->end && input->block[input->at] == 0)
		input->at++;
	gzip->next_in = input->block + input->at;
	gzip->avail_in = input->end - input->at;
	gzip->next_out = (unsigned char *) to;
	gzip->avail_out = room;
	result = inflate(gzip, Z_NO_FLUSH);
	input->inside |= gzip->avail_in < input->end - input->at;
	input->at = input->end - gzip->avail_in;
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		fail_unpacking(input, gzip->msg != NULL ? gzip->msg : "it is not what gzip wrote");
	if (result == Z_STREAM_END)
	{
		input->inside = false;
		inflateReset(gzip);
	}
	return room - gzip->avail_out;
}

/* Decompresses what zstd wrote.  Returns how many bytes it made. */
static size_t
unpack_zstd(Input *input, char *to, size_t room)
{
	ZSTD_inBuffer in = {input->block, input->end, input->at};
	ZSTD_outBuffer out = {to, room, 0};
	size_t left = ZSTD_decompressStream(input->zstd, &out, &in);
	size_t bytes = ZSTD_sizeof_DStream(input->zstd);

	count_memory(input->zstd_bytes, bytes);
	input->zstd_bytes = bytes;
	if (ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		fail(EXIT_RESOURCES, "out of memory: the window of \"%s\" is too large", input->name);
	if (ZSTD_isError(left))
		fail_unpacking(input, ZSTD_getErrorName(left));
	if (in.pos > input->at || out.pos > 0)
		input->inside = left > 0;
	input->at = in.pos;
	return out.pos;
}

/* Decompresses what is left of the block.  Returns how many bytes it made. */
static size_t
unpack(Input *input, char *to, size_t room)
{
	size_t left = input->end - input->at;

	if (input->packing == GZIP)
		return unpack_gzip(input, to, room);
	if (input->packing == ZSTD)
		return unpack_zstd(input, to, room);
	left = left < room ? left : room;
	memcpy(to, input->block + input->at, left);
	input->at += left;
	return left;
}

/* Reads more bytes; returns false at the end of the file, or of what can be read of it, and closes it. */
bool
input_read(Input *input, Buffer *data)
{
	size_t most = batch_bytes();
	char *to = extend(data, most);
	size_t count = 0;
	size_t made = 1;

	while (!is_refused(input) && made > 0 && count < most)
	{
		bool some;

		do
			some = input->at < input->end || fill_block(input);
		while ((made = unpack(input, to + count, most - count)) == 0 && some && !is_refused(input));
		count += made;
	}
	data->length -= most - count;
	if (count == most)
		return true;
	if (input->inside)
		fail_reading(input, cut);
	input_close(input);
	return false;
}

/* ---- Writing ------------------------------------------------------------ */

/* Returns bytes as a member of gzip. */
static Buffer
pack_gzip(const Buffer *bytes)
{
	z_stream gzip = {.zalloc = allocate_for_zlib, .zfree = free_of_zlib};
	Buffer packed = {0};

	if (deflateInit2(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
		Z_OK)
		fail(EXIT_RESOURCES, "out of memory");
	gzip.avail_out = deflateBound(&gzip, bytes->length);
	gzip.next_out = (unsigned char *) extend(&packed, gzip.avail_out);
	gzip.next_in = (unsigned char *) bytes->bytes;
	gzip.avail_in = bytes->length;
	deflate(&gzip, Z_FINISH);
	packed.length -= gzip.avail_out;
	deflateEnd(&gzip);
	return packed;
}

/* Returns bytes as a frame of zstd. */
static Buffer
pack_zstd(const Buffer *bytes)
{
	size_t room = ZSTD_compressBound(bytes->length);
	Buffer packed = {0};
	char *to = extend(&packed, room);

	packed.length = ZSTD_compress(to, room, bytes->bytes, bytes->length, ZSTD_CLEVEL_DEFAULT);
	if (ZSTD_isError(packed.length))
		fail(EXIT_RESOURCES, "out of memory");
	return packed;
}

/* Compresses bytes; compressed parts, one behind the other, are one file. */
void
pack(Packing packing, Buffer *bytes)
{
	Buffer packed;

	if (packing == PLAIN)
		return;
	packed = packing == GZIP ? pack_gzip(bytes) : pack_zstd(bytes);
	resize(NULL, bytes->bytes, 0);
	*bytes = packed;
}
