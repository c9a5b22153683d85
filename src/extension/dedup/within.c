/*
 * within.c: the columns in which two rows must be equal to be compared.
 *
 * Rows that are equal in all of them are of one partition, and partitions are numbered.  A row with
 * a NULL there is of no partition, since a NULL is equal to nothing.
 *
 * In a column that is unknown, a NULL is a value for partitions, and equal to all values when rows are
 * compared.  Partitions that are equal in the other columns are of one scope, and joined.
 */
#include "dedup/dedup.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "calls/query.h"

#define ROOM_MIN 64

/* Creates partitions by some columns, of which there are none yet. */
static Within *
make_within(const WithinColumn *column, int columns)
{
	Within *within = palloc0(sizeof(Within));

	within->context = CurrentMemoryContext;
	within->columns = columns;
	within->column = palloc(columns * sizeof(WithinColumn) + 1);
	memcpy(within->column, column, columns * sizeof(WithinColumn));
	within->room = ROOM_MIN;
	within->value = palloc(ROOM_MIN * columns * sizeof(NullableDatum) + 1);
	table_begin(&within->table, ROOM_MIN);
	return within;
}

/* Creates the partitions of a call; a NULL is equal to all in the columns `unknown`. */
Within *
within_begin(char **name, int columns, char **unknown, int unknowns)
{
	WithinColumn *column = palloc0(columns * sizeof(WithinColumn) + 1);
	WithinColumn *known = palloc(columns * sizeof(WithinColumn) + 1);
	int count = 0;
	Within *within;

	for (int i = 0; i < columns; i++)
		column[i].name = name[i];
	for (int i = 0; i < unknowns; i++)
	{
		int c = 0;

		while (c < columns && strcmp(name[c], unknown[i]) != 0)
			c++;
		if (c == columns)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" of \"unknown\" is not in \"within\"", unknown[i]),
					 errhint("Name it in both, as in within => '{isbn}', unknown => '{isbn}'.")));
		column[c].unknown = true;
	}
	within = make_within(column, columns);
	for (int i = 0; i < columns; i++)
		if (!column[i].unknown)
			known[count++] = column[i];
	if (count < columns)
	{
		within->scopes = make_within(known, count);
		within->scope = palloc(ROOM_MIN * sizeof(uint32));
	}
	return within;
}

/* Learns how values of a column are compared. */
static void
find_equality(WithinColumn *column, const char *query, Oid type, Oid collation)
{
	TypeCacheEntry *cache =
		lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_EXTENDED_PROC_FINFO);

	if (!OidIsValid(cache->eq_opr_finfo.fn_oid) ||
		!OidIsValid(cache->hash_extended_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of \"%s\" is of type %s, which has no equality and hash",
						column->name, query, format_type_be(type)),
				 errhint("Cast it, as in %s::text AS %s.", quote_identifier(column->name),
						 quote_identifier(column->name))));
	column->type = type;
	column->collation = collation;
	column->equal = &cache->eq_opr_finfo;
	column->hash = &cache->hash_extended_proc_finfo;
	get_typlenbyval(type, &column->length, &column->by_value);
}

/*
 * Finds the columns in a query's row, behind the first ones; `query` is the argument's name.
 * Values of two queries must be of one type.
 */
void
within_columns(Within *within, const char *query, TupleDesc row_type, int first)
{
	for (int i = 0; i < within->columns; i++)
	{
		WithinColumn *column = within->column + i;
		Form_pg_attribute found;
		Oid type;

		column->position = first;
		while (column->position < row_type->natts &&
			   strcmp(NameStr(TupleDescAttr(row_type, column->position)->attname), column->name) !=
				   0)
			column->position++;
		if (column->position == row_type->natts)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("\"%s\" returns no column \"%s\" after the first %d", query,
							column->name, first),
					 errhint("Columns of \"within\" come last, as in SELECT id, sig, %s FROM ...",
							 quote_identifier(column->name))));
		found = TupleDescAttr(row_type, column->position);
		type = getBaseType(found->atttypid);
		if (!OidIsValid(column->type))
			find_equality(column, query, type, found->attcollation);
		if (type != column->type)
			ereport(ERROR,
					(wrong_column(query, row_type, column->position),
					 errhint("Both queries must return column \"%s\" as type %s.", column->name,
							 format_type_be(column->type))));
	}
	if (within->scopes != NULL)
		within_columns(within->scopes, query, row_type, first);
}

