/*
 * stopwords.c: the English function words that anchor 'stopword' shingles, and sets of
 * words of any language.
 *
 * The list is part of the recipe (doc/recipe.md).  Contractions come as the
 * tokens that an apostrophe leaves: "don't" is "don" and "t".
 */
#include <string.h>

#include "text/internal.h"

static const char *const stop_words[] = {
	"a",       "about",      "above",      "across",   "after",     "again",   "against",
	"all",     "along",      "also",       "although", "always",    "am",      "among",
	"an",      "and",        "another",    "any",      "are",       "around",  "as",
	"at",      "be",         "because",    "been",     "before",    "behind",  "being",
	"below",   "between",    "beyond",     "both",     "but",       "by",      "can",
	"could",   "couldn",     "d",          "did",      "didn",      "do",      "does",
	"doesn",   "doing",      "don",        "down",     "during",    "each",    "either",
	"else",    "enough",     "even",       "ever",     "every",     "few",     "for",
	"from",    "further",    "had",        "hadn",     "has",       "hasn",    "have",
	"haven",   "having",     "he",         "hence",    "her",       "here",    "hers",
	"herself", "him",        "himself",    "his",      "how",       "however", "i",
	"if",      "in",         "into",       "is",       "isn",       "it",      "its",
	"itself",  "just",       "less",       "ll",       "m",         "many",    "may",
	"me",      "might",      "more",       "most",     "much",      "must",    "my",
	"myself",  "near",       "neither",    "never",    "no",        "nor",     "not",
	"now",     "of",         "off",        "often",    "on",        "once",    "only",
	"or",      "other",      "our",        "ours",     "ourselves", "out",     "over",
	"own",     "per",        "quite",      "rather",   "re",        "s",       "same",
	"shall",   "she",        "should",     "shouldn",  "since",     "so",      "some",
	"such",    "t",          "than",       "that",     "the",       "their",   "theirs",
	"them",    "themselves", "then",       "there",    "therefore", "these",   "they",
	"this",    "those",      "though",     "through",  "thus",      "to",      "too",
	"toward",  "towards",    "under",      "unless",   "until",     "up",      "upon",
	"us",      "ve",         "very",       "was",      "wasn",      "we",      "were",
	"weren",   "what",       "when",       "where",    "whether",   "which",   "while",
	"who",     "whom",       "whose",      "why",      "will",      "with",    "within",
	"without", "won",        "would",      "wouldn",   "yet",       "you",     "your",
	"yours",   "yourself",   "yourselves",
};

#define STOP_WORDS (sizeof(stop_words) / sizeof(stop_words[0]))

/* ---- Sets of words ------------------------------------------------------- */

WordSet
word_set_of(const uint64_t *hashes, size_t count, bool forever)
{
	WordSet set = {{0}, NULL};

	set.word = (forever ? host_alloc_forever : host_alloc)(count * sizeof(uint64_t));
	(forever ? table_begin_forever : table_begin)(&set.table, count);
	table_reserve(&set.table, count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = table_hash(&set.table, hashes[i]);
		uint64_t *slot = table_search_key(&set.table, hash, hashes[i], set.word, sizeof(uint64_t));

		if (*slot == 0)
			set.word[table_put(&set.table, slot, hash)] = hashes[i];
	}
	return set;
}

void
word_set_free(WordSet *set)
{
	if (set->word == NULL)
		return;
	table_end(&set->table);
	host_free(set->word);
	set->word = NULL;
}

/* The set of the words of a list, for as long as the process lives. */
static WordSet
word_set_of_list(const char *list)
{
	size_t room = strlen(list) / 2 + 1;
	uint64_t *hash = host_alloc(room * sizeof(uint64_t));
	size_t count = 0;
	WordSet set;

	while (*list != '\0')
	{
		size_t length = strcspn(list, " ");

		hash[count++] = shingle_of_token(list, length);
		list += length + (list[length] == ' ');
	}
	set = word_set_of(hash, count, true);
	host_free(hash);
	return set;
}

static WordSet
english_stop_words(void)
{
	uint64_t hash[STOP_WORDS];

	for (size_t i = 0; i < STOP_WORDS; i++)
		hash[i] = shingle_of_token(stop_words[i], strlen(stop_words[i]));
	return word_set_of(hash, STOP_WORDS, true);
}

/* ---- Languages ----------------------------------------------------------- */

const WordSet *
language_stop_words(int language)
{
	static WordSet sets[LANGUAGES_MAX];
	WordSet *set = &sets[language];

	if (set->word == NULL)
		*set = languages[language].stop_words ? word_set_of_list(languages[language].stop_words) :
												english_stop_words();
	return set;
}

const WordSet *
language_antecedents(int language)
{
	static WordSet sets[LANGUAGES_MAX];
	WordSet *set = &sets[language];

	if (set->word == NULL)
		*set = word_set_of_list(languages[language].antecedents);
	return set;
}

bool
is_stop_word(uint64_t token_hash)
{
	return word_set_has(language_stop_words(LANGUAGE_ENGLISH), token_hash);
}
