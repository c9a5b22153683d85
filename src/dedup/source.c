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

#include "types/query.h"


#define ROOM_MIN 1024

/* Row numbers must fit into the hash tables of a join. */
#define ROWS_MAX (UINT32_MAX / 4)

/* Adds the rows of the query to a source. */
typedef struct Reader
{
	Source *source;
	Oid id_type;    /* of the query's column */
	bool ascending; /* are the ids ascending so far? */
} Reader;

/* ---- Rows and their ids ------------------------------------------------- */

/* Appends a row that belongs to no document yet, and returns its number. */
static uint32
add_row(Reader *reader, Datum id)
{
	Source *source = reader->source;
	const IdType *ids = &source->options->ids;
	uint32 row = source->rows;

	if (row >= ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("\"%s\" returns more than %u rows", source->name, ROWS_MAX),
				 errhint("Compare the rows part by part, with \"against\".")));
	if (row == source->row_room)
	{
		source->row_room *= 2;
		source->id = repalloc_huge(source->id, source->row_room * sizeof(Datum));
		source->next = repalloc_huge(source->next, source->row_room * sizeof(uint32));
		if (source->class != NULL)
			source->class = repalloc_huge(source->class, source->row_room * sizeof(uint32));
		if (source->judged != NULL)
			source->judged = repalloc_huge(source->judged, source->row_room * sizeof(uint32));
	}
	id = source->id[row] = id_copy(ids, reader->id_type, id, source->context);
	source->next[row] = NO_ROW;
	if (row > 0 && reader->ascending)
		reader->ascending = id_compare(ids, source->id[row - 1], id) < 0;
	if (source->judged != NULL)
	{
		source->judged[row] = judged_place(source->options->verdicts, id);
		if (source->judged[row] != NOT_JUDGED)
			source->judged_row[source->judged[row]] = row;
	}
	source->rows++;
	if (source->rows % PROGRESS_STEP == 0)
		progress_rows(source->rows);
	return row;
}

static int
compare_for_sort(const void *x, const void *y, void *ids)
{
	CHECK_FOR_INTERRUPTS();
	return id_compare(ids, *(const Datum *) x, *(const Datum *) y);
}

/* Raises an error if two rows have the same id.  Ascending ids need no sort. */
static void
check_ids(Reader *reader)
{
	Source *source = reader->source;
	const IdType *ids = &source->options->ids;
	Datum *id;

	if (reader->ascending || source->rows < 2)
		return;
	id = MemoryContextAllocHuge(CurrentMemoryContext, source->rows * sizeof(Datum));
	memcpy(id, source->id, source->rows * sizeof(Datum));
	qsort_arg(id, source->rows, sizeof(Datum), compare_for_sort, (void *) ids);
	for (uint32 i = 1; i < source->rows; i++)
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

/* A RowSink. */
static bool
take_row(void *state, const Datum *values, const bool *nulls)
{
	Reader *reader = state;
	Source *source = reader->source;
	bool verified = source->options->verify > 0;
	uint32 row;

	if (nulls[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" returns a row whose id is null", source->name),
				 errhint("Exclude such rows with WHERE ... IS NOT NULL.")));
	row = add_row(reader, values[0]);
	if (source->class != NULL)
		source->class[row] = within_class(source->options->within, values, nulls);
	if (source->class != NULL && source->class[row] == NO_CLASS)
		return true;
	if (!nulls[1] && !(verified && nulls[2]))
		documents_add(source, row, values[1], verified ? &values[2] : NULL);
	return true;
}

/* ---- The columns of the query ------------------------------------------- */

/* Says in a hint what the query must return. */
static int
hint_columns(const Source *source)
{
	const char *id = format_type_be(source->options->ids.type);
	const char *rest = source->options->within == NULL ? "" : ", then the columns of \"within\"";

	if (source->options->verify > 0)
		return errhint("Return an id of type %s, a signature (minhash or simhash) and shingles%s.",
					   id, rest);
	return errhint("Return an id of type %s and a signature (minhash, simhash or shingles)%s.", id,
				   rest);
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

/* Is a type minhash, simhash or shingles? */
static bool
is_signature(const Source *source, Oid type)
{
	Oid function = source->options->function;

	type = getBaseType(type);
	return type == extension_type(function, "minhash") ||
		type == extension_type(function, "simhash") || type == extension_type(function, "shingles");
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
			 is_signature(source, type) ?
				 errhint("Put the id first, as in SELECT id, sig FROM ...") :
				 errhint("Name the type in the third argument: %s(query, threshold, NULL::%s).",
						 get_func_name(source->options->function), format_type_be(type))));
}

