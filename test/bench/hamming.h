/*
 * hamming.h: searches within a Hamming distance as the literature has them, for hamming.c.
 */
#ifndef NEARDUP_BENCH_HAMMING_H
#define NEARDUP_BENCH_HAMMING_H

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "random.h"

/* GCC inlines its instruction for popcount only if the processor is sure to have it. */
#ifdef __x86_64__
#define POPCOUNT __attribute__((target("popcnt")))
#else
#define POPCOUNT
#endif

typedef struct Data
{
	const char *name;
	int k;
	int words; /* of a row */
	uint32_t rows;
	uint64_t *row;   /* padded with zeros */
	uint64_t *query; /* QUERIES of them */
} Data;

/* What a search finds. */
typedef struct Found
{
	uint64_t rows;
	uint64_t sum; /* the sum of mix64 of their numbers */
} Found;

POPCOUNT static inline int
distance(const uint64_t *x, const uint64_t *y, int words)
{
	int sum = 0;

	for (int i = 0; i < words; i++)
		sum += __builtin_popcountll(x[i] ^ y[i]);
	return sum;
}

static inline const uint64_t *
row_at(const Data *data, uint32_t row)
{
	return data->row + (size_t) row * data->words;
}

static inline void
find(Found *found, uint32_t row)
{
	found->rows++;
	found->sum += mix64(row);
}

/* Bits are in the order of packed symbols: a byte's highest is its first. */
static inline uint64_t
mask_of(int bit)
{
	return UINT64_C(1) << (bit % 64 ^ 7);
}

static inline bool
has_bit(const uint64_t *row, int bit)
{
	return (row[bit / 64] & mask_of(bit)) != 0;
}

static double
random_share(void)
{
	return next_random(&random_seed) / 0x1p64;
}

/* ---- Tables of parts (MIH, HmSearch) ---------------------------------------- */

/* A part of the bits, and the rows by the hash of it, which is linear: a bit that flips changes it by flip[bit]. */
typedef struct PartTable
{
	int first;
	int bits;
	uint64_t *flip;
	uint32_t *start;
	uint32_t *row;
} PartTable;

typedef struct Index
{
	const Data *data;
	int tables;
	int radius; /* of HmSearch's index */
	PartTable *table;
	uint8_t *score; /* of each row; what a search sets it clears */
	uint32_t *seen; /* the rows with a score */
	uint32_t seens;
} Index;

static uint64_t
hash_of(const PartTable *table, const uint64_t *row)
{
	uint64_t hash = 0;

	for (int i = 0; i < table->bits; i++)
		hash ^= has_bit(row, table->first + i) ? table->flip[i] : 0;
	return hash;
}

/* A part of few bits is its own hash, so that a bucket has rows of one value. */
static void
fill_table(const Data *data, PartTable *table)
{
	int hash_bits = Min(table->bits, (int) log2(data->rows) + 1);
	size_t buckets = (size_t) 1 << hash_bits;
	uint32_t *hash = malloc(data->rows * sizeof(uint32_t));

	table->flip = malloc(table->bits * sizeof(uint64_t));
	for (int i = 0; i < table->bits; i++)
		table->flip[i] = table->bits == hash_bits ? UINT64_C(1) << i :
													next_random(&random_seed) >> (64 - hash_bits);
	table->start = calloc(buckets + 2, sizeof(uint32_t));
	table->row = malloc(data->rows * sizeof(uint32_t));
	for (uint32_t i = 0; i < data->rows; i++)
		table->start[(hash[i] = (uint32_t) hash_of(table, row_at(data, i))) + 2]++;
	for (size_t i = 1; i <= buckets; i++)
		table->start[i + 1] += table->start[i];
	for (uint32_t i = 0; i < data->rows; i++)
		table->row[table->start[hash[i] + 1]++] = i;
	free(hash);
}

static void *
build_tables(const Data *data, int tables, int radius)
{
	Index *index = malloc(sizeof(Index));

	*index = (Index){data,
					 tables,
					 radius,
					 malloc(tables * sizeof(PartTable)),
					 calloc(data->rows, 1),
					 malloc(data->rows * sizeof(uint32_t)),
					 0};
	for (int i = 0; i < tables; i++)
	{
		PartTable *table = &index->table[i];

		table->first = (int) ((int64_t) data->k * i / tables);
		table->bits = (int) ((int64_t) data->k * (i + 1) / tables) - table->first;
		fill_table(data, table);
	}
	return index;
}

static void
free_tables(void *state)
{
	Index *index = state;

	for (int i = 0; i < index->tables; i++)
	{
		free(index->table[i].flip);
		free(index->table[i].start);
		free(index->table[i].row);
	}
	free(index->table);
	free(index->score);
	free(index->seen);
	free(index);
}

/* Adds to the scores of the rows in a bucket. */
static inline void
score_bucket(Index *index, const PartTable *table, uint64_t hash, int points)
{
	for (uint32_t i = table->start[hash]; i < table->start[hash + 1]; i++)
	{
		uint32_t row = table->row[i];

		if (index->score[row] == 0)
			index->seen[index->seens++] = row;
		index->score[row] = Min(index->score[row] + points, 4);
	}
}

