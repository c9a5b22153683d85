/*
 * shingles_io.c: the type shingles as a datum, as text and in binary format.
 *
 * Text: VERSION/SCHEME/{ELEMENT,ELEMENT:FREQUENCY,...}, the elements ascending and
 * without frequencies of 1, such as 1/word 3/{-7,12:2}.
 *
 * Binary format, big-endian: layout (1 byte), version (1), flags (2), scheme (4),
 * count (4), then the elements (8 each) and, if the flag is set, the frequencies (4 each).
 */
#include "types/shingles.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "types/read.h"

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

/* Returns a new value with copies of the bag's arrays; version is that of its recipe. */
Shingles *
shingles_of_bag(const Bag *bag, int version, SchemeId scheme)
{
	Shingles *shingles;

	check_text_length(bag);
	shingles = shingles_alloc(bag->count, bag->frequency != NULL, version, scheme);
	memcpy(shingles->element, bag->element, bag->count * sizeof(int64));
	if (bag->frequency)
		memcpy(shingles_frequencies(shingles), bag->frequency, bag->count * sizeof(uint32));
	return shingles;
}

/* ---- Text --------------------------------------------------------------- */

/* Returns how many elements a text can have at most: one more than it has commas. */
static size_t
count_elements(const char *text)
{
	size_t count = 1;

	for (; (text = strchr(text, ',')) != NULL; text++)
		host_check_interrupts_at(count++);
	return count;
}

/* Reads a signed number. */
static bool
read_element(TextReader *reader, int64 *element)
{
	static const char *const expected = "Expected a 64-bit number at character %zu.";
	uint64 number;

	if (*reader->at == '-')
	{
		reader->at++;
		if (!read_number(reader, 1, (uint64) PG_INT64_MAX + 1, expected, &number))
			return false;
		*element = (int64) -number;
		return true;
	}
	if (!read_number(reader, 0, PG_INT64_MAX, expected, &number))
		return false;
	*element = (int64) number;
	return true;
}

/* Reads ":FREQUENCY", if that is there, else sets *frequency to 1. */
static bool
read_frequency(TextReader *reader, uint32 *frequency)
{
	uint64 number = 1;

	if (*reader->at == ':')
	{
		reader->at++;
		if (!read_number(reader, 2, PG_UINT32_MAX,
						 "Expected a frequency from 2 to 4294967295 at character %zu.", &number))
			return false;
	}
	*frequency = (uint32) number;
	return true;
}

/* Reads elements and frequencies to the closing brace. */
static bool
read_elements(TextReader *reader, Bag *bag)
{

	while (*reader->at != '}')
	{
		int64 element;
		const char *start;

		host_check_interrupts_at(bag->count);
		if (bag->count > 0)
		{
			if (*reader->at != ',')
				return read_expected(reader, "Expected \",\" or \"}\" at character %zu.");
			reader->at++;
		}
		start = reader->at;
		if (!read_element(reader, &element))
			return false;
		if (bag->count > 0 && element <= bag->element[bag->count - 1])
		{
			reader->at = start;
			return read_expected(reader,
								 "Expected an element greater than the one before it at character %zu.");
		}
		if (!read_frequency(reader, &bag->frequency[bag->count]))
			return false;
		bag->element[bag->count++] = element;
	}
	reader->at++;
	bag_drop_ones(bag);
	return *reader->at == '\0' ||
		read_expected(reader, "Expected the end of the text at character %zu.");
}

