/*
 * test_repeats.c: words that stood before, in runs of a least length, against all windows of small
 * corpora, with lists of all sizes.
 */
#include <string.h>

#include "base/hash.h"
#include "compare/compare.h"
#include "join/repeats.h"
#include "random.h"
#include "unit.h"

extern size_t host_limit_most;

#define WORDS_MOST 400
#define RECORDS_MOST 40

/* Words of one letter each, in texts of records. */
typedef struct Corpus
{
	int words;
	int records;
	char word[WORDS_MOST];
	int record[WORDS_MOST];   /* the record of each word */
	int text[WORDS_MOST];     /* the text, which no window leaves */
	int position[WORDS_MOST]; /* the position in its record, in words */
	int others;               /* the first words that are of other records; or -1 */
	bool goes[WORDS_MOST];
	int repeated[WORDS_MOST]; /* a repeated window that has the word, or -1 */
} Corpus;

/* ---- All windows ----------------------------------------------------------- */

/* Returns whether a window begins at a word. */
static bool
is_window(const Corpus *c, int at, int run)
{
	return at + run <= c->words && c->text[at] == c->text[at + run - 1];
}

static bool
are_equal(const Corpus *c, int x, int y, int run)
{
	return memcmp(c->word + x, c->word + y, run) == 0;
}

/* Finds what goes, by the definition. */
static void
find_all(Corpus *c, int run)
{
	static bool first_copy[WORDS_MOST];

	memset(first_copy, 0, sizeof(first_copy));
	memset(c->repeated, -1, sizeof(c->repeated));
	for (int at = 0; at < c->words; at++)
	{
		int first = 0;
		bool against = c->others >= 0;

		if (!is_window(c, at, run) || (against && at < c->others))
			continue;
		while (!is_window(c, first, run) || !are_equal(c, first, at, run))
			first++;
		if (first == at || (against && first >= c->others))
			continue;
		for (int i = first; i < first + run && !against; i++)
			first_copy[i] = true;
		if (c->record[first] != c->record[at] || c->text[first] != c->text[at] || first + run <= at)
			for (int i = at; i < at + run; i++)
				c->repeated[i] = at;
	}
	for (int i = 0; i < c->words; i++)
		c->goes[i] = c->repeated[i] >= 0 && !first_copy[i];
}

/* ---- What is found --------------------------------------------------------- */

/* Adds the words of the records up to a word, in pieces of any size. */
static void
add_words(Repeats *repeats, Corpus *c, int from, int to)
{
	PlacedWords words = {.seed = 7};
	char text[2 * WORDS_MOST];
	size_t length = 0;

	for (int i = from; i < to; i++)
	{
		text[length++] = c->word[i];
		text[length++] = ' ';
		if (i + 1 < to && c->text[i + 1] == c->text[i])
			continue;
		placed_words_add(&words, text, length);
		length = 0;
		if (i + 1 == to || c->record[i + 1] != c->record[i])
			placed_words_end_record(&words);
	}
	for (size_t at = 0, some; at < words.count; at += some)
	{
		some = 1 + random_below(50);
		some = Min(some, words.count - at);
		repeats_add(repeats, words.word + at, some);
	}
	host_free(words.word);
}

/* Returns the first word of a record. */
static int
beginning_of(const Corpus *c, int record)
{
	int i = 0;

	while (c->record[i] != record)
		i++;
	return i;
}

/* Checks a part against its first copy, and marks its words. */
static void
check_part(const Corpus *c, const RepeatedPart *part, int run, bool *gone)
{
	int start = beginning_of(c, part->record) + part->from / 2;
	int end = beginning_of(c, part->record) + (part->to + 1) / 2;
	int first = beginning_of(c, part->first_record) + part->first_from / 2;
	int cut = beginning_of(c, part->record) + part->cut_from / 2;
	int before = 0;
	int behind = 0;

	CHECK(part->to - part->from == part->first_to - part->first_from);
	CHECK(first < start && are_equal(c, first, start, end - start));
	while (start - before > 0 && first - before > 0 &&
		   c->text[start - before - 1] == c->text[start] &&
		   c->text[first - before - 1] == c->text[first] &&
		   c->word[start - before - 1] == c->word[first - before - 1])
		before++;
	while (end + behind < c->words && c->text[end + behind] == c->text[start] &&
		   c->text[first + end - start + behind] == c->text[first] &&
		   c->word[end + behind] == c->word[first + end - start + behind])
		behind++;
	CHECK(before + end - start + behind >= run);
	for (int i = 0; i < end - start; i++)
		CHECK(!c->goes[first + i] && c->goes[start + i]);
	CHECK((int) part->words == end - cut && cut >= start);
	for (int i = cut; i < end; i++)
	{
		CHECK(!gone[i]);
		gone[i] = true;
	}
	CHECK(!part->blank);
	CHECK(part->cut_to ==
		  (end < c->words && c->text[end] == c->text[start] ? part->to + 1 : part->to));
}

