/*
 * candidates.c: from the postings of buckets to the documents that are compared.
 */
#include "grouping/grouping.h"

#include <string.h>

/* ---- Counting ----------------------------------------------------------- */

#define COUNTERS_MIN (1 << 12)
#define COUNTERS_MAX (1 << 24)

/*
 * Counters for each posting: enough that few documents reach c by sharing a counter, and
 * no more, since the counters should stay in a near cache.
 */
#define COUNTERS_PER_POSTING(c) ((c) > 2 ? 8 : 64)

#define CACHE_LINE 64

#define CANDIDATES_MIN 256

size_t
counters_for(uint32_t numbers, double postings, int c)
{
	double enough = postings * COUNTERS_PER_POSTING(c);
	size_t wanted = (size_t) Min(enough, numbers);
	size_t size = COUNTERS_MIN;

	while (size < wanted && size < COUNTERS_MAX)
		size *= 2;
	return size;
}

void
counter_begin(HitCounter *counter, uint32_t numbers, double postings, int c)
{
	counter->count = c;
	counter->size = counters_for(numbers, postings, c);
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

static inline void
make_room(HitCounter *counter, size_t more)
{
	counter->candidate =
		host_grow(counter->candidate, &counter->room, counter->candidates + more, sizeof(uint32_t));
}

/*
 * Counts the n postings after the candidates.  Makes a candidate of the posting that brings
 * a counter to c, and of every later one.
 */
static inline void
count_hits(HitCounter *counter, size_t n)
{
	const uint32_t *posting = counter->candidate + counter->candidates;
	uint32_t *out = counter->candidate + counter->candidates;
	uint8_t *hits = counter->hits;
	uint32_t mask = counter->mask;
	uint8_t before = (uint8_t) (counter->count - 1);

	for (size_t i = 0; i < n; i++)
	{
		uint32_t document = posting[i];
		uint8_t seen = hits[document & mask];

		hits[document & mask] = seen + (seen < UINT8_MAX);
		*out = document;
		out += seen >= before;
	}
	counter->candidates = out - counter->candidate;
}

bool
counter_add(HitCounter *counter, const uint8_t *code, size_t bytes, uint32_t numbers)
{
	size_t n = postings_count(code, bytes);

	if (bytes == 0)
		return true;
	/* A bucket is seldom in a cache, and the processor reads too few lines ahead by itself. */
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch(code + i);
	make_room(counter, n);
	if (!postings_get(code, bytes, numbers, counter->candidate + counter->candidates))
		return false;
	if (counter->count == 1)
		counter->candidates += n;
	else
		count_hits(counter, n);
	return true;
}

/* Adds a candidate whatever was counted. */
static void
counter_take(HitCounter *counter, uint32_t document)
{
	make_room(counter, 1);
	counter->candidate[counter->candidates++] = document;
}

/* ---- Sorting candidates ------------------------------------------------- */

#define INSERTION_SORT_MAX 64
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

/* Sorts by one digit of RADIX_BITS bits, stably. */
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

/* Sorts the candidates, ascending. */
static void
sort_candidates(HitCounter *counter)
{
	uint32_t *spare;
	uint32_t all = 0;
	size_t n = counter->candidates;

	if (n <= INSERTION_SORT_MAX)
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

	sort_candidates(counter);
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
	host_free(counter->hits);
	host_free(counter->candidate);
}

/* ---- Choosing ----------------------------------------------------------- */

/*
 * Alg.G of Yuan et al. (2012): of m groups a document within distance h has m - h equal
 * to the query's.  So for each choice of that many groups, those that are equal in all of
 * them are candidates.
 */

double
choices_of(int m, int c)
{
	double choices = 1;
	int fewer = Min(c, m - c);

	for (int i = 1; i <= fewer && choices <= 1e300; i++)
		choices *= (double) (m - fewer + i) / i;
	return choices;
}

void
chooser_begin(Chooser *chooser, uint32_t numbers, int groups, int count)
{
	memset(chooser, 0, sizeof(Chooser));
	chooser->numbers = numbers;
	chooser->taken = host_alloc(numbers / 8 + 1);
	memset(chooser->taken, 0, numbers / 8 + 1);
	chooser->count = count;
	chooser->room = CANDIDATES_MIN;
	chooser->document = host_alloc(chooser->room * sizeof(uint32_t));
	chooser->end = host_alloc((groups + 1) * sizeof(size_t));
	chooser->end[0] = 0;
}

bool
chooser_add(Chooser *chooser, const uint8_t *code, size_t bytes, uint32_t numbers)
{
	size_t n = postings_count(code, bytes);

	if (bytes == 0)
		return true;
	chooser->document =
		host_grow(chooser->document, &chooser->room, chooser->used + n, sizeof(uint32_t));
	if (!postings_get(code, bytes, numbers, chooser->document + chooser->used))
		return false;
	chooser->used += n;
	return true;
}

void
chooser_end_group(Chooser *chooser)
{
	chooser->end[++chooser->groups] = chooser->used;
}

/* Sets `both` to what two ascending lists have in common; returns how many that are. */
static size_t
intersect(const uint32_t *x, size_t nx, const uint32_t *y, size_t ny, uint32_t *both)
{
	size_t n = 0;

	for (size_t i = 0, j = 0; i < nx && j < ny;)
	{
		uint32_t left = x[i];
		uint32_t right = y[j];

		both[n] = left;
		n += left == right;
		i += left <= right;
		j += right <= left;
	}
	return n;
}

/*
 * Makes candidates of documents that are not yet.  The caller must refuse a document
 * number that is out of range, so that becomes a candidate, too.
 */
static void
take(const Chooser *chooser, const uint32_t *common, size_t n, HitCounter *candidates)
{
	for (size_t i = 0; i < n; i++)
	{
		uint32_t document = common[i];
		uint8_t bit = 1 << document % 8;

		if (document < chooser->numbers)
		{
			if (chooser->taken[document / 8] & bit)
				continue;
			chooser->taken[document / 8] |= bit;
		}
		counter_take(candidates, document);
	}
}

/*
 * Takes the documents of every choice of `left` more groups, from group `first` on; the
 * n documents in `common` are what the groups chosen so far have in common.
 */
static void
choose(const Chooser *chooser, int first, int left, const uint32_t *common, size_t n,
	   HitCounter *candidates)
{
	uint32_t *both;

	if (n == 0)
		return;
	if (left == 0)
	{
		take(chooser, common, n, candidates);
		return;
	}
	host_check_interrupts();
	both = host_alloc(n * sizeof(uint32_t));
	for (int g = first; g + left <= chooser->groups; g++)
	{
		size_t from = chooser->end[g];
		size_t length = chooser->end[g + 1] - from;

		choose(chooser, g + 1, left - 1, both,
			   intersect(common, n, chooser->document + from, length, both), candidates);
	}
	host_free(both);
}

void
chooser_candidates(const Chooser *chooser, HitCounter *candidates)
{
	for (int g = 0; g + chooser->count <= chooser->groups; g++)
		choose(chooser, g + 1, chooser->count - 1, chooser->document + chooser->end[g],
			   chooser->end[g + 1] - chooser->end[g], candidates);
}

void
chooser_end(Chooser *chooser)
{
	host_free(chooser->document);
	host_free(chooser->end);
	host_free(chooser->taken);
}
