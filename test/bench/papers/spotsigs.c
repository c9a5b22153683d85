/*
 * spotsigs.c: the ways to find all similar documents that Theobald, Siddharth and Paepcke
 * compare (SpotSigs, SIGIR 2008), on a generated collection.
 *
 *   spotsigs rows DOCUMENTS              writes id int, spots bigint[], for COPY ... (FORMAT binary)
 *   spotsigs time DOCUMENTS THRESHOLD    times the ways, and writes a line for each: its name,
 *                                        seconds, those of them before the first comparison,
 *                                        documents compared with others, comparisons, pairs,
 *                                        a sum that depends on the pairs, the megabytes it
 *                                        takes beside the collection, and the threshold
 *
 * Similarity is that of multisets, weighted_jaccard.  The frequencies of signatures follow
 * Zipf's law, so many signatures belong to one document only.  The ways are:
 *
 *   SpotSigs        inverted lists of all signatures, the rarest first, each read to the end of
 *                   the next partition by length; a pair is compared unless the frequency
 *                   already passed rules it out
 *   no partitions   the same lists, read to their ends
 *   no pruning      the same lists of each partition, and each pair that is met is compared
 *   LSH             pairs that share a band of minima are compared.  Bands have as many minima
 *                   as find a pair at the threshold with a probability of FOUND, from MINIMA
 *                   minima in all
 *   neardup         join/set_join.c
 *
 * Lists that take longer than SECONDS are given up: fewer documents than all are compared then.
 */
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../timer.h"
#include "base/hash.h"
#include "join/set_items.h"

#define SECONDS 30

/* ---- The collection -------------------------------------------------------------- */

#define LEAST 4   /* signatures of a document */
#define MEAN 30   /* their numbers are exponentially distributed */
#define MOST 1000 /* of them */
#define FIRST_RANK \
	20.0              /* the frequency of a signature is as 1 to its rank, which is from here ... */
#define LAST_RANK 1e9 /* ... to here */
#define COPY_EVERY 5  /* every fifth document is an edited copy */
#define MOST_EDITED 0.2 /* share of its signatures */

/* Returns a number that depends on a document and another number. */
static uint64_t
chance(uint64_t document, uint64_t which)
{
	return mix64(document << 20 ^ mix64(which + 1));
}

/* The same, in [0, 1). */
static double
share(uint64_t document, uint64_t which)
{
	return (chance(document, which) >> 11) / 9007199254740992.0;
}

/* Returns the document that a document is a copy of; or itself.  Earlier ones have more copies. */
static uint64_t
original(uint64_t document)
{
	double at = share(document, MOST);
	uint64_t of = (uint64_t) (at * at * document);

	if (document % COPY_EVERY != COPY_EVERY - 1)
		return document;
	return of % COPY_EVERY == COPY_EVERY - 1 ? of - 1 : of;
}

/* Returns a signature of a document. */
static uint64_t
signature(uint64_t document, uint64_t which)
{
	double rank = FIRST_RANK * pow(LAST_RANK / FIRST_RANK, share(document, which));

	return mix64((uint64_t) rank);
}

/* Sets spot, which has room for MOST numbers, to the signatures of a document.  Returns how many. */
static int
make_spots(uint64_t document, uint64_t *spot)
{
	uint64_t of = original(document);
	double length = LEAST - (MEAN - LEAST) * log(1 - share(of, MOST + 1));
	double edited = of == document ? 0 : MOST_EDITED * share(document, MOST + 2);
	int count = 0;

	for (int i = 0; i < length && i < MOST; i++)
	{
		bool edit = share(document, MOST + 3 + i) < edited;

		/* Half of the edits drop a signature, the others replace it. */
		if (!edit || chance(document, 2 * MOST + 3 + i) % 2 == 0)
			spot[count++] = signature(edit ? document : of, i);
	}
	return count;
}

static void
put16(uint16_t x)
{
	x = htons(x);
	fwrite(&x, sizeof(x), 1, stdout);
}

static void
put32(uint32_t x)
{
	x = htonl(x);
	fwrite(&x, sizeof(x), 1, stdout);
}

