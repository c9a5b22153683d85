/*
 * mask.c: replacing what changes by itself, such as dates and ids, by a blank.
 *
 * The rules of version 1.  A word is a run of letters, digits and marks of Unicode 13.0; a letter
 * of a script without spaces is in none.  A position that a kind describes begins where a word begins and
 * ends where a word ends; digits are ASCII.  If several kinds fit, the first of this list is taken:
 *
 *   url      a scheme and "://", or "www.", up to a blank, a quote, an angle bracket or what is not
 *            ASCII, without punctuation at its end
 *   email    letters, digits and ._%+- up to 64, "@", and a domain with a dot
 *   uuid     8-4-4-4-12 hexadecimal digits
 *   ip       four numbers up to 255 with dots, or an address of version 6 that has a digit
 *   date     2026-11-27, 27.11.2026, 27 Nov 2026, Nov 27, 20261127T0731 and the like, and times such as
 *            07:31:37.5 +00:00, by themselves or behind a date
 *   hex      "0x" and hexadecimal digits, or a word of at least 7 hexadecimal digits, one of them a digit
 *   number   digits, also with points or commas between them
 *   digits   a word with a digit
 *
 * No kind spans lines.
 */
#include "text/mask.h"

#include <string.h>

#include "text/ascii.h"
#include "text/internal.h"

#define EMAIL_LOCAL_MOST 64
#define EMAIL_DOMAIN_MOST 255
#define URL_SCHEME_MOST 32
#define IP_MOST 45
#define HEX_LEAST 7

enum
{
	URL,
	EMAIL,
	UUID,
	IP,
	DATE,
	HEX,
	NUMBER,
	DIGITS
};

const char mask_names[] = "url, email, uuid, ip, date, hex, number, digits";

/* ---- Characters --------------------------------------------------------- */

/* A word: its end, and what it is made of. */
typedef struct MaskWord
{
	const char *end;
	size_t digits;
	size_t hex; /* digits and the letters a to f */
} MaskWord;

static inline bool
is_hex(char c)
{
	return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/* Returns the length of the character at `at` if it belongs to words, else 0. */
static int
word_character(const char *at, const char *end)
{
	uint32_t code_point;
	int length;
	CharClass class;

	if (at == end)
		return 0;
	if ((uint8_t) *at < 0x80)
		return ascii_is_word(*at);
	length = utf8_decode((const uint8_t *) at, end - at, &code_point);
	if (code_point == INVALID_CHARACTER)
		return 0;
	class = CHAR_CLASS(char_info(code_point));
	return class == CHAR_WORD || class == CHAR_MARK ? length : 0;
}

static bool
is_word_end(const char *at, const char *end)
{
	return word_character(at, end) == 0;
}

/* Reads the word at `at`. */
static MaskWord
read_word(const char *at, const char *end)
{
	MaskWord word = {at, 0, 0};
	int length;

	while ((length = word_character(word.end, end)) > 0)
	{
		host_check_interrupts_at(word.end - at + 1);
		word.digits += ascii_is_digit(*word.end);
		word.hex += is_hex(*word.end);
		word.end += length;
	}
	return word;
}

/*
 * The functions below take a position of a text that is not its end, and return the position after what
 * they find there, or NULL.
 */

/* Finds from `least` to `most` digits, and no more. */
static const char *
after_digits(const char *at, const char *end, int least, int most)
{
	int count = 0;

	if (at == NULL)
		return NULL;
	for (; at < end && ascii_is_digit(*at) && count <= most; at++)
		count++;
	return count >= least && count <= most ? at : NULL;
}

/* Finds one of the characters `allowed`; sets *which to it. */
static const char *
after_any(const char *at, const char *end, const char *allowed, char *which)
{
	if (at == NULL || at == end || *at == '\0' || strchr(allowed, *at) == NULL)
		return NULL;
	*which = *at;
	return at + 1;
}

/* Finds a separator that was found before. */
static const char *
after_again(const char *at, const char *end, char separator)
{
	return at != NULL && at < end && *at == separator ? at + 1 : NULL;
}

/* ---- Addresses ----------------------------------------------------------- */

static const char *
after_url(const char *at, const char *end)
{
	const char *start = at;
	const char *stop;

	while (at < end && at - start < URL_SCHEME_MOST &&
		   (ascii_is_word(*at) || *at == '+' || *at == '-'))
		at++;
	if (end - at >= 3 && memcmp(at, "://", 3) == 0)
		at += 3;
	else if (at - start == 3 && at < end && *at == '.' && ascii_lower(start[0]) == 'w' &&
			 ascii_lower(start[1]) == 'w' && ascii_lower(start[2]) == 'w')
		at++;
	else
		return NULL;
	for (stop = at; stop < end && (*stop > ' ') && (*stop < 0x7F) && strchr("\"<>", *stop) == NULL;
		 stop++)
		host_check_interrupts_at(stop - at + 1);
	while (stop > at && !ascii_is_word(stop[-1]) && stop[-1] != '/')
		stop--;
	return stop > at ? stop : NULL;
}

static const char *
after_email(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && at - start <= EMAIL_LOCAL_MOST &&
		   (ascii_is_word(*at) || strchr("._%+-", *at) != NULL) && *at != '\0')
		at++;
	if (at == end || *at != '@' || at - start > EMAIL_LOCAL_MOST)
		return NULL;
	start = ++at;
	while (at < end && at - start <= EMAIL_DOMAIN_MOST &&
		   (ascii_is_word(*at) || ((*at == '.' || *at == '-') && at > start)))
		at++;
	while (at > start && !ascii_is_word(at[-1]))
		at--;
	return memchr(start, '.', at - start) != NULL && at - start <= EMAIL_DOMAIN_MOST &&
			is_word_end(at, end) ?
		at :
		NULL;
}

