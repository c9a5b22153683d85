/*
 * bag.c: gathering, combining and comparing bags.
 */
#include "sketch/bag.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

#define BUILDER_ROOM 256

/* Frees the arrays of a bag. */
void
bag_free(Bag *bag)
{
	host_free(bag->element);
	host_free(bag->frequency);
}

/* Frees the frequencies of a bag if all of them are 1. */
void
bag_drop_ones(Bag *bag)
{
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		if (bag_frequency(bag, i) > 1)
			return;
	}
	host_free(bag->frequency);
	bag->frequency = NULL;
}

/* Returns the sum of all frequencies. */
uint64_t
bag_total(const Bag *bag)
{
	uint64_t total = 0;

	if (!bag->frequency)
		return bag->count;
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at((uint64_t) i + 1);
		total += bag->frequency[i];
	}
	return total;
}

/* ---- Text ---------------------------------------------------------------------- */

/* The longest element and the longest frequency, each with the character before it. */
#define ELEMENT_TEXT_MOST (sizeof(",-9223372036854775808") - 1)
#define FREQUENCY_TEXT_MOST (sizeof(":4294967295") - 1)

static uint32_t
count_digits(uint64_t number)
{
	uint32_t digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

/*
 * Returns an upper bound of the bytes that the elements and frequencies take as text, with
 * commas and colons (shingles_io.c), in constant time.
 */
uint64_t
bag_text_most(const Bag *bag)
{
	return bag->count * (uint64_t) (ELEMENT_TEXT_MOST + (bag->frequency ? FREQUENCY_TEXT_MOST : 0));
}

/* Returns how many bytes the elements and frequencies take as text. */
uint64_t
bag_text_length(const Bag *bag)
{
	/* There is no comma before the first element. */
	uint64_t length = bag->count > 0 ? (uint64_t) bag->count - 1 : 0;

	for (uint32_t i = 0; i < bag->count; i++)
	{
		int64_t element = bag->element[i];

		host_check_interrupts_at(i);
		length +=
			element < 0 ? 1 + count_digits(-(uint64_t) element) : count_digits((uint64_t) element);
		if (bag_frequency(bag, i) > 1)
			length += 1 + count_digits(bag_frequency(bag, i));
	}
	return length;
}

/* ---- Building ------------------------------------------------------------------ */

/* Starts without elements. */
void
bag_begin(BagBuilder *builder)
{
	builder->hash = host_alloc(BUILDER_ROOM * sizeof(uint64_t));
	builder->count = 0;
	builder->room = BUILDER_ROOM;
}

/* Adds elements; a HashSink (text/text.h) with a BagBuilder as its state. */
void
bag_add(void *state, const uint64_t *hashes, size_t count)
{
	BagBuilder *builder = state;

	builder->hash =
		host_grow(builder->hash, &builder->room, builder->count + count, sizeof(uint64_t));
	memcpy(builder->hash + builder->count, hashes, count * sizeof(uint64_t));
	builder->count += count;
}

/* The least and the most numbers that sort_spread() takes. */
#define SPREAD_LEAST 256
#define SPREAD_MOST 65536

/* With more numbers than this in a bucket, they are not spread like hashes. */
#define SPREAD_BUCKET 128

/*
 * Sorts numbers that are spread like hashes: puts each into the bucket of its highest bits, and
 * sorts all by insertion.  A bucket gets two to four on average.  Returns false, and leaves the
 * numbers as they are, if a bucket would get too many.
 */
static bool
sort_spread(uint64_t *hash, size_t count)
{
	int shift = __builtin_clzll(count) + 2;
	size_t buckets = (size_t) 1 << (64 - shift);
	uint32_t *next = host_alloc(buckets * sizeof(uint32_t));
	uint64_t *spread = host_alloc(count * sizeof(uint64_t));
	uint32_t most = 0;
	uint32_t place = 0;

	memset(next, 0, buckets * sizeof(uint32_t));
	for (size_t i = 0; i < count; i++)
		next[sort_key_signed(&hash[i]) >> shift]++;
	for (size_t b = 0; b < buckets; b++)
	{
		uint32_t numbers = next[b];

		most = Max(most, numbers);
		next[b] = place;
		place += numbers;
	}
	if (most <= SPREAD_BUCKET)
	{
		for (size_t i = 0; i < count; i++)
			spread[next[sort_key_signed(&hash[i]) >> shift]++] = hash[i];
		sort_few((char *) spread, count, sizeof(uint64_t), sort_key_signed);
		memcpy(hash, spread, count * sizeof(uint64_t));
	}
	host_free(next);
	host_free(spread);
	return most <= SPREAD_BUCKET;
}

/* Sorts numbers of 64 bits by their signed value. */
void
hashes_sort(uint64_t *hash, size_t count)
{
	if (count < SPREAD_LEAST || count > SPREAD_MOST || !sort_spread(hash, count))
		sort_records(hash, count, sizeof(uint64_t), sort_key_signed);
}

static size_t
count_distinct(const uint64_t *sorted, size_t count)
{
	size_t distinct = count > 0;

	for (size_t i = 1; i < count; i++)
	{
		host_check_interrupts_at(i);
		distinct += sorted[i] != sorted[i - 1];
	}
	return distinct;
}

/* Turns runs of equal elements into one element and its frequency each, in place. */
static void
fold_runs(int64_t *element, uint32_t *frequency, size_t count)
{
	size_t to = 0;

	frequency[0] = 1;
	for (size_t i = 1; i < count; i++)
	{
		host_check_interrupts_at(i);
		if (element[i] != element[to])
		{
			element[++to] = element[i];
			frequency[to] = 1;
		}
		else if (frequency[to] < UINT32_MAX)
			frequency[to]++;
	}
}

/*
 * Makes a bag of the elements added, and frees the builder.  Frequencies stop at
 * UINT32_MAX.  Returns false, without a bag, if more than UINT32_MAX elements are
 * distinct.
 */
bool
bag_finish(BagBuilder *builder, Bag *bag)
{
	size_t count = builder->count;
	size_t distinct;

	hashes_sort(builder->hash, count);
	distinct = count_distinct(builder->hash, count);
	if (distinct > UINT32_MAX)
	{
		host_free(builder->hash);
		return false;
	}
	bag->count = (uint32_t) distinct;
	bag->element = (int64_t *) builder->hash;
	bag->frequency = NULL;
	if (distinct < count)
	{
		bag->frequency = host_alloc(distinct * sizeof(uint32_t));
		fold_runs(bag->element, bag->frequency, count);
	}
	return true;
}

/* ---- Walking through two bags --------------------------------------------------- */

/* Visits the elements of either bag in order. */
typedef struct PairWalk
{
	const Bag *x;
	const Bag *y;
	uint32_t i; /* next element of x */
	uint32_t j; /* next element of y */
	uint32_t steps;
	int64_t element; /* visited, and its frequencies in x and y, 0 if absent */
	uint32_t in_x;
	uint32_t in_y;
} PairWalk;

/* Moves on to the next element; returns false at the end. */
static inline bool
walk_next(PairWalk *walk)
{
	bool more_x = walk->i < walk->x->count;
	bool more_y = walk->j < walk->y->count;
	bool take_x = more_x && (!more_y || walk->x->element[walk->i] <= walk->y->element[walk->j]);
	bool take_y = more_y && (!more_x || walk->y->element[walk->j] <= walk->x->element[walk->i]);

	if (!more_x && !more_y)
		return false;
	host_check_interrupts_at(++walk->steps);
	walk->element = take_x ? walk->x->element[walk->i] : walk->y->element[walk->j];
	walk->in_x = take_x ? bag_frequency(walk->x, walk->i) : 0;
	walk->in_y = take_y ? bag_frequency(walk->y, walk->j) : 0;
	walk->i += take_x;
	walk->j += take_y;
	return true;
}

/* ---- Combining ------------------------------------------------------------------ */

static inline uint32_t
lesser(uint32_t f, uint32_t g)
{
	return Min(f, g);
}

static inline uint32_t
greater(uint32_t f, uint32_t g)
{
	return Max(f, g);
}

/* Returns the bag of the frequencies that a rule makes of two; leaves out zeros. */
static inline Bag
combine(const Bag *x, const Bag *y, uint32_t (*rule)(uint32_t, uint32_t))
{
	PairWalk walk = {.x = x, .y = y};
	size_t room = (size_t) x->count + y->count + 1;
	Bag bag = {.element = host_alloc(room * sizeof(int64_t)),
			   .frequency = host_alloc(room * sizeof(uint32_t))};

	while (walk_next(&walk))
	{
		uint32_t frequency = rule(walk.in_x, walk.in_y);

		bag.element[bag.count] = walk.element;
		bag.frequency[bag.count] = frequency;
		bag.count += frequency > 0;
	}
	bag_drop_ones(&bag);
	return bag;
}

/* Returns a new bag of what is in both, with the lower frequency. */
Bag
bag_intersection(const Bag *x, const Bag *y)
{
	return combine(x, y, lesser);
}

/*
 * Returns a new bag of what is in either, with the higher frequency.  Together they have at
 * most UINT32_MAX elements.
 */
Bag
bag_union(const Bag *x, const Bag *y)
{
	return combine(x, y, greater);
}

/*
 * Returns a new bag of the elements of x that are not in y, with their frequencies.  Writes each
 * element in any case, and counts it if it is only in x, which costs less than a branch.
 */
Bag
bag_difference(const Bag *x, const Bag *y)
{
	size_t room = (size_t) x->count + 1;
	Bag bag = {.element = host_alloc(room * sizeof(int64_t)),
			   .frequency = host_alloc(room * sizeof(uint32_t))};
	uint32_t kept = 0;
	uint32_t i = 0;

	for (uint32_t j = 0; i < x->count && j < y->count;)
	{
		int64_t a = x->element[i];
		int64_t b = y->element[j];

		host_check_interrupts_at(i + j);
		bag.element[kept] = a;
		bag.frequency[kept] = bag_frequency(x, i);
		kept += a < b;
		i += a <= b;
		j += b <= a;
	}
	for (; i < x->count; i++)
	{
		host_check_interrupts_at(i);
		bag.element[kept] = x->element[i];
		bag.frequency[kept++] = bag_frequency(x, i);
	}
	bag.count = kept;
	bag_drop_ones(&bag);
	return bag;
}

/* ---- Comparing ------------------------------------------------------------------ */

/* Returns whether two bags have the same elements and, if asked, the same frequencies. */
bool
bag_equals(const Bag *x, const Bag *y, bool multiset)
{
	if (x->count != y->count || memcmp(x->element, y->element, x->count * sizeof(int64_t)) != 0)
		return false;
	if (!multiset || (x->frequency == NULL && y->frequency == NULL))
		return true;
	for (uint32_t i = 0; i < x->count; i++)
		if (bag_frequency(x, i) != bag_frequency(y, i))
			return false;
	return true;
}

/*
 * Returns how many elements both bags have, whatever their frequencies.  The loop of every
 * resemblance; it branches at its ends only.
 */
uint32_t
bag_shared(const Bag *x, const Bag *y)
{
	uint32_t i = 0;
	uint32_t j = 0;
	uint32_t shared = 0;

	while (i < x->count && j < y->count)
	{
		host_check_interrupts();
		for (int steps = 0; steps < STEPS_BETWEEN_CHECKS && i < x->count && j < y->count; steps++)
		{
			int64_t a = x->element[i];
			int64_t b = y->element[j];

			shared += a == b;
			i += a <= b;
			j += b <= a;
		}
	}
	return shared;
}

/* Returns the resemblance |X and Y| / |X or Y| of the sets of elements (Broder 1997). */
double
bag_resemblance(const Bag *x, const Bag *y)
{
	return resemblance_of_lengths(bag_shared(x, y), x->count, y->count);
}

/*
 * Returns bag_resemblance(x, y) >= t.  It uses the same division, so the two never
 * disagree, but compares no elements if the numbers of elements differ too much.
 */
bool
bag_is_similar(const Bag *x, const Bag *y, double t)
{
	uint32_t most = Min(x->count, y->count);

	return resemblance_of_lengths(most, x->count, y->count) >= t && bag_resemblance(x, y) >= t;
}

/* Returns the containment |X and Y| / |X| of the sets of elements (Broder 1997). */
double
bag_containment(const Bag *x, const Bag *y)
{
	return x->count == 0 ? 0 : (double) bag_shared(x, y) / x->count;
}

/* Returns the sum of the lesser frequencies over the sum of the greater ones. */
double
bag_weighted_resemblance(const Bag *x, const Bag *y)
{
	PairWalk walk = {.x = x, .y = y};
	uint64_t shared = 0;
	uint64_t length_x = 0;
	uint64_t length_y = 0;

	while (walk_next(&walk))
	{
		shared += Min(walk.in_x, walk.in_y);
		length_x += walk.in_x;
		length_y += walk.in_y;
	}
	return resemblance_of_lengths(shared, length_x, length_y);
}

/* An integer of 128 bits, for sums of products that 64 bits do not hold. */
typedef struct WideSum
{
	uint64_t high;
	uint64_t low;
} WideSum;

static inline void
add_product(WideSum *sum, uint32_t f, uint32_t g)
{
	uint64_t product = (uint64_t) f * g;

	sum->low += product;
	sum->high += sum->low < product;
}

static double
wide_to_double(WideSum sum)
{
	return (double) sum.high * 0x1p64 + (double) sum.low;
}

/* Returns the cosine of the angle between the vectors of frequencies. */
double
bag_cosine(const Bag *x, const Bag *y)
{
	PairWalk walk = {.x = x, .y = y};
	WideSum xy = {0};
	WideSum xx = {0};
	WideSum yy = {0};
	double cosine;

	while (walk_next(&walk))
	{
		add_product(&xy, walk.in_x, walk.in_y);
		add_product(&xx, walk.in_x, walk.in_x);
		add_product(&yy, walk.in_y, walk.in_y);
	}
	if (xy.high == 0 && xy.low == 0)
		return 0;
	cosine = wide_to_double(xy) / sqrt(wide_to_double(xx) * wide_to_double(yy));
	return Min(cosine, 1);
}
