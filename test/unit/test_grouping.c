/*
 * test_grouping.c: groups, probes, plans and counting against naive ones, and all of them
 * together against comparing everything.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "reference.h"
#include "unit.h"

typedef struct Shape
{
	int k;
	int b;
} Shape;

static const Shape shapes[] = {{16, 1},   {17, 1},  {63, 1},  {64, 1},    {65, 1},
							   {101, 1},  {400, 1}, {512, 1}, {16384, 1}, {16, 2},
							   {100, 2},  {257, 2}, {64, 4},  {131, 4},   {16384, 4},
							   {32, 8},   {77, 8},  {512, 8}, {16, 16},   {33, 16},
							   {128, 16}, {16, 32}, {65, 32}, {2048, 32}, {4096, 8}};
#define SHAPES ((int) (sizeof(shapes) / sizeof(shapes[0])))

static const uint32_t sizes[] = {0,     511,    512,     1000,     4096,
								 70000, 300000, 1000000, 10000000, 1 << 24};
#define SIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

/* ---- Groups ------------------------------------------------------------- */

/* Groups follow each other without gaps, within the signature and the limits. */
static void
groups_are_disjoint(void)
{
	for (int s = 0; s < SHAPES; s++)
		for (int n = 0; n < SIZES; n++)
		{
			Grouping g = grouping_for(shapes[s].k, shapes[s].b, sizes[n]);
			int covered = g.groups == 0 ? g.k : group_first_symbol(&g, g.groups);

			CHECK(g.k == shapes[s].k && g.b == shapes[s].b);
			CHECK((g.groups == 0) == (sizes[n] < 512));
			CHECK_MSG(grouping_is_sound(&g), "k %d b %d n %u", g.k, g.b, sizes[n]);
			CHECK_MSG(covered == g.k || g.b * g.width > 32, "k %d b %d n %u: %d symbols in groups",
					  g.k, g.b, sizes[n], covered);
		}
}

