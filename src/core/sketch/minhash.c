/*
 * minhash.c: the minhash sketch of a set.
 *
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, section 3): in each
 * round every element falls into one of k bins.  A bin keeps the least element of the
 * first round that reaches it.  Rounds go on until no bin is empty, so a set of n
 * elements takes about max(n, k ln k) steps.  A bin that is still empty after the last
 * round takes the least element by a permutation of its own.
 *
 * Elements can be chosen so that some bin stays empty in all rounds.  So once the rounds have
 * taken STEPS_PER_BIN steps for each bin, only the SAMPLED least elements go on.  Without
 * intent a bin is empty then in fewer than one of 10^18 sketches.
 *
 * A symbol is 32 bits that sort by round, then by value: a symbol of the first round is 0
 * and 31 bits of value; one of a later round is 1, the round in 15 bits, and 16 bits of
 * value.
 */
#include "sketch/minhash.h"

#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/sort.h"

#ifdef CPU_X86
#include <immintrin.h>
#endif

/* ---- The distinct elements --------------------------------------------------- */

/* Elements whose slots are fetched together before they are searched. */
#define FETCHED 64

/* Starts without elements; `expected` is a guess of how many come, and costs time if it is wrong. */
void
minhash_begin(MinhashBuilder *builder, size_t expected)
{
	table_begin(&builder->table, expected);
	builder->element = host_alloc(builder->table.room * sizeof(uint64_t));
}

/* Adds up to FETCHED elements, for which there is room, and for one more. */
TABLE_INLINE void
add_fetched(Table *table, uint64_t *element, const uint64_t *hashes, size_t count)
{
	uint64_t mixed[FETCHED];
	uint64_t hash[FETCHED];

	mix64_all(hashes, count, mixed);
	for (size_t i = 0; i < count; i++)
	{
		hash[i] = table_hash(table, mixed[i]);
		__builtin_prefetch(table_home(table, hash[i]), 1);
	}
	for (size_t i = 0; i < count; i++)
		table_add_key(table, hash[i], mixed[i], element);
}

/* Adds elements; a HashSink (text/text.h) with a MinhashBuilder as its state. */
void
minhash_add(void *state, const uint64_t *hashes, size_t count)
{
	MinhashBuilder *builder = state;
	size_t needed = builder->table.count + count + 1;
	Table table;

	if (needed > builder->table.room)
	{
		table_reserve(&builder->table, needed);
		builder->element = host_realloc(builder->element, builder->table.room * sizeof(uint64_t));
	}
	/* The compiler can keep a copy in registers. */
	table = builder->table;
	for (size_t done = 0; done < count; done += FETCHED)
		add_fetched(&table, builder->element, hashes + done, Min(count - done, FETCHED));
	builder->table.count = table.count;
}

/* ---- Kernels: the bins and symbols of elements -------------------------------- */

#define LATER_ROUND UINT32_C(0x80000000)

/* Returns 32 bits for an element in a later round: its bin above, its value below. */
static inline uint32_t
round_hash(uint64_t element, uint32_t round)
{
	uint32_t h = ((uint32_t) element ^ round * UINT32_C(0x9E3779B1)) * UINT32_C(0x85EBCA6B);

	h = (h ^ h >> 15) + (uint32_t) (element >> 32);
	h = (h ^ h >> 16) * UINT32_C(0xC2B2AE35);
	h = (h ^ h >> 13) * UINT32_C(0x27D4EB2F);
	return h ^ h >> 16;
}

static inline uint32_t
round_symbol(uint32_t hash, uint32_t round)
{
	return LATER_ROUND | round << 16 | (hash & 0xFFFF);
}

/* In the first round the bin is in the highest 16 bits, the value in the low half. */
KERNEL_BODY void
first_round_body(const uint64_t *restrict element, int count, uint32_t k, Lanes *restrict lanes)
{
	for (int i = 0; i < count; i++)
	{
		lanes->bin[i] = (uint32_t) (element[i] >> 48) * k >> 16;
		lanes->symbol[i] = (uint32_t) element[i] >> 1;
	}
}

/* In a later round bin and value come from a hash of the element and the round. */
KERNEL_BODY void
later_round_body(const uint64_t *restrict element, const uint32_t *restrict step, int count,
				 uint32_t first, uint32_t k, Lanes *restrict lanes)
{
	for (int i = 0; i < count; i++)
	{
		uint32_t round = first + step[i];
		uint32_t hash = round_hash(element[i], round);

		lanes->bin[i] = (hash >> 16) * k >> 16;
		lanes->symbol[i] = round_symbol(hash, round);
	}
}

