/*
 * test_text.c: tokens of odd, very long and invalid texts, and names of schemes.  Tokens of
 * ordinary texts are in doc/explanation/recipe-vectors.txt (test_recipe.c).
 */
#include <stdio.h>

#include "collect.h"
#include "unit.h"

static void
check_tokens(const char *utf8, size_t length, const char *expected)
{
	TokenList list = tokens_from(utf8, length);

	CHECK_MSG(strcmp(list.text, expected) == 0, "\"%s\" gives \"%.80s\", not \"%.80s\"", utf8,
			  list.text, expected);
	free(list.text);
}

/* Returns a head, a unit repeated count times, and a tail. */
static char *
repeat(const char *head, const char *unit, size_t count, const char *tail, size_t *length)
{
	size_t head_length = strlen(head);
	size_t unit_length = strlen(unit);
	char *text = malloc(head_length + count * unit_length + strlen(tail) + 1);

	strcpy(text, head);
	for (size_t i = 0; i < count; i++)
		memcpy(text + head_length + i * unit_length, unit, unit_length);
	strcpy(text + head_length + count * unit_length, tail);
	*length = strlen(text);
	return text;
}

static void
test_short_texts(void)
{
	check_tokens("", 0, "");
	check_tokens("a", 1, "a");
	check_tokens("Z", 1, "z");
	check_tokens("\0", 1, "");
	check_tokens("a\0b", 3, "a b");
	check_tokens("\xCC\x81", 2, "");     /* a lone mark */
	check_tokens("\xC2\xAD", 2, "");     /* a soft hyphen */
	check_tokens("\xEF\xBB\xBF", 3, ""); /* a byte order mark */
}

/* A text gives the same tokens wherever it starts in a block of ASCII. */
static void
test_every_alignment(void)
{
	static const char text[] = "Abc 12e\xCC\x81 E\xCC\x81"
							   "x\xC2\xAD"
							   "y \xE6\xBC\xA2z\xCC\x88 \xFF"
							   "Q\xF0\x9F\x98\x80r \xD0\x98\xCC\x86 <\xCC\xB8"
							   "a the end of it, which goes on past a block of 64 bytes";
	static const char tokens[] =
		"abc 12\xC3\xA9 \xC3\xA9xy \xE6\xBC\xA2 z\xCC\x88 "
		"q r \xD0\xB9 a the end of it which goes on past a block of 64 bytes";

	for (size_t before = 0; before <= 200; before++)
	{
		size_t length;
		char *moved = repeat("", " ", before, text, &length);

		check_tokens(moved, length, tokens);
		free(moved);
	}
}

