/*
 * main.c: the options of the command neardup, and what all of it shares.
 */
#include "command/command.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

CommandOptions options = {.field = {"text"}, .format = FORMAT_AUTO, .decide = -1};

/* ---- Errors, memory and bytes ------------------------------------------- */

/* Prints a message, and ends the program. */
void
fail(int code, const char *format, ...)
{
	va_list arguments;

	/* Of several threads, the first one ends the program. */
	flockfile(stderr);
	output_abandon();
	va_start(arguments, format);
	fprintf(stderr, "neardup: ");
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	_exit(code);
}

/* Ends the program unless a function of the library succeeded. */
void
check(neardup_session *session, neardup_code code)
{
	bool resources = code == NEARDUP_NO_MEMORY || code == NEARDUP_TOO_LARGE;
	bool input = code == NEARDUP_MALFORMED || code == NEARDUP_NO_FILE;

	if (code != NEARDUP_OK)
		fail(input         ? EXIT_INPUT :
				 resources ? EXIT_RESOURCES :
							 EXIT_USAGE,
			 "%s", neardup_message(session));
}

/* Bytes of memory that the program has now. */
static _Atomic int64_t used;

/* This thread ends the program, whatever memory it still takes. */
static _Thread_local bool ending;

/* Fails since options.memory does not suffice; says how much does, if that is known. */
static void
refuse_memory(void)
{
	double enough;

	flockfile(stderr);
	ending = true;
	enough = options.unit == UNIT_PASSAGE ? ceil(memory_for_passages() / 1e6) : 0;
	if (enough * 1e6 > options.memory)
		fail(EXIT_RESOURCES,
			 "--memory %.0f does not suffice, since a record is long; --memory %.0fM does",
			 options.memory, enough);
	fail(EXIT_RESOURCES, "--memory %.0f does not suffice", options.memory);
}

/*
 * Counts memory that grows or shrinks, if options.memory is given; fails if all of it would take more.
 * The little memory that was allocated before the option was read is not counted.
 */
void
count_memory(size_t before, size_t after)
{
	int64_t more = (int64_t) after - (int64_t) before;

	if (options.memory == 0)
		return;
	if (more > 0 && used + more > options.memory && !ending)
		refuse_memory();
	used += more;
}

/*
 * Returns the memory for a join: three quarters of what is left of options.memory, since threads
 * and answers take the rest.  Without that option, 0, which the library takes for half of the
 * machine's memory.
 */
size_t
memory_for_join(void)
{
	double left = options.memory - (double) used;

	if (options.memory == 0)
		return 0;
	return left > 0 ? (size_t) (left / 4 * 3) : 1;
}

/* Allocates all memory of the program. */
void *
resize(void *state, void *memory, size_t bytes)
{
	size_t before = memory != NULL ? malloc_usable_size(memory) : 0;
	void *result = NULL;

	count_memory(before, bytes);
	if (bytes == 0)
		free(memory);
	else if ((result = realloc(memory, bytes)) == NULL)
		fail(EXIT_RESOURCES, "out of memory");
	count_memory(bytes, bytes > 0 ? malloc_usable_size(result) : 0);
	return result;
}

/* A neardup_host.warn. */
static void
warn_of_family(void *state, const char *message)
{
	(void) state;
	fprintf(stderr, "neardup: %s; --common, --lexicon or a higher --threshold takes less\n",
			message);
}