static uint64_t
naive_value(const Grouping *g, int group, const uint8_t *packed)
{
	uint64_t value = 0;
	int first = group_first_symbol(g, group) * g->b;

	for (int bit = first; bit < first + group_width(g, group) * g->b; bit++)
		value = value << 1 | (packed[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

#define MANY 12

/* The number of an exact bucket is the value; others are in range.  Many at once have the same. */
static void
buckets_are_values(void)
{
	uint32_t many[MANY];

	for (int s = 0; s < SHAPES; s++)
		for (int n = 2; n < SIZES; n++)
		{
			Grouping g = grouping_for(shapes[s].k, shapes[s].b, sizes[n]);
			size_t bytes = SYMBOL_BYTES(g.k, g.b);
			/* Memory of its own, so that a sanitizer sees a read past the end. */
			uint8_t *packed = malloc(MANY * bytes);

			random_bytes(packed, MANY * bytes);
			for (int i = 0; i < g.groups * MANY; i++)
			{
				int group = i / MANY;
				const uint8_t *at = packed + i % MANY * bytes;
				uint32_t bucket = group_bucket(&g, group, at);

				if (i % MANY == 0)
					group_buckets(&g, group, packed, bytes, MANY, many);
				CHECK(many[i % MANY] == bucket);
				if (group_is_exact(&g, group))
					CHECK(bucket == naive_value(&g, group, at));
				CHECK(bucket < UINT64_C(1) << group_bucket_bits(&g, group));
			}
			free(packed);
		}
}

/* The buckets of a grouping, with keys, have numbers of 31 bits that follow each other. */
static void
check_numbers(Grouping g, uint32_t n, int keys)
{
	uint64_t buckets = 0;
	int wrong = 0;

	g = grouping_with_keys(g, keys, n);
	CHECK(g.keys == (n >= 512 ? keys : 0));
	for (int i = 0; i < grouping_lists(&g); i++)
	{
		wrong += group_first_bucket(&g, i) != buckets;
		buckets += UINT64_C(1) << group_bucket_bits(&g, i);
	}
	CHECK(wrong == 0 && group_first_bucket(&g, grouping_lists(&g)) == buckets);
	CHECK_MSG(buckets < UINT64_C(1) << 31, "k %d b %d n %u, %d groups, %d keys: %llu buckets", g.k,
			  g.b, n, g.groups, keys, (unsigned long long) buckets);
	if (g.keys > 0)
		CHECK(key_bucket(&g, UINT32_MAX) + 1 == UINT64_C(1) << group_bucket_bits(&g, g.groups) &&
			  key_bucket(&g, 0) == 0);
}

static void
offsets_are_numbered(void)
{
	static const int asked[] = {1, 2, 7, 100, 1000, 2048, 2049, 3000, 4096};
	static const int keys[] = {0, 1, 31};

	for (int s = 0; s < SHAPES; s++)
		for (int n = 0; n < SIZES; n++)
			for (int a = 0; a < (int) (sizeof(asked) / sizeof(asked[0])); a++)
			{
				Grouping g = grouping_with(shapes[s].k, shapes[s].b, sizes[n], asked[a]);

				for (int i = 0; i < 3; i++)
					check_numbers(g, sizes[n], keys[i]);
			}
}

/* ---- Probes ------------------------------------------------------------- */

static int
symbols_that_differ(uint32_t x, uint32_t y, int symbols, int b)
{
	int differ = 0;

	for (int s = 0; s < symbols; s++)
		differ += ((x ^ y) >> (s * b) & ((UINT64_C(1) << b) - 1)) != 0;
	return differ;
}

/* The masks give exactly the values within the radius, ascending. */
static void
masks_are_complete(void)
{
	for (int b = 1; b <= 16; b *= 2)
		for (int symbols = 1; symbols * b <= 16; symbols++)
			for (int radius = 0; radius <= RADIUS_MAX; radius++)
			{
				int count;
				int expected = 0;
				int wrong = 0;
				const uint32_t *mask;

				if (probe_count(symbols, b, radius) == INT32_MAX)
					continue;
				mask = probe_masks(symbols, b, radius, &count);
				CHECK(count == probe_count(symbols, b, radius));
				for (uint32_t v = 0; v < UINT32_C(1) << (symbols * b); v++)
					if (symbols_that_differ(v, 0, symbols, b) <= radius)
					{
						wrong += expected >= count || mask[expected] != v;
						expected++;
					}
				CHECK_MSG(wrong == 0 && expected == count, "%d symbols of %d bits, radius %d",
						  symbols, b, radius);
			}
}

/* ---- Plans -------------------------------------------------------------- */

static void
check_plan(const Grouping *g, int h, SearchMethod method, const SearchPlan *plan)
{
	int most = plan->radius + (plan->one_more > 0);

	CHECK(plan->cost >= 0 && plan->cost < 1e15);
	if (plan->method == SEARCH_SCAN)
		return;
	CHECK(method == SEARCH_AUTO || plan->method == method ||
		  (method == SEARCH_CHOOSE && plan->method == SEARCH_MERGE));
	CHECK(plan->method != SEARCH_CHOOSE || choices_of(plan->groups, plan->count) <= CHOICES_MAX);
	CHECK(plan->method == SEARCH_PROBE || most == 0);
	CHECK_MSG(plan_is_sound(g, h, plan),
			  "k %d b %d h %d: %d groups, radius %d, %d with one more, c %d", g->k, g->b, h,
			  plan->groups, plan->radius, plan->one_more, plan->count);
	CHECK(most == 0 ||
		  (group_is_exact(g, 0) && probe_count(group_width(g, 0), g->b, most) < INT32_MAX));
}

/* Every plan finds all documents within h. */
static void
plans_lose_nothing(void)
{
	static double sum[GROUPS_MAX + 1];

	for (int s = 0; s < SHAPES; s++)
		for (int n = 0; n < SIZES; n++)
		{
			Grouping g = grouping_for(shapes[s].k, shapes[s].b, sizes[n]);
			SegmentStats stats = {.documents = sizes[n],
								  .documents_per_page = 100,
								  .posting_pages = postings_estimate(&g, sizes[n]) / 8192 + 1};
			int step = g.k > 512 ? g.k / 64 : 1;

			for (int i = 0; i < g.groups; i++)
				sum[i + 1] = sum[i] + random_below(sizes[n] + 1);
			for (int h = 0; h <= g.k; h += step)
				for (int method = SEARCH_AUTO; method <= SEARCH_SCAN; method++)
				{
					SearchPlan plan;

					stats.length_sum = h % 3 == 0 ? sum : NULL;
					stats.page_ns = h % 2 * 5000;
					plan = search_plan(&g, &stats, h, method);
					check_plan(&g, h, method, &plan);
				}
		}
}

/* ---- Lists -------------------------------------------------------------- */

static int
by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *) x;
	uint32_t b = *(const uint32_t *) y;

	return (a > b) - (a < b);
}

/* Fills in at most n ascending distinct documents below `range`; returns how many. */
static size_t
random_list(uint32_t *document, size_t n, uint32_t range)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		document[i] = random_below(range);
	qsort(document, n, sizeof(uint32_t), by_number);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || document[i] != document[kept - 1])
			document[kept++] = document[i];
	return kept;
}

