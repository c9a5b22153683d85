/*
 * within.c: the columns in which two rows must be equal to be compared.
 *
 * Rows that are equal in all of them are of one class, and classes are numbered.  A row with
 * a NULL there is of no class, since a NULL is equal to nothing.
 */
#include "dedup/dedup.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "calls/query.h"

#define ROOM_MIN 64

/* Creates the classes of a call, of which there are none yet. */
Within *
within_begin(char **name, int columns)
{
	Within *within = palloc0(sizeof(Within));

	within->context = CurrentMemoryContext;
	within->columns = columns;
	within->column = palloc0(columns * sizeof(WithinColumn));
	for (int i = 0; i < columns; i++)
		within->column[i].name = name[i];
	within->room = ROOM_MIN;
	within->value = palloc(ROOM_MIN * columns * sizeof(Datum));
	table_begin(&within->table, ROOM_MIN);
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

		column->place = first;
		while (column->place < row_type->natts &&
			   strcmp(NameStr(TupleDescAttr(row_type, column->place)->attname), column->name) != 0)
			column->place++;
		if (column->place == row_type->natts)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("\"%s\" returns no column \"%s\" after the first %d", query,
							column->name, first),
					 errhint("Columns of \"within\" come last, as in SELECT id, sig, %s FROM ...",
							 quote_identifier(column->name))));
		found = TupleDescAttr(row_type, column->place);
		type = getBaseType(found->atttypid);
		if (!OidIsValid(column->type))
			find_equality(column, query, type, found->attcollation);
		if (type != column->type)
			ereport(ERROR,
					(wrong_column(query, row_type, column->place),
					 errhint("Both queries must return column \"%s\" as type %s.", column->name,
							 format_type_be(column->type))));
	}
}

/* The values of a row, whose class is sought. */
typedef struct SoughtClass
{
	const Within *within;
	const Datum *values;
} SoughtClass;

/* A TableMatch. */
static bool
is_class(const void *sought, uint32 number)
{
	const SoughtClass *s = sought;
	const Datum *value = s->within->value + (size_t) number * s->within->columns;

	for (int i = 0; i < s->within->columns; i++)
	{
		const WithinColumn *column = s->within->column + i;

		if (!DatumGetBool(FunctionCall2Coll(column->equal, column->collation, value[i],
											s->values[column->place])))
			return false;
	}
	return true;
}

/* Makes room for one more class. */
static void
reserve_class(Within *within)
{
	MemoryContext old = MemoryContextSwitchTo(within->context);

	table_reserve(&within->table, within->table.count + 1);
	MemoryContextSwitchTo(old);
	if (within->table.count < within->room)
		return;
	within->room *= 2;
	within->value =
		repalloc_huge(within->value, (size_t) within->room * within->columns * sizeof(Datum));
}

/* Copies the values of a new class. */
static void
copy_class(Within *within, const Datum *values)
{
	MemoryContext old = MemoryContextSwitchTo(within->context);
	Datum *value = within->value + within->table.count * within->columns;

	for (int i = 0; i < within->columns; i++)
	{
		const WithinColumn *column = within->column + i;

		if (column->length == -1)
			value[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(values[column->place]));
		else
			value[i] = datumCopy(values[column->place], column->by_value, column->length);
	}
	MemoryContextSwitchTo(old);
}

/* Returns the class of a row, or NO_CLASS. */
uint32
within_class(Within *within, const Datum *values, const bool *nulls)
{
	SoughtClass sought = {within, values};
	uint64 hash = table_seed(&within->table);
	uint64_t *slot;

	for (int i = 0; i < within->columns; i++)
	{
		const WithinColumn *column = within->column + i;

		if (nulls[column->place])
			return NO_CLASS;
		hash = DatumGetUInt64(FunctionCall2Coll(column->hash, column->collation,
												values[column->place], UInt64GetDatum(hash)));
	}
	hash = table_hash(&within->table, hash);
	reserve_class(within);
	slot = table_search(&within->table, hash, is_class, &sought);
	if (*slot != 0)
		return table_number(slot);
	copy_class(within, values);
	return table_put(&within->table, slot, hash);
}
