/*
 * weights.c: the weights that a lexicon gives, and the copies of weighted elements.
 */
#include "sketch/weights.h"

#include <math.h>
#include <string.h>

/* ---- Weights ------------------------------------------------------------------- */

/*
 * Returns the weight of an element that `count` of documents have: ln(documents / count) /
 * ln(documents) times WEIGHT_MAX, rounded, and 0 if at least FORM_DOCUMENTS and this share
 * of the documents have it.
 */
uint8_t
weight_of_count(uint32_t count, uint64_t documents, double share)
{
	double idf = log((double) documents / count) / log((double) documents);

	if (is_of_form(count, documents, share))
		return 0;
	return (uint8_t) floor(WEIGHT_MAX * idf + 0.5);
}

/* The most bits of a key that are its bucket. */
#define BUCKET_BITS_MAX 20

/* Makes a lexicon of arrays, which it does not copy. */
void
weights_begin(Weights *weights, const uint32_t *key, const uint8_t *weight, uint32_t count)
{
	int bits = 1;
	uint32_t at = 0;

	while (bits < BUCKET_BITS_MAX && (uint32_t) 1 << bits < count)
		bits++;
	*weights = (Weights){.count = count, .key = key, .weight = weight, .shift = 32 - bits};
	weights->start = host_alloc((((size_t) 1 << bits) + 1) * sizeof(uint32_t));
	for (uint32_t bucket = 0; bucket < (uint32_t) 1 << bits; bucket++)
	{
		weights->start[bucket] = at;
		while (at < count && key[at] >> weights->shift == bucket)
			at++;
	}
	weights->start[(size_t) 1 << bits] = count;
}

/* Returns the weight of an element, given as its mix64. */
uint32_t
weight_of(const Weights *weights, uint64_t mixed)
{
	uint32_t key = weight_key(mixed);
	uint32_t bucket = key >> weights->shift;
	uint32_t low = weights->start[bucket];
	uint32_t high = weights->start[bucket + 1];

	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (weights->key[middle] == key)
			return weights->weight[middle];
		if (weights->key[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return WEIGHT_MAX;
}

/*
 * Returns a hash of a lexicon (doc/explanation/recipe.md): the scheme of the elements, the number of
 * documents, and the entries.
 */
uint64_t
weights_digest(uint32_t scheme, uint64_t documents, const uint32_t *key, const uint8_t *weight,
			   uint32_t count)
{
	uint64_t hash = mix64(scheme);

	hash = mix64(hash + documents);
	for (uint32_t i = 0; i < count; i++)
		hash = mix64(hash + ((uint64_t) key[i] << 4 | weight[i]) + 1);
	return hash;
}

/* Returns the weight of each element of a set without any weight; counts the set. */
static uint32_t
weigh_whole(const Weights *weights)
{
	if (weights->whole != NULL)
		__atomic_fetch_add(weights->whole, 1, __ATOMIC_RELAXED);
	return WEIGHT_MAX;
}

/*
 * Returns the elements of a bag whose weights are not zero, with these as their frequencies; all of
 * them if none has a weight.
 */
Bag
bag_weigh(const Bag *bag, const Weights *weights)
{
	Bag weighed = {0};

	weighed.element = host_alloc((size_t) bag->count * sizeof(int64_t) + 1);
	weighed.frequency = host_alloc((size_t) bag->count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint32_t weight = weight_of(weights, mix64((uint64_t) bag->element[i]));

		host_check_interrupts_at(i);
		if (weight == 0)
			continue;
		weighed.element[weighed.count] = bag->element[i];
		weighed.frequency[weighed.count++] = weight;
	}
	if (weighed.count == 0 && bag->count > 0)
	{
		uint32_t weight = weigh_whole(weights);

		memcpy(weighed.element, bag->element, (size_t) bag->count * sizeof(int64_t));
		for (; weighed.count < bag->count; weighed.count++)
			weighed.frequency[weighed.count] = weight;
	}
	bag_drop_ones(&weighed);
	return weighed;
}

/* ---- Copies -------------------------------------------------------------------- */

/* Returns a further copy, from 1 on, of an element that is given as its mix64. */
static inline uint64_t
further_copy(uint64_t mixed, uint32_t copy)
{
	return mixed + copy * UINT64_C(0x9E3779B97F4A7C15);
}

/* Reports an error for too many copies. */
static inline void
check_copies(uint64_t count)
{
	if (count > COPIES_MAX)
		host_refuse_size("the weights of a set add up to too much for a signature");
}

/* Sets the weight of an element. */
static inline void
set_weight(Copies *copies, size_t element, uint32_t weight)
{
	copies->weight[element] = weight;
	copies->count += weight;
	check_copies(copies->count);
}

/*
 * Returns the copies of elements by the weights of a lexicon.  Takes over mixed[], which has
 * mix64 of each.
 */
Copies
copies_weighed(uint64_t *mixed, size_t count, const Weights *weights)
{
	Copies copies = {.mixed = mixed, .elements = count};

	copies.weight = host_alloc(count * sizeof(uint32_t) + 1);
	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		set_weight(&copies, i, weight_of(weights, mixed[i]));
	}
	if (copies.count == 0 && count > 0)
	{
		uint32_t weight = weigh_whole(weights);

		for (size_t i = 0; i < count; i++)
			set_weight(&copies, i, weight);
	}
	return copies;
}

/* Returns the copies of the elements of a bag, by their frequencies. */
Copies
copies_of_bag(const Bag *bag)
{
	Copies copies = {.elements = bag->count};

	copies.mixed = host_alloc((size_t) bag->count * sizeof(uint64_t) + 1);
	copies.weight = host_alloc((size_t) bag->count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		copies.mixed[i] = mix64((uint64_t) bag->element[i]);
		set_weight(&copies, i, bag_frequency(bag, i));
	}
	return copies;
}

/*
 * Makes the next copies, at most `room`, as mix64 of each; returns how many they are, 0 at the
 * end.
 */
size_t
copies_next(const Copies *copies, CopiesPosition *position, uint64_t *to, size_t room)
{
	size_t made = 0;

	host_check_interrupts();
	for (; position->element < copies->elements && made < room; position->element++)
	{
		uint64_t mixed = copies->mixed[position->element];
		uint32_t weight = copies->weight[position->element];
		uint32_t end = (uint32_t) Min(weight, position->copy + (room - made));
		uint32_t copy = position->copy;

		host_check_interrupts_at(position->element);
		for (; copy < end; copy++)
			to[made++] = copy == 0 ? mixed : mix64(further_copy(mixed, copy));
		position->copy = copy;
		if (copy < weight)
			break;
		position->copy = 0;
	}
	return made;
}

/* Frees what the copies are made of. */
void
copies_end(Copies *copies)
{
	host_free(copies->mixed);
	host_free(copies->weight);
}

/* Returns the plain set of the copies of a bag's elements. */
Bag
bag_copies(const Bag *bag)
{
	uint64_t total = bag_total(bag);
	BagBuilder builder = {.count = 0};
	Bag copies;

	check_copies(total);
	builder.hash = host_alloc(total * sizeof(uint64_t) + 1);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint64_t element = (uint64_t) bag->element[i];
		uint64_t mixed = mix64(element);

		host_check_interrupts_at(i);
		builder.hash[builder.count++] = element;
		for (uint32_t copy = 1; copy < bag_frequency(bag, i); copy++)
		{
			host_check_interrupts_at(copy);
			builder.hash[builder.count++] = further_copy(mixed, copy);
		}
	}
	bag_finish(&builder, &copies);
	return copies;
}
