/*
 * keepers.c: neardup keepers, clusters of records whose pairs are known.
 */
#include "command/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Lines of pairs that the library is given at a time. */
#define STEP 1024

/* A file of pairs that is read line by line, and what is known of the records. */
typedef struct PairFiles
{
	char **name; /* the name of the open file, or the next one */
	Input *input;
	bool more; /* more of the file is behind the data */
	Buffer data;
	size_t at;
	uint64_t line;
	Buffer cell; /* an id, with a zero behind it */
	neardup_edge edge[STEP];
	/* Records, in order, if there are --signatures; or else ids are their numbers. */
	Buffer id;       /* the ids of all, with a zero behind each */
	Buffer id_at;    /* size_t: where each id begins */
	Buffer gone;     /* the ids of --without, with a zero behind each, whose records come last */
	uint64_t kept;   /* the number of the others */
	uint64_t *table; /* numbers of records, from 1, by the hashes of their ids; 0: empty */
	uint64_t mask;   /* positions of the table - 1 */
	XXH64_hash_t seed;
	Spool members;  /* neardup_edge: of each that is no keeper, with its keeper */
	uint64_t count; /* the number of members */
	Buffer size;    /* uint32_t: how many records have each record as keeper */
} PairFiles;

/* ---- Records -------------------------------------------------------------- */

static const char *
id_of(const PairFiles *pairs, uint64_t record)
{
	return pairs->id.bytes + ((const size_t *) pairs->id_at.bytes)[record];
}

/* Adds a record. */
static void
keepers_add_id(PairFiles *pairs, const char *id)
{
	put(&pairs->id_at, &pairs->id.length, sizeof(size_t));
	put(&pairs->id, id, strlen(id) + 1);
}

/* A TakeSignature: keeps the id of a record. */
static void
keep_id(void *state, const SignatureRecord *signature)
{
	PairFiles *pairs = state;

	if (is_without(signature->id))
		put(&pairs->gone, signature->id, strlen(signature->id) + 1);
	else
		keepers_add_id(pairs, signature->id);
}

/* Returns the position of an id in the table: of its record, or an empty one. */
static uint64_t *
find_id(const PairFiles *pairs, const char *id)
{
	uint64_t position = XXH3_64bits_withSeed(id, strlen(id), pairs->seed) & pairs->mask;

	while (pairs->table[position] != 0 && strcmp(id_of(pairs, pairs->table[position] - 1), id) != 0)
		position = (position + 1) & pairs->mask;
	return pairs->table + position;
}

