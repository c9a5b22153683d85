/*
 * fuzz_match.c: groups, plans, counters and choosers of any segment.  No document
 * within the distance is missed.
 */
#include "documents.h"

#define DOCUMENTS_MAX 60

static void
put_posting(uint8_t *at, uint32_t document, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t) (document >> 8 * i);
}

/* ---- Groups -------------------------------------------------------------- */

/* Checks that groups are disjoint, in order, and within the signature. */
static void
check_grouping(const Grouping *g)
{
	int next = 0;

	for (int i = 0; i < g->groups; i++)
	{
		REQUIRE(group_first_symbol(g, i) == next && group_width(g, i) >= 1);
		REQUIRE(group_width(g, i) * g->b <= 64);
		REQUIRE(group_bucket_bits(g, i) >= 1 && group_bucket_bits(g, i) <= BUCKET_BITS_MAX);
		next += group_width(g, i);
	}
	REQUIRE(next <= g->k);
}

/* Returns the most groups that a document at distance h can miss, cheapest first. */
static int
most_missed(const SearchPlan *plan, int h)
{
	int low = plan->groups - plan->one_more;
	int missed = 0;

	while (missed < plan->groups && h >= plan->radius + 1 + (missed >= low))
		h -= plan->radius + 1 + (missed++ >= low);
	return missed;
}

static void
check_plan(const Grouping *g, int h, const SearchPlan *plan)
{
	REQUIRE(plan->groups >= 1 && plan->groups <= g->groups);
	REQUIRE(plan->one_more >= 0 && plan->one_more <= plan->groups);
	REQUIRE(plan->radius >= 0 && plan->radius + (plan->one_more > 0) <= RADIUS_MAX);
	REQUIRE(plan->count >= 1 && plan->groups - most_missed(plan, h) >= plan->count);
	REQUIRE(plan->method == SEARCH_CHOOSE || plan->count <= 255);
}

/* ---- Searches ------------------------------------------------------------ */

typedef struct Search
{
	const Grouping *g;
	const Documents *documents;
	const SearchPlan *plan;
	uint32_t first; /* number of the first document, as a segment may have others */
	int bytes;
	HitCounter counter;
	Chooser chooser;
} Search;

/* Passes the documents of one bucket to the counter or the chooser. */
static void
add_bucket(Search *s, int group, uint32_t bucket)
{
	uint8_t all[DOCUMENTS_MAX * 4];
	uint8_t *postings;
	size_t n = 0;

	for (uint32_t d = 0; d < s->documents->n; d++)
		if (group_bucket(s->g, group, document_at(s->documents, d)) == bucket)
			put_posting(all + n++ * s->bytes, s->first + d, s->bytes);
	/* In an allocation of their own, so that a sanitizer sees reads beyond it. */
	postings = malloc(n > 0 ? n * s->bytes : 1);
	REQUIRE(postings != NULL);
	memcpy(postings, all, n * s->bytes);
	if (s->plan->method == SEARCH_CHOOSE)
		chooser_add(&s->chooser, postings, n, s->bytes);
	else
		counter_add(&s->counter, postings, n, s->bytes);
	free(postings);
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
	/* More would take too long, as every document is compared. */
	if (masks > 400)
		masks = 400;
	for (int i = 0; i < masks; i++)
		add_bucket(s, group, own ^ mask[i]);
	if (s->plan->method == SEARCH_CHOOSE)
		chooser_end_group(&s->chooser);
}

static void
require_nothing_lost(Search *s, const uint8_t *query, int h, uint32_t documents)
{
	size_t count;
	const uint32_t *candidate = counter_candidates(&s->counter, &count);

	for (size_t i = 0; i < count; i++)
		REQUIRE(candidate[i] < documents && (i == 0 || candidate[i] > candidate[i - 1]));
	for (uint32_t d = 0; d < s->documents->n; d++)
	{
		bool found = false;

		for (size_t i = 0; i < count && !found; i++)
			found = candidate[i] == s->first + d;
		REQUIRE(found ||
				symbol_distance(query, document_at(s->documents, d), s->g->k, s->g->b) > h);
	}
}

/* All masks of the plan must fit the limit above. */
static bool
can_probe(const Search *s)
{
	int most = s->plan->radius + (s->plan->one_more > 0);

	return most == 0 || probe_count(group_width(s->g, 0), s->g->b, most) <= 400;
}

static void
check_search(Search *s, const uint8_t *query, int h, uint32_t documents)
{
	bool choosing = s->plan->method == SEARCH_CHOOSE;

	if (!can_probe(s))
		return;
	counter_begin(&s->counter, documents, s->plan->postings, choosing ? 1 : s->plan->count);
	chooser_begin(&s->chooser, documents, s->plan->groups, s->plan->count);
	for (int i = 0; i < s->plan->groups; i++)
		probe_group(s, i, s->plan->radius + (i < s->plan->one_more), query);
	if (choosing)
		chooser_candidates(&s->chooser, &s->counter);
	require_nothing_lost(s, query, h, documents);
	counter_end(&s->counter);
	chooser_end(&s->chooser);
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
	SegmentStats stats = {segment, 2700, 100, NULL};
	SearchMethod method = (SearchMethod) (take_byte(&in) % 4);
	SearchPlan plan;
	Documents d;
	Grouping g;
	int k;
	int b;
	int h;

	take_shape(&in, 200, &k, &b);
	h = take_range(&in, 0, k);
	g = option & 8 ? grouping_for(k, b, segment) :
					 grouping_with(k, b, segment, take_range(&in, 1, k));
	check_grouping(&g);
	plan = search_plan(&g, &stats, h, method);
	d = take_documents(&in, k, b, n, SYMBOL_BYTES(k, b));
	if (plan.method != SEARCH_SCAN)
	{
		Search search = {&g, &d, &plan, first, posting_bytes(segment)};

		check_plan(&g, h, &plan);
		/* The query has its own allocation, so that a sanitizer sees reads beyond it. */
		Input last = {document_at(&d, n - 1), d.stride};
		size_t length = d.stride;
		uint8_t *query = take_copy(&last, &length);

		check_search(&search, query, h, segment);
		free(query);
	}
	free(d.packed);
	return 0;
}
