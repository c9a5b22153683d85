/*
 * suffix.c: suffix arrays in linear time, by induced sorting (Nong, Zhang and
 * Chan 2009).
 *
 * A suffix is small if it is less than the suffix that starts one symbol later, and large
 * if it is greater.  The last suffix, the only one that starts with 0, is small.  A small
 * suffix after a large one is leftmost (the paper's LMS).  The order of the leftmost
 * suffixes gives the order of all: a pass upwards puts the large ones in order, then a pass
 * downwards the small ones.  The leftmost suffixes themselves are sorted by numbering the
 * pieces of text between them, and by the suffix array of these numbers if two pieces are
 * equal.
 */
#include "compare/suffix.h"

#include <string.h>

#define NONE UINT32_MAX

/* The state of sorting the suffixes of a text. */
typedef struct Sorting
{
	const uint32_t *text;
	uint32_t length;
	uint32_t alphabet;
	uint32_t *array;
	uint8_t *small;   /* a bit for each suffix */
	uint32_t *bucket; /* the position where the suffixes of each symbol start or end in the array */
} Sorting;

static inline bool
is_small(const Sorting *s, uint32_t at)
{
	return s->small[at / 8] >> at % 8 & 1;
}

static inline bool
is_leftmost(const Sorting *s, uint32_t at)
{
	return at > 0 && is_small(s, at) && !is_small(s, at - 1);
}

/* Finds the small suffixes. */
static void
find_small(Sorting *s)
{
	uint32_t at = s->length - 1;
	bool small = true;

	memset(s->small, 0, s->length / 8 + 1);
	for (;;)
	{
		host_check_interrupts_at(at);
		if (small)
			s->small[at / 8] |= (uint8_t) (1 << at % 8);
		if (at-- == 0)
			return;
		if (s->text[at] != s->text[at + 1])
			small = s->text[at] < s->text[at + 1];
	}
}

/* Finds where the suffixes of each symbol start in the array, or where they end. */
static void
find_buckets(Sorting *s, bool ends)
{
	uint32_t position = 0;

	memset(s->bucket, 0, s->alphabet * sizeof(uint32_t));
	for (uint32_t i = 0; i < s->length; i++)
	{
		host_check_interrupts_at(i);
		s->bucket[s->text[i]]++;
	}
	for (uint32_t i = 0; i < s->alphabet; i++)
	{
		uint32_t count = s->bucket[i];

		host_check_interrupts_at(i);
		s->bucket[i] = ends ? position + count : position;
		position += count;
	}
}

/* Puts all suffixes in order, given the leftmost ones at the ends of their buckets. */
static void
induce(Sorting *s)
{
	find_buckets(s, false);
	for (uint32_t i = 0; i < s->length; i++)
	{
		uint32_t at = s->array[i];

		host_check_interrupts_at(i);
		if (at != NONE && at > 0 && !is_small(s, at - 1))
			s->array[s->bucket[s->text[at - 1]]++] = at - 1;
	}
	find_buckets(s, true);
	for (uint32_t i = s->length; i-- > 0;)
	{
		uint32_t at = s->array[i];

		host_check_interrupts_at(i);
		if (at != NONE && at > 0 && is_small(s, at - 1))
			s->array[--s->bucket[s->text[at - 1]]] = at - 1;
	}
}

static void
clear(uint32_t *array, uint32_t count)
{
	memset(array, 0xFF, count * sizeof(uint32_t));
}

/* Puts the leftmost suffixes at the ends of their buckets, in the order of the text. */
static void
put_leftmost(Sorting *s)
{
	clear(s->array, s->length);
	find_buckets(s, true);
	for (uint32_t i = 1; i < s->length; i++)
	{
		host_check_interrupts_at(i);
		if (is_leftmost(s, i))
			s->array[--s->bucket[s->text[i]]] = i;
	}
}