/* Reads the ids of the records. */
static void
read_ids(PairFiles *pairs)
{
	char **names = files_of(options.signatures);
	size_t count;

	leave_out_names(NULL, names);
	read_signatures(names, keep_id, pairs);
	tell_without();
	/* No record joins a later one, or has a later equal one stand for it, so the last are as if they were not there. */
	pairs->kept = pairs->id_at.length / sizeof(size_t);
	for (size_t at = 0; at < pairs->gone.length; at += strlen(pairs->gone.bytes + at) + 1)
		keepers_add_id(pairs, pairs->gone.bytes + at);
	count = pairs->id_at.length / sizeof(size_t);
	for (pairs->mask = 1; pairs->mask < 2 * count; pairs->mask = 2 * pairs->mask + 1)
		;
	pairs->table = resize(NULL, NULL, (pairs->mask + 1) * sizeof(uint64_t));
	memset(pairs->table, 0, (pairs->mask + 1) * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
	{
		uint64_t *position = find_id(pairs, id_of(pairs, i));

		if (*position != 0)
			fail(EXIT_INPUT, "records %" PRIu64 " and %zu have the same id, \"%.60s\"", *position,
				 i + 1, id_of(pairs, i));
		*position = i + 1;
	}
}

/* ---- Pairs ---------------------------------------------------------------- */

/* Fails with what is wrong with a line. */
static void __attribute__((noreturn))
fail_line(const PairFiles *pairs, const char *message, const char *id)
{
	fail(EXIT_INPUT, "line %" PRIu64 " of \"%s\" cannot be read: %s%.60s", pairs->line,
		 *pairs->name, message, id);
}

/* Reads a field of a line, as COPY writes it, which ends before a byte; returns what follows that. */
static const char *
read_cell(PairFiles *pairs, const char *at, const char *end, char before)
{
	static const char letters[] = "bfnrtv";

	pairs->cell.length = 0;
	for (; at < end && *at != before; at++)
	{
		char c = *at;

		if (c == '\\' && at + 1 < end)
		{
			const char *found = strchr(letters, *++at);

			c = found != NULL ? "\b\f\n\r\t\v"[found - letters] : *at;
		}
		put(&pairs->cell, &c, 1);
	}
	put(&pairs->cell, "", 1);
	if (at == end && before != '\n')
		fail_line(pairs, "it is no pair of ids and a similarity, with tabs between them", "");
	return at + 1;
}

/* Returns the number of the record that was read, from 0. */
static uint64_t
read_record(const PairFiles *pairs)
{
	const char *id = pairs->cell.bytes;
	uint64_t number = 0;
	char *end;

	if (pairs->table != NULL)
		number = *find_id(pairs, id);
	else
	{
		errno = 0;
		number = strtoull(id, &end, 10);
		if (*id < '0' || *id > '9' || *end != '\0' || errno != 0)
			number = 0;
	}
	if (number == 0 && pairs->table != NULL)
		fail_line(pairs, "there is no record with the id ", id);
	if (number == 0)
		fail_line(pairs,
				  "name the --signatures of the records, unless their ids are their numbers: ", id);
	return number - 1;
}

/* Reads a line without its end. */
static neardup_edge
read_line(PairFiles *pairs, const char *at, const char *end)
{
	neardup_edge edge;
	char *behind;

	at = read_cell(pairs, at, end, '\t');
	edge.a = read_record(pairs);
	at = read_cell(pairs, at, end, '\t');
	edge.b = read_record(pairs);
	if (edge.a == edge.b)
		fail_line(pairs, "it is a pair of a record with itself: ", pairs->cell.bytes);
	(void) read_cell(pairs, at, end, '\n');
	edge.similarity = strtod(pairs->cell.bytes, &behind);
	if (*behind != '\0' || !(edge.similarity > 0 && edge.similarity <= 1))
		fail_line(pairs, "this is no similarity: ", pairs->cell.bytes);
	return edge;
}

/* Returns the length of the next line, its end included; 0 behind the last one. */
static size_t
next_line(PairFiles *pairs)
{
	Buffer *data = &pairs->data;
	size_t seen = pairs->at;
	const char *end = NULL;

	while ((end = memchr(data->bytes + seen, '\n', data->length - seen)) == NULL && pairs->more)
	{
		memmove(data->bytes, data->bytes + pairs->at, data->length - pairs->at);
		data->length -= pairs->at;
		pairs->at = 0;
		seen = data->length;
		pairs->more = input_read(pairs->input, data);
	}
	return (end != NULL ? end + 1 - data->bytes : data->length) - pairs->at;
}

/* A neardup_next_edges. */
static bool
next_edges(void *state, const neardup_edge **edges, size_t *count)
{
	PairFiles *pairs = state;
	struct stat status;
	size_t length;

	*edges = pairs->edge;
	for (*count = 0; *count < STEP;)
	{
		if (pairs->input == NULL && *pairs->name == NULL)
			break;
		if (pairs->input == NULL)
		{
			pairs->input = input_open(*pairs->name, -1, &status, NULL);
			pairs->more = input_read(pairs->input, &pairs->data);
		}
		length = next_line(pairs);
		if (length > 0)
		{
			const char *at = pairs->data.bytes + pairs->at;

			pairs->line++;
			pairs->at += length;
			pairs->edge[(*count)++] = read_line(pairs, at, at + without_line_end(at, length));
			continue;
		}
		pairs->name++;
		pairs->input = NULL;
		pairs->data.length = pairs->at = pairs->line = 0;
	}
	return true;
}

/* ---- Clusters ------------------------------------------------------------- */

/* Counts a record to the size of its keeper. */
static void
count_record(PairFiles *pairs, uint64_t keeper)
{
	size_t before = pairs->size.length;

	if (keeper >= before / sizeof(uint32_t))
		memset(extend(&pairs->size, (keeper + 1) * sizeof(uint32_t) - before), 0,
			   (keeper + 1) * sizeof(uint32_t) - before);
	((uint32_t *) pairs->size.bytes)[keeper]++;
}

/* A neardup_take_edges: keeps records that are no keepers, which come in order. */
static bool
keep_members(void *state, const neardup_edge *edges, size_t count)
{
	PairFiles *pairs = state;

	while (pairs->table != NULL && count > 0 && edges[count - 1].a >= pairs->kept)
		count--;
	spool_put(&pairs->members, edges, count * sizeof(neardup_edge));
	pairs->count += count;
	for (size_t i = 0; i < count; i++)
		count_record(pairs, edges[i].b);
	return true;
}

/* Writes an id and a tab. */
static void
keepers_put_id(Buffer *line, const PairFiles *pairs, uint64_t record)
{
	if (pairs->table != NULL)
		put_copy_text(line, id_of(pairs, record));
	else
		put_text(line, "%" PRIu64, record + 1);
	put(line, "\t", 1);
}

/* Writes a record of a cluster. */
static void
write_record(const PairFiles *pairs, Buffer *line, const neardup_edge *member)
{
	line->length = 0;
	keepers_put_id(line, pairs, member->a);
	keepers_put_id(line, pairs, member->b);
	line->length--;
	put_similarity(line, member->similarity);
	put_text(line, "\t%" PRIu64 "\n",
			 (uint64_t) ((const uint32_t *) pairs->size.bytes)[member->b] + 1);
	write_out(stdout, line->bytes, line->length);
}

/* Writes the clusters of two records and more: keepers before the members that come later. */
static void
write_clusters(PairFiles *pairs)
{
	uint64_t sizes = pairs->size.length / sizeof(uint32_t);
	Buffer line = {0};
	uint64_t next = 0;
	neardup_edge member = {0};

	for (uint64_t i = 0; i <= pairs->count; i++)
	{
		if (i < pairs->count)
			memcpy(&member, spool_get(&pairs->members, i * sizeof(member), sizeof(member)),
				   sizeof(member));
		for (; next < sizes && (i == pairs->count || next < member.a); next++)
			if (((const uint32_t *) pairs->size.bytes)[next] > 0)
				write_record(pairs, &line, &(neardup_edge){next, next, 1});
		if (i < pairs->count)
			write_record(pairs, &line, &member);
	}
	resize(NULL, line.bytes, 0);
}

/* neardup keepers: writes the clusters of records whose pairs are known. */
void
command_keepers(void)
{
	neardup_session *session = new_session();
	PairFiles *pairs = resize(NULL, NULL, sizeof(PairFiles));

	memset(pairs, 0, sizeof(*pairs));
	pairs->name = options.files;
	if (options.signatures != NULL)
		read_ids(pairs);
	options.join.memory = memory_for_join() / 2;
	check(session, neardup_keepers(session, next_edges, keep_members, pairs, &options.join));
	write_clusters(pairs);
}
