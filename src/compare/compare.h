/*
 * compare.h: two texts side by side: edit distance, longest common substring.
 * Plain C: no PostgreSQL.
 *
 * Texts are compared as sequences of symbols, small numbers that are equal
 * where characters (or tokens) are.
 */
#ifndef NEARDUP_COMPARE_COMPARE_H
#define NEARDUP_COMPARE_COMPARE_H

#include "text/text.h"

/* ---- Sequences (symbols.c) ---------------------------------------------- */

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
	uint32_t alphabet; /* how many different symbols both have together */
} SequencePair;

/*
 * The characters (code points) of two texts, or their normalised tokens.  A
 * byte that is no UTF-8 counts as a character of its own.  Tokens are told
 * apart by their 64-bit hashes.  False where there are 2^31 symbols or more;
 * freed by pair_free in either case.
 */
extern bool pair_of_characters(const char *a, size_t length_a, const char *b, size_t length_b,
							   SequencePair *pair);
extern bool pair_of_tokens(const char *a, size_t length_a, const char *b, size_t length_b,
						   SequencePair *pair);
extern void pair_free(SequencePair *pair);

/* ---- Edit distance (edit.c, weighted.c) --------------------------------- */

typedef struct EditCosts
{
	int32_t insertion; /* each at least 0 */
	int32_t deletion;
	int32_t substitution;
} EditCosts;

#define EDIT_UNBOUNDED INT64_MAX

/*
 * The least cost of insertions, deletions and substitutions that make b of a,
 * or most + 1 where it is above most (at least 0).
 */
extern int64_t edit_distance(const SequencePair *pair, EditCosts costs, int64_t most);

/* ---- Longest common substring (common.c) -------------------------------- */

typedef struct Common
{
	size_t start;  /* in a, counted in symbols */
	size_t length; /* 0 where they have no symbol in common */
} Common;

/*
 * The longest run of symbols that occurs in both; of several, the first in a.
 * Linear time; 16 bytes for each symbol of both and of the alphabet.
 */
extern Common longest_common_run(const SequencePair *pair);

#endif
