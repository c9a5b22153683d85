/*
 * evidence.c: sets that belong to signatures, and pairs of documents that they judge.
 *
 * A judge keeps the sets that it compared last, since a join finds the pairs of a document close
 * to each other.
 */
#include "join/documents.h"

/* The probability that a pair at the threshold is no candidate: that of four standard errors. */
#define MISSED (1 / 31574.0)

/* The most bytes of the sets that a judge keeps, their part of its memory, and bytes of a set. */
#define KEPT_BYTES ((size_t) 16 * 1024 * 1024)
#define KEPT_SHARE 16
#define KEPT_SET_BYTES 1024

typedef struct KeptSet
{
	const Documents *documents; /* NULL: there is none */
	uint32_t document;
	Bag bag;
	void *copy; /* the copy that has the arrays of the bag; NULL: none */
} KeptSet;

struct Judge
{
	const DocumentList *left;
	const DocumentList *right;
	Measure measure;
	bool by_rows; /* the document whose row comes first stays, whatever its list is */
	size_t bytes;
	size_t most;
	uint32_t slots;
	KeptSet slot[]; /* the sets, and one more for a set whose slot its partner in a pair has */
};

/* Returns the distance within which signatures are candidates. */
int
candidate_radius(const PairOptions *options, const SignatureHeader *shape)
{
	int b = signature_bits(shape);
	int radius = signature_radius(shape, options->threshold);

	while (options->evidence && radius < shape->k &&
		   chance_within(shape->k, b, options->threshold, radius) < 1 - MISSED)
		radius++;
	return radius;
}

/*
 * Returns the measure of two documents.  With `contained`, it is the share of the second that the
 * first has, in two lists of the same documents the share of the first, in others the greater share.
 */
static Measure
measure_of(const PairOptions *options, bool one_list, bool same)
{
	if (options->contained == 0)
		return options->measure;
	return one_list ? MEASURE_CONTAINS : same ? MEASURE_CONTAINED : MEASURE_CONTAINMENT;
}

/* Returns the similarity of two sets. */
static double
compare(const Documents *documents, const Bag *x, const Bag *y, Measure measure)
{
	return bag_similarity(x, y, measure, evidence_weighs(documents));
}

/* ---- Two documents --------------------------------------------------------- */

/* Returns the similarity of two documents by their evidence, as measure_of() says. */
double
evidence_similarity(const Documents *left, uint32_t a, const Documents *right, uint32_t b)
{
	void *copy[2];
	Bag x = documents_evidence(left, a, &copy[0]);
	Bag y = documents_evidence(right, b, &copy[1]);
	double similarity =
		compare(left, &x, &y, measure_of(left->options, left == right, left == right));

	evidence_free(&x, copy[0]);
	evidence_free(&y, copy[1]);
	return similarity;
}

/* ---- Judges ------------------------------------------------------------------ */

/* Begins to judge the pairs of two lists, or of one that is given twice, in a part of `memory`. */
Judge *
judge_begin(const DocumentList *left, const DocumentList *right, size_t memory)
{
	size_t most = Min(KEPT_BYTES, memory / KEPT_SHARE);
	uint32_t slots = (uint32_t) host_limit(most / KEPT_SET_BYTES + 2);
	size_t size = sizeof(Judge) + (slots + 1) * sizeof(KeptSet);
	Judge *judge = host_alloc(size);

	memset(judge, 0, size);
	judge->left = left;
	judge->right = right;
	judge->measure =
		measure_of(left->documents->options, left == right, left->documents == right->documents);
	judge->by_rows = judge->measure == MEASURE_CONTAINED && !left->members;
	judge->most = most;
	judge->slots = slots;
	return judge;
}

/* Returns how many bytes a set takes. */
static size_t
bytes_of(const Bag *bag)
{
	return bag->count * (sizeof(int64_t) + (bag->frequency != NULL ? sizeof(uint32_t) : 0));
}

/* Frees a set. */
static void
drop(Judge *judge, KeptSet *set)
{
	if (set->documents == NULL)
		return;
	judge->bytes -= bytes_of(&set->bag);
	evidence_free(&set->bag, set->copy);
	set->documents = NULL;
}

/* Frees all sets but two, which may be NULL. */
static void
drop_others(Judge *judge, const KeptSet *one, const KeptSet *other)
{
	for (size_t i = 0; i <= judge->slots; i++)
		if (&judge->slot[i] != one && &judge->slot[i] != other)
			drop(judge, &judge->slot[i]);
}

/* Returns the set of a document, in memory until another one than `held` is needed. */
static const KeptSet *
set_of(Judge *judge, const Documents *documents, uint32_t document, const KeptSet *held)
{
	KeptSet *set = judge->slot +
		(document + (documents != judge->left->documents ? judge->slots / 2 : 0)) % judge->slots;

	if (set->documents == documents && set->document == document)
		return set;
	if (set == held)
		set = judge->slot + judge->slots;
	drop(judge, set);
	set->bag = documents_evidence(documents, document, &set->copy);
	set->documents = documents;
	set->document = document;
	judge->bytes += bytes_of(&set->bag);
	if (judge->bytes > judge->most)
		drop_others(judge, set, held);
	return set;
}

/* Returns whether the documents at two places are similar, and how similar they are. */
bool
judge_pair(Judge *judge, uint32_t a, uint32_t b, double *similarity)
{
	const Documents *left = judge->left->documents;
	const Documents *right = judge->right->documents;
	const PairOptions *options = left->options;
	uint32_t i = list_at(judge->left, a);
	uint32_t j = list_at(judge->right, b);
	const KeptSet *x = set_of(judge, left, i, NULL);
	const KeptSet *y = set_of(judge, right, j, x);

	*similarity = compare(left, &x->bag, &y->bag,
						  judge->by_rows && i < j ? MEASURE_CONTAINS : judge->measure);
	return *similarity >= (options->contained > 0 ? options->contained : options->threshold);
}

/* Frees a judge, or NULL. */
void
judge_end(Judge *judge)
{
	if (judge == NULL)
		return;
	drop_others(judge, NULL, NULL);
	host_free(judge);
}
