/*
 * candidates.c: from the postings of buckets to the documents that are compared.
 */
#include "grouping/grouping.h"

#include <string.h>

#include "base/sort.h"

/* ---- Counting ----------------------------------------------------------- */

/*
 * If c = 2, a posting sets two bits of a word, and one that finds both set makes a candidate.
 * Otherwise a counter is a byte.
 */

#define COUNTER_BYTES_MIN (1 << 12)
#define COUNTER_BYTES_MAX (1 << 23)

/*
 * Bytes of counters for each posting: enough that few documents reach c by sharing a
 * counter, and no more, since the counters should stay in a near cache.
 */
#define COUNTER_BYTES_PER_POSTING(c) ((c) > 2 ? 8 : 4)

#define WORD_BITS 64

/*
 * With c = 2, the second bit of a document is given by the highest bits of its product with one
 * of these.  Documents that share a word and the first bit seldom share the second, too, so few
 * that are hit once become candidates: fewer than with one bit and four times as much memory.
 * Where no documents share a first bit, SECOND_BIT_SAME gives it again.
 */
#define SECOND_BIT UINT32_C(0x9E3779B1)
#define SECOND_BIT_SAME (UINT32_C(1) << 26)
#define SECOND_BIT_SHIFT 26

/* More bytes of counters are seldom in the nearest cache, so they are fetched ahead. */
#define NEAR_BYTES (1 << 18)
#define POSTINGS_AHEAD 32

#define CACHE_LINE 64

/* Postings of several buckets are counted together, since loops take time to end. */
#define PENDING_MAX 512

#define CANDIDATES_MIN 256

