/*
 * sketch.h: signatures of sets of shingles, their distances, and estimates.
 *
 * A signature is k symbols of b bits.  The distance of two signatures is the number of
 * symbols that differ.  A simhash of f bits is f symbols of 1 bit.
 */
#ifndef NEARDUP_SKETCH_SKETCH_H
#define NEARDUP_SKETCH_SKETCH_H

#include "sketch/weights.h"
#include "text/text.h"

/* ---- Shapes (symbols.c) --------------------------------------------------- */

#define MINHASH_K_MIN 16
#define MINHASH_K_MAX 16384
#define MINHASH_BITS_MAX 65536 /* of k * b */

/*
 * The bytes of a packed signature.  Symbols are packed without gaps, the first one in the
 * highest bits of the first byte, as in PostgreSQL's type bit.  Unused bits of the last
 * byte are zero.  Symbols of 16 and 32 bits are big-endian.
 */
#define SYMBOL_BYTES(k, b) (((size_t) (k) * (b) + 7) / 8)

/* Returns whether k and k * b are within the limits, and b is 1, 2, 4, 8, 16 or 32. */
extern bool minhash_shape_is_valid(int64_t k, int64_t b);

/* Returns whether f is 64, 128, 256 or 512. */
extern bool simhash_shape_is_valid(int64_t f);

/* ---- minhash (minhash.c) ---------------------------------------------------- */

/* Gathers the distinct elements of a set. */
typedef struct MinhashBuilder
{
	Table table;
	uint64_t *element; /* mix64 of each, by number */
} MinhashBuilder;

/* Starts without elements; `expected` is a guess how many come, and costs time if it is wrong. */
extern void minhash_begin(MinhashBuilder *builder, size_t expected);

/* Adds elements; a HashSink (text/text.h) with a MinhashBuilder as its state. */
extern void minhash_add(void *builder, const uint64_t *hashes, size_t count);

/*
 * Sets symbols[0, k) to the sketch of the elements added, in symbols of 32 bits, and
 * frees the builder.  Returns the number of distinct elements.  All symbols of the empty
 * set are MINHASH_EMPTY_SYMBOL.
 *
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, section 3).  Symbols
 * keep the order of the minima, so the symbol-wise least of two sketches is the sketch of
 * the union.
 */
extern uint64_t minhash_finish(MinhashBuilder *builder, int k, uint32_t *symbols);

#define MINHASH_EMPTY_SYMBOL UINT32_MAX

/* Computes the sketch of distinct elements in the same way; returns their number. */
extern uint64_t minhash_of_set(const uint64_t *hashes, size_t count, int k, uint32_t *symbols);

/*
 * The same for the copies of weighted elements (weights.h): those added, weighed by a
 * lexicon, or those of a bag, whose frequencies are the weights.  Return the number of
 * copies.
 */
extern uint64_t minhash_finish_weighed(MinhashBuilder *builder, const Weights *weights, int k,
									   uint32_t *symbols);
extern uint64_t minhash_of_copies(const Bag *bag, int k, uint32_t *symbols);

/*
 * Packs symbols of 32 bits into b bits each, at packed[SYMBOL_BYTES(k, b)].  If b < 32, a
 * packed symbol is the low bits of a hash of the symbol (b-bit minwise hashing, Li and
 * Konig, WWW 2010), so truncating a packed signature equals packing to fewer bits.
 */
extern void minhash_pack(const uint32_t *symbols, int k, int b, uint8_t *packed);

/* Truncates a packed signature from b_from to b_to < b_from bits a symbol. */
extern void minhash_truncate(const uint8_t *from, int k, int b_from, int b_to, uint8_t *packed);

/* Computes the symbol-wise least of two packed signatures of k symbols of 32 bits. */
extern void minhash_union(const uint8_t *x, const uint8_t *y, int k, uint8_t *packed);

/* Returns symbol i of a packed signature. */
extern uint32_t symbol_at(const uint8_t *packed, int b, int i);

/* ---- simhash (simhash.c) ------------------------------------------------ */

#define SIMHASH_WORDS_MAX 8

#define SIMHASH_PLANES 16