/* As many documents fit as their code has room for, and no more. */
static void
check_fit(const uint32_t *document, size_t n, uint32_t numbers, size_t room)
{
	size_t fit = postings_fit(document, n, numbers, room);
	int wrong = 0;

	CHECK(fit <= n && postings_size(document, fit, numbers) <= room);
	for (size_t more = fit + 1; more <= Min(n, fit + 300); more++)
		wrong += postings_size(document, more, numbers) <= room;
	CHECK_MSG(wrong == 0 && (fit == n || postings_size(document, n, numbers) > room),
			  "%zu of %zu below %u in %zu bytes", fit, n, numbers, room);
}

/* Each kernel reads a list as it was written. */
static void
check_list(const uint32_t *document, size_t n, uint32_t numbers)
{
	size_t bytes;
	uint8_t *code = reference_code(document, n, numbers, &bytes);
	uint32_t *read = malloc(n * sizeof(uint32_t) + 1);

	CHECK(bytes <= n * 5 + 10 && postings_count(code, bytes) == n);
	for (const PostingsKernel *kernel = postings_kernels; kernel->name != NULL; kernel++)
	{
		if (!kernel->available())
			continue;
		memset(read, 0xFF, n * sizeof(uint32_t));
		CHECK(kernel->get(code, bytes, numbers, read) == (n > 0));
		CHECK_MSG(memcmp(document, read, n * sizeof(uint32_t)) == 0, "%s: %zu below %u",
				  kernel->name, n, numbers);
	}
	check_fit(document, n, numbers, bytes);
	for (int i = 0; i < 5 && n > 0; i++)
		check_fit(document, n, numbers, random_below((uint32_t) bytes));
	free(read);
	free(code);
}

/* Lists are read as they were written: few and many documents, even and uneven. */
static void
lists_are_kept(void)
{
	static const uint32_t ranges[] = {1,    2,       3,       7,         100,
									  5000, 1000000, 1 << 24, 100000000, UINT32_C(1) << 31};
	static const size_t lengths[] = {0, 1, 2, 3, 8, 24, 60, 250, 254, 255, 256, 1000, 30000};
	uint32_t *document = malloc(30000 * sizeof(uint32_t));

	for (int r = 0; r < 10; r++)
		for (int l = 0; l < 13; l++)
			for (int part = 1; part <= 1000; part *= 10)
			{
				uint32_t range = Max(ranges[r] / part, 1);
				size_t n = random_list(document, lengths[l], range);

				check_list(document, n, ranges[r]);
				/* All are in the last part of the numbers. */
				for (size_t i = 0; i < n; i++)
					document[i] += ranges[r] - range;
				check_list(document, n, ranges[r]);
			}
	for (uint32_t i = 0; i < 30000; i++)
		document[i] = i;
	for (uint32_t n = 1; n <= 30000; n = n * 4 / 3 + 1)
		check_list(document, n, n);
	free(document);
}

/* The code of a list with bits that are changed, bytes that are random, or fewer bytes. */
static uint8_t *
damaged_code(uint32_t numbers, size_t *bytes)
{
	uint32_t document[1000];
	uint32_t most = random_below(8) == 0 ? 1000 : 40;
	size_t n = random_list(document, 1 + random_below(most), numbers);
	uint8_t *code = reference_code(document, n, numbers, bytes);
	uint8_t *damaged;

	if (random_below(3) == 0)
		code[random_below((uint32_t) *bytes)] ^= 1 << random_below(8);
	else if (random_below(2) == 0)
		random_bytes(code + Min(random_below(3), *bytes), *bytes - Min(2, *bytes));
	else
		*bytes = random_below((uint32_t) *bytes + 1);
	/* Nothing more may be read than this, and what it is does not matter. */
	damaged = malloc(*bytes + POSTINGS_OVERREAD);
	memcpy(damaged, code, *bytes);
	memset(damaged + *bytes, 0xFF, POSTINGS_OVERREAD);
	free(code);
	return damaged;
}

