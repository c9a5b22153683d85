/*
 * server.c: a stand-in for the server (server.h), as small as the fuzzed functions
 * allow.
 */
#include "server.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "compat.h"

/* The type of byte arrays in prototypes, and the kind of a failed assertion. */
#if PG_VERSION_NUM >= 160000
#define BYTES void
#define KIND
#else
#define BYTES char
#define KIND const char *kind,
#endif

/* ---- Memory -------------------------------------------------------------- */

MemoryContext CurrentMemoryContext = NULL;
MemoryContext TopMemoryContext = NULL;
volatile sig_atomic_t InterruptPending = 0;
int work_mem = 4096;

void
ProcessInterrupts(void)
{
}

/* All allocations, in order. */
static void **allocated;
static size_t allocations;
static size_t room;

static void *
note_allocation(void *memory)
{
	REQUIRE(memory != NULL);
	if (allocations == room)
	{
		void **larger = realloc(allocated, (room ? 2 * room : 64) * sizeof(void *));

		REQUIRE(larger != NULL);
		allocated = larger;
		room = room ? 2 * room : 64;
	}
	return allocated[allocations++] = memory;
}

static void
forget_allocation(const void *memory)
{
	size_t i = allocations;

	while (i > 0 && allocated[i - 1] != memory)
		i--;
	REQUIRE(i > 0);
	memmove(allocated + i - 1, allocated + i, (allocations - i) * sizeof(void *));
	allocations--;
}

void
server_reset(void)
{
	while (allocations > 0)
		free(allocated[--allocations]);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return note_allocation(malloc(size > 0 ? size : 1));
}

static void
check_size(Size size)
{
	if (!AllocSizeIsValid(size))
		elog(ERROR, "invalid memory alloc request size %zu", size);
}

void *
palloc(Size size)
{
	check_size(size);
	return MemoryContextAllocHuge(NULL, size);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return palloc(size);
}

void
pfree(void *memory)
{
	forget_allocation(memory);
	free(memory);
}

void *
repalloc_huge(void *memory, Size size)
{
	forget_allocation(memory);
	return note_allocation(realloc(memory, size > 0 ? size : 1));
}

void *
repalloc(void *memory, Size size)
{
	check_size(size);
	return repalloc_huge(memory, size);
}

/* ---- The plain C layers' host --------------------------------------------- */

void *
host_alloc(size_t bytes)
{
	return MemoryContextAllocHuge(NULL, bytes);
}

void *
host_realloc(void *memory, size_t bytes)
{
	return memory ? repalloc_huge(memory, bytes) : host_alloc(bytes);
}

void
host_free(void *memory)
{
	if (memory)
		pfree(memory);
}

void *
host_alloc_forever(size_t bytes)
{
	void *memory = malloc(bytes);

	REQUIRE(memory != NULL);
	return memory;
}

void
host_check_interrupts(void)
{
}

uint64_t
host_random_seed(void)
{
	return 20120;
}

void
host_refuse_size(const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s", what)));
}

/* ---- Errors -------------------------------------------------------------- */

static sigjmp_buf *handler;
static int error_level;
static int error_state;

