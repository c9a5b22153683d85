/*
 * test_shingle.c: shingles against their definition, computed the slow way
 * from the tokens; and shingles to show against the shingles.
 */
#include <stdio.h>

#include "collect.h"
#include "unit.h"

#define UNITS_MAX 200000

/* The units of a text, as places in its joined tokens. */
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

/* Count a text's shingles by their definition, and check each hash. */
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

/* The distinct hashes in their order, each with its count, and its own text. */
static void
check_shown(const char *utf8, size_t length, SchemeId scheme, const HashList *list)
{
	ShownShingle *shown;
	size_t count = shingles_to_show(utf8, length, scheme, &shown);
	size_t total = 0;
	size_t next = 0;

	for (size_t i = 0; i < list->count && next < count; i++)
		if (list->hash[i] == shown[next].hash)
			next++;
	CHECK_MSG(next == count, "%zu shown, %zu in order", count, next);
	for (size_t i = 0; i < count; i++)
	{
		HashList own = hashes_from(shown[i].text, shown[i].length, scheme);

		total += shown[i].count;

		/* A shingle of characters may begin or end with a space. */
		if (SCHEME_KIND(scheme) != SCHEME_CHAR)
			CHECK_MSG(own.count == 1 && own.hash[0] == shown[i].hash, "%.*s", (int) shown[i].length,
					  shown[i].text);
		for (size_t j = 0; j < i && i < 50; j++)
			CHECK(shown[j].hash != shown[i].hash);
		free(own.hash);
	}
	CHECK_MSG(total == list->count, "%zu shown, %zu there", total, list->count);
	host_free(shown);
}

static void
check_text(const char *utf8, size_t length)
{
	static const char *const schemes[] = {"word 1",     "word 2",      "word 3",   "word 255",
										  "char 1",     "char 5",      "char 255", "stopword 1",
										  "stopword 3", "stopword 255"};
	TokenList tokens = tokens_from(utf8, length);

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
	{
		SchemeId scheme = scheme_called(schemes[i]);
		HashList list = hashes_from(utf8, length, scheme);
		size_t count;

		find_units(&tokens, SCHEME_KIND(scheme) == SCHEME_CHAR);
		count = check_hashes(&tokens, scheme, &list);
		CHECK_MSG(count == list.count, "%s: %zu, not %zu", schemes[i], list.count, count);
		check_shown(utf8, length, scheme, &list);
		free(list.hash);
	}
	free(tokens.text);
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
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_text(texts[i], strlen(texts[i]));
}

/* Texts around every size at which something is cut: windows and batches. */
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

static void
test_shown_text(void)
{
	static const char text[] = "To be, or not to be: to be!";
	static const char *const expected[] = {"to be", "be or", "or not", "not to", "be to"};
	static const uint32_t counts[] = {3, 1, 1, 1, 1};
	ShownShingle *shown;
	size_t count = shingles_to_show(text, strlen(text), scheme_called("word 2"), &shown);

	CHECK(count == 5);
	for (size_t i = 0; i < count; i++)
		CHECK_MSG(shown[i].length == strlen(expected[i]) && shown[i].count == counts[i] &&
					  memcmp(shown[i].text, expected[i], shown[i].length) == 0,
				  "%.*s, %u times", (int) shown[i].length, shown[i].text,
				  (unsigned) shown[i].count);
	host_free(shown);

	count = shingles_to_show("Ab c", 4, scheme_called("char 3"), &shown);
	CHECK(count == 2 && memcmp(shown[0].text, "ab ", 3) == 0 &&
		  memcmp(shown[1].text, "b c", 3) == 0);
	host_free(shown);

	count = shingles_to_show("cat of the sea", 14, scheme_called("stopword 2"), &shown);
	CHECK(count == 2 && memcmp(shown[0].text, "of the", 6) == 0 &&
		  memcmp(shown[1].text, "the sea", 7) == 0);
	host_free(shown);
}

/* A HashSink: how many hashes come between two looks for interrupts, at most. */
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

/* One endless word is a single token of many units. */
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
	test_interrupts();
	return unit_report();
}
