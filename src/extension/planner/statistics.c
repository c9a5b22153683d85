/*
 * statistics.c: reading what ANALYZE keeps of a column of signatures.
 */
#include "planner/statistics.h"
#include "calls/objects.h"
#include "types/hashes.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/selfuncs.h"

/* The approximate limit of distances computed between two samples. */
#define PAIRS_MAX 20000

/*
 * Makes a signature of a value of one of the types that serve as such; bits is memory
 * that it may point to.  Returns false if the value has no valid shape.
 */
bool
signature_of_value(Oid type, Datum value, uint64 *bits, Signature *signature)
{
	if (type == BITOID)
		return signature_read_bit(value, signature);
	*signature = type == INT8OID ? signature_of_int8(value, bits) : signature_of_any(value);
	return true;
}

/* ---- Reading ------------------------------------------------------------ */

/* Appends the values of a slot that are signatures. */
static void
add_signatures(ColumnStatistics *column, Oid function, const AttStatsSlot *slot)
{
	Oid type;
	uint64 *bits;

	if (slot->nvalues == 0)
		return;
	type = getBaseType(slot->valuetype);
	if (type == VARBITOID)
		type = BITOID;
	bits = palloc(sizeof(uint64) * slot->nvalues);
	if (!is_signature_type(function, type))
		return;
	for (int i = 0; i < slot->nvalues; i++)
		if (signature_of_value(type, slot->values[i], &bits[i], &column->signature[column->count]))
			column->count++;
}

/*
 * Reads the common values and the sample.  Columns of bit and bigint have no slot of our
 * kind.  The bounds of their histogram serve as a column, since hashes are evenly spread.
 */