static const char *
after_uuid(const char *at, const char *end)
{
	static const char shape[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

	for (const char *s = shape; *s; s++, at++)
		if (at == end || (*s == 'h' ? !is_hex(*at) : *at != '-'))
			return NULL;
	return is_word_end(at, end) ? at : NULL;
}

static const char *
after_ip4(const char *at, const char *end)
{
	for (int i = 0; i < 4; i++)
	{
		const char *start = at;
		int number = 0;

		at = after_digits(at, end, 1, 3);
		for (const char *d = start; at != NULL && d < at; d++)
			number = number * 10 + (*d - '0');
		if (at == NULL || number > 255 || (i < 3 && (at == end || *at != '.')))
			return NULL;
		at += i < 3;
	}
	if (end - at >= 2 && *at == '.' && ascii_is_digit(at[1]))
		return NULL;
	return is_word_end(at, end) ? at : NULL;
}

/* Finds groups of hexadecimal digits with colons: eight, or fewer and an empty one. */
static const char *
after_ip6(const char *at, const char *end)
{
	const char *start = at;
	int groups = 0;
	int empty = 0;
	bool digit = false;

	while (at < end && at - start <= IP_MOST && groups + empty <= 8)
	{
		const char *group = at;

		for (; at < end && at - group < 5 && is_hex(*at); at++)
			digit |= ascii_is_digit(*at);
		if (at - group > 4)
			return NULL;
		*(at > group ? &groups : &empty) += 1;
		if (end - at < 2 || *at != ':' || !(is_hex(at[1]) || at[1] == ':'))
			break;
		at++;
	}
	if (!digit || empty > 1 || (empty == 0 ? groups != 8 : groups > 7 || groups < 2))
		return NULL;
	return is_word_end(at, end) ? at : NULL;
}

static const char *
after_ip(const char *at, const char *end)
{
	const char *ip4 = after_ip4(at, end);

	return ip4 != NULL ? ip4 : after_ip6(at, end);
}

/* ---- Dates --------------------------------------------------------------- */

/* Finds an English name of three letters or in full, among names of three that are put together. */
static const char *
after_name(const char *at, const char *end, const char *names)
{
	char name[4] = "";
	const char *found = names;
	int length = 0;

	for (; at < end && length < 10 && ascii_is_word(*at); at++, length++)
		if (length < 3)
			name[length] = ascii_lower(*at);
	while (length >= 3 && *found && memcmp(found, name, 3) != 0)
		found += 3;
	return length >= 3 && length < 10 && *found && is_word_end(at, end) ? at : NULL;
}

static const char *
after_month(const char *at, const char *end)
{
	return at == NULL ? NULL : after_name(at, end, "janfebmaraprmayjunjulaugsepoctnovdec");
}

/* Finds a zone: Z, +01, +0100 or +01:00, also behind a blank. */
static const char *
after_zone(const char *at, const char *end)
{
	char which;
	const char *next = at < end && *at == ' ' ? at + 1 : at;
	const char *minutes;

	if (at < end && *at == 'Z')
		return at + 1;
	at = after_any(next, end, "+-", &which);
	next = after_digits(at, end, 2, 4);
	if (next == NULL || next - at == 3)
		return NULL;
	minutes = next - at == 2 ? after_digits(after_again(next, end, ':'), end, 2, 2) : NULL;
	return minutes != NULL ? minutes : next;
}

/* Finds hours and minutes, then seconds with a fraction, and a zone. */
static const char *
after_time(const char *at, const char *end)
{
	char which;
	const char *next;

	at = after_digits(at, end, 1, 2);
	at = after_digits(after_again(at, end, ':'), end, 2, 2);
	if (at == NULL)
		return NULL;
	next = after_digits(after_again(at, end, ':'), end, 2, 2);
	at = next != NULL ? next : at;
	next = after_digits(after_any(at, end, ".,", &which), end, 1, 9);
	at = next != NULL ? next : at;
	next = after_zone(at, end);
	at = next != NULL && is_word_end(next, end) ? next : at;
	if (end - at >= 2 && *at == ':' && ascii_is_digit(at[1]))
		return NULL;
	return is_word_end(at, end) ? at : NULL;
}

/* Finds a year, a month and a day as numbers, in this order or the other one. */
static const char *
after_numeric_date(const char *at, const char *end)
{
	const char *first = after_digits(at, end, 1, 4);
	bool year = first != NULL && first - at == 4;
	const char *next;
	char separator = '\0';

	if (first == NULL || first - at == 3)
		return NULL;
	next = after_any(first, end, "-/.", &separator);
	next = after_again(after_digits(next, end, 1, 2), end, separator);
	first = next;
	next = after_digits(next, end, year ? 1 : 2, year ? 2 : 4);
	if (next == NULL || next - first == 3)
		return NULL;
	return end - next >= 2 && *next == separator && ascii_is_digit(next[1]) ? NULL : next;
}

/* Finds 27 Nov 2026 or 27/Nov/2026. */
static const char *
after_day_first(const char *at, const char *end)
{
	char separator = '\0';
	const char *next =
		after_month(after_any(after_digits(at, end, 1, 2), end, " -/", &separator), end);

	return after_digits(after_again(next, end, separator), end, 4, 4);
}

/* Finds Nov 27, 2026 or Nov 27, also with two blanks. */
static const char *
after_month_first(const char *at, const char *end)
{
	char which;
	const char *day = after_any(after_month(at, end), end, " ", &which);
	const char *year;

	if (day != NULL && day < end && *day == ' ')
		day++;
	day = after_digits(day, end, 1, 2);
	if (day == NULL)
		return NULL;
	year = day < end && *day == ',' ? day + 1 : day;
	year = after_digits(after_any(year, end, " ", &which), end, 4, 4);
	return year != NULL && is_word_end(year, end) ? year : day;
}

/* Finds 20261127T0731 or 20261127T073137. */
static const char *
after_compact_date(const char *at, const char *end)
{
	char which;
	const char *time = after_any(after_digits(at, end, 8, 8), end, "T", &which);
	const char *next = after_digits(time, end, 4, 6);

	if (next == NULL || next - time == 5)
		return NULL;
	return next < end && *next == 'Z' ? next + 1 : next;
}

/* Finds a date, and a time behind it. */
static const char *
after_date(const char *at, const char *end)
{
	static const char *(*const forms[])(const char *,
										const char *) = {after_compact_date, after_numeric_date,
														 after_day_first, after_month_first};
	const char *date = NULL;
	const char *time;
	char which;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && date == NULL; i++)
		date = forms[i](at, end);
	if (date == NULL)
		return after_time(at, end);
	time = after_any(date, end, "T :", &which);
	time = time == NULL || time == end ? NULL : after_time(time, end);
	if (time != NULL)
		return time;
	return is_word_end(date, end) ? date : NULL;
}