bool
errstart(int elevel, const char *domain)
{
	error_level = elevel;
	error_state = ERRCODE_INTERNAL_ERROR;
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

int
errcode(int sqlerrcode)
{
	error_state = sqlerrcode;
	return 0;
}

/* Formats a message, so that its arguments are read, and discards it. */
static int
format_message(const char *format, va_list arguments)
{
	char message[2048];

	vsnprintf(message, sizeof(message), format, arguments);
	if (getenv("FUZZ_SHOW_ERRORS"))
		fprintf(stderr, "%s\n", message);
	return 0;
}

#define MESSAGE_FUNCTION(name) \
	int name(const char *format, ...) \
	{ \
		va_list arguments; \
		va_start(arguments, format); \
		format_message(format, arguments); \
		va_end(arguments); \
		return 0; \
	} \
	extern int no_such_variable

MESSAGE_FUNCTION(errmsg);
MESSAGE_FUNCTION(errmsg_internal);
MESSAGE_FUNCTION(errdetail);
MESSAGE_FUNCTION(errhint);

int
errdetail_plural(const char *singular, const char *plural, unsigned long n, ...)
{
	va_list arguments;

	va_start(arguments, n);
	format_message(n == 1 ? singular : plural, arguments);
	va_end(arguments);
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	if (error_level < ERROR)
		return;
	REQUIRE(handler != NULL);
	siglongjmp(*handler, 1);
}

#if PG_VERSION_NUM >= 160000

/* Nobody wants an error saved. */
bool
errsave_start(struct Node *context, const char *domain)
{
	REQUIRE(context == NULL);
	return errstart(ERROR, domain);
}

void
errsave_finish(struct Node *context, const char *filename, int lineno, const char *funcname)
{
	errfinish(filename, lineno, funcname);
}

#endif

/* Ends the program at an assertion that fails, if the server's headers have assertions. */
void
ExceptionalCondition(const char *condition, KIND const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum argument)
{
	LOCAL_FCINFO(fcinfo, 1);

	InitFunctionCallInfoData(*fcinfo, NULL, 1, collation, NULL, NULL);
	fcinfo->args[0].value = argument;
	fcinfo->args[0].isnull = false;
	return function(fcinfo);
}

Datum
DirectFunctionCall3Coll(PGFunction function, Oid collation, Datum first, Datum second, Datum third)
{
	LOCAL_FCINFO(fcinfo, 3);
	Datum argument[] = {first, second, third};

	InitFunctionCallInfoData(*fcinfo, NULL, 3, collation, NULL, NULL);
	for (int i = 0; i < 3; i++)
		fcinfo->args[i] = (NullableDatum){argument[i], false};
	return function(fcinfo);
}

Outcome
call_function(PGFunction function, int arguments, const Datum *argument)
{
	LOCAL_FCINFO(fcinfo, 6);
	FmgrInfo info = {0};
	sigjmp_buf here;
	volatile Outcome outcome = {0};

	InitFunctionCallInfoData(*fcinfo, &info, arguments, InvalidOid, NULL, NULL);
	for (int i = 0; i < arguments; i++)
	{
		fcinfo->args[i].value = argument[i];
		fcinfo->args[i].isnull = false;
	}
	REQUIRE(handler == NULL);
	handler = &here;
	if (sigsetjmp(here, 0) == 0)
	{
		outcome.result = function(fcinfo);
		outcome.null = fcinfo->isnull;
	}
	else
	{
		outcome.failed = true;
		outcome.sqlstate = error_state;
	}
	handler = NULL;
	return outcome;
}

/* ---- Strings ------------------------------------------------------------- */

void
initStringInfo(StringInfo str)
{
	str->data = palloc(1024);
	str->maxlen = 1024;
	resetStringInfo(str);
}

void
resetStringInfo(StringInfo str)
{
	str->data[0] = '\0';
	str->len = 0;
	str->cursor = 0;
}

void
enlargeStringInfo(StringInfo str, int needed)
{
	REQUIRE(needed >= 0);
	if (str->len + needed < str->maxlen)
		return;
	str->maxlen = 2 * (str->len + needed) + 1;
	str->data = repalloc(str->data, str->maxlen);
}

void
appendBinaryStringInfo(StringInfo str, const BYTES *data, int length)
{
	enlargeStringInfo(str, length);
	memcpy(str->data + str->len, data, length);
	str->len += length;
	str->data[str->len] = '\0';
}

void
appendStringInfoString(StringInfo str, const char *s)
{
	appendBinaryStringInfo(str, s, strlen(s));
}

void
appendStringInfoChar(StringInfo str, char c)
{
	appendBinaryStringInfo(str, &c, 1);
}

static char *
formatted(const char *format, va_list arguments)
{
	char text[2048];
	int length = vsnprintf(text, sizeof(text), format, arguments);

	REQUIRE(length >= 0 && length < (int) sizeof(text));
	return pstrdup(text);
}

void
appendStringInfo(StringInfo str, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	appendStringInfoString(str, formatted(format, arguments));
	va_end(arguments);
}

char *
psprintf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = formatted(format, arguments);
	va_end(arguments);
	return text;
}

char *
pnstrdup(const char *in, Size length)
{
	char *copy;

	length = strnlen(in, length);
	copy = palloc(length + 1);
	memcpy(copy, in, length);
	copy[length] = '\0';
	return copy;
}

char *
pstrdup(const char *in)
{
	return pnstrdup(in, strlen(in));
}

int
pg_lltoa(int64 value, char *text)
{
	return snprintf(text, sizeof("-9223372036854775808"), "%lld", (long long) value);
}

/* Prints the fewest digits that are read back to the same number. */
int
double_to_shortest_decimal_buf(double number, char *text)
{
	int length = 0;

	for (int digits = 1; digits <= 17; digits++)
	{
		length = snprintf(text, DOUBLE_SHORTEST_DECIMAL_LEN, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	return length;
}

char *
float8out_internal(double number)
{
	return psprintf("%.17g", number);
}

uint64
hex_encode(const char *bytes, size_t length, char *text)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++)
	{
		*text++ = digit[(unsigned char) bytes[i] >> 4];
		*text++ = digit[bytes[i] & 0xF];
	}
	return 2 * length;
}

