/*
 * analyze.c: what ANALYZE keeps of a column of signatures: sample.h says
 * what.
 */
#include "planner/sample.h"

#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "utils/datum.h"

#include "sql/siblings.h"

/* Rows that the sample is chosen from, and compared with. */
#define ROWS_MOST 2000

/* How PostgreSQL analyses a column of any type that can be sorted. */
typedef struct Standard
{
	AnalyzeAttrComputeStatsFunc compute;
	void *extra_data;
} Standard;

/* Rows of a table that are not null, by their signatures. */
typedef struct Rows
{
	int count;
	Datum *datum;
	Signature *signature;
} Rows;

/* ---- Rows --------------------------------------------------------------- */

/* The i-th of count things spread evenly over all. */
static int
spread(int i, int count, int all)
{
	return (int) ((int64) i * all / count);
}

static Rows
take_rows(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sampled)
{
	Datum *present = palloc(sizeof(Datum) * (sampled + 1));
	int count = 0;
	Rows rows;

	for (int i = 0; i < sampled; i++)
	{
		bool is_null;

		present[count] = fetch(stats, i, &is_null);
		count += !is_null;
	}
	rows.count = Min(count, ROWS_MOST);
	rows.datum = palloc(sizeof(Datum) * (rows.count + 1));
	rows.signature = palloc(sizeof(Signature) * (rows.count + 1));
	for (int i = 0; i < rows.count; i++)
	{
		compat_vacuum_delay();
		rows.datum[i] = PointerGetDatum(PG_DETOAST_DATUM(present[spread(i, rows.count, count)]));
		rows.signature[i] = signature_of_any(rows.datum[i]);
	}
	return rows;
}

/* The first that can be compared, and is not of the empty set, or NULL. */
static const Signature *
typical_of(const Rows *rows)
{
	for (int i = 0; i < rows->count; i++)
		if (rows->signature[i].header.version == RECIPE_VERSION &&
			!signature_is_empty(&rows->signature[i]))
			return &rows->signature[i];
	return NULL;
}

/* ---- What is kept ------------------------------------------------------- */

/*
 * Leave only common values: nobody asks for a range of signatures, and bounds
 * of a histogram take room.  Returns the number of the slot that is free now.
 */
static int
keep_common_values(VacAttrStatsP stats)
{
	int kept = 0;

	while (kept < STATISTIC_NUM_SLOTS && stats->stakind[kept] == STATISTIC_KIND_MCV)
		kept++;
	for (int i = kept; i < STATISTIC_NUM_SLOTS; i++)
	{
		stats->stakind[i] = 0;
		stats->staop[i] = InvalidOid;
		stats->stacoll[i] = InvalidOid;
		stats->numnumbers[i] = stats->numvalues[i] = 0;
	}
	return kept;
}

static bool
is_common(VacAttrStatsP stats, int slots, Datum datum)
{
	for (int i = 0; i < slots; i++)
		for (int j = 0; j < stats->numvalues[i]; j++)
		{
			struct varlena *value = PG_DETOAST_DATUM_PACKED(stats->stavalues[i][j]);

			if (VARSIZE_ANY_EXHDR(value) == VARSIZE_ANY_EXHDR(DatumGetPointer(datum)) &&
				memcmp(VARDATA_ANY(value), VARDATA_ANY(DatumGetPointer(datum)),
					   VARSIZE_ANY_EXHDR(value)) == 0)
				return true;
		}
	return false;
}

/* How many signatures like this one are kept. */
static int
sample_size(const Signature *typical)
{
	return Min(SAMPLE_MOST, SAMPLE_BYTES / (signature_size(&typical->header) + VARHDRSZ));
}

static void
keep_sample(VacAttrStatsP stats, int slot, const Rows *rows, int most)
{
	int *other = palloc(sizeof(int) * (rows->count + 1));
	size_t room = SAMPLE_BYTES;
	int others = 0;
	int kept = 0;
	MemoryContext old_context;

	for (int i = 0; i < rows->count; i++)
	{
		compat_vacuum_delay();
		if (!is_common(stats, slot, rows->datum[i]))
			other[others++] = i;
	}
	/* A slot must have values to be read: one row then stands for none at all. */
	if (others == 0)
		other[others++] = 0;
	most = Min(most, others);
	old_context = MemoryContextSwitchTo(stats->anl_context);
	stats->stavalues[slot] = palloc(sizeof(Datum) * (most + 1));
	for (int i = 0; i < most; i++)
	{
		Datum datum = rows->datum[other[spread(i, most, others)]];
		size_t size = VARSIZE_ANY(DatumGetPointer(datum));

		/* Shapes may differ, where the column's type does not say. */
		if (size > room)
			continue;
		room -= size;
		stats->stavalues[slot][kept++] = datumCopy(datum, false, -1);
	}
	MemoryContextSwitchTo(old_context);
	stats->numvalues[slot] = kept;
}

/* The share of pairs within each number of steps; spread over many pairs. */
static void
keep_distances(VacAttrStatsP stats, int slot, const Rows *rows, const Signature *typical)
{
	int k = typical->header.k;
	int steps = sample_steps(k);
	int chosen = Min(sample_size(typical), rows->count);
	double pairs = Max((double) chosen * (rows->count - 1), 1);
	int64 *count = palloc0(sizeof(int64) * (steps + 1));
	float4 *within = MemoryContextAlloc(stats->anl_context, sizeof(float4) * (steps + 1));
	int64 sum = 0;

	for (int i = 0; i < chosen; i++)
	{
		int row = spread(i, chosen, rows->count);
		const Signature *x = &rows->signature[row];

		compat_vacuum_delay();
		if (signature_is_empty(x) || !signature_comparable(&x->header, &typical->header))
			continue;
		for (int j = 0; j < rows->count; j++)
		{
			const Signature *y = &rows->signature[j];

			if (j != row && !signature_is_empty(y) && signature_comparable(&x->header, &y->header))
				count[(signature_distance(x, y) * steps + k - 1) / k]++;
		}
	}
	for (int i = 0; i <= steps; i++)
	{
		sum += count[i];
		within[i] = sum / pairs;
	}
	stats->stanumbers[slot] = within;
	stats->numnumbers[slot] = steps + 1;
}

static void
compute_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sampled, double total)
{
	Standard *standard = stats->extra_data;
	const Signature *typical;
	Rows rows;
	int slot;

	stats->extra_data = standard->extra_data;
	standard->compute(stats, fetch, sampled, total);
	stats->extra_data = standard;
	if (!stats->stats_valid)
		return;

	slot = keep_common_values(stats);
	rows = take_rows(stats, fetch, sampled);
	typical = typical_of(&rows);
	if (typical == NULL || slot == STATISTIC_NUM_SLOTS)
		return;
	stats->stakind[slot] = STATISTIC_KIND_SIGNATURES;
	keep_sample(stats, slot, &rows, sample_size(typical));
	keep_distances(stats, slot, &rows, typical);
}

/* typanalyze of minhash and simhash. */
PG_FUNCTION_INFO_V1(neardup_signature_typanalyze);
Datum
neardup_signature_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStatsP stats = (VacAttrStatsP) PG_GETARG_POINTER(0);
	Standard *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	/* Anyone may name this function for a type of theirs. */
	if (!is_signature_type(fcinfo->flinfo->fn_oid, getBaseType(stats->attrtypid)) ||
		stats->attrtype->typlen != -1)
		PG_RETURN_BOOL(true);
	standard = palloc(sizeof(Standard));
	standard->compute = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	stats->compute_stats = compute_stats;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}