/* Returns whether two values of a column are the same, of which each may be NULL. */
static bool
is_same_value(const WithinColumn *column, NullableDatum a, NullableDatum b)
{
	return a.isnull == b.isnull &&
		(a.isnull ||
		 DatumGetBool(FunctionCall2Coll(column->equal, column->collation, a.value, b.value)));
}

/* Returns whether two partitions are of one scope: rows of both may be near a third row. */
bool
within_share_scope(const Within *within, uint32 a, uint32 b)
{
	if (a == NO_PARTITION || b == NO_PARTITION || within->scopes == NULL)
		return a == b && a != NO_PARTITION;
	return within->scope[a] == within->scope[b];
}

/* Returns whether rows of two partitions are compared. */
bool
within_meet(const Within *within, uint32 a, uint32 b)
{
	const NullableDatum *x;
	const NullableDatum *y;

	if (a == NO_PARTITION || b == NO_PARTITION || within->scopes == NULL || a == b)
		return a == b && a != NO_PARTITION;
	x = within->value + (size_t) a * within->columns;
	y = within->value + (size_t) b * within->columns;
	for (int i = 0; i < within->columns; i++)
		if (!(within->column[i].unknown && (x[i].isnull || y[i].isnull)) &&
			!is_same_value(&within->column[i], x[i], y[i]))
			return false;
	return true;
}

/* The values of a row, whose partition is sought. */
typedef struct SoughtClass
{
	const Within *within;
	const Datum *values;
	const bool *nulls;
} SoughtClass;

/* A TableMatch. */
static bool
is_partition(const void *sought, uint32 number)
{
	const SoughtClass *s = sought;
	const NullableDatum *value = s->within->value + (size_t) number * s->within->columns;

	for (int i = 0; i < s->within->columns; i++)
	{
		const WithinColumn *column = s->within->column + i;
		NullableDatum own = {s->values[column->position], s->nulls[column->position]};

		if (!is_same_value(column, value[i], own))
			return false;
	}
	return true;
}

/* Makes room for one more partition. */
static void
reserve_partition(Within *within)
{
	MemoryContext old = MemoryContextSwitchTo(within->context);

	table_reserve(&within->table, within->table.count + 1);
	MemoryContextSwitchTo(old);
	if (within->table.count < within->room)
		return;
	within->room *= 2;
	within->value =
		repalloc_huge(within->value,
					  (size_t) within->room * within->columns * sizeof(NullableDatum) + 1);
	if (within->scopes != NULL)
		within->scope = repalloc_huge(within->scope, (size_t) within->room * sizeof(uint32));
}

/* Copies the values of a new partition. */
static void
copy_partition(Within *within, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(within->context);
	NullableDatum *value = within->value + (size_t) within->table.count * within->columns;

	for (int i = 0; i < within->columns; i++)
	{
		const WithinColumn *column = within->column + i;

		value[i] = (NullableDatum){.isnull = nulls[column->position]};
		if (value[i].isnull)
			continue;
		if (column->length == -1)
			value[i].value = PointerGetDatum(PG_DETOAST_DATUM_COPY(values[column->position]));
		else
			value[i].value = datumCopy(values[column->position], column->by_value, column->length);
	}
	MemoryContextSwitchTo(old);
}

/* Returns the partition of a row, or NO_PARTITION. */
uint32
within_partition(Within *within, const Datum *values, const bool *nulls)
{
	SoughtClass sought = {within, values, nulls};
	uint64 hash = table_seed(&within->table);
	uint64_t *slot;

	for (int i = 0; i < within->columns; i++)
	{
		const WithinColumn *column = within->column + i;

		if (nulls[column->position] && !column->unknown)
			return NO_PARTITION;
		if (nulls[column->position])
			hash = hash * 31 + i;
		else
			hash =
				DatumGetUInt64(FunctionCall2Coll(column->hash, column->collation,
												 values[column->position], UInt64GetDatum(hash)));
	}
	hash = table_hash(&within->table, hash);
	reserve_partition(within);
	slot = table_search(&within->table, hash, is_partition, &sought);
	if (*slot != 0)
		return table_number(slot);
	copy_partition(within, values, nulls);
	if (within->scopes != NULL)
		within->scope[within->table.count] = within_partition(within->scopes, values, nulls);
	return table_put(&within->table, slot, hash);
}
