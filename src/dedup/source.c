/*
 * source.c: a query, read once.
 */
#include "dedup/dedup.h"

#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/typcache.h"

#include "catalog/pg_type.h"

#include "join/join.h"
#include "sql/siblings.h"

#define ROOM_MIN 1024
#define ROWS_STEP 1024

/* No more than a table has numbers for. */
#define ROWS_MAX (UINT32_MAX / 4)

/* Fewer documents are never sent to a file. */
#define DOCUMENTS_MIN 1024

/* Takes the rows of the query. */
typedef struct Reader
{
	DestReceiver pub;
	Source *source;
	const Source *like; /* source read before, or NULL */
	MemoryContext row_context;
	Oid id_type; /* of the query's column */
	FmgrInfo *compare;
	Oid collation;
	bool ascending; /* so far */
} Reader;

/* ---- Rows --------------------------------------------------------------- */

static void
make_row_room(Source *source)
{
	if (source->rows < source->row_room)
		return;
	if (source->rows >= ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("\"%s\" returns more than %u rows", source->name, ROWS_MAX),
				 errhint("Compare it part by part, with \"against\".")));
	source->row_room *= 2;
	source->id = repalloc_huge(source->id, source->row_room * sizeof(Datum));
	source->next = repalloc_huge(source->next, source->row_room * sizeof(uint32));
}

/* The id as the result has it. */
static Datum
copy_id(Reader *reader, Datum id)
{
	Source *source = reader->source;
	MemoryContext old;

	if (reader->id_type == INT2OID && source->id_type == INT8OID)
		return Int64GetDatum(DatumGetInt16(id));
	if (reader->id_type == INT4OID && source->id_type == INT8OID)
		return Int64GetDatum(DatumGetInt32(id));
	if (source->id_by_value)
		return id;
	old = MemoryContextSwitchTo(source->context);
	if (source->id_length == -1)
		id = PointerGetDatum(PG_DETOAST_DATUM_COPY(id));
	else
		id = datumCopy(id, false, source->id_length);
	MemoryContextSwitchTo(old);
	return id;
}

static int
compare_ids(const Reader *reader, Datum x, Datum y)
{
	return DatumGetInt32(FunctionCall2Coll(reader->compare, reader->collation, x, y));
}

static uint32
add_row(Reader *reader, Datum id)
{
	Source *source = reader->source;
	uint32 row = source->rows;

	make_row_room(source);
	source->id[row] = copy_id(reader, id);
	source->next[row] = NO_ROW;
	if (row > 0 && reader->ascending)
		reader->ascending = compare_ids(reader, source->id[row - 1], source->id[row]) < 0;
	source->rows++;
	if (source->rows % ROWS_STEP == 0)
	{
		CHECK_FOR_INTERRUPTS();
		progress_rows(source->rows);
	}
	return row;
}

static void
refuse_duplicate(const Reader *reader, Datum id)
{
	Oid output;
	bool varlena;

	getTypeOutputInfo(reader->source->id_type, &output, &varlena);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("\"%s\" returns id %s more than once", reader->source->name,
					OidOutputFunctionCall(output, id)),
			 errhint("Return a column that is unique, such as the primary key.")));
}

static int
compare_for_sort(const void *x, const void *y, void *reader)
{
	CHECK_FOR_INTERRUPTS();
	return compare_ids(reader, *(const Datum *) x, *(const Datum *) y);
}

/* An error where two rows have the same id. */
static void
check_ids(Reader *reader)
{
	Source *source = reader->source;
	Datum *id;

	if (reader->ascending || source->rows < 2)
		return;
	id = MemoryContextAllocHuge(CurrentMemoryContext, source->rows * sizeof(Datum));
	memcpy(id, source->id, source->rows * sizeof(Datum));
	qsort_arg(id, source->rows, sizeof(Datum), compare_for_sort, reader);
	for (uint32 i = 1; i < source->rows; i++)
		if (compare_ids(reader, id[i - 1], id[i]) == 0)
			refuse_duplicate(reader, id[i]);
	pfree(id);
}

/* ---- Signatures --------------------------------------------------------- */

/* Once the first signature tells how long they are. */
static void
begin_store(Source *source, const SignatureHeader *shape)
{
	int b = signature_bits(shape);
	size_t stride = JOIN_STRIDE(shape->k, b) + (source->options->verify > 0 ? DIGEST_BYTES : 0);
	size_t limit = (size_t) maintenance_work_mem * 1024 / (stride + join_bytes(shape->k, b));

	source->store = store_begin(source->context, source->owner, stride,
								Max(DOCUMENTS_MIN, Min(limit, NO_DOCUMENT / 2)));
}

