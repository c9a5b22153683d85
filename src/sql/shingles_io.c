/*
 * shingles_io.c: the type shingles as a datum, as text and as bytes on the
 * wire.
 *
 * Text is recipe/scheme/{element,element:frequency,...} with the elements
 * ascending and frequencies of 1 left out, such as 1/word 3/{-7,12:2}.
 */
#include "sql/shingles.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(neardup_shingles_in);
PG_FUNCTION_INFO_V1(neardup_shingles_out);
PG_FUNCTION_INFO_V1(neardup_shingles_recv);
PG_FUNCTION_INFO_V1(neardup_shingles_send);

/*
 * Bytes of text form that a set made here may have: three quarters of what a row of
 * COPY can hold, which leaves room for other columns.
 */
#define TEXT_MOST (768 * 1024 * 1024)

/* A loop over so many elements asks for interrupts in between. */
#define PASS_STEP 8192

/* ---- The datum ---------------------------------------------------------- */

static size_t
shingles_size(size_t count, bool frequencies)
{
	return offsetof(Shingles, element) +
		count * (sizeof(int64) + (frequencies ? sizeof(uint32) : 0));
}

static Shingles *
shingles_alloc(size_t count, bool frequencies, int version, SchemeId scheme)
{
	size_t size = shingles_size(count, frequencies);
	Shingles *shingles;

	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %zu shingles is too large", count),
				 errdetail("It takes %zu bytes; a value has at most %zu.", size,
						   (size_t) MaxAllocSize),
				 errhint("Cut the text into parts, or make a minhash of it, which has no such limit.")));
	shingles = palloc(size);
	SET_VARSIZE(shingles, size);
	shingles->layout = SHINGLES_LAYOUT;
	shingles->version = version;
	shingles->flags = frequencies ? SHINGLES_FREQUENCIES : 0;
	shingles->scheme = scheme;
	shingles->count = count;
	return shingles;
}

/* Where the frequencies are, or would be. */
static uint32 *
shingles_frequencies(const Shingles *shingles)
{
	return (uint32 *) (shingles->element + shingles->count);
}

Shingles *
shingles_of_datum(Datum datum)
{
	Shingles *shingles = (Shingles *) PG_DETOAST_DATUM(datum);

	/* A large one took a while. */
	CHECK_FOR_INTERRUPTS();
	if (VARSIZE(shingles) < offsetof(Shingles, element) || shingles->layout != SHINGLES_LAYOUT ||
		shingles->version == 0 || (shingles->flags & ~SHINGLES_FREQUENCIES) != 0 ||
		!recipe_has_scheme(shingles->version, shingles->scheme) ||
		VARSIZE(shingles) != shingles_size(shingles->count, shingles->flags & SHINGLES_FREQUENCIES))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value is not a valid set of shingles")));
	return shingles;
}

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
				 errhint("Make the set anew from its text.")));
	return shingles;
}

Bag
shingles_bag(const Shingles *shingles)
{
	Bag bag;

	bag.count = shingles->count;
	bag.element = (int64_t *) shingles->element;
	bag.frequency = shingles->flags & SHINGLES_FREQUENCIES ? shingles_frequencies(shingles) : NULL;
	return bag;
}

/* An error unless the text form fits into a row of COPY, which pg_dump reads. */
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
				 errdetail("Its text form takes " UINT64_FORMAT
						   " bytes; pg_dump could not read a row with more than %d.",
						   length, TEXT_MOST),
				 errhint("Cut the text into parts, or make a minhash of it, which has no such limit.")));
}

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

/* What is being read, and where. */
typedef struct Reader
{
	const char *whole;
	const char *at;
} Reader;

static void
refuse(const Reader *reader, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type shingles"),
			 errdetail("Expected %s at character %zu.", expected,
					   (size_t) (reader->at - reader->whole) + 1),
			 errhint("Write recipe/scheme/{element,element:frequency,...}, the elements ascending, frequencies from 2 on, such as 1/word 3/{-7,12:2}.")));
}

static void
read_symbol(Reader *reader, char symbol, const char *expected)
{
	if (*reader->at != symbol)
		refuse(reader, expected);
	reader->at++;
}

/* A decimal number from least to most, as printf would write it. */
static uint64
read_digits(Reader *reader, uint64 least, uint64 most, const char *expected)
{
	Reader start = *reader;
	uint64 number = 0;

	if (*reader->at == '0')
	{
		reader->at++;
		if (isdigit((unsigned char) *reader->at))
			refuse(&start, expected);
	}
	for (; isdigit((unsigned char) *reader->at); reader->at++)
	{
		uint64 digit = *reader->at - '0';

		if (number > (most - digit) / 10)
			refuse(&start, expected);
		number = number * 10 + digit;
	}
	if (reader->at == start.at || number < least)
		refuse(&start, expected);
	return number;
}

static int64
read_element(Reader *reader)
{
	if (*reader->at != '-')
		return (int64) read_digits(reader, 0, PG_INT64_MAX, "a 64-bit number");
	reader->at++;
	return (int64) -read_digits(reader, 1, (uint64) PG_INT64_MAX + 1, "a 64-bit number");
}

static SchemeId
read_scheme(Reader *reader, int version)
{
	const char *end = strchr(reader->at, '/');
	SchemeId scheme = 0;

	if (!end || !scheme_parse(reader->at, end - reader->at, &scheme) ||
		!recipe_has_scheme(version, scheme))
		refuse(reader, "a scheme such as \"word 3\"");
	reader->at = end + 1;
	return scheme;
}