/*
 * Damaged codes are read within bounds.  Each kernel takes the same ones for right, and
 * then their documents are in order.
 */
static void
damage_is_harmless(void)
{
	static const uint32_t ranges[] = {1, 1000, 1000000, UINT32_C(1) << 31};
	int right = 0;

	for (int round = 0; round < unit_rounds(20000); round++)
	{
		uint32_t numbers = ranges[round % 4];
		size_t bytes;
		uint8_t *code = damaged_code(numbers, &bytes);
		size_t n = postings_count(code, bytes);
		uint32_t *plain = malloc(n * sizeof(uint32_t) + 1);
		uint32_t *read = malloc(n * sizeof(uint32_t) + 1);
		bool good = postings_kernels[0].get(code, bytes, numbers, plain);

		CHECK(n <= 8 * bytes && (!good || n > 0));
		for (size_t i = 0; good && i < n; i++)
			CHECK(plain[i] < numbers && (i == 0 || plain[i] > plain[i - 1]));
		for (const PostingsKernel *kernel = postings_kernels + 1; kernel->name != NULL; kernel++)
			if (kernel->available())
			{
				CHECK(kernel->get(code, bytes, numbers, read) == good);
				CHECK(!good || memcmp(plain, read, n * sizeof(uint32_t)) == 0);
			}
		right += good;
		free(read);
		free(plain);
		free(code);
	}
	CHECK_MSG(right > 1000 && right < 19000, "%d are right", right);
}

static void
check_code(const uint32_t *document, size_t n, uint32_t numbers, const uint8_t *expected,
		   size_t length)
{
	size_t bytes;
	uint8_t *code = reference_code(document, n, numbers, &bytes);

	CHECK(bytes >= length && memcmp(code, expected, length) == 0);
	free(code);
}

/* Codes are the same on every machine. */
static void
codes_are_known(void)
{
	static const uint32_t few[] = {3, 500, 501, 999};
	static const uint8_t few_code[] = {4, 0x03, 0x7A, 0xFD, 0x1C, 0x43};
	static const uint8_t many_code[] = {255, 44, 1, 0, 0, 0x40, 0x42, 0x0F, 0, 2, 0x6C, 0x6C};
	uint32_t many[300];

	for (uint32_t i = 0; i < 300; i++)
		many[i] = 1000000 + 7 * i;
	check_code(few, 4, 1000, few_code, sizeof(few_code));
	check_code(many, 300, 2000000, many_code, sizeof(many_code));
	CHECK(postings_size(few, 4, 1000) == sizeof(few_code));
}

/* Counters and choosers refuse a code that is malformed. */
static void
damage_is_noticed(void)
{
	static const uint8_t code[3 + POSTINGS_OVERREAD] = {200, 1, 1};
	Chooser chooser;

	for (int c = 1; c <= 3; c++)
	{
		HitCounter counter;

		counter_begin(&counter, 1000, 100, c);
		CHECK(counter_add(&counter, code, 0, 1000) && !counter_add(&counter, code, 3, 1000));
		counter_end(&counter);
	}
	chooser_begin(&chooser, 3, 2);
	CHECK(chooser_add(&chooser, code, 0, 1000) && !chooser_add(&chooser, code, 3, 1000));
	chooser_end(&chooser);
}

/* ---- Counting ----------------------------------------------------------- */

/* All documents that are hit c times or more are candidates, once, ascending. */
static void
check_candidates(HitCounter *counter, const int *hits, uint32_t documents, int c, bool exact)
{
	size_t count;
	const uint32_t *candidate = counter_candidates(counter, &count);
	size_t at = 0;
	int lost = 0;
	int extra = 0;
	int disordered = 0;

	for (size_t i = 1; i < count; i++)
		disordered += candidate[i] <= candidate[i - 1];
	for (uint32_t d = 0; d < documents; d++)
	{
		bool found = at < count && candidate[at] == d;

		at += found;
		lost += hits[d] >= c && !found;
		extra += hits[d] < c && found;
	}
	CHECK_MSG(lost == 0 && disordered == 0 && at == count, "c %d of %u documents: %d lost", c,
			  documents, lost);
	CHECK_MSG(!exact || extra == 0, "c %d of %u documents: %d too many", c, documents, extra);
}

