/*
 * test_shingle.c: shingles against their definition, computed slowly from the tokens, and
 * shown shingles against shingles.
 */
#include <stdio.h>

#include "collect.h"
#include "unit.h"

#define UNITS_MAX 200000

/* The units of a text, as positions in its tokens. */
typedef struct Units
{
	size_t count;
	size_t start[UNITS_MAX];
	size_t end[UNITS_MAX];
} Units;

static Units units;

static void
find_units(const TokenList *tokens, bool characters)
{
	size_t at = 0;

	units.count = 0;
	while (at < tokens->length && units.count < UNITS_MAX)
	{
		size_t end = at + 1;

		while (end < tokens->length &&
			   (characters ? (tokens->text[end] & 0xC0) == 0x80 : tokens->text[end] != ' '))
			end++;
		units.start[units.count] = at;
		units.end[units.count++] = end;
		at = end + !characters;
	}
}

static uint64_t
unit_hash(const TokenList *tokens, size_t unit)
{
	return shingle_of_token(tokens->text + units.start[unit], units.end[unit] - units.start[unit]);
}

/* Counts the shingles of a text by definition, and checks each hash. */
static size_t
check_hashes(const TokenList *tokens, SchemeId scheme, const HashList *list)
{
	size_t width = SCHEME_WIDTH(scheme);
	size_t count = 0;
	bool is_short = units.count < width;

	if (is_short)
		width = units.count;
	for (size_t i = 0; width > 0 && i + width <= units.count; i++)
	{
		uint64_t sum = 0;

		if (SCHEME_KIND(scheme) == SCHEME_STOPWORD && !is_short &&
			!is_stop_word(unit_hash(tokens, i)))
			continue;
		for (size_t j = i; j < i + width; j++)
			sum = sum * SHINGLE_MULTIPLIER + unit_hash(tokens, j);
		CHECK_MSG(count < list->count && list->hash[count] == mix64(sum), "shingle %zu", count);
		count++;
	}
	return count;
}

/* The distinct hashes are shown in order, each with its count and its text. */
static void
check_shown(const char *utf8, size_t length, SchemeId scheme, const HashList *list)
{
	ShownShingles shown;
	bool all = shingles_to_show(utf8, length, scheme, &shown);
	size_t count = shown.count;
	size_t total = 0;
	size_t next = 0;

	CHECK(all);
	for (size_t i = 0; i < list->count && next < count; i++)
		if (list->hash[i] == shown.shingle[next].hash)
			next++;
	CHECK_MSG(next == count, "%zu shown, %zu in order", count, next);
	for (size_t i = 0; i < count; i++)
	{
		const ShownShingle *shingle = &shown.shingle[i];
		size_t own_length;
		const char *text = shown_text(&shown, shingle, &own_length);
		HashList own = hashes_from(text, own_length, scheme);

		total += shingle->count;
		CHECK(shown_find(&shown, shingle->hash) == shingle);

		/* A shingle of characters may start or end with a space. */
		if (!scheme_has_characters(scheme))
			CHECK_MSG(own.count == 1 && own.hash[0] == shingle->hash, "%.*s", (int) own_length,
					  text);
		for (size_t j = 0; j < i && i < 50; j++)
			CHECK(shown.shingle[j].hash != shingle->hash);
		free(own.hash);
	}
	CHECK_MSG(total == list->count, "%zu shown, %zu there", total, list->count);
	shown_free(&shown);
}

