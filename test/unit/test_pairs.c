/*
 * test_pairs.c: documents, pairs and clusters by the engine, in plenty of memory and in little,
 * against comparing all with all.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bags.h"
#include "base/forest.h"
#include "join/documents.h"
#include "join/edges.h"
#include "join/pair_kinds.h"
#include "join/pairs.h"
#include "random.h"
#include "unit.h"

/* What the rows of a test have: numbers of which some are common. */
typedef struct Rows
{
	uint32_t count;
	bool sets;
	int k;
	uint8_t *symbols; /* 8 bytes aligned, k bits each */
	size_t stride;
	Bag *bag;
	uint32_t *partition; /* or NULL */
	double threshold;
} Rows;

/* Makes rows: most are changed copies of a few, some are equal. */
static Rows
make_rows(uint32_t count, bool sets, uint32_t families, bool partitions)
{
	Rows rows = {.count = count, .sets = sets, .k = 256, .stride = 32, .threshold = 0.8};

	rows.symbols = calloc(count, rows.stride);
	rows.bag = calloc(count, sizeof(Bag));
	rows.partition = partitions ? calloc(count, sizeof(uint32_t)) : NULL;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t family = random_below(families);
		uint64_t seed = family;
		uint64_t hash[40];

		for (int w = 0; w < 40; w++)
			hash[w] = next_random(&seed);
		memcpy(rows.symbols + i * rows.stride, hash, rows.stride);
		for (uint32_t c = random_below(6); c > 0; c--)
		{
			rows.symbols[i * rows.stride + random_below(32)] ^= 1 << random_below(8);
			hash[random_below(40)] = random_below(1000);
		}
		rows.bag[i] = bag_of(hash, random_below(20) == 0 ? 0 : 30 + random_below(11));
		if (partitions)
			rows.partition[i] = random_below(3);
	}
	return rows;
}

static void
free_rows(Rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		bag_free(rows->bag + i);
	free(rows->bag);
	free(rows->symbols);
	free(rows->partition);
}

/* Returns the similarity of two rows; -1 if they are not compared. */
static double
similarity_of(const Rows *rows, const PairOptions *options, const SignatureHeader *shape,
			  uint32_t a, uint32_t b)
{
	if (rows->partition != NULL && rows->partition[a] != rows->partition[b])
		return -1;
	if (rows->sets || options->evidence)
		return bag_similarity(rows->bag + a, rows->bag + b, options->measure, options->multiset);
	return signature_similarity(shape,
								symbol_distance(rows->symbols + a * rows->stride,
												rows->symbols + b * rows->stride, rows->k, 1));
}

/* Adds rows to documents. */
static Documents *
add_rows(const Rows *rows, const PairOptions *options, const SignatureHeader *shape)
{
	Documents *documents = documents_begin(options, rows->sets, rows->partition != NULL);

	documents->shape = *shape;
	for (uint32_t i = 0; i < rows->count; i++)
	{
		DocumentRow row = {.partition = rows->partition != NULL ? rows->partition[i] : 0};

		if (rows->sets)
			row.bag = rows->bag + i;
		else
			row.symbols = rows->symbols + i * rows->stride;
		if (options->evidence)
			row.evidence = rows->bag + i;
		documents_add(documents, &row);
	}
	documents_done(documents);
	return documents;
}

/* ---- Pairs ------------------------------------------------------------------ */

typedef struct Found
{
	const Rows *rows;
	const Documents *documents;
	const PairOptions *options;
	uint64_t pairs;
	uint64_t wrong;
	uint64_t sum; /* of mixed pairs: the same for the same pairs in any order */
} Found;

static uint64_t
mixed(uint32_t a, uint32_t b)
{
	uint64_t seed = (uint64_t) a << 32 | b;

	return next_random(&seed);
}

/* A PairSink. */
static bool
note_pair(void *state, uint32_t a, uint32_t b, double similarity)
{
	Found *found = state;
	const uint32_t *first = found->documents->first;
	double right =
		similarity_of(found->rows, found->options, &found->documents->shape, first[a], first[b]);

	found->pairs++;
	found->sum += mixed(a, b);
	found->wrong += a >= b || similarity != right || similarity < found->options->threshold;
	return true;
}

