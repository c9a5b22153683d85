/*
 * scheme.c: the names and numbers of shingling schemes.
 */
#include "text/internal.h"

#include <stdio.h>
#include <string.h>

#include "text/ascii.h"

/* What comes after the name of a kind. */
typedef enum SchemeArguments
{
	NO_ARGUMENTS,
	NO_WIDTH, /* a lexicon, or nothing */
	WIDTH,    /* 1 to SCHEME_WIDTH_MAX, and a lexicon or nothing */
	SPOT      /* distance, chain, and a language or lists */
} SchemeArguments;

/* The kinds that exist, with their names. */
static const struct
{
	SchemeKind kind;
	const char *name;
	SchemeArguments arguments;
} scheme_kinds[] = {
	{SCHEME_FOREIGN, "foreign", NO_ARGUMENTS},
	{SCHEME_WORD, "word", WIDTH},
	{SCHEME_CHAR, "char", WIDTH},
	{SCHEME_STOPWORD, "stopword", WIDTH},
	{SCHEME_SPOT, "spot", SPOT},
	{SCHEME_TOKENS, "tokens", NO_WIDTH},
	{SCHEME_HASHES, "hashes", NO_WIDTH},
	{SCHEME_ANYCHAR, "anychar", WIDTH},
	{SCHEME_WEIGHTED, "weighted", NO_ARGUMENTS},
};

#define KINDS ((int) (sizeof(scheme_kinds) / sizeof(scheme_kinds[0])))

/* Returns the index of a kind, -1 if there is no such kind. */
static int
find_kind(SchemeKind kind)
{
	for (int i = 0; i < KINDS; i++)
		if (scheme_kinds[i].kind == kind)
			return i;
	return -1;
}

/*
 * Returns whether a text can be shingled by the scheme alone: its kind is word, char,
 * anychar, stopword, or spot without lists, and it has no lexicon.
 */
bool
scheme_reads_text(SchemeId id)
{
	int i = find_kind(SCHEME_KIND(id));

	if (i < 0)
		return false;
	if (scheme_kinds[i].arguments == WIDTH)
		return SCHEME_VARIANT(id) == 0;
	return scheme_kinds[i].arguments == SPOT && SCHEME_VARIANT(id) < language_count;
}

/*
 * Returns whether lexicons can weigh the elements of such a scheme: it is not spot, foreign or
 * weighted.
 */
bool
scheme_has_lexicons(SchemeId id)
{
	int i = find_kind(SCHEME_KIND(id));

	return i >= 0 && (scheme_kinds[i].arguments == WIDTH || scheme_kinds[i].arguments == NO_WIDTH);
}

/* Returns whether scheme_parse or spot_words_finish can return this number. */
bool
scheme_is_valid(SchemeId id)
{
	int i = find_kind(SCHEME_KIND(id));

	if (i < 0)
		return false;
	switch (scheme_kinds[i].arguments)
	{
		case NO_ARGUMENTS:
			return SCHEME_WIDTH(id) == 0 && SCHEME_VARIANT(id) == 0;
		case NO_WIDTH:
			return SCHEME_WIDTH(id) == 0;
		case WIDTH:
			return SCHEME_WIDTH(id) > 0;
		case SPOT:
			return SCHEME_WIDTH(id) >> 4 > 0 && (SCHEME_WIDTH(id) & SPOT_MAX) > 0 &&
				(SCHEME_VARIANT(id) < language_count || SCHEME_VARIANT(id) >= SPOT_LISTS);
	}
	return false;
}

/* ---- Reading ------------------------------------------------------------- */

/* Moves over blanks, then over a word; returns the length of the word. */
static size_t
next_word(const char **at, const char *end)
{
	const char *start;

	while (*at < end && ascii_is_space(**at))
		(*at)++;
	start = *at;
	while (*at < end && !ascii_is_space(**at))
		(*at)++;
	return *at - start;
}

/* Returns whether a word is this name, in any case. */
static bool
is_name(const char *word, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (ascii_lower(word[i]) != name[i])
			return false;
	return true;
}

/* Reads the next word as a number from 1 to most; returns 0 if it is none. */
static int
scheme_read_number(const char **at, const char *end, int most)
{
	size_t length = next_word(at, end);
	const char *word = *at - length;
	int number = 0;

	for (size_t i = 0; i < length; i++)
	{
		if (!ascii_is_digit(word[i]))
			return 0;
		number = number * 10 + (word[i] - '0');
		if (number > most)
			return 0;
	}
	return number;
}

/* Reads the next word as a number of `digits` hexadecimal digits; returns -1 if it is none. */
static int64_t
read_hexadecimal(const char **at, const char *end, size_t digits)
{
	static const char digit[] = "0123456789abcdef";
	size_t length = next_word(at, end);
	int64_t number = 0;

	if (length != digits)
		return -1;
	for (const char *c = *at - length; c < *at; c++)
	{
		const char *found = memchr(digit, *c, 16);

		if (found == NULL)
			return -1;
		number = number << 4 | (found - digit);
	}
	return number;
}

