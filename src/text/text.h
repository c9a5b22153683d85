/*
 * text.h: from UTF-8 text to a stream of 64-bit shingle hashes.
 *
 * The recipe (normalisation, tokens, hashes) is written down with test vectors
 * in doc/recipe.md.  It is frozen: stored signatures depend on every bit of it.
 * A change is a new RECIPE_VERSION.
 */
#ifndef NEARDUP_TEXT_TEXT_H
#define NEARDUP_TEXT_TEXT_H

#include "base/host.h"
#include "base/table.h"

#define RECIPE_VERSION 1

/* ---- Tokens (tokens.c) -------------------------------------------------- */

/*
 * A run of tokens.  Token i is the normalised UTF-8 bytes
 * [edge[2 * i], edge[2 * i + 1]) of bytes.  At least TOKEN_SLACK readable
 * bytes follow the last token.
 */
typedef struct TokenBatch
{
	const uint8_t *bytes;
	const uint32_t *edge;
	size_t count;
} TokenBatch;

#define TOKEN_SLACK 64

typedef void (*TokenSink)(void *state, const TokenBatch *batch);

/*
 * Normalise and cut a text, and hand its tokens to sink in order, in batches.
 * Bytes that are not UTF-8 separate tokens.
 */
extern void tokens_of_text(const char *utf8, size_t length, TokenSink sink, void *state);

/* ---- Schemes (scheme.c) ------------------------------------------------- */

/*
 * A scheme says what the elements of a set are.  One number names it and is
 * stored in every signature: kind << 24 | width << 16 | variant.  The variant
 * is zero but for SCHEME_SPOT, whose width is distance << 4 | chain and whose
 * variant is a language (languages.c), or SPOT_LISTS and 15 bits of a hash of
 * the lists that it was made with.
 */
typedef uint32_t SchemeId;

typedef enum SchemeKind
{
	SCHEME_FOREIGN = 0,  /* made elsewhere: cast from bit, bigint, ... */
	SCHEME_WORD = 1,     /* width consecutive tokens */
	SCHEME_CHAR = 2,     /* width consecutive characters */
	SCHEME_STOPWORD = 3, /* width tokens from a stop word on */
	SCHEME_SPOT = 4,     /* an antecedent and a chain of words after it */
	SCHEME_TOKENS = 5,   /* elements supplied as text */
	SCHEME_HASHES = 6    /* elements supplied as 64-bit hashes */
} SchemeKind;

#define SCHEME_ID(kind, width) ((SchemeId) (kind) << 24 | (SchemeId) (width) << 16)
#define SCHEME_KIND(id) ((SchemeKind) ((id) >> 24))
#define SCHEME_WIDTH(id) ((int) ((id) >> 16 & 0xFF))
#define SCHEME_WIDTH_MAX 255
#define SCHEME_NAME_SIZE 32

#define SPOT_MAX 15 /* distance, and words of a chain */
#define SPOT_LISTS 0x8000
#define SCHEME_SPOT_ID(distance, chain, variant) \
	(SCHEME_ID(SCHEME_SPOT, (distance) << 4 | (chain)) | (SchemeId) (variant))
#define SCHEME_VARIANT(id) ((int) ((id) &0xFFFF))

/* Is this a number that scheme_parse or SCHEME_ID could have made? */
extern bool scheme_is_valid(SchemeId id);

/* Can a text be shingled by it alone (word, char, stopword, spot without lists)? */
extern bool scheme_reads_text(SchemeId id);

/*
 * Read a name such as 'word 3'.  Case and extra blanks do not matter; all
 * names that scheme_name writes are read back: 'foreign', 'tokens', 'hashes', and
 * 'unknown 0a010000' for a number that a later recipe may give a meaning.  False
 * where the name means nothing.
 */
extern bool scheme_parse(const char *name, size_t length, SchemeId *id);