/* Counts the similar pairs of documents, one by one. */
static Found
all_with_all(const Rows *rows, const Documents *documents, const PairOptions *options)
{
	Found found = {0};

	for (uint32_t a = 0; a < documents->count; a++)
		for (uint32_t b = a + 1; b < documents->count; b++)
			if (similarity_of(rows, options, &documents->shape, documents->first[a],
							  documents->first[b]) >= options->threshold)
			{
				found.pairs++;
				found.sum += mixed(a, b);
			}
	return found;
}

/* ---- Clusters ----------------------------------------------------------------- */

/* Checks stars by their definition. */
static void
check_stars(const Rows *rows, Documents *documents, const PairOptions *options)
{
	Stars stars = {.documents = documents, .first = documents->first};
	uint32_t wrong = 0;

	stars.keeper = malloc(rows->count * sizeof(uint32_t) + 1);
	stars.similarity = malloc(rows->count * sizeof(double) + 1);
	memset(stars.keeper, 0xFF, rows->count * sizeof(uint32_t));
	stars_make(&stars);
	for (uint32_t b = 0; b < documents->count; b++)
	{
		uint32_t row = documents->first[b];
		uint32_t keeper = row;

		for (uint32_t a = 0; a < b && keeper == row; a++)
			if (stars.keeper[documents->first[a]] == documents->first[a] &&
				similarity_of(rows, options, &documents->shape, documents->first[a], row) >=
					options->threshold)
				keeper = documents->first[a];
		for_each_row(documents, b, other) wrong += stars.keeper[other] != keeper;
	}
	CHECK_MSG(wrong == 0, "%u keepers are wrong", wrong);
	free(stars.keeper);
	free(stars.similarity);
}

/* Checks components by their definition. */
static void
check_components(const Rows *rows, Documents *documents, const PairOptions *options)
{
	Stars stars = {.documents = documents, .first = documents->first};
	uint32_t *parent = forest_begin(rows->count);
	uint32_t wrong = 0;

	stars.keeper = malloc(rows->count * sizeof(uint32_t) + 1);
	components_make(&stars);
	for (uint32_t a = 0; a < documents->count; a++)
		for (uint32_t b = a + 1; b < documents->count; b++)
			if (similarity_of(rows, options, &documents->shape, documents->first[a],
							  documents->first[b]) >= options->threshold)
				(void) forest_link(parent, documents->first[a], documents->first[b]);
	for (uint32_t b = 0; b < documents->count; b++)
		for_each_row(documents, b, row) wrong +=
			stars.keeper[row] != forest_root(parent, documents->first[b]);
	CHECK_MSG(wrong == 0, "%u components are wrong", wrong);
	free(stars.keeper);
	host_free(parent);
}

/* ---- Tests ---------------------------------------------------------------------- */

/* Checks all that is found among rows, within this memory. */
static void
check_rows(const Rows *rows, size_t memory, Measure measure, bool clusters)
{
	PairStats stats = {0};
	PairOptions options = {.threshold = rows->threshold,
						   .recall = 1,
						   .multiset = rows->count % 2 == 0,
						   .measure = rows->sets ? measure : MEASURE_RESEMBLANCE,
						   .memory = memory,
						   .sides = 1,
						   .stats = &stats};
	SignatureHeader shape = signature_header(SIGNATURE_SIMHASH, rows->k, 1, 0);
	size_t before = host_memory;
	Documents *documents = add_rows(rows, &options, &shape);
	Found found = {.rows = rows, .documents = documents, .options = &options};
	Found right = all_with_all(rows, documents, &options);
	DocumentList all = all_documents(documents);

	CHECK(pairs_join(&all, NULL, UINT64_MAX, note_pair, &found));
	CHECK_MSG(found.wrong == 0 && found.pairs == right.pairs && found.sum == right.sum,
			  "%lu of %lu pairs, %lu wrong", found.pairs, right.pairs, found.wrong);
	CHECK(stats.pairs == found.pairs);
	if (clusters)
	{
		check_stars(rows, documents, &options);
		check_components(rows, documents, &options);
	}
	CHECK(rows->count < 1600 || rows->partition != NULL || !rows->sets ||
		  stats.spilled == (memory < 1 << 20));
	documents_end(documents);
	CHECK_MSG(host_memory == before, "%ld bytes are not freed", (long) (host_memory - before));
}

