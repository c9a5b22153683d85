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
are_variants(const char *a, const char *b)
{
	bool ab;
	bool ba;

	CHECK(texts_are_variants(a, strlen(a), b, strlen(b), &ab));
	CHECK(texts_are_variants(b, strlen(b), a, strlen(a), &ba));
	CHECK_MSG(ab == ba, "'%s' '%s'", a, b);
	return ab;
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
				text[t][i] = "aB1 2-"[random_below(round % 2 ? 4 : 6)];
			text[t][length] = '\0';
		}
		expected = has_code_beside(text[0], text[1]) && has_code_beside(text[1], text[0]);
		CHECK_MSG(are_variants(text[0], text[1]) == expected, "'%s' '%s'", text[0], text[1]);
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

	CHECK(!are_variants(a, b));
	memcpy(b, "b1234", 5);
	memcpy(a + 299960, " c1234 ", 7);
	CHECK(are_variants(a, b));
	free(a);
	free(b);
}

int
main(void)
{
	test_chosen();
	test_random();
	test_long();
	return unit_report();
}