static void
statistics_read_signatures(ColumnStatistics *column, HeapTuple tuple, Oid function)
{
	AttStatsSlot *common = &column->common_slot;
	AttStatsSlot *slot = &column->slot;
	double sampled = 1 - column->nulls;

	get_attstatsslot(common, tuple, STATISTIC_KIND_MCV, InvalidOid,
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	if (!get_attstatsslot(slot, tuple, STATISTIC_KIND_SIGNATURES, InvalidOid,
						  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		get_attstatsslot(slot, tuple, STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES);
	column->signature = palloc(sizeof(Signature) * (common->nvalues + slot->nvalues + 1));
	if (common->nnumbers == common->nvalues)
		add_signatures(column, function, common);
	column->common = column->count == common->nvalues ? column->count : 0;
	column->count = column->common;
	column->common_share = common->numbers;
	add_signatures(column, function, slot);
	column->steps = Max(slot->nnumbers - 1, 0);
	column->within = slot->numbers;

	for (int i = 0; i < column->common; i++)
		sampled -= column->common_share[i];
	column->sampled_share = Max(sampled, 0) / Max(slot->nvalues, 1);
}

/* Returns the share of all rows that the i-th signature stands for. */
static double
share_of(const ColumnStatistics *column, int i)
{
	return i < column->common ? column->common_share[i] : column->sampled_share;
}

/*
 * Reads the statistics of a column of a relation in the query.  function is the running
 * function of this extension: PostgreSQL shows it only the number of rows if the user
 * may not read all of the column.  This holds for leakproof operators too, since function
 * is their estimator: estimates would tell how near hidden rows are to a chosen signature.
 */
void
statistics_read(ColumnStatistics *column, PlannerInfo *root, Node *node, Oid function)
{
	VariableStatData variable;

	memset(column, 0, sizeof(ColumnStatistics));
	examine_variable(root, node, 0, &variable);
	if (variable.rel != NULL)
		column->rows = variable.rel->tuples;
	if (HeapTupleIsValid(variable.statsTuple))
	{
		Form_pg_statistic statistic = (Form_pg_statistic) GETSTRUCT(variable.statsTuple);

		column->relation = statistic->starelid;
		column->attribute = statistic->staattnum;
		column->nulls = statistic->stanullfrac;
		if (statistic_proc_security_check(&variable, function))
			statistics_read_signatures(column, variable.statsTuple, function);
	}
	ReleaseVariableStats(variable);
	column->present = 1 - column->nulls;
	for (int i = 0; i < column->count; i++)
		if (signature_is_empty(&column->signature[i]))
			column->present -= share_of(column, i);
	column->present = Max(column->present, 0);
}

/* Frees what statistics_read() has read. */
void
statistics_free(ColumnStatistics *column)
{
	free_attstatsslot(&column->common_slot);
	free_attstatsslot(&column->slot);
	if (column->signature != NULL)
		pfree(column->signature);
}

/* ---- Estimates ---------------------------------------------------------- */

/* Returns the first signature of this recipe that is not empty, or NULL. */
const Signature *
typical_signature(const Signature *signature, int count)
{
	for (int i = 0; i < count; i++)
		if (signature[i].header.version == RECIPE_VERSION && !signature_is_empty(&signature[i]))
			return &signature[i];
	return NULL;
}

static bool
statistics_is_near(const Signature *x, const Signature *y, int radius)
{
	return signature_comparable(&x->header, &y->header) && signature_near(x, y, radius);
}

/*
 * Computes the share of all rows that are within the radius of a signature.  Returns
 * how many sampled rows, common values not counted, this is based on.  The signature may
 * be a sampled row itself, number self, which does not count; else self is -1.
 */
int
statistics_near(const ColumnStatistics *column, const Signature *centre, int self, int radius,
				double *share)
{
	int near = 0;

	*share = 0;
	for (int i = 0; i < column->count; i++)
		if ((i != self || i < column->common) &&
			statistics_is_near(&column->signature[i], centre, radius))
		{
			*share += share_of(column, i);
			near += i >= column->common;
		}
	return near;
}

/*
 * Chooses signatures that are not empty, each of which stands for the same share of all rows;
 * so a common value may be chosen several times.  Returns how many: limit, or 0 if there is none.
 */
int
statistics_spread(const ColumnStatistics *column, int limit, int *row)
{
	double total = 0;
	double sum = 0;
	int count = 0;

	for (int i = 0; i < column->count; i++)
		if (!signature_is_empty(&column->signature[i]))
			total += share_of(column, i);
	for (int i = 0; i < column->count; i++)
	{
		if (!signature_is_empty(&column->signature[i]))
			sum += share_of(column, i);
		while (count < limit && sum > total * (count + 0.5) / limit)
			row[count++] = i;
	}
	return count;
}

/* Returns true if both are of the same column of the same table. */
bool
statistics_are_same(const ColumnStatistics *x, const ColumnStatistics *y)
{
	return OidIsValid(x->relation) && x->relation == y->relation && x->attribute == y->attribute;
}

/* Returns the share of pairs of one column, by the distribution of distances. */
static double
pairs_within(const ColumnStatistics *column, int radius)
{
	const Signature *typical = typical_signature(column->signature, column->count);
	double present = 1 - column->nulls;
	double at;
	int i;

	if (typical == NULL)
		return 0;
	at = (double) radius * column->steps / typical->header.k;
	i = (int) Min(at, column->steps - 1);
	return present * present *
		(column->within[i] + (Min(at - i, 1)) * (column->within[i + 1] - column->within[i]));
}

/* Returns the share of pairs of rows, one of each column, that are within the radius. */
double
statistics_pairs(const ColumnStatistics *x, const ColumnStatistics *y, int radius)
{
	bool same = statistics_are_same(x, y);
	int step = 1 + (int) ((int64) x->count * y->count / PAIRS_MAX);
	double pairs = 0;

	if (same && x->steps > 0)
		return pairs_within(x, radius);
	for (int i = 0; i < x->count; i += i < x->common ? 1 : step)
	{
		double share = share_of(x, i) * (i < x->common ? 1 : step);

		for (int j = 0; j < y->count; j++)
			if ((i != j || !same || i < x->common) &&
				statistics_is_near(&x->signature[i], &y->signature[j], radius))
				pairs += share * share_of(y, j);
	}
	return pairs;
}