static void
rows_are_compared(uint32_t count, uint32_t families)
{
	for (int sets = 0; sets < 2; sets++)
		for (int partitions = 0; partitions < 2; partitions++)
		{
			Rows rows = make_rows(count, sets, families, partitions);

			check_rows(&rows, SIZE_MAX, MEASURE_RESEMBLANCE, true);
			check_rows(&rows, 1 << 18, MEASURE_RESEMBLANCE, true);
			check_rows(&rows, 1 << 18, MEASURE_CONTAINMENT, false);
			free_rows(&rows);
		}
}

/* Makes rows of one large cluster, whose ends differ: a component of many stars. */
static void
chains_are_connected(void)
{
	Rows rows = make_rows(1200, false, 1, false);

	for (uint32_t i = 0; i < rows.count; i++)
	{
		uint8_t *symbols = rows.symbols + i * rows.stride;

		memset(symbols, 0, i / 40 < 31 ? i / 40 : 31);
	}
	check_rows(&rows, SIZE_MAX, MEASURE_RESEMBLANCE, true);
	check_rows(&rows, 1 << 18, MEASURE_RESEMBLANCE, true);
	free_rows(&rows);
}

/* Groups find more pairs than memory holds with their documents, so these go to files, too. */
static void
pairs_outgrow_memory(void)
{
	Rows rows = make_rows(9000, false, 600, false);

	rows.threshold = 0.97;
	check_rows(&rows, 1 << 18, MEASURE_RESEMBLANCE, false);
	free_rows(&rows);
}

/* A PairSink for a pair of two lists, which are the even and the odd documents. */
static bool
note_across(void *state, uint32_t a, uint32_t b, double similarity)
{
	Found *found = state;

	found->wrong += a % 2 != 0 || b % 2 != 1;
	return note_pair(state, Min(a, b), Max(a, b), similarity);
}

/* Returns a join of signatures that is planned at a cost, for evidence_is_cheaper(). */
static SpreadJoin
planned(const Rows *rows, double cost)
{
	return (SpreadJoin){.symbols = {.k = rows->k, .b = 1, .h = -1, .stride = rows->stride},
						.plan = {.cost = cost}};
}

/* Joins documents by their evidence: all of them, and the even ones with the odd ones. */
static void
check_evidence(Documents *documents, const Rows *rows, const PairOptions *options)
{
	Found right = all_with_all(rows, documents, options);
	Found within[3];
	uint32_t *doc = malloc((documents->count + 1) * sizeof(uint32_t));
	uint32_t half = (documents->count + 1) / 2;
	DocumentList all = all_documents(documents);
	DocumentList even = {documents, doc, half};
	DocumentList odd = {documents, doc + half, documents->count - half};

	for (uint32_t i = 0; i < documents->count; i++)
		doc[i % 2 * half + i / 2] = i;
	for (int i = 0; i < 3; i++)
		within[i] = (Found){.rows = rows, .documents = documents, .options = options};
	CHECK(pairs_join(&all, NULL, UINT64_MAX, note_pair, &within[0]));
	CHECK_MSG(within[0].wrong == 0 && within[0].pairs == right.pairs && within[0].sum == right.sum,
			  "%lu of %lu pairs, %lu wrong", within[0].pairs, right.pairs, within[0].wrong);
	CHECK(pairs_join(&even, &odd, UINT64_MAX, note_across, &within[0]));
	CHECK(pairs_join(&even, NULL, UINT64_MAX, note_pair, &within[1]));
	CHECK(pairs_join(&odd, NULL, UINT64_MAX, note_pair, &within[2]));
	CHECK(within[0].pairs + within[1].pairs + within[2].pairs == 2 * right.pairs);
	CHECK(within[0].sum + within[1].sum + within[2].sum == 2 * right.sum);
	CHECK(within[0].wrong + within[1].wrong + within[2].wrong == 0);
	free(doc);
}

/* Returns options by which evidence decides. */
static PairOptions
evidence_options(double threshold, PairStats *stats)
{
	return (PairOptions){.threshold = threshold,
						 .recall = 1,
						 .evidence = true,
						 .memory = SIZE_MAX,
						 .sides = 1,
						 .stats = stats};
}

