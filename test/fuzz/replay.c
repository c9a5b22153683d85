/*
 * replay.c: runs a fuzz target on the files of folders, without libFuzzer; without
 * arguments, fuzz_NAME on test/fuzz/corpus/NAME.  Prints their number.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "fuzz.h"

/* The current file. */
static char running[4096];

/* An error that a sanitizer finds ends like a failed REQUIRE. */
extern const char *__asan_default_options(void);
extern const char *__ubsan_default_options(void);

const char *
__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *
__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void
name_file(int signal_number)
{
	static const char before[] = "it was ";

	if (write(STDERR_FILENO, before, sizeof(before) - 1) > 0 &&
		write(STDERR_FILENO, running, strlen(running)) > 0 && write(STDERR_FILENO, "\n", 1) > 0)
		_exit(1);
	_exit(2);
}

/* Runs the target on the bytes of a file, in memory with nothing after them. */
static void
run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;
	uint8_t *data;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
	{
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	rewind(file);
	data = malloc(size > 0 ? (size_t) size : 1);
	REQUIRE(data != NULL && fread(data, 1, (size_t) size, file) == (size_t) size);
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t) size);
	free(data);
}

static int
run_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int files = 0;

	if (folder == NULL)
	{
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	while ((entry = readdir(folder)) != NULL)
	{
		if (entry->d_name[0] == '.')
			continue;
		snprintf(running, sizeof(running), "%s/%s", path, entry->d_name);
		run_file(running);
		files++;
	}
	closedir(folder);
	return files;
}

int
main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char corpus[256];
	int files = 0;

	signal(SIGABRT, name_file);
	name = name != NULL ? name + 1 : argv[0];
	snprintf(corpus, sizeof(corpus), "test/fuzz/corpus/%s", name + strcspn(name, "_") + 1);
	if (argc == 1)
		files = run_folder(corpus);
	for (int i = 1; i < argc; i++)
		files += run_folder(argv[i]);
	printf("%d files\n", files);
	return files > 0 ? 0 : 1;
}