static void
put_rows(uint32_t documents)
{
	uint64_t spot[MOST];

	fwrite("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19, 1, stdout);
	for (uint32_t d = 0; d < documents; d++)
	{
		int count = make_spots(d, spot);

		put16(2);
		put32(4);
		put32(d);
		put32(20 + 12 * count);
		put32(1); /* dimension */
		put32(0);
		put32(20); /* bigint */
		put32(count);
		put32(1);
		for (int i = 0; i < count; i++)
		{
			put32(8);
			put32(spot[i] >> 32);
			put32((uint32_t) spot[i]);
		}
	}
	put16(UINT16_MAX);
}

static Bag *
make_bags(uint32_t documents)
{
	Bag *bags = host_alloc(documents * sizeof(Bag));
	uint64_t spot[MOST];

	for (uint32_t d = 0; d < documents; d++)
	{
		int count = make_spots(d, spot);
		BagBuilder builder;

		bag_begin(&builder);
		bag_add(&builder, spot, count);
		(void) bag_finish(&builder, bags + d);
	}
	return bags;
}

/* ---- Answers --------------------------------------------------------------------- */

typedef struct Answer
{
	const Bag *bags;
	uint32_t documents;
	double threshold;
	double start;
	double prepared; /* seconds until the first documents are compared; 0: unknown */
	uint32_t done;   /* documents */
	uint64_t pairs;
	uint64_t compared;
	uint64_t sum;
} Answer;

static bool
take_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Answer *answer = state;

	answer->pairs++;
	answer->sum += (Min(a, b) * UINT64_C(2654435761) ^ Max(a, b) * UINT64_C(40503)) & UINT32_MAX;
	return true;
}

static void
compare(Answer *answer, uint32_t a, uint32_t b)
{
	double similarity =
		bag_similarity(answer->bags + a, answer->bags + b, MEASURE_RESEMBLANCE, true);

	answer->compared++;
	if (similarity >= answer->threshold)
		take_pair(answer, a, b, similarity);
}

static bool
late(const Answer *answer)
{
	return seconds() - answer->start > SECONDS;
}

/* ---- The paper's join ------------------------------------------------------------ */

/* The documents of each rank, by length. */
typedef struct Lists
{
	size_t *start; /* one more than there are ranks */
	size_t *first; /* the first document that the present one has not passed */
	uint32_t *document;
} Lists;

static Lists
make_lists(const SetItems *items)
{
	Lists lists = {.start = host_alloc(((size_t) items->ranks + 2) * sizeof(size_t)),
				   .first = host_alloc(((size_t) items->ranks + 1) * sizeof(size_t))};
	size_t *start = lists.start;

	memset(start, 0, ((size_t) items->ranks + 2) * sizeof(size_t));
	for (uint32_t d = 0; d < items->documents; d++)
		for (uint32_t i = 0; i < items->document[d].items; i++)
			start[items->rank[items->document[d].item + i] + 2]++;
	for (uint32_t r = 0; r < items->ranks; r++)
		start[r + 2] += start[r + 1];
	lists.document = host_alloc(start[items->ranks + 1] * sizeof(uint32_t));
	for (uint32_t d = 0; d < items->documents; d++)
		for (uint32_t i = 0; i < items->document[d].items; i++)
			lists.document[start[items->rank[items->document[d].item + i] + 1]++] = d;
	memcpy(lists.first, start, items->ranks * sizeof(size_t));
	return lists;
}

/* Returns for each document the end of the partition after its own. */
static uint32_t *
make_limits(const SetItems *items, double threshold)
{
	uint32_t *limit = host_alloc(items->documents * sizeof(uint32_t));
	uint32_t own = 0;
	uint32_t before = 0;

	for (uint32_t d = 0; d <= items->documents; d++)
	{
		uint64_t least;
		uint64_t most;

		overlap_sizes(MEASURE_RESEMBLANCE, items->document[own].length, threshold, &least, &most);
		if (d < items->documents && d > 0 && items->document[d].length <= most)
			continue;
		for (uint32_t i = before; i < own; i++)
			limit[i] = d;
		before = own;
		own = d;
	}
	for (uint32_t i = before; i < items->documents; i++)
		limit[i] = items->documents;
	return limit;
}

/*
 * Compares a document with those in the list of one of its items that are no shorter, and
 * come before a limit.  passed is the length of its items before this one.
 */
