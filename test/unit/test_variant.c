/*
 * test_variant.c: codes that tell two texts apart, against a search for each of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "random.h"
#include "text/ascii.h"
#include "unit.h"

static bool
variants_by(int version, const char *a, const char *b)
{
	bool ab;
	bool ba;

	CHECK(texts_are_variants(a, strlen(a), b, strlen(b), version, &ab));
	CHECK(texts_are_variants(b, strlen(b), a, strlen(a), version, &ba));
	CHECK_MSG(ab == ba, "'%s' '%s'", a, b);
	return ab;
}

static bool
are_variants(const char *a, const char *b)
{
	return variants_by(1, a, b);
}

/* Checks a pair that version 2 alone calls variants. */
static void
newly_variants(const char *a, const char *b)
{
	CHECK_MSG(!variants_by(1, a, b), "'%s' '%s'", a, b);
	CHECK_MSG(variants_by(2, a, b), "'%s' '%s'", a, b);
}

/* Checks a pair that neither version calls variants. */
static void
never_variants(const char *a, const char *b)
{
	CHECK_MSG(!variants_by(1, a, b), "'%s' '%s'", a, b);
	CHECK_MSG(!variants_by(2, a, b), "'%s' '%s'", a, b);
}

static void
test_second_version(void)
{
	/* Codes of several parts, and short ones where there is no longer one */
	newly_variants("Deskjet DJ-3050 printer", "Deskjet DJ-4050 printer");
	newly_variants("RC-330-KKR1", "RC-360-KKR1");
	newly_variants("HX-100", "HX-200");
	newly_variants("P568-003-FL", "P568-006-FL");
	newly_variants("lens 18/55/X", "lens 18/105/X");
	newly_variants("Canon EOS 5D camera", "Canon EOS 6D camera");
	never_variants("Deskjet DJ-3050 printer", "deskjet dj 3050");
	never_variants("Deskjet DJ-3050", "Deskjet DJ3050");
	never_variants("Sony KDL-52XBR5", "sony kdl52xbr5");
	/* Words of more than three letters are no parts, and what has no digit is no code */
	never_variants("model-305 4", "model-405 4");
	never_variants("up-to-date", "state-of-the-art");
	never_variants("12-03-2020", "13-04-2021");
	never_variants("in 5D or 6D, W1200", "in 5D, W1200");
	/* Numbers of units */
	newly_variants("juice 200 ml", "juice 400 ml");
	newly_variants("200 ml", "1200ml");
	newly_variants("8 GB", "16-GB");
	newly_variants("1.5 l", "15 litres");
	newly_variants("5\xC2\xA0kg",
				   "6\xE2\x80\xAF"
				   "kg");
	never_variants("1,5 l bottle", "bottle of 1.50 liters");
	never_variants("1,200 g", "1200 g");
	never_variants("16 GB, 12 MP", "32 MB, 64 kB");
	never_variants("16 GB, 12 MP", "16GB, 24 W");
	never_variants("2 x 500 ml, 1 l", "500 ml");
	never_variants("chapter 3 of 4", "chapter 4 of 4");
	never_variants("12345678901234 m", "22345678901234 m");
	never_variants("1.23456 m", "1.23457 m");
	never_variants("1.2.3 m", "3 m");
}

static void
test_chosen(void)
{
	CHECK(are_variants("Sony KDL-52XBR5 television", "Sony KDL-46XBR5 television"));
	CHECK(are_variants("camera W120 black", "camera W130 black"));
	/* Written in another way */
	CHECK(!are_variants("Sony KDL-52XBR5", "sony KDL 52 XBR5"));
	CHECK(!are_variants("case for W120", "case forW120s"));
	CHECK(!are_variants("\xEF\xBC\xB7"
						"120",
						"w120")); /* a wide W */
	/* One text alone has a code, or codes that the other has, too */
	CHECK(!are_variants("camera W120", "camera"));
	CHECK(!are_variants("camera W120", "camera W120 with case LCS7"));
	CHECK(!are_variants("W120 W130", "W130"));
	/* What is no code: numbers, words, and what has three characters */
	CHECK(!are_variants("model 1234", "model 5678"));
	CHECK(!are_variants("model abcd", "model efgh"));
	CHECK(!are_variants("model W12", "model W13"));
	CHECK(!are_variants("model \xC3\xA9"
						"12",
						"model \xC3\xA9"
						"13"));
	CHECK(are_variants("model \xC3\xA9"
					   "123",
					   "model \xC3\xA9"
					   "124"));
	CHECK(!are_variants("", "W120") && !are_variants("", ""));
}

