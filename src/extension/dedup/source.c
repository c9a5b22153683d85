/*
 * source.c: reads a query into a source.
 */
#include "dedup/dedup.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "calls/query.h"

#define ROOM_MIN 1024

/* Row numbers must fit into the hash tables of a join. */
#define ROWS_MAX (UINT32_MAX / 4)

/* Adds the rows of the query to a source. */
typedef struct SourceReader
{
	Source *source;
	Oid id_type;    /* the type of the query's column of ids */
	bool ascending; /* the ids are ascending so far */
} SourceReader;

/* ---- Rows and their ids ------------------------------------------------- */

/* Raises an error if there are too many rows, and makes room for one more. */
static void
reserve_row(Source *source, uint32 row)
{
	if (row >= ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("\"%s\" returns more than %u rows", source->name, ROWS_MAX),
				 errhint("Compare the rows part by part, with \"against\".")));
	if (row < source->row_room)
		return;
	source->row_room *= 2;
	source->id = repalloc_huge(source->id, source->row_room * sizeof(Datum));
	if (source->judged != NULL)
		source->judged = repalloc_huge(source->judged, source->row_room * sizeof(uint32));
}

/* Keeps the id of the row that comes next. */
static void
add_id(SourceReader *reader, Datum id)
{
	Source *source = reader->source;
	const IdType *ids = &source->options->ids;
	uint32 row = source->documents->rows;

	reserve_row(source, row);
	id = source->id[row] = id_copy(ids, reader->id_type, id, source->context);
	if (row > 0 && reader->ascending)
		reader->ascending = id_compare(ids, source->id[row - 1], id) < 0;
	if (source->judged != NULL)
	{
		source->judged[row] = judged_position(source->options->verdicts, id);
		if (source->judged[row] != NOT_JUDGED)
			source->judged_row[source->judged[row]] = row;
	}
	if ((row + 1) % PROGRESS_STEP == 0)
		progress_rows(row + 1);
}

static int
compare_for_sort(const void *x, const void *y, void *ids)
{
	CHECK_FOR_INTERRUPTS();
	return id_compare(ids, *(const Datum *) x, *(const Datum *) y);
}

/* Raises an error if two rows have the same id.  Ascending ids need no sort. */
static void
check_ids(SourceReader *reader)
{
	Source *source = reader->source;
	const IdType *ids = &source->options->ids;
	Datum *id;

	uint32 rows = source->documents->rows;

	if (reader->ascending || rows < 2)
		return;
	id = MemoryContextAllocHuge(CurrentMemoryContext, rows * sizeof(Datum));
	memcpy(id, source->id, rows * sizeof(Datum));
	qsort_arg(id, rows, sizeof(Datum), compare_for_sort, (void *) ids);
	for (uint32 i = 1; i < rows; i++)
	{
		if (id_compare(ids, id[i - 1], id[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("\"%s\" returns id %s more than once", source->name,
							id_text(ids, id[i])),
					 errhint("Return a column that is unique, such as the primary key.")));
	}
	pfree(id);
}

/* ---- Values ------------------------------------------------------------- */

static void
add_context(void *row)
{
	errcontext("%s", (const char *) row);
}

/* Names the row that comes next in the error that its value is about to cause. */
static void
name_row(const Source *source)
{
	ErrorContextCallback *context = palloc(sizeof(ErrorContextCallback));

	context->previous = error_context_stack;
	context->callback = add_context;
	context->arg = psprintf("row of \"%s\" with id %s", source->name,
							id_text(&source->options->ids, source->id[source->documents->rows]));
	error_context_stack = context;
}

/* Takes the shape of the first value. */
static void
take_shape(Source *source, const SignatureHeader *shape)
{
	if (!source->shaped)
		source->documents->shape = *shape;
	source->shaped = true;
}

/* Takes a signature for a row.  Returns whether it is not empty. */
static bool
take_signature(Source *source, Datum value, DocumentRow *row)
{
	Signature signature = signature_of_datum(value);

	take_shape(source, &signature.header);
	if (!signature_comparable(&source->documents->shape, &signature.header))
	{
		name_row(source);
		signature_refuse_pair(&source->documents->shape, &signature.header);
	}
	row->symbols = signature_is_empty(&signature) ? NULL : signature.symbols;
	return row->symbols != NULL;
}

/* Raises an error, which names the row, unless a set has a recipe and scheme. */
static void
check_recipe(const Source *source, const SignatureHeader *shape, const Shingles *shingles)
{
	if (shape->version != shingles->version || shape->scheme != shingles->scheme)
		name_row(source);
	check_same_recipe(shape->version, shape->scheme, shingles->version, shingles->scheme);
}

/* Takes a set for a row. */
static void
take_set(Source *source, Datum value, Bag *bag, DocumentRow *row)
{
	Shingles *shingles = shingles_of_datum(value);
	SignatureHeader shape = {.version = shingles->version, .scheme = shingles->scheme};

	take_shape(source, &shape);
	check_recipe(source, &source->documents->shape, shingles);
	*bag = shingles_bag(shingles);
	row->bag = bag;
}

/* Takes a set that belongs to a signature. */
static void
take_evidence(Source *source, Datum value, Bag *bag, DocumentRow *row)
{
	Shingles *shingles = shingles_of_datum(value);

	check_recipe(source, &source->documents->shape, shingles);
	*bag = shingles_bag(shingles);
	row->evidence = bag;
}

/* A RowSink. */
static bool
source_take_row(void *state, const Datum *values, const bool *nulls)
{
	SourceReader *reader = state;
	Source *source = reader->source;
	const PairCallOptions *options = source->options;
	bool evidence = options->pair.evidence;
	uint32 row = source->documents->rows;
	MemoryContext old = MemoryContextSwitchTo(source->context);
	DocumentRow added = {.partition = NO_PARTITION};
	Bag bag;

	if (nulls[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" returns a row whose id is null", source->name),
				 errhint("Exclude such rows with WHERE ... IS NOT NULL.")));
	add_id(reader, values[0]);
	MemoryContextSwitchTo(old);
	if (options->within != NULL)
		added.partition = within_partition(options->within, values, nulls);
	added.separate = options->judged_separate && source->judged[row] != NOT_JUDGED;
	if ((options->within == NULL || added.partition != NO_PARTITION) && !nulls[1] &&
		!(evidence && nulls[2]))
	{
		if (source->sets)
			take_set(source, values[1], &bag, &added);
		else if (take_signature(source, values[1], &added) && evidence)
			take_evidence(source, values[2], &bag, &added);
	}
	MemoryContextSwitchTo(source->context);
	documents_add(source->documents, &added);
	MemoryContextSwitchTo(old);
	return true;
}

