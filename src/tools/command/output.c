/*
 * output.c: the records that a command writes: to standard output, or to a file for each file read.
 *
 * Files of --output are written in a folder of their own within it, and the report in a temporary
 * file beside its own; they are moved when all output is complete.  However the program ends before,
 * none of them is left.
 */
#include "command/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **target;     /* the target of each file; empty: nothing of the file can be read */
static char **part;       /* the file of each target while it is written */
static size_t targets;    /* files that have been named */
static size_t moved;      /* files that were moved to where they belong */
static char *aside;       /* the folder of the parts, or NULL */
static bool made;         /* the folder of --output was made, as there was none */
static FILE *stream;      /* the part that is being written */
static size_t opened;     /* parts opened so far */
static const char *of;    /* the file whose records that part has */
static char *report;      /* the file of the report, or NULL */
static char *report_part; /* the file that it is written to first */

/* Removes all that was written, unless it is complete. */
void
output_abandon(void)
{
	if (report != NULL)
		(void) unlink(report_part);
	if (aside == NULL)
		return;
	for (size_t i = 0; i < targets; i++)
		(void) unlink(part[i]);
	for (size_t i = 0; i < moved; i++)
		(void) unlink(target[i]);
	(void) rmdir(aside);
	if (made)
		(void) rmdir(options.folder);
	aside = NULL;
}

/* Ends the program as a signal does. */
static void
end_by_signal(int number)
{
	output_abandon();
	signal(number, SIG_DFL);
	raise(number);
}

