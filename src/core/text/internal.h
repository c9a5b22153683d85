/*
 * internal.h: what the files of text/ and their tests share.
 */
#ifndef NEARDUP_TEXT_INTERNAL_H
#define NEARDUP_TEXT_INTERNAL_H

#include "base/hash.h"
#include "text/text.h"
#include "text/utf8.h"

/* ---- Characters (unicode_tables.c, made by unicode_tables.pl) ----------- */

/* What a normalised character does to a token. */
typedef enum CharClass
{
	CHAR_SEPARATOR, /* ends it; includes what Unicode 13.0 does not assign */
	CHAR_WORD,      /* a letter or number: starts or continues it */
	CHAR_MARK,      /* continues it, never starts one */
	CHAR_ALONE      /* a letter of a script without spaces: a token, with its marks */
} CharClass;

#define CHAR_CLASS(info) ((CharClass) (3 & (info)))

/*
 * Normalisation leaves the character as it is, and no character before it can change it,
 * so text may be cut before it.
 */
#define CHAR_STABLE 4

/* Assigned in Unicode 13.0.  Other characters are separators, and not normalised. */
#define CHAR_ASSIGNED 8

/* Default_Ignorable_Code_Point: removed, as by NFKC_Casefold. */
#define CHAR_IGNORED 16

/* The canonical combining class is not 0. */
#define CHAR_NONSTARTER 32

/*
 * The character may change by itself, but no character before it changes the result.  All
 * stable characters and all ASCII characters are boundaries.
 */
#define CHAR_BOUNDARY 64

extern const uint8_t unicode_page[]; /* each code point >> 10: the number of its page of 64 runs */
extern const uint16_t unicode_run[]; /* each page: the numbers of its runs of 16 characters */
extern const uint8_t unicode_info[]; /* each run: its characters */

/* Returns the CHAR_CLASS and flags of a code point. */
static inline unsigned
char_info(uint32_t code_point)
{
	unsigned run =
		unicode_run[(unsigned) unicode_page[code_point >> 10] << 6 | (code_point >> 4 & 63)];

	return unicode_info[run << 4 | (code_point & 15)];
}

/* ---- Normalisation (normalise.c) ---------------------------------------- */

/* The most source characters that are normalised at once. */
#define PIECE_SOURCE_MAX 32

/* A character decomposes into at most 18 (U+FDFA). */
#define PIECE_RESULT_MAX (PIECE_SOURCE_MAX * 18)

/*
 * Normalises (NFKC with case folding, without ignorable characters) the first piece of
 * [in, in + length), length > 0, into result[PIECE_RESULT_MAX], and returns the bytes of the
 * piece, at least 1.
 *
 * A piece is a character and those after it that may interact with it: it ends before the
 * next ASCII, stable, unassigned or invalid character.  After PIECE_SOURCE_MAX characters
 * it ends before the last boundary, or after them if there is none.  An ASCII character may
 * start a piece, since a mark may follow it.  An unassigned or invalid character is a
 * piece of its own, with the result ' '.
 */
extern size_t normalise_piece(const uint8_t *in, size_t length, uint32_t *result, int *count);
extern size_t shortest_piece(const uint8_t *in, size_t length);

/* Notes bytes [start, start + length) of a text as the position of bytes [from, to). */
static inline void
set_positions(SourceRange *position, uint32_t from, uint32_t to, size_t start, size_t length)
{
	for (uint32_t i = from; i < to; i++)
		position[i] = (SourceRange){(uint32_t) start, (uint32_t) (start + length)};
}

/* ---- Units ------------------------------------------------------------- */

/* Gives to sink what a scheme makes its units of: chunks or tokens. */
static inline void
words_of_text(const char *utf8, size_t length, SchemeId scheme, TokenSink sink, void *state)
{
	if (SCHEME_KIND(scheme) == SCHEME_ANYCHAR)
		chunks_of_text(utf8, length, false, sink, state);
	else
		tokens_of_text(utf8, length, sink, state);
}

/* ---- Hashes (shingle.c) ------------------------------------------------- */

/* The hash of units t_1 .. t_m is mix64(sum of t_i * SHINGLE_MULTIPLIER^(m - i)). */
#define SHINGLE_MULTIPLIER UINT64_C(0x9FB21C651E98DF25)

/* ---- Sets of words (words.c) --------------------------------------------- */

/* The hashes of words (shingle_of_token). */
typedef struct WordSet
{
	Table table;
	uint64_t *word; /* each word, by its number; NULL if the set is not made yet */
} WordSet;

/* Returns whether the word of a hash is in a set. */
static inline bool
word_set_has(const WordSet *set, uint64_t hash)
{
	return *table_search_key(&set->table, table_hash(&set->table, hash), hash, set->word,
							 sizeof(uint64_t)) != 0;
}

extern WordSet word_set_of(const uint64_t *hashes, size_t count, bool forever);
extern void word_set_free(WordSet *set);
extern bool is_stop_word(uint64_t token_hash);

/* ---- Languages (languages.c, their sets in words.c) ---------------------- */

typedef struct Language
{
	const char *code;        /* ISO 639-1 */
	const char *antecedents; /* words, separated by single spaces */
	const char *stop_words;
} Language;

#define LANGUAGE_ENGLISH 0
#define LANGUAGES_MAX 32

extern const Language languages[];
extern const int language_count;

extern int language_called(const char *code, size_t length);
extern const WordSet *language_antecedents(int language);
extern const WordSet *language_stop_words(int language);

/* ---- Spot signatures (spot.c) -------------------------------------------- */

/* An antecedent, and the distance and length of its chain. */
typedef struct SpotRule
{
	uint64_t antecedent;
	uint8_t distance;
	uint8_t chain;
} SpotRule;

struct SpotWords
{
	SpotRule own; /* the distance and length of chains in the scheme */
	int language;
	const WordSet *antecedents;
	const WordSet *stop_words;
	SpotRule *rule; /* the rules, sorted; NULL: `own`, for the antecedents of the language */
	size_t rules;
	size_t rule_room;
	uint64_t *stop; /* the stop words, sorted; NULL: those of the language */
	size_t stops;
	size_t stop_room;
	WordSet rule_set;
	WordSet stop_set;
};

extern SpotWords spot_words_of_scheme(SchemeId scheme);

/* A signature: the antecedent, then its chain. */
typedef struct Spot
{
	int words;
	uint64_t hash[1 + SPOT_MAX];
	size_t position[1 + SPOT_MAX]; /* positions of words, as given to spot_finder_add */
	uint64_t count;                /* occurrences that end with the same word */
} Spot;

typedef void (*SpotSink)(void *state, const Spot *spot);

/* Finds the spot signatures of a sequence of tokens, and gives them to a sink. */
typedef struct SpotFinder SpotFinder;

extern SpotFinder *spot_finder_begin(const SpotWords *words, SpotSink sink, void *state);
extern void spot_finder_add(SpotFinder *finder, uint64_t token_hash, size_t position);
extern void spot_finder_end(SpotFinder *finder);
extern uint64_t spot_hash(const Spot *spot);

#endif
