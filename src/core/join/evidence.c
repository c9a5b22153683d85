/*
 * evidence.c: sets that belong to signatures, and pairs of documents that they judge.
 *
 * A judge keeps the sets that it compared last, since a join finds the pairs of a document close
 * to each other, and a bitmap of each set that it has met, which refuses most pairs without the sets.
 */
#include "join/evidence.h"

#include <string.h>

#include "base/hash.h"
#include "sketch/sketch.h"

/* The probability that a pair at the threshold is no candidate: that of four standard errors. */
#define MISSED (1 / 31574.0)

/* The most bytes of the sets that a judge keeps, their part of its memory, and bytes of a set. */
#define KEPT_BYTES ((size_t) 16 * 1024 * 1024)
#define KEPT_SHARE 16
#define KEPT_SET_BYTES 1024

/* The fewest bits of a bitmap for each element, its most words, and the most copies of an element that flip a bit each. */
#define BITS_OF_ELEMENT 4
#define BITMAP_WORDS_MOST ((size_t) 1 << 20)
#define COPIES 16

/* What stands for a bitmap of a set that was not met, or once: most sets are never met again. */
#define NOT_MET 0
#define MET_ONCE 1
#define BITMAPS_START 2

/*
 * The parity bitmap of a set: each copy of each element flips a bit (Sandes, Teodoro, Melo, 2020).  Where
 * the bitmaps of two sets differ, one has a copy that the other lacks.
 */
typedef struct KeptBitmap
{
	uint64_t length; /* the length of the set */
	uint64_t words;  /* a power of two */
	uint64_t bits[];
} KeptBitmap;

typedef struct KeptSet
{
	const Documents *documents; /* NULL: there is none */
	uint32_t document;
	Bag bag;
	void *copy; /* the copy that has the arrays of the bag; NULL: none */
} KeptSet;

struct Judge
{
	const DocumentList *left;
	const DocumentList *right;
	Measure measure;
	bool by_rows; /* the document whose row comes first stays, whatever its list is */
	uint64_t
		secret; /* the secret seed of bits, so that nobody can choose elements that share one */
	uint32_t *
		position; /* the word at which the bitmap of each position begins, left list first; or one of these: */
	uint64_t *bitmap;
	size_t bitmap_room; /* words */
	size_t bitmap_words;
	size_t bitmap_most;
	size_t bytes;
	size_t most;
	uint32_t slots;
	KeptSet slot[]; /* the sets, and one more for a set whose slot its partner in a pair has */
};

/* Returns the distance within which signatures are candidates. */
int
candidate_radius(const PairOptions *options, const SignatureHeader *shape)
{
	int b = signature_bits(shape);
	int radius = signature_radius(shape, options->threshold);

	while (options->evidence && radius < shape->k &&
		   chance_within(shape->k, b, options->threshold, radius) < 1 - MISSED)
		radius++;
	return radius;
}

/*
 * Returns the measure of two documents.  With `contained`, it is the share of the second that the
 * first has, in two lists of the same documents the share of the first, in others the greater share.
 */
static Measure
measure_of(const PairOptions *options, bool one_list, bool same)
{
	if (options->contained == 0)
		return options->measure;
	return one_list ? MEASURE_CONTAINS : same ? MEASURE_CONTAINED : MEASURE_CONTAINMENT;
}

/* Returns the similarity of two sets. */
static double
compare(const Documents *documents, const Bag *x, const Bag *y, Measure measure)
{
	return bag_similarity(x, y, measure, evidence_weighs(documents));
}

/* ---- Two documents --------------------------------------------------------- */

/* Returns the similarity of two documents by their sets or evidence, as measure_of() says. */
static double
sets_similarity(const Documents *left, uint32_t a, const Documents *right, uint32_t b)
{
	void *copy[2];
	Bag x = documents_evidence(left, a, &copy[0]);
	Bag y = documents_evidence(right, b, &copy[1]);
	double similarity =
		compare(left, &x, &y, measure_of(left->options, left == right, left == right));

	evidence_free(left, &x, copy[0]);
	evidence_free(right, &y, copy[1]);
	return similarity;
}

/* Returns the similarity of two documents, of which both may be one. */
double
documents_similarity(const Documents *left, uint32_t a, const Documents *right, uint32_t b)
{
	size_t stride = left->store->records.stride;
	uint8_t *buffer;
	int distance;

	if (left == right && a == b)
		return 1;
	if (left->options->evidence || left->sets)
		return sets_similarity(left, a, right, b);
	buffer = host_alloc(2 * stride);
	distance = symbol_distance(records_get(&left->store->records, a, buffer),
							   records_get(&right->store->records, b, buffer + stride),
							   left->shape.k, signature_bits(&left->shape));
	host_free(buffer);
	return signature_similarity(&left->shape, distance);
}

