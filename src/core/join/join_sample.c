/*
 * join_sample.c: a sample of documents, and the symbols that tell documents apart.
 */
#include "join/join_sample.h"

#include <stdlib.h>
#include <string.h>

#include "sketch/symbols.h"

/* Right documents with which each left one is compared symbol by symbol. */
#define NEIGHBOURS 8

/* The most symbols that are compared one by one, if there are enough symbols to choose from. */
#define COMPARED_MAX (1 << 19)

/* Where the sample of the right side starts, as a share of a step. */
#define RIGHT_START 0.382

/* Samples documents at equal distances, from a share of a step on. */
static int
sample_side(JoinSide side, size_t stride, double start, const uint8_t **document)
{
	uint32_t documents = side.held > 0 ? side.held : side.documents;
	int count = (int) Min(documents, SAMPLE);

	for (int i = 0; i < count; i++)
		document[i] = side.packed + (size_t) ((i + start) * documents / count) * stride;
	return count;
}

/*
 * Takes a sample.  It is empty if the join has no documents.  The sides start at different
 * shares of a step.  Otherwise tables in the same order would have more copies of each other in the
 * sample than by chance.
 */
void
sample_take(const SymbolJoin *join, JoinSample *sample)
{
	sample->self = join->right.packed == NULL;
	sample->lefts = 0;
	sample->rights = 0;
	if (join->left.packed == NULL)
		return;
	sample->lefts = sample_side(join->left, join->stride, 0, sample->left);
	sample->rights = sample->self ?
		sample_side(join->left, join->stride, 0, sample->right) :
		sample_side(join->right, join->stride, RIGHT_START, sample->right);
}

/* Estimates, for each of the k symbols, the probability that it differs in a pair. */
void
sample_chances(const SymbolJoin *join, const JoinSample *sample, float *chance)
{
	int neighbours = Min(NEIGHBOURS, COMPARED_MAX / SAMPLE / join->k + 1);
	int pairs = 0;

	memset(chance, 0, join->k * sizeof(float));
	for (int i = 0; i < sample->lefts; i++)
		for (int n = 1; n <= neighbours && n < sample->rights; n++)
		{
			const uint8_t *x = sample->left[i];
			const uint8_t *y = sample->right[(i + n) % sample->rights];

			pairs++;
			for (int s = 0; s < join->k; s++)
				chance[s] += symbol_at(x, join->b, s) != symbol_at(y, join->b, s);
		}
	for (int s = 0; s < join->k; s++)
		chance[s] /= Max(pairs, 1);
}

typedef struct Chance
{
	int symbol;
	float differ;
} Chance;

/* Puts the symbol that differs more often first. */
static int
compare_chances(const void *x, const void *y)
{
	const Chance *a = x;
	const Chance *b = y;

	if (a->differ != b->differ)
		return a->differ > b->differ ? -1 : 1;
	return a->symbol - b->symbol;
}

/* Arranges the symbols by their probability to differ. */
Arrangement
arrange_symbols(const SymbolJoin *join, const float *chance)
{
	Arrangement arrangement = {.symbols = Min(join->k, JOIN_PREFIX_WORDS * 64 / join->b)};
	Chance *sorted = host_alloc(join->k * sizeof(Chance));

	for (int s = 0; s < join->k; s++)
		sorted[s] = (Chance){s, chance[s]};
	qsort(sorted, join->k, sizeof(Chance), compare_chances);
	for (int i = 0; i < arrangement.symbols; i++)
		arrangement.symbol[i] = (uint16_t) sorted[i].symbol;
	host_free(sorted);
	return arrangement;
}

/* Makes a prefix of `words` words of arranged symbols. */
void
arrange_prefix(const Arrangement *arrangement, const uint8_t *packed, int b, int words,
			   uint64_t *prefix)
{
	int in_word = 64 / b;
	int symbols = Min(arrangement->symbols, words * in_word);

	memset(prefix, 0, words * sizeof(uint64_t));
	for (int i = 0; i < symbols; i++)
		prefix[i / in_word] |= (uint64_t) symbol_at(packed, b, arrangement->symbol[i])
			<< i % in_word * b;
}

/* Makes the first `words` words of a document, as an arrangement has them unless it is NULL. */
static void
make_prefix(const SymbolJoin *join, const Arrangement *arrangement, const uint8_t *document,
			int words, uint64_t *prefix)
{
	if (arrangement != NULL)
		arrange_prefix(arrangement, document, join->b, words, prefix);
	else
		memcpy(prefix, document, words * sizeof(uint64_t));
}

/*
 * Estimates, for each number of words, the share of pairs that differ there in at most h
 * symbols.  arrangement is NULL for the order of the document.
 */
void
sample_shares(const SymbolJoin *join, const JoinSample *sample, const Arrangement *arrangement,
			  int h, double share[JOIN_PREFIX_WORDS + 1])
{
	int most = (int) Min(JOIN_STRIDE(join->k, join->b) / 8, JOIN_PREFIX_WORDS);
	uint64_t right[SAMPLE][JOIN_PREFIX_WORDS];
	uint64_t left[JOIN_PREFIX_WORDS];
	int within[JOIN_PREFIX_WORDS + 1] = {0};

	for (int j = 0; j < sample->rights; j++)
		make_prefix(join, arrangement, sample->right[j], most, right[j]);
	for (int i = 0; i < sample->lefts; i++)
	{
		make_prefix(join, arrangement, sample->left[i], most, left);
		for (int j = sample_first(sample, i); j < sample->rights; j++)
			for (int w = 0, distance = 0; w < most && distance <= h; w++)
			{
				distance += count_symbols(left[w] ^ right[j][w], join->b);
				within[w + 1] += distance <= h;
			}
	}
	within[0] = sample_pairs(sample);
	for (int words = 0; words <= JOIN_PREFIX_WORDS; words++)
		share[words] = (double) within[Min(words, most)] / Max(sample_pairs(sample), 1);
}