/* Compares what is found with all windows; returns a hash of it. */
static uint64_t
check_once(Corpus *c, int run, size_t memory)
{
	Repeats repeats = repeats_begin(run, memory);
	bool gone[WORDS_MOST] = {false};
	int wrong = 0;
	uint64_t hash = 0;
	uint64_t others;

	find_all(c, run);
	add_words(&repeats, c, 0, Max(c->others, 0));
	others = repeats.record_count;
	add_words(&repeats, c, Max(c->others, 0), c->words);
	repeats_find(&repeats, c->others >= 0 ? &others : NULL);
	for (int record = 0, some; record < c->records; record += some)
	{
		size_t found;
		RepeatedPart *part;

		some = 1 + random_below(5);
		some = Min(some, c->records - record);
		part = repeats_of(&repeats, record, some, &found);
		for (size_t i = 0; i < found; i++)
		{
			int left = 0;

			check_part(c, part + i, run, gone);
			hash = mix64(hash + (part[i].record << 32 | part[i].from));
			hash = mix64(hash + ((uint64_t) part[i].to << 32 | part[i].first_from));
			hash = mix64(hash + part[i].first_record);
			for (int j = 0; j < c->words; j++)
				left += c->record[j] == (int) part[i].record && !gone[j];
			CHECK((int) part[i].left == left);
		}
		host_free(part);
	}
	for (int i = 0; i < c->words; i++)
		wrong += gone[i] != c->goes[i];
	CHECK_MSG(wrong == 0, "%d of %d words, run %d, others %d: %.*s", wrong, c->words, run,
			  c->others, c->words, c->word);
	repeats_end(&repeats);
	return hash;
}

/* Checks what is found, which does not depend on secret numbers, nor on the sizes of lists. */
static void
check_corpus(Corpus *c, int run, size_t memory)
{
	size_t limit = host_limit_most;
	uint64_t found = check_once(c, run, memory);

	host_limit_most = SIZE_MAX;
	host_seed++;
	CHECK_MSG(check_once(c, run, 1 << 20) == found, "%.*s, run %d", c->words, c->word, run);
	host_limit_most = limit;
}

/* ---- Corpora --------------------------------------------------------------- */

/* Makes a corpus of words: a blank ends a record, a comma a text. */
static Corpus
corpus_of(const char *words, int others)
{
	Corpus c = {.others = others};
	int text = 0;
	int position = 0;

	for (; *words != '\0'; words++)
	{
		text += *words == ',' || *words == ' ';
		if (*words == ' ')
		{
			c.records++;
			position = 0;
		}
		if (*words == ',' || *words == ' ')
			continue;
		c.word[c.words] = *words;
		c.text[c.words] = text;
		c.position[c.words] = position++;
		c.record[c.words++] = c.records;
	}
	c.records++;
	return c;
}

/* What goes of the words of some records, as marks. */
static void
check_chosen(const char *words, int run, const char *marks)
{
	Corpus c = corpus_of(words, -1);

	check_corpus(&c, run, 1 << 20);
	for (int i = 0; i < c.words; i++)
		CHECK_MSG(c.goes[i] == (marks[i] == '-'), "%s, run %d", words, run);
}

static void
test_chosen(void)
{
	char a[301];
	char marks[301];

	check_chosen("abc bcd cd", 2, "+++-++--");
	memset(a, 'a', 300);
	memset(marks, '-', 300);
	memset(marks, '+', 50);
	a[300] = '\0';
	check_chosen(a, 50, marks);
	check_chosen("abab,ab ba", 2, "+++-----");
	check_chosen("abcd abcd abcd", 4, "++++--------");
	check_chosen("abcd xabcdy abcd", 5, "++++++++++++++");
	check_chosen("aabbaa b", 1, "+-+----");
}

/* What goes of a text against another one is what shared_passages() finds there. */
static void
check_shared(const char *a, const char *b, int run)
{
	char words[WORDS_MOST];
	char text[2][2 * WORDS_MOST] = {"", ""};
	bool shared[WORDS_MOST] = {false};
	SequencePair pair;
	Passages found;
	Corpus c;

	for (const char *at = a; *at != '\0'; at++)
		sprintf(text[0] + strlen(text[0]), "%c ", *at);
	for (const char *at = b; *at != '\0'; at++)
		sprintf(text[1] + strlen(text[1]), "%c ", *at);
	CHECK(pair_of_tokens(text[0], strlen(text[0]), text[1], strlen(text[1]), &pair));
	found = shared_passages(&pair, run);
	for (size_t i = 0; i < found.count; i++)
		memset(shared + strlen(a) + found.passage[i].b, true, found.passage[i].length);
	sprintf(words, "%s %s", a, b);
	c = corpus_of(words, (int) strlen(a));
	check_corpus(&c, run, 1 << 20);
	CHECK_MSG(memcmp(shared, c.goes, c.words) == 0, "run %d: %s", run, words);
	host_free(found.passage);
	pair_free(&pair);
}