/* ---- Random texts ---------------------------------------------------------- */

/* Words of a text of ASCII, put together. */
static char *
squeezed(const char *text)
{
	char *all = malloc(strlen(text) + 1);
	size_t length = 0;

	for (; *text; text++)
		if (ascii_is_word(*text))
			all[length++] = ascii_lower(*text);
	all[length] = '\0';
	return all;
}

/* Returns whether a text of ASCII has a code that the other one has not. */
static bool
has_code_beside(const char *text, const char *other)
{
	char *all = squeezed(other);
	bool found = false;

	while (*text && !found)
	{
		size_t length = 0;
		size_t digits = 0;
		char code[200];

		for (; ascii_is_word(text[length]); length++)
		{
			code[length] = ascii_lower(text[length]);
			digits += ascii_is_digit(text[length]);
		}
		code[length] = '\0';
		found = length >= 4 && digits > 0 && digits < length && strstr(all, code) == NULL;
		text += length + (text[length] != '\0');
	}
	free(all);
	return found;
}

/* A text of ASCII in parts, found again by a plain search. */
typedef struct Parts
{
	char code[80][80];
	int codes;
	char measure[80][80]; /* the unit, a blank, and the number */
	int measures;
} Parts;

static bool
joins(const char *from, size_t length)
{
	size_t digits = 0;

	for (size_t i = 0; i < length; i++)
		digits += ascii_is_digit(from[i]);
	return digits > 0 || length <= 3;
}

/* Finds the codes of a text that have `least` characters, or more. */
static void
find_codes(Parts *parts, const char *text, size_t least)
{
	parts->codes = 0;
	for (size_t at = 0; text[at];)
	{
		size_t length = 0;
		size_t last;
		size_t digits = 0;
		char *code = parts->code[parts->codes];

		for (last = at; ascii_is_word(text[at]); at++)
		{
			code[length++] = ascii_lower(text[at]);
			digits += ascii_is_digit(text[at]);
			if (!ascii_is_word(text[at + 1]) && text[at + 1] && strchr("-./", text[at + 1]) &&
				ascii_is_word(text[at + 2]))
			{
				size_t next = at + 2;
				size_t end = next;

				while (ascii_is_word(text[end]))
					end++;
				if (!joins(text + last, at + 1 - last) || !joins(text + next, end - next))
					continue;
				last = next;
				at++;
			}
		}
		code[length] = '\0';
		parts->codes += length >= least && digits > 0 && digits < length;
		at += text[at] != '\0' && !ascii_is_word(text[at]);
	}
}

/* Finds numbers of the units l and ml: digits, perhaps a point and digits, a blank or hyphen, a unit. */
static void
find_measures(Parts *parts, const char *text)
{
	parts->measures = 0;
	for (size_t at = 0; text[at]; at++)
	{
		const char *p = text + at;
		size_t whole = strspn(p, "12");
		size_t fraction = p[whole] == '.' ? strspn(p + whole + 1, "12") : 0;
		size_t end = whole + (fraction > 0 ? fraction + 1 : 0);
		size_t unit;

		if (whole == 0 || (at > 0 && ascii_is_word(p[-1])) ||
			(at > 1 && p[-1] == '.' && ascii_is_digit(p[-2])))
			continue;
		if (p[end] == '.' && fraction > 0 && ascii_is_digit(p[end + 1]))
			continue;
		unit = end + (p[end] == '-' ? 1 : strspn(p + end, " "));
		if (p[unit] == 'm' || p[unit] == 'M')
			unit++;
		if ((p[unit] != 'l') || ascii_is_word(p[unit + 1]))
			continue;
		sprintf(parts->measure[parts->measures++], "%s %.*s", p[unit - 1] == 'm' ? "ml" : "l",
				(int) end, p);
	}
}

