/*
 * common.c: the longest common substring, in linear time.
 *
 * Both sequences are joined with a separator between them, and their suffixes
 * sorted.  The longest common run begins two neighbours of different origin.
 */
#include "compare/internal.h"

/* The separator occurs once, as does the end; symbols follow. */
#define END 0
#define SEPARATOR 1
#define FIRST_SYMBOL 2

typedef struct Joined
{
	uint32_t *text;
	uint32_t length;
	uint32_t border;  /* where the separator is */
	uint32_t *array;  /* the suffixes in order */
	uint32_t *shared; /* for each suffix, what it shares with the one before it in order */
} Joined;

static void
copy_symbols(uint32_t *to, const Sequence *from)
{
	size_t i;

	for (i = 0; i < from->length; i++)
	{
		check_interrupts_at(i);
		to[i] = from->symbol[i] + FIRST_SYMBOL;
	}
}

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
 * In the order of the text (Karkkainen, Manzini and Puglisi 2009): from one suffix
 * to the next at most one shared symbol is lost.
 */
static void
find_shared(Joined *joined)
{
	uint32_t same = 0;
	uint32_t i;

	/* First, the suffix before each in order. */
	for (i = 1; i < joined->length; i++)
	{
		check_interrupts_at(i);
		joined->shared[joined->array[i]] = joined->array[i - 1];
	}
	/* The end is the least suffix, and has none before it. */
	for (i = 0; i + 1 < joined->length; i++)
	{
		uint32_t before = joined->shared[i];

		check_interrupts_at(i);
		while (joined->text[i + same] == joined->text[before + same])
			check_interrupts_at(++same);
		joined->shared[i] = same;
		same -= same > 0;
	}
	joined->shared[joined->length - 1] = 0;
}

static uint32_t
longest_shared(const Joined *joined)
{
	uint32_t longest = 0;
	uint32_t i;

	for (i = 1; i < joined->length; i++)
	{
		uint32_t at = joined->array[i];
		bool crosses = (at < joined->border) != (joined->array[i - 1] < joined->border);

		check_interrupts_at(i);
		if (crosses && joined->shared[at] > longest)
			longest = joined->shared[at];
	}
	return longest;
}

/* The first place in a that begins a run of this length that b has too. */
static uint32_t
first_place(const Joined *joined, uint32_t longest)
{
	uint32_t first = joined->length;
	uint32_t first_of_group = joined->length;
	bool in_b = false;
	uint32_t i;

	for (i = 1; i <= joined->length; i++)
	{
		bool ends = i == joined->length || joined->shared[joined->array[i]] < longest;
		uint32_t at = joined->array[i - 1];

		check_interrupts_at(i);
		in_b |= at > joined->border;
		if (at < joined->border && at < first_of_group)
			first_of_group = at;
		if (!ends)
			continue;
		if (in_b && first_of_group < first)
			first = first_of_group;
		first_of_group = joined->length;
		in_b = false;
	}
	return first;
}

Common
longest_common_run(const SequencePair *pair)
{
	Common common = {0, 0};
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