/* Returns a new session of the library. */
neardup_session *
new_session(void)
{
	static const neardup_host host = {.resize = resize, .warn = warn_of_family};

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

/* Writes to a buffer as printf() does, and a zero behind it that does not count. */
void
put_text(Buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	vsnprintf(extend(buffer, length + 1), length + 1, format, arguments);
	va_end(arguments);
	buffer->length--;
}

/* Writes to a file, or fails. */
void
write_out(FILE *file, const void *bytes, size_t length)
{
	if (length > 0 && fwrite(bytes, 1, length, file) != length)
		fail(EXIT_INPUT, "could not write: %s", strerror(errno));
}

/* ---- Options ------------------------------------------------------------ */

/* What an option is for; check_options() refuses it where that is not there. */
enum
{
	OF_RECORDS = 1,        /* not --input files */
	OF_OWN_RECORDS = 2,    /* not --signatures */
	OF_TEXTS = 4,          /* not --signatures, unless texts of --against are there */
	OF_SIGNATURES = 8,     /* --signatures, or those of --against */
	OF_WHOLE_RECORDS = 16, /* --unit record */
	OF_LINES = 32,         /* --unit line */
	OF_FILES = 64,         /* --input files */
	OF_COMMON = 128,       /* --common */
	OF_ONE_KIND = 256,     /* one kind of signatures, so only one such option */
	OF_ONE_WEIGHT = 512,   /* one way to weigh shingles, or none, so only one such option */
	OF_PASSAGES = 1024,    /* --unit passage */
	OF_OUTPUT = 2048       /* not --mark */
};

/* An option: a flag if it has no value, a choice if its value has bars, a number if it has bounds. */
typedef struct Option
{
	const char *name;
	const char *value;
	const char *help; /* the help; for a number, it says which are allowed */
	void *position;
	const char *only; /* the commands that have it; NULL: all */
	char letter;      /* its short name, or 0 */
	unsigned of;      /* bits that say what it is for */
	double least;
	double most;
} Option;

#define READERS "sign, pairs, clusters, dedupe and learn"
#define SIGNERS "sign, pairs, clusters, dedupe and compare"

static const Option known[] = {
	{"input", "jsonl|csv|tsv|files", "the format of the files; default: by their names",
	 &options.format, .only = READERS, .letter = 'i', .of = OF_TEXTS},
	{"field", "NAME", "the field of the text; default: text", &options.field[TEXT], .only = READERS,
	 .letter = 'f', .of = OF_RECORDS | OF_TEXTS},
	{"signatures", "FILE",
	 "a file of sign --format copy-binary, or a pattern such as 's/*', in place of records; "
	 "keepers: their order",
	 &options.signatures, .only = "pairs, clusters, dedupe and keepers"},
	{"without", "FILE",
	 "ids, one a line, whose signatures are as if they were not there; keepers: with --signatures",
	 &options.without, .only = "pairs, clusters, dedupe and keepers", .of = OF_SIGNATURES},
	{"id", "NAME", "the field of the id; default: records are numbered from 1", &options.field[ID],
	 .only = "sign, pairs, clusters and dedupe", .of = OF_RECORDS | OF_TEXTS},
	{"bigint", NULL, "ids are bigint in copy-binary, not text", &options.id_number,
	 .only = "sign, pairs, clusters, dedupe and keepers", .of = OF_RECORDS},
	{"scheme", "SCHEME",
	 "shingles, such as 'char 5'; default: 'word 3', for simhash and learn 'word 1'",
	 &options.scheme, .only = "sign, pairs, clusters, dedupe, learn and compare", .letter = 's',
	 .of = OF_TEXTS | OF_WHOLE_RECORDS},
	{"mask", "KIND[,KIND]",
	 "masks what changes by itself: url, email, uuid, ip, date, hex, number, digits (words with digits)",
	 &options.mask, .only = "sign, pairs, clusters, dedupe, learn and compare", .of = OF_TEXTS},
	{"minhash", "K,B", "signs by minhash; 192,2 where texts decide; default: 512,1",
	 &options.minhash, .only = SIGNERS, .of = OF_TEXTS | OF_WHOLE_RECORDS | OF_ONE_KIND},
	{"simhash", "F", "signs by simhash of F bits", &options.simhash, .only = SIGNERS,
	 .of = OF_TEXTS | OF_WHOLE_RECORDS | OF_ONE_KIND | OF_ONE_WEIGHT},
	{"shingles", NULL, "signs with, and compares, the sets of shingles", &options.shingles,
	 .only = "sign, pairs, clusters and dedupe", .of = OF_TEXTS | OF_WHOLE_RECORDS | OF_ONE_KIND},
	{"lexicon", "FILE", "weighs shingles by a lexicon", &options.lexicon, .only = SIGNERS,
	 .of = OF_TEXTS | OF_WHOLE_RECORDS | OF_ONE_WEIGHT},
	{"common", "SHARE",
	 "the share of the distinct texts, above 0, at most 1; shingles that so many have, and at least 20, are left out",
	 &options.common, .only = "pairs, clusters and dedupe", .least = 1e-9, .most = 1,
	 .of = OF_OWN_RECORDS | OF_WHOLE_RECORDS | OF_ONE_WEIGHT},
	{"source", "NAME",
	 "with --common: texts of one value in this field are of one source; also leaves out what its texts share",
	 &options.field[SOURCE], .only = "pairs, clusters and dedupe", .of = OF_RECORDS | OF_COMMON},
	{"format", "copy-text|copy-binary|records", "what is written; default: copy-text",
	 &options.output, .only = "sign"},
	{"threshold", "NUMBER", "the least similarity, above 0, at most 1; default: 0.8",
	 &options.join.threshold, .only = "pairs, clusters and dedupe", .letter = 't', .least = 1e-9,
	 .most = 1, .of = OF_WHOLE_RECORDS},
	{"containment", NULL, "with --shingles: compares by containment", &options.join.containment,
	 .only = "pairs, clusters and dedupe", .of = OF_WHOLE_RECORDS},
	{"multiset", NULL, "with --shingles: compares multisets", &options.join.multiset,
	 .only = "pairs, clusters and dedupe", .of = OF_WHOLE_RECORDS},
	{"decide", "texts|signatures",
	 "what decides: the shingles of the texts, the default of dedupe with minhash; or the estimate",
	 &options.decide, .only = "pairs, clusters and dedupe", .of = OF_WHOLE_RECORDS},
	{"contained", "SHARE",
	 "the least share of its shingles in the one that stays by which a record goes, above 0, at most 1; --threshold says which are looked at",
	 &options.join.contained, .only = "pairs, clusters and dedupe", .least = 1e-9, .most = 1,
	 .of = OF_WHOLE_RECORDS},
	{"nearest", NULL, "joins the most similar keeper, not the first", &options.join.nearest,
	 .only = "clusters, dedupe and keepers", .of = OF_WHOLE_RECORDS},
	{"part", "I/N",
	 "one of N parts of the work, which are done in any order; N is 1, 3, 6, 10 "
	 "and so on, any with --against",
	 &options.part, .only = "pairs"},
	{"against", "FILE",
	 "compares with its records or signatures; dedupe: what is similar to one goes",
	 &options.against, .only = "pairs and dedupe", .letter = 'a'},
	{"best", "NAME",
	 "keeps the record with the greatest number, or text such as an ISO date, in this field",
	 &options.field[BEST], .only = "clusters and dedupe",
	 .of = OF_RECORDS | OF_OWN_RECORDS | OF_WHOLE_RECORDS},
	{"report", "FILE", "writes what went, and why", &options.report, .only = "dedupe",
	 .of = OF_OUTPUT},
	{"drop", "others|all", "of similar records, all but the keeper go, or all; default: others",
	 &options.drop, .only = "dedupe", .of = OF_WHOLE_RECORDS},
	{"unit", "record|line|passage",
	 "record; line: lines that stood before, in any record, go; or passage: runs of words that did; default: record",
	 &options.unit, .only = "dedupe", .of = OF_RECORDS},
	{"min-run", "NUMBER",
	 "the fewest words of a run that goes, whole, from 1 to 100000; with --unit passage; default: 50",
	 &options.min_run, .only = "dedupe", .least = 1, .most = NEARDUP_RUN_MOST, .of = OF_PASSAGES},
	{"min-left", "NUMBER",
	 "the fewest words of a record that lost some, else it goes, whole, from 1 to --min-run; with --unit passage; default: 1",
	 &options.min_left, .only = "dedupe", .least = 1, .most = NEARDUP_RUN_MOST, .of = OF_PASSAGES},
	{"mark", NULL, "with --unit passage: writes what --report would, and no records", &options.mark,
	 .only = "dedupe", .of = OF_PASSAGES},
	{"min-words", "NUMBER",
	 "the fewest words of a line that goes, whole, from 1 to 1000000; with --unit line; default: 5",
	 &options.min_words, .only = "dedupe", .least = 1, .most = 1e6, .of = OF_LINES},
	{"output", "FOLDER",
	 "writes a file for each file, of its name and compression, not to standard output",
	 &options.folder, .only = "dedupe and sign", .of = OF_RECORDS | OF_OUTPUT},
	{"separator", "CHARACTER", "between the columns of csv and tsv; default: a comma, and a tab",
	 &options.separator, .only = READERS, .of = OF_RECORDS | OF_TEXTS},
	{"files-from", "FILE", "reads the names of files from it, one a line", &options.files_from,
	 .only = READERS},
	{"null", NULL,
	 "with --input files: writes a zero byte behind each name, and in the report only pairs of names",
	 &options.null, .only = "dedupe", .of = OF_FILES},
	{"skip-errors", NULL,
	 "leaves out records and files that cannot be read, and the end of a file that is cut",
	 &options.skip_errors, .only = READERS, .of = OF_TEXTS},
	{"entries", "NUMBER",
	 "the most entries of the lexicon, whole, from 1 to 1000000; default: 10000", &options.entries,
	 .only = "learn", .least = 1, .most = 1e6},
	{"share", "NUMBER",
	 "the share of the records with which a shingle weighs nothing, above 0, at most 1; default: 0.05",
	 &options.share, .only = "learn", .least = 1e-9, .most = 1},
	{"jobs", "NUMBER",
	 "the number of threads, whole, from 1 to 1024; default: one for each processor", &options.jobs,
	 .letter = 'j', .least = 1, .most = JOBS_MAX},
	{"memory", "SIZE", "the most memory to use, at least 1M; default: half of the machine's",
	 &options.memory, .letter = 'm', .least = 1e6, .most = 1e18},
	{"help", NULL, "prints this", .letter = 'h'},
	{"version", NULL, "prints the version", .letter = 'V'},
};

#define KNOWN (sizeof(known) / sizeof(*known))
#define LETTERS 256

static const char usage[] =
	"usage: neardup sign|pairs|clusters|dedupe|learn|keepers [option ...] [file ...]\n"
	"       neardup compare [option ...] file file\n"
	"\n"
	"  sign      writes a signature for each record\n"
	"  pairs     writes the pairs of similar records: a, b, similarity\n"
	"  clusters  writes id, keeper, similarity and size of clusters\n"
	"  dedupe    writes the records that stay; of files, their names\n"
	"  learn     writes a lexicon: weights of shingles by how few records have them\n"
	"  keepers   writes clusters by files of pairs, which pairs has written\n"
	"  compare   compares two files\n"
	"\n";

static const char exit_codes[] =
	"\n"
	"Exit codes: 0, success; 1, an option or argument is wrong; 2, input cannot be read, or\n"
	"output not be written; 3, memory does not suffice, or something is too large.\n";

/* Ends the program, if all output can be written. */
static void
end(void)
{
	if (fflush(stdout) != 0)
		fail(EXIT_INPUT, "could not write: %s", strerror(errno));
	exit(0);
}

/* Prints what the program can do, and ends it. */
static void
print_help(void)
{
	printf("%s", usage);
	for (const Option *option = known; option < known + KNOWN; option++)
	{
		char letter[] = {'-', option->letter, ',', '\0'};
		const char *only = option->only != NULL ? option->only : "";

		printf("  %s --%s %s\n          %s%s%s\n", option->letter != 0 ? letter : "   ",
			   option->name, option->value != NULL ? option->value : "", only,
			   *only != '\0' ? ": " : "", option->help);
	}
	printf("%s", exit_codes);
	end();
}

/* Sets an option; returns whether the value is allowed. */
static bool
set_option(const Option *option, const char *value)
{
	static const char units[] = "kMGT";
	size_t length = value != NULL ? strlen(value) : 0;
	int number = 0;

	if (option->value == NULL)
		return *(bool *) option->position = true;
	if (option->most > 0)
	{
		char *end;
		double *position = option->position;
		const char *unit;

		*position = strtod(value, &end);
		unit = strcmp(option->value, "SIZE") == 0 && *end != '\0' ? strchr(units, *end) : NULL;
		if (unit != NULL)
			*position *= pow(1000, unit - units + 1);
		return value[strspn(value, "0123456789.eE+-kMGT")] == '\0' && end[unit != NULL] == '\0' &&
			*position >= option->least && *position <= option->most &&
			(option->least != 1 || *position == floor(*position));
	}
	if (strchr(option->value, '|') == NULL)
		return (*(const char **) option->position = value) != NULL;
	for (const char *at = option->value; at != NULL; at = strchr(at, '|'), number++)
	{
		at += *at == '|';
		*(int *) option->position = number;
		if (strcspn(at, "|") == length && strncmp(at, value, length) == 0)
			return true;
	}
	return false;
}

/* Decides by texts or signatures as the options say, or as a command does if they do not. */
static void
check_decision(const char *command)
{
	bool given = options.decide != -1;
	neardup_kind kind = kind_of_options();
	bool texts =
		options.signatures == NULL && (options.against == NULL || !are_signatures(options.others));

	if (given && kind == NEARDUP_SHINGLES)
		fail(EXIT_USAGE, "--shingles compares texts as --decide texts does: leave one out");
	if (options.decide == DECIDE_TEXTS && kind == NEARDUP_SIMHASH)
		fail(EXIT_USAGE,
			 "--decide texts is for minhash: a simhash estimates no resemblance of shingles");
	if (options.common > 0 && !texts)
		fail(EXIT_USAGE, "--common needs texts on both sides, not signatures");
	if (given && options.decide == DECIDE_TEXTS && !texts)
		fail(EXIT_USAGE, "--decide texts needs texts on both sides, not signatures");
	if (!given)
		options.decide = texts &&
				((strcmp(command, "dedupe") == 0 && options.unit == UNIT_RECORD) ||
				 options.join.contained > 0) ?
			DECIDE_TEXTS :
			DECIDE_SIGNATURES;
	if (options.join.contained > 0 && !texts_decide())
		fail(EXIT_USAGE,
			 "--contained is for minhash with --decide texts; --shingles has --containment");
}

/* Fails if an option is given that is of what `of` says: there is something else, so it has no meaning. */
static void
refuse_options(const bool *given, unsigned of, const char *what)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (given[i] && (known[i].of & of) != 0)
			fail(EXIT_USAGE, "--%s is for %s", known[i].name, what);
}