static bool
has_own_part(Parts *parts, const char *other)
{
	char *all = squeezed(other);
	bool own = false;

	for (int i = 0; i < parts->codes; i++)
		own |= strstr(all, parts->code[i]) == NULL;
	free(all);
	return own;
}

/* Returns whether a text has a measure that another has not, of a unit. */
static bool
has_own_measure(const Parts *parts, const Parts *other, const char *unit)
{
	size_t length = strlen(unit);
	bool has_unit = false;

	for (int j = 0; j < other->measures; j++)
		has_unit |= strncmp(other->measure[j], unit, length) == 0;
	for (int i = 0; i < parts->measures && has_unit; i++)
	{
		bool found = strncmp(parts->measure[i], unit, length) != 0;

		for (int j = 0; j < other->measures; j++)
			found |= strcmp(parts->measure[i], other->measure[j]) == 0;
		if (!found)
			return true;
	}
	return false;
}

/* Returns what version 2 says of two texts, in quadratic time. */
static bool
second_version_says(const char *a, const char *b)
{
	const char *text[2] = {a, b};
	Parts *parts = calloc(2, sizeof(Parts));
	bool own[3] = {true, true, true};

	for (int t = 0; t < 2; t++)
	{
		find_codes(&parts[t], text[t], 4);
		if (parts[t].codes == 0)
			find_codes(&parts[t], text[t], 2);
		find_measures(&parts[t], text[t]);
	}
	for (int t = 0; t < 2; t++)
	{
		own[0] &= has_own_part(&parts[t], text[!t]);
		own[1] &= has_own_measure(&parts[t], &parts[!t], "l ");
		own[2] &= has_own_measure(&parts[t], &parts[!t], "ml ");
	}
	free(parts);
	return own[0] || own[1] || own[2];
}

static void
test_random(void)
{
	for (int round = 0; round < unit_rounds(20000); round++)
	{
		char text[2][80];
		bool expected;

		for (int t = 0; t < 2; t++)
		{
			uint32_t length = random_below(79);

			for (uint32_t i = 0; i < length; i++)
				text[t][i] = "aB1 2-l./mXY"[random_below(round % 2 ? 4 : round % 4 ? 6 : 12)];
			text[t][length] = '\0';
		}
		expected = has_code_beside(text[0], text[1]) && has_code_beside(text[1], text[0]);
		CHECK_MSG(are_variants(text[0], text[1]) == expected, "'%s' '%s'", text[0], text[1]);
		CHECK_MSG(variants_by(2, text[0], text[1]) == second_version_says(text[0], text[1]),
				  "'%s' '%s'", text[0], text[1]);
	}
}

/* Fills a text of this length with words of six letters and a number. */
static char *
codes(size_t length, char letter)
{
	char *text = malloc(length + 20);
	size_t at = 0;

	for (int i = 0; at < length; i++)
		at += (size_t) snprintf(text + at, 20, "%c%06d ", letter, i % 1000000);
	text[length] = '\0';
	return text;
}

/* A search for each code would read thousands of millions of bytes. */
static void
test_long(void)
{
	char *a = codes(300000, 'a');
	char *b = codes(300000, 'a');

	CHECK(!variants_by(2, a, b));
	CHECK(!are_variants(a, b));
	memcpy(b, "b1234", 5);
	memcpy(a + 299960, " c1234 ", 7);
	CHECK(are_variants(a, b));
	CHECK(variants_by(2, a, b));
	free(a);
	free(b);
}

int
main(void)
{
	test_chosen();
	test_second_version();
	test_random();
	test_long();
	return unit_report();
}