/* ---- The columns of the query ------------------------------------------- */

/* Says in a hint what the query must return. */
static int
hint_columns(const Source *source)
{
	const char *id = format_type_be(source->options->ids.type);
	const char *rest = source->options->within == NULL ? "" : ", then the columns of \"within\"";

	return errhint("Return an id of type %s and a signature (minhash, simhash or shingles)%s. Shingles beside a minhash decide which rows are similar.",
				   id, rest);
}

/* Says in a hint how to make a signature of the second column, or what the query must return. */
static int
hint_signature(const Source *source, TupleDesc row_type)
{
	Form_pg_attribute column = TupleDescAttr(row_type, 1);
	const char *name = quote_identifier(NameStr(column->attname));
	Oid type = getBaseType(column->atttypid);

	if (IsBinaryCoercible(type, TEXTOID))
		return errhint("Sign the text: to_minhash(%s).", name);
	if (type == INT8OID)
		return errhint("Cast the hashes: %s::simhash.", name);
	if (type == BITOID || type == VARBITOID)
		return errhint("Cast the hashes: %s::minhash.", name);
	return hint_columns(source);
}

static void
check_id_column(const Source *source, TupleDesc row_type)
{
	const IdType *ids = &source->options->ids;
	Oid type = id_column_type(ids, TupleDescAttr(row_type, 0)->atttypid);

	if (id_fits(ids, type))
		return;
	ereport(ERROR,
			(wrong_column(source->name, row_type, 0),
			 errdetail("Ids must be of type %s.", format_type_be(ids->type)),
			 is_sketch_type(source->options->function, getBaseType(type)) ?
				 errhint("Put the id first, as in SELECT id, sig FROM ...") :
				 errhint("Name the type in the third argument: %s(query, threshold, NULL::%s).",
						 get_func_name(source->options->function), format_type_be(type))));
}

/* Returns whether a column, below a domain, is of a type. */
static bool
has_type(TupleDesc row_type, int column, Oid type)
{
	return getBaseType(TupleDescAttr(row_type, column)->atttypid) == type;
}

/* Checks what shingles beside the signatures decide, if the query returns any. */
static void
check_evidence(const Source *source, TupleDesc row_type, bool evidence, const Source *like)
{
	PairOptions *pair = &source->options->pair;

	if (evidence && source->sets)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("The similarity of shingles is exact, so no others decide."),
				 errhint("Omit the third column.")));
	if (evidence && !has_type(row_type, 1, extension_type(source->options->function, "minhash")))
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("A simhash does not estimate the resemblance of shingles."),
				 errhint("Return a minhash, such as to_minhash(body), or omit the shingles.")));
	if (!evidence && pair->contained > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"contained\" needs shingles beside the signatures"),
				 errhint("Return a third column of type shingles, such as to_shingles(body).")));
	if (like != NULL && evidence != pair->evidence)
		ereport(ERROR,
				(wrong_columns(source->name, row_type, row_type->natts + pair->evidence - evidence),
				 errdetail("Both queries must return shingles beside the signatures, or neither.")));
	pair->evidence = evidence;
}

