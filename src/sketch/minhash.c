/*
 * minhash.c: the sketch of a set.
 *
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup 2017): in each round
 * every element falls into one of k bins; a bin keeps the least element of the
 * first round that reaches it.  Rounds go on until no bin is empty, so a set
 * of n elements costs about max(n, k ln k) steps.  A bin that is empty after
 * the last round takes the least element of a permutation of its own.
 *
 * A symbol is 32 bits that order (round, value): first round 0 and 31 bits of
 * value, later rounds 1, the round in 15 bits and 16 bits of value.
 */
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "sketch/minhash.h"

#define LATER_ROUND UINT32_C(0x80000000)

/* A small set is repeated for several rounds at once, to fill this many lanes. */
#define LANES_MIN 64

/* Look for empty bins after about this many steps; before 4 k of them it is no use. */
#define STEPS_PER_LOOK 256
#define STEPS_UNSEEN(k) (4 * (size_t) (k))

/* Rounds after the first: a multiple of LANES_MIN, at least k. */
static uint32_t
round_count(int k)
{
	return ((uint32_t) k + LANES_MIN - 1) / LANES_MIN * LANES_MIN;
}

/* 32 bits for an element in a round after the first: bin above, value below. */
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

/* ---- Kernels: elements to bins and symbols ------------------------------ */

/* Round 0: the bin is in the highest 16 bits, the symbol in the low half. */
KERNEL_BODY void
first_round_body(const uint64_t *restrict element, int count, uint32_t k, Lanes *restrict lanes)
{
	for (int i = 0; i < count; i++)
	{
		lanes->bin[i] = (uint32_t) (element[i] >> 48) * k >> 16;
		lanes->symbol[i] = (uint32_t) element[i] >> 1;
	}
}

/* Lane i is in the round first + step[i]. */
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

#define ROUND_KERNELS(name, target) \
	target static void first_round_##name(const uint64_t *element, int count, uint32_t k, \
										  Lanes *lanes) \
	{ \
		first_round_body(element, count, k, lanes); \
	} \
	target static void later_round_##name(const uint64_t *element, const uint32_t *step, \
										  int count, uint32_t first, uint32_t k, Lanes *lanes) \
	{ \
		later_round_body(element, step, count, first, k, lanes); \
	}

ROUND_KERNELS(plain, )
#ifdef CPU_X86
ROUND_KERNELS(avx2, TARGET_AVX2)
ROUND_KERNELS(avx512, TARGET_AVX512)
#endif

const RoundKernels round_kernels[] = {{cpu_has_plain, first_round_plain, later_round_plain},
#ifdef CPU_X86
									  {cpu_has_avx2, first_round_avx2, later_round_avx2},
									  {cpu_has_avx512, first_round_avx512, later_round_avx512},
#endif
									  {NULL, NULL, NULL}};

/* The last that this processor has. */
static const RoundKernels *
best_round_kernels(void)
{
	static const RoundKernels *best = NULL;

	if (best == NULL)
		for (const RoundKernels *kernels = round_kernels; kernels->available != NULL; kernels++)
			if (kernels->available())
				best = kernels;
	return best;
}

/* ---- The sketch --------------------------------------------------------- */

typedef struct Sketcher
{
	const RoundKernels *kernels;
	int k;
	uint32_t *symbols;
	size_t next_look; /* steps after which to look for empty bins */
	Lanes lanes;
} Sketcher;

static void
apply(Sketcher *s, int count)
{
	uint32_t *symbols = s->symbols;

	for (int i = 0; i < count; i++)
	{
		uint32_t bin = s->lanes.bin[i];
		uint32_t symbol = s->lanes.symbol[i];

		symbols[bin] = symbol < symbols[bin] ? symbol : symbols[bin];
	}
}

static bool
has_empty_bin(const Sketcher *s)
{
	uint32_t empty = 0;

	for (int i = 0; i < s->k; i++)
		empty |= s->symbols[i] == MINHASH_EMPTY_SYMBOL;
	return empty != 0;
}

