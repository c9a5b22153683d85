/*
 * hamming.c: exact searches within a Hamming distance as the literature has them, in one thread and in
 * memory, beside the index's own search: its groups, plans, lists and counters (grouping/).
 *
 *   hamming FOLDER ROWS [NAME-BITS...]   writes the rows, queries and numbers of matches for hamming.py
 *
 * A scan with popcount, MIH (Norouzi, Punjani, Fleet 2012), the filter of HmSearch (Zhang et al. 2013: the
 * query's values within distance 1, in parts that depend on the distance) and a BK-tree (Burkhard, Keller
 * 1973).  None of the data are uniform; those named are read from FOLDER, as hamming_data.py writes them:
 *
 *   forms    minhash(k, 1) of texts on one of eight forms, of which half of the queries are revisions
 *   sparse   881 bits.  The share of rows that have a bit falls from all to none, .18 on average, which
 *            is assumed to be like PubChem's fingerprints; one row in 100 begins a family, others vary one
 *   codes    clusters of Zipf's sizes, whose rows differ from the middle in 2 to 20 % of the bits
 *
 * Prints medians over the queries of processor time in microseconds.  Each method stops after LONG_MS,
 * but not before FEWEST queries.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "grouping/grouping.h"
#include "hamming.h"
#include "sketch/signature.h"
#include "timer.h"

#define QUERIES 50
#define FEWEST 5
#define LONG_MS 300
#define WORDS_MAX 16 /* of a row */
#define PAGE 8192.0

/* As in the extension: when a search looks at the lengths of its lists. */
#define LOOK_NS 300.0
#define UNEVEN 2
#define FAR_MORE 4

/* ---- Data --------------------------------------------------------------- */

#define TEXT_BYTES 4096
#define FORMS 8
#define FORM_WORDS 150
#define FIELD 4 /* one word in so many is filled in */

/* Signs a text on a form, filled in from a seed; `revised`: one field in eight from another. */
static void
sign_form(const Data *data, uint64_t seed, uint64_t revised, uint64_t *to)
{
	SignatureMaker maker = {.header = signature_header(SIGNATURE_MINHASH, data->k, 1,
													   SCHEME_ID(SCHEME_WORD, 3)),
							.scheme = SCHEME_ID(SCHEME_WORD, 3)};
	char text[TEXT_BYTES];
	int at = 0;
	uint32_t form = seed % FORMS;

	for (uint64_t i = 0; i < FORM_WORDS; i++)
	{
		uint64_t of = i % FIELD != 0 ? form : seed;

		if (i % FIELD == 0 && revised != 0 && mix64(revised + i) % 8 == 0)
			of = revised;
		at += sprintf(text + at, "w%u ",
					  (unsigned) (mix64(of * 1000 + i) % (i % FIELD != 0 ? 5000 : 20000)));
	}
	(void) signature_of_text(&maker, text, at, (uint8_t *) to);
}

/* Copies a row with each bit drawn anew with some probability, as 1 with the share of the bit. */
static void
vary(const Data *data, const uint64_t *from, double probability, const double *share, uint64_t *to)
{
	memcpy(to, from, data->words * sizeof(uint64_t));
	for (int bit = 0; bit < data->k; bit++)
		if (random_share() < probability)
		{
			to[bit / 64] &= ~mask_of(bit);
			to[bit / 64] |= random_share() < share[bit] ? mask_of(bit) : 0;
		}
}

/* Makes rows of families: every hundredth begins one, and a few of these have most of the rows. */
static void
make_families(Data *data, const double *share, double least, double most)
{
	uint32_t families = data->rows / 100;
	static const uint64_t none[WORDS_MAX] = {0};

	for (uint32_t i = 0; i < data->rows + QUERIES; i++)
	{
		uint32_t of = (uint32_t) (pow(families, random_share()) - 1);

		vary(data, i < families ? none : row_at(data, of),
			 i < families ? 1 : least + (most - least) * random_share(), share,
			 data->row + (size_t) i * data->words);
	}
}

