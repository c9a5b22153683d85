/*
 * test_recipe.c: the code against the recipe (doc/explanation): its test vectors and its lists of words.
 * Runs in the root of the tree.
 */
#include <stdio.h>

#include <xxhash.h>

#include "collect.h"
#include "sketch/sketch.h"
#include "unit.h"

#define VECTORS "doc/explanation/recipe-vectors.txt"
#define WORDS "doc/explanation/recipe-words.txt"
#define LINE_MAX_BYTES 4096
#define CELLS_MAX 3

static int tokens_seen, shingles_seen, elements_seen, tables_seen, signatures_seen, lexicons_seen;

static FILE *
open_file(const char *name)
{
	FILE *file = fopen(name, "r");

	if (file == NULL)
	{
		printf("cannot open %s: run this test from the root of the tree\n", name);
		exit(2);
	}
	return file;
}

/* Replaces \xHH and \u{H} in place; returns the length. */
static size_t
unescape(char *cell)
{
	char *in = cell;
	uint8_t *out = (uint8_t *) cell;

	while (*in)
	{
		if (in[0] == '\\' && in[1] == 'x')
		{
			char digits[3] = {in[2], in[3], '\0'};

			*out++ = (uint8_t) strtoul(digits, NULL, 16);
			in += 4;
		}
		else if (in[0] == '\\' && in[1] == 'u')
		{
			out += utf8_encode((uint32_t) strtoul(in + 3, &in, 16), out);
			in++;
		}
		else
			*out++ = (uint8_t) *in++;
	}
	*out = '\0';
	return out - (uint8_t *) cell;
}

/* Cuts out the text between backquotes; returns the number of cells. */
static int
split_cells(char *line, char **cells)
{
	int count = 0;

	strtok(line, "`");
	while (count < CELLS_MAX && (cells[count] = strtok(NULL, "`")) != NULL)
	{
		count++;
		strtok(NULL, "`");
	}
	return count;
}

/* Checks the tokens or chunks of a text, as a scheme makes them. */
static void
check_normalised(const char *scheme, char *text, char *expected)
{
	char shown[LINE_MAX_BYTES];
	TokenList list;

	strcpy(shown, text);
	list = words_from(text, unescape(text), scheme_called(scheme));
	unescape(expected);
	CHECK_MSG(strcmp(list.text, strcmp(expected, " ") == 0 ? "" : expected) == 0, "%s gives %s",
			  shown, list.text);
	free(list.text);
	tokens_seen++;
}

static void
check_shingles(const char *scheme, char *text, char *expected)
{
	HashList list = hashes_from(text, unescape(text), scheme_called(scheme));
	char *hash = strtok(expected, " ");

	for (size_t i = 0; i < list.count; i++, hash = strtok(NULL, " "))
		CHECK_MSG(hash && strtoull(hash, NULL, 16) == list.hash[i],
				  "%s, %s: shingle %zu is %016llx", scheme, text, i,
				  (unsigned long long) list.hash[i]);
	CHECK_MSG(hash == NULL, "%s, %s: %zu shingles only", scheme, text, list.count);
	free(list.hash);
	shingles_seen++;
}

static void
check_element(char *text, const char *expected)
{
	uint64_t element = shingle_of_token(text, unescape(text));

	CHECK_MSG(strtoull(expected, NULL, 16) == element, "%s: %016llx", text,
			  (unsigned long long) element);
	elements_seen++;
}

static void
add_form(XXH3_state_t *hash, uint32_t code_point)
{
	uint8_t utf8[4];
	uint32_t form[PIECE_RESULT_MAX];
	int count;

	normalise_piece(utf8, utf8_encode(code_point, utf8), form, &count);
	for (int i = 0; i < count; i++)
		XXH3_64bits_update(hash, utf8, utf8_encode(form[i], utf8));
	XXH3_64bits_update(hash, "\n", 1);
}

