/*
 * test_join.c: the join of signatures compared with all pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "join/join_sample.h"
#include "join/prefixes.h"
#include "random.h"
#include "unit.h"

/* ---- Documents ---------------------------------------------------------- */

typedef struct Documents
{
	int k;
	int b;
	size_t stride;
	uint32_t n;
	uint8_t *packed;
} Documents;

static void
set_symbol(uint8_t *packed, int b, int i, uint32_t symbol)
{
	for (int bit = 0; bit < b; bit++)
	{
		int at = i * b + bit;
		uint8_t mask = 0x80 >> at % 8;

		packed[at / 8] =
			symbol >> (b - 1 - bit) & 1 ? packed[at / 8] | mask : packed[at / 8] & ~mask;
	}
}

/* Makes random documents, half of them copies of an earlier one with up to `changes` changes. */
static Documents
make_documents(int k, int b, uint32_t n, int changes, size_t extra)
{
	Documents d = {k, b, JOIN_STRIDE(k, b) + extra, n};

	d.packed = calloc(n, d.stride);
	for (uint32_t i = 0; i < n; i++)
	{
		uint8_t *one = d.packed + i * d.stride;

		for (int s = 0; s < k; s++)
			set_symbol(one, b, s, random_below(UINT32_C(1) << (b < 31 ? b : 31)));
		if (i > 0 && random_below(2) == 0)
		{
			memcpy(one, d.packed + random_below(i) * d.stride, d.stride);
			for (int c = random_below(changes + 1); c > 0; c--)
				set_symbol(one, b, random_below(k), random_below(2));
		}
		/* The bytes after the symbols belong to no document. */
		for (size_t e = 0; e < extra; e++)
			one[d.stride - extra + e] = (uint8_t) random_below(256);
	}
	return d;
}

/* ---- Comparison with all pairs ------------------------------------------ */

typedef struct Found
{
	const Documents *x;
	const Documents *y;
	uint8_t *seen; /* how often each pair was found */
	uint32_t pairs;
	uint32_t wrong;
	uint32_t stop_at;
} Found;

static bool
note_pair(void *found, uint32_t a, uint32_t b, int distance)
{
	Found *f = found;
	int expected = symbol_distance(f->x->packed + a * f->x->stride, f->y->packed + b * f->y->stride,
								   f->x->k, f->x->b);

	f->wrong += distance != expected || f->seen[a * f->y->n + b]++ > 0 || (f->x == f->y && a >= b);
	return ++f->pairs != f->stop_at;
}

/* Returns how many pairs are within a distance of each other. */
static uint32_t
count_pairs(const Documents *x, const Documents *y, int h, bool exactly)
{
	uint32_t pairs = 0;

	for (uint32_t a = 0; a < x->n; a++)
		for (uint32_t b = x == y ? a + 1 : 0; b < y->n; b++)
		{
			int d =
				symbol_distance(x->packed + a * x->stride, y->packed + b * y->stride, x->k, x->b);

			pairs += exactly ? d == h : d <= h;
		}
	return pairs;
}

/* Joins as planned; if words is not 0, as many documents are, with prefixes of these words. */
static Found
join_with_words(int words, const Documents *x, const Documents *y, int h, double recall,
				uint32_t stop_at)
{
	Found found = {x, y, calloc(x->n + 1, y->n + 1), 0, 0, stop_at};
	SymbolJoin join = {.k = x->k,
					   .b = x->b,
					   .h = h,
					   .stride = x->stride,
					   .recall = recall,
					   .left = {x->packed, x->n},
					   .right = {x == y ? NULL : y->packed, y->n},
					   .emit = note_pair,
					   .state = &found};
	SymbolJoin many = join;
	JoinPlan plan;
	bool done;

	if (words > 0)
		many.left = (JoinSide){NULL, 300000};
	plan = join_plan(&many);
	CHECK_MSG(words == 0 || plan.groups > 0, "k %d b %d h %d: no groups", x->k, x->b, h);
	if (words > 0)
		plan.words = words;
	done = join_run(&join, &plan);
	CHECK_MSG(done == (stop_at == 0 || found.pairs < stop_at), "stopped after %u", found.pairs);
	free(found.seen);
	return found;
}