/* Write the canonical name, zero-terminated, into name[SCHEME_NAME_SIZE]. */
extern void scheme_name(SchemeId id, char *name);

/* ---- Shingles (shingle.c) ----------------------------------------------- */

typedef void (*HashSink)(void *state, const uint64_t *hashes, size_t count);

/*
 * Hand the hashes of a text's shingles to sink, in the order of the text,
 * repeated ones included, in batches.  The scheme must read text.
 */
extern void shingle_text(const char *utf8, size_t length, SchemeId scheme, HashSink sink,
						 void *state);

/* The element that a user-supplied token stands for: XXH3-64 of its bytes. */
extern uint64_t shingle_of_token(const char *utf8, size_t length);

/* ---- Spot signatures with lists (spot.c) --------------------------------- */

/*
 * What spot signatures start at and what their chains skip (Theobald,
 * Siddharth, Paepcke, SIGIR 2008, section 3).
 */
typedef struct SpotWords SpotWords;

/*
 * Lists for a scheme of kind spot.  Own antecedents or stop words take the
 * place of the language's.
 */
extern SpotWords *spot_words_begin(SchemeId scheme, bool own_antecedents, bool own_stop_words);

/*
 * Add an antecedent such as 'the' or 'the(1,2)', with a distance and a chain of
 * its own; a stop word.  False where it is not one token, or out of range.
 */
extern bool spot_words_add_antecedent(SpotWords *words, const char *utf8, size_t length);
extern bool spot_words_add_stop_word(SpotWords *words, const char *utf8, size_t length);

/* All is added; returns the scheme of what they make. */
extern SchemeId spot_words_finish(SpotWords *words);
extern void spot_words_free(SpotWords *words);

/* As shingle_text; in the order in which signatures end. */
extern void spots_of_text(const char *utf8, size_t length, const SpotWords *words, HashSink sink,
						  void *state);

/* ---- Shingles to look at (show.c) --------------------------------------- */

/* More distinct shingles, or bytes of normalised text, are not shown. */
#define SHOWN_MAX ((size_t) 1 << 22)
#define SHOWN_TEXT_MAX (((size_t) 1 << 30) - 1)

/* One distinct shingle of a text. */
typedef struct ShownShingle
{
	uint64_t hash;  /* as shingle_text gives it */
	uint32_t count; /* occurrences, INT32_MAX where there are more */
	uint32_t start; /* where its text is, for shown_text */
	uint32_t length;
} ShownShingle;

/* The distinct shingles of a text, in order of first occurrence. */
typedef struct ShownShingles
{
	ShownShingle *shingle;
	size_t count;
	Table table; /* of their hashes */
	char *text;  /* all tokens, joined by single spaces */
	size_t length;
	size_t room;
	bool too_many; /* shingles, or bytes of text: not all are here */
	bool of_spots;
	uint32_t *place; /* of spot signatures: where in text their words begin */
	size_t places;
	size_t place_room;
	char *spot; /* text of the signature asked for last */
	size_t spot_room;
} ShownShingles;

/*
 * Find the shingles of a text.  False where it has more than can be shown.  Freed
 * by shown_free in either case.
 */
extern bool shingles_to_show(const char *utf8, size_t length, SchemeId scheme,
							 ShownShingles *shown);
extern bool spots_to_show(const char *utf8, size_t length, const SpotWords *words,
						  ShownShingles *shown);
extern void shown_free(ShownShingles *shown);

/* The shingle of a hash, or NULL. */
extern const ShownShingle *shown_find(const ShownShingles *shown, uint64_t hash);

/*
 * The text of a shingle: tokens joined by single spaces; those of a spot signature
 * by ':'.  It stays until the next is asked for.
 */
extern const char *shown_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length);

/* ---- Unicode (normalise.c) ---------------------------------------------- */

/* The part of the Unicode standard that the recipe knows, "13.0". */
#define RECIPE_UNICODE "13.0"

#endif
