/*
 * variant.c: whether two texts have codes that tell them apart, in linear time.
 *
 * The rule of version 1: a code is a token of the recipe with a letter and an ASCII digit, of at
 * least CODE_CHARACTERS characters.  A text has a code if all its tokens, put together without
 * blanks, contain it.  Two texts are variants if each of them has a code that the other has not.
 */
#include "compare/suffix.h"

#include "text/ascii.h"
#include "text/utf8.h"

#define CODE_CHARACTERS 4

/* A code: bytes of the tokens of a text, put together. */
typedef struct Code
{
	uint32_t start;
	uint32_t length;
} Code;

/* The tokens of a text, put together, and the codes among them. */
typedef struct Squeezed
{
	Sequence sequence; /* the bytes of the text */
	size_t room;
	Code *code;
	size_t codes;
	size_t code_room;
	size_t most; /* the most bytes of sequence */
	bool too_long;
} Squeezed;

#define BYTES_MOST ((size_t) INT32_MAX - 1)

/* ---- Codes -------------------------------------------------------------- */

/* Returns whether a token is a code. */
static bool
is_code(const char *token, size_t length)
{
	size_t characters = 0;
	size_t digits = 0;

	for (size_t i = 0; i < length; i++)
	{
		host_check_interrupts_at(i + 1);
		digits += ascii_is_digit(token[i]);
		characters += ((uint8_t) token[i] & 0xC0) != 0x80;
	}
	return characters >= CODE_CHARACTERS && digits > 0 && digits < characters;
}

/* A TokenSink: adds tokens. */
static void
squeeze(void *state, const TokenBatch *batch)
{
	Squeezed *s = state;
	Sequence *made = &s->sequence;

	for (size_t i = 0; i < batch->count && !s->too_long; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		s->too_long = made->length + length > s->most;
		if (s->too_long)
			return;
		if (is_code(token, length))
		{
			s->code = host_grow(s->code, &s->code_room, s->codes + 1, sizeof(Code));
			s->code[s->codes++] = (Code){(uint32_t) made->length, (uint32_t) length};
		}
		made->symbol = host_grow(made->symbol, &s->room, made->length + length, sizeof(uint32_t));
		for (size_t j = 0; j < length; j++)
			made->symbol[made->length++] = (uint8_t) token[j];
	}
}

/* ---- Codes of the other text --------------------------------------------- */

/*
 * Takes the next suffix in either order, which shares `shared` symbols with the one before.  Updates
 * least[], what it shares with the last suffix of each sequence, and returns that of the other one.
 */
static uint32_t
shared_with_other(uint32_t least[2], uint32_t shared, bool in_b)
{
	least[0] = Min(least[0], shared);
	least[1] = Min(least[1], shared);
	least[in_b] = UINT32_MAX;
	return least[!in_b];
}

/* Returns for each place but the end the longest run that the other sequence has, too. */
static uint32_t *
longest_runs(const Joined *joined)
{
	uint32_t *run = host_alloc(joined->length * sizeof(uint32_t));
	uint32_t least[2] = {0, 0};
	uint32_t shared = 0;

	for (uint32_t i = 1; i < joined->length; i++)
	{
		uint32_t at = joined->array[i];

		host_check_interrupts_at(i);
		run[at] = shared_with_other(least, joined->shared[at], at > joined->border);
	}
	least[0] = least[1] = 0;
	for (uint32_t i = joined->length - 1; i > 0; i--)
	{
		uint32_t at = joined->array[i];

		host_check_interrupts_at(i);
		run[at] = Max(run[at], shared_with_other(least, shared, at > joined->border));
		shared = joined->shared[at];
	}
	return run;
}

/* Returns whether a text has a code that is longer than the run at its place. */
static bool
has_own_code(const Squeezed *s, const uint32_t *run)
{
	for (size_t i = 0; i < s->codes; i++)
	{
		host_check_interrupts_at(i + 1);
		if (run[s->code[i].start] < s->code[i].length)
			return true;
	}
	return false;
}

/* Returns whether each of two texts, which have codes, has one that the other has not. */
static bool
codes_differ(const Squeezed *a, const Squeezed *b)
{
	SequencePair pair = {a->sequence, b->sequence, UINT8_MAX + 1, UINT8_MAX + 1};
	Joined joined = join_sequences(&pair);
	uint32_t *run = longest_runs(&joined);
	bool differ = has_own_code(a, run) && has_own_code(b, run + joined.border + 1);

	host_free(run);
	joined_free(&joined);
	return differ;
}

/*
 * Sets *variants to whether two texts are variants of each other.  Returns false if they are too long.
 * Takes linear time, and 20 bytes for each byte of both texts' tokens.
 */
bool
texts_are_variants(const char *a, size_t length_a, const char *b, size_t length_b, bool *variants)
{
	Squeezed x = {.most = BYTES_MOST};
	Squeezed y = {.most = 0};
	bool fits;

	*variants = false;
	tokens_of_text(a, length_a, squeeze, &x);
	y.most = BYTES_MOST - x.sequence.length;
	if (x.codes > 0 && !x.too_long)
		tokens_of_text(b, length_b, squeeze, &y);
	fits = !x.too_long && !y.too_long;
	if (fits && y.codes > 0)
		*variants = codes_differ(&x, &y);
	host_free(x.sequence.symbol);
	host_free(x.code);
	host_free(y.sequence.symbol);
	host_free(y.code);
	return fits;
}
