/*
 * markup.c: drop tags, comments, scripts and styles, and decode entities.
 *
 * As browsers do where it matters: nothing is an error, a '<' that begins no tag
 * is a '<', and what is never closed runs to the end.
 */
#include "text/markup.h"

#include <string.h>

#include "text/utf8.h"

#define REPLACEMENT 0xFFFD

/* Asks for interrupts once in so many bytes. */
#define STRIP_STEP 65536

/* What is being read, and what has been written. */
typedef struct Stripper
{
	const char *at;
	const char *end;
	const char *next_check;
	char *out;
	size_t written;
} Stripper;

/* ---- Characters --------------------------------------------------------- */

static inline bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
}

/* Does [at, end) begin with a word in lower case, in whatever case? */
static bool
begins_with(const char *at, const char *end, const char *word)
{
	for (; *word; word++, at++)
		if (at == end || lower(*at) != *word)
			return false;
	return true;
}

/* Where a word first is in [at, end), or end. */
static const char *
find(const char *at, const char *end, const char *word)
{
	for (size_t steps = 1; at < end; at++, steps++)
	{
		if (begins_with(at, end, word))
			return at;
		if (steps % STRIP_STEP == 0)
			host_check_interrupts();
	}
	return end;
}

/* The place behind a word, or end. */
static const char *
find_behind(const char *at, const char *end, const char *word)
{
	at = find(at, end, word);
	return at == end ? end : at + strlen(word);
}

static inline void
put(Stripper *s, char c)
{
	s->out[s->written++] = c;
}

/* What a tag that is no part of a line leaves: one blank, and none at the start. */
static void
put_break(Stripper *s)
{
	if (s->written > 0 && !is_space(s->out[s->written - 1]))
		put(s, ' ');
}

/* ---- Entities ----------------------------------------------------------- */

/* The characters that numbers from 128 to 159 are taken for (Windows-1252). */
static const uint16_t windows_1252[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020,
										  0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
										  0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D,
										  0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
										  0x0153, 0x9D,   0x017E, 0x0178};

/* A number that is no character becomes the replacement character. */
static uint32_t
character_numbered(uint32_t number)
{
	if (number >= 128 && number < 160)
		return windows_1252[number - 128];
	if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
		return REPLACEMENT;
	return number;
}

/* The value of a digit, or base where it is none. */
static uint32_t
digit_value(char c, uint32_t base)
{
	if (is_digit(c))
		return (uint32_t) (c - '0');
	if (base == 16 && lower(c) >= 'a' && lower(c) <= 'f')
		return (uint32_t) (lower(c) - 'a' + 10);
	return base;
}

/* Read digits at *at; 0x110000 for all that is too large.  False for none. */
static bool
read_number(const char **at, const char *end, uint32_t base, uint32_t *number)
{
	const char *start = *at;

	*number = 0;
	for (; *at < end && digit_value(**at, base) < base; (*at)++)
	{
		*number = *number * base + digit_value(**at, base);
		if (*number > 0x10FFFF)
			*number = 0x110000;
	}
	return *at > start;
}

/* The character of an entity that begins at *at, with its '&'; 0 where none does. */
static uint32_t
read_entity(const char **at, const char *end)
{
	const char *start = *at + 1;
	const char *behind = start;
	uint32_t character;

	if (behind < end && *behind == '#')
	{
		bool hexadecimal = ++behind < end && lower(*behind) == 'x';

		behind += hexadecimal;
		if (!read_number(&behind, end, hexadecimal ? 16 : 10, &character))
			return 0;
		character = character_numbered(character);
	}
	else
	{
		while (behind < end && behind - start < 9 && (is_letter(*behind) || is_digit(*behind)))
			behind++;
		character = entity_named(start, behind - start);
	}
	if (character == 0 || behind == end || *behind != ';')
		return 0;
	*at = behind + 1;
	return character;
}

static void
strip_entity(Stripper *s)
{
	uint32_t character = read_entity(&s->at, s->end);

	if (character == 0)
		put(s, *s->at++);
	else
		s->written += utf8_encode(character, (uint8_t *) s->out + s->written);
}