/*
 * Most lanes of the later rounds go to bins that an earlier round has filled.  Vectors tell them
 * from the others in less time than apply() takes for them, if the bits of all bins fit into
 * registers: signatures of texts of 200 bytes gain a sixth, of 2 kB a tenth.
 */
#define FILTERED_BINS 512

/* Keeps all lanes. */
static inline int
keep_open_plain(Lanes *lanes, int count, const uint32_t *symbols, uint32_t first, int k)
{
	return count;
}

/* AVX2 cannot compress vectors, and takes as long as it saves. */
#define keep_open_avx2 keep_open_plain

#ifdef CPU_X86

/*
 * Keeps the lanes, of 16 from i on, that are present and go to an open bin; `kept` were kept
 * before.
 */
TARGET_AVX512 static inline int
keep_lanes(Lanes *lanes, int i, __mmask16 present, __m512i open, int kept)
{
	__m512i bin = _mm512_loadu_si512(lanes->bin + i);
	__m512i symbol = _mm512_loadu_si512(lanes->symbol + i);
	__m512i word = _mm512_permutexvar_epi32(_mm512_srli_epi32(bin, 5), open);
	__mmask16 keep =
		_mm512_mask_test_epi32_mask(present, _mm512_rorv_epi32(word, bin), _mm512_set1_epi32(1));

	_mm512_storeu_si512(lanes->bin + kept, _mm512_maskz_compress_epi32(keep, bin));
	_mm512_storeu_si512(lanes->symbol + kept, _mm512_maskz_compress_epi32(keep, symbol));
	return kept + __builtin_popcount(keep);
}

/* Keeps the lanes that go to bins without a symbol of an earlier round. */
TARGET_AVX512 static inline int
keep_open_avx512(Lanes *lanes, int count, const uint32_t *symbols, uint32_t first, int k)
{
	const __m512i least = _mm512_set1_epi32((int) round_symbol(0, first));
	__mmask16 bits[FILTERED_BINS / 16];
	__m512i open;
	int kept = 0;
	int i;

	if (k > FILTERED_BINS)
		return count;
	memset(bits, 0xFF, sizeof(bits));
	for (i = 0; i + 16 <= k; i += 16)
		bits[i / 16] = _mm512_cmpge_epu32_mask(_mm512_loadu_si512(symbols + i), least);
	open = _mm512_loadu_si512(bits);
	for (i = 0; i + 16 <= count; i += 16)
		kept = keep_lanes(lanes, i, 0xFFFF, open, kept);
	if (i < count)
		kept = keep_lanes(lanes, i, (__mmask16) _bzhi_u32(0xFFFF, count - i), open, kept);
	return kept;
}

#endif

#define ROUND_VARIANTS(X) CPU_PLAIN(X) CPU_AVX2(X) CPU_AVX512(X)

#define ROUND_FUNCTIONS(name, target) \
	target static void first_round_##name(const uint64_t *element, int count, uint32_t k, \
										  Lanes *lanes) \
	{ \
		first_round_body(element, count, k, lanes); \
	} \
	target static int later_round_##name(const uint64_t *element, const uint32_t *step, int count, \
										 uint32_t first, uint32_t k, const uint32_t *symbols, \
										 Lanes *lanes) \
	{ \
		later_round_body(element, step, count, first, k, lanes); \
		return keep_open_##name(lanes, count, symbols, first, k); \
	}

#define ROUND_KERNEL(name, target) {#name, cpu_has_##name, first_round_##name, later_round_##name},

ROUND_VARIANTS(ROUND_FUNCTIONS)

const RoundKernel round_kernels[] = {ROUND_VARIANTS(ROUND_KERNEL){NULL}};

CPU_CHOICE(best_kernel, RoundKernel, round_kernels)

/* ---- The sketch --------------------------------------------------------------- */

/*
 * A set of at most TOGETHER_MOST elements takes several rounds at once, which fill at least LANES_MIN
 * lanes.  A set of 100 elements gains a fifth.
 */
#define LANES_MIN 64
#define TOGETHER_MOST (LANES / 4)

/*
 * After STEPS_PER_BIN steps for each bin only SAMPLED elements go on
 * (doc/explanation/recipe.md).
 */
#define STEPS_PER_BIN 64
#define SAMPLED LANES_MIN