static void
count_random(uint32_t documents, int c, double expected, bool exact)
{
	HitCounter counter;
	int *hits = calloc(documents, sizeof(int));
	uint32_t document[1000];

	counter_begin(&counter, documents, expected, c);
	for (int bucket = 0; bucket < 400; bucket++)
	{
		size_t n = random_list(document, random_below(1000),
							   bucket % 4 == 0 ? documents : documents / 50 + 1);
		size_t bytes;
		uint8_t *code = reference_code(document, n, documents, &bytes);

		for (size_t i = 0; i < n; i++)
			hits[document[i]]++;
		CHECK(counter_add(&counter, code, bytes, documents));
		free(code);
	}
	check_candidates(&counter, hits, documents, c, exact);
	counter_end(&counter);
	free(hits);
}

static void
counting_is_complete(void)
{
	static const int counts[] = {1, 2, 3, 6, 20, 255};

	for (int i = 0; i < 6; i++)
	{
		count_random(5000, counts[i], 1e9, true);
		count_random(65536, counts[i], 1e9, true);
		count_random(200000, counts[i], 1e9, true);
		/* Counters that documents share may add candidates, but lose none. */
		count_random(65536, counts[i], 100, false);
		count_random(1 << 20, counts[i], 1000, false);
		count_random(1 << 24, counts[i], 0, false);
	}
}

/* ---- All together ------------------------------------------------------- */

/* A segment in memory: signatures, and the documents of each bucket. */
typedef struct Corpus
{
	Grouping g;
	uint32_t n;
	size_t stride;
	uint8_t *symbols;
	uint32_t *start; /* of one group's buckets */
	uint32_t *posting;
} Corpus;

/* Fills in signatures: half are random, half are copies of an earlier one with some changes. */
static void
fill_corpus(Corpus *corpus)
{
	int k = corpus->g.k;
	int b = corpus->g.b;

	random_bytes(corpus->symbols, corpus->n * corpus->stride);
	for (uint32_t d = 1; d < corpus->n; d++)
	{
		uint8_t *own = corpus->symbols + d * corpus->stride;
		int changes = random_below(k / 2);

		if (d % 2 == 0)
			continue;
		memcpy(own, corpus->symbols + random_below(d) * corpus->stride, corpus->stride);
		for (int i = 0; i < changes; i++)
		{
			int bit = random_below(k) * b + random_below(b);

			own[bit / 8] ^= 0x80 >> bit % 8;
		}
	}
	/* Bits beyond the symbols are zero. */
	for (uint32_t d = 0; d < corpus->n && k * b % 8 != 0; d++)
		corpus->symbols[d * corpus->stride + corpus->stride - 1] &= 0xFF << (8 - k * b % 8);
}

static void
sort_postings(Corpus *corpus, int group)
{
	uint32_t buckets = UINT32_C(1) << group_bucket_bits(&corpus->g, group);
	uint32_t *cursor = calloc(buckets + 1, sizeof(uint32_t));

	for (uint32_t d = 0; d < corpus->n; d++)
		cursor[group_bucket(&corpus->g, group, corpus->symbols + d * corpus->stride) + 1]++;
	for (uint32_t v = 0; v < buckets; v++)
		cursor[v + 1] += cursor[v];
	memcpy(corpus->start, cursor, (buckets + 1) * sizeof(uint32_t));
	for (uint32_t d = 0; d < corpus->n; d++)
	{
		uint32_t bucket = group_bucket(&corpus->g, group, corpus->symbols + d * corpus->stride);

		corpus->posting[cursor[bucket]++] = d;
	}
	free(cursor);
}

static void
probe_group(Corpus *corpus, int group, int radius, const uint8_t *query, HitCounter *counter,
			Chooser *chooser)
{
	static const uint32_t none[] = {0};
	const uint32_t *mask = none;
	int masks = 1;
	uint32_t own = group_bucket(&corpus->g, group, query);

	sort_postings(corpus, group);
	if (radius > 0)
		mask = probe_masks(group_width(&corpus->g, group), corpus->g.b, radius, &masks);
	for (int i = 0; i < masks; i++)
	{
		uint32_t from = corpus->start[own ^ mask[i]];
		uint32_t to = corpus->start[(own ^ mask[i]) + 1];
		size_t bytes;
		uint8_t *code = reference_code(corpus->posting + from, to - from, corpus->n, &bytes);

		if (chooser != NULL)
			CHECK(chooser_add(chooser, code, bytes, corpus->n));
		else
			CHECK(counter_add(counter, code, bytes, corpus->n));
		free(code);
	}
	if (chooser != NULL)
		chooser_end_group(chooser);
}