static void
test_shared(void)
{
	for (int round = 0; round < unit_rounds(2000); round++)
	{
		char text[2][101] = {"", ""};
		int alphabet = 1 + random_below(4);

		for (int i = 0; i < 2; i++)
			for (int length = 1 + random_below(100); length > 0; length--)
				text[i][length - 1] = 'a' + random_below(alphabet);
		check_shared(text[0], text[1], 1 + random_below(8));
	}
}

/* Random records, some of which have copies of what stood before, or periods. */
static void
test_random(void)
{
	static const size_t limits[] = {SIZE_MAX, SIZE_MAX, 1, 2, 3, 7, 40};

	for (int round = 0; round < unit_rounds(20000); round++)
	{
		char words[WORDS_MOST];
		int alphabet = 1 + random_below(round % 3 == 0 ? 2 : round % 3 == 1 ? 4 : 26);
		int length = 1 + random_below(round % 10 == 0 ? WORDS_MOST - 2 : 90);
		int gap = 2 + random_below(60);
		int records = 1;
		int others = -1;
		Corpus c;

		for (int i = 0; i < length; i++)
		{
			char last = i > 0 ? words[i - 1] : ' ';

			words[i] = 'a' + random_below(alphabet);
			if (last != ' ' && last != ',' && i + 1 < length && random_below(gap) == 0 &&
				records < RECORDS_MOST)
			{
				words[i] = random_below(5) == 0 ? ',' : ' ';
				records += words[i] == ' ';
			}
			else if (i > 20 && random_below(20) == 0)
				for (int from = random_below(i - 10), copied = random_below(10) + 1;
					 copied > 0 && i < length - 1 && words[from] >= 'a'; copied--)
					words[i++] = words[from++];
			if (i < length && words[i] == '\0')
				words[i] = 'a';
		}
		words[length] = '\0';
		for (int i = 0; i < length; i++)
			if (words[i] < ' ')
				words[i] = 'a';
		if (words[length - 1] < 'a')
			words[length - 1] = 'a';
		c = corpus_of(words, -1);
		if (round % 4 == 3 && c.records > 1)
		{
			others = beginning_of(&c, 1 + random_below(c.records - 1));
			c.others = others;
		}
		host_limit_most = limits[random_below(7)];
		host_seed = round * UINT64_C(0x9E3779B97F4A7C15) + 12345;
		check_corpus(&c, 1 + random_below(round % 5 == 0 ? 30 : 6), round % 2 == 0 ? 1 : 1 << 20);
		host_limit_most = SIZE_MAX;
	}
}

/* ---- Positions ------------------------------------------------------------- */

#define LONG_WORDS 200
#define LONG_TEXT (1 << 22)

/* Writes words, some of which are long or far from the one before, and notes their positions. */
static size_t
write_words(char *text, int from, int to, int *start, int *end)
{
	size_t length = 0;

	for (int i = from; i < to; i++)
	{
		size_t gap = random_below(20) == 0 ? 1 + random_below(20000) : 1 + random_below(3);

		memset(text + length, ' ', gap);
		length += gap;
		start[i] = (int) length;
		length += sprintf(text + length, "w%d", i);
		if (i % 50 == 7)
		{
			memset(text + length, 'x', 100 * i);
			length += 100 * i;
		}
		end[i] = (int) length;
	}
	return length;
}

/* Words that stand again are where they are, and where they stood, however long texts and words are. */
static void
test_positions(void)
{
	static char text[LONG_TEXT];

	for (int round = 0; round < unit_rounds(500); round++)
	{
		Repeats repeats = repeats_begin(1 + random_below(3), 1 << 20);
		PlacedWords words = {.seed = 7};
		int start[2][LONG_WORDS];
		int end[2][LONG_WORDS];
		int from = random_below(LONG_WORDS - 3);
		int to = from + 3 + random_below(LONG_WORDS - from - 3);
		RepeatedPart *part;
		size_t found;

		placed_words_add(&words, text, write_words(text, 0, LONG_WORDS, start[0], end[0]));
		placed_words_end_record(&words);
		placed_words_add(&words, text, write_words(text, from, to, start[1], end[1]));
		placed_words_end_record(&words);
		repeats_add(&repeats, words.word, words.count);
		repeats_find(&repeats, NULL);
		part = repeats_of(&repeats, 0, 2, &found);
		CHECK(found == 1 && part->record == 1 && part->first_record == 0);
		CHECK((int) part->from == start[1][from] && (int) part->to == end[1][to - 1]);
		CHECK((int) part->first_from == start[0][from] && (int) part->first_to == end[0][to - 1]);
		host_free(part);
		host_free(words.word);
		repeats_end(&repeats);
	}
}

int
main(void)
{
	size_t before = host_memory;

	test_chosen();
	test_shared();
	test_random();
	test_positions();
	CHECK(host_memory == before);
	return unit_report();
}
