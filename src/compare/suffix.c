/*
 * suffix.c: suffix arrays in linear time, by induced sorting (Nong, Zhang and
 * Chan 2009).
 *
 * A suffix is small where it is less than the suffix that begins one symbol
 * later, and large where it is greater; the last one, alone in beginning with 0,
 * is small.  A small suffix after a large one is leftmost.  The order of the
 * leftmost ones gives that of all: sweeping from the least up places the large,
 * sweeping down the small.  The leftmost ones are put in order by naming the
 * pieces between them, and by the suffix array of the names where two are alike.
 */
#include <string.h>

#include "compare/internal.h"

#define NONE UINT32_MAX

/* A text on its way to a suffix array. */
typedef struct Sorting
{
	const uint32_t *text;
	uint32_t length;
	uint32_t alphabet;
	uint32_t *array;
	uint8_t *small;   /* a bit for each suffix */
	uint32_t *bucket; /* for each symbol, where its suffixes begin or end */
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

static void
find_small(Sorting *s)
{
	uint32_t at = s->length - 1;
	bool small = true;

	memset(s->small, 0, s->length / 8 + 1);
	for (;;)
	{
		check_interrupts_at(at);
		if (small)
			s->small[at / 8] |= (uint8_t) (1 << at % 8);
		if (at-- == 0)
			return;
		if (s->text[at] != s->text[at + 1])
			small = s->text[at] < s->text[at + 1];
	}
}

/* Where the suffixes of each symbol begin in the array, or where they end. */
static void
find_buckets(Sorting *s, bool ends)
{
	uint32_t place = 0;
	uint32_t i;

	memset(s->bucket, 0, s->alphabet * sizeof(uint32_t));
	for (i = 0; i < s->length; i++)
	{
		check_interrupts_at(i);
		s->bucket[s->text[i]]++;
	}
	for (i = 0; i < s->alphabet; i++)
	{
		uint32_t count = s->bucket[i];

		check_interrupts_at(i);
		s->bucket[i] = ends ? place + count : place;
		place += count;
	}
}

/* From the leftmost ones that are in the array, at the ends of their buckets, place all others. */
static void
induce(Sorting *s)
{
	uint32_t i;

	find_buckets(s, false);
	for (i = 0; i < s->length; i++)
	{
		uint32_t at = s->array[i];

		check_interrupts_at(i);
		if (at != NONE && at > 0 && !is_small(s, at - 1))
			s->array[s->bucket[s->text[at - 1]]++] = at - 1;
	}
	find_buckets(s, true);
	for (i = s->length; i-- > 0;)
	{
		uint32_t at = s->array[i];

		check_interrupts_at(i);
		if (at != NONE && at > 0 && is_small(s, at - 1))
			s->array[--s->bucket[s->text[at - 1]]] = at - 1;
	}
}

static void
clear(uint32_t *array, uint32_t count)
{
	memset(array, 0xFF, count * sizeof(uint32_t));
}

/* Put the leftmost ones at the ends of their buckets, in the order of the text. */
static void
place_leftmost(Sorting *s)
{
	uint32_t i;

	clear(s->array, s->length);
	find_buckets(s, true);
	for (i = 1; i < s->length; i++)
	{
		check_interrupts_at(i);
		if (is_leftmost(s, i))
			s->array[--s->bucket[s->text[i]]] = i;
	}
}

/* The same in the order given, least first. */
static void
place_leftmost_sorted(Sorting *s, const uint32_t *sorted, uint32_t count)
{
	uint32_t i;

	clear(s->array, s->length);
	find_buckets(s, true);
	for (i = count; i-- > 0;)
	{
		check_interrupts_at(i);
		s->array[--s->bucket[s->text[sorted[i]]]] = sorted[i];
	}
}

/* Are the pieces equal that begin at two leftmost suffixes and end at the next ones? */
static bool
pieces_are_equal(const Sorting *s, uint32_t x, uint32_t y)
{
	uint32_t i;

	for (i = 0;; i++)
	{
		bool end_x = i > 0 && is_leftmost(s, x + i);
		bool end_y = i > 0 && is_leftmost(s, y + i);

		check_interrupts_at(i + 1);
		/* The last symbol occurs once, so that neither runs past the end. */
		if (s->text[x + i] != s->text[y + i] || end_x != end_y)
			return false;
		if (end_x)
			return true;
	}
}

/* Move the leftmost ones of the array to its front, in order; returns how many there are. */
static uint32_t
gather_leftmost(Sorting *s)
{
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < s->length; i++)
	{
		check_interrupts_at(i);
		if (s->array[i] != NONE && is_leftmost(s, s->array[i]))
			s->array[count++] = s->array[i];
	}
	return count;
}

/*
 * Name the pieces by their order, in the order of the text, into name[0, count).
 * No two leftmost suffixes are neighbours: a name is kept at half its place
 * behind the sorted ones meanwhile.  Returns how many names there are.
 */
static uint32_t
name_pieces(Sorting *s, uint32_t count, uint32_t *name)
{
	uint32_t *kept = s->array + count;
	uint32_t names = 0;
	uint32_t found = 0;
	uint32_t i;

	clear(kept, s->length - count);
	for (i = 0; i < count; i++)
	{
		check_interrupts_at(i);
		if (i == 0 || !pieces_are_equal(s, s->array[i - 1], s->array[i]))
			names++;
		kept[s->array[i] / 2] = names - 1;
	}
	for (i = 0; found < count; i++)
	{
		check_interrupts_at(i);
		if (kept[i] != NONE)
			name[found++] = kept[i];
	}
	return names;
}

/* Put the leftmost ones in order, given their names: sorted[0, count). */
static void
sort_names(Sorting *s, const uint32_t *name, uint32_t names, uint32_t *sorted, uint32_t count)
{
	uint32_t found = 0;
	uint32_t i;

	if (names < count)
		suffix_array(name, count, names, sorted);
	else
		for (i = 0; i < count; i++)
			sorted[name[i]] = i;
	/* From numbers in the order of the text to places. */
	for (i = 1; i < s->length; i++)
	{
		check_interrupts_at(i);
		if (is_leftmost(s, i))
			s->array[found++] = i;
	}
	for (i = 0; i < count; i++)
		sorted[i] = s->array[sorted[i]];
}

void
suffix_array(const uint32_t *text, uint32_t length, uint32_t alphabet, uint32_t *array)
{
	Sorting s = {text, length, alphabet, array, NULL, NULL};
	uint32_t count;
	uint32_t names;
	uint32_t *name;
	uint32_t *sorted;

	if (length == 1)
	{
		array[0] = 0;
		return;
	}
	s.small = host_alloc(length / 8 + 1);
	s.bucket = host_alloc(alphabet * sizeof(uint32_t));
	find_small(&s);
	place_leftmost(&s);
	induce(&s);
	count = gather_leftmost(&s);
	name = host_alloc(count * sizeof(uint32_t));
	sorted = host_alloc(count * sizeof(uint32_t));
	names = name_pieces(&s, count, name);
	sort_names(&s, name, names, sorted, count);
	place_leftmost_sorted(&s, sorted, count);
	induce(&s);
	host_free(name);
	host_free(sorted);
	host_free(s.bucket);
	host_free(s.small);
}
