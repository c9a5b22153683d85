/*
 * stopwords.c: the English function words that anchor 'stopword' shingles.
 *
 * The list is part of the recipe (doc/recipe.md).  Contractions come as the
 * tokens that an apostrophe leaves: "don't" is "don" and "t".
 */
#include <string.h>

#include "internal.h"

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

/* Open addressing by the highest bits of the hash; no word hashes to 0. */
#define SLOT_BITS 10
#define SLOTS (1 << SLOT_BITS)
#define SLOT_OF(hash) ((unsigned) ((hash) >> (64 - SLOT_BITS)))

static uint64_t slots[SLOTS];
static bool slots_are_filled = false;

/* The slot that holds a hash, or the free one where it would go. */
static inline unsigned
find_slot(uint64_t hash)
{
	unsigned slot = SLOT_OF(hash);

	while (slots[slot] != 0 && slots[slot] != hash)
		slot = (slot + 1) % SLOTS;
	return slot;
}

static void
fill_slots(void)
{
	for (size_t i = 0; i < STOP_WORDS; i++)
	{
		uint64_t hash = shingle_of_token(stop_words[i], strlen(stop_words[i]));

		slots[find_slot(hash)] = hash;
	}
	slots_are_filled = true;
}

bool
is_stop_word(uint64_t token_hash)
{
	if (!slots_are_filled)
		fill_slots();
	return token_hash != 0 && slots[find_slot(token_hash)] == token_hash;
}
