/*
 * sketch.h: sets of shingles, the signatures made of them, and what two
 * signatures tell of each other.  Plain C: no PostgreSQL, no text, no index.
 *
 * Every signature is k symbols of b bits, and every distance is the number of
 * symbols that differ.  simhash is k = f, b = 1.
 */
#ifndef NEARDUP_SKETCH_SKETCH_H
#define NEARDUP_SKETCH_SKETCH_H

#include "text/text.h"

/* ---- Shapes ------------------------------------------------------------- */

#define MINHASH_K_MIN 16
#define MINHASH_K_MAX 16384
#define MINHASH_BITS_MAX 65536 /* of k * b */

/*
 * Symbols are packed without gaps, the first one in the highest bits of the
 * first byte, as in PostgreSQL's bit type; unused bits of the last byte are
 * zero.  Wide symbols are big-endian.
 */
#define SYMBOL_BYTES(k, b) (((size_t) (k) * (b) + 7) / 8)

/* k in range, b one of 1, 2, 4, 8, 16, 32, and k * b within the limit? */
extern bool minhash_shape_is_valid(int64_t k, int64_t b);

/* f one of 64, 128, 256, 512? */
extern bool simhash_shape_is_valid(int64_t f);

/* ---- Bags: hashes with frequencies (bag.c) ------------------------------ */

/*
 * A multiset of 64-bit elements: ascending (as signed numbers, as they show
 * in SQL) and distinct, each with a frequency of at least 1.
 */
typedef struct Bag
{
	uint32_t count; /* distinct elements */
	int64_t *element;
	uint32_t *frequency; /* NULL where all are 1 */
} Bag;

/* Gathers hashes in any order; a HashSink with a BagBuilder as its state. */
typedef struct BagBuilder
{
	uint64_t *hash;
	size_t count;
	size_t room;
} BagBuilder;

extern void bag_begin(BagBuilder *builder);
extern void bag_add(void *builder, const uint64_t *hashes, size_t count);

/*
 * Sort and count what was gathered.  False where there are more than
 * UINT32_MAX elements.  Frequencies stop at UINT32_MAX.  Both arrays come from
 * host_alloc; the builder is spent.
 */
extern bool bag_finish(BagBuilder *builder, Bag *bag);

/* ---- minhash (minhash.c, distinct.c) ------------------------------------ */

/*
 * Gathers the distinct elements of a set; a HashSink with a MinhashBuilder as
 * its state.
 */
typedef struct MinhashBuilder
{
	Table table;
	uint64_t *element; /* by number, hence in order of arrival */
} MinhashBuilder;

/* expected: how many elements may come, a guess that only costs time. */
extern void minhash_begin(MinhashBuilder *builder, size_t expected);
extern void minhash_add(void *builder, const uint64_t *hashes, size_t count);

/*
 * The sketch of the set gathered: k full-width symbols.  Returns the number of
 * distinct elements; for the empty set all symbols are MINHASH_EMPTY_SYMBOL.
 * The builder is spent.
 *
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, section 3)
 * with symbols that keep the order of the minima, so that the symbol-wise
 * least of two sketches is the sketch of the union.
 */
extern uint64_t minhash_finish(MinhashBuilder *builder, int k, uint32_t *symbols);

#define MINHASH_EMPTY_SYMBOL UINT32_MAX

/*
 * Pack full-width symbols into b bits each, at packed[SYMBOL_BYTES(k, b)].
 * Fewer than 32 bits are the low bits of a fixed mixing of the symbol, so that
 * packing to 16 bits and truncating to 4 gives what packing to 4 gives.
 */
extern void minhash_pack(const uint32_t *symbols, int k, int b, uint8_t *packed);

/* Truncate a packed signature from b_from to b_to < b_from bits a symbol. */
extern void minhash_truncate(const uint8_t *from, int k, int b_from, int b_to, uint8_t *packed);

/* Symbol-wise least of two packed 32-bit signatures. */
extern void minhash_union(const uint8_t *x, const uint8_t *y, int k, uint8_t *packed);

/* Symbol i of a packed signature. */
extern uint32_t symbol_at(const uint8_t *packed, int b, int i);

