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
	int fd;
	Packing packing;
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t zstd_bytes; /* bytes of memory */
	bool inside;       /* a compressed part has not come to its end */
	unsigned char block[1 << 17];
	size_t at; /* the place of what is left of the block */
	size_t end;
};

/* ---- Formats that are not read ------------------------------------------ */

#define PANDAS(read) \
	"python3 -c \"import pandas, sys; " read ".to_json(sys.stdout, orient='records', lines=True)\""

static const struct
{
	const char *name;
	const char *converter; /* a command that writes what can be read, without the file */
	size_t at;             /* the place of these bytes in each of its files */
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
			   {"UTF-16", "iconv -f UTF-16 -t UTF-8", 0, 2, "\xff\xfe"},
			   {"UTF-16", "iconv -f UTF-16 -t UTF-8", 0, 2, "\xfe\xff"}};

/* Fails if a file begins as a format does that is not read. */
static void
refuse_foreign(const char *name, const unsigned char *bytes, ssize_t length)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (length >= (ssize_t) (foreign[i].at + foreign[i].length) &&
			memcmp(bytes + foreign[i].at, foreign[i].bytes, foreign[i].length) == 0)
			fail(EXIT_INPUT, "could not read \"%s\": it is %s; convert it first: %s '%s'", name,
				 foreign[i].name, foreign[i].converter, name);
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

/* Opens a file, or standard input. */
static int
open_file(const char *name)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, NULL, 0) < 0)
		fail(EXIT_INPUT, "could not read \"%s\": %s", name, strerror(errno));
	return fd;
}

/* Returns whether an input is a pipe, a terminal or the like, whose name says nothing. */
bool
is_stream(const char *name)
{
	struct stat status;

	return strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0 ||
		strncmp(name, "/dev/fd/", 8) == 0 || (stat(name, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Fails if a file cannot be opened, or is of a format that is not read. */
void
check_readable(const char *name)
{
	unsigned char bytes[16];
	int fd;

	if (is_stream(name))
		return;
	fd = open_file(name);
	refuse_foreign(name, bytes, pread(fd, bytes, sizeof(bytes), 0));
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

/* Copies what can be read only once to a temporary file, and returns it; or -1. */
int
copy_input(const char *name)
{
	int fd = open_file(name);
	struct stat status;
	char block[65536];
	ssize_t count = 0;
	int copy = -1;

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

/* Fails with what is wrong with a file. */
static void
fail_reading(const Input *input, const char *message)
{
	fail(EXIT_INPUT, "could not read \"%s\": %s", input->name, message);
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

/* Opens a file, or its copy, for reading at any place. */
int
open_input(const char *name, int copy)
{
	return copy >= 0 ? dup(copy) : open_file(name);
}

/* Opens a file, or its copy, whose status it sets. */
Input *
input_open(const char *name, int copy, struct stat *status)
{
	Input *input = resize(NULL, NULL, sizeof(Input));

	memset(input, 0, sizeof(Input));
	input->name = name;
	input->fd = open_input(name, copy);
	if (copy >= 0)
		lseek(copy, 0, SEEK_SET);
	fstat(input->fd, status);
	fill_block(input);
	refuse_foreign(name, input->block, input->end);
	find_packing(input);
	return input;
}

/* Returns how a file is compressed. */
Packing
input_packing(const Input *input)
{
	return input->packing;
}

/* Returns how many bytes of a file were read. */
uint64_t
input_place(const Input *input)
{
	off_t place = lseek(input->fd, 0, SEEK_CUR);

	return place > 0 ? place : 0;
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
		fail_reading(input, gzip->msg != NULL ? gzip->msg : "it is not what gzip wrote");
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
		fail_reading(input, ZSTD_getErrorName(left));
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

/* Reads more bytes; returns false at the end of the file, which it closes. */
bool
input_read(Input *input, Buffer *data)
{
	size_t most = batch_bytes();
	char *to = extend(data, most);
	size_t count = 0;
	size_t made = 1;

	while (made > 0 && count < most)
	{
		bool some;

		do
			some = input->at < input->end || fill_block(input);
		while ((made = unpack(input, to + count, most - count)) == 0 && some);
		count += made;
	}
	data->length -= most - count;
	if (count == most)
		return true;
	if (input->inside)
		fail_reading(input, "its end is missing");
	inflateEnd(&input->gzip);
	ZSTD_freeDStream(input->zstd);
	count_memory(input->zstd_bytes, 0);
	close(input->fd);
	resize(NULL, input, 0);
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