/* Has every bin been reached?  Asked after each round, answered now and then. */
static bool
is_known_full(Sketcher *s, size_t steps)
{
	if (steps < s->next_look)
		return false;
	s->next_look = steps + STEPS_PER_LOOK;
	return !has_empty_bin(s);
}

static void
first_round(Sketcher *s, const uint64_t *element, size_t n)
{
	for (size_t done = 0; done < n; done += LANES)
	{
		int count = n - done < LANES ? (int) (n - done) : LANES;

		s->kernels->first(element + done, count, s->k, &s->lanes);
		apply(s, count);
		if (done % (64 * LANES) == 0)
			host_check_interrupts();
	}
}

/* The rounds from first on of a set of at least LANES_MIN elements: one. */
static void
large_round(Sketcher *s, const uint64_t *element, size_t n, uint32_t round)
{
	static const uint32_t same[LANES] = {0};

	for (size_t done = 0; done < n; done += LANES)
	{
		int count = n - done < LANES ? (int) (n - done) : LANES;

		s->kernels->later(element + done, same, count, round, s->k, &s->lanes);
		apply(s, count);
		if (done % (64 * LANES) == 0)
			host_check_interrupts();
	}
}

static void
large_rounds(Sketcher *s, const uint64_t *element, size_t n)
{
	uint32_t last = round_count(s->k);
	size_t steps = n;

	for (uint32_t round = 1; round <= last && !is_known_full(s, steps); round++, steps += n)
		large_round(s, element, n, round);
}

/* A small set: several rounds at a time, side by side in the lanes. */
static void
small_rounds(Sketcher *s, const uint64_t *element, size_t n)
{
	uint32_t last = round_count(s->k);
	uint32_t together = 1;
	uint64_t repeated[2 * LANES_MIN];
	uint32_t step[2 * LANES_MIN];
	size_t steps = n;
	int count;

	while (together * n < LANES_MIN)
		together *= 2;
	count = (int) (together * n);
	for (int i = 0; i < count; i++)
	{
		repeated[i] = element[i % n];
		step[i] = (uint32_t) (i / n);
	}
	for (uint32_t round = 1; round <= last && !is_known_full(s, steps); round += together)
	{
		s->kernels->later(repeated, step, count, round, s->k, &s->lanes);
		apply(s, count);
		steps += count;
	}
}

/* Each bin that no round reached: the least of all elements, for it alone. */
static void
fill_empty_bins(Sketcher *s, const uint64_t *element, size_t n)
{
	uint32_t last = round_count(s->k) + 1;

	for (int bin = 0; bin < s->k; bin++)
	{
		if (s->symbols[bin] != MINHASH_EMPTY_SYMBOL)
			continue;
		host_check_interrupts();
		for (size_t i = 0; i < n; i++)
		{
			uint32_t symbol = round_symbol(round_hash(element[i], last + bin), last);

			if (i % (64 * LANES) == 64 * LANES - 1)
				host_check_interrupts();
			if (symbol < s->symbols[bin])
				s->symbols[bin] = symbol;
		}
	}
}

uint64_t
minhash_finish(MinhashBuilder *builder, int k, uint32_t *symbols)
{
	uint64_t *element;
	size_t n = distinct_elements(builder, &element);
	Sketcher s;

	s.kernels = best_round_kernels();
	s.k = k;
	s.symbols = symbols;
	s.next_look = STEPS_UNSEEN(k);
	memset(symbols, 0xFF, k * sizeof(uint32_t));
	if (n > 0)
	{
		first_round(&s, element, n);
		if (n < LANES_MIN)
			small_rounds(&s, element, n);
		else
			large_rounds(&s, element, n);
		if (has_empty_bin(&s))
			fill_empty_bins(&s, element, n);
	}
	host_free(element);
	return n;
}