/* Makes signals that end the program remove what was written. */
static void
abandon_by_signal(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};

	for (int i = 0; i < 4; i++)
		if (signal(signals[i], end_by_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

/* Returns the name of a file without its folder. */
static const char *
base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* Compares names of files for qsort, without their folders. */
static int
compare_names(const void *x, const void *y)
{
	return strcmp(base_of(*(char *const *) x), base_of(*(char *const *) y));
}

/* Returns a path. */
static char *
path_of(const char *folder, const char *name)
{
	Buffer path = {0};

	put_text(&path, "%s/%s", folder, name);
	return path.bytes;
}

/* Fails unless each file that is read has a name of its own, which is free in --output. */
static void
check_names(size_t count)
{
	char **sorted = resize(NULL, NULL, count * sizeof(char *));
	struct stat status;

	memcpy(sorted, options.files, count * sizeof(char *));
	qsort(sorted, count, sizeof(char *), compare_names);
	for (size_t i = 0; i < count; i++)
	{
		if (is_stream(sorted[i]))
			fail(EXIT_USAGE, "\"%s\" has no name for a file in --output", sorted[i]);
		if (i > 0 && compare_names(sorted + i - 1, sorted + i) == 0)
			fail(EXIT_USAGE, "\"%s\" and \"%s\" would be one file in --output", sorted[i - 1],
				 sorted[i]);
		if (lstat(path_of(options.folder, base_of(sorted[i])), &status) == 0)
			fail(EXIT_USAGE, "\"%s/%s\" exists: remove it, or name another folder with --output",
				 options.folder, base_of(sorted[i]));
	}
	resize(NULL, sorted, 0);
}

/* Prepares the folder of --output, if there is one. */
void
output_begin(void)
{
	size_t count = 0;
	char *folder;

	if (options.folder == NULL)
		return;
	if (*options.folder == '\0')
		fail(EXIT_USAGE, "--output names no folder");
	if (format_by_name(options.folder) != FORMAT_AUTO && access(options.folder, F_OK) != 0)
		fail(EXIT_USAGE,
			 "--output is a folder: for one file, write >\"%s\"; otherwise make \"%s\" first",
			 options.folder, options.folder);
	while (options.files[count] != NULL)
		count++;
	check_names(count);
	part = resize(NULL, NULL, count * sizeof(char *));
	target = resize(NULL, NULL, count * sizeof(char *));
	made = mkdir(options.folder, 0777) == 0;
	folder = path_of(options.folder, ".neardup.XXXXXX");
	if (mkdtemp(folder) == NULL)
		fail(EXIT_INPUT, "could not write to \"%s\": %s", options.folder, strerror(errno));
	aside = folder;
	for (; targets < count; targets++)
	{
		const char *name = base_of(options.files[targets]);

		part[targets] = path_of(aside, name);
		target[targets] = path_of(options.folder, name);
	}
	abandon_by_signal();
}

/* Returns the mode of a new file. */
static mode_t
new_mode(void)
{
	mode_t mask = umask(0);

	(void) umask(mask);
	return 0666 & ~mask;
}

/* Opens a temporary file beside the report, with the mode of the report that is there, or of a new one. */
static FILE *
open_report_part(const struct stat *before)
{
	char *name = before != NULL ? realpath(options.report, NULL) : (char *) options.report;
	Buffer beside = {0};
	int descriptor;

	if (name == NULL)
		return NULL;
	put_text(&beside, "%s.XXXXXX", name);
	descriptor = mkstemp(beside.bytes);
	if (descriptor < 0)
		return NULL;
	report_part = beside.bytes;
	report = name;
	(void) fchmod(descriptor, before != NULL ? before->st_mode & 07777 : new_mode());
	return fdopen(descriptor, "w");
}

/* Returns whether the report would be a file of --output. */
static bool
is_report_output(void)
{
	const char *name = base_of(options.report);
	size_t length = name - options.report;
	Buffer folder = {0};
	struct stat x;
	struct stat y;

	put_text(&folder, "%.*s.", (int) length, options.report);
	if (targets == 0 || stat(folder.bytes, &x) != 0 || stat(options.folder, &y) != 0 ||
		x.st_dev != y.st_dev || x.st_ino != y.st_ino)
		return false;
	for (size_t i = 0; i < targets; i++)
		if (strcmp(name, base_of(target[i])) == 0)
			return true;
	return false;
}

/* Opens the report.  A pipe or a device is written to where it is, as it has nothing to lose. */
FILE *
output_open_report(void)
{
	struct stat status;
	bool found = stat(options.report, &status) == 0;
	FILE *file;

	if (*options.report == '\0')
		fail(EXIT_USAGE, "--report names no file");
	if (is_report_output())
		fail(EXIT_USAGE, "--report is the file of the output");
	abandon_by_signal();
	if (found && (!S_ISREG(status.st_mode) || access(options.report, W_OK) != 0))
		file = fopen(options.report, "a");
	else
		file = open_report_part(found ? &status : NULL);
	if (file == NULL)
		fail(EXIT_INPUT, "could not open \"%s\": %s", options.report, strerror(errno));
	return file;
}

/* Closes the part that is written, if there is one. */
static void
close_part(void)
{
	if (stream != NULL && fclose(stream) != 0)
		fail(EXIT_INPUT, "could not write \"%s\": %s", target[opened - 1], strerror(errno));
	stream = NULL;
}

/* Writes a byte order mark that came in, and the names of columns, and of one more, or their line as it is. */
void
put_head(RecordBatch *batch, const char *more)
{
	const char *at = batch->data.bytes + batch->head.start;
	size_t length = without_line_end(at, batch->head.length);
	bool crlf = *more == '\0' && batch->head.length > length + 1;

	if (batch->marked && batch->format != FORMAT_FILES)
		put(&batch->out, "\xef\xbb\xbf", 3);
	if (batch->head.length == 0)
		return;
	put(&batch->out, at, length);
	put_text(&batch->out, "%s%s", more, crlf ? "\r\n" : "\n");
}

/* Compresses what a batch writes, in any thread, as its file is, if it goes to one. */
void
output_pack(RecordBatch *batch)
{
	if (options.folder != NULL)
		pack(batch->packing, &batch->out);
}

/* A Step: writes what a batch has in `out`; batches come in the order of the files. */
void
output_write(void *state, RecordBatch *batch)
{
	if (options.folder != NULL && batch->file != of)
	{
		close_part();
		of = batch->file;
		/* Nothing of the file can be read. */
		if (batch->broken.length > 0 && batch->data.length == 0)
			*target[opened] = '\0';
		else if ((stream = fopen(part[opened], "wb")) == NULL)
			fail(EXIT_INPUT, "could not write \"%s\": %s", target[opened], strerror(errno));
		opened++;
	}
	if (options.folder == NULL || stream != NULL)
		write_out(options.folder != NULL ? stream : stdout, batch->out.bytes, batch->out.length);
}

/* Moves the files of --output, and the report, to where they belong, if all output was written. */
void
output_end(void)
{
	if (fflush(stdout) != 0)
		fail(EXIT_INPUT, "could not write: %s", strerror(errno));
	close_part();
	for (; moved < targets; moved++)
		if (*target[moved] != '\0' && rename(part[moved], target[moved]) != 0)
			fail(EXIT_INPUT, "could not write \"%s\": %s", target[moved], strerror(errno));
	if (report != NULL && rename(report_part, report) != 0)
		fail(EXIT_INPUT, "could not write \"%s\": %s", options.report, strerror(errno));
	report = NULL;
	if (aside != NULL)
		(void) rmdir(aside);
	aside = NULL;
}