/*
 * Reads the variant of a spot: nothing, a language, or "lists" and a hash of them.  Returns
 * -1 if it is not valid.
 */
static int
read_variant(const char **at, const char *end)
{
	size_t length = next_word(at, end);
	const char *word = *at - length;
	char code[3] = {0};
	int64_t lists;

	if (length == 0)
		return LANGUAGE_ENGLISH;
	if (is_name(word, length, "lists"))
	{
		lists = read_hexadecimal(at, end, 4);
		return lists < 0 || lists >= SPOT_LISTS ? -1 : SPOT_LISTS | (int) lists;
	}
	if (length != 2)
		return -1;
	code[0] = ascii_lower(word[0]);
	code[1] = ascii_lower(word[1]);
	return language_called(code, 2);
}

/* Reads nothing, or "lexicon" and its number, into *id. */
static bool
read_lexicon(const char **at, const char *end, SchemeId *id)
{
	size_t length = next_word(at, end);
	int64_t number;

	if (length == 0)
		return true;
	if (!is_name(*at - length, length, "lexicon"))
		return false;
	number = read_hexadecimal(at, end, 4);
	if (number <= 0)
		return false;
	*id |= (SchemeId) number;
	return true;
}

/* Reads the numbers of a spot, and what follows them, into *id. */
static bool
read_spot(const char **at, const char *end, SchemeId *id)
{
	int distance = scheme_read_number(at, end, SPOT_MAX);
	int chain = scheme_read_number(at, end, SPOT_MAX);
	int variant = read_variant(at, end);

	if (variant < 0)
		return false;
	*id = SCHEME_SPOT_ID(distance, chain, variant);
	return true;
}

/* Reads what follows the name of a kind; returns false if it is not valid. */
static bool
read_arguments(int kind, const char **at, const char *end, SchemeId *id)
{
	*id = SCHEME_ID(scheme_kinds[kind].kind, 0);
	switch (scheme_kinds[kind].arguments)
	{
		case NO_ARGUMENTS:
			return true;
		case NO_WIDTH:
			return read_lexicon(at, end, id);
		case WIDTH:
			*id = SCHEME_ID(scheme_kinds[kind].kind, scheme_read_number(at, end, SCHEME_WIDTH_MAX));
			return read_lexicon(at, end, id);
		case SPOT:
			return read_spot(at, end, id);
	}
	return false;
}

/*
 * Reads a name such as 'word 3', in any case, with any blanks.  It reads all names that
 * scheme_name writes, including 'foreign', 'tokens', 'hashes', and 'unknown 0a010000' for
 * a number that has no meaning in this version.  Returns false if the name is not valid.
 */
bool
scheme_parse(const char *name, size_t length, SchemeId *id)
{
	const char *at = name;
	const char *end = name + length;
	size_t kind_length = next_word(&at, end);
	const char *kind = at - kind_length;
	int64_t unknown;

	for (int i = 0; i < KINDS; i++)
		if (is_name(kind, kind_length, scheme_kinds[i].name))
			return read_arguments(i, &at, end, id) && next_word(&at, end) == 0 &&
				scheme_is_valid(*id);
	if (!is_name(kind, kind_length, "unknown"))
		return false;
	unknown = read_hexadecimal(&at, end, 8);
	*id = (SchemeId) unknown;
	return unknown >= 0 && next_word(&at, end) == 0 && !scheme_is_valid(*id);
}

/* ---- Writing ------------------------------------------------------------- */

static void
spot_name(SchemeId id, char *name)
{
	int variant = SCHEME_VARIANT(id);
	int length = snprintf(name, SCHEME_NAME_SIZE, "spot %d %d", SCHEME_WIDTH(id) >> 4,
						  SCHEME_WIDTH(id) & SPOT_MAX);

	if (variant >= SPOT_LISTS)
		snprintf(name + length, SCHEME_NAME_SIZE - length, " lists %04x", variant - SPOT_LISTS);
	else if (variant != LANGUAGE_ENGLISH)
		snprintf(name + length, SCHEME_NAME_SIZE - length, " %s", languages[variant].code);
}

/* Writes the canonical name, zero-terminated, into name[SCHEME_NAME_SIZE]. */
void
scheme_name(SchemeId id, char *name)
{
	int i = find_kind(SCHEME_KIND(id));
	int length;

	if (i < 0 || !scheme_is_valid(id))
		snprintf(name, SCHEME_NAME_SIZE, "unknown %08x", (unsigned) id);
	else if (scheme_kinds[i].arguments == SPOT)
		spot_name(id, name);
	else
	{
		length = snprintf(name, SCHEME_NAME_SIZE, "%s", scheme_kinds[i].name);
		if (scheme_kinds[i].arguments == WIDTH)
			length += snprintf(name + length, SCHEME_NAME_SIZE - length, " %d", SCHEME_WIDTH(id));
		if (SCHEME_VARIANT(id) != 0)
			snprintf(name + length, SCHEME_NAME_SIZE - length, " lexicon %04x", SCHEME_VARIANT(id));
	}
}
