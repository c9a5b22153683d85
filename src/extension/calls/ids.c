/*
 * ids.c: the ids of rows, whose type the call names.
 */
#include "calls/ids.h"

#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "calls/arguments.h"

/* Looks up how ids of a type are kept and compared, by the collation of their column if it has one. */
IdType
id_type(Oid type, Oid collation)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
	IdType result = {.type = type,
					 .length = cache->typlen,
					 .by_value = cache->typbyval,
					 .compare = &cache->cmp_proc_finfo,
					 .collation = OidIsValid(collation) ? collation : cache->typcollation};

	if (!OidIsValid(cache->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("type %s cannot be an id", format_type_be(type)),
				 errdetail("It has no default operator class for access method \"btree\"."),
				 errhint("Cast the id to a type that can be ordered, such as text.")));
	return result;
}

/* Returns whether a column of a type can hold ids. */
bool
id_fits(const IdType *ids, Oid column_type)
{
	if (column_type == ids->type || IsBinaryCoercible(column_type, ids->type))
		return true;
	return ids->type == INT8OID && (column_type == INT2OID || column_type == INT4OID);
}

/* Returns the type of a column, below domains unless ids are of the domain. */
Oid
id_column_type(const IdType *ids, Oid column_type)
{
	return id_fits(ids, column_type) ? column_type : getBaseType(column_type);
}

/* Copies an id from a column of a type into a memory context, as an id of the call. */
Datum
id_copy(const IdType *ids, Oid column_type, Datum id, MemoryContext context)
{
	MemoryContext old;

	if (column_type == INT2OID && ids->type == INT8OID)
		return Int64GetDatum(DatumGetInt16(id));
	if (column_type == INT4OID && ids->type == INT8OID)
		return Int64GetDatum(DatumGetInt32(id));
	if (ids->by_value)
		return id;
	old = MemoryContextSwitchTo(context);
	if (ids->length == -1)
		id = PointerGetDatum(PG_DETOAST_DATUM_COPY(id));
	else
		id = datumCopy(id, false, ids->length);
	MemoryContextSwitchTo(old);
	return id;
}

/* Compares two ids by the order of their type. */
int
id_compare(const IdType *ids, Datum x, Datum y)
{
	return DatumGetInt32(FunctionCall2Coll(ids->compare, ids->collation, x, y));
}

/* Returns an id as text, for messages. */
char *
id_text(const IdType *ids, Datum id)
{
	Oid output;
	bool varlena;

	getTypeOutputInfo(ids->type, &output, &varlena);
	return OidOutputFunctionCall(output, id);
}

/* A text to read as a value of a type. */
typedef struct IdText
{
	Oid type;
	char *text;
	Datum value;
} IdText;

/* Reads the text of an IdText, or raises an error. */
static void
parse_id(void *state)
{
	IdText *id = state;
	Oid input;
	Oid parameter;

	getTypeInputInfo(id->type, &input, &parameter);
	id->value = OidInputFunctionCall(input, id->text, parameter, -1);
}

/*
 * neardup_as_id(value text, id_type anyelement): the value of the type of id_type that has this
 * text, or NULL if there is none.
 */
PG_FUNCTION_INFO_V1(neardup_as_id);
Datum
neardup_as_id(PG_FUNCTION_ARGS)
{
	IdText id = {.type = get_fn_expr_argtype(fcinfo->flinfo, 1)};
	ErrorData *error;
	int category;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	id.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	error = catch_error(parse_id, &id);
	if (error == NULL)
		PG_RETURN_DATUM(id.value);
	category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
	if (category != ERRCODE_DATA_EXCEPTION && category != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
		ReThrowError(error);
	PG_RETURN_NULL();
}