/* Returns how many bytes of counters counter_begin clears. */
size_t
counter_bytes(uint32_t numbers, double postings, int c)
{
	double enough = postings * COUNTER_BYTES_PER_POSTING(c);
	size_t wanted = (size_t) Min(enough, c > 2 ? numbers : numbers / 8 + 1);
	size_t bytes = COUNTER_BYTES_MIN;

	while (bytes < wanted && bytes < COUNTER_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* Starts counting documents below `numbers`; `postings` is the number of postings expected. */
void
counter_begin(HitCounter *counter, uint32_t numbers, double postings, int c)
{
	memset(counter, 0, sizeof(HitCounter));
	counter->count = c;
	counter->end = UINT32_MAX;
	if (c > 1)
	{
		counter->bytes = Min(counter_bytes(numbers, postings, c),
							 Max(host_limit(COUNTER_BYTES_MAX), COUNTER_BYTES_MIN));
		counter->second_bit = numbers > 8 * counter->bytes ? SECOND_BIT : SECOND_BIT_SAME;
		counter->hits = host_alloc(counter->bytes);
		memset(counter->hits, 0, counter->bytes);
		counter->pending_room = 2 * PENDING_MAX;
		counter->pending = host_alloc(counter->pending_room * sizeof(uint32_t));
	}
	counter->room = CANDIDATES_MIN;
	counter->candidate = host_alloc(counter->room * sizeof(uint32_t));
}

static inline void
candidate_make_room(HitCounter *counter, size_t more)
{
	counter->candidate =
		host_grow(counter->candidate, &counter->room, counter->candidates + more, sizeof(uint32_t));
}

/*
 * Counts the pending postings [from, to), with c = 2.  Makes a candidate of a posting whose
 * bits are set already.
 */
static inline void
count_bits(HitCounter *counter, size_t from, size_t to, bool ahead)
{
	const uint32_t *posting = counter->pending;
	uint32_t *out = counter->candidate + counter->candidates;
	uint64_t *words = (uint64_t *) counter->hits;
	uint32_t mask = (uint32_t) (counter->bytes / sizeof(uint64_t) - 1);
	uint32_t second_bit = counter->second_bit;

	for (size_t i = from; i < to; i++)
	{
		uint32_t document = posting[i];
		uint64_t *word = words + (document / WORD_BITS & mask);
		uint64_t bits = UINT64_C(1) << document % WORD_BITS |
			UINT64_C(1) << (document * second_bit >> SECOND_BIT_SHIFT);
		uint64_t seen = *word;

		if (ahead)
			__builtin_prefetch(words + (posting[i + POSTINGS_AHEAD] / WORD_BITS & mask), 1);
		*word = seen | bits;
		*out = document;
		out += (seen & bits) == bits;
	}
	counter->candidates = out - counter->candidate;
}

/*
 * Counts the pending postings [from, to), with c > 2.  Makes a candidate of the posting
 * that brings a counter to c, and of every later one.
 */
static inline void
count_bytes(HitCounter *counter, size_t from, size_t to, bool ahead)
{
	const uint32_t *posting = counter->pending;
	uint32_t *out = counter->candidate + counter->candidates;
	uint8_t *hits = counter->hits;
	uint32_t mask = (uint32_t) (counter->bytes - 1);
	uint8_t before = (uint8_t) (counter->count - 1);

	for (size_t i = from; i < to; i++)
	{
		uint32_t document = posting[i];
		uint8_t seen = hits[document & mask];

		if (ahead)
			__builtin_prefetch(hits + (posting[i + POSTINGS_AHEAD] & mask), 1);
		hits[document & mask] = seen + (seen < UINT8_MAX);
		*out = document;
		out += seen >= before;
	}
	counter->candidates = out - counter->candidate;
}

/* Counts all pending postings. */
static void
count_pending(HitCounter *counter)
{
	size_t n = counter->pendings;
	size_t ahead = counter->bytes > NEAR_BYTES && n > POSTINGS_AHEAD ? n - POSTINGS_AHEAD : 0;

	/* One more than needed, since a candidate is written before it is decided. */
	candidate_make_room(counter, n + 1);
	if (counter->count == 2)
	{
		count_bits(counter, 0, ahead, true);
		count_bits(counter, ahead, n, false);
	}
	else
	{
		count_bytes(counter, 0, ahead, true);
		count_bytes(counter, ahead, n, false);
	}
	counter->pendings = 0;
}

/* Adds the documents of a code to an array.  Returns false if the code is malformed. */
static inline bool
append_postings(const uint8_t *code, size_t bytes, uint32_t numbers, uint32_t **document,
				size_t *used, size_t *room)
{
	size_t n = postings_count(code, bytes);

	if (bytes == 0)
		return true;
	*document = host_grow(*document, room, *used + n, sizeof(uint32_t));
	if (!postings_get(code, bytes, numbers, *document + *used))
		return false;
	*used += n;
	return true;
}

/* Returns how many of n ascending documents are less than `document`. */
static size_t
count_below(const uint32_t *documents, size_t n, uint32_t document)
{
	size_t below = 0;

	SEARCH_SORTED(below, n, documents[middle] < document);
	return below;
}

/* Drops postings from `before` on that are not in the counter's range; returns how many are left. */
static size_t
candidate_trim(const HitCounter *counter, uint32_t *posting, size_t before, size_t used)
{
	size_t end;
	size_t from;

	if (counter->from == 0 && counter->end == UINT32_MAX)
		return used;
	end = count_below(posting + before, used - before, counter->end);
	from = count_below(posting + before, end, counter->from);
	memmove(posting + before, posting + before + from, (end - from) * sizeof(uint32_t));
	return before + end - from;
}

/* Counts the postings of a code.  Returns false if it is malformed. */
bool
counter_add(HitCounter *counter, const uint8_t *code, size_t bytes, uint32_t numbers)
{
	size_t before = counter->count == 1 ? counter->candidates : counter->pendings;

	/* A bucket is seldom in a cache, and the processor reads too few lines ahead by itself. */
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch(code + i);
	/* With c = 1, each posting is a candidate. */
	if (counter->count == 1)
	{
		if (!append_postings(code, bytes, numbers, &counter->candidate, &counter->candidates,
							 &counter->room))
			return false;
		counter->candidates =
			candidate_trim(counter, counter->candidate, before, counter->candidates);
		return true;
	}
	if (!append_postings(code, bytes, numbers, &counter->pending, &counter->pendings,
						 &counter->pending_room))
		return false;
	counter->pendings = candidate_trim(counter, counter->pending, before, counter->pendings);
	if (counter->pendings >= host_limit(PENDING_MAX))
		count_pending(counter);
	return true;
}

/* ---- Candidates --------------------------------------------------------- */

/* Returns the candidates, ascending and distinct, in the counter's memory. */
const uint32_t *
counter_candidates(HitCounter *counter, size_t *count)
{
	size_t kept = 0;

	if (counter->pendings > 0)
		count_pending(counter);
	sort_records(counter->candidate, counter->candidates, sizeof(uint32_t), sort_key_32);
	for (size_t i = 0, next; i < counter->candidates; i = next)
	{
		uint32_t document = counter->candidate[i];

		for (next = i + 1; next < counter->candidates && counter->candidate[next] == document;)
			next++;
		/* It occurs once for its c-th hit, and once for each later hit. */
		if (counter->keeps == NULL ||
			counter->keeps(counter->keeps_state, document, next - i + counter->count - 1))
			counter->candidate[kept++] = document;
	}
	counter->candidates = kept;
	*count = kept;
	return counter->candidate;
}

/*
 * Returns the counters of a counter with c > 2: document d has at most hits[d & mask] hits, but may
 * have more if hits[d & mask] is UINT8_MAX.
 */
const uint8_t *
counter_hits(HitCounter *counter, uint32_t *mask)
{
	if (counter->pendings > 0)
		count_pending(counter);
	*mask = (uint32_t) (counter->bytes - 1);
	return counter->hits;
}

/* Frees a counter. */
void
counter_end(HitCounter *counter)
{
	host_free(counter->hits);
	host_free(counter->pending);
	host_free(counter->candidate);
}

/* ---- Choosing ----------------------------------------------------------- */

/*
 * Alg.G of Yuan et al. (2012): of m groups a document within distance h has m - h equal
 * to the query's.  So for each choice of m - h groups, the documents that are equal in all
 * of them are candidates.
 */

/* Returns how many choices of c out of m groups there are; INFINITY if far too many. */
double
choices_of(int m, int c)
{
	double choices = 1;
	int fewer = Min(c, m - c);

	for (int i = 1; i <= fewer && choices <= 1e300; i++)
		choices *= (double) (m - fewer + i) / i;
	return choices;
}

/* Starts without postings; the first group is present. */
void
chooser_begin(Chooser *chooser, int groups, int count)
{
	memset(chooser, 0, sizeof(Chooser));
	chooser->count = count;
	chooser->room = CANDIDATES_MIN;
	chooser->document = host_alloc(chooser->room * sizeof(uint32_t));
	chooser->end = host_alloc((groups + 1) * sizeof(size_t));
	chooser->end[0] = 0;
}

/* Adds the postings of a code to the present group.  Returns false if it is malformed. */
bool
chooser_add(Chooser *chooser, const uint8_t *code, size_t bytes, uint32_t numbers)
{
	return append_postings(code, bytes, numbers, &chooser->document, &chooser->used,
						   &chooser->room);
}

/* Ends the present group; the next one is present. */
void
chooser_end_group(Chooser *chooser)
{
	chooser->end[++chooser->groups] = chooser->used;
}

/* Sets `both` to what two ascending lists have in common; returns how many. */
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

/* The choices that begin with a group. */
typedef struct Choices
{
	const Chooser *chooser;
	const uint32_t *document; /* the documents of the group */
	uint8_t *taken;           /* a bit for each of them that is a candidate already */
	HitCounter *candidates;
} Choices;

/* Makes candidates of n documents of the group, in its order, unless they are candidates already. */
static void
take(const Choices *choices, const uint32_t *common, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++, at++)
	{
		uint8_t bit;

		while (choices->document[at] != common[i])
			at++;
		bit = 1 << at % 8;
		if ((choices->taken[at / 8] & bit) == 0)
		{
			candidate_make_room(choices->candidates, 1);
			choices->candidates->candidate[choices->candidates->candidates++] = common[i];
		}
		choices->taken[at / 8] |= bit;
	}
}

/*
 * Takes the documents of every choice of `left` more groups, from group `first` on; the
 * n documents in `common` are what the groups chosen so far have in common.
 */
static void
choose(const Choices *choices, int first, int left, const uint32_t *common, size_t n)
{
	const Chooser *chooser = choices->chooser;
	uint32_t *both;

	if (n == 0)
		return;
	if (left == 0)
	{
		take(choices, common, n);
		return;
	}
	host_check_interrupts();
	both = host_alloc(n * sizeof(uint32_t));
	for (int g = first; g + left <= chooser->groups; g++)
	{
		size_t from = chooser->end[g];
		size_t length = chooser->end[g + 1] - from;

		choose(choices, g + 1, left - 1, both,
			   intersect(common, n, chooser->document + from, length, both));
	}
	host_free(both);
}

/* Adds to `candidates` the documents that all groups of some choice have. */
void
chooser_candidates(const Chooser *chooser, HitCounter *candidates)
{
	for (int g = 0; g + chooser->count <= chooser->groups; g++)
	{
		const uint32_t *document = chooser->document + chooser->end[g];
		size_t n = chooser->end[g + 1] - chooser->end[g];
		Choices choices = {chooser, document, host_alloc(n / 8 + 1), candidates};

		memset(choices.taken, 0, n / 8 + 1);
		choose(&choices, g + 1, chooser->count - 1, document, n);
		host_free(choices.taken);
	}
}

/* Frees a chooser. */
void
chooser_end(Chooser *chooser)
{
	host_free(chooser->document);
	host_free(chooser->end);
}