/* Texts whose signatures are equal, as those of a form nearly are, are joined by their evidence. */
static void
evidence_is_joined(uint32_t count, uint32_t families, size_t memory)
{
	Rows rows = make_rows(count, false, families, false);
	PairStats stats = {0};
	PairOptions options = evidence_options(0.8, &stats);
	SignatureHeader shape = signature_header(SIGNATURE_MINHASH, rows.k, 1, 0);
	SpreadJoin cheap = planned(&rows, 1e6);
	SpreadJoin dear = planned(&rows, 1e12);
	size_t before = host_memory;
	Documents *documents;
	DocumentList all;

	options.multiset = count % 2 == 0;
	options.memory = memory;
	memset(rows.symbols, 0, rows.count * rows.stride);
	documents = add_rows(&rows, &options, &shape);
	all = all_documents(documents);
	/* The price of little work is looked at, too. */
	host_limit_most = 1000000;
	check_evidence(documents, &rows, &options);
	host_limit_most = SIZE_MAX;
	CHECK((stats.join.bags > 0) == (count > 1));
	CHECK(count == 1 || evidence_is_cheaper(&all, &all, &dear));
	CHECK(!evidence_is_cheaper(&all, &all, &cheap));
	documents_end(documents);
	CHECK_MSG(host_memory == before, "%ld bytes are not freed", (long) (host_memory - before));
	free_rows(&rows);
}

static int left_to_share, shared;

/* A PairNext: returns -1 halfway, and at the end. */
static int
next_shared(void *state)
{
	int *half = state;

	return left_to_share <= *half ? -1 : --left_to_share;
}

/* A function of PairOptions: two threads, one after the other, share work. */
static void
share_in_turn(void *state, int count, PairWork work, void *work_state)
{
	int half = count / 2;

	left_to_share = count;
	shared++;
	work(work_state, next_shared, &half);
	half = 0;
	work(work_state, next_shared, &half);
}

/* Texts whose signatures are equal are clustered by their evidence, whether they are judged in turn or ahead. */
static void
stars_are_judged(uint32_t count, uint32_t families, size_t limit)
{
	Rows rows = make_rows(count, false, families, false);
	PairStats stats = {0};
	PairOptions options = evidence_options(0.8, &stats);
	SignatureHeader shape = signature_header(SIGNATURE_MINHASH, rows.k, 1, 0);
	Documents *documents;

	memset(rows.symbols, 0, rows.count * rows.stride);
	documents = add_rows(&rows, &options, &shape);
	host_limit_most = limit;
	check_stars(&rows, documents, &options);
	options.share = share_in_turn;
	check_stars(&rows, documents, &options);
	CHECK_MSG((shared > 0) == (limit < count), "work was shared %d times", shared);
	host_limit_most = SIZE_MAX;
	documents_end(documents);
	free_rows(&rows);
}

/* Sets of which none has an element that few have are no help: their lists cost more than signatures. */
static void
common_elements_are_no_help(void)
{
	Rows rows = make_rows(2000, false, 1, false);
	PairStats stats = {0};
	PairOptions options = evidence_options(0.5, &stats);
	SignatureHeader shape = signature_header(SIGNATURE_MINHASH, rows.k, 1, 0);
	SpreadJoin dear;
	Documents *documents;
	DocumentList all;

	for (uint32_t i = 0; i < rows.count; i++)
	{
		uint64_t hash[20];

		for (int w = 0; w < 20; w++)
			hash[w] = random_below(40);
		bag_free(rows.bag + i);
		rows.bag[i] = bag_of(hash, 20);
	}
	documents = add_rows(&rows, &options, &shape);
	all = all_documents(documents);
	all.count *= 100; /* only prices look at it */
	all.doc = calloc(all.count, sizeof(uint32_t));
	for (uint32_t i = 0; i < all.count; i++)
		((uint32_t *) all.doc)[i] = i % documents->count;
	dear = planned(&rows, 0.3 * all.count * all.count / 2);
	CHECK(!evidence_is_cheaper(&all, &all, &dear));
	/* If all pairs are similar, a sink that judges for itself asks for few of them. */
	options.threshold = 0.01;
	dear = planned(&rows, 2.5 * all.count * all.count);
	dear.symbols.h = rows.k;
	dear.symbols.stride = documents->store->records.stride;
	CHECK(evidence_is_cheaper(&all, &all, &dear));
	all.unjudged = true;
	CHECK(!evidence_is_cheaper(&all, &all, &dear));
	free((void *) all.doc);
	documents_end(documents);
	free_rows(&rows);
}

