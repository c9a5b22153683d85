/*
 * internal.h: what the files of text/ share among themselves.
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
	CHAR_SEPARATOR, /* ends it; all that Unicode 13.0 leaves unassigned too */
	CHAR_WORD,      /* letter or number: starts or continues it */
	CHAR_MARK,      /* continues it, never starts one */
	CHAR_ALONE      /* letter of a script without spaces: is one, with its marks */
} CharClass;

#define CHAR_CLASS(info) ((CharClass) ((info) &3))

/*
 * Normalisation leaves the character as it is, and no character before it can
 * change it: text may be cut before it.
 */
#define CHAR_STABLE 4

/* Assigned in Unicode 13.0; any other separates, and is not normalised. */
#define CHAR_ASSIGNED 8

/* Default_Ignorable_Code_Point: dropped, as NFKC_Casefold drops it. */
#define CHAR_IGNORED 16

/* Canonical combining class is not 0. */
#define CHAR_NONSTARTER 32

/*
 * No character before it can change what normalisation makes of it, though it
 * may change by itself.  True of all stable characters and all ASCII.
 */
#define CHAR_BOUNDARY 64

extern const uint8_t unicode_block[];     /* code point >> 8 -> block number */
extern const uint8_t unicode_info[][256]; /* by block number and low byte */

static inline unsigned
char_info(uint32_t code_point)
{
	return unicode_info[unicode_block[code_point >> 8]][code_point & 0xFF];
}

/* ---- Normalisation (normalise.c) ---------------------------------------- */

/* Longest piece that is normalised at once, in source characters. */
#define PIECE_SOURCE_MAX 32

/* No character decomposes into more than 18 (U+FDFA). */
#define PIECE_RESULT_MAX (PIECE_SOURCE_MAX * 18)

/*
 * Normalise (NFKC with case folding, ignorable characters dropped) the piece
 * at the head of [in, in + length), length > 0: a character and what may
 * interact with it, up to but not including the next ASCII or stable
 * character, an unassigned or invalid one.  After PIECE_SOURCE_MAX characters
 * it ends before the last boundary, or there if there is none.  An ASCII
 * character may begin a piece (a mark may follow it).  Returns the bytes
 * consumed, at least 1; an unassigned or invalid character is a piece of its
 * own and gives the one character ' '.
 */
extern size_t normalise_piece(const uint8_t *in, size_t length, uint32_t *result, int *count);

/* ---- Hashes (shingle.c) ------------------------------------------------- */

/* Units t_1 .. t_m combine to mix64(sum of t_i * SHINGLE_MULTIPLIER^(m - i)). */
#define SHINGLE_MULTIPLIER UINT64_C(0x9FB21C651E98DF25)

/* ---- Sets of words (stopwords.c) ----------------------------------------- */

/* Hashes of words (shingle_of_token). */
typedef struct WordSet
{
	Table table;
	uint64_t *word; /* by number; NULL where the set is not made yet */
} WordSet;

static inline bool
word_set_has(const WordSet *set, uint64_t hash)
{
	return *table_search_key(&set->table, table_hash(&set->table, hash), hash, set->word,
							 sizeof(uint64_t)) != 0;
}

/* forever: for as long as the process lives; or else freed by word_set_free. */
extern WordSet word_set_of(const uint64_t *hashes, size_t count, bool forever);
extern void word_set_free(WordSet *set);

/* Is the token of this hash (shingle_of_token) an English stop word? */
extern bool is_stop_word(uint64_t token_hash);

/* ---- Languages (languages.c, their sets in stopwords.c) ------------------ */

typedef struct Language
{
	const char *code;        /* of ISO 639 */
	const char *antecedents; /* words with a space between two */
	const char *stop_words;  /* NULL: those of 'stopword' shingles */
} Language;

#define LANGUAGE_ENGLISH 0
#define LANGUAGES_MAX 32

extern const Language languages[];
extern const int language_count;

/* The number of a language, -1 where it is not known. */
extern int language_called(const char *code, size_t length);

extern const WordSet *language_antecedents(int language);
extern const WordSet *language_stop_words(int language);

/* ---- Spot signatures (spot.c) -------------------------------------------- */

/* An antecedent with a distance and a chain of its own. */
typedef struct SpotRule
{
	uint64_t antecedent;
	uint8_t distance;
	uint8_t chain;
} SpotRule;

struct SpotWords
{
	SpotRule own; /* distance and chain of the scheme */
	int language;
	const WordSet *antecedents;
	const WordSet *stop_words;
	SpotRule *rule; /* sorted, NULL: own for all */
	size_t rules;
	uint64_t *stop; /* sorted, NULL: the language's */
	size_t stops;
	WordSet rule_set;
	WordSet stop_set;
};

/* The words of a scheme without lists of its own. */
extern SpotWords spot_words_of_scheme(SchemeId scheme);

/* A signature: the antecedent, then its chain. */
typedef struct Spot
{
	int words;
	uint64_t hash[1 + SPOT_MAX];
	size_t place[1 + SPOT_MAX]; /* as given with the token */
	uint64_t count;             /* occurrences that end together */
} Spot;

typedef void (*SpotSink)(void *state, const Spot *spot);

/* Called for each token in turn; place is any number that the caller knows it by. */
typedef struct SpotFinder SpotFinder;
extern SpotFinder *spot_finder_begin(const SpotWords *words, SpotSink sink, void *state);
extern void spot_finder_add(SpotFinder *finder, uint64_t token_hash, size_t place);
extern void spot_finder_end(SpotFinder *finder);

extern uint64_t spot_hash(const Spot *spot);

#endif