/* Counts the votes of the elements of a multiset for each bit. */
typedef struct SimhashBuilder
{
	int words;                                         /* f / 64 */
	uint64_t elements;                                 /* added, repeated ones included */
	uint32_t in_planes;                                /* elements that are counted in the planes */
	uint64_t plane[SIMHASH_WORDS_MAX][SIMHASH_PLANES]; /* bit-sliced counters */
	uint64_t ones[SIMHASH_WORDS_MAX * 64]; /* votes for each bit, without those in the planes */
} SimhashBuilder;

/* Starts without elements; f is a valid number of bits. */
extern void simhash_begin(SimhashBuilder *builder, int f);

/* Adds elements; a HashSink (text/text.h) with a SimhashBuilder as its state. */
extern void simhash_add(void *builder, const uint64_t *hashes, size_t count);

/* Adds an element that occurs `frequency` times. */
extern void simhash_add_weighted(SimhashBuilder *builder, uint64_t hash, uint32_t frequency);

/*
 * Computes the fingerprint, packed, f / 8 bytes: a bit is set if more than half of the
 * votes are for it (Charikar, STOC 2002; Manku et al., WWW 2007).  Returns the number of
 * elements.  Without elements no bit is set.
 */
extern uint64_t simhash_finish(SimhashBuilder *builder, uint8_t *packed);

/* ---- Distance (symbols.c) --------------------------------------------------- */

/* Returns how many of k symbols of b bits differ in two packed signatures. */
extern int symbol_distance(const uint8_t *x, const uint8_t *y, int k, int b);

/* Computes the distances of x to count signatures, the first at `first`, stride bytes apart. */
extern void symbol_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count,
							 int k, int b, int32_t *distance);

/* A kernel of both functions, for tests and benchmarks. */
typedef struct DistanceKernel
{
	const char *name; /* as in base/cpu.h */
	bool (*available)(void);
	int (*distance)(const uint8_t *x, const uint8_t *y, int k, int b);
	void (*distances)(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k,
					  int b, int32_t *distance);
} DistanceKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const DistanceKernel distance_kernels[];

/* ---- Estimators (estimate.c) -------------------------------------------- */

/*
 * Returns the estimated resemblance of two sets if d of k symbols differ:
 * (k (2^b - 1) - d 2^b) / (k (2^b - 1)), which is (E - 2^-b) / (1 - 2^-b) for
 * E = 1 - d / k (Li and Konig, WWW 2010, section 3), rounded once.  It may be negative.
 */
extern double minhash_resemblance(int k, int b, int d);

/* Returns the largest d whose minhash_resemblance is at least t, in (0, 1]. */
extern int minhash_radius(int k, int b, double t);

/* Returns (f - d) / f, and the largest d for which that is at least t, in (0, 1]. */
extern double simhash_similarity(int f, int d);
extern int simhash_radius(int f, double t);

/* Returns the probability r + (1 - r) 2^-b that a symbol of b bits agrees if the resemblance is r. */
extern double symbol_agreement(int b, double r);

/* Returns the standard error of minhash_resemblance if the resemblance is r. */
extern double minhash_standard_error(int k, int b, double r);

/*
 * Returns the probability that the signatures of two sets of resemblance r differ in at
 * most h of k symbols of b bits, each of which agrees with probability symbol_agreement(b, r).
 */
extern double chance_within(int k, int b, double r, int h);

/*
 * Returns the containment of a set of n_a elements in one of n_b, if their resemblance is
 * r: r (n_a + n_b) / ((1 + r) n_a), at most 1.
 */
extern double containment_of_resemblance(double r, double n_a, double n_b);

/*
 * Returns the standard error of containment_of_resemblance if c, at most 1 and at most the
 * ratio n_b / n_a, is the containment: to first order, the error of the resemblance times
 * the derivative (n_a + n_b) / (n_a (1 + r)^2).
 */
extern double containment_standard_error(int k, int b, double c, double ratio);

/*
 * Returns the probability that two sets of similarity s agree in a band:
 * 1 - (1 - s^rows)^bands.
 */
extern double lsh_collision_probability(double s, int bands, int rows);

/*
 * Chooses the most rows (hence the fewest candidates), and then the fewest bands, with
 * bands * rows <= k, that find a pair whose symbols agree with probability `agree` with
 * probability `recall` or more.  Returns false if bands of one row do not.
 */
extern bool lsh_choose(double agree, int k, double recall, int *bands, int *rows);

/* Computes a key for each band of `rows` symbols; returns their number, floor(k / rows). */
extern int minhash_band_keys(const uint8_t *packed, int k, int b, int rows, uint64_t *keys);

#endif