/* Checks the columns before the first row, and learns whether the query returns sets. */
static void
check_columns(Source *source, TupleDesc row_type, const Source *like)
{
	PairCallOptions *options = source->options;
	Within *within = options->within;
	Oid shingles = extension_type(options->function, "shingles");
	int columns = 2 + (within == NULL ? 0 : within->columns);
	bool evidence = row_type->natts == columns + 1 && has_type(row_type, 2, shingles);
	Oid type;

	if (row_type->natts != columns + evidence)
		ereport(ERROR, (wrong_columns(source->name, row_type, columns), hint_columns(source)));
	check_id_column(source, row_type);
	if (within != NULL)
		within_columns(within, source->name, row_type, 2 + evidence);
	type = getBaseType(TupleDescAttr(row_type, 1)->atttypid);
	source->sets = type == shingles;
	if (!is_sketch_type(options->function, type))
		ereport(ERROR, (wrong_column(source->name, row_type, 1), hint_signature(source, row_type)));
	if (!source->sets && options->pair.measure == MEASURE_CONTAINMENT)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("A containment estimated from signatures has an error that exceeds most answers."),
				 errhint("For measure 'containment', return a column of type shingles, such as to_shingles(body).")));
	if (!source->sets && options->pair.multiset)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("Only shingles are compared as multisets."),
				 errhint("For \"multiset\", return a column of type shingles, such as to_shingles(body).")));
	check_evidence(source, row_type, evidence, like);
	if (like != NULL && like->sets != source->sets)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("Both queries must return signatures of the same type.")));
}

/* ---- The query ---------------------------------------------------------- */

/* Creates an empty source in a memory context of its own. */
static Source *
source_begin(const char *name, PairCallOptions *options)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup source", ALLOCSET_DEFAULT_SIZES);
	Source *source = MemoryContextAllocZero(context, sizeof(Source));

	source->context = context;
	source->name = name;
	source->options = options;
	source->row_room = ROOM_MIN;
	source->id = MemoryContextAlloc(context, ROOM_MIN * sizeof(Datum));
	if (options->verdicts != NULL)
	{
		source->judged = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
		source->judged_row = judged_rows(options->verdicts);
	}
	return source;
}

/* Begins the documents of a source, with the shape of another one if that has values. */
static void
begin_documents(Source *source, const Source *like)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);

	source->documents =
		documents_begin(&source->options->pair, source->sets, source->options->within != NULL);
	if (like != NULL && like->shaped)
		take_shape(source, &like->documents->shape);
	MemoryContextSwitchTo(old);
}

/*
 * Reads a query that returns ids and signatures.  like: a source read before, whose kind of
 * signatures this one must have, or NULL.
 */
Source *
source_read(const char *name, const char *query, PairCallOptions *options, const Source *like)
{
	Source *source = source_begin(name, options);
	SourceReader reader = {.source = source, .ascending = true};
	MemoryContext old;
	SPIPlanPtr plan;

	SPI_connect();
	plan = query_prepare(name, query, CURSOR_OPT_PARALLEL_OK, "SELECT id, sig FROM docs");
	check_columns(source, query_columns(plan), like);
	begin_documents(source, like);
	reader.id_type = id_column_type(&options->ids, TupleDescAttr(query_columns(plan), 0)->atttypid);
	query_rows(plan, source_take_row, &reader);
	SPI_finish();
	progress_rows(source->documents->rows);
	check_ids(&reader);
	old = MemoryContextSwitchTo(source->context);
	documents_done(source->documents);
	MemoryContextSwitchTo(old);
	return source;
}

/* Closes the files of a source and frees it. */
void
source_end(Source *source)
{
	documents_end(source->documents);
	MemoryContextDelete(source->context);
}

/* Returns the document of each row, or NO_DOCUMENT. */
uint32 *
documents_of_rows(const Documents *documents)
{
	uint32 *result = palloc_extended(Max(documents->rows, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	memset(result, 0xFF, documents->rows * sizeof(uint32)); /* NO_DOCUMENT */
	for (uint32 document = 0; document < documents->count; document++)
	{
		for_each_row(documents, document, row) result[row] = document;
		host_check_interrupts_at(document);
	}
	return result;
}