static void
check_table(const char *table, const char *expected)
{
	XXH3_state_t *hash = XXH3_createState();
	bool forms = strcmp(table, "forms") == 0;

	XXH3_64bits_reset(hash);
	for (uint32_t c = 0; c < 0x110000; c++)
	{
		uint8_t class = CHAR_CLASS(char_info(c));

		if (!forms)
			XXH3_64bits_update(hash, &class, 1);
		else if (char_info(c) & CHAR_ASSIGNED)
			add_form(hash, c);
	}
	CHECK_MSG(strtoull(expected, NULL, 16) == XXH3_64bits_digest(hash), "%s: %016llx", table,
			  (unsigned long long) XXH3_64bits_digest(hash));
	XXH3_freeState(hash);
	tables_seen++;
}

/* ---- Signatures --------------------------------------------------------- */

#define BYTES_MAX (MINHASH_BITS_MAX / 8)

/* The signature that the first cell of a row names. */
typedef struct Wanted
{
	int rows; /* of a band, 0: the signature itself is meant */
	int k;
	int b;
	bool is_minhash;
	bool is_weighted;
	const char *scheme; /* NULL: of numbers */
} Wanted;

/* Reads "[bands ROWS] minhash K B [SCHEME]", "weighted minhash K B" or "simhash F [SCHEME]". */
static Wanted
read_wanted(const char *cell)
{
	Wanted wanted = {.b = 1};
	int taken = 0;

	wanted.is_weighted = strncmp(cell, "weighted ", 9) == 0;
	cell += wanted.is_weighted ? 9 : 0;

	if (sscanf(cell, "bands %d %n", &wanted.rows, &taken) == 1)
		cell += taken;
	taken = 0;
	wanted.is_minhash = sscanf(cell, "minhash %d %d %n", &wanted.k, &wanted.b, &taken) == 2;
	if (!wanted.is_minhash && sscanf(cell, "simhash %d %n", &wanted.k, &taken) != 1)
		CHECK_MSG(false, "what is %s?", cell);
	if (cell[taken] != '\0')
		wanted.scheme = cell + taken;
	return wanted;
}

/* Signs numbers that weigh their remainders by 16. */
static void
sign_weighted(const Wanted *wanted, const uint64_t *numbers, size_t count, uint8_t *packed)
{
	static uint32_t symbols[MINHASH_K_MAX];
	Bag bag = {.element = malloc(count * sizeof(int64_t)),
			   .frequency = malloc(count * sizeof(uint32_t))};

	for (size_t i = 0; i < count; i++)
		if (numbers[i] % 16 > 0)
		{
			bag.element[bag.count] = (int64_t) numbers[i];
			bag.frequency[bag.count++] = (uint32_t) (numbers[i] % 16);
		}
	minhash_of_copies(&bag, wanted->k, symbols);
	minhash_pack(symbols, wanted->k, wanted->b, packed);
	free(bag.element);
	free(bag.frequency);
}

static void
sign(const Wanted *wanted, const uint64_t *hashes, size_t count, uint8_t *packed)
{
	static uint32_t symbols[MINHASH_K_MAX];
	MinhashBuilder set;
	SimhashBuilder votes;

	if (wanted->is_weighted)
	{
		sign_weighted(wanted, hashes, count, packed);
	}
	else if (wanted->is_minhash)
	{
		minhash_begin(&set, count);
		minhash_add(&set, hashes, count);
		minhash_finish(&set, wanted->k, symbols);
		minhash_pack(symbols, wanted->k, wanted->b, packed);
	}
	else
	{
		simhash_begin(&votes, wanted->k);
		simhash_add(&votes, hashes, count);
		simhash_finish(&votes, packed);
	}
}

static void
check_keys(const Wanted *wanted, const uint8_t *packed, char *expected)
{
	uint64_t keys[MINHASH_K_MAX];
	int bands = minhash_band_keys(packed, wanted->k, wanted->b, wanted->rows, keys);
	char *key = strtok(expected, " ");

	for (int i = 0; i < bands; i++, key = strtok(NULL, " "))
		CHECK_MSG(key && strtoull(key, NULL, 16) == keys[i], "key %d is %016llx", i,
				  (unsigned long long) keys[i]);
	CHECK(key == NULL);
}

