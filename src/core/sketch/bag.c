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
 * commas and colons (types/shingles_type.c), in constant time.
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

/* Up to this many hashes are spread before they are sorted. */
#define SPREAD_MOST 1024

/*
 * Moves hashes near to their places in signed order, as if they were uniform: they are in order, but for those
 * of one place.  Returns false, and moves none, if more than a few have one place.
 */
static bool
spread_hashes(uint64_t *hash, size_t count)
{
	uint64_t from[SPREAD_MOST];
	uint16_t place[SPREAD_MOST];
	uint16_t next[SPREAD_MOST];
	uint16_t before = 0;

	memset(next, 0, count * sizeof(*next));
	for (size_t i = 0; i < count; i++)
	{
		from[i] = hash[i];
		place[i] = (uint16_t) ((sort_key_signed(hash + i) >> 32) * count >> 32);
		next[place[i]]++;
	}
	for (size_t i = 0; i < count; i++)
	{
		uint16_t here = next[i];

		if (here > SORT_FEW)
			return false;
		next[i] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		hash[next[place[i]]++] = from[i];
	return true;
}

/* Sorts numbers of 64 bits by their signed value, those that are hashes in less time. */
void
hashes_sort(uint64_t *hash, size_t count)
{
	if (count <= SPREAD_MOST && spread_hashes(hash, count))
		sort_few((char *) hash, count, sizeof(uint64_t), sort_key_signed);
	else
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

/* ---- Combining ------------------------------------------------------------------ */

/* Two bags, and what an OverlapPart makes of them. */
typedef struct BagPair
{
	const Bag *x;
	const Bag *y;
	Bag both;
} BagPair;

/* Returns a walk through the elements of two bags. */
static Overlap
overlap_of(const Bag *x, const Bag *y)
{
	return (Overlap){.x = x->element, .y = y->element, .end_x = x->count, .end_y = y->count};
}

/* Returns the lesser frequency of an element that both bags have. */
OVERLAP_INLINE uint64_t
bag_lesser_frequency(void *state, size_t i, size_t j)
{
	const BagPair *pair = state;

	return Min(bag_frequency(pair->x, (uint32_t) i), bag_frequency(pair->y, (uint32_t) j));
}

/* Appends an element that both bags have. */
OVERLAP_INLINE uint64_t
append_common(void *state, size_t i, size_t j)
{
	BagPair *pair = state;

	pair->both.element[pair->both.count] = pair->x->element[i];
	pair->both.frequency[pair->both.count++] = (uint32_t) bag_lesser_frequency(state, i, j);
	return 0;
}

/* Returns a bag without elements, and with room for some. */
static Bag
bag_of_room(size_t room)
{
	return (Bag){.element = host_alloc((room + 1) * sizeof(int64_t)),
				 .frequency = host_alloc((room + 1) * sizeof(uint32_t))};
}

/* Returns a new bag of what is in both, with the lower frequency. */
Bag
bag_intersection(const Bag *x, const Bag *y)
{
	BagPair pair = {x, y, bag_of_room(Min(x->count, y->count))};
	Overlap o = overlap_of(x, y);

	(void) overlap_sum(&o, overlap_key_signed, append_common, &pair);
	bag_drop_ones(&pair.both);
	return pair.both;
}

/*
 * Returns a new bag of what is in either, with the higher frequency.  Together they have at
 * most UINT32_MAX elements.
 */
Bag
bag_union(const Bag *x, const Bag *y)
{
	Bag bag = bag_of_room((size_t) x->count + y->count);
	uint32_t i = 0;
	uint32_t j = 0;

	while (i < x->count || j < y->count)
	{
		bool take_x = i < x->count && (j == y->count || x->element[i] <= y->element[j]);
		bool take_y = j < y->count && (i == x->count || y->element[j] <= x->element[i]);
		uint32_t in_x = take_x ? bag_frequency(x, i) : 0;
		uint32_t in_y = take_y ? bag_frequency(y, j) : 0;

		host_check_interrupts_at(bag.count);
		bag.element[bag.count] = take_x ? x->element[i] : y->element[j];
		bag.frequency[bag.count++] = Max(in_x, in_y);
		i += take_x;
		j += take_y;
	}
	bag_drop_ones(&bag);
	return bag;
}

/*
 * Returns a new bag of the elements of x that are not in y, with their frequencies.  Writes each
 * element in any case, and counts it if it is only in x, which costs less than a branch.
 */
Bag
bag_difference(const Bag *x, const Bag *y)
{
	Bag bag = bag_of_room(x->count);
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

/* Returns how many elements both bags have; of multisets, the sum of their lower frequencies. */
uint64_t
bag_shared(const Bag *x, const Bag *y, bool multiset)
{
	BagPair pair = {.x = x, .y = y};
	Overlap o = overlap_of(x, y);

	if (multiset && x->frequency != NULL && y->frequency != NULL)
		return overlap_sum(&o, overlap_key_signed, bag_lesser_frequency, &pair);
	return overlap_count(&o, 0, overlap_key_signed);
}

/* Returns the similarity of the sets of elements of two bags, or of the multisets. */
double
bag_similarity(const Bag *x, const Bag *y, Measure measure, bool multiset)
{
	return overlap_similarity(measure, bag_shared(x, y, multiset),
							  multiset ? bag_total(x) : x->count,
							  multiset ? bag_total(y) : y->count);
}

/* Returns whether bag_similarity(x, y, measure, false) >= t, at the first elements that tell. */
bool
bag_is_similar(const Bag *x, const Bag *y, Measure measure, double t)
{
	uint64_t needed = overlap_needed(measure, x->count, y->count, t);
	Overlap o = overlap_of(x, y);

	return needed <= Min(x->count, y->count) &&
		overlap_count(&o, needed, overlap_key_signed) >= needed;
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

/* The bags of a cosine, and the sum of the products of their frequencies. */
typedef struct Product
{
	const Bag *x;
	const Bag *y;
	WideSum sum;
} Product;

/* Adds the product of the frequencies of an element that both bags have. */
OVERLAP_INLINE uint64_t
add_common(void *state, size_t i, size_t j)
{
	Product *product = state;

	add_product(&product->sum, bag_frequency(product->x, (uint32_t) i),
				bag_frequency(product->y, (uint32_t) j));
	return 0;
}

/* Returns the product of the vectors of frequencies of two bags. */
static double
product_of(const Bag *x, const Bag *y)
{
	Product product = {.x = x, .y = y};
	Overlap o = overlap_of(x, y);

	(void) overlap_sum(&o, overlap_key_signed, add_common, &product);
	return wide_to_double(product.sum);
}

/* Returns the cosine of the angle between the vectors of frequencies. */
double
bag_cosine(const Bag *x, const Bag *y)
{
	double product = product_of(x, y);
	double cosine;

	if (product == 0)
		return 0;
	cosine = product / sqrt(product_of(x, x) * product_of(y, y));
	return Min(cosine, 1);
}
