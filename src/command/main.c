/*
 * main.c: the options of the command neardup, and what all of it shares.
 */
#include "command/command.h"

#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Options options = {.field = "text",
				   .kind = NEARDUP_MINHASH,
				   .share = 0.05,
				   .entries = 10000,
				   .join = {.threshold = 0.8}};

static const char usage[] =
	"usage: neardup sign|pairs|clusters|dedupe|learn [option ...] [file ...]\n"
	"       neardup compare [option ...] file file\n"
	"\n"
	"  sign      writes a signature for each record\n"
	"  pairs     writes the pairs of similar records: a, b, similarity\n"
	"  clusters  writes id, keeper, similarity and size of clusters\n"
	"  dedupe    writes the records that stay; of files, their names\n"
	"  learn     writes a lexicon: weights of shingles by how few records have them\n"
	"  compare   compares two files\n"
	"\n"
	"  -i, --input FORMAT      jsonl, csv, tsv or files; default: by the names of the files\n"
	"  -f, --field NAME        the field of the text; default: text\n"
	"      --id NAME           the field of the id; default: records are numbered from 1\n"
	"      --bigint            sign: writes ids as bigint in copy-binary, not as text\n"
	"  -s, --scheme SCHEME     shingles, such as 'char 5'; default: 'word 3', for simhash and learn 'word 1'\n"
	"      --minhash K,B       signs by minhash; default: 512,1\n"
	"      --simhash F         signs by simhash of F bits\n"
	"      --shingles          signs with, and compares, the sets of shingles\n"
	"      --lexicon FILE      weighs shingles by a lexicon\n"
	"      --format FORMAT     sign: copy-text, copy-binary or records; default: copy-text\n"
	"  -t, --threshold NUMBER  the least similarity, above 0, at most 1; default: 0.8\n"
	"      --containment       with --shingles: compares by containment\n"
	"      --multiset          with --shingles: compares multisets\n"
	"      --nearest           clusters, dedupe: joins the most similar keeper, not the first\n"
	"  -a, --against FILE      pairs: compares with its records; dedupe: what is similar to one goes\n"
	"      --best NAME         clusters, dedupe: keeps the record with most of this field\n"
	"      --report FILE       dedupe: writes what went, and why\n"
	"      --entries NUMBER    learn: entries of the lexicon; default: 10000\n"
	"      --share NUMBER      learn: what this share of the documents has weighs nothing; default: 0.05\n"
	"  -j, --jobs NUMBER       threads; default: one for each processor\n"
	"  -m, --memory SIZE       memory to use at most, such as 800M or 4G\n"
	"  -h, --help              prints this\n"
	"  -V, --version           prints the version\n"
	"\n"
	"Exit codes: 0, success; 1, an option or argument is wrong; 2, input cannot be read, or\n"
	"output not be written; 3, memory does not suffice, or something is too large.\n";

/* ---- Errors, memory and bytes ------------------------------------------- */

/* Prints a message, and ends the program. */
void
fail(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "neardup: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	_exit(code);
}

/* Ends the program unless a function of the library succeeded. */
void
check(neardup_session *session, neardup_code code)
{
	if (code == NEARDUP_OK)
		return;
	fail(code == NEARDUP_NO_MEMORY || code == NEARDUP_TOO_LARGE ? EXIT_RESOURCES :
			 code == NEARDUP_MALFORMED                          ? EXIT_INPUT :
																  EXIT_USAGE,
		 "%s", neardup_message(session));
}

/* Allocates all memory of the program; fails if it would take more than options.memory. */
void *
resize(void *state, void *memory, size_t bytes)
{
	static _Atomic size_t used;
	size_t before = memory != NULL ? malloc_usable_size(memory) : 0;
	void *result = NULL;

	if (bytes == 0)
		free(memory);
	else if (options.memory == 0 || used - before + bytes <= options.memory)
		result = realloc(memory, bytes);
	else
		fail(EXIT_RESOURCES, "--memory %zu does not suffice", options.memory);
	if (bytes > 0 && result == NULL)
		fail(EXIT_RESOURCES, "out of memory");
	used += (bytes > 0 ? malloc_usable_size(result) : 0) - before;
	return result;
}

/* Returns a new session of the library. */
neardup_session *
new_session(void)
{
	static const neardup_host host = {.resize = resize};

	return neardup_open(&host);
}

/* Returns where the next bytes of a buffer belong, which the caller writes. */
char *
extend(Buffer *buffer, size_t more)
{
	if (buffer->length + more > buffer->room)
	{
		buffer->room = 2 * buffer->room + more;
		buffer->bytes = resize(NULL, buffer->bytes, buffer->room);
	}
	buffer->length += more;
	return buffer->bytes + buffer->length - more;
}

/* Writes bytes to a buffer. */
void
put(Buffer *buffer, const void *bytes, size_t length)
{
	if (length > 0)
		memcpy(extend(buffer, length), bytes, length);
}