/* Reads a set up to the end of the text.  Returns NULL if an error was saved in the context. */
Shingles *
shingles_parse(TextReader *reader)
{
	Shingles *shingles;
	uint8 version;
	SchemeId scheme;
	size_t room;
	Bag bag;

	reader->strict = true;
	/* Copying a long text takes a while. */
	CHECK_FOR_INTERRUPTS();
	if (!read_recipe(reader, &version, &scheme) || !read_char(reader, '{'))
		return NULL;
	room = count_elements(reader->at);
	bag = (Bag){.element = host_alloc(room * sizeof(int64)),
				.frequency = host_alloc(room * sizeof(uint32))};
	if (!read_elements(reader, &bag))
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
	TextReader reader = text_reader(fcinfo, "shingles");
	Shingles *shingles = shingles_parse(&reader);

	if (shingles == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(shingles);
}

/* shingles_out(shingles) returns cstring */
PG_FUNCTION_INFO_V1(neardup_shingles_out);
Datum
neardup_shingles_out(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	char name[SCHEME_NAME_SIZE];
	StringInfoData out;
	const uint64 room = MaxAllocSize - SCHEME_NAME_SIZE - sizeof("255//{}");
	uint32 i;

	/* An earlier release made such a set, or it came in binary format. */
	if (bag_text_most(&bag) > room && bag_text_length(&bag) > room)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %u shingles has no text format", bag.count),
				 errdetail("It would take " UINT64_FORMAT " bytes, but a text has at most %zu.",
						   bag_text_length(&bag), (size_t) MaxAllocSize),
				 errhint("Use the binary format, as in COPY ... WITH (FORMAT binary).")));
	initStringInfo(&out);
	scheme_name(shingles->scheme, name);
	appendStringInfo(&out, "%d/%s/{", shingles->version, name);
	for (i = 0; i < bag.count; i++)
	{
		char number[sizeof("-9223372036854775808")];

		host_check_interrupts_at(i);
		if (i > 0)
			appendStringInfoChar(&out, ',');
		pg_lltoa(bag.element[i], number);
		appendStringInfoString(&out, number);
		if (bag_frequency(&bag, i) > 1)
			appendStringInfo(&out, ":%u", bag_frequency(&bag, i));
	}
	appendStringInfoChar(&out, '}');
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_CSTRING(out.data);
}

/* ---- Binary format ------------------------------------------------------ */

/* Reads the elements and frequencies of a value from a message. */
static void
receive_elements(StringInfo message, Shingles *shingles)
{
	Bag bag = shingles_bag(shingles);
	bool repeated = false;
	uint32 i;

	for (i = 0; i < bag.count; i++)
	{
		host_check_interrupts_at(i);
		bag.element[i] = pq_getmsgint64(message);
		if (i > 0 && bag.element[i] <= bag.element[i - 1])
			binary_invalid("shingles", "The elements are not ascending.");
	}
	if (!bag.frequency)
		return;
	for (i = 0; i < bag.count; i++)
	{
		host_check_interrupts_at(i);
		bag.frequency[i] = pq_getmsgint(message, sizeof(uint32));
		if (bag.frequency[i] == 0)
			binary_invalid("shingles", "A frequency is zero.");
		repeated |= bag.frequency[i] > 1;
	}
	if (!repeated)
		binary_invalid("shingles", "Frequencies are given though all are 1.");
}

/* shingles_recv(internal) returns shingles */
PG_FUNCTION_INFO_V1(neardup_shingles_recv);
Datum
neardup_shingles_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int layout = pq_getmsgbyte(message);
	int version = pq_getmsgbyte(message);
	int flags = pq_getmsgint(message, sizeof(uint16));
	SchemeId scheme = pq_getmsgint(message, sizeof(uint32));
	size_t count = pq_getmsgint(message, sizeof(uint32));
	size_t rest = message->len - message->cursor;
	Shingles *shingles;

	if (layout != SHINGLES_LAYOUT || (flags & ~SHINGLES_FREQUENCIES) != 0)
		binary_invalid("shingles", "The layout is of another version.");
	binary_check_recipe("shingles", version, scheme);
	if (rest != shingles_size(count, flags) - shingles_size(0, false))
		binary_invalid("shingles", "The length does not fit the number of elements.");
	shingles = shingles_alloc(count, flags, version, scheme);
	receive_elements(message, shingles);
	PG_RETURN_POINTER(shingles);
}

/* shingles_send(shingles) returns bytea */
PG_FUNCTION_INFO_V1(neardup_shingles_send);
Datum
neardup_shingles_send(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	StringInfoData message;
	uint32 i;

	pq_begintypsend(&message);
	pq_sendbyte(&message, shingles->layout);
	pq_sendbyte(&message, shingles->version);
	pq_sendint16(&message, shingles->flags);
	pq_sendint32(&message, shingles->scheme);
	pq_sendint32(&message, shingles->count);
	for (i = 0; i < bag.count; i++)
	{
		host_check_interrupts_at(i);
		pq_sendint64(&message, bag.element[i]);
	}
	for (i = 0; bag.frequency && i < bag.count; i++)
	{
		host_check_interrupts_at(i);
		pq_sendint32(&message, bag.frequency[i]);
	}
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}
