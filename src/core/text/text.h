/*
 * text.h: from UTF-8 text to 64-bit hashes of shingles.
 *
 * doc/explanation/recipe.md specifies the recipe (normalisation, tokens, hashes), with test vectors.
 * It is frozen, since stored signatures depend on every bit of it: any change needs a new
 * RECIPE_VERSION.
 */
#ifndef NEARDUP_TEXT_TEXT_H
#define NEARDUP_TEXT_TEXT_H

#include "base/host.h"
#include "base/table.h"

#define RECIPE_VERSION 1

/* ---- Tokens (tokens.c) -------------------------------------------------- */

/*
 * The bytes [start, end) of a text that a part of its normal form is made of: the fewest
 * characters that are normalised alike without their neighbours.
 */
typedef struct SourceRange
{
	uint32_t start;
	uint32_t end;
} SourceRange;

/*
 * Tokens that follow each other in a text: token i is the normalised UTF-8 bytes
 * [edge[2 * i], edge[2 * i + 1]) of bytes.  At least TOKEN_SLACK readable bytes follow the
 * last token.
 */
typedef struct TokenBatch
{
	const uint8_t *bytes;
	const uint32_t *edge;
	size_t count;
	const SourceRange *position; /* the position of each byte; NULL unless asked for */
} TokenBatch;

#define TOKEN_SLACK 64

/* Returns token i of a batch, and its length in bytes. */
static inline const char *
batch_token(const TokenBatch *batch, size_t i, size_t *length)
{
	*length = batch->edge[2 * i + 1] - batch->edge[2 * i];
	return (const char *) batch->bytes + batch->edge[2 * i];
}

typedef void (*TokenSink)(void *state, const TokenBatch *batch);

extern void tokens_of_text(const char *utf8, size_t length, TokenSink sink, void *state);
extern void chunks_of_text(const char *utf8, size_t length, bool placed, TokenSink sink,
						   void *state);
extern void placed_tokens_of_text(const char *utf8, size_t length, TokenSink sink, void *state);

/* ---- Placed words (placed_words.c) --------------------------------------- */

#define NO_POSITION UINT32_MAX

/*
 * A word: a hash that is not 0, whose lowest bit says that it is a character of a script without
 * spaces, and where it is in its record, in characters from 0.  With the hash 0, the end of a text,
 * whose positions are NO_POSITION; or the end of a record, where start is 0, and end the number of its words.
 */
typedef struct PlacedWord
{
	uint64_t hash;
	uint32_t start;
	uint32_t end;
} PlacedWord;

typedef struct PlacedWords
{
	PlacedWord *word;
	size_t count;
	size_t room;
	uint64_t seed;       /* the seed of hashes */
	uint32_t words;      /* words of the record so far */
	uint64_t characters; /* characters of the record up to the last word, or text */
	const char *utf8;    /* the text whose words are added */
	uint64_t byte;       /* the first byte of its last word */
	bool ascii;          /* each byte of it is a character */
} PlacedWords;

extern void placed_words_add(PlacedWords *words, const char *utf8, size_t length);
extern void placed_words_end_record(PlacedWords *words);

/* ---- Schemes (scheme.c) ------------------------------------------------- */

/*
 * A scheme says what the elements of a set are.  Its number is stored in every signature:
 * kind << 24 | width << 16 | variant.  The variant is the number of the lexicon that weighs
 * the elements, or zero.  In SCHEME_SPOT the width is distance << 4 | chain, and the
 * variant is the number of a language (languages.c), or SPOT_LISTS and 15 bits of a hash
 * of the lists of words.
 */
typedef uint32_t SchemeId;

typedef enum SchemeKind
{
	SCHEME_FOREIGN = 0,  /* made by another program: cast from bit or bigint, for instance */
	SCHEME_WORD = 1,     /* width consecutive tokens */
	SCHEME_CHAR = 2,     /* width consecutive characters */
	SCHEME_STOPWORD = 3, /* width consecutive tokens, the first a stop word */
	SCHEME_SPOT = 4,     /* an antecedent and a chain of words after it */
	SCHEME_TOKENS = 5,   /* elements that the user gives as text */
	SCHEME_HASHES = 6,   /* elements that the user gives as 64-bit hashes */
	SCHEME_ANYCHAR = 7,  /* width consecutive characters, symbols included */
	SCHEME_WEIGHTED = 8  /* elements that the user gives as text, with their weights */
} SchemeKind;

/* The names of the schemes that read text and have a width, for messages; `last` is before the last. */
#define SCHEME_NAMES(last) "\"word W\", \"char K\", \"anychar K\"" last "\"stopword W\""