/* Writes the lowest bytes of a number, the highest of them first. */
void
put_big_endian(Buffer *buffer, uint64_t number, int bytes)
{
	while (bytes-- > 0)
		*extend(buffer, 1) = (char) (number >> 8 * bytes);
}

/* Writes a text as COPY does. */
void
put_copy_text(Buffer *buffer, const char *text)
{
	for (; *text != '\0'; text++)
	{
		static const char special[] = "\n\t\r\\";
		const char *found = strchr(special, *text);

		if (found != NULL)
			*extend(buffer, 1) = '\\';
		*extend(buffer, 1) = found != NULL ? "ntr\\"[found - special] : *text;
	}
}

/* Writes a tab and a number, in as few digits as give it back. */
void
put_similarity(Buffer *out, double similarity)
{
	char text[344];
	int digits = 1;

	do
		snprintf(text, sizeof(text), "\t%.*g", digits++, similarity);
	while (strtod(text, NULL) != similarity);
	put(out, text, strlen(text));
}

/* Writes to a file, or fails. */
void
write_out(FILE *file, const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, file) != length)
		fail(EXIT_INPUT, "could not write: %s", strerror(errno));
}

/* ---- Options ------------------------------------------------------------ */

/* An option, and what it sets, unless take_option() knows. */
typedef struct Known
{
	const char *name;
	int has_value;
	int letter; /* those that SHORT_OPTIONS lacks only tell long options apart */
	const char **text;
	bool *flag;
	const char *only; /* the commands that have it; NULL: all */
} Known;

#define SHORT_OPTIONS "i:f:s:t:a:j:m:Vh"

static const Known known[] =
	{{"input", 1, 'i', NULL, NULL, NULL},
	 {"field", 1, 'f', &options.field, NULL, NULL},
	 {"id", 1, 'I', &options.id, NULL, NULL},
	 {"bigint", 0, 'B', NULL, &options.id_number, "sign"},
	 {"scheme", 1, 's', &options.scheme, NULL, NULL},
	 {"minhash", 1, 'M', NULL, NULL, NULL},
	 {"simhash", 1, 'S', NULL, NULL, NULL},
	 {"shingles", 0, 'G', NULL, NULL, NULL},
	 {"lexicon", 1, 'L', &options.lexicon, NULL, NULL},
	 {"format", 1, 'F', NULL, NULL, "sign"},
	 {"threshold", 1, 't', NULL, NULL, "pairs, clusters and dedupe"},
	 {"containment", 0, 'C', NULL, &options.join.containment, "pairs, clusters and dedupe"},
	 {"multiset", 0, 'U', NULL, &options.join.multiset, "pairs, clusters and dedupe"},
	 {"nearest", 0, 'N', NULL, &options.join.nearest, "clusters and dedupe"},
	 {"against", 1, 'a', &options.against, NULL, "pairs and dedupe"},
	 {"best", 1, 'b', &options.best, NULL, "clusters and dedupe"},
	 {"report", 1, 'R', &options.report, NULL, "dedupe"},
	 {"entries", 1, 'E', NULL, NULL, "learn"},
	 {"share", 1, 'H', NULL, NULL, "learn"},
	 {"jobs", 1, 'j', NULL, NULL, NULL},
	 {"memory", 1, 'm', NULL, NULL, NULL},
	 {"version", 0, 'V', NULL, NULL, NULL},
	 {"help", 0, 'h', NULL, NULL, NULL}};

#define KNOWN (sizeof(known) / sizeof(*known))