/* Returns data with room for rows and queries.  Rows of 64 bytes are in a line each. */
static Data
begin_data(const char *name, int k, uint32_t rows)
{
	Data data = {name, k, (k + 63) / 64, rows, NULL, NULL};

	if (data.words < 1 || data.words > WORDS_MAX)
		abort();
	data.row = aligned_alloc(64, ((size_t) (rows + QUERIES) * data.words + 7) / 8 * 64);
	if (data.row == NULL)
		abort();
	data.query = data.row + (size_t) rows * data.words;
	return data;
}

/* Makes data, of which every word is set. */
static Data
make_data(const char *name, int k, uint32_t rows)
{
	Data data = begin_data(name, k, rows);
	double share[WORDS_MAX * 64];

	if (strcmp(name, "forms") == 0)
		for (uint32_t i = 0; i < rows + QUERIES; i++)
			sign_form(&data, i < rows || i % 2 == 0 ? i + 1 : random_below(rows) + 1,
					  i >= rows ? i : 0, data.row + (size_t) i * data.words);
	else
	{
		bool sparse = strcmp(name, "sparse") == 0;

		for (int bit = 0; bit < k; bit++)
			share[bit] = sparse ? pow(random_share(), 4.5) : 0.5;
		make_families(&data, share, sparse ? 0.02 : 0.04, 0.4);
	}
	return data;
}

static void
write_file(const char *folder, const Data *data, const char *ending, const void *bytes, size_t size)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s-%d.%s", folder, data->name, data->k, ending);
	file = fopen(path, "w");
	if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
	{
		perror(path);
		exit(1);
	}
}

/* Reads the file of some data with an ending; returns how many rows it has, and 0 if it cannot be read. */
static uint32_t
read_file(const char *folder, const Data *data, const char *ending, uint64_t *rows, uint32_t most)
{
	char path[1024];
	FILE *file;
	size_t read = 0;

	snprintf(path, sizeof(path), "%s/%s-%d.%s", folder, data->name, data->k, ending);
	file = fopen(path, "r");
	if (file != NULL)
	{
		read = fread(rows, data->words * sizeof(uint64_t), most, file);
		fclose(file);
	}
	return (uint32_t) read;
}

/* Reads data from files; `name` is NAME-BITS. */
static Data
load_data(const char *folder, char *name, uint32_t rows)
{
	char *bits = strrchr(name, '-');
	Data data = begin_data(name, bits != NULL ? atoi(bits + 1) : 0, rows);

	*bits = '\0';
	data.rows = read_file(folder, &data, "rows", data.row, rows);
	data.query = data.row + (size_t) data.rows * data.words;
	if (data.rows == 0 || read_file(folder, &data, "queries", data.query, QUERIES) != QUERIES)
	{
		fprintf(stderr, "%s/%s-%d has no rows or no queries\n", folder, name, data.k);
		exit(1);
	}
	return data;
}

/* ---- The index's search ----------------------------------------------------- */

/* A segment in memory, without pages. */
typedef struct Segment
{
	const Data *data;
	Grouping g;
	SegmentStats stats;
	uint8_t *code;
	size_t used;
	size_t room;
	uint32_t *start; /* the place of each bucket's code, and the end */
	int radius;      /* of the usual plan; -1: none */
	SearchPlan usual;
} Segment;

typedef struct Bucket
{
	int group;
	uint32_t value;
	double length;
} Bucket;

/* Writes the lists of a group; adds the lengths of the rows' own buckets, and of those a bit away. */
static void
fill_group(Segment *s, int group, uint32_t *bucket, uint32_t *first, uint32_t *row)
{
	const Data *data = s->data;
	uint32_t buckets = UINT32_C(1) << group_bucket_bits(&s->g, group);
	uint32_t *start = s->start + group_first_bucket(&s->g, group);

	group_buckets(&s->g, group, (const uint8_t *) data->row, data->words * sizeof(uint64_t),
				  data->rows, bucket);
	memset(first, 0, (buckets + 2) * sizeof(uint32_t));
	for (uint32_t i = 0; i < data->rows; i++)
		first[bucket[i] + 2]++;
	for (uint32_t i = 0; i < buckets; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < data->rows; i++)
		row[first[bucket[i] + 1]++] = i;
	for (uint32_t i = 0; i < buckets; i++)
	{
		size_t length = first[i + 1] - first[i];
		double share = length / ((double) data->rows * s->g.groups);

		s->code = host_grow(s->code, &s->room, s->used + length * 5 + 2 * POSTINGS_OVERREAD, 1);
		start[i] = (uint32_t) s->used;
		s->used += postings_put(row + first[i], length, data->rows, s->code + s->used);
		start[i + 1] = (uint32_t) s->used;
		s->stats.own_length += share * length;
		for (uint32_t bit = 1; bit < buckets; bit *= 2)
			s->stats.near_length +=
				share * (first[(i ^ bit) + 1] - first[i ^ bit]) / group_bucket_bits(&s->g, group);
	}
}

