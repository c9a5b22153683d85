/*
 * markup.c: removing tags, comments, scripts and styles, and decoding entities.
 *
 * As in browsers, nothing is an error: a '<' that starts no tag is a '<', and a construct
 * that is not closed ends with the text.
 */
#include "text/markup.h"

#include <string.h>

#include "text/ascii.h"
#include "text/utf8.h"

#define REPLACEMENT 0xFFFD

/* What is read, and what is written. */
typedef struct Stripper
{
	const char *at;
	const char *end;
	char *out;
	size_t written;
} Stripper;

/* ---- Characters --------------------------------------------------------- */

static inline bool
is_letter(char c)
{
	return ascii_is_word(c) && !ascii_is_digit(c);
}

/* Returns whether [at, end) starts with a word, given in lower case, in any case. */
static bool
starts_with(const char *at, const char *end, const char *word)
{
	for (; *word; word++, at++)
		if (at == end || ascii_lower(*at) != *word)
			return false;
	return true;
}

/* Returns the first position of a word in [at, end), or end. */
static const char *
find(const char *at, const char *end, const char *word)
{
	for (size_t steps = 1; at < end; at++, steps++)
	{
		if (starts_with(at, end, word))
			return at;
		host_check_interrupts_at(steps);
	}
	return end;
}

/* Returns the position after the first occurrence of a word, or end. */
static const char *
find_after(const char *at, const char *end, const char *word)
{
	at = find(at, end, word);
	return at == end ? end : at + strlen(word);
}

static inline void
markup_put(Stripper *s, char c)
{
	s->out[s->written++] = c;
}

/* ---- Entities ----------------------------------------------------------- */

/* The characters of the numbers 128 to 159, which browsers read as Windows-1252. */
static const uint16_t windows_1252[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020,
										  0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
										  0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D,
										  0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
										  0x0153, 0x9D,   0x017E, 0x0178};

/* Returns the character of a number, the replacement character if it has none. */
static uint32_t
character_numbered(uint32_t number)
{
	if (number >= 128 && number < 160)
		return windows_1252[number - 128];
	if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
		return REPLACEMENT;
	return number;
}

/* Returns the value of a digit, or base if it is none. */
static uint32_t
markup_digit_value(char c, uint32_t base)
{
	if (ascii_is_digit(c))
		return (uint32_t) (c - '0');
	if (base == 16 && ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f')
		return (uint32_t) (ascii_lower(c) - 'a' + 10);
	return base;
}

/* Reads digits at *at, as 0x110000 if the number is too large.  Returns false for none. */
static bool
markup_read_number(const char **at, const char *end, uint32_t base, uint32_t *number)
{
	const char *start = *at;

	*number = 0;
	for (; *at < end && markup_digit_value(**at, base) < base; (*at)++)
	{
		*number = *number * base + markup_digit_value(**at, base);
		if (*number > 0x10FFFF)
			*number = 0x110000;
	}
	return *at > start;
}

/*
 * Returns the character of the entity whose '&' is at *at, and moves *at behind the entity;
 * 0 if there is none.
 */
static uint32_t
read_entity(const char **at, const char *end)
{
	const char *start = *at + 1;
	const char *behind = start;
	uint32_t character;

	if (behind < end && *behind == '#')
	{
		bool hexadecimal = ++behind < end && ascii_lower(*behind) == 'x';

		behind += hexadecimal;
		if (!markup_read_number(&behind, end, hexadecimal ? 16 : 10, &character))
			return 0;
		character = character_numbered(character);
	}
	else
	{
		while (behind < end && behind - start < 9 && ascii_is_word(*behind))
			behind++;
		character = entity_named(start, behind - start);
	}
	if (character == 0 || behind == end || *behind != ';')
		return 0;
	*at = behind + 1;
	return character;
}

/* Writes the character of an entity, or its '&' if it is none. */
static void
strip_entity(Stripper *s)
{
	uint32_t character = read_entity(&s->at, s->end);

	if (character == 0)
		markup_put(s, *s->at++);
	else
		s->written += utf8_encode(character, (uint8_t *) s->out + s->written);
}

/* ---- Tags --------------------------------------------------------------- */

/* Tags within a line, which do not separate words. */
static const char *const inline_tags[] = {"a",    "abbr",   "acronym", "b",    "bdi",  "bdo",
										  "big",  "cite",   "code",    "data", "del",  "dfn",
										  "em",   "font",   "i",       "ins",  "kbd",  "label",
										  "mark", "nobr",   "q",       "s",    "samp", "small",
										  "span", "strike", "strong",  "sub",  "sup",  "time",
										  "tt",   "u",      "var",     "wbr"};

static bool
is_name_end(const char *at, const char *end)
{
	return at == end || ascii_is_space(*at) || *at == '/' || *at == '>';
}

static bool
is_named(const char *name, const char *end, const char *wanted)
{
	return starts_with(name, end, wanted) && is_name_end(name + strlen(wanted), end);
}

static bool
is_inline(const char *name, const char *end)
{
	for (size_t i = 0; i < sizeof(inline_tags) / sizeof(inline_tags[0]); i++)
		if (is_named(name, end, inline_tags[i]))
			return true;
	return false;
}

/* Returns the position after the '>' that closes a tag, and is not in a value in quotes. */
static const char *
after_tag(const char *at, const char *end)
{
	char quote = '\0';
	bool value = false; /* a value may start here */

	for (size_t steps = 1; at < end; at++, steps++)
	{
		host_check_interrupts_at(steps);
		if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '>')
			return at + 1;
		else if (value && (*at == '"' || *at == '\''))
			quote = *at;
		value = *at == '=' || (value && ascii_is_space(*at));
	}
	return end;
}