#define SCHEME_ID(kind, width) ((SchemeId) (kind) << 24 | (SchemeId) (width) << 16)
#define SCHEME_KIND(id) ((SchemeKind) ((id) >> 24))
#define SCHEME_WIDTH(id) ((int) ((id) >> 16 & 0xFF))
#define SCHEME_WIDTH_MAX 255
#define SCHEME_NAME_SIZE 32

#define SPOT_MAX 15 /* the greatest distance, and the most words of a chain */
#define SPOT_LISTS 0x8000
#define SCHEME_SPOT_ID(distance, chain, variant) \
	(SCHEME_ID(SCHEME_SPOT, (distance) << 4 | (chain)) | (SchemeId) (variant))
#define SCHEME_VARIANT(id) ((int) (0xFFFF & (id)))

extern bool scheme_is_valid(SchemeId id);
extern bool scheme_reads_text(SchemeId id);

/* Returns whether the elements of a scheme are made of characters: its kind is char or anychar. */
static inline bool
scheme_has_characters(SchemeId scheme)
{
	return SCHEME_KIND(scheme) == SCHEME_CHAR || SCHEME_KIND(scheme) == SCHEME_ANYCHAR;
}

extern bool scheme_has_lexicons(SchemeId id);

/* Returns the number of the lexicon that has weighed the elements, 0 for none. */
static inline int
scheme_lexicon(SchemeId id)
{
	return scheme_has_lexicons(id) ? SCHEME_VARIANT(id) : 0;
}

/* Returns whether the frequencies of a set are weights, so that a signature is of all copies. */
static inline bool
scheme_is_weighted(SchemeId id)
{
	return scheme_lexicon(id) != 0 || SCHEME_KIND(id) == SCHEME_WEIGHTED;
}

extern bool scheme_parse(const char *name, size_t length, SchemeId *id);
extern void scheme_name(SchemeId id, char *name);

/* ---- Shingles (shingle.c) ----------------------------------------------- */

typedef void (*HashSink)(void *state, const uint64_t *hashes, size_t count);

extern void shingle_text(const char *utf8, size_t length, SchemeId scheme, HashSink sink,
						 void *state);
extern uint64_t shingle_of_token(const char *utf8, size_t length);

/* ---- Spot signatures with lists (spot.c) --------------------------------- */

/*
 * The antecedents at which spot signatures start, and the stop words that their chains
 * skip (Theobald, Siddharth, Paepcke, SIGIR 2008, section 3).
 */
typedef struct SpotWords SpotWords;

extern SpotWords *spot_words_begin(SchemeId scheme, bool own_antecedents, bool own_stop_words);
extern bool spot_words_add_antecedent(SpotWords *words, const char *utf8, size_t length);
extern bool spot_words_add_stop_word(SpotWords *words, const char *utf8, size_t length);
extern SchemeId spot_words_finish(SpotWords *words);
extern void spot_words_free(SpotWords *words);
extern void spots_of_text(const char *utf8, size_t length, const SpotWords *words, HashSink sink,
						  void *state);

/* ---- Showing shingles (show.c) ------------------------------------------ */

/* The most distinct shingles, and bytes of normalised text, that can be shown. */
#define SHOWN_MAX ((size_t) 1 << 22)
#define SHOWN_TEXT_MAX (((size_t) 1 << 30) - 1)

/* One distinct shingle of a text. */
typedef struct ShownShingle
{
	uint64_t hash;  /* the hash, as shingle_text gives it */
	uint32_t count; /* occurrences; INT32_MAX if there are more */
	uint32_t start; /* the position of its text for shown_text, with length */
	uint32_t length;
} ShownShingle;

/* The distinct shingles of a text, in order of first occurrence. */
typedef struct ShownShingles
{
	ShownShingle *shingle;
	size_t count;
	Table table; /* the table of their hashes */
	char *text;  /* all tokens, separated by single spaces */
	size_t length;
	size_t room;
	bool too_many; /* shingles, or bytes of text */
	bool of_spots;
	uint32_t *position; /* the positions of the words of spot signatures in text */
	size_t positions;
	size_t position_room;
	char *spot; /* the text that shown_text has returned last */
	size_t spot_room;
} ShownShingles;

extern bool shingles_to_show(const char *utf8, size_t length, SchemeId scheme,
							 ShownShingles *shown);
extern bool spots_to_show(const char *utf8, size_t length, const SpotWords *words,
						  ShownShingles *shown);
extern void shown_free(ShownShingles *shown);
extern const ShownShingle *shown_find(const ShownShingles *shown, uint64_t hash);
extern const char *shown_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length);

#endif
