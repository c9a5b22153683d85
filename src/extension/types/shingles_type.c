/*
 * shingles_type.c: the type shingles as a datum, its equality, its text and binary format
 * (sketch/bag_forms.c).
 */
#include "types/shingles_type.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "types/order.h"

/*
 * How many bytes the text of a new set may take: three quarters of what a row of COPY
 * can, which leaves room for other columns.
 */
#define TEXT_MOST (768 * 1024 * 1024)

/* ---- The datum ---------------------------------------------------------- */

/* Returns how many bytes a value takes, with its varlena header. */
static size_t
shingles_size(size_t count, bool frequencies)
{
	return offsetof(Shingles, element) +
		count * (sizeof(int64) + (frequencies ? sizeof(uint32) : 0));
}

/* Returns a new value whose elements and frequencies the caller fills in. */
static Shingles *
shingles_alloc(size_t count, bool frequencies, int version, SchemeId scheme)
{
	size_t size = shingles_size(count, frequencies);
	Shingles *shingles;

	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %zu shingles is too large", count),
				 errdetail("It takes %zu bytes, but a value has at most %zu.", size,
						   (size_t) MaxAllocSize),
				 errhint("Divide the text into parts, or make a minhash of it.")));
	shingles = palloc(size);
	SET_VARSIZE(shingles, size);
	shingles->layout = SHINGLES_LAYOUT;
	shingles->version = version;
	shingles->flags = frequencies ? SHINGLES_FREQUENCIES : 0;
	shingles->scheme = scheme;
	shingles->count = count;
	return shingles;
}

/* Returns where the frequencies are, or would be. */
static uint32 *
shingles_frequencies(const Shingles *shingles)
{
	return (uint32 *) (shingles->element + shingles->count);
}

/* Detoasts a value and checks its header.  Returns a copy only where it was toasted. */
Shingles *
shingles_of_datum(Datum datum)
{
	Shingles *shingles = (Shingles *) PG_DETOAST_DATUM(datum);

	/* Detoasting a large value takes a while. */
	CHECK_FOR_INTERRUPTS();
	if (VARSIZE(shingles) < offsetof(Shingles, element) || shingles->layout != SHINGLES_LAYOUT ||
		shingles->version == 0 || (shingles->flags & ~SHINGLES_FREQUENCIES) != 0 ||
		!recipe_has_scheme(shingles->version, shingles->scheme) ||
		VARSIZE(shingles) != shingles_size(shingles->count, shingles->flags & SHINGLES_FREQUENCIES))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("shingles value is corrupt")));
	return shingles;
}

/*
 * Reads a set to make a signature of, as shingles_of_datum() does; its recipe must be
 * RECIPE_VERSION.
 */
Shingles *
shingles_to_sketch(Datum datum)
{
	Shingles *shingles = shingles_of_datum(datum);

	if (shingles->version != RECIPE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot make a signature of shingles of recipe version %d",
						shingles->version),
				 errdetail("This release of neardup knows recipe version %d.", RECIPE_VERSION),
				 errhint("Make the set again from its text.")));
	return shingles;
}

/* Returns the multiset that a value holds; the arrays point into the value. */
Bag
shingles_bag(const Shingles *shingles)
{
	Bag bag;

	bag.count = shingles->count;
	bag.element = (int64_t *) shingles->element;
	bag.frequency = shingles->flags & SHINGLES_FREQUENCIES ? shingles_frequencies(shingles) : NULL;
	return bag;
}

/* Throws an error unless the text fits into a row of COPY, in which pg_dump writes it. */
static void
check_text_length(const Bag *bag)
{
	uint64 length = bag_text_most(bag);

	if (length > TEXT_MOST)
		length = bag_text_length(bag);
	if (length > TEXT_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %u shingles is too large", bag->count),
				 errdetail("Its text format takes " UINT64_FORMAT
						   " bytes, but pg_dump needs it to take at most %d.",
						   length, TEXT_MOST),
				 errhint("Divide the text into parts, or make a minhash of it.")));
}

/* Returns a new value with copies of the bag's arrays, whatever the length of its text. */
static Shingles *
shingles_copy(const Bag *bag, int version, SchemeId scheme)
{
	Shingles *shingles = shingles_alloc(bag->count, bag->frequency != NULL, version, scheme);

	memcpy(shingles->element, bag->element, bag->count * sizeof(int64));
	if (bag->frequency)
		memcpy(shingles_frequencies(shingles), bag->frequency, bag->count * sizeof(uint32));
	return shingles;
}

/* Returns a new value with copies of the bag's arrays; version is that of its recipe. */
Shingles *
shingles_of_bag(const Bag *bag, int version, SchemeId scheme)
{
	check_text_length(bag);
	return shingles_copy(bag, version, scheme);
}

/* Returns a bag, which was made of the first argument, as a set; frees both. */
Datum
shingles_return(FunctionCallInfo fcinfo, Shingles *shingles, Bag *bag, SchemeId scheme)
{
	Shingles *result = shingles_of_bag(bag, shingles->version, scheme);

	bag_free(bag);
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_POINTER(result);
}

/* ---- Two arguments ------------------------------------------------------ */

