/*
 * compare.h: the edit distance, the longest common substring and the shared passages of two
 * texts.
 *
 * Texts are compared as sequences of symbols, small numbers that are equal if the
 * characters, or the tokens, are equal.
 */
#ifndef NEARDUP_COMPARE_COMPARE_H
#define NEARDUP_COMPARE_COMPARE_H

#include "text/text.h"

/* ---- Sequences (sequence.c) --------------------------------------------- */

typedef struct Sequence
{
	uint32_t *symbol; /* each below the alphabet of its pair */
	size_t length;
	Place *place; /* of each symbol in the text; NULL if pair_of_units has not made it */
} Sequence;

/* Two sequences over one alphabet. */
typedef struct SequencePair
{
	Sequence a;
	Sequence b;
	uint32_t alphabet; /* distinct symbols in both */
	uint32_t blank;    /* the symbol of a space; none has it if no space is in either */
} SequencePair;

/*
 * Make the sequences of the characters (code points) of two texts in UTF-8, or of their
 * normalised tokens.  An invalid byte is a character of its own.  Tokens are equal if
 * their 64-bit hashes are.  Return false if there are 2^31 symbols or more.  The caller
 * frees the pair by pair_free in either case.
 */
extern bool pair_of_characters(const char *a, size_t length_a, const char *b, size_t length_b,
							   SequencePair *pair);
extern bool pair_of_tokens(const char *a, size_t length_a, const char *b, size_t length_b,
						   SequencePair *pair);

/*
 * Does the same with the units of a scheme that reads text, and notes their places.  Units
 * are tokens, or if the scheme has characters, the characters of tokens or chunks, with a
 * space between two of these.  Each text has less than 4 GB.
 */
extern bool pair_of_units(const char *a, size_t length_a, const char *b, size_t length_b,
						  SchemeId scheme, SequencePair *pair);

/* Frees both sequences. */
extern void pair_free(SequencePair *pair);

/* ---- Edit distance (edit.c, weighted.c) --------------------------------- */

typedef struct EditCosts
{
	int32_t insertion; /* of a symbol of b; each cost is at least 0 */
	int32_t deletion;  /* of a symbol of a */
	int32_t substitution;
} EditCosts;

#define EDIT_UNBOUNDED INT64_MAX

/*
 * Returns the least cost of insertions, deletions and substitutions that turn a into b, or
 * most + 1 if that is above most, which is at least 0 (Wagner and Fischer 1974).
 */
extern int64_t edit_distance(const SequencePair *pair, EditCosts costs, int64_t most);

/* ---- Longest common substring (common.c) -------------------------------- */

typedef struct Common
{
	size_t start;  /* in a, counted in symbols */
	size_t length; /* 0 if there is no common symbol */
} Common;

/*
 * Returns the longest run of symbols that occurs in both; of several, the first in a.
 * Takes linear time, and 16 bytes for each symbol of both and of the alphabet.
 */
extern Common longest_common_run(const SequencePair *pair);

/* ---- Shared passages (passages.c) --------------------------------------- */

/* A run of symbols that occurs in both, counted in symbols. */
typedef struct Passage
{
	uint32_t a; /* its start in each */
	uint32_t b;
	uint32_t length;
} Passage;

typedef struct Passages
{
	Passage *passage;
	size_t count;
	size_t room;
} Passages;

/*
 * Returns runs of at least `least` symbols, least > 0, that occur in both, in order of a,
 * then b.  The caller frees the array.
 *
 * For each sequence, take the runs that occur in the other one and that are not part of
 * a longer such run of the same place; then leave out those whose symbols are all in runs
 * before and after them, as many as one can.  Each run is paired with its first place in
 * the other sequence.  So each symbol in any common run of that length is in a passage, at
 * most two passages of one sequence's runs share a symbol, and there are at most
 * 2 * (length of a + length of b) / least of them.
 *
 * If the symbols have places, no passage begins or ends between symbols that share a
 * character of the text, nor with a space: such a run is shortened.
 *
 * Takes linear time, apart from sorting the passages, and at most 32 bytes for each symbol
 * of both.
 */
extern Passages shared_passages(const SequencePair *pair, uint32_t least);

#endif
