/*
 * columns.c: the columns of an index: one is the signature, and all others are keys, which
 * the index keeps as hashes.
 */
#include "index/index.h"

#include "access/hash.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "calls/objects.h"

/* ---- Which column is what ----------------------------------------------- */

/* Returns the equality operator of a column with a type on its right side. */
static Oid
equality_of(Relation index, int column, Oid right)
{
	return get_opfamily_member(index->rd_opfamily[column - 1], index->rd_opcintype[column - 1],
							   right, STRATEGY_EQUAL);
}

/* Returns a hint for an index without a signature. */
static char *
hint_to_sign(Relation index)
{
	int columns = IndexRelationGetNumberOfKeyAttributes(index);

	for (int i = 0; i < columns; i++)
	{
		AttrNumber number = index->rd_index->indkey.values[i];
		char *name = number == 0 ? NULL : get_attname(index->rd_index->indrelid, number, false);

		if (name != NULL && index->rd_opcintype[i] == TEXTOID)
			return psprintf("Sign the text: USING neardup (to_minhash(%s)).",
							quote_identifier(name));
	}
	return "One column must be a minhash, simhash, bit or bigint, or an expression such as "
		   "to_minhash(body).";
}

/*
 * Returns the column of signatures.  A bigint may be a signature or a key: a key beside a column
 * that can only be a signature.
 */
static int
columns_find_signature(Relation index)
{
	int columns = IndexRelationGetNumberOfKeyAttributes(index);
	int certain = 0;
	int possible = 0;
	int found = 0;

	for (int column = 1; column <= columns; column++)
	{
		bool key = OidIsValid(equality_of(index, column, index->rd_opcintype[column - 1]));

		if (!OidIsValid(index_getprocid(index, column, SUPPORT_SIGNATURE)))
			continue;
		possible++;
		certain += !key;
		if (!key || certain == 0)
			found = column;
	}
	if (possible == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("index \"%s\" has no column of signatures", RelationGetRelationName(index)),
				 errhint("%s", hint_to_sign(index))));
	if (certain > 1 || (certain == 0 && possible > 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("index \"%s\" has more than one column of signatures",
						RelationGetRelationName(index)),
				 certain > 1 ?
					 errhint("Make an index for each.") :
					 errhint("Name the operator class of those that are keys: tenant bigint_key_ops.")));
	return found;
}

/* ---- Hashes ------------------------------------------------------------- */

/*
 * Returns the hash function for the right side of an equality: that of the default hash
 * operator class of the left side's type.  Returns InvalidOid if there is none.  Other classes
 * may hash otherwise, and may come and go.
 */
Oid
key_hash_function(Oid equality)
{
	Oid left;
	Oid right;
	Oid class;
	Oid family;

	op_input_types(equality, &left, &right);
	class = GetDefaultOpClass(left, HASH_AM_OID);
	family = OidIsValid(class) ? get_opclass_family(class) : InvalidOid;
	return op_in_opfamily(equality, family) ?
		get_opfamily_proc(family, right, right, HASHSTANDARD_PROC) :
		InvalidOid;
}

/*
 * Returns the hash function for values of a type that are compared with a column.  It gives
 * equal values of both types the same hash.
 */
static Oid
hash_function(Relation index, int column, Oid type)
{
	Oid equality = equality_of(index, column, type);
	Oid function = OidIsValid(equality) ? key_hash_function(equality) : InvalidOid;

	if (!OidIsValid(function))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a hash function for type %s", format_type_be(type))));
	return function;
}

/* ---- What a backend keeps of an index ----------------------------------- */

static IndexCache *
new_cache(Relation index)
{
	int columns = IndexRelationGetNumberOfKeyAttributes(index);
	Size bytes = offsetof(IndexCache, key) + (columns - 1) * sizeof(KeyColumn);
	IndexCache *cache = MemoryContextAllocZero(index->rd_indexcxt, bytes);

	cache->signature = columns_find_signature(index);
	cache->sets = index->rd_opcintype[cache->signature - 1] ==
		extension_type(index_getprocid(index, cache->signature, SUPPORT_SIGNATURE), "shingles");
	for (int column = 1; column <= columns; column++)
	{
		KeyColumn *key = &cache->key[cache->keys];

		if (column == cache->signature)
			continue;
		key->column = column;
		key->hash = hash_function(index, column, index->rd_opcintype[column - 1]);
		cache->keys++;
	}
	return cache;
}

/*
 * Returns what this backend keeps of an index.  Reports an error if the index does not have
 * just one column of signatures.
 */
IndexCache *
index_cache(Relation index)
{
	if (index->rd_amcache == NULL)
		index->rd_amcache = new_cache(index);
	return index->rd_amcache;
}

/* ---- Types of keys ------------------------------------------------------ */

/*
 * Returns the type, or the first part of it, that has no hash or one that may change, as ALTER
 * TYPE changes the hashes of rows; InvalidOid if there is none.  `input` is the input type of the
 * operator class that hashes the type.
 */