static void *
build_ours(const Data *data, int radius)
{
	Segment *s = host_alloc(sizeof(Segment));
	Grouping g = grouping_for(data->k, 1, data->rows);
	uint32_t *bucket = host_alloc(data->rows * sizeof(uint32_t));
	uint32_t *row = host_alloc(data->rows * sizeof(uint32_t));
	uint32_t *first = host_alloc(((UINT64_C(1) << g.bucket_bits) + 2) * sizeof(uint32_t));

	*s = (Segment){.data = data, .g = g, .radius = -1};
	s->start = host_alloc((group_first_bucket(&g, g.groups) + 1) * sizeof(uint32_t));
	s->stats.documents = data->rows;
	s->stats.documents_per_page = PAGE / SYMBOL_BYTES(data->k, 1);
	for (int i = 0; i < g.groups; i++)
		fill_group(s, i, bucket, first, row);
	s->stats.posting_pages = s->used / PAGE + 1;
	host_free(bucket);
	host_free(row);
	host_free(first);
	return s;
}

static void
free_ours(void *state)
{
	Segment *s = state;

	host_free(s->code);
	host_free(s->start);
	host_free(s);
}

static int
by_length(const void *x, const void *y)
{
	const Bucket *a = x;
	const Bucket *b = y;

	return (a->length > b->length) - (a->length < b->length);
}

static inline size_t
list_length(const Segment *s, const uint32_t *start)
{
	return postings_count(s->code + start[0], start[1] - start[0]);
}

/* Makes the plan for the lengths of the query's buckets, and sorts these, the shortest first. */
static SearchPlan
plan_for_lengths(Segment *s, int radius, Bucket *bucket)
{
	static double sum[GROUPS_MAX + 1];
	SegmentStats stats = s->stats;

	for (int i = 0; i < s->g.groups; i++)
		bucket[i].length =
			list_length(s, s->start + group_first_bucket(&s->g, i) + bucket[i].value);
	qsort(bucket, s->g.groups, sizeof(Bucket), by_length);
	for (int i = 0; i < s->g.groups; i++)
		sum[i + 1] = sum[i] + bucket[i].length;
	stats.length_sum = sum;
	return search_plan(&s->g, &stats, radius, SEARCH_AUTO);
}

/* Counts the lists of a plan's buckets.  Returns false if there are more postings than that. */
static bool
count_lists(const Segment *s, const SearchPlan *plan, const Bucket *bucket, double most,
			HitCounter *counter)
{
	static const uint32_t none[] = {0};

	for (int i = 0; i < plan->groups; i++)
	{
		int radius = plan->radius + (i < plan->one_more);
		const uint32_t *start = s->start + group_first_bucket(&s->g, bucket[i].group);
		const uint32_t *mask = none;
		int masks = 1;

		if (radius > 0)
			mask = probe_masks(group_width(&s->g, bucket[i].group), 1, radius, &masks);
		for (int m = 0; m < masks; m++)
		{
			const uint32_t *at = start + (bucket[i].value ^ mask[m]);

			if (at[0] == at[1])
				continue;
			most -= list_length(s, at);
			if (most < 0)
				return false;
			if (!counter_add(counter, s->code + at[0], at[1] - at[0], s->data->rows))
				abort();
		}
	}
	return true;
}

static Found
scan_ours(const Data *data, const uint8_t *query, int radius)
{
	enum
	{
		PIECE = 64
	};
	int32_t apart[PIECE];
	Found found = {0, 0};

	for (uint32_t i = 0; i < data->rows; i += PIECE)
	{
		int count = Min(PIECE, data->rows - i);

		symbol_distances(query, (const uint8_t *) row_at(data, i), data->words * sizeof(uint64_t),
						 count, data->k, 1, apart);
		for (int j = 0; j < count; j++)
			if (apart[j] <= radius)
				find(&found, i + j);
	}
	return found;
}