typedef struct Sketcher
{
	int k;
	uint32_t last_round; /* a multiple of LANES_MIN, at least k */
	uint32_t *symbols;
	int filled; /* no bin before this one is empty */
	Lanes lanes;
} Sketcher;

/* Takes the symbols of some lanes into their bins. */
static void
apply(Sketcher *s, int count)
{
	uint32_t *symbols = s->symbols;

	for (int i = 0; i < count; i++)
	{
		uint32_t bin = s->lanes.bin[i];

		symbols[bin] = Min(s->lanes.symbol[i], symbols[bin]);
	}
}

/* Bins that are looked at together, which saves a twentieth of the time to sign 700 bytes. */
#define BINS_TOGETHER 8

/* Returns whether no bin is empty.  A bin is never emptied, so each is looked at once. */
static bool
is_full(Sketcher *s)
{
	for (; s->filled + BINS_TOGETHER <= s->k; s->filled += BINS_TOGETHER)
	{
		bool empty = false;

		for (int i = 0; i < BINS_TOGETHER; i++)
			empty |= s->symbols[s->filled + i] == MINHASH_EMPTY_SYMBOL;
		if (empty)
			break;
	}
	while (s->filled < s->k && s->symbols[s->filled] != MINHASH_EMPTY_SYMBOL)
		s->filled++;
	return s->filled == s->k;
}

/* Takes all elements through a round; round 0 is the first. */
static void
take_round(Sketcher *s, const uint64_t *element, size_t n, uint32_t round)
{
	static const uint32_t same[LANES] = {0};

	for (size_t done = 0; done < n; done += LANES)
	{
		int count = (int) Min(n - done, LANES);

		if (round == 0)
			best_kernel.first(element + done, count, s->k, &s->lanes);
		else
			count =
				best_kernel.later(element + done, same, count, round, s->k, s->symbols, &s->lanes);
		apply(s, count);
		host_check_interrupts_at(done);
	}
}

/*
 * Takes a small set through the later rounds, several at once, side by side in the lanes, up to
 * `last`.  Returns the next round.
 */
static uint32_t
take_rounds_together(Sketcher *s, const uint64_t *element, size_t n, uint32_t last)
{
	uint32_t together = (uint32_t) (Min(LANES, Max(LANES_MIN, s->k)) / n);
	uint64_t repeated[LANES];
	uint32_t step[LANES];
	uint32_t round = 1;

	for (uint32_t i = 0; i < together; i++)
		for (size_t j = 0; j < n; j++)
		{
			repeated[i * n + j] = element[j];
			step[i * n + j] = i;
		}
	for (; together > 0 && round <= last && !is_full(s); round += together)
	{
		int count = (int) (Min(together, last + 1 - round) * n);

		apply(s, best_kernel.later(repeated, step, count, round, s->k, s->symbols, &s->lanes));
	}
	return Min(round, last + 1);
}

/* Gives each bin that no round reached the least element by a permutation of its own. */
static void
fill_empty_bins(Sketcher *s, const uint64_t *element, size_t n)
{
	uint32_t last = s->last_round + 1;

	while (!is_full(s))
	{
		int bin = s->filled;

		for (size_t i = 0; i < n; i++)
		{
			uint32_t symbol = round_symbol(round_hash(element[i], last + bin), last);

			host_check_interrupts_at(i);
			s->symbols[bin] = Min(symbol, s->symbols[bin]);
		}
	}
}

/* The least of many elements, which come in any order. */
typedef struct LeastElements
{
	uint64_t element[2 * SAMPLED];
	size_t count;
} LeastElements;

/* Sorts the elements, and keeps the least of them. */
static void
cut_least(LeastElements *least)
{
	sort_records(least->element, least->count, sizeof(uint64_t), sort_key_unsigned);
	least->count = Min(least->count, SAMPLED);
}

static void
add_to_least(LeastElements *least, const uint64_t *element, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		host_check_interrupts_at(i);
		least->element[least->count++] = element[i];
		if (least->count == 2 * SAMPLED)
			cut_least(least);
	}
}

/* Takes elements through the later rounds; `steps` were taken in the first. */
static void
take_later_rounds(Sketcher *s, const uint64_t *element, size_t n, size_t steps)
{
	LeastElements least = {.count = 0};
	uint32_t round = 1;

	if (n <= TOGETHER_MOST)
	{
		/* These rounds take all elements. */
		size_t last = n > SAMPLED ? STEPS_PER_BIN * (size_t) s->k / n - 1 : s->last_round;

		round = take_rounds_together(s, element, n, Min(last, s->last_round));
		steps += (round - 1) * n;
	}
	for (; round <= s->last_round && !is_full(s); round++)
	{
		if (steps >= STEPS_PER_BIN * (size_t) s->k && n > SAMPLED)
		{
			add_to_least(&least, element, n);
			cut_least(&least);
			element = least.element;
			n = least.count;
		}
		take_round(s, element, n, round);
		steps += n;
	}
	fill_empty_bins(s, element, n);
}