static void
add_signature(Source *source, uint32 row, Datum datum, struct varlena *evidence)
{
	Signature signature = signature_of_datum(datum);
	Store *store;
	uint8 *record;

	if (!source->shaped)
	{
		source->shaped = true;
		source->shape = signature.header;
	}
	if (!signature_comparable(&source->shape, &signature.header))
		signature_refuse_pair(&source->shape, &signature.header);
	if (signature_is_empty(&signature))
		return;
	if (source->store == NULL)
		begin_store(source, &signature.header);
	store = source->store;
	if (store->records - store->flushed == store->limit)
		collapse_flush(source);
	record = store_next(store);
	memcpy(record, signature.symbols, signature_symbol_bytes(&signature.header));
	if (evidence != NULL)
		collapse_digest(evidence, VARSIZE(evidence), record + store->stride - DIGEST_BYTES);
	if (collapse_add(source, row, record, NULL) && evidence != NULL)
		source->evidence[source->documents - 1] =
			heap_add(&source->heap, evidence, VARSIZE(evidence));
}

static void
add_set(Source *source, uint32 row, Datum datum)
{
	Shingles *shingles = shingles_of_datum(datum);
	Bag bag = shingles_bag(shingles);
	size_t size = VARSIZE(shingles);
	Shingles *copy;

	if (!source->shaped)
	{
		source->shaped = true;
		source->shape.version = shingles->version;
		source->shape.scheme = shingles->scheme;
	}
	check_same_recipe("shingles", source->shape.version, source->shape.scheme, shingles->version,
					  shingles->scheme);
	if (bag.count == 0 || !collapse_add(source, row, NULL, &bag))
		return;
	copy = MemoryContextAllocHuge(source->context, size);
	memcpy(copy, shingles, size);
	source->bag[source->documents - 1] = shingles_bag(copy);
}

/* Evidence as a whole value; NULL where it resembles nothing. */
static struct varlena *
read_evidence(Datum datum)
{
	Shingles *shingles = shingles_of_datum(datum);

	return shingles->count == 0 ? NULL : (struct varlena *) shingles;
}

/* ---- The query ---------------------------------------------------------- */

static bool
take_row(TupleTableSlot *slot, DestReceiver *self)
{
	Reader *reader = (Reader *) self;
	Source *source = reader->source;
	bool verified = source->options->verify > 0;
	struct varlena *evidence = NULL;
	MemoryContext old;
	uint32 row;

	slot_getallattrs(slot);
	if (slot->tts_isnull[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" returns a row whose id is null", source->name),
				 errhint("Leave such rows out: WHERE ... IS NOT NULL.")));
	row = add_row(reader, slot->tts_values[0]);
	if (slot->tts_isnull[1] || (verified && slot->tts_isnull[2]))
		return true;
	old = MemoryContextSwitchTo(reader->row_context);
	if (verified)
		evidence = read_evidence(slot->tts_values[2]);
	if (source->sets)
		add_set(source, row, slot->tts_values[1]);
	else if (!verified || evidence != NULL)
		add_signature(source, row, slot->tts_values[1], evidence);
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row_context);
	return true;
}

static Source *
source_begin(const char *name, Oid id_type, const Options *options, const Source *like)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup source", ALLOCSET_DEFAULT_SIZES);
	Source *source = MemoryContextAllocZero(context, sizeof(Source));

	source->context = context;
	source->owner = CurrentResourceOwner;
	source->name = name;
	source->options = options;
	source->id_type = id_type;
	get_typlenbyval(id_type, &source->id_length, &source->id_by_value);
	source->row_room = source->document_room = ROOM_MIN;
	source->id = MemoryContextAlloc(context, ROOM_MIN * sizeof(Datum));
	source->next = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->first = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->last = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->bag = MemoryContextAlloc(context, ROOM_MIN * sizeof(Bag));
	if (options->verify > 0)
		source->evidence = MemoryContextAlloc(context, ROOM_MIN * sizeof(int64));
	heap_begin(&source->heap, context, source->owner);
	if (like != NULL)
	{
		source->shaped = like->shaped;
		source->shape = like->shape;
	}
	collapse_begin(source);
	return source;
}

/* What must a query return?  For a hint. */
static const char *
wanted(const Source *source)
{
	const char *id = source->id_type == INT8OID ? "bigint" : format_type_be(source->id_type);

	return source->options->verify > 0 ?
		psprintf("SELECT id, signature, shingles: %s, then minhash or simhash, then shingles.",
				 id) :
		psprintf("an id of type %s and a signature (minhash, simhash or shingles).", id);
}

