/*
 * advise.h: neardup_advise(): what a sample of texts says about schemes and thresholds.
 *
 * Two samples are taken in one pass.  One is spread evenly over the texts; it tells what
 * texts are like, and how similar unrelated ones are.  The other takes texts by families:
 * two texts of resemblance r are in it together r times as often as one of them is.  In an
 * even sample of one text in a hundred, one pair of near-duplicates in ten thousand would
 * be left.
 */
#ifndef NEARDUP_ADVISE_ADVISE_H
#define NEARDUP_ADVISE_ADVISE_H

#include "sketch/sketch.h"
#include "types/calls.h"
#include "types/objects.h"
#include "types/schemes.h"
#include "types/texts.h"

#include "sketch/bag.h"
#include "text/text.h"

/* ---- Samples of texts (texts.c) ------------------------------------------ */

/* A text, as UTF-8. */
typedef struct SampleText
{
	uint64 key;        /* the texts with the least keys are kept ... */
	uint64 second_key; /* ... and of those with equal keys those with the least second keys */
	uint64 row;        /* from 1 */
	char *id;          /* NULL if the query returns none */
	char *bytes;
	size_t length;
} SampleText;

typedef struct Sample
{
	MemoryContext context;
	uint32 most;        /* texts to keep */
	uint32 family_most; /* texts of one key to keep, where texts are left out */
	uint32 room;        /* of text */
	uint32 count;       /* texts */
	size_t bytes;       /* of all texts */
	bool complete;      /* no text was left out */
	uint64 limit;       /* texts with greater keys are left out */
	SampleText *text;
} Sample;

extern double sample_share(const Sample *sample);

/* What was read. */
typedef struct Texts
{
	uint64 rows;
	uint64 nulls;
	uint64 wordless; /* texts without a shingle */
	uint64 too_long; /* texts that were not looked at */
	Sample even;
	Sample families; /* the same as `even` if both are complete */
	SchemeId scheme; /* by which families are told */
} Texts;

/* The longest text that is looked at. */
#define TEXT_LONGEST ((size_t) 256 * 1024)

extern void texts_read(Texts *texts, const char *query, SchemeId scheme, int most);

/* ---- Studies of schemes (study.c) ----------------------------------------- */

/* Texts with fewer shingles have few. */
#define FEW_SHINGLES 10

/* Shingles that this share of the texts has are common. */
#define COMMON_SHARE 0.2

/* Common shingles are a form if they are such a share of a text. */
#define FORM_SHARE 0.1
#define COPY_SHARE 0.95

/* The common shingles of a scheme. */
typedef struct Form
{
	uint32 shingles;
	double share; /* of a text, on average */
	bool found;   /* is it a form? */
} Form;

extern void form_learn(Form *form, const Texts *texts, SchemeId scheme);

/* Pairs below are not looked for. */
#define LEAST_SIMILARITY 0.2

/* The signature that numbers of chance are for. */
#define ADVISED_K 512
#define ADVISED_B 1

/* Steps of similarity: bin i counts pairs from i / STEPS to below (i + 1) / STEPS. */
#define STEPS 100

/* What a scheme makes of the samples. */
typedef struct Study
{
	SchemeId scheme;
	char name[SCHEME_NAME_SIZE];
	bool minus; /* the common shingles are left out */
	uint32 few; /* texts of the even sample with few shingles, none left out */

	/* Random pairs of the even sample, without related ones. */
	uint32 unrelated[STEPS * 2 + 1]; /* by similarity, in half steps */
	uint32 unrelated_pairs;
	double mean; /* similarity */
	double high; /* 99.99 % are not above */

	/* Pairs of the families. */
	double population;       /* pairs of all texts */
	int floor;               /* least step at which chance reports less than one of them */
	uint64 pairs[STEPS + 1]; /* by similarity, from the floor on */
	double share[STEPS + 1]; /* of all texts by the similarity of the nearest, estimated */
} Study;

extern void study_scheme(Study *study, const Texts *texts, SchemeId scheme, bool minus);
extern double study_chance(const Study *study, double threshold);

/* A pair of texts of the families. */
typedef struct NearPair
{
	uint32 a;
	uint32 b;
	double similarity;
} NearPair;

extern int study_pairs_near(const Study *study, const Texts *texts, double similarity,
							NearPair *pair, int most);

#endif
