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
#define MINHASH_BITS_MAX 65536 /* the most bits: k * b */

/*
 * The bytes of a packed signature.  Symbols are packed without gaps, the first one in the
 * highest bits of the first byte, as in PostgreSQL's type bit.  Unused bits of the last
 * byte are zero.  Symbols of 16 and 32 bits are big-endian.
 */
#define SYMBOL_BYTES(k, b) (((size_t) (k) * (b) + 7) / 8)

extern bool minhash_shape_is_valid(int64_t k, int64_t b);
extern bool simhash_shape_is_valid(int64_t f);

/* ---- minhash (minhash.c) ---------------------------------------------------- */

/* Gathers the distinct elements of a set. */
typedef struct MinhashBuilder
{
	Table table;
	uint64_t *element; /* mix64 of each, by number */
} MinhashBuilder;

extern void minhash_begin(MinhashBuilder *builder, size_t expected);
extern void minhash_add(void *builder, const uint64_t *hashes, size_t count);
extern uint64_t minhash_finish(MinhashBuilder *builder, int k, uint32_t *symbols);

#define MINHASH_EMPTY_SYMBOL UINT32_MAX

extern uint64_t minhash_of_set(const uint64_t *hashes, size_t count, int k, uint32_t *symbols);
extern uint64_t minhash_finish_weighed(MinhashBuilder *builder, const Weights *weights, int k,
									   uint32_t *symbols);
extern uint64_t minhash_of_copies(const Bag *bag, int k, uint32_t *symbols);
extern void minhash_pack(const uint32_t *symbols, int k, int b, uint8_t *packed);
extern void minhash_truncate(const uint8_t *from, int k, int b_from, int b_to, uint8_t *packed);
extern void minhash_union(const uint8_t *x, const uint8_t *y, int k, uint8_t *packed);
extern uint32_t symbol_at(const uint8_t *packed, int b, int i);

/* ---- simhash (simhash.c) ------------------------------------------------ */

#define SIMHASH_WORDS_MAX 8

#define SIMHASH_PLANES 16

/* Counts the votes of the elements of a multiset for each bit. */
typedef struct SimhashBuilder
{
	int words;          /* f / 64 */
	uint64_t elements;  /* elements that were added, repeated ones included */
	uint32_t in_planes; /* elements that are counted in the planes */
	uint64_t plane[SIMHASH_WORDS_MAX][SIMHASH_PLANES]; /* bit-sliced counters */
	uint64_t ones[SIMHASH_WORDS_MAX * 64]; /* votes for each bit, without those in the planes */
} SimhashBuilder;

extern void simhash_begin(SimhashBuilder *builder, int f);
extern void simhash_add(void *builder, const uint64_t *hashes, size_t count);
extern void simhash_add_weighted(SimhashBuilder *builder, uint64_t hash, uint32_t frequency);
extern uint64_t simhash_finish(SimhashBuilder *builder, uint8_t *packed);

/* ---- Distance (symbols.c) --------------------------------------------------- */

extern int symbol_distance(const uint8_t *x, const uint8_t *y, int k, int b);
extern int symbol_distances(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k,
							int b, int32_t *distance);

/* A kernel of both functions, for tests and benchmarks. */
typedef struct DistanceKernel
{
	const char *name; /* the name of the kernel, as in base/cpu.h */
	bool (*available)(void);
	int (*distance)(const uint8_t *x, const uint8_t *y, int k, int b);
	int (*distances)(const uint8_t *x, const uint8_t *first, size_t stride, int count, int k, int b,
					 int32_t *distance);
} DistanceKernel;

/* All kernels of this build, the plain one first; the last has a NULL name. */
extern const DistanceKernel distance_kernels[];

/* ---- Estimators (estimate.c) -------------------------------------------- */

extern double minhash_resemblance(int k, int b, int d);
extern int minhash_radius(int k, int b, double t);
extern double simhash_similarity(int f, int d);
extern int simhash_radius(int f, double t);
extern double symbol_agreement(int b, double r);
extern double minhash_standard_error(int k, int b, double r);
extern double chance_within(int k, int b, double r, int h);
extern double containment_of_resemblance(double r, double n_a, double n_b);
extern double lsh_collision_probability(double s, int bands, int rows);
extern bool lsh_choose(double agree, int k, double recall, int *bands, int *rows);
extern int minhash_band_keys(const uint8_t *packed, int k, int b, int rows, uint64_t *keys);

#endif