static Found
join_documents(const Documents *x, const Documents *y, int h, double recall, uint32_t stop_at)
{
	return join_with_words(0, x, y, h, recall, stop_at);
}

static void
compare(int k, int b, uint32_t n, int h, size_t extra)
{
	Documents x = make_documents(k, b, n, h * 2, extra);
	Documents y = make_documents(k, b, n / 2 + 1, h * 2, extra);
	Found self;
	Found two;

	for (uint32_t i = 0; i < y.n; i += 3)
		memcpy(y.packed + i * y.stride, x.packed + random_below(x.n) * x.stride, x.stride);
	self = join_documents(&x, &x, h, 1, 0);
	two = join_documents(&x, &y, h, 1, 0);
	CHECK_MSG(self.wrong == 0 && self.pairs == count_pairs(&x, &x, h, false),
			  "k %d b %d n %u h %d: %u pairs, %u wrong", k, b, n, h, self.pairs, self.wrong);
	CHECK_MSG(two.wrong == 0 && two.pairs == count_pairs(&x, &y, h, false),
			  "k %d b %d n %u h %d: %u pairs of two, %u wrong", k, b, n, h, two.pairs, two.wrong);
	free(x.packed);
	free(y.packed);
}

static void
every_pair_is_found_once(void)
{
	static const int shapes[][2] = {{64, 1},  {400, 1}, {512, 1}, {17, 1},   {16, 1},  {1001, 1},
									{100, 2}, {77, 4},  {64, 8},  {500, 8},  {33, 16}, {40, 32},
									{128, 1}, {256, 1}, {16, 32}, {3000, 1}, {16, 2}};
	static const uint32_t sizes[] = {1, 2, 40, 600, 1200};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
			for (int h = 0; h <= shapes[s][0] / 2; h = h < 3 ? h + 1 : h * 4)
				compare(shapes[s][0], shapes[s][1], sizes[n], h, h % 2 * 16);
}

/* Few documents, joined by the groups that many would have, with prefixes of all lengths. */
static void
groups_find_every_pair(void)
{
	static const int shapes[][3] = {{64, 1, 9},   {400, 1, 90},   {512, 1, 120}, {1001, 1, 240},
									{100, 2, 50}, {77, 4, 60},    {64, 8, 50},   {500, 8, 400},
									{33, 16, 20}, {3000, 1, 600}, {40, 32, 20}};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (int h = 1; h <= shapes[s][2]; h = h * 3 / 2 + 1)
		{
			Documents x = make_documents(shapes[s][0], shapes[s][1], 300, h * 2, h % 2 * 16);
			uint32_t pairs = count_pairs(&x, &x, h, false);

			for (int words = 1; words <= JOIN_PREFIX_WORDS; words++)
			{
				Found found = join_with_words(words, &x, &x, h, 1, 0);

				CHECK_MSG(found.wrong == 0 && found.pairs == pairs && pairs > 0,
						  "k %d b %d h %d, %d words: %u of %u pairs, %u wrong", x.k, x.b, h, words,
						  found.pairs, pairs, found.wrong);
			}
			free(x.packed);
		}
}

/* The sides have different sizes, which decide on tiles. */
static void
few_against_many(void)
{
	Documents few = make_documents(512, 1, 150, 20, 0);
	Documents many = make_documents(512, 1, 30000, 0, 0);

	for (uint32_t i = 0; i < few.n; i++)
		memcpy(few.packed + i * few.stride, many.packed + random_below(many.n) * many.stride,
			   few.stride);
	for (int turn = 0; turn < 2; turn++)
	{
		const Documents *x = turn ? &many : &few;
		const Documents *y = turn ? &few : &many;
		Found found = join_documents(x, y, 5, 1, 0);

		CHECK(found.pairs > 0 && found.wrong == 0 && found.pairs == count_pairs(x, y, 5, false));
	}
	free(few.packed);
	free(many.packed);
}

/* ---- Slices ------------------------------------------------------------- */

