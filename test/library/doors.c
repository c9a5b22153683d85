/*
 * doors.c: answers questions for test/t/055_doors.pl by neardup.h alone.
 *
 * Each line of standard input has fields: the file to write; the question, pairs, pairs_against,
 * stars, nearest, held or held_nearest, with decided_ or contained_ before it if sets decide; the
 * threshold, or the share that is contained; how many values are compared with the others if the
 * question is of `against`; letters, m for multisets, c for containment; threads; memory; the
 * kind; and files of COPY BINARY with a column of values, and of their sets.
 */
#include "library/neardup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Question
{
	const char *out;
	const char *name;
	size_t split;
	neardup_options options;
} Question;

static void
fail(const char *message)
{
	fprintf(stderr, "%s\n", message);
	exit(1);
}

static void *
allocate(size_t bytes)
{
	void *result = calloc(bytes + 1, 1);

	if (result == NULL)
		fail("out of memory");
	return result;
}

/* ---- Values ------------------------------------------------------------- */

static uint8_t *
read_file(const char *name, size_t *length)
{
	FILE *file = fopen(name, "rb");
	uint8_t *bytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(name);
	*length = ftell(file);
	rewind(file);
	bytes = allocate(*length);
	if (fread(bytes, 1, *length, file) != *length)
		fail(name);
	fclose(file);
	return bytes;
}

/* With this threshold all pairs are looked at. */
#define LOW 0.01

/* Reads a column of COPY BINARY. */
static neardup_values
read_values(neardup_kind kind, const char *name)
{
	size_t length;
	uint8_t *bytes = read_file(name, &length);
	uint64_t *offset = allocate((length / 6 + 1) * sizeof(uint64_t));
	size_t count = 0;
	size_t used = 0;

	/* Behind a header of 19 bytes each row is the number of its columns, a length and the value. */
	for (size_t at = 19; bytes[at] == 0;)
	{
		size_t size =
			(size_t) bytes[at + 2] << 24 | bytes[at + 3] << 16 | bytes[at + 4] << 8 | bytes[at + 5];

		memmove(bytes + used, bytes + at + 6, size);
		at += 6 + size;
		used += size;
		offset[++count] = used;
	}
	return (neardup_values){.kind = kind, .count = count, .bytes = bytes, .offset = offset};
}

/* ---- Answers ------------------------------------------------------------ */

/* Writes numbers counted from 1 and a similarity in as few digits as give it back. */
static void
write_pair(FILE *out, uint32_t a, uint32_t b, double similarity)
{
	char text[32];
	int digits = 0;

	do
		snprintf(text, sizeof(text), "%.*g", ++digits, similarity);
	while (strtod(text, NULL) != similarity);
	fprintf(out, "%u\t%u\t%s", a + 1, b + 1, text);
}

static neardup_code
answer_pairs(FILE *out, neardup_session *session, const Question *question,
			 const neardup_values *values, const neardup_values *against)
{
	neardup_pair *pair;
	size_t count;
	neardup_code code = neardup_pairs(session, values, against, &question->options, &pair, &count);

	if (code != NEARDUP_OK)
		return code;
	for (size_t i = 0; i < count; i++)
	{
		write_pair(out, pair[i].a, pair[i].b + (against != NULL ? question->split : 0),
				   pair[i].similarity);
		fputc('\n', out);
	}
	neardup_free(session, pair);
	return code;
}

/* Clusters of two and more, or with `against` the values that have a keeper. */
static neardup_code
answer_clusters(FILE *out, neardup_session *session, const Question *question,
				const neardup_values *values, const neardup_values *against)
{
	uint32_t *keeper = allocate(values->count * sizeof(uint32_t));
	double *similarity = allocate(values->count * sizeof(double));
	uint32_t *size =
		allocate((values->count + (against != NULL ? against->count : 0)) * sizeof(uint32_t));
	neardup_code code =
		neardup_clusters(session, values, against, &question->options, keeper, similarity);

	for (size_t i = 0; code == NEARDUP_OK && i < values->count; i++)
		if (keeper[i] != NEARDUP_NO_KEEPER)
			size[keeper[i]]++;
	for (size_t i = 0; code == NEARDUP_OK && i < values->count; i++)
	{
		if (keeper[i] == NEARDUP_NO_KEEPER || (against == NULL && size[keeper[i]] < 2))
			continue;
		write_pair(out, i, keeper[i] + (against != NULL ? question->split : 0), similarity[i]);
		if (against == NULL)
			fprintf(out, "\t%u", size[keeper[i]]);
		fputc('\n', out);
	}
	free(keeper);
	free(similarity);
	free(size);
	return code;
}

/* Writes the answer to a question; with `against`, values are chosen from one list. */
static void
answer(neardup_session *session, const Question *question, const neardup_values *all)
{
	bool two = strstr(question->name, "against") != NULL || strstr(question->name, "held") != NULL;
	neardup_values values = *all;
	neardup_values others = *all;
	uint32_t *chosen = allocate(all->count * sizeof(uint32_t));
	FILE *out = fopen(question->out, "w");

	if (out == NULL)
		fail(question->out);
	for (uint32_t i = 0; i < all->count; i++)
		chosen[i] = i;
	if (two)
		values.count = question->split;
	others.count = all->count - values.count;
	others.chosen = chosen + values.count;
	if ((strstr(question->name, "pairs") != NULL ?
			 answer_pairs :
			 answer_clusters)(out, session, question, &values, two ? &others : NULL) != NEARDUP_OK)
		fprintf(out, "%s\n", neardup_message(session));
	free(chosen);
	fclose(out);
}

int
main(void)
{
	neardup_session *session = neardup_open(NULL);
	neardup_values values = {0};
	neardup_values sets = {0};
	neardup_evidence evidence = {.sets = &sets};
	char line[8192];
	char read[1024] = "";

	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		char *field[10] = {strtok(line, "\t\n")};
		Question question;
		bool contained;

		for (int i = 1; i < 10; i++)
			field[i] = strtok(NULL, "\t\n");
		if (field[9] == NULL)
			fail("a line has too few fields");
		if (strcmp(read, field[8]) != 0)
		{
			free((void *) values.bytes);
			free((void *) values.offset);
			free((void *) sets.bytes);
			free((void *) sets.offset);
			snprintf(read, sizeof(read), "%s", field[8]);
			values = read_values(atoi(field[7]), read);
			sets = read_values(NEARDUP_SHINGLES, field[9]);
		}
		contained = strncmp(field[1], "contained", 9) == 0;
		values.evidence = contained || strncmp(field[1], "decided", 7) == 0 ? &evidence : NULL;
		question = (Question){.out = field[0],
							  .name = field[1],
							  .split = atoi(field[3]),
							  .options = {.threshold = contained ? LOW : atof(field[2]),
										  .contained = contained ? atof(field[2]) : 0,
										  .multiset = strchr(field[4], 'm') != NULL,
										  .containment = strchr(field[4], 'c') != NULL,
										  .nearest = strstr(field[1], "nearest") != NULL,
										  .jobs = atoi(field[5]),
										  .memory = atol(field[6])}};
		answer(session, &question, &values);
	}
	free((void *) values.bytes);
	free((void *) values.offset);
	free((void *) sets.bytes);
	free((void *) sets.offset);
	neardup_close(session);
	return 0;
}