static void
check_text(const char *utf8, size_t length)
{
	static const char *const schemes[] = {"word 1",     "word 2",       "word 3",    "word 255",
										  "char 1",     "char 5",       "char 255",  "stopword 1",
										  "stopword 3", "stopword 255", "anychar 1", "anychar 4"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
	{
		SchemeId scheme = scheme_called(schemes[i]);
		HashList list = hashes_from(utf8, length, scheme);
		TokenList tokens = words_from(utf8, length, scheme);
		size_t count;

		find_units(&tokens, scheme_has_characters(scheme));
		count = check_hashes(&tokens, scheme, &list);
		CHECK_MSG(count == list.count, "%s: %zu, not %zu", schemes[i], list.count, count);
		check_shown(utf8, length, scheme, &list);
		free(list.hash);
		free(tokens.text);
	}
}

static void
test_texts(void)
{
	static const char *const texts[] = {
		"",
		" ",
		"a",
		"the",
		"a b",
		"a b c",
		"the cat sat on the mat and the cat sat on the dog",
		"No stop",
		"one two three",
		"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E and the \xE6\x97\xA5\xE6\x9C\xAC",
		"e\xCC\x81t\xC3\xA9 \xC3\xA9t\xC3\xA9 e\xCC\x81t\xC3\xA9",
		"\xEF\xB7\xBA",
		"x\xFFy",
		"!? ... -- \xF0\x9F\x98\x80\xF0\x9F\x98\x80",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_text(texts[i], strlen(texts[i]));
}

/* Texts of sizes around those of windows and batches. */
static void
test_sizes(void)
{
	static const char *const words[] =
		{"the", "fox", "of", "\xC3\x89t\xC3\xA9", "a", "Zebra", "\xE6\xBC\xA2\xE5\xAD\x97", "42"};
	char *text = malloc(80000);

	for (int count = 1; count < 9000; count += count < 20 ? 1 : count < 1100 ? 83 : 2503)
	{
		size_t length = 0;

		for (int i = 0; i < count; i++)
			length += sprintf(text + length, "%s ", words[mix64(i + 1) % 8]);
		check_text(text, length);
	}
	free(text);
}

/* The shingles of a text are these, with these counts. */
static void
check_shown_texts(const char *text, const char *scheme, const char *const *expected,
				  const uint32_t *counts, size_t count)
{
	ShownShingles shown;

	CHECK(shingles_to_show(text, strlen(text), scheme_called(scheme), &shown));
	CHECK(shown.count == count);
	for (size_t i = 0; i < count && i < shown.count; i++)
	{
		size_t length;
		const char *own = shown_text(&shown, &shown.shingle[i], &length);

		CHECK_MSG(length == strlen(expected[i]) && shown.shingle[i].count == counts[i] &&
					  memcmp(own, expected[i], length) == 0,
				  "%.*s, %u times", (int) length, own, (unsigned) shown.shingle[i].count);
	}
	shown_free(&shown);
}

static void
test_shown_text(void)
{
	static const char *const words[] = {"to be", "be or", "or not", "not to", "be to"};
	static const char *const characters[] = {"ab ", "b c"};
	static const char *const anchored[] = {"of the", "the sea"};
	static const uint32_t counts[] = {3, 1, 1, 1, 1};

	check_shown_texts("To be, or not to be: to be!", "word 2", words, counts, 5);
	check_shown_texts("Ab c", "char 3", characters, counts + 1, 2);
	check_shown_texts("cat of the sea", "stopword 2", anchored, counts + 1, 2);
}

/* Showing a text takes a few bytes for each byte of the text, and for each shingle. */
static void
check_shown_memory(const char *text, size_t length, const char *scheme)
{
	size_t before = host_memory;
	ShownShingles shown;
	size_t took;

	host_peak = host_memory;
	CHECK(shingles_to_show(text, length, scheme_called(scheme), &shown));
	took = host_peak - before;
	CHECK_MSG(took < 4 * length + 160 * shown.count + 100000,
			  "%s: %zu bytes of text, %zu shingles, %zu bytes", scheme, length, shown.count, took);
	shown_free(&shown);
	CHECK(host_memory == before);
}

/* A text of one antecedent, many times, and then one long chain. */
static void
test_shown_memory(void)
{
	const size_t times = 20000;
	const size_t longest = 20000;
	char *text = malloc(4 * times + 2 * longest);
	size_t length = 0;

	/* Allocate what is never freed before anything is measured. */
	CHECK(is_stop_word(shingle_of_token("the", 3)));
	CHECK(word_set_has(language_antecedents(LANGUAGE_ENGLISH), shingle_of_token("was", 3)));
	for (size_t i = 0; i < times; i++, length += 4)
		memcpy(text + length, "was ", 4);
	memset(text + length, 'x', longest);
	text[length + longest] = ' ';
	memset(text + length + longest + 1, 'y', longest - 1);
	length += 2 * longest;
	check_shown_memory(text, length, "spot 1 2");
	check_shown_memory(text, length, "word 3");
	check_shown_memory(text, length, "char 5");
	check_shown_memory(text, length, "stopword 255");
	free(text);
}

/* A text of too many distinct shingles is refused, and takes little memory. */
static void
test_too_many_shown(void)
{
	const size_t length = SHOWN_MAX + 10000;
	char *text = malloc(length);
	uint64_t state = 1;
	ShownShingles shown;

	for (size_t i = 0; i < length; i++)
	{
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		text[i] = (char) ('a' + (state >> 33) % 26);
	}
	CHECK(!shingles_to_show(text, length, scheme_called("char 12"), &shown));
	CHECK(shown.count == SHOWN_MAX);
	shown_free(&shown);
	CHECK(shingles_to_show(text, length, scheme_called("char 2"), &shown));
	CHECK(shown.count == 26 * 26);
	shown_free(&shown);
	free(text);
}

/* A HashSink that finds the most hashes between two checks for interrupts. */
typedef struct Patience
{
	unsigned long checks;
	size_t hashes;
	size_t most;
} Patience;

static void
count_patience(void *state, const uint64_t *hashes, size_t count)
{
	Patience *patience = state;

	(void) hashes;
	if (patience->checks != host_interrupt_checks)
		patience->hashes = 0;
	patience->checks = host_interrupt_checks;
	patience->hashes += count;
	if (patience->hashes > patience->most)
		patience->most = patience->hashes;
}

/* A very long word is one token of many units. */
static void
test_interrupts(void)
{
	size_t length = 1024 * 1024;
	char *text = malloc(length);
	Patience patience = {0, 0, 0};

	memset(text, 'x', length);
	shingle_text(text, length, scheme_called("char 5"), count_patience, &patience);
	CHECK_MSG(patience.most > 0 && patience.most <= 65536, "%zu hashes", patience.most);
	free(text);
}

int
main(void)
{
	test_texts();
	test_sizes();
	test_shown_text();
	test_shown_memory();
	test_too_many_shown();
	test_interrupts();
	return unit_report();
}