/* All documents within h are candidates. */
static void
search_once(Corpus *corpus, int h, const SearchPlan *plan)
{
	const uint8_t *query = corpus->symbols + random_below(corpus->n) * corpus->stride;
	int first = random_below(corpus->g.groups);
	bool choosing = plan->method == SEARCH_CHOOSE;
	Chooser chooser;
	HitCounter counter;
	const uint32_t *candidate;
	size_t count;
	size_t at = 0;
	int lost = 0;

	counter_begin(&counter, corpus->n, plan->postings, choosing ? 1 : plan->count);
	chooser_begin(&chooser, plan->groups, plan->count);
	/* Any groups are right, in any order. */
	for (int i = 0; i < plan->groups; i++)
		probe_group(corpus, (first + i) % corpus->g.groups, plan->radius + (i < plan->one_more),
					query, &counter, choosing ? &chooser : NULL);
	if (choosing)
		chooser_candidates(&chooser, &counter);
	candidate = counter_candidates(&counter, &count);
	for (uint32_t d = 0; d < corpus->n; d++)
	{
		while (at < count && candidate[at] < d)
			at++;
		lost += symbol_distance(query, corpus->symbols + d * corpus->stride, corpus->g.k,
								corpus->g.b) <= h &&
			(at >= count || candidate[at] != d);
	}
	CHECK_MSG(lost == 0, "k %d b %d h %d: %d lost by %d groups, radius %d, %d with one more, c %d",
			  corpus->g.k, corpus->g.b, h, lost, plan->groups, plan->radius, plan->one_more,
			  plan->count);
	counter_end(&counter);
	chooser_end(&chooser);
}

/* Searches by each method, for small and large distances. */
static void
search_corpus(int k, int b, uint32_t n, int groups)
{
	Grouping grouping = groups == 0 ? grouping_for(k, b, n) : grouping_with(k, b, n, groups);
	Corpus corpus = {grouping, n, SYMBOL_BYTES(k, b), NULL, NULL, NULL};
	SegmentStats stats = {.documents = n,
						  .documents_per_page = 100,
						  .posting_pages = postings_estimate(&grouping, n) / 8192 + 1};
	uint32_t widest = UINT32_C(1) << group_bucket_bits(&corpus.g, 0);

	corpus.symbols = malloc(n * corpus.stride);
	corpus.start = malloc((widest + 1) * sizeof(uint32_t));
	corpus.posting = malloc(n * sizeof(uint32_t));
	fill_corpus(&corpus);
	for (int h = 0; h < k; h += 1 + k / 9)
		for (int method = SEARCH_AUTO; method < SEARCH_SCAN; method++)
		{
			SearchPlan plan = search_plan(&corpus.g, &stats, h, method);

			if (plan.method != SEARCH_SCAN)
				search_once(&corpus, h, &plan);
		}
	free(corpus.symbols);
	free(corpus.start);
	free(corpus.posting);
}

/* With few groups all choices are possible: h from 0 to m - 1. */
static void
search_few_groups(void)
{
	for (int m = 1; m <= 16; m += 5)
		search_corpus(32, 1, 3000, m);
	search_corpus(64, 1, 3000, 10);
	CHECK(choices_of(16, 8) == 12870 && choices_of(7, 7) == 1 && choices_of(9, 1) == 9);
}

static void
searches_are_exact(void)
{
	for (int s = 0; s < SHAPES; s++)
		if (shapes[s].k <= 512)
			search_corpus(shapes[s].k, shapes[s].b, 2000 + random_below(2000), 0);
	search_corpus(400, 1, 66000, 0);
	search_corpus(64, 1, 70000, 0);
	search_few_groups();
}

int
main(void)
{
	groups_are_disjoint();
	buckets_are_values();
	offsets_are_numbered();
	masks_are_complete();
	plans_lose_nothing();
	lists_are_kept();
	damage_is_harmless();
	damage_is_noticed();
	codes_are_known();
	counting_is_complete();
	searches_are_exact();
	return unit_report();
}
