/*
 * fuzz_grouping.c: groups, plans, counters and choosers of any segment: nothing within the
 * distance is lost.  And any bytes as a code of postings: they are read within bounds, by
 * each kernel alike.
 */
#include "documents.h"
#include "reference.h"

#define DOCUMENTS_MAX 60

/* ---- Searches ------------------------------------------------------------ */

typedef struct Search
{
	const Grouping *g;
	const Documents *documents;
	const SearchPlan *plan;
	uint32_t first;   /* number of the first document, as a segment may have others */
	uint32_t numbers; /* of the segment */
	HitCounter counter;
	Chooser chooser;
} Search;

/* Adds the documents of a bucket to the counter or the chooser. */
static void
add_bucket(Search *s, int group, uint32_t bucket)
{
	uint32_t document[DOCUMENTS_MAX];
	uint8_t *code;
	size_t bytes;
	size_t n = 0;

	for (uint32_t d = 0; d < s->documents->n; d++)
		if (group_bucket(s->g, group, document_at(s->documents, d)) == bucket)
			document[n++] = s->first + d;
	code = reference_code(document, n, s->numbers, &bytes);
	if (s->plan->method == SEARCH_CHOOSE)
		REQUIRE(chooser_add(&s->chooser, code, bytes, s->numbers));
	else
		REQUIRE(counter_add(&s->counter, code, bytes, s->numbers));
	free(code);
}

static void
probe_group(Search *s, int group, int radius, const uint8_t *query)
{
	static const uint32_t none[] = {0};
	const uint32_t *mask = none;
	int masks = 1;
	uint32_t own = group_bucket(s->g, group, query);

	if (radius > 0)
		mask = probe_masks(group_width(s->g, group), s->g->b, radius, &masks);
	/* More would take too long, since this compares every document for each. */
	if (masks > 400)
		masks = 400;
	for (int i = 0; i < masks; i++)
		add_bucket(s, group, own ^ mask[i]);
	if (s->plan->method == SEARCH_CHOOSE)
		chooser_end_group(&s->chooser);
}

static void
require_nothing_lost(Search *s, const uint8_t *query, int h)
{
	size_t count;
	const uint32_t *candidate = counter_candidates(&s->counter, &count);

	for (size_t i = 0; i < count; i++)
		REQUIRE(candidate[i] < s->numbers && (i == 0 || candidate[i] > candidate[i - 1]));
	for (uint32_t d = 0; d < s->documents->n; d++)
	{
		bool found = false;

		for (size_t i = 0; i < count && !found; i++)
			found = candidate[i] == s->first + d;
		REQUIRE(found ||
				symbol_distance(query, document_at(s->documents, d), s->g->k, s->g->b) > h);
	}
}

/* Returns whether the plan has no more masks than that. */
static bool
can_probe(const Search *s)
{
	int most = s->plan->radius + (s->plan->one_more > 0);

	return most == 0 || probe_count(group_width(s->g, 0), s->g->b, most) <= 400;
}

static void
check_search(Search *s, const uint8_t *query, int h)
{
	bool choosing = s->plan->method == SEARCH_CHOOSE;

	if (!can_probe(s))
		return;
	counter_begin(&s->counter, s->numbers, s->plan->postings, choosing ? 1 : s->plan->count);
	chooser_begin(&s->chooser, s->plan->groups, s->plan->count);
	for (int i = 0; i < s->plan->groups; i++)
		probe_group(s, i, s->plan->radius + (i < s->plan->one_more), query);
	if (choosing)
		chooser_candidates(&s->chooser, &s->counter);
	require_nothing_lost(s, query, h);
	counter_end(&s->counter);
	chooser_end(&s->chooser);
}

/* ---- Codes --------------------------------------------------------------- */

/* Documents that are read are in order, and written to a code that has them again. */
static void
check_documents(const uint32_t *document, size_t n, uint32_t numbers)
{
	size_t bytes;
	uint8_t *code = reference_code(document, n, numbers, &bytes);
	uint32_t *again = malloc(n * sizeof(uint32_t));

	for (size_t i = 0; i < n; i++)
		REQUIRE(document[i] < numbers && (i == 0 || document[i] > document[i - 1]));
	REQUIRE(again != NULL && postings_count(code, bytes) == n);
	REQUIRE(postings_get(code, bytes, numbers, again));
	REQUIRE(memcmp(document, again, n * sizeof(uint32_t)) == 0);
	REQUIRE(postings_fit(document, n, numbers, bytes) == n);
	free(again);
	free(code);
}

/* Reads all bytes that are left as a code. */
static void
check_code(Input *in, uint32_t numbers)
{
	size_t bytes = in->left;
	uint8_t *code = malloc(bytes + POSTINGS_OVERREAD);
	size_t n;
	uint32_t *plain;
	uint32_t *read;
	bool good;

	REQUIRE(code != NULL);
	memcpy(code, in->at, bytes);
	memset(code + bytes, 0xFF, POSTINGS_OVERREAD);
	n = postings_count(code, bytes);
	REQUIRE(n <= 8 * bytes);
	plain = malloc(n * sizeof(uint32_t) + 1);
	read = malloc(n * sizeof(uint32_t) + 1);
	REQUIRE(plain != NULL && read != NULL);
	good = postings_kernels[0].get(code, bytes, numbers, plain);
	for (const PostingsKernel *kernel = postings_kernels + 1; kernel->name != NULL; kernel++)
		if (kernel->available())
		{
			REQUIRE(kernel->get(code, bytes, numbers, read) == good);
			REQUIRE(!good || memcmp(plain, read, n * sizeof(uint32_t)) == 0);
		}
	if (good)
		check_documents(plain, n, numbers);
	free(read);
	free(plain);
	free(code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t sizes[] = {512, 1000, 65536, 65537, 70000, 1 << 20, 1 << 24, 3000};
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	uint32_t segment = sizes[option & 7];
	uint32_t n = 1 + take_byte(&in) % DOCUMENTS_MAX;
	uint32_t first = (uint32_t) (take_number(&in, 3) % (segment - n + 1));
	SegmentStats stats = {.documents = segment,
						  .documents_per_page = 100,
						  .posting_pages = segment / 200 + 1};
	SearchMethod method;
	SearchPlan plan;
	Documents d;
	Grouping g;
	int k;
	int b;
	int h;

	limit_lists(size);
	if (option & 16)
	{
		check_code(&in, 1 + (uint32_t) (take_number(&in, 4) % (UINT32_C(1) << 31)));
		return 0;
	}
	method = (SearchMethod) (take_byte(&in) % 4);
	take_shape(&in, 200, &k, &b);
	h = take_range(&in, 0, k);
	g = option & 8 ? grouping_for(k, b, segment) :
					 grouping_with(k, b, segment, take_range(&in, 1, k));
	REQUIRE(grouping_is_sound(&g));
	plan = search_plan(&g, &stats, h, method);
	d = take_documents(&in, k, b, n, SYMBOL_BYTES(k, b));
	if (plan.method != SEARCH_SCAN)
	{
		Search search = {&g, &d, &plan, first, segment};

		REQUIRE(plan_is_sound(&g, h, &plan));
		/* The query is in memory with nothing after it. */
		Input last = {document_at(&d, n - 1), d.stride};
		size_t length = d.stride;
		uint8_t *query = take_copy(&last, &length);

		check_search(&search, query, h);
		free(query);
	}
	free(d.packed);
	return 0;
}
