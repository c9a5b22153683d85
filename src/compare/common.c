/*
 * common.c: the longest common substring, in linear time.
 *
 * Both sequences are joined by a separator, and all suffixes are sorted.  The longest
 * common run starts two suffixes that are neighbours and come from different sequences.
 */
#include "compare/internal.h"

/* The separator and the end occur once; symbols are numbered after them. */
#define END 0
#define SEPARATOR 1
#define FIRST_SYMBOL 2

typedef struct Joined
{
	uint32_t *text;
	uint32_t length;
	uint32_t border;  /* the place of the separator */
	uint32_t *array;  /* the suffix array */
	uint32_t *shared; /* symbols that each suffix shares with the one before it in order */
} Joined;

static void
copy_symbols(uint32_t *to, const Sequence *from)
{
	for (size_t i = 0; i < from->length; i++)
	{
		host_check_interrupts_at(i);
		to[i] = from->symbol[i] + FIRST_SYMBOL;
	}
}

/* Joins the sequences and sorts their suffixes. */
static Joined
join(const SequencePair *pair)
{
	Joined joined;

	joined.border = (uint32_t) pair->a.length;
	joined.length = (uint32_t) (pair->a.length + pair->b.length + 2);
	joined.text = host_alloc(joined.length * sizeof(uint32_t));
	copy_symbols(joined.text, &pair->a);
	joined.text[joined.border] = SEPARATOR;
	copy_symbols(joined.text + joined.border + 1, &pair->b);
	joined.text[joined.length - 1] = END;
	joined.array = host_alloc(joined.length * sizeof(uint32_t));
	suffix_array(joined.text, joined.length, pair->alphabet + FIRST_SYMBOL, joined.array);
	joined.shared = host_alloc(joined.length * sizeof(uint32_t));
	return joined;
}

/*
 * Counts the shared symbols in the order of the text (Karkkainen, Manzini and Puglisi
 * 2009): a suffix shares at most one symbol less than the suffix before it in the text.
 */
static void
find_shared(Joined *joined)
{
	uint32_t same = 0;

	/* Until a suffix is counted, shared[] holds the suffix before it in order. */
	for (uint32_t i = 1; i < joined->length; i++)
	{
		host_check_interrupts_at(i);
		joined->shared[joined->array[i]] = joined->array[i - 1];
	}
	/* The end is the first suffix in order. */
	for (uint32_t i = 0; i + 1 < joined->length; i++)
	{
		uint32_t before = joined->shared[i];

		host_check_interrupts_at(i);
		while (joined->text[i + same] == joined->text[before + same])
			host_check_interrupts_at(++same);
		joined->shared[i] = same;
		same -= same > 0;
	}
	joined->shared[joined->length - 1] = 0;
}

static uint32_t
longest_shared(const Joined *joined)
{
	uint32_t longest = 0;

	for (uint32_t i = 1; i < joined->length; i++)
	{
		uint32_t at = joined->array[i];
		bool crosses = (at < joined->border) != (joined->array[i - 1] < joined->border);

		host_check_interrupts_at(i);
		if (crosses)
			longest = Max(longest, joined->shared[at]);
	}
	return longest;
}

/* Returns the first place in a of a run of this length that b has, too. */
static uint32_t
first_place(const Joined *joined, uint32_t longest)
{
	uint32_t first = joined->length;
	uint32_t first_of_group = joined->length;
	bool in_b = false;

	for (uint32_t i = 1; i <= joined->length; i++)
	{
		bool ends = i == joined->length || joined->shared[joined->array[i]] < longest;
		uint32_t at = joined->array[i - 1];

		host_check_interrupts_at(i);
		in_b |= at > joined->border;
		if (at < joined->border)
			first_of_group = Min(at, first_of_group);
		if (!ends)
			continue;
		if (in_b)
			first = Min(first_of_group, first);
		first_of_group = joined->length;
		in_b = false;
	}
	return first;
}

Common
longest_common_run(const SequencePair *pair)
{
	Common common = {0};
	Joined joined;

	if (pair->a.length == 0 || pair->b.length == 0)
		return common;
	joined = join(pair);
	find_shared(&joined);
	common.length = longest_shared(&joined);
	if (common.length > 0)
		common.start = first_place(&joined, (uint32_t) common.length);
	host_free(joined.text);
	host_free(joined.array);
	host_free(joined.shared);
	return common;
}
