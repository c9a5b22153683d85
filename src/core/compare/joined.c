/*
 * joined.c: two sequences joined by a separator, and all their suffixes sorted.
 */
#include "compare/suffix.h"

/* The separator and the end occur once; symbols are numbered after them. */
#define END 0
#define SEPARATOR 1
#define FIRST_SYMBOL 2

static void
copy_symbols(uint32_t *to, const Sequence *from)
{
	for (size_t i = 0; i < from->length; i++)
	{
		host_check_interrupts_at(i);
		to[i] = from->symbol[i] + FIRST_SYMBOL;
	}
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

/* Joins two sequences (joined.c). */
Joined
join_sequences(const SequencePair *pair)
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
	find_shared(&joined);
	return joined;
}

/* Frees what join_sequences has made. */
void
joined_free(Joined *joined)
{
	host_free(joined->text);
	host_free(joined->array);
	host_free(joined->shared);
}
