/*
 * test_passages.c: shared passages against the loops of reference.h, and their positions against
 * the tokens of what lies there.
 */
#include "collect.h"
#include "compare/suffix.h"
#include "random.h"
#include "reference.h"
#include "text/internal.h"
#include "unit.h"

#define WORDS SCHEME_ID(SCHEME_WORD, 3)
#define CHARACTERS SCHEME_ID(SCHEME_CHAR, 5)
#define ANY_CHARACTERS SCHEME_ID(SCHEME_ANYCHAR, 5)

/* ---- Sequences ---------------------------------------------------------- */

static void
check_sequences(const char *a, const char *b, uint32_t least)
{
	SequencePair pair;
	Passages found;

	CHECK(pair_of_characters(a, strlen(a), b, strlen(b), &pair));
	found = shared_passages(&pair, least);
	CHECK_MSG(passages_are_right(&pair, least, &found), "least %u: '%s' '%s'", least, a, b);
	CHECK(found.count <= 2 * (strlen(a) + strlen(b)) / least);
	host_free(found.passage);
	pair_free(&pair);
}

static void
test_chosen_sequences(void)
{
	static const char *const chosen[] = {"",          "a",          "aaaaaaaa",  "aaa",
										 "abcabcabc", "abc",        "cab",       "xabcyabcz",
										 "abcxbcdy",  "abcdxbcdey", "zzabcdezz", "bcde"};
	size_t count = sizeof(chosen) / sizeof(chosen[0]);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			for (uint32_t least = 1; least < 5; least++)
				check_sequences(chosen[i], chosen[j], least);
}

/* Texts of few letters, some of them repeated, with parts of each other. */
static void
test_random_sequences(void)
{
	for (int round = 0; round < unit_rounds(3000); round++)
	{
		char a[121] = "";
		char b[121] = "";
		uint32_t length_a = random_below(120);
		uint32_t length_b = random_below(120);
		uint32_t alphabet = 1 + random_below(round % 2 ? 3 : 20);

		for (uint32_t i = 0; i < length_a; i++)
			a[i] = (char) ('a' + (round % 5 ? random_below(alphabet) : i % alphabet));
		for (uint32_t i = 0; i < length_b; i++)
			b[i] = (char) ('a' + random_below(alphabet));
		for (uint32_t copies = random_below(4); copies > 0 && length_a > 10 && length_b > 10;
			 copies--)
			memcpy(b + random_below(length_b - 9), a + random_below(length_a - 9), 9);
		check_sequences(a, b, 1 + random_below(10));
	}
}

/* ---- Positions ------------------------------------------------------------- */

/* Parts of texts that are hard: characters of several tokens, marks, scripts, folding. */
static const char *const parts[] = {"word",
									"Word",
									" ",
									",  ",
									"12",
									"\xC2\xBD" /* 1/2 */,
									"\xE3\x8D\xBF" /* four CJK characters */,
									"\xEF\xAC\x81" /* fi */,
									"\xEF\xB7\xBA" /* U+FDFA */,
									"e\xCC\x81",
									"\xC3\x89",
									"\xCC\x81",
									"\xCC\x80\xCC\xA3",
									"\xEF\xBC\xA1\xE3\x80\x80\xEF\xBC\xA2",
									"\xE6\x9D\xB1\xE4\xBA\xAC",
									"\xEF\xBD\xB6\xEF\xBE\x9E",
									"\xE0\xB8\x81\xE0\xB8\xB3\xE0\xB8\x99",
									"\xD8\xB3\xD9\x8E\xD9\x84",
									"\xED\x95\x9C",
									"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB",
									"\xF0\x9F\x98\x80\xEF\xB8\x8F",
									"\xC2\xAD",
									"\xE2\x80\x8D",
									"\xF3\xA0\x84\x80",
									"\xCD\x85",
									"\xC2\xB4",
									"\xE2\x89\xA0",
									"=\xCC\xB8",
									"\xD0\x9F\xD0\xA0\xD0\x98",
									"\xFF",
									"\xC3",
									"\xF0\x9F\xAB\xA0" /* not in Unicode 13 */,
									"\xE0\xAC\xBC\xE0\xAD\x8D",
									"\xC3\x9F",
									"\xC4\xB0",
									"\n",
									"-",
									"_",
									"x",
									"\xE3\x8F\x82",
									"\xE1\xBE\xB3",
									"\xF0\x9D\x85\x9E"};