/* Throws an error unless recipe and scheme are the same. */
ShinglesPair
shingles_pair(FunctionCallInfo fcinfo)
{
	ShinglesPair pair;

	pair.x = shingles_of_datum(PG_GETARG_DATUM(0));
	pair.y = shingles_of_datum(PG_GETARG_DATUM(1));
	check_same_recipe(pair.x->version, pair.x->scheme, pair.y->version, pair.y->scheme);
	pair.bag_x = shingles_bag(pair.x);
	pair.bag_y = shingles_bag(pair.y);
	return pair;
}

/* Frees the copies that shingles_pair() made. */
void
shingles_pair_free(FunctionCallInfo fcinfo, ShinglesPair *pair)
{
	PG_FREE_IF_COPY(pair->x, 0);
	PG_FREE_IF_COPY(pair->y, 1);
}

/* ---- Equality ----------------------------------------------------------- */

/* shingles_eq(shingles, shingles) returns boolean */
PG_FUNCTION_INFO_V1(neardup_shingles_eq);
Datum
neardup_shingles_eq(PG_FUNCTION_ARGS)
{
	Shingles *x;
	Shingles *y;
	bool equal;

	/* Values of different sizes need no detoasting. */
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) != toast_raw_datum_size(PG_GETARG_DATUM(1)))
		PG_RETURN_BOOL(false);
	x = shingles_of_datum(PG_GETARG_DATUM(0));
	y = shingles_of_datum(PG_GETARG_DATUM(1));
	/* Equal values are equal bytes. */
	equal = memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
	PG_FREE_IF_COPY(x, 0);
	PG_FREE_IF_COPY(y, 1);
	PG_RETURN_BOOL(equal);
}

/* shingles_ne(shingles, shingles) returns boolean */
PG_FUNCTION_INFO_V1(neardup_shingles_ne);
Datum
neardup_shingles_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!DatumGetBool(neardup_shingles_eq(fcinfo)));
}

HASH_FUNCTIONS(neardup_shingles, shingles_of_datum);

/* ---- Text --------------------------------------------------------------- */

/* Reads a set up to the end of the text.  Returns NULL if there is something wrong. */
Shingles *
shingles_parse(FormReader *reader)
{
	Shingles *shingles;
	uint8 version;
	SchemeId scheme;
	Bag bag;

	if (!bag_parse(reader, &version, &scheme, &bag))
		return NULL;
	shingles = shingles_of_bag(&bag, version, scheme);
	bag_free(&bag);
	return shingles;
}

/* shingles_in(cstring) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_in);
Datum
neardup_shingles_in(PG_FUNCTION_ARGS)
{
	FormReader reader = text_reader(fcinfo);
	Shingles *shingles = shingles_parse(&reader);

	if (shingles == NULL)
		return text_refuse(fcinfo, &reader, "shingles");
	PG_RETURN_POINTER(shingles);
}

/* Returns a set as text. */
char *
shingles_text(const Shingles *shingles)
{
	Bag bag = shingles_bag(shingles);
	FormWriter out = {0};
	const uint64 room = MaxAllocSize - SCHEME_NAME_SIZE - sizeof("255//{}");

	/* An earlier release made such a set, or it came in binary format. */
	if (bag_text_most(&bag) > room && bag_text_length(&bag) > room)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %u shingles has no text format", bag.count),
				 errdetail("It would take " UINT64_FORMAT " bytes, but a text has at most %zu.",
						   bag_text_length(&bag), (size_t) MaxAllocSize),
				 errhint("Use the binary format, as in COPY ... WITH (FORMAT binary).")));
	bag_print(&out, shingles->version, shingles->scheme, &bag);
	return out.bytes;
}

/* shingles_out(shingles) returns cstring */
PG_FUNCTION_INFO_V1(neardup_shingles_out);
Datum
neardup_shingles_out(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	char *text = shingles_text(shingles);

	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_CSTRING(text);
}

/* ---- Binary format ------------------------------------------------------ */

/* shingles_recv(internal) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_recv);
Datum
neardup_shingles_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	FormReader reader = message_reader(message);
	Shingles *shingles;
	uint8 version;
	SchemeId scheme;
	Bag bag;

	if (!bag_receive(&reader, &version, &scheme, &bag))
		message_refuse(message, &reader, "shingles");
	message_end(message, &reader);
	shingles = shingles_copy(&bag, version, scheme);
	bag_free(&bag);
	PG_RETURN_POINTER(shingles);
}

/* shingles_of_bytea(bytea) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_of_bytea);
Datum
neardup_shingles_of_bytea(PG_FUNCTION_ARGS)
{
	return value_of_bytea(fcinfo, neardup_shingles_recv);
}

/* Writes a set in binary format. */
void
shingles_put(FormWriter *writer, const Shingles *shingles)
{
	Bag bag = shingles_bag(shingles);

	bag_send(writer, shingles->version, shingles->scheme, &bag);
}

/* shingles_send(shingles) returns bytea */
PG_FUNCTION_INFO_V1(neardup_shingles_send);
Datum
neardup_shingles_send(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	FormWriter out;

	send_begin(&out);
	shingles_put(&out, shingles);
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_BYTEA_P(send_end(&out));
}