#define SLICE_BITS 2
#define SLICES (1 << SLICE_BITS)

/* A join of documents with themselves in slices of each group. */
typedef struct Slices
{
	SymbolJoin join;
	JoinPlan plan;
	const Documents *all;
	Documents part[SLICES];
	uint32_t *number[SLICES]; /* of its documents among all */
	Found *found;
	int group;
	int left;
	int right; /* the next one; that of the left is the left itself */
} Slices;

/* Deals the documents to slices by the high bits of their buckets. */
static void
deal(Slices *s)
{
	int low = group_bucket_bits(&s->plan.grouping, s->group) - SLICE_BITS;

	for (int i = 0; i < SLICES; i++)
		s->part[i].n = 0;
	for (uint32_t i = 0; i < s->all->n; i++)
	{
		const uint8_t *one = s->all->packed + i * s->all->stride;
		int slice = group_bucket(&s->plan.grouping, s->group, one) >> low;
		Documents *part = &s->part[slice];

		memcpy(part->packed + part->n * part->stride, one, part->stride);
		s->number[slice][part->n++] = i;
	}
}

/* A JoinNext. */
static int
next_slice(void *state)
{
	Slices *s = state;
	int near;

	s->join.slice.new_left = false;
	do
	{
		if (++s->right >= SLICES)
		{
			if (++s->left == SLICES || s->group < 0)
			{
				if (++s->group == s->plan.groups)
					return -1;
				deal(s);
				s->left = 0;
			}
			s->right = s->left;
			s->join.slice.new_left = true;
			s->join.left = (JoinSide){s->part[s->left].packed, s->part[s->left].n};
		}
		(void) join_changes(&s->plan, s->group, SLICE_BITS, s->left ^ s->right, &near);
	} while (near == 0);
	s->join.slice.change = s->left ^ s->right;
	s->join.right = s->right == s->left ? (JoinSide){NULL, 0} :
										  (JoinSide){s->part[s->right].packed, s->part[s->right].n};
	return s->group;
}

/* A JoinEmit. */
static bool
note_of_slices(void *state, uint32_t a, uint32_t b, int distance)
{
	Slices *s = state;
	uint32_t x = s->number[s->left][a];
	uint32_t y = s->number[s->right][b];

	return note_pair(s->found, x < y ? x : y, x < y ? y : x, distance);
}

static void
compare_slices(int k, int b, uint32_t n, int h)
{
	Documents all = make_documents(k, b, n, h * 2, 0);
	Found found = {&all, &all, calloc(n, n), 0, 0, 0};
	Slices s = {.all = &all, .found = &found, .group = -1, .right = SLICES};

	s.join = (SymbolJoin){.k = k, .b = b, .h = h, .stride = all.stride, .recall = 1};
	/* A plan for many documents has groups. */
	s.join.left = (JoinSide){NULL, 300000};
	s.plan = join_plan(&s.join);
	s.join.emit = note_of_slices;
	s.join.next = next_slice;
	s.join.state = s.join.next_state = &s;
	s.join.slice = (JoinSlice){.bits = SLICE_BITS, .most = n};
	for (int i = 0; i < SLICES; i++)
	{
		s.part[i] = (Documents){k, b, all.stride, 0, calloc(n, all.stride)};
		s.number[i] = calloc(n, sizeof(uint32_t));
	}
	CHECK(s.plan.groups > 0);
	CHECK(join_run(&s.join, &s.plan));
	CHECK_MSG(found.wrong == 0 && found.pairs == count_pairs(&all, &all, h, false),
			  "k %d b %d n %u h %d in slices: %u pairs, %u wrong", k, b, n, h, found.pairs,
			  found.wrong);
	for (int i = 0; i < SLICES; i++)
	{
		free(s.part[i].packed);
		free(s.number[i]);
	}
	free(found.seen);
	free(all.packed);
}

static void
slices_find_the_same(void)
{
	compare_slices(512, 1, 3000, 8);
	compare_slices(512, 1, 3000, 30);
	compare_slices(1001, 1, 2000, 40);
	compare_slices(64, 1, 3000, 3);
	compare_slices(64, 8, 3000, 6);
}

