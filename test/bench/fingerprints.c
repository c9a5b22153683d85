/*
 * fingerprints.c: writes random fingerprints in PostgreSQL's binary COPY format.
 *
 *   fingerprints rows BITS ROWS               id int, sig
 *   fingerprints copies BITS ROWS PERCENT     id int, sig: with so many copies
 *   fingerprints families BITS ROWS PERCENT   id int, sig: twenty rows in turn differ by so much
 *   fingerprints queries BITS ROWS QUERIES    id int, sig: near one of the same rows
 *   fingerprints signatures BITS ROWS PERCENT id bigint, minhash: as copies, in no memory
 *
 * 64 bits are written as bigint: rows are uniform, and queries are at distances 0 to 10 in
 * turn.  Other multiples of 8 bits are written as bit(n): nine rows in ten are uniform; the
 * others, and the queries, are copies of a row in which each bit is flipped with
 * probability (1 - J) / 2, with J uniform in [0.5, 1] for rows, and in [0.7, 1] for queries.
 * With a percentage of copies, J is in [0.8, 1].  In a family each two rows differ in so many
 * percent of the bits on average, at most 50, as each is a copy of the same unseen row.
 */
#include <arpa/inet.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISTANCES 11
#define FAMILY 20

static uint64_t state;

/* Returns the next number of SplitMix64. */
static uint64_t
random64(void)
{
	uint64_t x = state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static double
random_between(double low, double high)
{
	return low + (high - low) * (random64() >> 11) / 9007199254740992.0;
}

static void
uniform(uint8_t *row, int bits)
{
	for (int i = 0; i < bits / 8; i++)
		row[i] = random64() >> 56;
}

static void
flip(uint8_t *row, int bit)
{
	row[bit / 8] ^= 0x80 >> bit % 8;
}

/* Flips each bit with the same probability. */
static void
flip_some(uint8_t *row, int bits, double probability)
{
	uint32_t chance = probability * UINT32_MAX;

	for (int i = 0; i < bits; i++)
		if (random64() >> 32 < chance)
			flip(row, i);
}

static void
resemble(uint8_t *row, int bits, double least)
{
	flip_some(row, bits, (1 - random_between(least, 1)) / 2);
}

static void
flip_distinct(uint8_t *row, int bits, int distance)
{
	uint64_t flipped = 0;

	while (distance > 0)
	{
		int bit = random64() % bits;

		if (flipped >> bit & 1)
			continue;
		flipped |= UINT64_C(1) << bit;
		flip(row, bit);
		distance--;
	}
}

/* Makes a row of those in which some percent are copies, each time alike. */
static void
remake_row(uint8_t *row, int bits, uint64_t number, uint64_t percent)
{
	uint64_t after;

	state = number << 32;
	state = random64();
	if (number == 0 || random64() % 100 >= percent)
	{
		uniform(row, bits);
		return;
	}
	after = state;
	remake_row(row, bits, random64() % number, percent);
	state = after + 1;
	resemble(row, bits, 0.8);
}

static uint8_t *
make_rows(int bits, int rows, int percent, double least)
{
	size_t bytes = bits / 8;
	uint8_t *data = malloc(bytes * rows);

	for (int i = 0; data != NULL && i < rows; i++)
	{
		uniform(data + i * bytes, bits);
		if (percent == 0 || i == 0 || random64() % 100 >= (uint64_t) percent)
			continue;
		memcpy(data + i * bytes, data + random64() % i * bytes, bytes);
		resemble(data + i * bytes, bits, least);
	}
	return data;
}

/* Two copies differ in a bit if one of them is flipped and not the other: 2 p (1 - p). */
static uint8_t *
make_families(int bits, int rows, int percent)
{
	size_t bytes = bits / 8;
	double probability = (1 - sqrt(1 - 2 * percent / 100.0)) / 2;
	uint8_t *data = malloc(bytes * rows);
	uint8_t unseen[8192];

	for (int i = 0; data != NULL && i < rows; i++)
	{
		if (i % FAMILY == 0)
			uniform(unseen, bits);
		memcpy(data + i * bytes, unseen, bytes);
		flip_some(data + i * bytes, bits, probability);
	}
	return data;
}

static void
put16(uint16_t x)
{
	x = htons(x);
	fwrite(&x, sizeof(x), 1, stdout);
}

static void
put32(uint32_t x)
{
	x = htonl(x);
	fwrite(&x, sizeof(x), 1, stdout);
}

static void
put_row(uint32_t id, const uint8_t *row, int bits)
{
	put16(2);
	put32(4);
	put32(id);
	if (bits == 64)
		put32(8);
	else
	{
		put32(4 + bits / 8);
		put32(bits);
	}
	fwrite(row, bits / 8, 1, stdout);
}

/* Writes signatures of the scheme foreign, of unknown cardinality. */
static void
put_signatures(int bits, uint32_t rows, uint64_t percent)
{
	uint8_t row[8192];

	for (uint32_t i = 0; i < rows; i++)
	{
		put16(2);
		put32(8);
		put32(0);
		put32(i);
		put32(12 + bits / 8);
		put16(1 << 8 | 8);
		put16(bits);
		put32(0);
		put32(0);
		remake_row(row, bits, i, percent);
		fwrite(row, bits / 8, 1, stdout);
	}
}

static void
put_query(uint32_t id, const uint8_t *row, int bits)
{
	uint8_t query[8192];

	memcpy(query, row, bits / 8);
	if (bits == 64)
		flip_distinct(query, bits, id % DISTANCES);
	else
		resemble(query, bits, 0.7);
	put_row(id, query, bits);
}

int
main(int argc, char **argv)
{
	int bits = argc > 3 ? atoi(argv[2]) : 0;
	int rows = argc > 3 ? atoi(argv[3]) : 0;
	bool copies = argc > 4 && strcmp(argv[1], "copies") == 0;
	bool families = argc > 4 && strcmp(argv[1], "families") == 0;
	bool signatures = argc > 4 && strcmp(argv[1], "signatures") == 0;
	int queries = argc > 4 && !copies && !families && !signatures ? atoi(argv[4]) : 0;
	uint8_t *data = NULL;

	if (bits < 8 || bits > 65536 || bits % 8 != 0 || rows < 1)
	{
		fprintf(stderr,
				"usage: fingerprints rows|queries|copies|families|signatures BITS ROWS "
				"[QUERIES|PERCENT]\n");
		return 2;
	}
	if (!signatures)
	{
		data = families ? make_families(bits, rows, atoi(argv[4])) :
			copies      ? make_rows(bits, rows, atoi(argv[4]), 0.8) :
						  make_rows(bits, rows, bits == 64 ? 0 : 10, 0.5);
		if (data == NULL)
			return 1;
	}
	fwrite("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19, 1, stdout);
	if (signatures)
		put_signatures(bits, rows, atoi(argv[4]));
	for (int i = 0; data != NULL && queries == 0 && i < rows; i++)
		put_row(i, data + (size_t) i * (bits / 8), bits);
	for (int i = 0; i < queries; i++)
		put_query(i, data + (size_t) (random64() % rows) * (bits / 8), bits);
	put16(UINT16_MAX);
	free(data);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