/* Searches by a plan.  Returns false if there are more postings than that. */
static bool
search_by(const Segment *s, const SearchPlan *plan, const Bucket *bucket, double most,
		  const uint8_t *query, int radius, Found *found)
{
	HitCounter counter;
	bool all;

	if (plan->method == SEARCH_SCAN)
	{
		*found = scan_ours(s->data, query, radius);
		return true;
	}
	counter_begin(&counter, s->data->rows, plan->postings, plan->count);
	all = count_lists(s, plan, bucket, most, &counter);
	if (all)
	{
		size_t count;
		const uint32_t *candidate = counter_candidates(&counter, &count);

		for (size_t i = 0; i < count; i++)
			if (symbol_distance(query, (const uint8_t *) row_at(s->data, candidate[i]), s->data->k,
								1) <= radius)
				find(found, candidate[i]);
	}
	counter_end(&counter);
	return all;
}

/*
 * Searches as the index does (search_groups() of the extension): by the plan that a segment keeps for a
 * distance, unless this costs much and lists are uneven, or meets far more postings than planned.
 */
static Found
search_ours(void *state, const uint64_t *words, int radius)
{
	static Bucket bucket[GROUPS_MAX];
	Segment *s = state;
	const uint8_t *query = (const uint8_t *) words;
	SearchPlan plan;
	Found found = {0, 0};
	bool look;

	if (s->radius != radius)
		s->usual = search_plan(&s->g, &s->stats, radius, SEARCH_AUTO);
	s->radius = radius;
	plan = s->usual;
	look = plan.cost > LOOK_NS * s->g.groups &&
		s->stats.own_length > UNEVEN * (even_length(&s->g, s->data->rows) + 1);
	if (plan.method != SEARCH_SCAN || look)
		for (int i = 0; i < s->g.groups; i++)
			bucket[i] = (Bucket){i, group_bucket(&s->g, i, query), 0};
	if (look ||
		!search_by(s, &plan, bucket, FAR_MORE * (plan.postings + 16 * plan.groups), query, radius,
				   &found))
	{
		plan = plan_for_lengths(s, radius, bucket);
		(void) search_by(s, &plan, bucket, INFINITY, query, radius, &found);
	}
	return found;
}

/* ---- Runs --------------------------------------------------------------- */

typedef struct Method
{
	const char *name;
	bool by_radius; /* it has an index for each radius */
	void *(*build)(const Data *data, int radius);
	Found (*search)(void *state, const uint64_t *query, int radius);
	void (*free)(void *state);
} Method;

#define METHODS 5

static const Method methods[METHODS] = {
	{"scan", false, build_scan, search_scan, free_nothing},
	{"MIH", false, build_mih, search_mih, free_tables},
	{"HmSearch", true, build_hmsearch, search_hmsearch, free_tables},
	{"BK-tree", false, build_bk, search_bk, free_bk},
	{"neardup", false, build_ours, search_ours, free_ours},
};

static double
memory_mb(void)
{
	struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd) / 1e6;
}

/* Builds an index; sets what it takes. */
static void *
build(const Method *method, const Data *data, int radius, double *ms, double *mb)
{
	double before = memory_mb();
	double start = processor_ms();
	void *state = method->build(data, radius);

	*ms = processor_ms() - start;
	*mb = memory_mb() - before;
	return state;
}

/* Returns the median of the queries' microseconds; ends the program if one finds other rows than the scan did. */
static double
time_queries(const Method *method, void *state, const Data *data, int radius, Found *truth)
{
	double us[QUERIES];
	double begun = processor_ms();
	int done = 0;

	while (done < QUERIES &&
		   (method == methods || done < FEWEST || processor_ms() - begun < LONG_MS))
	{
		double start = processor_ms();
		Found found = method->search(state, data->query + (size_t) done * data->words, radius);

		us[done] = (processor_ms() - start) * 1e3;
		if (method == methods)
			truth[done] = found;
		if (found.rows != truth[done].rows || found.sum != truth[done].sum)
		{
			fprintf(stderr, "%s of %d bits within %d: %s finds %llu rows, the scan %llu\n",
					data->name, data->k, radius, method->name, (unsigned long long) found.rows,
					(unsigned long long) truth[done].rows);
			exit(1);
		}
		done++;
	}
	return median(us, done);
}