static Oid
unhashed_part(Oid type, Oid input)
{
	Oid base = getBaseType(type);
	Oid part = InvalidOid;
	Oid class;

	if (input == RECORDOID)
		return type;
	if (input == ANYARRAYOID)
		part = get_base_element_type(base);
	else if (input == ANYRANGEOID)
		part = get_range_subtype(base);
	else if (input == ANYMULTIRANGEOID)
		part = get_multirange_range(base);
	if (!OidIsValid(part))
		return InvalidOid;
	class = GetDefaultOpClass(part, HASH_AM_OID);
	return OidIsValid(class) ? unhashed_part(part, get_opclass_input_type(class)) : part;
}

/* Reports an error if an index has no signature, or a key that cannot be hashed for good. */
void
index_check_keys(Relation index)
{
	int keys = index_cache(index)->keys;

	for (int i = 0; i < keys; i++)
	{
		int column = index_cache(index)->key[i].column - 1;
		const FormData_pg_attribute *attribute = TupleDescAttr(RelationGetDescr(index), column);
		Oid part = unhashed_part(attribute->atttypid, index->rd_opcintype[column]);

		if (OidIsValid(part))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of type %s cannot be a key of a neardup index",
							NameStr(attribute->attname), format_type_be(attribute->atttypid)),
					 type_is_rowtype(part) ?
						 errdetail("It consists of rows of type %s, whose hashes ALTER TYPE would change.",
								   format_type_be(part)) :
						 errdetail("It consists of values of type %s, which has no default operator class for hash.",
								   format_type_be(part)),
					 errhint("Leave the column out: a condition on it is checked on the rows that the index finds.")));
	}
}

/* ---- Values ------------------------------------------------------------- */

/* Returns the signature of a value of the signature column, by its support function. */
Signature
index_signature(Relation index, Datum value)
{
	int column = index_cache(index)->signature;
	Signature signature;

	FunctionCall2(index_getprocinfo(index, column, SUPPORT_SIGNATURE), value,
				  PointerGetDatum(&signature));
	return signature;
}

/* Returns the mixed elements of a set, ascending, in the current context. */
uint64 *
set_elements(const Signature *set)
{
	uint64 *element = palloc_extended(Max(set->cardinality, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);

	set_mix((const int64 *) set->symbols, set->cardinality, element);
	return element;
}

/* Returns a hasher for values of a type that are compared with a column. */
KeyHasher
index_key_hasher(Relation index, int column, Oid type)
{
	Oid collation = index->rd_indcollation[column - 1];
	KeyHasher hasher = {.collation = collation};
	KeyColumn key;

	while (index_cache(index)->key[hasher.key].column != column)
		hasher.key++;
	key = index_cache(index)->key[hasher.key];
	if (type != index->rd_opcintype[column - 1])
		key.hash = hash_function(index, column, type);
	fmgr_info(key.hash, &hasher.function);
	return hasher;
}

/* Returns the hash of a key. */
uint32
key_hash(KeyHasher *hasher, Datum value)
{
	Datum hash = FunctionCall1Coll(&hasher->function, hasher->collation, value);

	return murmurhash32(DatumGetUInt32(hash));
}

/*
 * Sets the hashes of a row's keys.  A hash function may process invalidations, which free the
 * cache: each key looks there anew.
 */
static void
set_keys(Relation index, const Datum *values, const bool *isnull, uint32 *key)
{
	int keys = index_keys(index);

	for (int i = 0; i < keys; i++)
	{
		int column = index_cache(index)->key[i].column;
		KeyHasher hasher;

		key[i] = HASH_OF_NULL;
		if (isnull[column - 1])
			continue;
		hasher = index_key_hasher(index, column, index->rd_opcintype[column - 1]);
		key[i] = key_hash(&hasher, values[column - 1]);
	}
}

/* Makes the document of a row; its symbols may be in the value or in the current context. */
void
index_document(Relation index, const ItemPointerData *tid, const Datum *values, const bool *isnull,
			   RowDocument *row)
{
	int column = index_cache(index)->signature - 1;
	Document *document = &row->document;
	Signature signature;

	*document = (Document){.tid = *tid, .key = row->key, .keys = index_keys(index)};
	row->shape = (SignatureHeader){0};
	set_keys(index, values, isnull, row->key);
	if (isnull[column])
	{
		tid_add_flags(&document->tid, TID_NULL);
		return;
	}
	signature = index_signature(index, values[column]);
	if (signature_is_empty(&signature))
		tid_add_flags(&document->tid, TID_EMPTY);
	row->shape = signature.header;
	document->symbols = signature.symbols;
	document->bytes = signature_symbol_bytes(&signature.header);
	if (shape_is_set(&row->shape))
	{
		row->element = set_elements(&signature);
		row->record = (SetRecord){.count = signature.cardinality,
								  .bitmap = set_bitmap(row->element, signature.cardinality)};
		row->placed = 0;
		document->symbols = (const uint8_t *) &row->record;
	}
}
