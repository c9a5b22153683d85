/*
 * scheme.c: names and numbers of shingling schemes.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* The kinds that exist, with their names. */
static const struct
{
	SchemeKind kind;
	const char *name;
	bool reads_text; /* and has a width */
} scheme_kinds[] = {
	{SCHEME_FOREIGN, "foreign", false}, {SCHEME_WORD, "word", true},
	{SCHEME_CHAR, "char", true},        {SCHEME_STOPWORD, "stopword", true},
	{SCHEME_TOKENS, "tokens", false},   {SCHEME_HASHES, "hashes", false},
};

#define KINDS ((int) (sizeof(scheme_kinds) / sizeof(scheme_kinds[0])))

/* Index of a kind, -1 where there is no such kind. */
static int
find_kind(SchemeKind kind)
{
	for (int i = 0; i < KINDS; i++)
		if (scheme_kinds[i].kind == kind)
			return i;
	return -1;
}

bool
scheme_reads_text(SchemeId id)
{
	int i = find_kind(SCHEME_KIND(id));

	return i >= 0 && scheme_kinds[i].reads_text;
}

bool
scheme_is_valid(SchemeId id)
{
	return find_kind(SCHEME_KIND(id)) >= 0 && (SCHEME_WIDTH(id) > 0) == scheme_reads_text(id) &&
		(id & 0xFFFF) == 0;
}

static inline bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Step over blanks, then over a word; returns the length of the word. */
static size_t
next_word(const char **at, const char *end)
{
	const char *start;

	while (*at < end && is_blank(**at))
		(*at)++;
	start = *at;
	while (*at < end && !is_blank(**at))
		(*at)++;
	return *at - start;
}

/* Is the word this name, in any case? */
static bool
is_name(const char *word, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((word[i] >= 'A' && word[i] <= 'Z' ? word[i] + ('a' - 'A') : word[i]) != name[i])
			return false;
	return true;
}

/* Read a width; 0 where the word is none. */
static int
read_width(const char *word, size_t length)
{
	int width = 0;

	for (size_t i = 0; i < length; i++)
	{
		if (word[i] < '0' || word[i] > '9')
			return 0;
		width = width * 10 + (word[i] - '0');
		if (width > SCHEME_WIDTH_MAX)
			return 0;
	}
	return width;
}

bool
scheme_parse(const char *name, size_t length, SchemeId *id)
{
	const char *at = name;
	const char *end = name + length;
	size_t kind_length = next_word(&at, end);
	const char *kind = at - kind_length;
	size_t width_length = next_word(&at, end);
	int width = read_width(at - width_length, width_length);

	/* A second word that is no width must not pass for none. */
	if ((width_length > 0 && width == 0) || next_word(&at, end) > 0)
		return false;
	for (int i = 0; i < KINDS; i++)
		if (is_name(kind, kind_length, scheme_kinds[i].name))
		{
			*id = SCHEME_ID(scheme_kinds[i].kind, width);
			return scheme_is_valid(*id);
		}
	return false;
}

void
scheme_name(SchemeId id, char *name)
{
	int i = find_kind(SCHEME_KIND(id));

	if (i < 0)
		snprintf(name, SCHEME_NAME_SIZE, "unknown %08x", (unsigned) id);
	else if (scheme_reads_text(id))
		snprintf(name, SCHEME_NAME_SIZE, "%s %d", scheme_kinds[i].name, SCHEME_WIDTH(id));
	else
		snprintf(name, SCHEME_NAME_SIZE, "%s", scheme_kinds[i].name);
}
