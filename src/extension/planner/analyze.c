/*
 * analyze.c: the typanalyze function of signatures.  statistics.h says what ANALYZE keeps.
 */
#include "planner/statistics.h"
#include "calls/objects.h"

#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "utils/datum.h"

/* Rows that the sample is chosen from and compared with. */
#define ROWS_MAX 2000

/* What std_typanalyze() set: how PostgreSQL analyses a column of any sortable type. */
typedef struct StandardStats
{
	AnalyzeAttrComputeStatsFunc compute;
	void *extra_data;
} StandardStats;

/* Signatures of rows of a table that are not NULL. */
typedef struct Rows
{
	int count;
	Datum *datum;
	Signature *signature;
} Rows;

/* ---- Rows --------------------------------------------------------------- */

/* Returns the i-th of count indexes that are spread evenly below total. */
static int
spread_evenly(int i, int count, int total)
{
	return (int) ((int64) i * total / count);
}

/* Fetches the rows that ANALYZE has sampled and reads at most ROWS_MAX of them. */
static Rows
read_rows(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sampled)
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
	rows.count = Min(count, ROWS_MAX);
	rows.datum = palloc(sizeof(Datum) * (rows.count + 1));
	rows.signature = palloc(sizeof(Signature) * (rows.count + 1));
	for (int i = 0; i < rows.count; i++)
	{
		compat_vacuum_delay();
		rows.datum[i] =
			PointerGetDatum(PG_DETOAST_DATUM(present[spread_evenly(i, rows.count, count)]));
		rows.signature[i] = signature_of_any(rows.datum[i]);
	}
	return rows;
}

/* ---- Statistics --------------------------------------------------------- */

/*
 * Keeps only the slots of common values.  No query asks for a range of signatures, so a
 * histogram would only take space.  Returns the number of the first free slot.
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

/* Returns true if a value is among the common values. */
static bool
is_common(VacAttrStatsP stats, int slots, Datum datum)
{
	for (int i = 0; i < slots; i++)
		for (int j = 0; j < stats->numvalues[i]; j++)
			if (datum_image_eq(stats->stavalues[i][j], datum, false, -1))
				return true;
	return false;
}

/* Returns how many signatures of this size are kept. */
static int
sample_size(const Signature *typical)
{
	return Min(SAMPLE_MAX, SAMPLE_BYTES / (signature_size(&typical->header) + VARHDRSZ));
}

/* Keeps rows without a common value as the slot's values, at most `limit` of them. */
static void
keep_sample(VacAttrStatsP stats, int slot, const Rows *rows, int limit)
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
	/* A slot without values cannot be read: keep one row, whose share will be 0. */
	if (others == 0)
		other[others++] = 0;
	limit = Min(limit, others);
	old_context = MemoryContextSwitchTo(stats->anl_context);
	stats->stavalues[slot] = palloc(sizeof(Datum) * (limit + 1));
	for (int i = 0; i < limit; i++)
	{
		Datum datum = rows->datum[other[spread_evenly(i, limit, others)]];
		size_t size = VARSIZE_ANY(DatumGetPointer(datum));

		/* Shapes, and so sizes, differ if the column has no typmod. */
		if (size > room)
			continue;
		room -= size;
		stats->stavalues[slot][kept++] = datumCopy(datum, false, -1);
	}
	MemoryContextSwitchTo(old_context);
	stats->numvalues[slot] = kept;
}

/* Keeps the distribution of distances, by pairs of the sample's rows with all rows. */
static void
keep_distances(VacAttrStatsP stats, int slot, const Rows *rows, const Signature *typical)
{
	int k = typical->header.k;
	int steps = distance_steps(k);
	int chosen = Min(sample_size(typical), rows->count);
	double pairs = Max((double) chosen * (rows->count - 1), 1);
	int64 *count = palloc0(sizeof(int64) * (steps + 1));
	float4 *within = MemoryContextAlloc(stats->anl_context, sizeof(float4) * (steps + 1));
	int64 sum = 0;

	for (int i = 0; i < chosen; i++)
	{
		int row = spread_evenly(i, chosen, rows->count);
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

/* Computes the standard statistics, then replaces the histogram by the sample. */
static void
compute_stats(VacAttrStatsP stats, AnalyzeAttrFetchFunc fetch, int sampled, double total)
{
	StandardStats *standard = stats->extra_data;
	const Signature *typical;
	Rows rows;
	int slot;

	stats->extra_data = standard->extra_data;
	standard->compute(stats, fetch, sampled, total);
	stats->extra_data = standard;
	if (!stats->stats_valid)
		return;

	slot = keep_common_values(stats);
	rows = read_rows(stats, fetch, sampled);
	typical = typical_signature(rows.signature, rows.count);
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
	StandardStats *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	/* A user may name this function for a type of their own. */
	if (!is_signature_type(fcinfo->flinfo->fn_oid, getBaseType(stats->attrtypid)) ||
		stats->attrtype->typlen != -1)
		PG_RETURN_BOOL(true);
	standard = palloc(sizeof(StandardStats));
	standard->compute = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	stats->compute_stats = compute_stats;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}