/* Writes random parts, at most `most` of them, and returns their length. */
static size_t
random_parts(char *text, uint32_t most)
{
	size_t length = 0;

	for (uint32_t n = random_below(most); n > 0; n--)
	{
		const char *part = parts[random_below(sizeof(parts) / sizeof(parts[0]))];
		uint32_t times = random_below(40) == 0 ? 1 + random_below(70) : 1;

		for (; times > 0; times--)
			length += strlen(strcpy(text + length, part));
	}
	return length;
}

/* Returns the tokens or chunks of symbols of a sequence. */
static TokenList
words_at(const char *text, const Sequence *s, uint32_t first, uint32_t count, SchemeId scheme)
{
	size_t start = s->position[first].start;

	return words_from(text + start, s->position[first + count - 1].end - start, scheme);
}

/* What lies at the positions of a passage has its units, in both texts. */
static void
check_positions(const char *a, size_t length_a, const char *b, size_t length_b, SchemeId scheme)
{
	SequencePair pair;
	Passages found;

	CHECK(pair_of_units(a, length_a, b, length_b, scheme, &pair));
	found = shared_passages(&pair, 1);
	for (size_t i = 0; i < found.count; i++)
	{
		Passage p = found.passage[i];
		TokenList in_a = words_at(a, &pair.a, p.a, p.length, scheme);
		TokenList in_b = words_at(b, &pair.b, p.b, p.length, scheme);
		SequencePair again;

		CHECK_MSG(strcmp(in_a.text, in_b.text) == 0, "%08x: '%s' '%s'", scheme, in_a.text,
				  in_b.text);
		CHECK(pair_of_units(in_a.text, in_a.length, "", 0, scheme, &again));
		CHECK_MSG(again.a.length == p.length, "%08x: %zu of %u: '%s'", scheme, again.a.length,
				  p.length, in_a.text);
		pair_free(&again);
		free(in_a.text);
		free(in_b.text);
	}
	host_free(found.passage);
	pair_free(&pair);
}

/* The units are those of the text without positions, and their positions ascend. */
static void
check_units(const char *text, size_t length, SchemeId scheme)
{
	TokenList words = words_from(text, length, scheme);
	SequencePair pair;
	SequencePair plain;

	CHECK(pair_of_units(text, length, "", 0, scheme, &pair));
	if (scheme_has_characters(scheme))
		CHECK(pair_of_characters(words.text, words.length, "", 0, &plain));
	else
		CHECK(pair_of_tokens(text, length, "", 0, &plain));
	CHECK(pair.a.length == plain.a.length);
	for (size_t i = 0; i < pair.a.length && i < plain.a.length; i++)
	{
		SourceRange position = pair.a.position[i];

		CHECK(pair.a.symbol[i] == plain.a.symbol[i]);
		CHECK(position.start < position.end || pair.a.symbol[i] == pair.blank);
		CHECK(position.end <= length);
		CHECK(i == 0 ||
			  (position.start >= pair.a.position[i - 1].start &&
			   position.end >= pair.a.position[i - 1].end));
	}
	pair_free(&pair);
	pair_free(&plain);
	free(words.text);
}

static void
test_positions(void)
{
	static const SchemeId schemes[] = {WORDS, CHARACTERS, ANY_CHARACTERS};
	static char a[20000];
	static char b[20000];

	for (int round = 0; round < unit_rounds(6000); round++)
	{
		SchemeId scheme = schemes[round % 3];
		size_t length_a = random_parts(a, 40);
		size_t length_b = random_parts(b, 40);

		check_units(a, length_a, scheme);
		check_positions(a, length_a, b, length_b, scheme);
	}
}

/* Units that lie on the border of two batches of tokens have their positions. */
static void
test_long_texts(void)
{
	size_t length = 0;
	char *text = malloc(300000);

	while (length < 200000)
		length += random_parts(text + length, 40);
	check_units(text, length, WORDS);
	check_units(text, length, CHARACTERS);
	check_units(text, length, ANY_CHARACTERS);
	free(text);
}

/* However long a run of marks is, no more of it is read than is normalised at once. */
static void
test_run_of_marks(void)
{
	char text[2000];

	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, i % 4 ? "\xCC\x81" : "\xCC\xA3", 2);
	CHECK(shortest_piece((const uint8_t *) text, sizeof(text)) == 2 * PIECE_SOURCE_MAX);
	check_units(text, sizeof(text), WORDS);
	check_units(text, sizeof(text), CHARACTERS);
	check_units(text + 2, sizeof(text) - 2, ANY_CHARACTERS);
}