/* Moves behind the content of a script or a style, to its closing tag. */
static void
skip_content(Stripper *s, const char *closing)
{
	while (s->at < s->end)
	{
		s->at = find(s->at, s->end, closing);
		if (is_name_end(s->at == s->end ? s->end : s->at + strlen(closing), s->end))
			return;
		s->at++;
	}
}

/* Removes a tag, and the content of a script or a style. */
static void
strip_tag(Stripper *s)
{
	bool closing = s->at[1] == '/';
	const char *name = s->at + 1 + closing;

	/* A tag that breaks a line leaves one blank, and none at the start. */
	if (!is_inline(name, s->end) && s->written > 0 && !ascii_is_space(s->out[s->written - 1]))
		markup_put(s, ' ');
	s->at = after_tag(name, s->end);
	if (!closing && is_named(name, s->end, "script"))
		skip_content(s, "</script");
	else if (!closing && is_named(name, s->end, "style"))
		skip_content(s, "</style");
}

/* Copies the content of a section of character data. */
static void
strip_cdata(Stripper *s)
{
	const char *start = s->at + strlen("<![cdata[");
	const char *end = find(start, s->end, "]]>");

	memcpy(s->out + s->written, start, end - start);
	s->written += end - start;
	s->at = end == s->end ? s->end : end + 3;
}

/* Removes what a '<' starts, or writes the '<'. */
static void
strip_markup_at(Stripper *s)
{
	char next = s->end - s->at > 1 ? s->at[1] : ' ';
	char after = s->end - s->at > 2 ? s->at[2] : ' ';

	if (is_letter(next) || (next == '/' && is_letter(after)))
		strip_tag(s);
	else if (starts_with(s->at, s->end, "<!--"))
		s->at = find_after(s->at + 4, s->end, "-->");
	else if (starts_with(s->at, s->end, "<![cdata["))
		strip_cdata(s);
	else if (next == '!' || next == '?')
		s->at = find_after(s->at, s->end, ">");
	else
		markup_put(s, *s->at++);
}

/*
 * Writes [in, in + length) without its markup to out, which has room for length bytes;
 * returns how many bytes it has written.  Takes linear time.  Any input is accepted, and
 * valid UTF-8 remains valid.
 */
size_t
markup_strip(const char *in, size_t length, char *out)
{
	Stripper s = {.at = in, .end = in + length, .out = out};

	while (s.at < s.end)
	{
		const char *stop = s.at + Min(s.end - s.at, STEPS_BETWEEN_CHECKS);

		host_check_interrupts();
		while (s.at < stop && *s.at != '<' && *s.at != '&')
			markup_put(&s, *s.at++);
		if (s.at < stop && *s.at == '<')
			strip_markup_at(&s);
		else if (s.at < stop)
			strip_entity(&s);
	}
	return s.written;
}
