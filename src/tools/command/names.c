/*
 * names.c: the names of the files that are read and written.
 */
#include "command/command.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Names ---------------------------------------------------------------- */

/* Returns the file of a name, or the files that match a pattern such as 's/x.*', in order. */
char **
files_of(const char *name)
{
	static glob_t found;
	char **one = resize(NULL, NULL, 2 * sizeof(char *));

	one[0] = (char *) name;
	one[1] = NULL;
	if (access(name, F_OK) == 0 || strpbrk(name, "*?[") == NULL)
		return one;
	memset(&found, 0, sizeof(found));
	if (glob(name, 0, NULL, &found) != 0)
		fail(EXIT_INPUT, "there is no file \"%s\"", name);
	return found.gl_pathv;
}

/* Adds the lines of a file to an array, but empty ones; they end in zero bytes if the file has any. */
void
read_lines(const char *name, Buffer *all)
{
	Buffer list = read_whole(name, false);
	size_t mark = list.length >= 3 && memcmp(list.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	char between = memchr(list.bytes, '\0', list.length) != NULL ? '\0' : '\n';
	char *end;

	put(&list, &between, 1);
	for (char *at = list.bytes + mark; at < list.bytes + list.length; at = end + 1)
	{
		end = memchr(at, between, list.bytes + list.length - at);
		*end = '\0';
		if (*at != '\0')
			put(all, &at, sizeof(at));
	}
}

/* Returns names, and behind them the names that the file of --files-from has. */
char **
read_names(char **names)
{
	Buffer all = {0};

	while (*names != NULL)
		put(&all, names++, sizeof(char *));
	read_lines(options.files_from, &all);
	if (all.length == 0)
		fail(EXIT_INPUT, "\"%s\" names no file", options.files_from);
	put(&all, &(char *){NULL}, sizeof(char *));
	return (char **) all.bytes;
}

/* Returns whether a name, where "-" is a stream, is that of a regular file; sets its status. */
static bool
find_file(const char *name, int stream, struct stat *status)
{
	bool found = strcmp(name, "-") == 0 ? fstat(stream, status) == 0 : stat(name, status) == 0;

	return found && S_ISREG(status->st_mode);
}

/* ---- Files with several names --------------------------------------------- */

/* The names that are left out of which a message has the first. */
#define NAMES_SHOWN 3

/*
 * The file of a name.  Two names are of one file, as links are, if device and inode are the same; file
 * systems that number no inodes may have one number for all, so size and time must be the same, too.
 */
typedef struct NamedFile
{
	uint64_t identity[5];
	size_t number; /* the number of the name */
	const char *name;
} NamedFile;

/* Compares files for qsort, and names of one file in their order. */
static int
compare_files(const void *x, const void *y)
{
	const NamedFile *a = x;
	const NamedFile *b = y;
	int order = memcmp(a->identity, b->identity, sizeof(a->identity));

	return order != 0 ? order : a->number < b->number ? -1 : a->number > b->number;
}

/* Adds the files of names, each of which has a number; returns how many names there are. */
static size_t
add_files(Buffer *files, char **names, size_t first)
{
	size_t count = 0;

	for (; names != NULL && names[count] != NULL; count++)
	{
		struct stat status;

		if (find_file(names[count], STDIN_FILENO, &status))
			put(files,
				&(NamedFile){{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
							  status.st_mtim.tv_nsec},
							 first + count,
							 names[count]},
				sizeof(NamedFile));
	}
	return count;
}

/* Removes names of which `first` has another name of the file; writes the first of them. */
static void
remove_names(char **names, const char **first, Buffer *positions, size_t *removed)
{
	char **to = names;

	for (size_t i = 0; names != NULL && names[i] != NULL; i++)
		if (first[i] == NULL)
			*to++ = names[i];
		else if ((*removed)++ < NAMES_SHOWN)
			put_text(positions, "\n  \"%s\" is \"%s\"", names[i], first[i]);
	if (names != NULL)
		*to = NULL;
}

/*
 * Leaves out the names of a file that has been named, since it would be its own duplicate, and says
 * so.  Files of others, which may be NULL, are named before.
 */
void
leave_out_names(char **others, char **names)
{
	Buffer files = {0};
	Buffer positions = {0};
	size_t before = add_files(&files, others, 0);
	size_t count = before + add_files(&files, names, before);
	const char **first = resize(NULL, NULL, count * sizeof(char *) + 1);
	NamedFile *file = (NamedFile *) files.bytes;
	size_t found = files.length / sizeof(NamedFile);
	size_t removed = 0;

	memset(first, 0, count * sizeof(char *));
	if (found > 0)
		qsort(file, found, sizeof(NamedFile), compare_files);
	for (size_t i = 1, start = 0; i < found; i++)
	{
		if (memcmp(file[i].identity, file[start].identity, sizeof(file->identity)) != 0)
			start = i;
		else
			first[file[i].number] = file[start].name;
	}
	remove_names(others, first, &positions, &removed);
	remove_names(names, first + before, &positions, &removed);
	if (removed > 0)
		fprintf(stderr,
				"neardup: names that are left out, since another is of the same file: %zu%s%s\n",
				removed, positions.bytes, removed > NAMES_SHOWN ? "\n  …" : "");
	if (*names == NULL)
		fail(EXIT_USAGE, "all files are those of --against: nothing would stay");
	resize(NULL, first, 0);
	resize(NULL, files.bytes, 0);
	resize(NULL, positions.bytes, 0);
}

/* ---- What is read and written --------------------------------------------- */

/* Returns whether two names, where "-" is the input or the output, name one file. */
static bool
is_same_file(const char *input, const char *output)
{
	struct stat x;
	struct stat y;

	return input != NULL && output != NULL && find_file(input, STDIN_FILENO, &x) &&
		find_file(output, STDOUT_FILENO, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns whether an input is standard input, also by another name if that is a pipe. */
static bool
is_standard_input(const char *name)
{
	struct stat x;
	struct stat y;

	return strcmp(name, "-") == 0 ||
		(stat(name, &x) == 0 && fstat(STDIN_FILENO, &y) == 0 && S_ISFIFO(x.st_mode) &&
		 x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* Fails if an input, which may be NULL, would be written, too; returns whether it is standard input. */
static bool
check_input(const char *name)
{
	if (name == NULL)
		return false;
	if (!options.skip_errors || name == options.lexicon || name == options.without)
		check_readable(name);
	if (is_same_file(name, "-") || is_same_file(name, options.report))
		fail(EXIT_USAGE, "\"%s\" would be overwritten while it is read", name);
	return is_standard_input(name);
}

/* Fails if a file would be written while it is read or written, or standard input be read twice. */
void
check_files(void)
{
	int streams = check_input(options.lexicon) + check_input(options.without) +
		(options.files_from != NULL && is_standard_input(options.files_from));

	for (char **name = options.files; *name != NULL; name++)
		streams += check_input(*name);
	for (char **name = options.others; name != NULL && *name != NULL; name++)
		streams += check_input(*name);
	if (options.others != NULL && options.format == FORMAT_AUTO && !are_signatures(options.others))
		format_of(*options.others);
	if (options.separator != NULL && options.format <= FORMAT_JSONL &&
		(options.format == FORMAT_JSONL || format_of(*options.files) == FORMAT_JSONL))
		fail(EXIT_USAGE, "--separator is for csv and tsv: name the format with --input");
	if (streams > 1)
		fail(EXIT_USAGE, "standard input would be read twice");
	if (is_same_file(options.report, "-"))
		fail(EXIT_USAGE, "--report is the file of the output");
}