/* How many elements can be in the rest: one more than it has commas. */
static size_t
count_elements(const char *rest)
{
	size_t count = 1;

	for (; (rest = strchr(rest, ',')) != NULL; rest++)
		if (count++ % PASS_STEP == 0)
			host_check_interrupts();
	return count;
}

/* Read from after the opening brace to the closing one. */
static Bag
read_bag(Reader *reader)
{
	size_t room = count_elements(reader->at);
	Bag bag = {0, host_alloc(room * sizeof(int64)), host_alloc(room * sizeof(uint32))};

	while (*reader->at != '}')
	{
		Reader start;
		int64 element;
		uint32 frequency = 1;

		if (bag.count % PASS_STEP == 0)
			host_check_interrupts();
		if (bag.count > 0)
			read_symbol(reader, ',', "\",\" or \"}\"");
		start = *reader;
		element = read_element(reader);
		if (bag.count > 0 && element <= bag.element[bag.count - 1])
			refuse(&start, "an element greater than the one before it");
		if (*reader->at == ':')
		{
			reader->at++;
			frequency =
				(uint32) read_digits(reader, 2, PG_UINT32_MAX, "a frequency from 2 to 4294967295");
		}
		bag.element[bag.count] = element;
		bag.frequency[bag.count++] = frequency;
	}
	reader->at++;
	bag_drop_ones(&bag);
	return bag;
}

Datum
neardup_shingles_in(PG_FUNCTION_ARGS)
{
	char *input = PG_GETARG_CSTRING(0);
	Reader reader = {input, input};
	int version;
	SchemeId scheme;
	Bag bag;

	/* A long text took a while to copy. */
	CHECK_FOR_INTERRUPTS();
	version = (int) read_digits(&reader, 1, PG_UINT8_MAX, "a recipe version");
	read_symbol(&reader, '/', "\"/\"");
	scheme = read_scheme(&reader, version);
	read_symbol(&reader, '{', "\"{\"");
	bag = read_bag(&reader);
	if (*reader.at != '\0')
		refuse(&reader, "nothing more");
	PG_RETURN_POINTER(shingles_of_bag(&bag, version, scheme));
}

Datum
neardup_shingles_out(PG_FUNCTION_ARGS)
{
	Shingles *shingles = shingles_of_datum(PG_GETARG_DATUM(0));
	Bag bag = shingles_bag(shingles);
	char name[SCHEME_NAME_SIZE];
	StringInfoData out;
	const uint64 room = MaxAllocSize - SCHEME_NAME_SIZE - sizeof("255//{}");
	uint32 i;

	/* Such a set was made by an earlier release, or came in binary form. */
	if (bag_text_most(&bag) > room && bag_text_length(&bag) > room)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %u shingles has no text form", bag.count),
				 errdetail("It would take " UINT64_FORMAT " bytes; a text has at most %zu.",
						   bag_text_length(&bag), (size_t) MaxAllocSize),
				 errhint("Use the binary form, as COPY ... WITH (FORMAT binary) does.")));
	initStringInfo(&out);
	scheme_name(shingles->scheme, name);
	appendStringInfo(&out, "%d/%s/{", shingles->version, name);
	for (i = 0; i < bag.count; i++)
	{
		char number[sizeof("-9223372036854775808")];

		if (i % PASS_STEP == 0)
			host_check_interrupts();
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

/* ---- Wire --------------------------------------------------------------- */

static void
refuse_wire(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid binary representation of type shingles"), errdetail("%s", detail)));
}

/* Read the elements, and the frequencies if there are any, into the value. */
static void
receive_elements(StringInfo message, Shingles *shingles)
{
	Bag bag = shingles_bag(shingles);
	bool repeated = false;
	uint32 i;

	for (i = 0; i < bag.count; i++)
	{
		if (i % PASS_STEP == 0)
			host_check_interrupts();
		bag.element[i] = pq_getmsgint64(message);
		if (i > 0 && bag.element[i] <= bag.element[i - 1])
			refuse_wire("The elements are not ascending.");
	}
	if (!bag.frequency)
		return;
	for (i = 0; i < bag.count; i++)
	{
		if (i % PASS_STEP == 0)
			host_check_interrupts();
		bag.frequency[i] = pq_getmsgint(message, sizeof(uint32));
		if (bag.frequency[i] == 0)
			refuse_wire("A frequency is zero.");
		repeated |= bag.frequency[i] > 1;
	}
	if (!repeated)
		refuse_wire("Frequencies are given though all are 1.");
}

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
		refuse_wire("The layout is of another version.");
	if (version == 0)
		refuse_wire("The recipe version is zero.");
	if (!recipe_has_scheme(version, scheme))
		refuse_wire("The number of the scheme has no meaning.");
	if (rest != shingles_size(count, flags) - shingles_size(0, false))
		refuse_wire("The length does not fit the number of elements.");
	shingles = shingles_alloc(count, flags, version, scheme);
	receive_elements(message, shingles);
	PG_RETURN_POINTER(shingles);
}

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
		if (i % PASS_STEP == 0)
			host_check_interrupts();
		pq_sendint64(&message, bag.element[i]);
	}
	for (i = 0; bag.frequency && i < bag.count; i++)
	{
		if (i % PASS_STEP == 0)
			host_check_interrupts();
		pq_sendint32(&message, bag.frequency[i]);
	}
	PG_FREE_IF_COPY(shingles, 0);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}