/* Returns the number of a name among others; fails for any other name. */
static int
choice(const char *option, const char *name, const char *const *names, const char *allowed)
{
	for (int i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fail(EXIT_USAGE, "--%s cannot be \"%s\": it is %s", option, name, allowed);
}

/* Returns a number, perhaps with a unit behind it; fails if it is not one that is allowed. */
static double
number(const char *option, const char *text, double least, double most, const char *allowed)
{
	static const char units[] = "kMGT";
	char *end;
	double value = strtod(text, &end);
	const char *unit = *end != '\0' ? strchr(units, *end) : NULL;

	for (; unit != NULL && unit >= units; unit--)
		value *= 1000;
	if (end == text || (*end != '\0' && (strchr(units, *end) == NULL || end[1] != '\0')) ||
		!(value >= least && value <= most))
		fail(EXIT_USAGE, "--%s cannot be \"%s\": it is %s", option, text, allowed);
	return value;
}

/* Reads the shape of signatures. */
static void
take_shape(neardup_kind kind, const char *text)
{
	options.kind = kind;
	options.b = 1;
	if (sscanf(text, "%d,%d", &options.k, &options.b) < 1)
		fail(EXIT_USAGE, "\"%s\" is no shape, such as 512,1", text);
}

/* Prints what the program can do, or its version, and ends it. */
static void
print_and_end(int option)
{
	if (option == 'h')
		printf("%s", usage);
	else
		printf("neardup %s\n", neardup_version());
	if (fflush(stdout) != 0)
		fail(EXIT_INPUT, "could not write: %s", strerror(errno));
	exit(0);
}

/* Takes an option; returns false if there is no such option. */
static bool
take_option(int option, const char *value)
{
	static const char *const formats[] = {"auto", "jsonl", "csv", "tsv", "files", NULL};
	static const char *const outputs[] = {"copy-text", "copy-binary", "records", NULL};

	for (size_t i = 0; i < KNOWN; i++)
	{
		if (known[i].letter != option || (known[i].text == NULL && known[i].flag == NULL))
			continue;
		if (known[i].text != NULL)
			*known[i].text = value;
		else
			*known[i].flag = true;
		return true;
	}
	switch (option)
	{
		case 'i':
			options.format = choice("input", value, formats, "jsonl, csv, tsv or files");
			break;
		case 'M':
			take_shape(NEARDUP_MINHASH, value);
			break;
		case 'S':
			take_shape(NEARDUP_SIMHASH, value);
			break;
		case 'G':
			options.kind = NEARDUP_SHINGLES;
			break;
		case 'F':
			options.output = choice("format", value, outputs, "copy-text, copy-binary or records");
			break;
		case 't':
			options.join.threshold = number("threshold", value, 1e-9, 1, "above 0, at most 1");
			break;
		case 'E':
			options.entries = number("entries", value, 1, 1e6, "from 1 to 1000000");
			break;
		case 'H':
			options.share = number("share", value, 1e-9, 1, "above 0, at most 1");
			break;
		case 'j':
			options.jobs = number("jobs", value, 1, 1024, "from 1 to 1024");
			break;
		case 'm':
			options.memory = number("memory", value, 1e6, 1e18, "at least 1M, such as 800M or 4G");
			break;
		case 'h':
		case 'V':
			print_and_end(option);
			break;
		default:
			return false;
	}
	return true;
}

/* Fails if a command does not have an option. */
static void
check_option(int option, const char *command)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].letter == option && known[i].only != NULL &&
			strstr(known[i].only, command) == NULL)
			fail(EXIT_USAGE, "--%s is an option of %s, not of %s", known[i].name, known[i].only,
				 command);
}

/* Reads the options of a command, whose name is the first argument. */
static void
read_options(int count, char **arguments)
{
	struct option long_options[KNOWN + 1] = {0};
	int option;

	for (size_t i = 0; i < KNOWN; i++)
		long_options[i] = (struct option){known[i].name, known[i].has_value, NULL, known[i].letter};
	options.jobs = sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(count, arguments, SHORT_OPTIONS, long_options, NULL)) != -1)
	{
		check_option(option, arguments[0]);
		if (!take_option(option, optarg))
			fail(EXIT_USAGE, "try 'neardup --help'");
	}
	options.files = arguments + optind;
	if (options.kind == NEARDUP_MINHASH && options.k == 0)
		take_shape(NEARDUP_MINHASH, "512,1");
	if (options.kind == NEARDUP_SHINGLES)
		options.k = options.b = 0;
	options.join.jobs = options.jobs;
	/* A part for the pairs; the values, and the join, need more. */
	options.join.memory = options.memory / 4;
}

/* Returns the signer of the options, which lives as long as the program. */
neardup_signer *
new_signer(neardup_session *session)
{
	neardup_lexicon *lexicon = NULL;
	neardup_signer *signer;
	Buffer bytes = {0};
	FILE *file;
	size_t count;

	if (options.lexicon != NULL)
	{
		if ((file = fopen(options.lexicon, "rb")) == NULL)
			fail(EXIT_INPUT, "could not open \"%s\": %s", options.lexicon, strerror(errno));
		while ((count = fread(extend(&bytes, 65536), 1, 65536, file)) > 0)
			bytes.length -= 65536 - count;
		bytes.length -= 65536;
		fclose(file);
		check(session, neardup_lexicon_read(session, bytes.bytes, bytes.length, &lexicon));
	}
	check(session,
		  neardup_signer_new(session, options.kind, options.k, options.b, options.scheme, lexicon,
							 &signer));
	return signer;
}

int
main(int count, char **arguments)
{
	static const char *const names[] = {"sign", "pairs", "clusters", "dedupe", "learn", "compare"};
	static void (*const commands[])(void) = {command_sign,   command_pairs, command_clusters,
											 command_dedupe, command_learn, command_compare};
	const char *name = count > 1 ? arguments[1] : "";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		print_and_end('h');
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		print_and_end('V');
	for (int i = 0; i < 6; i++)
		if (strcmp(name, names[i]) == 0)
		{
			read_options(count - 1, arguments + 1);
			commands[i]();
			if (fflush(stdout) != 0)
				fail(EXIT_INPUT, "could not write: %s", strerror(errno));
			return 0;
		}
	if (count > 1)
		fail(EXIT_USAGE, "there is no command \"%s\": try 'neardup --help'", name);
	fprintf(stderr, "%s", usage);
	return EXIT_USAGE;
}
