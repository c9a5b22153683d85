/*
 * compare.h: the edit distance and the longest common substring of two texts.
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
} Sequence;

/* Two sequences over one alphabet. */
typedef struct SequencePair
{
	Sequence a;
	Sequence b;
	uint32_t alphabet; /* distinct symbols in both */
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

#endif