/* ---- Words --------------------------------------------------------------- */

static const char *
after_hex(const char *at, const MaskWord *word)
{
	size_t length = word->end - at;
	bool prefixed = length > 2 && at[0] == '0' && ascii_lower(at[1]) == 'x';

	return (prefixed && word->hex == length - 1) ||
			(word->hex == length && length >= HEX_LEAST && word->digits > 0) ?
		word->end :
		NULL;
}

static const char *
after_number(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && ascii_is_digit(*at))
	{
		for (; at < end && ascii_is_digit(*at); at++)
			host_check_interrupts_at(at - start + 1);
		if (end - at < 2 || (*at != '.' && *at != ',') || !ascii_is_digit(at[1]))
			return is_word_end(at, end) ? at : NULL;
		at++;
	}
	return NULL;
}

/* ---- Kinds --------------------------------------------------------------- */

/* Returns the number of a kind in mask_names, or -1. */
static int
kind_called(const char *name, size_t length)
{
	int number = 0;

	for (const char *at = mask_names; *at; number++)
	{
		size_t named = strcspn(at, ",");

		if (named == length && memcmp(at, name, length) == 0)
			return number;
		at += named + 2 * (at[named] != '\0');
	}
	return -1;
}

/* Reads a list of kinds, with commas between them; returns false if it names another one, or none. */
bool
mask_parse(const char *list, size_t length, unsigned *kinds)
{
	const char *end = list + length;

	*kinds = 0;
	for (const char *at = list;; at++)
	{
		const char *stop = at < end ? memchr(at, ',', end - at) : NULL;
		const char *name = at;
		int kind;

		at = stop != NULL ? stop : end;
		stop = at;
		while (name < stop && *name == ' ')
			name++;
		while (stop > name && stop[-1] == ' ')
			stop--;
		kind = kind_called(name, stop - name);
		if (kind < 0)
			return false;
		*kinds |= 1u << kind;
		if (at == end)
			return true;
	}
}

