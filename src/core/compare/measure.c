/*
 * measure.c: numbers of a unit in a text, for variant.c.
 *
 * A measure is a number and one of UNITS, in one token or behind a blank or a hyphen.  A point or
 * comma between digits begins a fraction, but a comma before just three digits divides thousands.
 * The list of units is a part of the rule of version 2, and does not change.
 */
#include "compare/measure.h"

#include <string.h>

#include "base/sort.h"
#include "text/ascii.h"

/* The spellings of each unit, with blanks around them. */
static const char *const UNITS[] = {
	" ml ",
	" cl ",
	" dl ",
	" l ltr litre litres liter liters ",
	" oz ounce ounces ",
	" lb lbs ",
	" mg ",
	" g gr gm gram grams gramm ",
	" kg kgs kilo kilos ",
	" mm ",
	" cm ",
	" m metre metres meter meters ",
	" km ",
	" inch inches zoll ",
	" ft feet foot ",
	" kb ",
	" mb ",
	" gb ",
	" tb ",
	" mbps ",
	" gbps ",
	" mah ",
	" wh ",
	" kwh ",
	" w watt watts ",
	" kw ",
	" v volt volts ",
	" hz ",
	" khz ",
	" mhz ",
	" ghz ",
	" rpm ",
	" dpi ",
	" ppm ",
	" db ",
	" mp megapixel megapixels ",
	" ct count ",
	" pc pcs piece pieces ",
	" pk pack packs ",
	" port ports ",
	" sheet sheets ",
};

#define UNIT_COUNT (sizeof(UNITS) / sizeof(UNITS[0]))
#define UNIT_LETTERS 10 /* the letters of the longest spelling */
#define WHOLE_DIGITS 12
#define FRACTION_DIGITS 4
#define UNIT_SHIFT 56 /* 10^16 is less than 2^56 */

/* ---- Reading ------------------------------------------------------------ */

/*
 * Returns what stands between two tokens, at bytes [end, start) of a text: a blank for blanks of
 * any kind and number, a single ASCII character, or 0 for anything else.
 */
char
gap_between(const char *text, uint32_t end, uint32_t start)
{
	uint32_t at = end;

	while (at < start)
	{
		host_check_interrupts_at(at - end + 1);
		if (ascii_is_space(text[at]))
			at++;
		else if (start - at > 1 && memcmp(text + at, "\xC2\xA0", 2) == 0) /* no-break space */
			at += 2;
		else if (start - at > 2 && memcmp(text + at, "\xE2\x80\xAF", 3) == 0) /* a narrow one */
			at += 3;
		else
			return start - end == 1 ? text[at] : '\0';
	}
	return end < start ? ' ' : '\0';
}

/* Returns the number of a unit from 1 on, or 0 if a word is none. */
static unsigned
unit_number(const char *word, size_t length)
{
	char name[UNIT_LETTERS + 3] = " ";

	if (length == 0 || length > UNIT_LETTERS)
		return 0;
	memcpy(name + 1, word, length);
	strcpy(name + 1 + length, " ");
	for (unsigned i = 0; i < UNIT_COUNT; i++)
		if (strstr(UNITS[i], name) != NULL)
			return i + 1;
	return 0;
}

/* Adds the open number with a unit, if there is one. */
static void
add_measure(Measures *m, unsigned unit)
{
	uint64_t number = m->number;

	if (unit == 0)
		return;
	for (int i = m->fraction; i < FRACTION_DIGITS; i++)
		number *= 10;
	m->key = host_grow(m->key, &m->room, m->count + 1, sizeof(uint64_t));
	m->key[m->count++] = (uint64_t) unit << UNIT_SHIFT | number;
}

/* Takes `count` digits, which stand behind `gap`, as a number or as more of it. */
static void
take_digits(Measures *m, const char *digit, size_t count, char gap)
{
	bool thousands = gap == ',' && count == 3 && !m->point;

	if (!m->open || (gap != '.' && gap != ',') || (m->point && !thousands))
	{
		m->number = 0;
		m->digits = m->fraction = 0;
		m->point = false;
	}
	else if (!thousands)
		m->point = true;
	m->open = true;
	for (size_t i = 0; i < count && m->open; i++)
	{
		m->number = 10 * m->number + (uint64_t) (digit[i] - '0');
		m->fraction += m->point;
		m->digits++;
		m->open = m->fraction <= FRACTION_DIGITS && m->digits - m->fraction <= WHOLE_DIGITS;
	}
}

/* Takes the next token of a text, which stands behind `gap`. */
void
measures_take(Measures *m, const char *token, size_t length, char gap)
{
	size_t digits = 0;

	while (digits < length && ascii_is_digit(token[digits]))
		host_check_interrupts_at(++digits);
	if (digits > 0)
		take_digits(m, token, digits, gap);
	if (digits == length)
		return;
	if (m->open && (digits > 0 || gap == ' ' || gap == '-'))
		add_measure(m, unit_number(token + digits, length - digits));
	m->open = false;
}

/* ---- Comparing ---------------------------------------------------------- */

/* Sorts measures, and leaves each once. */
static void
sort_measures(Measures *m)
{
	size_t kept = 0;

	if (m->count == 0)
		return;
	sort_records(m->key, m->count, sizeof(uint64_t), sort_key_unsigned);
	for (size_t i = 0; i < m->count; i++)
		if (kept == 0 || m->key[kept - 1] != m->key[i])
			m->key[kept++] = m->key[i];
	m->count = kept;
}

/* Returns the unit of the measure at a position, or one above all behind the last. */
static uint64_t
unit_at(const Measures *m, size_t i)
{
	return i < m->count ? m->key[i] >> UNIT_SHIFT : UNIT_COUNT + 1;
}

/* Returns whether each of two texts has a number of a unit, which both have, that the other has not. */
bool
measures_differ(Measures *a, Measures *b)
{
	size_t i = 0;
	size_t j = 0;

	sort_measures(a);
	sort_measures(b);
	while (i < a->count && j < b->count)
	{
		uint64_t unit = Min(unit_at(a, i), unit_at(b, j));
		bool both = unit_at(a, i) == unit_at(b, j);
		size_t own_a = 0;
		size_t own_b = 0;

		while (unit_at(a, i) == unit || unit_at(b, j) == unit)
		{
			bool in_a = unit_at(a, i) == unit && (unit_at(b, j) != unit || a->key[i] <= b->key[j]);
			bool in_b = unit_at(b, j) == unit && (unit_at(a, i) != unit || b->key[j] <= a->key[i]);

			host_check_interrupts_at(i + j + 1);
			own_a += !in_b;
			own_b += !in_a;
			i += in_a;
			j += in_b;
		}
		if (both && own_a > 0 && own_b > 0)
			return true;
	}
	return false;
}

/* Frees measures. */
void
measures_free(Measures *m)
{
	host_free(m->key);
}