/* Fails if two options are given of which there can be one. */
static void
refuse_second(const bool *given, unsigned of)
{
	const char *first = NULL;

	for (size_t i = 0; i < KNOWN; i++)
		if (given[i] && (known[i].of & of) != 0)
		{
			if (first != NULL)
				fail(EXIT_USAGE, "--%s and --%s exclude each other", first, known[i].name);
			first = known[i].name;
		}
}

/* Fails if options of passages have no meaning. */
static void
check_passages(const bool *given)
{
	if (options.unit != UNIT_PASSAGE)
	{
		refuse_options(given, OF_PASSAGES, "--unit passage");
		return;
	}
	if (options.mask != NULL)
		fail(EXIT_USAGE, "--mask is not for --unit passage, whose words are those of the text");
	if (options.min_left > options.min_run)
		fail(EXIT_USAGE, "--min-left is at most --min-run: else first copies could go");
	if (options.mark)
		refuse_options(given, OF_OUTPUT,
					   "records; --mark writes the report to standard output, and no records");
}

/* Fails if options that were given have no meaning together. */
static void
check_options(const bool *given, const char *command)
{
	const char *separator = options.separator;

	refuse_second(given, OF_ONE_KIND);
	refuse_second(given, OF_ONE_WEIGHT);
	if (options.common > 0 && options.join.multiset)
		fail(EXIT_USAGE, "--common compares sets, not multisets");
	if (options.common == 0)
		refuse_options(given, OF_COMMON, "--common");
	if (options.signatures != NULL)
		refuse_options(given, OF_OWN_RECORDS, "records, not for --signatures");
	if (options.signatures != NULL && (options.against == NULL || are_signatures(options.others)))
		refuse_options(given, OF_TEXTS, "texts, not for --signatures");
	if (options.signatures == NULL && (options.against == NULL || !are_signatures(options.others)))
		refuse_options(given, OF_SIGNATURES, "--signatures");
	check_decision(command);
	if (options.unit != UNIT_RECORD)
		refuse_options(given, OF_WHOLE_RECORDS, "whole records, not for --unit line or passage");
	if (options.unit != UNIT_LINE)
		refuse_options(given, OF_LINES, "--unit line");
	check_passages(given);
	if (separator != NULL &&
		(*separator == '\0' || separator[1] != '\0' || (signed char) *separator < 0 ||
		 isalnum(*separator) || strchr("\"\\.\r\n", *separator) != NULL))
		fail(EXIT_USAGE,
			 "--separator cannot be \"%s\": it is one ASCII character, such as ';' or, in bash, "
			 "$'\\t', but no letter, digit, quote, backslash, dot or line end",
			 separator);
	if (options.folder != NULL && strcmp(command, "sign") == 0 && options.output != OUTPUT_RECORDS)
		fail(EXIT_USAGE, "--output is for sign --format records");
	if (options.part != NULL)
		options.join.part = read_part(options.part, options.against != NULL);
	if (options.format != FORMAT_FILES)
	{
		refuse_options(given, OF_FILES, "--input files");
		return;
	}
	refuse_options(given, OF_RECORDS, "records, not for --input files");
	if (options.output == OUTPUT_RECORDS)
		fail(EXIT_USAGE, "--format records is for records, not for --input files");
}