/*
 * Sets that slide over numbers are one component, of many stars, though each signature is near every other:
 * candidates that are not similar connect nothing.
 */
static void
candidates_connect_nothing(double contained)
{
	Rows rows = make_rows(1500, false, 1, false);
	PairStats stats = {0};
	PairOptions options = evidence_options(0.8, &stats);
	SignatureHeader shape = signature_header(SIGNATURE_MINHASH, rows.k, 1, 0);
	Documents *documents;
	Stars stars = {0};
	uint32_t wrong = 0;

	options.contained = contained;
	memset(rows.symbols, 0, rows.count * rows.stride);
	for (uint32_t i = 0; i < rows.count; i++)
	{
		uint64_t hash[41];

		for (uint32_t w = 0; w < 40; w++)
			hash[w] = i * 7 % rows.count / 70 + w;
		hash[40] = 5000 + i;
		bag_free(rows.bag + i);
		rows.bag[i] = bag_of(hash, 41);
	}
	documents = add_rows(&rows, &options, &shape);
	stars.documents = documents;
	stars.first = documents->first;
	stars.keeper = malloc(rows.count * sizeof(uint32_t));
	host_limit_most = 1; /* all stars have labels */
	components_make(&stars);
	host_limit_most = SIZE_MAX;
	for (uint32_t i = 0; i < rows.count; i++)
		wrong += stars.keeper[i] != 0;
	CHECK_MSG(wrong == 0, "%u rows are connected with no other", wrong);
	free(stars.keeper);
	documents_end(documents);
	free_rows(&rows);
}

/* Makes rows on forms, of few and of many elements, which differ in about as many as a threshold allows. */
static Rows
make_forms(uint32_t count, uint32_t changed)
{
	static uint64_t hash[100000];
	Rows rows = make_rows(count, false, 1, false);

	for (uint32_t i = 0; i < rows.count; i++)
	{
		uint32_t length = i % 10 == 0 ? 1 + random_below(4000) : 20 << i % 3 * 2;

		if (i == 1 || i == 2)
			length = 100000;
		for (uint32_t w = 0; w < length; w++)
			hash[w] = random_below(changed) == 0 ? next_random(&random_seed) : w / (1 + i / 2 % 2);
		bag_free(rows.bag + i);
		rows.bag[i] = bag_of(hash, length);
	}
	return rows;
}

/* Compares what a judge says with the sets, of pairs of documents that come again and again. */
static void
check_judge(const Rows *rows, const DocumentList *left, const DocumentList *right, size_t memory)
{
	const Documents *documents = left->documents;
	const PairOptions *options = documents->options;
	double least = options->contained > 0 ? options->contained : options->threshold;
	Measure measure = options->contained > 0 ? MEASURE_CONTAINS : MEASURE_RESEMBLANCE;
	Judge *judge = judge_begin(left, right, memory);
	uint32_t similar = 0;
	uint32_t wrong = 0;
	int pairs = 20000;

	for (int i = 0; i < pairs; i++)
	{
		uint32_t a = random_below(left->count);
		uint32_t b = random_below(right->count);
		const Bag *x;
		const Bag *y;
		double judged = -1;
		double expected;
		bool is;

		if (left == right && a >= b)
			continue;
		x = rows->bag + documents->first[Min(list_at(left, a), list_at(right, b))];
		y = rows->bag + documents->first[Max(list_at(left, a), list_at(right, b))];
		expected = bag_similarity(x, y, measure, options->multiset);
		is = judge_pair(judge, a, b, &judged);
		wrong += is != (expected >= least) || (is && judged != expected);
		similar += is;
	}
	CHECK_MSG(wrong == 0, "%u wrong, %u similar, memory %zu", wrong, similar, memory);
	CHECK(similar > 20 && similar < (uint32_t) pairs - 20);
	judge_end(judge);
}

