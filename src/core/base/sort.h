/*
 * sort.h: the sort of large arrays, and the search in sorted ones, for all layers.
 *
 * qsort does not answer to cancel, and its time or memory may get out of hand.  This sort
 * moves records in place by the bytes of a key, from the highest that differs (McIlroy,
 * Bostic and McIlroy 1993: American flag sort), so each is moved at most eight times
 * whatever the keys are.  It is not stable.
 */
#ifndef NEARDUP_BASE_SORT_H
#define NEARDUP_BASE_SORT_H

#include <string.h>

#include "base/host.h"

/* Returns a record's key; records are sorted by it, ascending. */
typedef uint64_t (*SortKey)(const void *record);

/*
 * Moves `low` on to the first number for which `before` is false, an expression of `middle`, or to `high`,
 * if it is true for all below that.  Once it is false, it stays so.
 */
#define SEARCH_SORTED(low, high, before) \
	do \
	{ \
		__typeof__(low) search_end = (high); \
\
		while ((low) < search_end) \
		{ \
			__typeof__(low) middle = (low) + (search_end - (low)) / 2; \
\
			if (before) \
				(low) = middle + 1; \
			else \
				search_end = middle; \
		} \
	} while (0)

#define SORT_INLINE static inline __attribute__((always_inline))

/* The most bytes of a record. */
#define SORT_RECORD_MAX 64

/* Up to this many records an insertion sort is the fastest. */
#define SORT_FEW 96

/* A run of records in parts, by a byte of their keys. */
typedef struct SortRun
{
	char *start;
	unsigned part;   /* the next part to be sorted */
	size_t sorted;   /* records before that part */
	size_t end[256]; /* the end of each part, in records */
	int byte;
} SortRun;

/* SortKeys of numbers of 64 bits, in unsigned and in signed order. */
SORT_INLINE uint64_t
sort_key_unsigned(const void *record)
{
	return *(const uint64_t *) record;
}

SORT_INLINE uint64_t
sort_key_signed(const void *record)
{
	return *(const uint64_t *) record ^ (uint64_t) 1 << 63;
}

/* A SortKey of numbers of 32 bits, or of records that begin with one. */
SORT_INLINE uint64_t
sort_key_32(const void *record)
{
	return *(const uint32_t *) record;
}

/* A SortKey of a record that begins with two numbers of 32 bits: the first, then the second. */
SORT_INLINE uint64_t
sort_key_pair(const void *record)
{
	uint32_t pair[2];

	memcpy(pair, record, sizeof(pair));
	return (uint64_t) pair[0] << 32 | pair[1];
}

SORT_INLINE void
sort_few(char *start, size_t count, size_t size, SortKey key)
{
	for (char *next = start + size; next < start + count * size; next += size)
	{
		uint64_t moving[SORT_RECORD_MAX / 8];
		uint64_t moving_key = key(next);
		char *to = next;

		memcpy(moving, next, size);
		for (; to > start && key(to - size) > moving_key; to -= size)
			memcpy(to, to - size, size);
		memcpy(to, moving, size);
	}
}

/* Returns the highest byte, `highest` or below, that differs among keys; -1 if none does. */
SORT_INLINE int
sort_differing_byte(const char *start, size_t count, size_t size, SortKey key, int highest)
{
	uint64_t first = key(start);
	uint64_t differing = 0;

	for (size_t i = 1; i < count && differing >> 8 * highest == 0; i++)
	{
		host_check_interrupts_at(i);
		differing |= key(start + i * size) ^ first;
	}
	return differing == 0 ? -1 : (63 - __builtin_clzll(differing)) / 8;
}

SORT_INLINE unsigned
sort_part(const void *record, SortKey key, int byte)
{
	return key(record) >> 8 * byte & 0xFF;
}

/* Moves each record of a run into its part, by following cycles. */
SORT_INLINE void
sort_distribute(SortRun *run, size_t count, size_t size, SortKey key)
{
	char *start = run->start;
	size_t next[256] = {0};
	size_t position = 0;
	size_t moves = 0;

	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		next[sort_part(start + i * size, key, run->byte)]++;
	}
	for (unsigned part = 0; part < 256; part++)
	{
		size_t records = next[part];

		next[part] = position;
		position += records;
		run->end[part] = position;
	}
	for (unsigned part = 0; part < 256; part++)
		while (next[part] < run->end[part])
		{
			uint64_t moving[SORT_RECORD_MAX / 8];
			unsigned home;

			host_check_interrupts_at(++moves);
			memcpy(moving, start + next[part] * size, size);
			while ((home = sort_part(moving, key, run->byte)) != part)
			{
				uint64_t displaced[SORT_RECORD_MAX / 8];
				char *to = start + next[home]++ * size;

				memcpy(displaced, to, size);
				memcpy(to, moving, size);
				memcpy(moving, displaced, size);
				host_check_interrupts_at(++moves);
			}
			memcpy(start + next[part]++ * size, moving, size);
		}
}

/* Sorts the next parts of a run up to one of many records; returns their number, 0 at the end. */
SORT_INLINE size_t
sort_parts(SortRun *run, char **many, size_t size, SortKey key)
{
	size_t begin = run->sorted;
	unsigned part = run->part;
	size_t count = 0;

	for (; part < 256 && count <= SORT_FEW; part++)
	{
		size_t end = run->end[part];

		count = end - begin;
		*many = run->start + begin * size;
		if (count > 1 && count <= SORT_FEW)
			sort_few(*many, count, size, key);
		begin = end;
	}
	run->sorted = begin;
	run->part = part;
	return count > SORT_FEW ? count : 0;
}

/* Sorts `count` records of `size` bytes, at most SORT_RECORD_MAX, by their keys. */
SORT_INLINE void
sort_records(void *records, size_t count, size_t size, SortKey key)
{
	SortRun runs[8];
	int depth = 0;
	size_t steps = 0;
	char *start = records;

	if (count <= SORT_FEW)
		sort_few(start, count, size, key);
	while (count > SORT_FEW)
	{
		int highest = depth == 0 ? 7 : runs[depth - 1].byte - 1;
		int byte = highest < 0 ? -1 : sort_differing_byte(start, count, size, key, highest);

		if (byte >= 0)
		{
			SortRun *run = &runs[depth++];

			run->start = start;
			run->byte = byte;
			run->sorted = run->part = 0;
			sort_distribute(run, count, size, key);
		}
		host_count_steps(&steps, count);
		count = 0;
		while (depth > 0 && (count = sort_parts(&runs[depth - 1], &start, size, key)) == 0)
			depth--;
	}
}

/* Sorts records by one key, and records with equal keys by another. */
SORT_INLINE void
sort_records_twice(void *records, size_t count, size_t size, SortKey key, SortKey then)
{
	char *record = records;

	sort_records(records, count, size, key);
	for (size_t start = 0, end; start < count; start = end)
	{
		uint64_t same = key(record + start * size);

		for (end = start + 1; end < count && key(record + end * size) == same; end++)
			host_check_interrupts_at(end);
		sort_records(record + start * size, end - start, size, then);
	}
}

#endif