/* Reads the options of a command, whose name is the first argument. */
static void
read_options(int count, char **arguments)
{
	static char *standard[] = {"-", NULL};
	struct option long_options[KNOWN + 1] = {0};
	char letters[2 * KNOWN + 1] = "";
	bool given[KNOWN] = {false};
	int number;

	/* getopt_long() returns a letter, or the option's number above all letters. */
	for (size_t i = 0; i < KNOWN; i++)
	{
		long_options[i] = (struct option){known[i].name, known[i].value != NULL, NULL, LETTERS + i};
		if (known[i].letter != 0)
			sprintf(letters + strlen(letters), "%c%s", known[i].letter,
					known[i].value != NULL ? ":" : "");
	}
	opterr = 0;
	options.entries = neardup_defaults()->entries;
	options.share = neardup_defaults()->share;
	options.join.threshold = neardup_defaults()->threshold;
	options.jobs = fmin(fmax(sysconf(_SC_NPROCESSORS_ONLN), 1), JOBS_MAX);
	options.min_words = 5;
	options.min_run = 50;
	options.min_left = 1;
	while ((number = getopt_long(count, arguments, letters, long_options, NULL)) != -1)
	{
		const Option *option = known;

		while (option < known + KNOWN && option->letter != number &&
			   LETTERS + (option - known) != number)
			option++;
		if (option == known + KNOWN)
			fail(EXIT_USAGE, "\"%s\" is no option, or lacks its value: try 'neardup --help'",
				 arguments[optind - 1]);
		if (option->letter == 'h')
			print_help();
		if (option->letter == 'V')
		{
			printf("neardup %s\n", neardup_version());
			end();
		}
		if (option->only != NULL && strstr(option->only, arguments[0]) == NULL)
			fail(EXIT_USAGE, "--%s is an option of %s, not of %s", option->name, option->only,
				 arguments[0]);
		if (!set_option(option, optarg))
			fail(EXIT_USAGE, "--%s cannot be \"%s\": it is %.*s", option->name, optarg,
				 option->most > 0 ? (int) strcspn(option->help, ";") : 99,
				 option->most > 0 ? option->help : option->value);
		given[option - known] = true;
	}
	if (options.against != NULL)
		options.others = files_of(options.against);
	check_options(given, arguments[0]);
	options.files = arguments + optind;
	if (options.files_from != NULL)
		options.files = read_names(options.files);
	else if (*options.files == NULL)
		options.files = standard;
	if (options.signatures != NULL && strcmp(arguments[0], "keepers") != 0)
	{
		if (options.files != standard)
			fail(EXIT_USAGE, "name files of records or --signatures, not both");
		options.files = files_of(options.signatures);
	}
	options.join.jobs = options.jobs;
}

int
main(int count, char **arguments)
{
	static const char *const names[] = {"sign",  "pairs",   "clusters", "dedupe",
										"learn", "compare", "keepers"};
	static void (*const commands[])(void) = {command_sign,   command_pairs, command_clusters,
											 command_dedupe, command_learn, command_compare,
											 command_keepers};
	const char *name = count > 1 ? arguments[1] : "";
	int command = 0;

	while (command < 7 && strcmp(name, names[command]) != 0)
		command++;
	/* getopt_long() moves the words. */
	options.line = resize(NULL, NULL, (count + 1) * sizeof(char *));
	memcpy(options.line, arguments + 1, count * sizeof(char *));
	arguments[0] = "neardup";
	if (command == 7)
		read_options(count, arguments);
	if (count < 2)
		fail(EXIT_USAGE, "name a command\n%s", usage);
	if (command == 7)
		fail(EXIT_USAGE, "there is no command \"%s\": try 'neardup --help'", name);
	read_options(count - 1, arguments + 1);
	check_files();
	read_without();
	if (commands[command] != command_compare)
		leave_out_names(options.others, options.files);
	output_begin();
	commands[command]();
	output_end();
	end();
}