static void
check_signature_of_text(const char *cell, char *text, char *expected)
{
	Wanted wanted = read_wanted(cell);
	HashList list = hashes_from(text, unescape(text), scheme_called(wanted.scheme));
	uint8_t packed[BYTES_MAX];
	char shown[2 * BYTES_MAX + 1] = "";
	size_t bytes = SYMBOL_BYTES(wanted.k, wanted.b);

	sign(&wanted, list.hash, list.count, packed);
	for (size_t i = 0; i < bytes; i++)
		sprintf(shown + 2 * i, "%02x", packed[i]);
	if (wanted.rows > 0)
		check_keys(&wanted, packed, expected);
	else
		CHECK_MSG(strcmp(shown, expected) == 0, "%s, %s: %s", cell, text, shown);
	free(list.hash);
	signatures_seen++;
}

static void
check_signature_of_numbers(const char *cell, const char *range, const char *expected)
{
	Wanted wanted = read_wanted(cell);
	uint8_t packed[BYTES_MAX];
	unsigned first = 0;
	unsigned last = 0;
	uint64_t *element;
	uint64_t hash;

	CHECK(sscanf(range, "%u..%u", &first, &last) == 2);
	element = malloc((last - first + 1) * sizeof(uint64_t));
	for (unsigned i = first; i <= last; i++)
		element[i - first] = i;
	sign(&wanted, element, last - first + 1, packed);
	hash = XXH3_64bits(packed, SYMBOL_BYTES(wanted.k, wanted.b));
	CHECK_MSG(strtoull(expected, NULL, 16) == hash, "%s of %s: %016llx", cell, range,
			  (unsigned long long) hash);
	free(element);
	signatures_seen++;
}

/* Checks the digest of a lexicon, given as "lexicon SCHEME/DOCUMENTS/KEY:WEIGHT KEY:WEIGHT". */
static void
check_lexicon(const char *cell, const char *expected)
{
	uint32_t key[2];
	uint8_t weight[2];
	unsigned number[5];
	uint64_t digest;

	CHECK(sscanf(cell, "lexicon word 1/%u/%u:%u %u:%u", &number[0], &number[1], &number[2],
				 &number[3], &number[4]) == 5);
	key[0] = number[1];
	weight[0] = (uint8_t) number[2];
	key[1] = number[3];
	weight[1] = (uint8_t) number[4];
	digest = weights_digest(scheme_called("word 1"), number[0], key, weight, 2);
	CHECK_MSG(strtoull(expected, NULL, 16) == digest % 65535 + 1, "%s: %04x", cell,
			  (unsigned) (digest % 65535 + 1));
	lexicons_seen++;
}

static bool
names_signature(const char *cell)
{
	return strncmp(cell, "bands ", 6) == 0 || strncmp(cell, "minhash ", 8) == 0 ||
		strncmp(cell, "weighted ", 9) == 0 || strncmp(cell, "simhash ", 8) == 0;
}

/* ---- The page ----------------------------------------------------------- */

static void
check_row(char *line)
{
	char *cells[CELLS_MAX];
	int count = split_cells(line, cells);

	if (count == 2 && strncmp(cells[0], "lexicon ", 8) == 0)
		check_lexicon(cells[0], cells[1]);
	else if (count == 2)
		check_normalised("word 1", cells[0], cells[1]);
	else if (strcmp(cells[0], "chunks") == 0)
		check_normalised("anychar 1", cells[1], cells[2]);
	else if (names_signature(cells[0]) && read_wanted(cells[0]).scheme != NULL)
		check_signature_of_text(cells[0], cells[1], cells[2]);
	else if (names_signature(cells[0]))
		check_signature_of_numbers(cells[0], cells[1], cells[2]);
	else if (strcmp(cells[0], "tokens") == 0)
		check_element(cells[1], cells[2]);
	else if (strcmp(cells[0], "classes") == 0 || strcmp(cells[0], "forms") == 0)
		check_table(cells[0], cells[2]);
	else
		check_shingles(cells[0], cells[1], cells[2]);
}

static void
test_vectors(void)
{
	FILE *file = open_file(VECTORS);
	char line[LINE_MAX_BYTES];

	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "| `", 3) == 0)
			check_row(line);
	fclose(file);
	CHECK(tokens_seen >= 38 + 9 && shingles_seen >= 16 && elements_seen >= 5 && tables_seen == 2 &&
		  signatures_seen >= 23 && lexicons_seen >= 1);
}