/* Checks the columns before the first row, and learns whether the query returns sets. */
static void
check_columns(Source *source, TupleDesc row_type, const Source *like)
{
	bool verified = source->options->verify > 0;
	int first = verified ? 3 : 2;
	Within *within = source->options->within;
	int columns = first + (within == NULL ? 0 : within->columns);
	Oid function = source->options->function;
	Oid shingles = extension_type(function, "shingles");
	Oid type;

	if (row_type->natts != columns)
		ereport(ERROR, (wrong_columns(source->name, row_type, columns), hint_columns(source)));
	check_id_column(source, row_type);
	if (within != NULL)
		within_columns(within, source->name, row_type, first);
	type = getBaseType(TupleDescAttr(row_type, 1)->atttypid);
	source->sets = type == shingles;
	if (!is_signature(source, type))
		ereport(ERROR, (wrong_column(source->name, row_type, 1), hint_signature(source, row_type)));
	if (!source->sets && source->options->measure == MEASURE_CONTAINMENT)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("A containment estimated from signatures has an error that exceeds most answers."),
				 errhint("For measure 'containment', return a column of type shingles, such as to_shingles(body).")));
	if (source->sets && verified)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("The similarity of shingles is exact, so there is nothing to verify."),
				 errhint("Omit \"verify\".")));
	if (verified && getBaseType(TupleDescAttr(row_type, 2)->atttypid) != shingles)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 2),
				 errdetail("Pairs are verified by their shingles."),
				 errhint("Return a column of type shingles, such as to_shingles(body).")));
	if (like != NULL && like->sets != source->sets)
		ereport(ERROR,
				(wrong_column(source->name, row_type, 1),
				 errdetail("Both queries must return signatures of the same type.")));
}

/* ---- The query ---------------------------------------------------------- */

/* Creates an empty source in a memory context of its own. */
static Source *
source_begin(const char *name, const Options *options, const Source *like)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup source", ALLOCSET_DEFAULT_SIZES);
	Source *source = MemoryContextAllocZero(context, sizeof(Source));

	source->context = context;
	source->owner = CurrentResourceOwner;
	source->name = name;
	source->options = options;
	source->row_room = source->document_room = ROOM_MIN;
	source->id = MemoryContextAlloc(context, ROOM_MIN * sizeof(Datum));
	source->next = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->first = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->last = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	source->set = MemoryContextAlloc(context, ROOM_MIN * sizeof(StoredSet));
	source->set_context = AllocSetContextCreate(context, "neardup sets", ALLOCSET_DEFAULT_SIZES);
	if (options->within != NULL)
		source->class = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
	if (options->verdicts != NULL)
	{
		source->judged = MemoryContextAlloc(context, ROOM_MIN * sizeof(uint32));
		source->judged_row = judged_rows(options->verdicts);
	}
	if (options->verify > 0)
		source->evidence = MemoryContextAlloc(context, ROOM_MIN * sizeof(int64));
	source->blobs = (Blobs){.context = context, .owner = source->owner};
	if (like != NULL)
	{
		source->shaped = like->shaped;
		source->shape = like->shape;
	}
	documents_begin(source);
	return source;
}

/*
 * Reads a query that returns ids and signatures.  like: a source read before, whose kind of
 * signatures this one must have, or NULL.
 */
Source *
source_read(const char *name, const char *query, const Options *options, const Source *like)
{
	Source *source = source_begin(name, options, like);
	Reader reader = {.source = source, .ascending = true};
	SPIPlanPtr plan;

	SPI_connect();
	plan = query_prepare(name, query, CURSOR_OPT_PARALLEL_OK, "SELECT id, sig FROM docs");
	check_columns(source, query_columns(plan), like);
	reader.id_type = id_column_type(&options->ids, TupleDescAttr(query_columns(plan), 0)->atttypid);
	query_rows(plan, take_row, &reader);
	SPI_finish();
	progress_rows(source->rows);
	check_ids(&reader);
	documents_end(source);
	return source;
}

/* Closes the files of a source and frees it. */
void
source_end(Source *source)
{
	if (source->records != NULL)
		records_end(source->records);
	blobs_end(&source->blobs);
	MemoryContextDelete(source->context);
}