/* ---- Plans -------------------------------------------------------------- */

static SymbolJoin
sized(int k, int b, int h, uint32_t n, double recall)
{
	SymbolJoin join = {.k = k, .b = b, .h = h, .stride = JOIN_STRIDE(k, b), .recall = recall};

	join.left = (JoinSide){NULL, n};
	return join;
}

/* Plans miss nothing, are within the limits, and are cheaper than all pairs. */
static void
plans_miss_nothing(void)
{
	static const int shapes[][2] = {{64, 1},  {400, 1}, {512, 1}, {16384, 1},
									{512, 2}, {128, 8}, {40, 32}};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (uint32_t n = 10; n <= 10000000; n *= 10)
			for (int h = 0; h <= shapes[s][0]; h = h * 2 + 1)
			{
				SymbolJoin join = sized(shapes[s][0], shapes[s][1], h, n, 1);
				JoinPlan plan = join_plan(&join);
				int sum = 0;

				for (int g = 0; g < plan.groups; g++)
				{
					CHECK(join_radius(&plan, g) >= 0 && join_radius(&plan, g) <= RADIUS_MAX);
					CHECK(join_radius(&plan, g) == 0 || group_is_exact(&plan.grouping, g));
					sum += join_radius(&plan, g) + 1;
				}
				CHECK_MSG(plan.groups == 0 || sum == h + 1, "k %d n %u h %d: sum %d", shapes[s][0],
						  n, h, sum);
				CHECK(plan.groups <= plan.grouping.groups && plan.recall == 1);
			}
	CHECK(join_plan(&(SymbolJoin){.k = 64, .b = 1, .h = 32, .recall = 1, .left = {NULL, 0}})
			  .groups == 0);
}

/* A group has two wide symbols rather than one, which texts with a common shingle share. */
static void
wide_symbols_in_twos(void)
{
	SymbolJoin join = sized(256, 32, 51, 100000, 1);

	CHECK(join_plan(&join).grouping.width == 2);
	join = sized(512, 16, 102, 100000, 1);
	CHECK(join_plan(&join).grouping.width == 2);
}

/* A plan that may miss pairs costs less, and has at least the recall required. */
static void
recall_is_promised(void)
{
	static const double recalls[] = {0.5, 0.9, 0.99, 0.9999};

	for (int i = 0; i < 4; i++)
	{
		SymbolJoin exact = sized(512, 1, 51, 1000000, 1);
		SymbolJoin join = sized(512, 1, 51, 1000000, recalls[i]);
		JoinPlan plan = join_plan(&join);

		CHECK(plan.recall >= recalls[i] && plan.recall <= 1);
		CHECK(plan.cost < join_plan(&exact).cost);
	}
}

/* Of planted pairs at distance h, at least the share of the recall is found. */
static void
recall_is_kept(void)
{
	const int h = 51;
	const double recall = 0.8;
	Documents x = make_documents(512, 1, 2500, 0, 0);
	Documents y = make_documents(512, 1, 2500, 0, 0);
	Found all;
	Found some;

	memcpy(y.packed, x.packed, x.n * x.stride);
	for (uint32_t i = 0; i < y.n; i++)
		for (int c = 0; c < h;)
		{
			int s = random_below(512);

			if (symbol_at(y.packed + i * y.stride, 1, s) ==
				symbol_at(x.packed + i * x.stride, 1, s))
			{
				set_symbol(y.packed + i * y.stride, 1, s,
						   !symbol_at(x.packed + i * x.stride, 1, s));
				c++;
			}
		}
	all = join_documents(&x, &y, h, 1, 0);
	some = join_documents(&x, &y, h, recall, 0);
	CHECK(all.pairs >= 2500 && some.wrong == 0);
	/* Four standard deviations below the recall. */
	CHECK_MSG(some.pairs < all.pairs && some.pairs >= all.pairs * (recall - 4 * 0.4 / 50),
			  "%u of %u", some.pairs, all.pairs);
	free(x.packed);
	free(y.packed);
}

