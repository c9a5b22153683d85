/*
 * edit_distance.h: two texts of a call as sequences, and their edit distance.
 */
#ifndef NEARDUP_FUNCTIONS_EDIT_DISTANCE_H
#define NEARDUP_FUNCTIONS_EDIT_DISTANCE_H

#include "calls/texts.h"
#include "compare/compare.h"

/* Makes a pair of sequences of two texts; returns false if they are too long. */
typedef bool (*PairMaker)(const char *a, size_t length_a, const char *b, size_t length_b,
						  SequencePair *pair);

extern SequencePair pair_of_texts(const Utf8Text *a, const Utf8Text *b, PairMaker make);
extern Datum edit_distance_of_arguments(FunctionCallInfo fcinfo, PairMaker make);

#endif
