/*
 * compare.h: the edit distance, the longest common substring, the shared passages and the codes
 * of two texts.
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
	uint32_t *symbol; /* the symbols, each below the alphabet of its pair */
	size_t length;
	SourceRange *position; /* the position of each symbol in the text; NULL if it was not noted */
} Sequence;

/* Two sequences over one alphabet. */
typedef struct SequencePair
{
	Sequence a;
	Sequence b;
	uint32_t alphabet; /* distinct symbols in both */
	uint32_t blank;    /* the symbol of a space; none has it if no space is in either */
} SequencePair;

extern bool pair_of_characters(const char *a, size_t length_a, const char *b, size_t length_b,
							   SequencePair *pair);
extern bool pair_of_tokens(const char *a, size_t length_a, const char *b, size_t length_b,
						   SequencePair *pair);
extern bool pair_of_units(const char *a, size_t length_a, const char *b, size_t length_b,
						  SchemeId scheme, SequencePair *pair);
extern void pair_free(SequencePair *pair);

/* ---- Edit distance (edit.c, weighted.c) --------------------------------- */

typedef struct EditCosts
{
	int32_t insertion; /* the cost of inserting a symbol of b; each cost is at least 0 */
	int32_t deletion;  /* the cost of deleting a symbol of a */
	int32_t substitution;
} EditCosts;

#define EDIT_UNBOUNDED INT64_MAX

extern int64_t edit_distance(const SequencePair *pair, EditCosts costs, int64_t most);

/* ---- Longest common substring (common.c) -------------------------------- */

typedef struct Common
{
	size_t start;  /* the first symbol in a */
	size_t length; /* 0 if there is no common symbol */
} Common;

extern Common longest_common_run(const SequencePair *pair);

/* ---- Shared passages (passages.c) --------------------------------------- */

/* A run of symbols that occurs in both, counted in symbols. */
typedef struct Passage
{
	uint32_t a; /* the passage's first symbol in each sequence */
	uint32_t b;
	uint32_t length;
} Passage;

typedef struct Passages
{
	Passage *passage;
	size_t count;
	size_t room;
} Passages;

extern Passages shared_passages(const SequencePair *pair, uint32_t least);

/* ---- Variants (variant.c) ------------------------------------------------- */

/* The newest of the versions of the rule that variant.c describes; each keeps its meaning. */
#define VARIANT_RULE_VERSION 2

extern bool texts_are_variants(const char *a, size_t length_a, const char *b, size_t length_b,
							   int version, bool *variants);

#endif