/* ---- Limits ------------------------------------------------------------- */

static void
emit_can_stop(void)
{
	Documents x = make_documents(64, 1, 900, 3, 0);
	Found found = join_documents(&x, &x, 6, 1, 5);

	CHECK(found.pairs == 5);
	free(x.packed);
}

/* A join of one bucket with all documents ends, and checks for interrupts. */
static void
skewed_documents(void)
{
	Documents x = make_documents(64, 1, 3000, 0, 0);
	unsigned long before = host_interrupt_checks;
	Found found;

	for (uint32_t i = 0; i < x.n; i++)
	{
		memset(x.packed + i * 8, 0, 8);
		x.packed[i * 8 + 6] = (uint8_t) (i >> 8);
		x.packed[i * 8 + 7] = (uint8_t) i;
	}
	found = join_documents(&x, &x, 3, 1, 0);
	CHECK(found.wrong == 0 && found.pairs == count_pairs(&x, &x, 3, false));
	CHECK(host_interrupt_checks - before > 3000 * 2999 / 2 / (1 << 18));
	free(x.packed);
}

/* If all documents are similar, each pair is compared once, without groups. */
static void
documents_all_alike(void)
{
	Documents x = make_documents(512, 1, 20000, 0, 0);
	Documents y = make_documents(512, 1, 20000, 0, 0);
	SymbolJoin join =
		{.k = 512, .b = 1, .h = 10, .stride = x.stride, .recall = 1, .left = {x.packed, x.n}};

	CHECK(join_plan(&join).groups > 0);
	for (uint32_t i = 1; i < x.n; i++)
	{
		memcpy(x.packed + i * x.stride, x.packed, x.stride);
		for (int c = 0; c < 8; c++)
			set_symbol(x.packed + i * x.stride, 1, random_below(512), random_below(2));
	}
	CHECK(join_plan(&join).groups == 0);
	/* Each side is similar in itself, and unlike the other. */
	join.right = (JoinSide){y.packed, y.n};
	CHECK(join_plan(&join).groups > 0);
	free(x.packed);
	free(y.packed);
}

/* ---- Kernels and samples ------------------------------------------------ */

/* Counts the pairs for which a kernel's bit differs from the distance. */
static int
wrong_bits(const PrefixKernel *kernel, const PrefixShape *shape, const uint64_t *prefix, int count,
		   const PrefixRun *run, const uint64_t *other)
{
	PrefixMatch match[PREFIXES_AT_ONCE];
	bool any = kernel->compare(shape, prefix, count, run, match);
	bool expected_any = false;
	int wrong = 0;

	for (int i = 0; i < count; i++)
		for (int d = 0; d < run->documents; d++)
		{
			int distance = symbol_distance((const uint8_t *) (prefix + i * shape->words),
										   (const uint8_t *) (other + d * shape->words),
										   shape->words * 64 / shape->b, shape->b);

			wrong += (match[i].bits[d / 64] >> d % 64 & 1) != (distance <= shape->h);
			expected_any |= distance <= shape->h;
		}
	return wrong + (expected_any && !any);
}

/* Every kernel compared with distances one by one. */
static void
prefix_kernels_agree(void)
{
	static const int sizes[] = {1, 7, 8, 19, 64, 200, RUN};
	Documents x = make_documents(JOIN_PREFIX_WORDS * 64, 1, RUN, 100, 0);
	const uint64_t *prefix = (const uint64_t *) x.packed;
	PrefixRun run;

	for (const PrefixKernel *kernel = prefix_kernels; kernel->name != NULL; kernel++)
		for (int b = 1; kernel->available() && b <= 32; b *= 2)
			for (int words = 1; words <= JOIN_PREFIX_WORDS; words++)
				for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes); n++)
				{
					int h = (int) random_below(words * 64 / b);
					PrefixShape shape = {.words = words, .b = b, .h = h};
					int count = 1 + (int) random_below(PREFIXES_AT_ONCE);

					prefixes_load(&shape, prefix, sizes[n], &run);
					CHECK_MSG(wrong_bits(kernel, &shape, prefix, count, &run, prefix) == 0,
							  "%s, b %d, %d words, %d documents", kernel->name, b, words, sizes[n]);
				}
	free(x.packed);
}

