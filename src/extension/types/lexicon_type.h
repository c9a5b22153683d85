/*
 * lexicon_type.h: the type shingle_lexicon: the weights of shingles, by how many documents have them.
 */
#ifndef NEARDUP_TYPES_LEXICON_TYPE_H
#define NEARDUP_TYPES_LEXICON_TYPE_H

#include "types/shingles_type.h"

#include "sketch/forms.h"

/*
 * A stored value: this header, count ascending keys (weight_key) and count weights, a byte
 * each.  Equal values are equal bytes.  The type's alignment is double.
 */
typedef struct LexiconValue
{
	int32 vl_len_;    /* varlena header, do not touch directly */
	uint8 layout;     /* LEXICON_LAYOUT */
	uint8 version;    /* RECIPE_VERSION, or a later one */
	uint16 reserved;  /* 0 */
	SchemeId scheme;  /* the scheme of the shingles that it weighs */
	uint32 count;     /* entries, at most LEXICON_ENTRIES_MAX */
	uint64 documents; /* documents that were counted */
	uint64 digest;    /* weights_digest() of the rest */
	uint32 key[FLEXIBLE_ARRAY_MEMBER];
} LexiconValue;

extern LexiconValue *lexicon_of_parts(const LexiconParts *parts);

/* A lexicon that is ready to weigh. */
typedef struct ReadyLexicon
{
	SchemeId scheme;       /* the scheme of the shingles that it weighs */
	SchemeId weighed;      /* the scheme of the shingles that it has weighed */
	MemoryContext context; /* the context of the value and the weights */
	LexiconValue *value;   /* the value; NULL if none is ready */
	Weights weights;
	bool stored; /* the value is stored out of line */
	struct varatt_external position;
	TimestampTz statement; /* the statement that found the value there */
} ReadyLexicon;

extern const ReadyLexicon *lexicon_of_argument(FunctionCallInfo fcinfo, int n);
extern const ReadyLexicon *text_lexicon_of_argument(FunctionCallInfo fcinfo, int n);

#endif