/* Returns the position after what is masked at the beginning of a word, or NULL. */
static const char *
after_masked(const char *at, const char *end, const MaskWord *word, unsigned kinds)
{
	static const char *(*const finders[])(const char *, const char *) = {
		[URL] = after_url, [EMAIL] = after_email, [UUID] = after_uuid,
		[IP] = after_ip,   [DATE] = after_date,
	};
	const char *found = NULL;

	for (int kind = URL; kind <= DATE && found == NULL; kind++)
		if (kinds >> kind & 1)
			found = finders[kind](at, end);
	if (found == NULL && (kinds >> HEX & 1))
		found = after_hex(at, word);
	if (found == NULL && (kinds >> NUMBER & 1))
		found = after_number(at, end);
	return found == NULL && (kinds >> DIGITS & 1) && word->digits > 0 ? word->end : found;
}

/* Returns whether the text written so far ends within what is no address or date, such as 1.2.3.4.5. */
static bool
ends_inside(const char *out, size_t written)
{
	char last = written > 1 ? out[written - 1] : ' ';

	return (last == '.' || last == ':') &&
		(ascii_is_digit(out[written - 2]) || out[written - 2] == ':');
}

/*
 * Writes [in, in + length) to out, which has room for length bytes and may be `in`; each position of one of the
 * kinds becomes a blank, or nothing behind a blank.  Returns how many bytes it has written.  Takes
 * linear time.  Any input is accepted, and valid UTF-8 remains valid.
 */
size_t
mask_text(const char *in, size_t length, unsigned kinds, char *out)
{
	const char *at = in;
	const char *end = in + length;
	size_t written = 0;

	for (size_t step = 1; at < end; step++)
	{
		MaskWord word = read_word(at, end);
		unsigned here = ends_inside(out, written) ? kinds & ~(1u << IP | 1u << DATE) : kinds;
		const char *found = word.end > at ? after_masked(at, end, &word, here) : NULL;
		size_t kept = Max(word.end - at, 1);

		host_check_interrupts_at(step);
		if (found != NULL && (written == 0 || !ascii_is_space(out[written - 1])))
			out[written++] = ' ';
		if (found == NULL)
		{
			memmove(out + written, at, kept);
			written += kept;
		}
		at = found != NULL ? found : at + kept;
	}
	return written;
}