/* Documents of which the symbols that tell them apart come last. */
static Documents
make_skewed(int k, int b, uint32_t n)
{
	Documents x = make_documents(k, b, n, 0, 0);

	for (uint32_t i = 1; i < n; i++)
		for (int s = 0; s < k * 2 / 3; s++)
			set_symbol(x.packed + i * x.stride, b, s, symbol_at(x.packed, b, s));
	/* Some pairs. */
	for (uint32_t i = 1; i < n; i += 7)
		memcpy(x.packed + i * x.stride, x.packed + (i - 1) * x.stride, x.stride);
	return x;
}

static Arrangement
arrange_sample(const SymbolJoin *join)
{
	JoinSample sample;
	float chance[4096];

	sample_take(join, &sample);
	sample_chances(join, &sample, chance);
	return arrange_symbols(join, chance);
}

/* The symbols that differ come first, and every symbol once. */
static void
telling_symbols_come_first(int k, int b)
{
	Documents x = make_skewed(k, b, 300);
	SymbolJoin join = {.k = k, .b = b, .stride = x.stride, .left = {x.packed, x.n}};
	bool seen[4096] = {false};
	Arrangement arrangement = arrange_sample(&join);
	JoinSample sample;
	int told = 0;

	sample_take(&join, &sample);
	CHECK(sample.lefts == SAMPLE && sample_pairs(&sample) == SAMPLE * (SAMPLE - 1) / 2);
	CHECK(arrangement.symbols == Min(k, JOIN_PREFIX_WORDS * 64 / b));
	for (int i = 0; i < arrangement.symbols; i++)
	{
		CHECK(!seen[arrangement.symbol[i]]);
		seen[arrangement.symbol[i]] = true;
		told += i < k / 3 && arrangement.symbol[i] >= k * 2 / 3;
	}
	CHECK(told >= Min(k / 3, arrangement.symbols) - 1);
	free(x.packed);
}

/* Parts and arranged prefixes change nothing. */
static void
all_pairs_in_parts(int k, int b, int h)
{
	Documents x = make_skewed(k, b, 700);
	Documents y = make_skewed(k, b, 530);

	memcpy(y.packed, x.packed, 100 * x.stride);
	for (int trial = 0; trial < 24; trial++)
	{
		const Documents *other = trial % 2 ? &x : &y;
		Found found = {&x, other, calloc(x.n, other->n), 0, 0, 0};
		SymbolJoin join = {.k = k,
						   .b = b,
						   .h = h,
						   .stride = x.stride,
						   .left = {x.packed, x.n},
						   .right = {other == &x ? NULL : y.packed, other->n},
						   .emit = note_pair,
						   .state = &found};
		JoinPlan plan = {.parts = trial * trial, .words = trial % 10, .recall = 1};

		if (trial % 3 != 0)
			plan.arrangement = arrange_sample(&join);
		CHECK(join_run(&join, &plan));
		CHECK_MSG(found.wrong == 0 && found.pairs == count_pairs(&x, other, h, false),
				  "k %d b %d, trial %d: %u pairs, %u wrong", k, b, trial, found.pairs, found.wrong);
		free(found.seen);
	}
	free(x.packed);
	free(y.packed);
}

int
main(void)
{
	prefix_kernels_agree();
	telling_symbols_come_first(512, 1);
	telling_symbols_come_first(100, 2);
	telling_symbols_come_first(300, 16);
	all_pairs_in_parts(512, 1, 40);
	all_pairs_in_parts(77, 4, 10);
	all_pairs_in_parts(300, 16, 30);
	every_pair_is_found_once();
	few_against_many();
	slices_find_the_same();
	plans_miss_nothing();
	wide_symbols_in_twos();
	recall_is_promised();
	recall_is_kept();
	emit_can_stop();
	skewed_documents();
	documents_all_alike();
	groups_find_every_pair();
	return unit_report();
}
