/*
 * without.c: the ids that leave kept signatures.
 */
#include "command/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An id of the file of --without. */
typedef struct Removed
{
	const char *id;
	bool found;
} Removed;

static Buffer removed; /* Removed, by their ids */

/* Compares ids for qsort and bsearch. */
static int
compare_removed(const void *x, const void *y)
{
	return strcmp(((const Removed *) x)->id, ((const Removed *) y)->id);
}

static size_t
count_removed(void)
{
	return removed.length / sizeof(Removed);
}

/* Reads the ids of --without, one a line. */
void
read_without(void)
{
	Buffer lines = {0};
	Removed *first;
	size_t count = 0;

	if (options.without == NULL)
		return;
	read_lines(options.without, &lines);
	for (size_t i = 0; i < lines.length / sizeof(char *); i++)
	{
		char *id = ((char **) lines.bytes)[i];

		id[without_line_end(id, strlen(id))] = '\0';
		put(&removed, &(Removed){id, false}, sizeof(Removed));
	}
	if (removed.length == 0)
		fail(EXIT_INPUT, "\"%s\" has no id", options.without);
	first = (Removed *) removed.bytes;
	qsort(first, count_removed(), sizeof(Removed), compare_removed);
	for (size_t i = 0; i < count_removed(); i++)
		if (count == 0 || strcmp(first[count - 1].id, first[i].id) != 0)
			first[count++] = first[i];
	removed.length = count * sizeof(Removed);
}

/* Returns whether a record of signatures leaves. */
bool
is_without(const char *id)
{
	Removed *found = NULL;

	if (count_removed() > 0)
		found = bsearch(&(Removed){id, false}, removed.bytes, count_removed(), sizeof(Removed),
						compare_removed);
	if (found != NULL)
		found->found = true;
	return found != NULL;
}

/* Says how many ids no record has. */
void
tell_without(void)
{
	size_t missing = 0;

	for (size_t i = 0; i < count_removed(); i++)
		missing += !((const Removed *) removed.bytes)[i].found;
	if (missing > 0)
		fprintf(stderr, "neardup: ids of --without that no record has: %zu of %zu\n", missing,
				count_removed());
}
