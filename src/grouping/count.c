/*
 * count.c: from postings to candidates.
 */
#include <string.h>

#include "grouping/grouping.h"

#define COUNTERS_MIN (1 << 12)
#define COUNTERS_MAX (1 << 24)

/*
 * Counters to a posting: so many that few documents reach c by sharing one,
 * and no more, since they are best in a near cache.
 */
#define COUNTERS_PER_POSTING(c) ((c) > 2 ? 8 : 64)

#define CACHE_LINE 64

#define CANDIDATES_MIN 256

size_t
counters_for(uint32_t documents, double postings, int c)
{
	double enough = postings * COUNTERS_PER_POSTING(c);
	size_t wanted = enough < documents ? (size_t) enough : documents;
	size_t size = COUNTERS_MIN;

	while (size < wanted && size < COUNTERS_MAX)
		size *= 2;
	return size;
}

void
counter_begin(HitCounter *counter, uint32_t documents, double postings, int c)
{
	counter->count = c;
	counter->size = counters_for(documents, postings, c);
	counter->mask = (uint32_t) (counter->size - 1);
	counter->hits = NULL;
	if (c > 1)
	{
		counter->hits = host_alloc(counter->size);
		memset(counter->hits, 0, counter->size);
	}
	counter->candidates = 0;
	counter->room = CANDIDATES_MIN;
	counter->candidate = host_alloc(counter->room * sizeof(uint32_t));
}

static void
make_room(HitCounter *counter, size_t more)
{
	if (counter->candidates + more <= counter->room)
		return;
	while (counter->candidates + more > counter->room)
		counter->room *= 2;
	counter->candidate = host_realloc(counter->candidate, counter->room * sizeof(uint32_t));
}

/* Every posting makes a candidate. */
static inline void
take_all(HitCounter *counter, const uint8_t *postings, size_t n, int bytes)
{
	uint32_t *out = counter->candidate + counter->candidates;

	for (size_t i = 0; i < n; i++)
		out[i] = posting_at(postings, i, bytes);
	counter->candidates += n;
}

/* The hit that brings a counter to c, and every later one, makes a candidate. */
static inline void
count_hits(HitCounter *counter, const uint8_t *postings, size_t n, int bytes)
{
	uint32_t *out = counter->candidate + counter->candidates;
	uint8_t *hits = counter->hits;
	uint32_t mask = counter->mask;
	uint8_t before = (uint8_t) (counter->count - 1);

	for (size_t i = 0; i < n; i++)
	{
		uint32_t document = posting_at(postings, i, bytes);
		uint8_t seen = hits[document & mask];

		hits[document & mask] = seen + (seen < UINT8_MAX);
		*out = document;
		out += seen >= before;
	}
	counter->candidates = out - counter->candidate;
}

/*
 * Ask for all lines of a bucket at once: it lies where nothing was read before,
 * and counting reaches too few lines ahead.
 */
static inline void
prefetch(const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch(from + i);
}

void
counter_add(HitCounter *counter, const uint8_t *postings, size_t n, int bytes)
{
	prefetch(postings, n * bytes);
	/* One more than can be needed: count_hits writes before it decides. */
	make_room(counter, n + 1);
	if (counter->count == 1)
		take_all(counter, postings, n, bytes);
	else if (bytes == 2)
		count_hits(counter, postings, n, 2);
	else if (bytes == 3)
		count_hits(counter, postings, n, 3);
	else
		count_hits(counter, postings, n, 4);
}

void
counter_take(HitCounter *counter, uint32_t document)
{
	make_room(counter, 1);
	counter->candidate[counter->candidates++] = document;
}

/* ---- Order -------------------------------------------------------------- */

#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)

static void
insertion_sort(uint32_t *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		uint32_t value = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > value; j--)
			x[j] = x[j - 1];
		x[j] = value;
	}
}

static void
radix_pass(const uint32_t *from, uint32_t *to, size_t n, int shift)
{
	size_t start[RADIX] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		start[from[i] >> shift & (RADIX - 1)]++;
	for (int digit = 0; digit < RADIX; digit++)
	{
		size_t count = start[digit];

		start[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[start[from[i] >> shift & (RADIX - 1)]++] = from[i];
}

static void
sort_numbers(HitCounter *counter)
{
	uint32_t *spare;
	uint32_t all = 0;
	size_t n = counter->candidates;

	if (n <= 64)
	{
		insertion_sort(counter->candidate, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		all |= counter->candidate[i];
	spare = host_alloc(counter->room * sizeof(uint32_t));
	for (int shift = 0; shift < 32 && all >> shift != 0; shift += RADIX_BITS)
	{
		uint32_t *swap = counter->candidate;

		radix_pass(counter->candidate, spare, n, shift);
		counter->candidate = spare;
		spare = swap;
	}
	host_free(spare);
}

const uint32_t *
counter_candidates(HitCounter *counter, size_t *count)
{
	size_t kept = 0;

	sort_numbers(counter);
	for (size_t i = 0; i < counter->candidates; i++)
		if (i == 0 || counter->candidate[i] != counter->candidate[i - 1])
			counter->candidate[kept++] = counter->candidate[i];
	counter->candidates = kept;
	*count = kept;
	return counter->candidate;
}

void
counter_end(HitCounter *counter)
{
	if (counter->hits != NULL)
		host_free(counter->hits);
	host_free(counter->candidate);
}
