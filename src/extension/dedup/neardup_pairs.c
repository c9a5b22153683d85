/*
 * neardup_pairs.c: neardup_pairs().
 */
#include "dedup/dedup.h"

#include "utils/tuplestore.h"

typedef struct PairRows
{
	ReturnSetInfo *result;
	Source *left;
	Source *right; /* left itself if there is one source */
	bool all;      /* whether each pair of equal rows counts, or the first row stands for all */
	Judge *judge;  /* judges documents whose rows may alternate; NULL: the join does */
	const JudgedPairs *verdicts;
} PairRows;

/* Returns whether a pair of rows is not judged different.  Notes that it is reported. */
static bool
is_wanted(const PairRows *pairs, uint32 a, uint32 b)
{
	uint32 x = pairs->left->judged[a];
	uint32 y = pairs->right->judged[b];
	JudgedPair *verdict = NULL;

	if (x != NOT_JUDGED && y != NOT_JUDGED)
		verdict = judged_find(pairs->verdicts, x, y);
	if (verdict == NULL)
		return true;
	verdict->reported[pairs->left != pairs->right && x > y] = true;
	return verdict->same;
}

/* Returns a pair of rows, within one source the earlier row first. */
static void
pairs_put_pair(PairRows *pairs, uint32 a, uint32 b, double similarity)
{
	Datum values[3] = {pairs->left->id[a], pairs->right->id[b], Float8GetDatum(similarity)};
	bool nulls[3] = {false, false, similarity == NO_SIMILARITY};

	if (pairs->verdicts != NULL && !is_wanted(pairs, a, b))
		return;
	tuplestore_putvalues(pairs->result->setResult, pairs->result->setDesc, values, nulls);
	host_check_interrupts();
}

/*
 * A PairSink: returns the pairs of rows of two documents.  All rows of the
 * query's document are returned where there are two sources, as their pairs do
 * not tell that they are equal.  In one source, rows of b may come before rows of a: then
 * the share of a counts.
 */
static bool
take_documents(void *state, uint32 a, uint32 b, double similarity)
{
	PairRows *pairs = state;
	bool same = pairs->left == pairs->right;
	bool mixed = same && pairs->left->documents->last[a] > pairs->left->documents->first[b];
	bool similar[2] = {true, true};
	double share[2] = {similarity, similarity};

	if (!rows_may_meet(pairs->left, pairs->left->documents->first[a], pairs->right,
					   pairs->right->documents->first[b]))
		return true;
	for (int i = 0; pairs->judge != NULL && i <= mixed; i++)
		similar[i] = judge_pair(pairs->judge, i == 0 ? a : b, i == 0 ? b : a, &share[i]);
	for_each_row(pairs->left->documents, a, x)
	{
		for_each_row(pairs->right->documents, b, y)
		{
			bool swap = same && x > y;

			host_check_interrupts();
			if (similar[swap])
				pairs_put_pair(pairs, swap ? y : x, swap ? x : y, share[swap]);
			if (!pairs->all)
				break;
		}
		if (same && !pairs->all)
			break;
	}
	return true;
}

/* Returns the pairs of equal rows: the rows of each document. */
static void
put_equal_rows(PairRows *pairs)
{
	const Documents *documents = pairs->left->documents;

	for (uint32 document = 0; document < documents->count; document++)
	{
		for_each_row(documents, document, a)
		{
			for (uint32 b = documents->next[a]; b != NO_ROW; b = documents->next[b])
				pairs_put_pair(pairs, a, b, 1);
			if (!pairs->all)
				break;
		}
		host_check_interrupts_at(document);
	}
}

/* Returns the pairs of rows that are judged the same and were not found. */
static void
put_same(PairRows *pairs)
{
	const uint32 *left_document = documents_of_rows(pairs->left->documents);
	const uint32 *right_document = documents_of_rows(pairs->right->documents);
	int sides = pairs->left == pairs->right ? 1 : 2;

	for (uint32 v = 0; v < pairs->verdicts->count; v++)
	{
		const JudgedPair *verdict = pairs->verdicts->verdict + v;

		for (int side = 0; side < sides && verdict->same; side++)
		{
			uint32 x = pairs->left->judged_row[side == 0 ? verdict->a : verdict->b];
			uint32 y = pairs->right->judged_row[side == 0 ? verdict->b : verdict->a];
			uint32 a = sides == 1 ? Min(x, y) : x;
			uint32 b = sides == 1 ? Max(x, y) : y;
			double similarity = NO_SIMILARITY;

			if (verdict->reported[side] || !rows_share_scope(pairs->left, a, pairs->right, b))
				continue;
			if (left_document[a] != NO_DOCUMENT && right_document[b] != NO_DOCUMENT)
				similarity = documents_similarity(pairs->left->documents, left_document[a],
												  pairs->right->documents, right_document[b]);
			pairs_put_pair(pairs, a, b, similarity);
		}
	}
}

/*
 * neardup_pairs(query, threshold, ...), whose ids are bigint, and
 * neardup_pairs(query, threshold, id_type, ...), whose ids have the type of id_type.
 */
PG_FUNCTION_INFO_V1(neardup_pairs);
Datum
neardup_pairs(PG_FUNCTION_ARGS)
{
	Call call = call_begin(fcinfo, ARGUMENT_BIT(ARGUMENT_METHOD) | ARGUMENT_BIT(ARGUMENT_NEAREST));
	bool all = call_choice(fcinfo, &call, ARGUMENT_EQUAL, "equal", "first", "all");
	PairRows pairs;
	DocumentList left;
	DocumentList right;

	call_read(&call);
	pairs = (PairRows){.result = (ReturnSetInfo *) fcinfo->resultinfo,
					   .left = call.source,
					   .right = call.against ? call.against : call.source,
					   .all = all,
					   .verdicts = call.options->verdicts};
	left = all_documents(pairs.left->documents);
	right = all_documents(pairs.right->documents);
	progress_phase(PHASE_JOINING);
	if (all && call.against == NULL && call.options->pair.contained > 0)
	{
		left.unjudged = true;
		pairs.judge = judge_begin(&left, &left, DOCUMENT_MEMORY(&call.options->pair));
	}
	(void) pairs_join(&left, call.against ? &right : NULL, UINT64_MAX, take_documents, &pairs);
	judge_end(pairs.judge);
	if (call.against == NULL)
		put_equal_rows(&pairs);
	if (pairs.verdicts != NULL)
		put_same(&pairs);
	call_end(&call);
	return (Datum) 0;
}