static void
read_list(Answer *answer, const SetItems *items, Lists *lists, uint32_t *met, uint32_t d,
		  uint32_t rank, uint64_t passed, uint32_t limit)
{
	const SetDocument *x = items->document + d;

	while (lists->first[rank] < lists->start[rank + 1] && lists->document[lists->first[rank]] <= d)
		lists->first[rank]++;
	for (size_t p = lists->first[rank]; p < lists->start[rank + 1]; p++)
	{
		const SetDocument *y = items->document + lists->document[p];

		if (lists->document[p] >= limit)
			break;
		if (met[lists->document[p]] == d + 1)
			continue;
		met[lists->document[p]] = d + 1;
		if (x->length - passed + 1e-9 >= answer->threshold * y->length)
			compare(answer, x->bag, y->bag);
	}
}

static void
join_spots(Answer *answer, bool partitioned, bool pruned)
{
	SetJoin join = {.left = answer->bags,
					.left_count = answer->documents,
					.threshold = answer->threshold,
					.weighted = true};
	SetItems items = {0};
	SetRanks *ranks;
	Lists lists;
	uint32_t *limit;
	uint32_t *met;

	ranks = set_ranks_make(&join, &items);
	if (ranks == NULL)
		abort();
	set_ranks_put(ranks, true);
	lists = make_lists(&items);
	limit = make_limits(&items, answer->threshold);
	met = host_alloc(items.documents * sizeof(uint32_t));
	memset(met, 0, items.documents * sizeof(uint32_t));
	answer->prepared = seconds() - answer->start;
	for (uint32_t d = 0; d < items.documents && (d % 1024 > 0 || !late(answer)); d++)
	{
		const SetDocument *document = items.document + d;
		double most = pruned ? (1 - answer->threshold) * document->length + 1e-9 : document->length;
		uint64_t passed = pruned ? document->unshared : 0;

		for (uint32_t i = 0; i < document->items && passed <= most; i++)
		{
			read_list(answer, &items, &lists, met, d, items.rank[document->item + i], passed,
					  partitioned ? limit[d] : items.documents);
			if (pruned)
				passed += set_item_frequency(&items, document->item + i);
		}
		answer->done++;
	}
	host_free(met);
	host_free(limit);
	host_free(lists.start);
	host_free(lists.first);
	host_free(lists.document);
	set_items_free(&items);
}

/* ---- LSH ------------------------------------------------------------------------- */

#define MINIMA 192
#define FOUND 0.99

/* Bands of rows minima each. */
typedef struct Bands
{
	int bands;
	int rows;
} Bands;

/* Returns the bands of the most rows. */
static Bands
choose_bands(double threshold)
{
	Bands best = {.bands = MINIMA, .rows = 1};

	for (int rows = 1; rows <= MINIMA; rows++)
	{
		double missed = log1p(-pow(threshold, rows));
		double bands = missed < 0 ? fmax(1, ceil(log(1 - FOUND) / missed)) : INFINITY;

		if (threshold == 1)
			bands = 1;
		if (bands * rows <= MINIMA)
			best = (Bands){.bands = (int) bands, .rows = rows};
	}
	return best;
}

typedef struct Keyed
{
	uint64_t key;
	uint32_t document;
} Keyed;

static int
by_key(const void *a, const void *b)
{
	const Keyed *x = a;
	const Keyed *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->document < y->document ? -1 : x->document > y->document;
}

/* Returns the keys of the bands of all documents. */
static uint64_t *
make_keys(const Answer *answer, Bands bands)
{
	uint64_t *key = host_alloc((size_t) answer->documents * bands.bands * sizeof(uint64_t));
	int64_t least[MINIMA];

	for (uint32_t d = 0; d < answer->documents; d++)
	{
		if (answer->bags[d].count == 0)
			least[0] = d;
		else
			bag_minima(answer->bags + d, bands.bands * bands.rows, least);
		for (int b = 0; b < bands.bands; b++)
		{
			uint64_t hash = b;

			for (int r = 0; r < bands.rows; r++)
				hash = mix64(hash ^ (uint64_t) least[b * bands.rows + r]);
			key[(size_t) d * bands.bands + b] = hash;
		}
	}
	return key;
}

/* Compares two documents that share a band, unless they share one before it. */
static void
compare_in_band(Answer *answer, const uint64_t *key, int bands, int band, uint32_t x, uint32_t y)
{
	for (int b = 0; b < band; b++)
		if (key[(size_t) x * bands + b] == key[(size_t) y * bands + b])
			return;
	compare(answer, x, y);
}