/* ---- Bitmaps ------------------------------------------------------------------- */

/* Returns how many positions the lists of a judge have. */
static size_t
positions_of(const Judge *judge)
{
	return (size_t) judge->left->count + (judge->left != judge->right ? judge->right->count : 0);
}

/* Forgets all bitmaps. */
static void
forget_bitmaps(Judge *judge)
{
	memset(judge->position, 0, positions_of(judge) * sizeof(uint32_t));
	judge->bitmap_words = BITMAPS_START;
}

/* Returns the bitmap of a position; NULL if it is not kept. */
static const KeptBitmap *
bitmap_at(const Judge *judge, size_t position)
{
	uint32_t word = judge->position[position];

	return word < BITMAPS_START ? NULL : (const KeptBitmap *) (judge->bitmap + word);
}

/* Flips the bits of all copies of the elements of a set. */
static void
flip_bits(const Bag *bag, bool weighs, uint64_t secret, KeptBitmap *bitmap)
{
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint32_t copies = weighs ? Min(bag_frequency(bag, i), COPIES) : 1;

		for (uint32_t copy = 0; copy < copies; copy++)
		{
			uint64_t bit = mix64(((uint64_t) bag->element[i] ^ secret) + copy);

			bitmap->bits[bit / 64 & (bitmap->words - 1)] ^= UINT64_C(1) << bit % 64;
		}
	}
}

/* Keeps the bitmap of the set at a position, if it has been met before. */
static void
keep_bitmap(Judge *judge, size_t position, const Bag *bag)
{
	bool weighs = evidence_weighs(judge->left->documents);
	uint64_t length = weighs ? bag_total(bag) : bag->count;
	uint64_t flips = Min(length, (uint64_t) bag->count * (weighs ? COPIES : 1));
	size_t header = sizeof(KeptBitmap) / sizeof(uint64_t);
	size_t words = 1;
	KeptBitmap *bitmap;

	if (judge->position[position] == NOT_MET)
	{
		judge->position[position] = MET_ONCE;
		return;
	}
	while (words * 64 < flips * BITS_OF_ELEMENT && words < BITMAP_WORDS_MOST)
		words *= 2;
	if (BITMAPS_START + header + words > judge->bitmap_most)
		return;
	if (judge->bitmap_words + header + words > judge->bitmap_most)
		forget_bitmaps(judge);
	judge->bitmap = host_grow(judge->bitmap, &judge->bitmap_room,
							  judge->bitmap_words + header + words, sizeof(uint64_t));
	judge->position[position] = (uint32_t) judge->bitmap_words;
	bitmap = (KeptBitmap *) (judge->bitmap + judge->bitmap_words);
	judge->bitmap_words += header + words;
	*bitmap = (KeptBitmap){.length = length, .words = words};
	memset(bitmap->bits, 0, words * sizeof(uint64_t));
	flip_bits(bag, weighs, judge->secret, bitmap);
}

/* Words of a bitmap that are folded at a time. */
#define FOLDED 64

/* Returns in how many bits two bitmaps differ; the one with more words is folded into those of the other. */
static uint64_t
bits_differ(const KeptBitmap *x, const KeptBitmap *y)
{
	const KeptBitmap *few = x->words <= y->words ? x : y;
	const KeptBitmap *many = few == x ? y : x;
	uint64_t folded[FOLDED];
	uint64_t differ = 0;
	uint64_t some;

	if (few->words == many->words)
		return (uint64_t) symbol_distance((const uint8_t *) x->bits, (const uint8_t *) y->bits,
										  (int) x->words * 64, 1);
	for (uint64_t first = 0; first < few->words; first += some)
	{
		some = Min(few->words - first, FOLDED);
		memset(folded, 0, sizeof(folded));
		for (uint64_t from = first; from < many->words; from += few->words)
			for (uint64_t w = 0; w < some; w++)
				folded[w] ^= many->bits[from + w];
		differ += (uint64_t) symbol_distance((const uint8_t *) (few->bits + first),
											 (const uint8_t *) folded, (int) some * 64, 1);
	}
	return differ;
}

