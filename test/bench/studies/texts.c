/*
 * texts.c: writes generated texts, some of which are near-duplicates of others.
 *
 *   texts rows ROWS              id, text
 *   texts families ROWS          id, family: the texts of a family derive from one text
 *   texts queries ROWS QUERIES   id, text: four in five derive from the texts of the same rows
 *   texts mixed ROWS             id, text: of 100 texts 54 are new, 20 edited copies of earlier ones, and 15
 *                                copies; 10 are a chain, each the one before with some words replaced; one
 *                                is a form that all such texts fill in
 *
 * A line is a row of PostgreSQL's COPY.  A text has 80 to 120 lower-case words with a blank
 * between two of them.  The frequency of a word is proportional to one over its rank.  Of 1,000
 * texts 510 are in a family of their own; the other families have 2, 3, 5, 10, 20 and 40 texts.
 * The texts of a family are copies of its first one at resemblances that are spread evenly over
 * 0.5 to 1: either single words are replaced, or a passage.  Texts are numbered from 1, in an
 * order that scatters families.  The same arguments give the same texts on every machine.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 20000
#define WORD_BYTES 12
#define BLOCK 1000
#define STRIDE UINT64_C(2654435761)
#define FIRST_QUERY (UINT64_C(1) << 40)

typedef struct Text
{
	uint64_t family;
	uint64_t number; /* the family's first text has the family's number */
} Text;

static char word[WORDS][WORD_BYTES];
static uint64_t weight_to[WORDS]; /* the sum of the weights up to this word */

/* Returns a number that depends on two numbers; the last steps are those of SplitMix64. */
static uint64_t
draw(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9E3779B97F4A7C15) + (b + 1) * UINT64_C(0xD1B54A32D192ED03);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Returns a number from 0 to 1. */
static double
uniform(uint64_t a, uint64_t b)
{
	return (draw(a, b) >> 11) / 9007199254740992.0;
}

/* Makes words of 3 to 9 letters, which are about as frequent as in English. */
static void
make_words(void)
{
	static const char letters[] = "eeeeeetttttaaaaooooiiiinnnnssshhhrrrddllluuccmmwfgypbvk";
	uint64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
	{
		int length = 3 + draw(i, 0) % 7;

		for (int j = 0; j < length; j++)
			word[i][j] = letters[draw(i, 1 + j) % (sizeof(letters) - 1)];
		sum += (UINT64_C(1) << 32) / (i + 1);
		weight_to[i] = sum;
	}
}

static const char *
draw_word(uint64_t number, uint64_t place)
{
	uint64_t x = draw(number, place) % weight_to[WORDS - 1];
	int low = 0;
	int high = WORDS - 1;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (weight_to[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return word[low];
}

/* Returns the text of a number, whose place in its block decides on its family. */
static Text
find_text(uint64_t number)
{
	static const struct
	{
		uint64_t size;
		uint64_t families;
	} kinds[] = {{40, 1}, {20, 2}, {10, 4}, {5, 8}, {3, 40}, {2, 105}, {1, 510}};
	uint64_t place = number % BLOCK;
	uint64_t start = number - place;

	for (int i = 0;; i++)
	{
		uint64_t texts = kinds[i].size * kinds[i].families;

		if (place < texts)
			return (Text){start + place / kinds[i].size * kinds[i].size, number};
		place -= texts;
		start += texts;
	}
}

/* Writes a text.  A copy that keeps a share s of the shingles has a resemblance of s / (2 - s). */
static void
put_text(Text text)
{
	uint64_t own = ~text.number;
	int words = 80 + draw(text.family, UINT64_C(1) << 32) % 41;
	double resemblance = 0.5 + 0.5 * uniform(own, UINT64_C(1) << 32);
	double kept = 2 * resemblance / (1 + resemblance);
	double chance = 1 - cbrt(kept);
	int passage = (1 - kept) * words;
	int start = draw(own, UINT64_C(2) << 32) % (words - passage + 1);
	int in_passage = draw(own, UINT64_C(3) << 32) % 2;

	for (int i = 0; i < words; i++)
	{
		int replaced = in_passage ? i >= start && i < start + passage :
									uniform(own, (UINT64_C(4) << 32) + i) < chance;

		if (i > 0)
			putchar(' ');
		fputs(draw_word(text.number != text.family && replaced ? own : text.family, i), stdout);
	}
	putchar('\n');
}

/* Returns a query's text: that of a family of the rows, or of a new one. */
static Text
find_query(uint64_t query, uint64_t rows)
{
	uint64_t number = FIRST_QUERY + query;

	if (query % 5 == 0)
		return (Text){number, number};
	return (Text){find_text(draw(number, 0) % rows).family, number};
}

/* Writes a text of a chain, whose first has number `first`: it changes the one before. */
static void
put_link(uint64_t first, uint64_t number)
{
	int words = 80 + draw(first, UINT64_C(1) << 32) % 41;

	for (int i = 0; i < words; i++)
	{
		uint64_t from = number;

		while (from > first && uniform(~from, (UINT64_C(5) << 32) + i) > 0.015)
			from--;
		printf("%s%s", i > 0 ? " " : "", draw_word(from, i));
	}
	putchar('\n');
}

/* Writes a form of 100 words, three of which are the text's own. */
static void
put_form(uint64_t number)
{
	for (int i = 0; i < 100; i++)
		printf("%s%s", i > 0 ? " " : "", draw_word(i >= 50 && i < 53 ? number : 0, i));
	putchar('\n');
}

/* Writes a text of the mixed ones, whose place in a hundred decides what it is. */
static void
put_mixed(uint64_t number)
{
	uint64_t place = number % 100;
	uint64_t earlier = draw(number, UINT64_C(6) << 32) % number;

	earlier -= earlier % 100;
	earlier += draw(number, UINT64_C(7) << 32) % 50;
	if (place >= 50 && place < 70)
		put_text((Text){earlier, number});
	else if (place >= 70 && place < 85)
		put_text((Text){earlier, earlier});
	else if (place >= 85 && place < 95)
		put_link(number - (place - 85), number);
	else if (place == 95)
		put_form(number);
	else
		put_text((Text){number, number});
}

static int
usage(void)
{
	fprintf(stderr, "usage: texts mixed ROWS | rows ROWS | families ROWS | queries ROWS QUERIES\n");
	return 2;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int queries = strcmp(what, "queries") == 0;
	int families = strcmp(what, "families") == 0;
	int mixed = strcmp(what, "mixed") == 0;
	uint64_t rows = argc == 3 + queries ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t lines = queries && rows > 0 ? strtoull(argv[3], NULL, 10) : rows;

	if (lines == 0 || rows % STRIDE == 0 ||
		(!queries && !families && !mixed && strcmp(what, "rows") != 0))
		return usage();
	make_words();
	for (uint64_t i = 1; i <= lines; i++)
	{
		Text text = queries ? find_query(i, rows) : find_text(i * STRIDE % rows);

		printf("%llu\t", (unsigned long long) i);
		if (families)
			printf("%llu\n", (unsigned long long) text.family);
		else if (mixed)
			put_mixed(i);
		else
			put_text(text);
	}
	return 0;
}
