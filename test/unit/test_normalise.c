/*
 * test_normalise.c: UTF-8, the tables of characters, and normalisation by pieces against
 * utf8proc's normalisation of strings.
 */
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "text/internal.h"
#include "random.h"
#include "unit.h"

#define TEXT_MAX 64 /* characters in a random text */
#define BYTES_MAX (TEXT_MAX * 18 * 4 + 1)
#define JAMO_O_YAE 0x11A7 /* utf8proc treats it as a final consonant */

static uint32_t assigned[0x110000];
static uint32_t assigned_count;

static size_t
encode(const uint32_t *text, int count, char *utf8)
{
	size_t length = 0;

	for (int i = 0; i < count; i++)
		length += utf8_encode(text[i], (uint8_t *) utf8 + length);
	utf8[length] = '\0';
	return length;
}

/* Returns the normal form of a string without U+0000, by utf8proc. */
static void
expected_form(const char *utf8, char *form)
{
	uint8_t *apart = utf8proc_NFD((const uint8_t *) utf8);
	uint8_t *folded = utf8proc_NFKC_Casefold(apart);

	strcpy(form, (char *) folded);
	free(apart);
	free(folded);
}

/* Returns the same by pieces. */
static void
form_by_pieces(const char *utf8, size_t length, char *form)
{
	size_t at = 0;
	size_t filled = 0;

	form[0] = '\0';
	while (at < length)
	{
		uint32_t result[PIECE_RESULT_MAX];
		int count;

		at += normalise_piece((const uint8_t *) utf8 + at, length - at, result, &count);
		filled += encode(result, count, form + filled);
	}
}

static void
test_round_trip(void)
{
	int wrong = 0;

	for (uint32_t c = 0; c < 0x110000; c++)
	{
		uint8_t utf8[4];
		uint32_t back;
		int bytes = utf8_encode(c, utf8);
		bool proper = c < 0xD800 || c > 0xDFFF;

		wrong += utf8_decode(utf8, bytes, &back) != (proper ? bytes : 1);
		wrong += back != (proper ? c : INVALID_CHARACTER);
		if (bytes > 1)
			wrong += utf8_decode(utf8, bytes - 1, &back) != 1 || back != INVALID_CHARACTER;
	}
	CHECK_MSG(wrong == 0, "%d wrong", wrong);
}

static void
test_invalid_utf8(void)
{
	static const char *const invalid[] = {
		"\x80",
		"\xBF",
		"\xC0\x80",
		"\xC1\xBF",
		"\xC3",
		"\xC3(",
		"\xE0\x80\x80",
		"\xE0\x9F\xBF",
		"\xE2\x82",
		"\xE2(\xA1",
		"\xE2\x82(",
		"\xED\xA0\x80",
		"\xED\xBF\xBF",
		"\xF0\x80\x80\x80",
		"\xF0\x8F\xBF\xBF",
		"\xF0\x9F\x98",
		"\xF0\x9F(\x80",
		"\xF4\x90\x80\x80",
		"\xF5\x80\x80\x80",
		"\xF8\x88\x80\x80\x80",
		"\xFC\x84\x80\x80\x80\x80",
		"\xFE",
		"\xFF",
	};

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
	{
		const uint8_t *in = (const uint8_t *) invalid[i];
		uint32_t c;
		uint32_t result[PIECE_RESULT_MAX];
		int count;

		CHECK_MSG(utf8_decode(in, strlen(invalid[i]), &c) == 1 && c == INVALID_CHARACTER, "%zu", i);
		CHECK_MSG(normalise_piece(in, strlen(invalid[i]), result, &count) == 1 && count == 1 &&
					  result[0] == ' ',
				  "%zu", i);
	}
}

/* Returns whether the properties of a character are right. */
static bool
info_is_sound(uint32_t c)
{
	unsigned info = char_info(c);
	bool stable = info & CHAR_STABLE;

	if (!(info & CHAR_ASSIGNED))
		return info == 0;
	if (stable && (!(info & CHAR_BOUNDARY) || (info & (CHAR_IGNORED | CHAR_NONSTARTER))))
		return false;
	if (c < 0x80 && (!(info & CHAR_BOUNDARY) || stable == (c >= 'A' && c <= 'Z')))
		return false;
	return !(info & CHAR_NONSTARTER) == (utf8proc_get_property(c)->combining_class == 0);
}

static void
test_each_character(void)
{
	char utf8[8];
	char expected[BYTES_MAX];
	char form[BYTES_MAX];
	char again[BYTES_MAX];

	for (uint32_t c = 0; c < 0x110000; c++)
	{
		CHECK_MSG(info_is_sound(c), "U+%04X", c);
		if (!(char_info(c) & CHAR_ASSIGNED))
			continue;
		assigned[assigned_count++] = c;
		if (c == 0)
			continue;
		form_by_pieces(utf8, encode(&c, 1, utf8), form);
		expected_form(utf8, expected);
		CHECK_MSG(strcmp(form, expected) == 0, "U+%04X: form", c);
		form_by_pieces(form, strlen(form), again);
		CHECK_MSG(strcmp(form, again) == 0, "U+%04X: form of the form", c);
		if (char_info(c) & CHAR_STABLE)
			CHECK_MSG(strcmp(form, utf8) == 0, "U+%04X: stable", c);
	}
}