/* Bitmaps that a judge keeps, or forgets for want of memory, refuse no similar pair. */
static void
judges_are_exact(double threshold, double contained, bool multiset)
{
	Rows rows = make_forms(300, threshold > 0.7 ? 20 : 8);
	PairStats stats = {0};
	PairOptions options = {.threshold = threshold,
						   .recall = 1,
						   .evidence = true,
						   .contained = contained,
						   .multiset = multiset,
						   .memory = SIZE_MAX,
						   .sides = 1,
						   .stats = &stats};
	SignatureHeader shape = signature_header(SIGNATURE_MINHASH, rows.k, 1, 0);
	Documents *documents = add_rows(&rows, &options, &shape);
	uint32_t *doc = malloc((documents->count + 1) * sizeof(uint32_t));
	uint32_t half = (documents->count + 1) / 2;
	DocumentList all = all_documents(documents);
	DocumentList even = {documents, doc, half};
	DocumentList odd = {documents, doc + half, documents->count - half};

	for (uint32_t i = 0; i < documents->count; i++)
		doc[i % 2 * half + i / 2] = i;
	for (size_t memory = 1 << 10; memory <= 1 << 26; memory <<= 8)
	{
		check_judge(&rows, &all, &all, memory);
		check_judge(&rows, &even, &odd, memory);
	}
	free(doc);
	documents_end(documents);
	free_rows(&rows);
}

/* An EdgeSink. */
static bool
note_edge(void *state, const LongEdge *edge)
{
	Found *found = state;

	found->wrong += (edge->second << 32 | edge->first) < found->sum;
	found->sum = (uint64_t) edge->second << 32 | edge->first;
	return ++found->pairs != 40000;
}

static void
edges_are_sorted(uint32_t count, size_t most, uint64_t given)
{
	Edges edges = {.most = most};
	Found found = {0};
	size_t before = host_memory;

	for (uint32_t i = 0; i < count; i++)
	{
		LongEdge edge = {i % 3 == 0 ? i / 50 : random_below(1000), random_below(1000), 0.5};

		edges_add(&edges, edge);
	}
	edges_give(&edges, note_edge, &found);
	CHECK(found.pairs == given && found.wrong == 0);
	CHECK(host_memory == before);
}

/* A caller that adds more rows than it has said is refused, and no array is overrun. */
static void
more_rows_are_refused(uint32_t said, uint32_t come)
{
	PairOptions options = {.threshold = 0.8, .recall = 1, .memory = SIZE_MAX, .sides = 1};
	Rows rows = make_rows(come, true, 1000, true);
	int status = 0;
	pid_t child = fork();

	if (child == 0)
	{
		Documents *documents = documents_begin(&options, true, true);

		(void) freopen("/dev/null", "w", stderr);
		documents->rows_max = said;
		for (uint32_t i = 0; i < come; i++)
			documents_add(documents,
						  &(DocumentRow){.bag = rows.bag + i, .partition = rows.partition[i]});
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	/* host_refuse_size() exits with 2. */
	CHECK_MSG(WEXITSTATUS(status) == (come > said ? 2 : 0), "%u of %u: %d", come, said,
			  WEXITSTATUS(status));
	free_rows(&rows);
}

int
main(void)
{
	for (uint32_t said = 1; said < 600; said += 37)
		for (uint32_t more = 0; more < 3; more++)
			more_rows_are_refused(said, said + more);
	rows_are_compared(0, 1);
	rows_are_compared(1, 1);
	for (int round = 0; round < unit_rounds(5); round++)
		rows_are_compared(200 + random_below(200), 1 + random_below(100));
	rows_are_compared(1601, 500);
	rows_are_compared(1600, 3);
	chains_are_connected();
	candidates_connect_nothing(0);
	candidates_connect_nothing(0.8);
	pairs_outgrow_memory();
	evidence_is_joined(1, 1, SIZE_MAX);
	evidence_is_joined(1200, 400, SIZE_MAX);
	evidence_is_joined(1201, 30, 1 << 18);
	common_elements_are_no_help();
	stars_are_judged(700, 60, SIZE_MAX);
	stars_are_judged(700, 60, 100);
	stars_are_judged(300, 3, 2);
	for (int multiset = 0; multiset < 2; multiset++)
	{
		judges_are_exact(0.8, 0, multiset);
		judges_are_exact(0.3, 0, multiset);
		judges_are_exact(2 / 3.0, 0.75, multiset);
	}
	edges_are_sorted(0, 5000, 0);
	edges_are_sorted(999, 5000, 999);
	edges_are_sorted(30000, 1, 30000);
	edges_are_sorted(50000, 5000, 40000);
	return unit_report();
}