static void
check_passage(const char *a, const char *b, SchemeId scheme, uint32_t least, uint32_t start_a,
			  uint32_t end_a, uint32_t start_b, uint32_t end_b)
{
	SequencePair pair;
	Passages found;

	CHECK(pair_of_units(a, strlen(a), b, strlen(b), scheme, &pair));
	found = shared_passages(&pair, least);
	CHECK_MSG(found.count == 1, "%zu: '%s' '%s'", found.count, a, b);
	if (found.count == 1)
	{
		Passage p = found.passage[0];

		CHECK(pair.a.position[p.a].start == start_a);
		CHECK(pair.a.position[p.a + p.length - 1].end == end_a);
		CHECK(pair.b.position[p.b].start == start_b);
		CHECK(pair.b.position[p.b + p.length - 1].end == end_b);
	}
	host_free(found.passage);
	pair_free(&pair);
}

/* Returns how many passages of `least` tokens two texts share. */
static size_t
count_passages(const char *a, const char *b, uint32_t least)
{
	SequencePair pair;
	Passages found;
	size_t count;

	CHECK(pair_of_units(a, strlen(a), b, strlen(b), WORDS, &pair));
	found = shared_passages(&pair, least);
	count = found.count;
	host_free(found.passage);
	pair_free(&pair);
	return count;
}

static void
test_texts(void)
{
	check_passage("One, TWO; three!", "zero one (two) three four", WORDS, 3, 0, 15, 5, 20);
	/* 1/2 is two tokens in one character, so the passage begins after it. */
	check_passage("\xC2\xBD cup milk", "2 cup milk", WORDS, 2, 3, 11, 2, 10);
	check_passage("cut \xEF\xAC\x81ne", "cut fi", CHARACTERS, 3, 0, 7, 0, 6);
	check_passage("cut \xEF\xAC\x81ne", "cut f", CHARACTERS, 3, 0, 3, 0, 3);
	/* Each has "2 cup milk" twice, and first where it begins inside of 1/2. */
	CHECK(count_passages("\xC2\xBD cup milk, 2 cup milk", "\xC2\xBD cup milk; 2 cup milk", 3) == 1);
	CHECK(count_passages("\xC2\xBD cup milk now, 2 cup milk here",
						 "\xC2\xBD cup milk x; 2 cup milk y", 3) == 2);
	check_passage("x <- y + z;", "A  X <- Y", ANY_CHARACTERS, 6, 0, 6, 3, 9);
}

/* ---- Bounds -------------------------------------------------------------- */

/* Memory, and checks for interrupts, where groups are deepest. */
static void
test_equal_symbols(void)
{
	size_t n = 1000000;
	SequencePair pair = {{calloc(n, 4), n}, {calloc(n / 3, 4), n / 3}, 1};
	size_t before = host_memory;
	unsigned long checks = host_interrupt_checks;
	Passages found;

	host_peak = host_memory;
	found = shared_passages(&pair, 8);
	CHECK_MSG(found.count == 4, "%zu", found.count);
	CHECK_MSG(host_peak - before < 64 * (n + n / 3), "%zu", host_peak - before);
	CHECK(host_interrupt_checks - checks > 1000);
	host_free(found.passage);
	CHECK(host_memory == before);
	free(pair.a.symbol);
	free(pair.b.symbol);
}

/* A passage that each text repeats a thousand times is in as many rows, not in a million. */
static void
test_repeated_passages(void)
{
	size_t n = 20000;
	SequencePair pair = {{calloc(n, 4), n}, {calloc(n, 4), n}, 0};
	Passages found;

	for (size_t i = 0; i < n; i++)
	{
		bool repeated = i % 20 < 10;

		pair.a.symbol[i] = (uint32_t) (repeated ? i % 20 : 10 + i);
		pair.b.symbol[i] = (uint32_t) (repeated ? i % 20 : 10 + n + i);
	}
	pair.alphabet = (uint32_t) (10 + 2 * n);
	found = shared_passages(&pair, 8);
	CHECK_MSG(found.count == 1999, "%zu", found.count);
	host_free(found.passage);
	free(pair.a.symbol);
	free(pair.b.symbol);
}

int
main(void)
{
	test_chosen_sequences();
	test_random_sequences();
	test_texts();
	test_positions();
	test_long_texts();
	test_run_of_marks();
	test_equal_symbols();
	test_repeated_passages();
	return unit_report();
}