/* No normal form has an ignorable or unassigned character, or a new U+11A7. */
static void
test_forms(void)
{
	for (uint32_t i = 0; i < assigned_count; i++)
	{
		uint8_t utf8[4];
		uint32_t form[PIECE_RESULT_MAX];
		int count;
		bool sound = true;

		normalise_piece(utf8, utf8_encode(assigned[i], utf8), form, &count);
		for (int j = 0; j < count; j++)
			sound &= (char_info(form[j]) & (CHAR_ASSIGNED | CHAR_IGNORED)) == CHAR_ASSIGNED &&
				(form[j] == JAMO_O_YAE) == (assigned[i] == JAMO_O_YAE);
		CHECK_MSG(sound, "U+%04X", assigned[i]);
	}
}

/* Returns an assigned character, often one that acts on its neighbours. */
static uint32_t
random_character(void)
{
	static const uint32_t telling[] = {'a',    'A',    'z',    ' ',    0x0300, 0x0301,  0x0308,
									   0x0323, 0x0327, 0x0345, 0x034F, 0x00AD, 0x03B1,  0x0130,
									   0x00DF, 0x1E9E, 0x1100, 0x1161, 0x11A8, 0xAC00,  0xAC01,
									   0x0F71, 0x0F72, 0x0F73, 0x0958, 0x09C7, 0x09BE,  0x3099,
									   0x30AB, 0xFF76, 0xFF9E, 0x1F71, 0x1FB4, 0x0374,  0x212B,
									   0x2126, 0xFDFA, 0xFB2C, 0x05C1, 0x05B8, 0x1D15E, 0x1D165,
									   0x200D, 0x115F, 0x1160, 0x3164};
	uint32_t c;

	if (random_below(2))
		return telling[random_below(sizeof(telling) / sizeof(telling[0]))];
	do
		c = assigned[random_below(assigned_count)];
	while (c == 0 || c == JAMO_O_YAE || (random_below(2) && (char_info(c) & CHAR_STABLE)));
	return c;
}

/* Returns whether a text has more marks in a row than a piece can hold. */
static bool
is_torn(const uint32_t *text, int count)
{
	int run = 0;

	for (int i = 0; i < count; i++)
	{
		run = char_info(text[i]) & CHAR_BOUNDARY ? 1 : run + 1;
		if (run > PIECE_SOURCE_MAX)
			return true;
	}
	return false;
}

static void
test_random_texts(void)
{
	uint32_t text[TEXT_MAX];
	char utf8[BYTES_MAX];
	char expected[BYTES_MAX];
	char form[BYTES_MAX];

	for (int n = 0; n < 30000; n++)
	{
		int count = 1 + random_below(TEXT_MAX - 1);
		uint8_t *composed;

		for (int i = 0; i < count; i++)
			text[i] = random_character();
		if (is_torn(text, count))
			continue;
		form_by_pieces(utf8, encode(text, count, utf8), form);
		expected_form(utf8, expected);
		CHECK_MSG(strcmp(form, expected) == 0, "text %d", n);

		composed = utf8proc_NFC((uint8_t *) utf8);
		form_by_pieces((char *) composed, strlen((char *) composed), form);
		CHECK_MSG(strcmp(form, expected) == 0, "text %d, composed", n);
		free(composed);
	}
}

/* The normal form of any text can be cut before a boundary. */
static void
test_boundaries(void)
{
	uint32_t text[8];
	char utf8[BYTES_MAX];
	char whole[BYTES_MAX];
	char parts[BYTES_MAX];

	for (uint32_t i = 1; i < assigned_count; i++)
	{
		if (!(char_info(assigned[i]) & CHAR_BOUNDARY) || assigned[i] == JAMO_O_YAE)
			continue;
		for (int j = 0; j < 8; j++)
			text[j] = random_character();
		text[3] = assigned[i];
		encode(text, 8, utf8);
		expected_form(utf8, whole);
		encode(text, 3, utf8);
		expected_form(utf8, parts);
		encode(text + 3, 5, utf8);
		expected_form(utf8, parts + strlen(parts));
		CHECK_MSG(strcmp(whole, parts) == 0, "U+%04X", assigned[i]);
	}
}

static void
test_jamo_that_is_no_final(void)
{
	static const char syllable[] = "\xEA\xB0\x80\xE1\x86\xA7"; /* U+AC00 U+11A7 */
	char form[BYTES_MAX];

	form_by_pieces(syllable, strlen(syllable), form);
	CHECK(strcmp(form, syllable) == 0);
}

int
main(void)
{
	test_round_trip();
	test_invalid_utf8();
	test_each_character();
	test_forms();
	test_random_texts();
	test_boundaries();
	test_jamo_that_is_no_final();
	return unit_report();
}