/* Prints the row of a radius. */
static void
race(const Data *data, int radius, void **state, double *hm_ms, double *hm_mb, FILE *matches)
{
	Found truth[QUERIES];
	double us[METHODS];
	double best = INFINITY;
	uint64_t found = 0;

	for (int m = 0; m < METHODS; m++)
	{
		if (methods[m].by_radius)
			state[m] = build(&methods[m], data, radius, hm_ms, hm_mb);
		us[m] = time_queries(&methods[m], state[m], data, radius, truth);
		if (methods[m].by_radius)
			methods[m].free(state[m]);
		if (m < METHODS - 1)
			best = Min(best, us[m]);
	}
	for (int i = 0; i < QUERIES; i++)
		found += truth[i].rows;
	fprintf(matches, "%d %llu\n", radius, (unsigned long long) found);
	printf("| %s | %d | %d | %.1f |", data->name, data->k, radius, (double) found / QUERIES);
	for (int m = 0; m < METHODS; m++)
		printf(" %.*f |", us[m] < 100 ? 1 : 0, us[m]);
	printf(" **%.2f** |\n", us[METHODS - 1] / best);
	fflush(stdout);
}

/* Races all methods on some data; adds to a table of what their indexes take. */
static void
race_data(const char *folder, const Data *data, FILE *builds)
{
	static const int percents[] = {1, 5, 10, 20, 40, 60};
	double ms[METHODS];
	double mb[METHODS];
	void *state[METHODS];
	FILE *matches;
	char *text;
	size_t length;

	matches = open_memstream(&text, &length);
	for (int m = 0; m < METHODS; m++)
		if (!methods[m].by_radius)
			state[m] = build(&methods[m], data, 0, &ms[m], &mb[m]);
	for (int p = 0; p < 6; p++)
	{
		int radius = data->k / 2 * percents[p] / 100;

		race(data, radius, state, &ms[2], &mb[2], matches);
	}
	fprintf(builds, "| %s | %d |", data->name, data->k);
	for (int m = 1; m < METHODS; m++)
		fprintf(builds, " %.0f ms, %.1f MB |", ms[m], mb[m]);
	fprintf(builds, "\n");
	for (int m = 0; m < METHODS; m++)
		if (!methods[m].by_radius)
			methods[m].free(state[m]);
	fclose(matches);
	write_file(folder, data, "found", text, length);
	free(text);
}

int
main(int argc, char **argv)
{
	static const struct
	{
		const char *name;
		int k;
	} kinds[] = {{"forms", 64}, {"forms", 256}, {"forms", 1024}, {"sparse", 881},
				 {"codes", 64}, {"codes", 256}, {"codes", 1024}};
	const int made = sizeof(kinds) / sizeof(kinds[0]);
	uint32_t rows = argc > 2 ? (uint32_t) atol(argv[2]) : 0;
	char *text;
	size_t length;
	FILE *builds = open_memstream(&text, &length);

	if (rows < 1000)
	{
		fputs("usage: hamming FOLDER ROWS [NAME-BITS...], at least 1000 rows\n", stderr);
		return 1;
	}
	printf("| data | bits | radius | rows | scan | MIH | HmSearch | BK-tree | neardup | of the best "
		   "|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
	for (int i = 0; i < made + argc - 3; i++)
	{
		Data data = i < made ? make_data(kinds[i].name, kinds[i].k, rows) :
							   load_data(argv[1], argv[3 + i - made], rows);

		if (i < made)
		{
			write_file(argv[1], &data, "rows", data.row,
					   (size_t) data.rows * data.words * sizeof(uint64_t));
			write_file(argv[1], &data, "queries", data.query,
					   QUERIES * data.words * sizeof(uint64_t));
		}
		race_data(argv[1], &data, builds);
		free(data.row);
	}
	fclose(builds);
	printf("\n| data | bits | MIH | HmSearch, the last radius | BK-tree | neardup "
		   "|\n|---|---:|---:|---:|---:|---:|\n%s",
		   text);
	free(text);
	return 0;
}