/* Scores the rows whose part differs in at most `left` more bits, all below `bit`. */
static void
score_within(Index *index, const PartTable *table, uint64_t hash, int bit, int left)
{
	score_bucket(index, table, hash, 1);
	if (left > 0)
		for (int i = 0; i < bit; i++)
			score_within(index, table, hash ^ table->flip[i], i, left - 1);
}

/* Compares the rows that have the score. */
POPCOUNT static Found
compare_scored(Index *index, const uint64_t *query, int radius, int least)
{
	const Data *data = index->data;
	Found found = {0, 0};

	for (uint32_t i = 0; i < index->seens; i++)
	{
		uint32_t row = index->seen[i];

		if (index->score[row] >= least && distance(query, row_at(data, row), data->words) <= radius)
			find(&found, row);
		index->score[row] = 0;
	}
	index->seens = 0;
	return found;
}

/* About as many parts as make a bucket of each row, the paper's rule. */
static void *
build_mih(const Data *data, int radius)
{
	return build_tables(data, Max((int) lround(data->k / log2(data->rows)), 1), radius);
}

/* Of m parts, some differ in at most radius / m bits, and so on: the sum of what is searched plus 1 is radius + 1. */
static Found
search_mih(void *state, const uint64_t *query, int radius)
{
	Index *index = state;
	int least = radius / index->tables;
	int more = radius % index->tables + 1;

	for (int i = 0; i < index->tables; i++)
		if (i < more || least > 0)
			score_within(index, &index->table[i], hash_of(&index->table[i], query),
						 index->table[i].bits, i < more ? least : least - 1);
	return compare_scored(index, query, radius, 1);
}

static void *
build_hmsearch(const Data *data, int radius)
{
	return build_tables(data, Min((radius + 3) / 2, data->k), radius);
}

/*
 * Parts that are equal count 2, those that differ in a bit 1, others at most 0, and the distance is at least
 * 2 * parts less these: so a match has 2 * parts - radius points, 2 or 3.
 */
static Found
search_hmsearch(void *state, const uint64_t *query, int radius)
{
	Index *index = state;

	for (int t = 0; t < index->tables; t++)
	{
		const PartTable *table = &index->table[t];
		uint64_t hash = hash_of(table, query);

		score_bucket(index, table, hash, 2);
		for (int i = 0; i < table->bits; i++)
			score_bucket(index, table, hash ^ table->flip[i], 1);
	}
	return compare_scored(index, query, radius, 2 * index->tables - radius);
}

/* ---- A scan, and a BK-tree ------------------------------------------------- */

static void *
build_scan(const Data *data, int radius)
{
	return (void *) data;
}

static void
free_nothing(void *state)
{
}

POPCOUNT static Found
search_scan(void *state, const uint64_t *query, int radius)
{
	const Data *data = state;
	Found found = {0, 0};

	for (uint32_t i = 0; i < data->rows; i++)
		if (distance(query, row_at(data, i), data->words) <= radius)
			find(&found, i);
	return found;
}

/* The children of a row have distinct distances from it, except for 0. */
typedef struct Bk
{
	const Data *data;
	uint32_t *child; /* the first child of each row; 0: none */
	uint32_t *next;  /* the next child of the same parent */
	uint16_t *apart; /* the distance from the parent */
	uint32_t *stack;
} Bk;

POPCOUNT static void *
build_bk(const Data *data, int radius)
{
	Bk *bk = malloc(sizeof(Bk));

	*bk = (Bk){data, calloc(data->rows, sizeof(uint32_t)), calloc(data->rows, sizeof(uint32_t)),
			   calloc(data->rows, sizeof(uint16_t)), malloc(data->rows * sizeof(uint32_t))};
	for (uint32_t i = 1; i < data->rows; i++)
	{
		uint32_t parent = 0;
		uint32_t child;
		int apart;

		for (;; parent = child)
		{
			apart = distance(row_at(data, parent), row_at(data, i), data->words);
			for (child = bk->child[parent]; child != 0 && bk->apart[child] != apart;)
				child = bk->next[child];
			/* Equal rows are children of one, not of each other. */
			if (child == 0 || apart == 0)
				break;
		}
		bk->next[i] = bk->child[parent];
		bk->child[parent] = i;
		bk->apart[i] = (uint16_t) apart;
	}
	return bk;
}

static void
free_bk(void *state)
{
	Bk *bk = state;

	free(bk->child);
	free(bk->next);
	free(bk->apart);
	free(bk->stack);
	free(bk);
}

POPCOUNT static Found
search_bk(void *state, const uint64_t *query, int radius)
{
	Bk *bk = state;
	Found found = {0, 0};
	uint32_t waiting = 1;

	bk->stack[0] = 0;
	while (waiting > 0)
	{
		uint32_t row = bk->stack[--waiting];
		int apart = distance(query, row_at(bk->data, row), bk->data->words);

		if (apart <= radius)
			find(&found, row);
		for (uint32_t child = bk->child[row]; child != 0; child = bk->next[child])
			if (abs(bk->apart[child] - apart) <= radius)
				bk->stack[waiting++] = child;
	}
	return found;
}

#endif