/* ---- Tags --------------------------------------------------------------- */

/* Tags within a line: what they stand between are parts of one word. */
static const char *const inline_tags[] = {"a",    "abbr",   "acronym", "b",    "bdi",  "bdo",
										  "big",  "cite",   "code",    "data", "del",  "dfn",
										  "em",   "font",   "i",       "ins",  "kbd",  "label",
										  "mark", "nobr",   "q",       "s",    "samp", "small",
										  "span", "strike", "strong",  "sub",  "sup",  "time",
										  "tt",   "u",      "var",     "wbr"};

static bool
is_name_end(const char *at, const char *end)
{
	return at == end || is_space(*at) || *at == '/' || *at == '>';
}

static bool
is_named(const char *name, const char *end, const char *wanted)
{
	return begins_with(name, end, wanted) && is_name_end(name + strlen(wanted), end);
}

static bool
is_inline(const char *name, const char *end)
{
	for (size_t i = 0; i < sizeof(inline_tags) / sizeof(inline_tags[0]); i++)
		if (is_named(name, end, inline_tags[i]))
			return true;
	return false;
}

/* The place behind the '>' that closes a tag: a value in quotes may hold others. */
static const char *
behind_tag(const char *at, const char *end)
{
	char quote = '\0';
	bool value = false; /* does a value begin here? */

	for (size_t steps = 1; at < end; at++, steps++)
	{
		if (steps % STRIP_STEP == 0)
			host_check_interrupts();
		if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '>')
			return at + 1;
		else if (value && (*at == '"' || *at == '\''))
			quote = *at;
		value = *at == '=' || (value && is_space(*at));
	}
	return end;
}

/* Drop what a script or a style holds; its closing tag is dropped next. */
static void
drop_content(Stripper *s, const char *closing)
{
	while (s->at < s->end)
	{
		s->at = find(s->at, s->end, closing);
		if (is_name_end(s->at == s->end ? s->end : s->at + strlen(closing), s->end))
			return;
		s->at++;
	}
}

static void
strip_tag(Stripper *s)
{
	bool closing = s->at[1] == '/';
	const char *name = s->at + 1 + closing;

	if (!is_inline(name, s->end))
		put_break(s);
	s->at = behind_tag(name, s->end);
	if (!closing && is_named(name, s->end, "script"))
		drop_content(s, "</script");
	else if (!closing && is_named(name, s->end, "style"))
		drop_content(s, "</style");
}

/* Keep what a section of character data holds, as it is. */
static void
strip_cdata(Stripper *s)
{
	const char *start = s->at + strlen("<![cdata[");
	const char *end = find(start, s->end, "]]>");

	memcpy(s->out + s->written, start, end - start);
	s->written += end - start;
	s->at = end == s->end ? s->end : end + 3;
}

/* A '<' and what it begins. */
static void
strip_markup_at(Stripper *s)
{
	char next = s->end - s->at > 1 ? s->at[1] : ' ';
	char after = s->end - s->at > 2 ? s->at[2] : ' ';

	if (is_letter(next) || (next == '/' && is_letter(after)))
		strip_tag(s);
	else if (begins_with(s->at, s->end, "<!--"))
		s->at = find_behind(s->at + 4, s->end, "-->");
	else if (begins_with(s->at, s->end, "<![cdata["))
		strip_cdata(s);
	else if (next == '!' || next == '?')
		s->at = find_behind(s->at, s->end, ">");
	else
		put(s, *s->at++);
}

size_t
markup_strip(const char *in, size_t length, char *out)
{
	Stripper s = {in, in + length, in, out, 0};

	while (s.at < s.end)
	{
		if (s.at >= s.next_check)
		{
			host_check_interrupts();
			s.next_check = s.end - s.at > STRIP_STEP ? s.at + STRIP_STEP : s.end;
		}
		if (*s.at == '<')
			strip_markup_at(&s);
		else if (*s.at == '&')
			strip_entity(&s);
		else
			put(&s, *s.at++);
	}
	return s.written;
}
