/*
 * pairs.c: neardup_pairs().
 */
#include "dedup/dedup.h"

#include "utils/tuplestore.h"

#include "dedup/call.h"

PG_FUNCTION_INFO_V1(neardup_pairs);
PG_FUNCTION_INFO_V1(neardup_pairs_witness);

typedef struct Pairs
{
	ReturnSetInfo *result;
	Source *left;
	Source *right; /* left itself where there is one source */
	bool all;      /* every pair of equal rows; else the first of them stands for all */
} Pairs;

static void
put_pair(Pairs *pairs, uint32 a, uint32 b, double similarity)
{
	Datum values[3] = {pairs->left->id[a], pairs->right->id[b], Float8GetDatum(similarity)};
	bool nulls[3] = {false};

	/* Of one source the earlier row comes first. */
	if (pairs->left == pairs->right && a > b)
	{
		values[0] = pairs->left->id[b];
		values[1] = pairs->left->id[a];
	}
	tuplestore_putvalues(pairs->result->setResult, pairs->result->setDesc, values, nulls);
	host_check_interrupts();
}

/* A row with the rows of a document. */
static void
put_row_pairs(Pairs *pairs, uint32 a, uint32 document, double similarity)
{
	if (!pairs->all)
		put_pair(pairs, a, pairs->right->first[document], similarity);
	else
		for_each_row(pairs->right, document, b) put_pair(pairs, a, b, similarity);
}

/* All rows of the query's document where there are two sources: their pairs tell of no copies. */
static bool
take_documents(void *state, uint32 a, uint32 b, double similarity)
{
	Pairs *pairs = state;

	if (pairs->left == pairs->right && !pairs->all)
		put_pair(pairs, pairs->left->first[a], pairs->right->first[b], similarity);
	else
		for_each_row(pairs->left, a, row) put_row_pairs(pairs, row, b, similarity);
	return true;
}

/* The rows of each document with one another. */
static void
put_equal_rows(Pairs *pairs)
{
	Source *source = pairs->left;

	for (uint32 document = 0; document < source->documents; document++)
	{
		if (source->first[document] == source->last[document])
			continue;
		for_each_row(source, document, a)
		{
			for (uint32 b = source->next[a]; b != NO_ROW; b = source->next[b])
				put_pair(pairs, a, b, 1);
			if (!pairs->all)
				break;
		}
	}
}

static Datum
find_pairs(FunctionCallInfo fcinfo, int witnesses)
{
	Call call = call_begin(fcinfo, witnesses);
	Pairs pairs = {(ReturnSetInfo *) fcinfo->resultinfo};
	Documents left;
	Documents right;

	pairs.all = call_choice(fcinfo, 4 + witnesses, "equal", "first", "all");
	call_read(&call);
	pairs.left = call.source;
	pairs.right = call.against ? call.against : call.source;
	left = all_documents(pairs.left);
	right = all_documents(pairs.right);
	progress_phase(PHASE_JOINING);
	documents_join(&left, call.against ? &right : NULL, take_documents, &pairs);
	if (call.against == NULL)
		put_equal_rows(&pairs);
	call_end(&call);
	return (Datum) 0;
}

Datum
neardup_pairs(PG_FUNCTION_ARGS)
{
	return find_pairs(fcinfo, 0);
}

Datum
neardup_pairs_witness(PG_FUNCTION_ARGS)
{
	return find_pairs(fcinfo, 1);
}