/* Returns the greatest similarity that two sets can have, by their bitmaps. */
static double
similarity_most(const KeptBitmap *x, const KeptBitmap *y, Measure measure)
{
	uint64_t shared = (x->length + y->length - bits_differ(x, y)) / 2;

	return overlap_similarity(measure, Min(shared, Min(x->length, y->length)), x->length,
							  y->length);
}

/* ---- Judges ------------------------------------------------------------------ */

/* Begins to judge the pairs of two lists, or of one that is given twice, in a part of `memory`. */
Judge *
judge_begin(const DocumentList *left, const DocumentList *right, size_t memory)
{
	size_t most = Min(KEPT_BYTES, memory / KEPT_SHARE);
	uint32_t slots = (uint32_t) host_limit(most / KEPT_SET_BYTES + 2);
	size_t size = sizeof(Judge) + (slots + 1) * sizeof(KeptSet);
	Judge *judge = host_alloc(size);

	memset(judge, 0, size);
	judge->left = left;
	judge->right = right;
	judge->measure =
		measure_of(left->documents->options, left == right, left->documents == right->documents);
	judge->by_rows = judge->measure == MEASURE_CONTAINED && !left->members;
	judge->most = most;
	judge->slots = slots;
	judge->secret = left->documents->store->secret;
	judge->bitmap_most = Min(memory / KEPT_SHARE / sizeof(uint64_t), UINT32_MAX);
	judge->position = host_alloc(positions_of(judge) * sizeof(uint32_t));
	forget_bitmaps(judge);
	return judge;
}

/* Returns how many bytes a set takes. */
static size_t
bytes_of(const Bag *bag)
{
	return bag->count * (sizeof(int64_t) + (bag->frequency != NULL ? sizeof(uint32_t) : 0));
}

/* Frees a set. */
static void
drop(Judge *judge, KeptSet *set)
{
	if (set->documents == NULL)
		return;
	judge->bytes -= bytes_of(&set->bag);
	evidence_free(set->documents, &set->bag, set->copy);
	set->documents = NULL;
}

/* Frees all sets but two, which may be NULL. */
static void
drop_others(Judge *judge, const KeptSet *one, const KeptSet *other)
{
	for (size_t i = 0; i <= judge->slots; i++)
		if (&judge->slot[i] != one && &judge->slot[i] != other)
			drop(judge, &judge->slot[i]);
}

/* Returns the set of a document, in memory until another one than `held` is needed. */
static const KeptSet *
set_of(Judge *judge, const Documents *documents, uint32_t document, const KeptSet *held)
{
	KeptSet *set = judge->slot +
		(document + (documents != judge->left->documents ? judge->slots / 2 : 0)) % judge->slots;

	if (set->documents == documents && set->document == document)
		return set;
	if (set == held)
		set = judge->slot + judge->slots;
	drop(judge, set);
	set->bag = documents_evidence(documents, document, &set->copy);
	set->documents = documents;
	set->document = document;
	judge->bytes += bytes_of(&set->bag);
	if (judge->bytes > judge->most)
		drop_others(judge, set, held);
	return set;
}

/* Returns whether the documents at two positions are similar, and if so how similar they are. */
bool
judge_pair(Judge *judge, uint32_t a, uint32_t b, double *similarity)
{
	const Documents *left = judge->left->documents;
	const Documents *right = judge->right->documents;
	const PairOptions *options = left->options;
	double least = options->contained > 0 ? options->contained : options->threshold;
	uint32_t i = list_at(judge->left, a);
	uint32_t j = list_at(judge->right, b);
	Measure measure = judge->by_rows && i < j ? MEASURE_CONTAINS : judge->measure;
	size_t position = b + (judge->left != judge->right ? (size_t) judge->left->count : 0);
	const KeptBitmap *in_x = bitmap_at(judge, a);
	const KeptBitmap *in_y = bitmap_at(judge, position);
	const KeptSet *x;
	const KeptSet *y;

	if (in_x != NULL && in_y != NULL && similarity_most(in_x, in_y, measure) < least)
		return false;
	x = set_of(judge, left, i, NULL);
	y = set_of(judge, right, j, x);
	if (in_x == NULL)
		keep_bitmap(judge, a, &x->bag);
	if (in_y == NULL)
		keep_bitmap(judge, position, &y->bag);
	*similarity = compare(left, &x->bag, &y->bag, measure);
	return *similarity >= least;
}

/* Frees a judge, or NULL. */
void
judge_end(Judge *judge)
{
	if (judge == NULL)
		return;
	drop_others(judge, NULL, NULL);
	host_free(judge->bitmap);
	host_free(judge->position);
	host_free(judge);
}