uint64
hex_decode(const char *text, size_t length, char *bytes)
{
	for (size_t i = 0; i < length / 2; i++)
	{
		unsigned byte;
		char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

		REQUIRE(sscanf(digits, "%2x", &byte) == 1);
		bytes[i] = (char) byte;
	}
	return length / 2;
}

/* Returns the length of the complete characters within a limit. */
int
pg_mbcliplen(const char *text, int length, int limit)
{
	if (length <= limit)
		return length;
	while (limit > 0 && (text[limit] & 0xC0) == 0x80)
		limit--;
	return limit;
}

int
GetDatabaseEncoding(void)
{
	return PG_UTF8;
}

text *
cstring_to_text_with_len(const char *s, int length)
{
	text *result = palloc(length + VARHDRSZ);

	SET_VARSIZE(result, length + VARHDRSZ);
	memcpy(VARDATA(result), s, length);
	return result;
}

text *
cstring_to_text(const char *s)
{
	return cstring_to_text_with_len(s, strlen(s));
}

char *
text_to_cstring(const text *t)
{
	return pnstrdup(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

/* ---- Values -------------------------------------------------------------- */

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	if (!VARATT_IS_SHORT(datum))
		return datum;
	return cstring_to_text_with_len(VARDATA_ANY(datum), VARSIZE_ANY_EXHDR(datum));
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

Size
toast_raw_datum_size(Datum value)
{
	return VARSIZE_ANY_EXHDR(DatumGetPointer(value)) + VARHDRSZ;
}

uint64
hash_bytes_extended(const unsigned char *bytes, int length, uint64 seed)
{
	for (int i = 0; i < length; i++)
		seed = (seed ^ bytes[i]) * UINT64_C(0x100000001B3);
	return seed;
}

uint32
hash_bytes(const unsigned char *bytes, int length)
{
	return (uint32) hash_bytes_extended(bytes, length, 1);
}

ArrayType *
construct_empty_array(Oid type)
{
	ArrayType *array = palloc0(sizeof(ArrayType));

	SET_VARSIZE(array, sizeof(ArrayType));
	array->elemtype = type;
	return array;
}

/* Supports only 64-bit numbers. */
ArrayType *
construct_array(Datum *element, int count, Oid type, int length, bool by_value, char align)
{
	Size size = ARR_OVERHEAD_NONULLS(1) + count * sizeof(int64);
	ArrayType *array;

	REQUIRE(length == sizeof(int64) && by_value);
	if (count == 0)
		return construct_empty_array(type);
	array = palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->elemtype = type;
	ARR_DIMS(array)[0] = count;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), element, count * sizeof(int64));
	return array;
}

int
ArrayGetNItems(int ndim, const int *dims)
{
	return ndim == 0 ? 0 : dims[0];
}

bool
array_contains_nulls(COMPAT_READ_ARRAY *array)
{
	return ARR_HASNULL(array);
}

/* ---- Messages ------------------------------------------------------------ */

static void
read_message(StringInfo message, void *bytes, size_t length)
{
	if (length <= (size_t) (message->len - message->cursor))
	{
		memcpy(bytes, message->data + message->cursor, length);
		message->cursor += (int) length;
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("insufficient data left in message")));
}

void
pq_copymsgbytes(StringInfo message, CompatMessageBytes *bytes, int length)
{
	read_message(message, bytes, length);
}

int64
pq_getmsgint64(StringInfo message)
{
	uint8 bytes[8];
	uint64 number = 0;

	read_message(message, bytes, sizeof(bytes));
	for (int i = 0; i < 8; i++)
		number = number << 8 | bytes[i];
	return (int64) number;
}

unsigned int
pq_getmsgint(StringInfo message, int length)
{
	uint8 bytes[4];
	unsigned int number = 0;

	REQUIRE(length == 1 || length == 2 || length == 4);
	read_message(message, bytes, length);
	for (int i = 0; i < length; i++)
		number = number << 8 | bytes[i];
	return number;
}

int
pq_getmsgbyte(StringInfo message)
{
	return (int) pq_getmsgint(message, 1);
}

float8
pq_getmsgfloat8(StringInfo message)
{
	int64 bits = pq_getmsgint64(message);
	float8 number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

void
pq_sendbytes(StringInfo message, const BYTES *bytes, int length)
{
	appendBinaryStringInfo(message, bytes, length);
}

void
pq_sendfloat8(StringInfo message, float8 number)
{
	uint64 bits;

	memcpy(&bits, &number, sizeof(bits));
	pq_sendint64(message, bits);
}

/* Leaves room for the length. */
void
pq_begintypsend(StringInfo message)
{
	initStringInfo(message);
	appendBinaryStringInfo(message, "\0\0\0\0", 4);
}

bytea *
pq_endtypsend(StringInfo message)
{
	bytea *result = (bytea *) message->data;

	SET_VARSIZE(result, message->len);
	return result;
}