/* Reads all words of the block that starts with a line, each followed by a space. */
static void
read_documented_words(const char *fence, char *words)
{
	FILE *file = open_file(WORDS);
	char line[LINE_MAX_BYTES];
	bool in_block = false;

	words[0] = '\0';
	while (fgets(line, sizeof(line), file))
	{
		if (strncmp(line, "```", 3) == 0)
			in_block = strcmp(line, fence) == 0;
		else if (in_block)
		{
			line[strcspn(line, "\n")] = ' ';
			strcat(words, line);
		}
	}
	fclose(file);
}

/* The list in the block that starts with a line equals the one in the code. */
static void
check_documented(const char *fence, const char *list)
{
	char documented[LINE_MAX_BYTES];
	size_t length = strlen(list);

	read_documented_words(fence, documented);
	CHECK_MSG(strncmp(documented, list, length) == 0 && strcmp(documented + length, " ") == 0,
			  "%s%s", fence, documented);
}

static void
test_stop_words(void)
{
	char documented[LINE_MAX_BYTES];
	int count = 0;

	check_documented("```stopwords\n", languages[LANGUAGE_ENGLISH].stop_words);
	read_documented_words("```stopwords\n", documented);
	for (char *word = strtok(documented, " "); word; word = strtok(NULL, " "), count++)
		CHECK_MSG(is_stop_word(shingle_of_token(word, strlen(word))), "%s", word);
	CHECK_MSG(count > 100, "%d words", count);
	CHECK(!is_stop_word(shingle_of_token("fox", 3)));
	CHECK(!is_stop_word(shingle_of_token("The", 3)));
	CHECK(!is_stop_word(0));
	for (uint64_t i = 1; i < 100000; i++)
		if (is_stop_word(mix64(i)))
			CHECK_MSG(false, "%llu", (unsigned long long) i);
}

/* ---- Words of spot signatures --------------------------------------------- */

/* Each word is a normalised token and in the set, and the words are sorted. */
static int
check_words(const char *code, const char *list, const WordSet *set)
{
	char words[LINE_MAX_BYTES];
	char previous[64] = "";
	int count = 0;

	CHECK(strlen(list) < sizeof(words));
	strcpy(words, list);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "), count++)
	{
		TokenList tokens = tokens_from(word, strlen(word));

		CHECK_MSG(tokens.count == 1 && strcmp(tokens.text, word) == 0, "%s: %s", code, word);
		CHECK_MSG(strcmp(previous, word) < 0, "%s: %s after %s", code, word, previous);
		CHECK_MSG(word_set_has(set, shingle_of_token(word, strlen(word))), "%s: %s", code, word);
		snprintf(previous, sizeof(previous), "%s", word);
		free(tokens.text);
	}
	CHECK_MSG(word_set_has(set, shingle_of_token("zebra", 5)) == false, "%s", code);
	return count;
}

static void
test_languages(void)
{
	CHECK(language_count >= 5 && language_count <= LANGUAGES_MAX);
	CHECK(strcmp(languages[LANGUAGE_ENGLISH].code, "en") == 0);
	for (int i = 0; i < language_count; i++)
	{
		const Language *language = &languages[i];
		const WordSet *stop_words = language_stop_words(i);
		char fence[64];

		CHECK(language_called(language->code, 2) == i);
		CHECK(check_words(language->code, language->antecedents, language_antecedents(i)) > 8);
		CHECK(check_words(language->code, language->antecedents, stop_words) > 8);
		snprintf(fence, sizeof(fence), "```antecedents %s\n", language->code);
		check_documented(fence, language->antecedents);
		CHECK(check_words(language->code, language->stop_words, stop_words) > 100);
		snprintf(fence, sizeof(fence), "```stopwords %s\n", language->code);
		if (i != LANGUAGE_ENGLISH)
			check_documented(fence, language->stop_words);
	}
}

int
main(void)
{
	test_vectors();
	test_stop_words();
	test_languages();
	return unit_report();
}