/* Compares the documents that share a band, from first on.  Returns the first document after them. */
static uint32_t
join_bucket(Answer *answer, const uint64_t *key, const Keyed *keyed, int bands, int band,
			uint32_t first)
{
	uint32_t end = first;

	while (end < answer->documents && keyed[end].key == keyed[first].key)
		end++;
	for (uint32_t i = first; i < end && !late(answer); i++)
		for (uint32_t j = i + 1; j < end; j++)
			compare_in_band(answer, key, bands, band, keyed[i].document, keyed[j].document);
	return end;
}

static void
join_bands(Answer *answer)
{
	Bands bands = choose_bands(answer->threshold);
	uint64_t *key = make_keys(answer, bands);
	Keyed *keyed = host_alloc(answer->documents * sizeof(Keyed));
	int band;

	answer->prepared = seconds() - answer->start;
	for (band = 0; band < bands.bands && !late(answer); band++)
	{
		for (uint32_t d = 0; d < answer->documents; d++)
			keyed[d] = (Keyed){.key = key[(size_t) d * bands.bands + band], .document = d};
		qsort(keyed, answer->documents, sizeof(Keyed), by_key);
		for (uint32_t i = 0; i < answer->documents;)
			i = join_bucket(answer, key, keyed, bands.bands, band, i);
	}
	answer->done = late(answer) ? (uint32_t) ((double) answer->documents * band / bands.bands) :
								  answer->documents;
	host_free(keyed);
	host_free(key);
}

/* ---- neardup --------------------------------------------------------------------- */

static void
join_sets(Answer *answer)
{
	SetJoin join = {.left = answer->bags,
					.left_count = answer->documents,
					.threshold = answer->threshold,
					.weighted = true,
					.sink = take_pair,
					.state = answer};
	JoinStats stats;

	(void) set_join(&join, &stats);
	answer->compared = stats.compared;
	answer->done = answer->documents;
}

/* ---- Main ------------------------------------------------------------------------ */

static void
join_partitions(Answer *answer)
{
	join_spots(answer, true, true);
}

static void
join_without_partitions(Answer *answer)
{
	join_spots(answer, false, true);
}

static void
join_without_pruning(Answer *answer)
{
	join_spots(answer, true, false);
}

/* Returns the most memory that this process has had, in megabytes. */
static double
most_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024.0;
}

static void
time_way(const Bag *bags, uint32_t documents, double threshold, const char *name,
		 void (*way)(Answer *))
{
	double memory = most_memory();
	Answer answer = {.bags = bags,
					 .documents = documents,
					 .threshold = threshold,
					 .start = seconds()};
	double time;

	way(&answer);
	time = seconds() - answer.start;
	printf("%s\t%.3f\t%.3f\t%u\t%llu\t%llu\t%llu\t%.0f\t%g\n", name, time, answer.prepared,
		   answer.done, (unsigned long long) answer.compared, (unsigned long long) answer.pairs,
		   (unsigned long long) answer.sum, most_memory() - memory, threshold);
}

/* Times a way in a process of its own, whose memory is that of this way. */
static void
race(const Bag *bags, uint32_t documents, double threshold, const char *name, void (*way)(Answer *))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
	{
		time_way(bags, documents, threshold, name, way);
		exit(fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
	{
		fprintf(stderr, "spotsigs: %s failed\n", name);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	uint32_t documents = argc > 2 ? atoi(argv[2]) : 0;
	double threshold = argc > 3 ? atof(argv[3]) : 0;
	Bag *bags;

	if (documents > 0 && strcmp(argv[1], "rows") == 0)
		put_rows(documents);
	else if (threshold > 0 && threshold <= 1 && strcmp(argv[1], "time") == 0)
	{
		bags = make_bags(documents);
		race(bags, documents, threshold, "SpotSigs", join_partitions);
		race(bags, documents, threshold, "no partitions", join_without_partitions);
		race(bags, documents, threshold, "no pruning", join_without_pruning);
		race(bags, documents, threshold, "LSH", join_bands);
		race(bags, documents, threshold, "neardup", join_sets);
	}
	else
	{
		fprintf(stderr, "usage: spotsigs rows DOCUMENTS | spotsigs time DOCUMENTS THRESHOLD\n");
		return 2;
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
