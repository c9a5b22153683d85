/*
 * variant.c: whether two texts have codes, or numbers of a unit, that tell them apart, in linear time.
 *
 * The rule of version 1: a code is a token of the recipe with a letter and an ASCII digit, of at
 * least LONG_CODE characters.  A text has a code if all its tokens, put together without blanks,
 * contain it.  Two texts are variants if each of them has a code that the other has not.
 *
 * The rule of version 2: tokens with one of CODE_JOINTS between them are one code, unless one of
 * them is a word, of letters only, longer than PART_LETTERS.  In a text without such a code of
 * LONG_CODE characters, those of SHORT_CODE characters are codes, too.  Two texts are variants also
 * if each has a number of a unit that the other has not, among the units that both have (measure.c).
 */
#include "compare/suffix.h"

#include <string.h>

#include "compare/measure.h"
#include "text/ascii.h"

#define LONG_CODE 4
#define SHORT_CODE 2
#define PART_LETTERS 3
#define CODE_JOINTS "-./"

/* What a token, or tokens that are joined, are made of. */
typedef struct Code
{
	uint32_t start; /* the first of their bytes among those of the text's tokens */
	uint32_t length;
	uint32_t characters;
	uint32_t digits;
} Code;

/* The tokens of a text, put together, and the codes among them. */
typedef struct Squeezed
{
	int version; /* the version of the rule */
	const char *text;
	Sequence sequence; /* the bytes of the text */
	size_t room;
	Code *code;
	size_t codes;
	size_t code_room;
	uint32_t least; /* the characters of the shortest code that counts */
	Code open;      /* the last tokens, which the next may join */
	Code last;      /* the last token */
	uint32_t end;   /* the end of the last token in the text */
	Measures measures;
	size_t most; /* the most bytes of sequence */
	bool too_long;
} Squeezed;

#define BYTES_MOST ((size_t) INT32_MAX - 1)

/* ---- Codes -------------------------------------------------------------- */

/* Returns what a token at the end of the text's bytes is made of. */
static Code
part_of_token(const Squeezed *s, const char *token, size_t length)
{
	Code part = {(uint32_t) s->sequence.length, (uint32_t) length, 0, 0};

	for (size_t i = 0; i < length; i++)
	{
		host_check_interrupts_at(i + 1);
		part.digits += ascii_is_digit(token[i]);
		part.characters += ((uint8_t) token[i] & 0xC0) != 0x80;
	}
	return part;
}

/* Notes the open tokens, which nothing joins any more, if they are a code. */
static void
close_code(Squeezed *s)
{
	Code code = s->open;
	uint32_t least = s->version == 1 ? LONG_CODE : SHORT_CODE;

	if (code.characters < least || code.digits == 0 || code.digits == code.characters)
		return;
	s->code = host_grow(s->code, &s->code_room, s->codes + 1, sizeof(Code));
	s->code[s->codes++] = code;
	if (code.characters >= LONG_CODE)
		s->least = LONG_CODE;
}

/* Returns whether a token may be a part of a code of several. */
static bool
is_part(Code token)
{
	return token.digits > 0 || token.characters <= PART_LETTERS;
}

/* Adds a token, which stands behind `gap`. */
static void
squeeze_token(Squeezed *s, const char *token, size_t length, char gap)
{
	Sequence *made = &s->sequence;
	Code part = part_of_token(s, token, length);

	if (gap != '\0' && strchr(CODE_JOINTS, gap) != NULL && is_part(s->last) && is_part(part))
		s->open = (Code){s->open.start, s->open.length + part.length,
						 s->open.characters + part.characters, s->open.digits + part.digits};
	else
	{
		close_code(s);
		s->open = part;
	}
	s->last = part;
	made->symbol = host_grow(made->symbol, &s->room, made->length + length, sizeof(uint32_t));
	for (size_t j = 0; j < length; j++)
		made->symbol[made->length++] = (uint8_t) token[j];
}

/* A TokenSink: adds tokens. */
static void
squeeze(void *state, const TokenBatch *batch)
{
	Squeezed *s = state;

	for (size_t i = 0; i < batch->count && !s->too_long; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		char gap = '\0';

		s->too_long = s->sequence.length + length > s->most;
		if (s->too_long)
			return;
		if (s->version > 1)
		{
			const SourceRange *position = batch->position + batch->edge[2 * i];

			gap = gap_between(s->text, s->end, position->start);
			s->end = position[length - 1].end;
			measures_take(&s->measures, token, length, gap);
		}
		squeeze_token(s, token, length, gap);
	}
}

/* Reads a text, whose tokens have at most `most` bytes. */
static void
squeeze_text(Squeezed *s, const char *text, size_t length, size_t most)
{
	s->text = text;
	s->most = most;
	s->least = SHORT_CODE;
	if (s->version > 1)
		placed_tokens_of_text(text, length, squeeze, s);
	else
		tokens_of_text(text, length, squeeze, s);
	close_code(s);
}

static void
squeezed_free(Squeezed *s)
{
	host_free(s->sequence.symbol);
	host_free(s->code);
	measures_free(&s->measures);
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

/* Returns for each position but the end the longest run that the other sequence has, too. */
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

/* Returns whether a text has a code that is longer than the run at its position. */
static bool
has_own_code(const Squeezed *s, const uint32_t *run)
{
	for (size_t i = 0; i < s->codes; i++)
	{
		host_check_interrupts_at(i + 1);
		if (s->code[i].characters >= s->least && run[s->code[i].start] < s->code[i].length)
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
 * Sets *variants to whether two texts are variants of each other, by a version of the rule.  Returns
 * false if they are too long.  Takes linear time, and 20 bytes for each byte of both texts' tokens.
 */
bool
texts_are_variants(const char *a, size_t length_a, const char *b, size_t length_b, int version,
				   bool *variants)
{
	Squeezed x = {.version = version};
	Squeezed y = {.version = version};
	bool fits;

	*variants = false;
	squeeze_text(&x, a, length_a, BYTES_MOST);
	if (!x.too_long && (x.codes > 0 || x.measures.count > 0))
		squeeze_text(&y, b, length_b, BYTES_MOST - x.sequence.length);
	fits = !x.too_long && !y.too_long;
	if (fits)
		*variants = measures_differ(&x.measures, &y.measures) ||
			(x.codes > 0 && y.codes > 0 && codes_differ(&x, &y));
	squeezed_free(&x);
	squeezed_free(&y);
	return fits;
}