/* Puts the leftmost suffixes there in the order of `sorted`, the least first. */
static void
put_leftmost_sorted(Sorting *s, const uint32_t *sorted, uint32_t count)
{
	clear(s->array, s->length);
	find_buckets(s, true);
	for (uint32_t i = count; i-- > 0;)
	{
		host_check_interrupts_at(i);
		s->array[--s->bucket[s->text[sorted[i]]]] = sorted[i];
	}
}

/* Returns whether two pieces, from a leftmost suffix to the next one, are equal. */
static bool
pieces_are_equal(const Sorting *s, uint32_t x, uint32_t y)
{
	for (uint32_t i = 0;; i++)
	{
		bool end_x = i > 0 && is_leftmost(s, x + i);
		bool end_y = i > 0 && is_leftmost(s, y + i);

		host_check_interrupts_at(i + 1);
		/* The last symbol occurs once, so neither runs past the end. */
		if (s->text[x + i] != s->text[y + i] || end_x != end_y)
			return false;
		if (end_x)
			return true;
	}
}

/* Moves the leftmost suffixes to the front of the array, in order; returns how many they are. */
static uint32_t
gather_leftmost(Sorting *s)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->length; i++)
	{
		host_check_interrupts_at(i);
		if (s->array[i] != NONE && is_leftmost(s, s->array[i]))
			s->array[count++] = s->array[i];
	}
	return count;
}

/*
 * Sets number[0, count) to the rank of each piece, in the order of the text.  Meanwhile a
 * rank is kept behind the sorted suffixes, at half the position of its piece, since no two
 * leftmost suffixes are neighbours.  Returns how many distinct pieces there are.
 */
static uint32_t
number_pieces(Sorting *s, uint32_t count, uint32_t *number)
{
	uint32_t *kept = s->array + count;
	uint32_t distinct = 0;
	uint32_t found = 0;

	clear(kept, s->length - count);
	for (uint32_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		if (i == 0 || !pieces_are_equal(s, s->array[i - 1], s->array[i]))
			distinct++;
		kept[s->array[i] / 2] = distinct - 1;
	}
	for (uint32_t i = 0; found < count; i++)
	{
		host_check_interrupts_at(i);
		if (kept[i] != NONE)
			number[found++] = kept[i];
	}
	return distinct;
}

/* Sorts the leftmost suffixes into sorted[0, count), given the numbers of their pieces. */
static void
sort_leftmost(Sorting *s, const uint32_t *number, uint32_t distinct, uint32_t *sorted,
			  uint32_t count)
{
	uint32_t found = 0;

	if (distinct < count)
		suffix_array(number, count, distinct, sorted);
	else
		for (uint32_t i = 0; i < count; i++)
			sorted[number[i]] = i;
	/* Replace numbers of pieces in the text by their positions. */
	for (uint32_t i = 1; i < s->length; i++)
	{
		host_check_interrupts_at(i);
		if (is_leftmost(s, i))
			s->array[found++] = i;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = s->array[sorted[i]];
}

/*
 * Sets array[0, length) to the suffix array of text[0, length).  All symbols are below
 * `alphabet`; the last one is 0, and less than all others (suffix.c).
 */
void
suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array)
{
	Sorting s = {.text = text, .length = length, .alphabet = alphabet, .array = array};
	uint32_t count;
	uint32_t distinct;
	uint32_t *number;
	uint32_t *sorted;

	if (length == 1)
	{
		array[0] = 0;
		return;
	}
	s.small = host_alloc(length / 8 + 1);
	s.bucket = host_alloc(alphabet * sizeof(uint32_t));
	find_small(&s);
	put_leftmost(&s);
	induce(&s);
	count = gather_leftmost(&s);
	number = host_alloc(count * sizeof(uint32_t));
	sorted = host_alloc(count * sizeof(uint32_t));
	distinct = number_pieces(&s, count, number);
	sort_leftmost(&s, number, distinct, sorted, count);
	put_leftmost_sorted(&s, sorted, count);
	induce(&s);
	host_free(number);
	host_free(sorted);
	host_free(s.bucket);
	host_free(s.small);
}