/* ---- simhash (simhash.c) ------------------------------------------------ */

#define SIMHASH_WORDS_MAX 8

/* Sums one vote per bit; a HashSink with a SimhashBuilder as its state. */
typedef struct SimhashBuilder
{
	int words;                             /* f / 64 */
	uint64_t elements;                     /* seen, repeated ones included */
	uint32_t in_planes;                    /* elements that the planes hold */
	uint64_t plane[SIMHASH_WORDS_MAX][16]; /* bit-sliced counters */
	uint64_t ones[SIMHASH_WORDS_MAX * 64]; /* votes for 1 so far */
} SimhashBuilder;

extern void simhash_begin(SimhashBuilder *builder, int f);
extern void simhash_add(void *builder, const uint64_t *hashes, size_t count);

/* An element that occurs frequency times. */
extern void simhash_add_weighted(SimhashBuilder *builder, uint64_t hash, uint32_t frequency);

/*
 * The fingerprint, packed, f / 8 bytes: a bit is set where more than half of
 * the votes are for it (Charikar, STOC 2002; Manku et al., WWW 2007).  Returns
 * the number of elements; no bit is set for none.
 */
extern uint64_t simhash_finish(SimhashBuilder *builder, uint8_t *packed);

/*
 * The same with weights of any sign, summed in the order given: a bit is set
 * where the sum of +weight (element's bit set) and -weight is above zero.
 */
extern void simhash_of_weights(const uint64_t *hashes, const double *weights, size_t count, int f,
							   uint8_t *packed);

/* ---- Distance (hamming.c) ----------------------------------------------- */

/* How many of k symbols of b bits differ, packed as above. */
extern int symbol_distance(const uint8_t *x, const uint8_t *y, int k, int b);

/*
 * The distances of count signatures, stride bytes apart from first, to one.
 */
extern void symbol_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count,
							 int k, int b, int32_t *distance);

/* The kernels of both, for tests and benchmarks. */
typedef struct DistanceKernel
{
	const char *name; /* "plain", "popcnt", "avx512" */
	bool (*available)(void);
	int (*distance)(const uint8_t *x, const uint8_t *y, int k, int b);
	void (*distances)(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k,
					  int b, int32_t *distance);
} DistanceKernel;

/* All kernels of this build, the plain one first; ends with a NULL name. */
extern const DistanceKernel distance_kernels[];

/* ---- Estimators (estimate.c) -------------------------------------------- */

/*
 * Resemblance from d differing symbols of k, before clamping:
 * (k (2^b - 1) - d 2^b) / (k (2^b - 1)), which is (E - 2^-b) / (1 - 2^-b) for
 * E = 1 - d / k, rounded once.
 */
extern double minhash_resemblance(int k, int b, int d);

/* The largest d whose minhash_resemblance is at least t in (0, 1]. */
extern int minhash_radius(int k, int b, double t);

/* (f - d) / f, and the largest d for which it is at least t in (0, 1]. */
extern double simhash_similarity(int f, int d);
extern int simhash_radius(int f, double t);

/* Standard error of minhash_resemblance where the resemblance is r. */
extern double minhash_standard_error(int k, int b, double r);

/*
 * Chance that two signatures of nothing in common, hence k symbols of b random
 * bits, differ in at most h of them.
 */
extern double chance_within(int k, int b, int h);

/*
 * Of two sets with n_a and n_b elements and resemblance r, the share of the
 * first that lies in the second: r (n_a + n_b) / ((1 + r) n_a), in [0, 1].
 */
extern double containment_of_resemblance(double r, double n_a, double n_b);

/* 1 - (1 - s^rows)^bands. */
extern double lsh_collision_probability(double s, int bands, int rows);

/*
 * The most rows (hence the fewest candidates) with which some number of bands,
 * bands * rows <= k, finds a pair of similarity threshold with probability
 * recall; false where even one row does not.
 */
extern bool lsh_choose(double threshold, int k, double recall, int *bands, int *rows);

/* The keys of a signature's bands of rows symbols each: floor(k / rows). */
extern int minhash_band_keys(const uint8_t *packed, int k, int b, int rows, uint64_t *keys);

#endif