/* Two ways to write the same text give the same tokens. */
static void
test_same_tokens(void)
{
	static const char *const same[][2] = {
		{"Caf\xC3\xA9 \xC3\x85", "CAFE\xCC\x81 a\xCC\x8A"}, /* composed or not */
		{"\xE1\xBC\x88\xCE\xB9", "\xE1\xBE\x88"},           /* iota subscript */
		{"co\xC2\xAD"
		 "op",
		 "coop"},                     /* soft hyphen */
		{"\xEF\xBB\xBFword", "word"}, /* byte order mark */
		{"a\xE2\x80\x8D"
		 "b",
		 "ab"}, /* zero-width joiner */
		{"a\xC2\xA0"
		 "b",
		 "a b"},                                                  /* no-break space */
		{"\xEF\xBC\xA1\xEF\xBC\x92", "a2"},                       /* full width */
		{"\xCE\xA3\xCE\x91\xCE\xA3", "\xCF\x83\xCE\xB1\xCF\x82"}, /* final sigma */
		{"\xEA\xAD\xB0", "\xE1\x8E\xA0"},                         /* Cherokee */
		{"\xE1\xB2\x90", "\xE1\x83\x90"},                         /* Georgian */
		{"\xEA\xB0\x81", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"}, /* jamo */
		{"\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"},             /* Devanagari qa */
		{"a\xED\xA0\x80"
		 "b",
		 "a b"}, /* a surrogate */
		{"a\xC1\x81"
		 "b",
		 "a b"},                                                          /* overlong */
		{"a\xF0\x9F\x98", "a"},                                           /* cut short */
		{"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA x", "x"},                      /* a flag */
		{"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB\xEF\xB8\x8F", ""}, /* emoji with joiner */
		{"1\xEF\xB8\x8F\xE2\x83\xA3", "1\xE2\x83\xA3"},                   /* a keycap */
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
	{
		TokenList other = tokens_from(same[i][1], strlen(same[i][1]));

		check_tokens(same[i][0], strlen(same[i][0]), other.text);
		free(other.text);
	}
}

static void
test_endless_texts(void)
{
	size_t length, expected_length;
	char *text = repeat("Z", "\xCC\x81", 10000, "\xCC\xA3 e", &length);
	TokenList list = tokens_from(text, length);

	/* All marks on one letter remain, the first one composed (U+017A). */
	CHECK(list.count == 2 && list.length == length - 1 &&
		  memcmp(list.text, "\xC5\xBA\xCC\x81", 4) == 0);
	free(list.text);
	free(text);

	text = repeat("", "Ab1", 1000000, "\xC3\x89", &length);
	list = tokens_from(text, length);
	free(text);
	text = repeat("", "ab1", 1000000, "\xC3\xA9", &expected_length);
	CHECK(list.count == 1 && list.length == expected_length &&
		  memcmp(list.text, text, length) == 0);
	free(list.text);
	free(text);

	/* Capitals are not stable, but text may be cut between them. */
	text = repeat("", "\xD0\x98\xCC\x86", 1000, "", &length);
	list = tokens_from(text, length);
	free(text);
	text = repeat("", "\xD0\xB9", 1000, "", &length);
	CHECK(list.length == length && memcmp(list.text, text, length) == 0);
	free(list.text);
	free(text);
}

/* Random bytes give only characters that a token may have. */
static void
test_random_bytes(void)
{
	char text[300];

	for (uint64_t n = 0; n < 20000; n++)
	{
		size_t length = mix64(n + 1) % sizeof(text);
		TokenList list, again;

		for (size_t i = 0; i < length; i++)
			text[i] = (char) (mix64(n * 512 + i + 7) >> (n % 3 ? 8 : 9));
		list = tokens_from(text, length);
		again = tokens_from(list.text, list.length);
		CHECK_MSG(again.count == list.count && strcmp(again.text, list.text) == 0, "text %d",
				  (int) n);
		free(list.text);
		free(again.text);
	}
}

/* Appends a separator, or a word or a run of marks of characters that are not ASCII. */
static size_t
put_random(char *text, uint64_t random)
{
	static const char *const unit[] = {
		"\xD0\xB8", "\xEA\xB0\x81", "\xE6\xBC\xA2", "\xC3\x89", "\xE3\x81\x8B", /* letters */
		"\xCC\x81", "\xCC\xB8",     "\xCD\x85",     "\xCC\xA3", "\xE3\x82\x99", /* marks */
	};
	size_t length = 0;

	if (random % 4 == 0)
	{
		text[0] = " =<-\n,"[random / 4 % 6];
		return 1;
	}
	for (uint64_t left = random / 4 % (random % 4 == 1 ? 60 : 6) + 1; left > 0; left--)
	{
		const char *next = unit[(random % 4 == 1) * 5 + mix64(random + left) % 5];

		strcpy(text + length, next);
		length += strlen(next);
	}
	return length;
}

/* A separator is no part of what follows it: two of them give the same tokens. */
static void
test_doubled_separators(void)
{
	char text[4000];
	char doubled[8000];

	for (uint64_t n = 0; n < 20000; n++)
	{
		size_t length = 0;
		size_t filled = 0;
		TokenList list;

		for (uint64_t i = 0; i < 20; i++)
			length += put_random(text + length, mix64(n * 20 + i + 1));
		for (size_t i = 0; i < length; i++)
		{
			doubled[filled++] = text[i];
			if ((unsigned char) text[i] < 0x80)
				doubled[filled++] = text[i];
		}
		list = tokens_from(doubled, filled);
		text[length] = '\0';
		check_tokens(text, length, list.text);
		free(list.text);
	}
}

static void
test_scheme_names(void)
{
	static const char *const names[][2] = {
		{"word 3", "word 3"},
		{"WORD 3", "word 3"},
		{"  Char\t 5 ", "char 5"},
		{"stopword 255", "stopword 255"},
		{"word 1", "word 1"},
		{"word 007", "word 7"},
		{"foreign", "foreign"},
		{"Tokens ", "tokens"},
		{"\nhashes", "hashes"},
		{"spot 1 2", "spot 1 2"},
		{"Spot 15 015 EN", "spot 15 15"},
		{"spot 1 2 De", "spot 1 2 de"},
		{"spot 3 1 LISTS 00ff", "spot 3 1 lists 00ff"},
		{"spot 15 15 lists 7fff", "spot 15 15 lists 7fff"},
		{"word 1 lexicon 3f2a", "word 1 lexicon 3f2a"},
		{" STOPWORD 255  Lexicon ffff ", "stopword 255 lexicon ffff"},
		{"tokens lexicon 0001", "tokens lexicon 0001"},
		{"hashes lexicon 8000", "hashes lexicon 8000"},
		{"Weighted", "weighted"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		SchemeId id = 0xFFFFFFFF;
		SchemeId back = 0xFFFFFFFF;
		char name[SCHEME_NAME_SIZE];

		CHECK_MSG(scheme_parse(names[i][0], strlen(names[i][0]), &id), "%s", names[i][0]);
		CHECK(scheme_is_valid(id));
		scheme_name(id, name);
		CHECK_MSG(strcmp(name, names[i][1]) == 0, "%s", name);
		CHECK(scheme_parse(name, strlen(name), &back) && back == id);
	}
	CHECK(scheme_called("word 3") == SCHEME_ID(SCHEME_WORD, 3));
	CHECK(scheme_reads_text(scheme_called("char 5")) &&
		  !scheme_reads_text(scheme_called("tokens")));
}

static void
test_bad_scheme_names(void)
{
	static const char *const bad[] = {
		"",
		" ",
		"word",
		"word ",
		"char",
		"stopword",
		"word 0",
		"word 256",
		"word 4294967299",
		"word -3",
		"word +3",
		"word 3.0",
		"word 3 4",
		"word3",
		"3 word",
		"words 3",
		"wor 3",
		"word x",
		"foreign 3",
		"foreign 0",
		"tokens 0",
		"hashes x",
		"spot 3",
		"spot",
		"spot 0 2",
		"spot 1 0",
		"spot 16 2",
		"spot 1 16",
		"spot 1 2 xx",
		"spot 1 2 d",
		"spot 1 2 deu",
		"spot 1 2 de de",
		"spot 1 2 lists",
		"spot 1 2 lists 8000",
		"spot 1 2 lists 00FF",
		"spot 1 2 lists ff",
		"spot 1 2 lists 00ff0",
		"spot de 1 2",
		"word 3\xC2\xA0",
		"unknown 01030000",
		"unknown 0400000",
		"unknown 040000000",
		"unknown 0400000g",
		"unknown 04000000 1",
		"unknown",
		"word 1 lexicon",
		"word 1 lexicon 0000",
		"word 1 lexicon 1",
		"word 1 lexicon 3f2a 1",
		"word lexicon 3f2a",
		"word 1 lists 3f2a",
		"foreign lexicon 3f2a",
		"weighted lexicon 3f2a",
		"spot 1 2 lexicon 3f2a",
		"unknown 01013f2a",
	};
	SchemeId id;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!scheme_parse(bad[i], strlen(bad[i]), &id), "%s", bad[i]);
	CHECK(!scheme_parse("word 3\0", 7, &id));
	CHECK(scheme_parse("word 34", 6, &id) && SCHEME_WIDTH(id) == 3);
}

/* Every number has a name that is read back, whether it has a meaning or not; messages know those that read text. */
static void
test_scheme_numbers(void)
{
	int valid = 0;

	for (SchemeId head = 0; head < 0x10000; head++)
	{
		SchemeId id = head << 16;
		SchemeId back = 0;
		char name[SCHEME_NAME_SIZE];
		char quoted[SCHEME_NAME_SIZE];

		scheme_name(id, name);
		CHECK_MSG(scheme_parse(name, strlen(name), &back) && back == id, "%08x", (unsigned) id);
		snprintf(quoted, sizeof(quoted), "\"%.*s ", (int) strcspn(name, " "), name);
		CHECK(scheme_lexicon(id) == 0 && scheme_lexicon(id | 1) == scheme_has_lexicons(id));
		if (SCHEME_KIND(id) != SCHEME_SPOT)
			CHECK(scheme_is_valid(id | 1) == (scheme_is_valid(id) && scheme_has_lexicons(id)) &&
				  !scheme_reads_text(id | 0x8000));
		CHECK_MSG(!scheme_is_valid(id) || !scheme_reads_text(id) ||
					  SCHEME_KIND(id) == SCHEME_SPOT || strstr(SCHEME_NAMES(", "), quoted) != NULL,
				  "SCHEME_NAMES lacks %s", name);
		valid += scheme_is_valid(id);
	}
	CHECK_MSG(valid == 4 * SCHEME_WIDTH_MAX + SPOT_MAX * SPOT_MAX + 4, "%d", valid);
}

/* Every number of lists or a language is read back. */
static void
test_spot_numbers(void)
{
	int valid = 0;

	for (int variant = 0; variant < 0x10000; variant++)
	{
		SchemeId id = SCHEME_SPOT_ID(1, 2, variant);
		SchemeId back = 0;
		char name[SCHEME_NAME_SIZE];

		scheme_name(id, name);
		CHECK_MSG(scheme_parse(name, strlen(name), &back) && back == id, "%08x", (unsigned) id);
		CHECK(scheme_reads_text(id) == (scheme_is_valid(id) && variant < SPOT_LISTS));
		valid += scheme_is_valid(id);
	}
	CHECK_MSG(valid == SPOT_LISTS + 8, "%d", valid);
}

int
main(void)
{
	test_short_texts();
	test_every_alignment();
	test_same_tokens();
	test_endless_texts();
	test_random_bytes();
	test_doubled_separators();
	test_scheme_names();
	test_bad_scheme_names();
	test_scheme_numbers();
	test_spot_numbers();
	return unit_report();
}