static void
begin_sketch(Sketcher *s, int k, uint32_t *symbols)
{
	s->k = k;
	s->last_round = ((uint32_t) k + LANES_MIN - 1) / LANES_MIN * LANES_MIN;
	s->symbols = symbols;
	s->filled = 0;
	memset(symbols, 0xFF, k * sizeof(uint32_t));
}

/* Computes the sketch of n distinct elements, given as mix64 of each. */
static void
sketch(const uint64_t *element, size_t n, int k, uint32_t *symbols)
{
	Sketcher s;

	begin_sketch(&s, k, symbols);
	if (n == 0)
		return;
	take_round(&s, element, n, 0);
	take_later_rounds(&s, element, n, n);
}

/*
 * Sets symbols[0, k) to the sketch of the elements added, in symbols of 32 bits, and
 * frees the builder.  Returns the number of distinct elements.  All symbols of the empty
 * set are MINHASH_EMPTY_SYMBOL.
 *
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, section 3).  Symbols
 * keep the order of the minima, so the symbol-wise least of two sketches is the sketch of
 * the union.
 */
uint64_t
minhash_finish(MinhashBuilder *builder, int k, uint32_t *symbols)
{
	size_t n = builder->table.count;

	table_end(&builder->table);
	sketch(builder->element, n, k, symbols);
	host_free(builder->element);
	return n;
}

/* Computes the sketch of distinct elements in the same way; returns their number. */
uint64_t
minhash_of_set(const uint64_t *hashes, size_t count, int k, uint32_t *symbols)
{
	uint64_t *element = host_alloc(count * sizeof(uint64_t) + 1);

	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		element[i] = mix64(hashes[i]);
	}
	sketch(element, count, k, symbols);
	host_free(element);
	return count;
}

/* ---- Weighted sets ------------------------------------------------------------- */

/* More copies than this are not kept: one round suffices, for at most MINHASH_K_MAX bins. */
#define COPIES_KEPT (STEPS_PER_BIN * MINHASH_K_MAX)

/* Computes the sketch of more than COPIES_KEPT copies. */
static void
sketch_many_copies(const Copies *copies, int k, uint32_t *symbols)
{
	Sketcher s;
	LeastElements least = {.count = 0};
	CopiesPosition position = {0};
	uint64_t batch[LANES];
	size_t count;

	begin_sketch(&s, k, symbols);
	while ((count = copies_next(copies, &position, batch, LANES)) > 0)
		take_round(&s, batch, count, 0);
	if (is_full(&s))
		return;
	position = (CopiesPosition){0};
	while ((count = copies_next(copies, &position, batch, LANES)) > 0)
		add_to_least(&least, batch, count);
	cut_least(&least);
	take_later_rounds(&s, least.element, least.count, copies->count);
}

/* Computes the sketch of copies, and frees them; returns how many they are. */
static uint64_t
sketch_copies(Copies *copies, int k, uint32_t *symbols)
{
	if (copies->count > COPIES_KEPT)
		sketch_many_copies(copies, k, symbols);
	else
	{
		uint64_t *all = host_alloc(copies->count * sizeof(uint64_t) + 1);
		CopiesPosition position = {0};

		sketch(all, copies_next(copies, &position, all, copies->count), k, symbols);
		host_free(all);
	}
	copies_end(copies);
	return copies->count;
}

/*
 * Computes the sketch of the copies of what was added, weighed by a lexicon (weights.h);
 * returns their number.
 */
uint64_t
minhash_finish_weighed(MinhashBuilder *builder, const Weights *weights, int k, uint32_t *symbols)
{
	Copies copies;

	table_end(&builder->table);
	copies = copies_weighed(builder->element, builder->table.count, weights);
	return sketch_copies(&copies, k, symbols);
}

/*
 * Computes the sketch of the copies of a bag, whose frequencies are the weights; returns their
 * number.
 */
uint64_t
minhash_of_copies(const Bag *bag, int k, uint32_t *symbols)
{
	Copies copies = copies_of_bag(bag);

	return sketch_copies(&copies, k, symbols);
}