static void
refuse_column(const Source *source, TupleDesc row_type, int column, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column %d of \"%s\" is of type %s", column + 1, source->name,
					format_type_be(TupleDescAttr(row_type, column)->atttypid)),
			 hint ? errhint("%s", hint) : errhint("Return %s", wanted(source))));
}

static void
check_id_column(const Source *source, TupleDesc row_type)
{
	Oid type = TupleDescAttr(row_type, 0)->atttypid;

	if (type == source->id_type || IsBinaryCoercible(type, source->id_type))
		return;
	if (source->id_type == INT8OID && (type == INT2OID || type == INT4OID))
		return;
	refuse_column(source, row_type, 0,
				  psprintf("Ids are %s here; for others name their type in the third argument: NULL::%s.",
						   format_type_be(source->id_type), format_type_be(type)));
}

/* The columns, before anything is read. */
static void
check_columns(Source *source, TupleDesc row_type, const Source *like)
{
	int columns = source->options->verify > 0 ? 3 : 2;
	Oid function = source->options->function;
	Oid shingles = sibling_type(function, "shingles");
	Oid type;

	if (row_type->natts != columns)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("\"%s\" returns %d columns, not %d", source->name, row_type->natts,
						columns),
				 errhint("Return %s", wanted(source))));
	check_id_column(source, row_type);
	type = getBaseType(TupleDescAttr(row_type, 1)->atttypid);
	source->sets = type == shingles;
	if (!source->sets && type != sibling_type(function, "minhash") &&
		type != sibling_type(function, "simhash"))
		refuse_column(source, row_type, 1, NULL);
	if (source->sets && source->options->verify > 0)
		refuse_column(source, row_type, 1,
					  "Over shingles the similarity is exact as it is: leave \"verify\" out.");
	if (columns == 3 && getBaseType(TupleDescAttr(row_type, 2)->atttypid) != shingles)
		refuse_column(source, row_type, 2,
					  "What pairs are verified on is of type shingles, such as to_shingles(body).");
	if (like != NULL && like->sets != source->sets)
		refuse_column(source, row_type, 1, "Both queries must return signatures of the same type.");
}

/* One SELECT (VALUES, TABLE, WITH), and nothing else? */
static bool
is_select(SPIPlanPtr plan)
{
	List *sources = SPI_plan_get_plan_sources(plan);

	return list_length(sources) == 1 && SPI_is_cursor_plan(plan) &&
		((CachedPlanSource *) linitial(sources))->commandTag == CMDTAG_SELECT;
}

/* Does a SELECT insert, update, delete or lock rows? */
static bool
is_modifying(SPIPlanPtr plan)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	Query *query = linitial_node(Query, source->query_list);

	return query->hasModifyingCTE || query->hasForUpdate;
}

static SPIPlanPtr
prepare(const char *name, const char *query)
{
	SPIPlanPtr plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	if (!is_select(plan))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not one query that returns rows", name),
				 errhint("Give one SELECT, such as 'SELECT id, sig FROM docs'.")));
	if (is_modifying(plan))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" changes or locks rows", name),
				 errhint("Do that in a statement of its own.")));
	return plan;
}

/* Before the first row. */
static void
reader_startup(DestReceiver *self, int operation, TupleDesc row_type)
{
	Reader *reader = (Reader *) self;

	check_columns(reader->source, row_type, reader->like);
	reader->id_type = TupleDescAttr(row_type, 0)->atttypid;
}

static void
reader_shutdown(DestReceiver *self)
{
}

static void
find_comparison(Reader *reader)
{
	Oid type = reader->source->id_type;
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);

	if (!OidIsValid(cache->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("type %s cannot be an id", format_type_be(type)),
				 errdetail("It has no default operator class for access method \"btree\"."),
				 errhint("Cast it to a type that can be ordered, such as text.")));
	reader->compare = &cache->cmp_proc_finfo;
	reader->collation = cache->typcollation;
	reader->ascending = true;
}

Source *
source_read(const char *name, const char *query, Oid id_type, const Options *options,
			const Source *like)
{
	Source *source = source_begin(name, id_type, options, like);
	Reader reader = {{take_row, reader_startup, reader_shutdown, reader_shutdown, DestNone}};

	reader.source = source;
	reader.like = like;
	reader.row_context =
		AllocSetContextCreate(source->context, "neardup row", ALLOCSET_DEFAULT_SIZES);
	find_comparison(&reader);
	SPI_connect();
	compat_run_plan(prepare(name, query), &reader.pub);
	SPI_finish();
	progress_rows(source->rows);
	check_ids(&reader);
	collapse_end(source);
	return source;
}

void
source_end(Source *source)
{
	if (source->store != NULL)
		store_end(source->store);
	heap_end(&source->heap);
	MemoryContextDelete(source->context);
}
