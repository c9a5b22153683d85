/*
 * fuzz_values.c: the text and binary formats of all types.
 *
 * A value that an input function accepts is printed and read back to the same bytes,
 * in both formats, and no function refuses it as corrupt.  Any bytes as a stored value
 * may be refused, but nothing may crash.
 */
#include "server.h"

#include <math.h>

#include "utils/builtins.h"

#include "types/ball.h"

#define FUNCTION(name) extern Datum name(PG_FUNCTION_ARGS)

FUNCTION(neardup_minhash_in);
FUNCTION(neardup_minhash_recv);
FUNCTION(neardup_simhash_in);
FUNCTION(neardup_simhash_recv);
FUNCTION(neardup_signature_out);
FUNCTION(neardup_signature_send);
FUNCTION(neardup_ball_in);
FUNCTION(neardup_ball_recv);
FUNCTION(neardup_ball_out);
FUNCTION(neardup_ball_send);
FUNCTION(neardup_shingles_in);
FUNCTION(neardup_shingles_out);
FUNCTION(neardup_shingles_recv);
FUNCTION(neardup_shingles_send);
FUNCTION(neardup_shingle_lexicon_in);
FUNCTION(neardup_shingle_lexicon_out);
FUNCTION(neardup_shingle_lexicon_recv);
FUNCTION(neardup_shingle_lexicon_send);

FUNCTION(neardup_similarity);
FUNCTION(neardup_signature_distance);
FUNCTION(neardup_hamming_distance);
FUNCTION(neardup_is_similar);
FUNCTION(neardup_is_within);
FUNCTION(neardup_containment_minhash);
FUNCTION(neardup_signature_cmp);
FUNCTION(neardup_signature_hash);
FUNCTION(neardup_signature_hash_extended);
FUNCTION(neardup_signature_apply_typmod);
FUNCTION(neardup_signature_to_bit);
FUNCTION(neardup_simhash_to_bigint);
FUNCTION(neardup_minhash_symbols);
FUNCTION(neardup_minhash_truncate);
FUNCTION(neardup_minhash_union);
FUNCTION(neardup_minhash_union_step);
FUNCTION(neardup_cardinality_minhash);
FUNCTION(neardup_signature_bands);

FUNCTION(neardup_near);
FUNCTION(neardup_hamming_ball);
FUNCTION(neardup_in_ball);
FUNCTION(neardup_balls_meet);

FUNCTION(neardup_shingles_eq);
FUNCTION(neardup_shingles_hash);
FUNCTION(neardup_shingles_hash_extended);
FUNCTION(neardup_cardinality_shingles);
FUNCTION(neardup_shingle_total);
FUNCTION(neardup_shingle_hashes);
FUNCTION(neardup_shingles_intersection);
FUNCTION(neardup_shingles_union);
FUNCTION(neardup_shingles_difference);
FUNCTION(neardup_similarity_shingles);
FUNCTION(neardup_shingles_distance);
FUNCTION(neardup_containment_shingles);
FUNCTION(neardup_weighted_jaccard);
FUNCTION(neardup_cosine_similarity_shingles);
FUNCTION(neardup_is_similar_shingles);
FUNCTION(neardup_shingles_mod);
FUNCTION(neardup_shingles_bottom);
FUNCTION(neardup_bottom_resemblance);
FUNCTION(neardup_shingles_minima);
FUNCTION(neardup_supershingles);
FUNCTION(neardup_bucket_sketch);
FUNCTION(neardup_to_minhash_shingles);
FUNCTION(neardup_to_simhash_shingles);

/* ---- Types --------------------------------------------------------------- */

typedef enum Family
{
	SIGNATURES,
	BALLS,
	SETS,
	LEXICONS
} Family;

typedef struct Type
{
	Family family;
	PGFunction in;
	PGFunction recv;
	PGFunction out;
	PGFunction send;
	PGFunction compare; /* NULL for a type without an order */
} Type;

static const Type types[] = {
	{SIGNATURES, neardup_minhash_in, neardup_minhash_recv, neardup_signature_out,
	 neardup_signature_send, neardup_signature_cmp},
	{SIGNATURES, neardup_simhash_in, neardup_simhash_recv, neardup_signature_out,
	 neardup_signature_send, neardup_signature_cmp},
	{SETS, neardup_shingles_in, neardup_shingles_recv, neardup_shingles_out, neardup_shingles_send,
	 NULL},
	{BALLS, neardup_ball_in, neardup_ball_recv, neardup_ball_out, neardup_ball_send, NULL},
	{LEXICONS, neardup_shingle_lexicon_in, neardup_shingle_lexicon_recv,
	 neardup_shingle_lexicon_out, neardup_shingle_lexicon_send, NULL},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

/* Arguments that are not of the types. */
typedef struct Numbers
{
	int32 small; /* often in range */
	int32 any;
	double threshold;
} Numbers;

/* Returns whether no function could have made the value, so that it may be refused. */
static bool any_bytes;

/* ---- Calls --------------------------------------------------------------- */

static Outcome
call(PGFunction function, int arguments, Datum a, Datum b, Datum c)
{
	Datum argument[4] = {a, b, c, 0};
	Outcome outcome = call_function(function, arguments, argument);

	REQUIRE(!outcome.failed || outcome.sqlstate != ERRCODE_INTERNAL_ERROR);
	REQUIRE(any_bytes || !outcome.failed || outcome.sqlstate != ERRCODE_DATA_CORRUPTED);
	return outcome;
}

static Outcome
call1(PGFunction function, Datum a)
{
	return call(function, 1, a, 0, 0);
}

static Outcome
call2(PGFunction function, Datum a, Datum b)
{
	return call(function, 2, a, b, 0);
}

static Outcome
call3(PGFunction function, Datum a, Datum b, Datum c)
{
	return call(function, 3, a, b, c);
}

static bool
same_bytes(Datum x, Datum y)
{
	const void *a = DatumGetPointer(x);
	const void *b = DatumGetPointer(y);

	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/* Checks that a similarity is from 0 to 1. */
static void
require_similarity(Outcome outcome)
{
	double similarity = DatumGetFloat8(outcome.result);

	REQUIRE(outcome.failed || (similarity >= 0 && similarity <= 1));
}

/* ---- Reading ------------------------------------------------------------- */

static Outcome
read_value(const Type *type, bool binary, const char *bytes, size_t length, int32 typmod)
{
	StringInfoData message = {0};

	message.data = (char *) bytes;
	message.len = (int) length;
	message.maxlen = (int) length + 1;
	return call(binary ? type->recv : type->in, 3,
				binary ? PointerGetDatum(&message) : CStringGetDatum(bytes), 0,
				Int32GetDatum(typmod));
}

/* Checks that both formats of a value are read back to the same bytes. */
static void
check_round_trips(const Type *type, Datum value)
{
	Outcome text = call1(type->out, value);
	Outcome binary = call1(type->send, value);
	Outcome read;

	REQUIRE(!text.failed && !binary.failed);
	read = read_value(type, false, DatumGetCString(text.result),
					  strlen(DatumGetCString(text.result)), -1);
	REQUIRE(!read.failed && same_bytes(read.result, value));
	read = read_value(type, true, VARDATA_ANY(DatumGetPointer(binary.result)),
					  VARSIZE_ANY_EXHDR(DatumGetPointer(binary.result)), -1);
	REQUIRE(!read.failed && same_bytes(read.result, value));
}

/* ---- Uses ---------------------------------------------------------------- */

static void
check_order(const Type *type, Datum x, Datum y)
{
	Outcome order = call2(type->compare, x, y);
	Outcome reverse = call2(type->compare, y, x);

	if (any_bytes)
		return;
	REQUIRE(!order.failed && !reverse.failed);
	REQUIRE(DatumGetInt32(order.result) == 0    ? DatumGetInt32(reverse.result) == 0 :
				DatumGetInt32(order.result) > 0 ? DatumGetInt32(reverse.result) < 0 :
												  DatumGetInt32(reverse.result) > 0);
	REQUIRE((DatumGetInt32(order.result) == 0) == same_bytes(x, y));
}

/* Checks that similarity, distance and the conditions on them agree. */
static void
check_measures(Datum x, Datum y, const Numbers *n)
{
	Outcome similarity = call2(neardup_similarity, x, y);
	Outcome reverse = call2(neardup_similarity, y, x);
	Outcome distance = call2(neardup_hamming_distance, x, y);
	Outcome similar = call3(neardup_is_similar, x, y, Float8GetDatum(n->threshold));
	Outcome within = call3(neardup_is_within, x, y, Int32GetDatum(n->small));

	if (any_bytes)
		return;
	require_similarity(similarity);
	REQUIRE(similarity.failed == reverse.failed && similarity.failed == distance.failed);
	if (similarity.failed)
		return;
	REQUIRE(similarity.result == reverse.result);
	if (!similar.failed)
		REQUIRE(DatumGetBool(similar.result) ==
				(DatumGetFloat8(similarity.result) >= n->threshold));
	if (!within.failed && DatumGetBool(within.result))
		REQUIRE(DatumGetInt32(distance.result) <= n->small);
}

static void
use_balls(Datum x, Datum y, const Numbers *n)
{
	Outcome near = call2(neardup_near, x, Float8GetDatum(n->threshold));
	Outcome ball = call2(neardup_hamming_ball, y, Int32GetDatum(n->small));

	if (!near.failed)
	{
		Outcome in = call2(neardup_in_ball, y, near.result);
		Outcome similar = call3(neardup_is_similar, x, y, Float8GetDatum(n->threshold));

		/* A signature of another shape is in no ball, and cannot be compared. */
		REQUIRE(!in.failed || similar.failed);
		REQUIRE(similar.failed ? in.failed || !DatumGetBool(in.result) :
								 in.result == similar.result);
	}
	if (!near.failed && !ball.failed)
		call2(neardup_balls_meet, near.result, ball.result);
}

/* Which of the two, also where the recipe is a later one. */
static bool
is_minhash(Datum value)
{
	return (signature_read(VARDATA_ANY(DatumGetPointer(value))).header.flags & SIGNATURE_MINHASH) !=
		0;
}

static void
use_signatures(Datum x, Datum y, const Numbers *n)
{
	check_measures(x, y, n);
	use_balls(x, y, n);
	require_similarity(call2(neardup_signature_distance, x, y));
	if (!any_bytes && is_minhash(x))
		require_similarity(call2(neardup_containment_minhash, x, y));
	call1(neardup_signature_hash, x);
	call2(neardup_signature_hash_extended, x, Int64GetDatum(n->any));
	call2(neardup_signature_apply_typmod, x, Int32GetDatum(n->any));
	call2(neardup_signature_to_bit, x, Int32GetDatum(n->any % 2 ? -1 : n->any));
	call2(neardup_signature_bands, x, Int32GetDatum(n->small));
	if (any_bytes)
		return;
	if (is_minhash(x))
	{
		Outcome cut = call2(neardup_minhash_truncate, x, Int32GetDatum(1 << (n->any & 7)));
		Outcome both = call2(neardup_minhash_union, x, y);

		if (!cut.failed)
			check_round_trips(&types[0], cut.result);
		if (!both.failed)
			check_round_trips(&types[0], both.result);
		call2(neardup_minhash_union_step, x, y);
		call1(neardup_minhash_symbols, x);
		call1(neardup_cardinality_minhash, x);
	}
	else
		call1(neardup_simhash_to_bigint, x);
}

static void
use_ball_values(Datum x, Datum y)
{
	call2(neardup_balls_meet, x, y);
}

/* Checks that a set made by a function can be read back. */
static void
check_set(Outcome outcome)
{
	if (!outcome.failed && !any_bytes)
		check_round_trips(&types[2], outcome.result);
}

static void
check_signature(Outcome outcome, int type)
{
	if (!outcome.failed && !any_bytes)
		check_round_trips(&types[type], outcome.result);
}

static void
use_sets(Datum x, Datum y, const Numbers *n)
{
	static const PGFunction numbers[] = {
		neardup_similarity_shingles,        neardup_shingles_distance,
		neardup_containment_shingles,       neardup_weighted_jaccard,
		neardup_cosine_similarity_shingles,
	};
	static const PGFunction bags[] = {neardup_shingles_intersection, neardup_shingles_union,
									  neardup_shingles_difference};
	Outcome similar = call3(neardup_is_similar_shingles, x, y, Float8GetDatum(n->threshold));
	Datum few = Int32GetDatum(1 + (n->any & 63));

	for (size_t i = 0; i < lengthof(numbers); i++)
	{
		Outcome outcome = call2(numbers[i], x, y);

		if (!any_bytes)
			require_similarity(outcome);
		if (i == 0 && !any_bytes && !similar.failed)
			REQUIRE(DatumGetBool(similar.result) ==
					(DatumGetFloat8(outcome.result) >= n->threshold));
	}
	for (size_t i = 0; i < lengthof(bags); i++)
		check_set(call2(bags[i], x, y));
	call2(neardup_shingles_eq, x, y);
	call1(neardup_shingles_hash, x);
	call2(neardup_shingles_hash_extended, x, Int64GetDatum(n->any));
	call1(neardup_cardinality_shingles, x);
	call1(neardup_shingle_total, x);
	call1(neardup_shingle_hashes, x);
	check_set(call2(neardup_shingles_mod, x, Int32GetDatum(n->small)));
	check_set(call2(neardup_shingles_bottom, x, Int32GetDatum(n->small)));
	call3(neardup_bottom_resemblance, x, y, Int32GetDatum(n->small));
	call2(neardup_shingles_minima, x, few);
	call2(neardup_supershingles, x, Int32GetDatum(n->small));
	call2(neardup_bucket_sketch, x, few);
	check_signature(call3(neardup_to_minhash_shingles, x, Int32GetDatum(16 + (n->any & 63)),
						  Int32GetDatum(1 << (n->any >> 8 & 7))),
					0);
	check_signature(call2(neardup_to_simhash_shingles, x, Int32GetDatum(64 << (n->any & 3))), 1);
}

static void
use_values(const Type *type, Datum x, Datum y, const Numbers *n)
{
	if (type->compare != NULL)
		check_order(type, x, y);
	if (type->family == SIGNATURES)
		use_signatures(x, y, n);
	else if (type->family == BALLS)
		use_ball_values(x, y);
	else if (type->family == SETS)
		use_sets(x, y, n);
	else
	{
		call1(type->out, x);
		call1(type->send, x);
	}
}

/* ---- Inputs -------------------------------------------------------------- */

/* Returns a copy with the one-byte header of a short stored value, or a long value itself. */
static Datum
shortened(Datum value)
{
	size_t length = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	struct varlena *copy;

	if (length + 1 > VARATT_SHORT_MAX)
		return value;
	copy = palloc(length + 1);
	SET_VARSIZE_SHORT(copy, length + 1);
	memcpy((char *) copy + 1, VARDATA_ANY(DatumGetPointer(value)), length);
	return PointerGetDatum(copy);
}

/* Returns the next part of the input as a value, or 0 if it is invalid. */
static Datum
take_value(const Type *type, Input *in, bool binary, size_t length, int32 typmod)
{
	uint8_t *part = take_copy(in, &length);
	char *bytes = palloc(length + 1);
	Outcome outcome;

	memcpy(bytes, part, length);
	bytes[length] = '\0';
	free(part);
	if (any_bytes)
		return PointerGetDatum(cstring_to_text_with_len(bytes, (int) length));
	outcome = read_value(type, binary, bytes, length, typmod);
	return outcome.failed ? 0 : outcome.result;
}

static Numbers
take_numbers(Input *in)
{
	Numbers n;

	n.any = (int32) take_number(in, 4);
	n.small = n.any % 257;
	n.threshold = take_byte(in) / 200.0;
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	const Type *type = &types[take_byte(&in) % TYPES];
	uint8_t option = take_byte(&in);
	Numbers numbers = take_numbers(&in);
	size_t length = (size_t) take_number(&in, 2);
	int32 typmod = option & 4 ? numbers.any : -1;
	Datum x;
	Datum y;

	any_bytes = (option & 0xF0) == 0xF0;
	x = take_value(type, &in, option & 1, length, typmod);
	if (x != 0)
	{
		y = in.left > 0 ? take_value(type, &in, (option & 2) != 0, in.left, -1) : x;
		if (y == 0)
			y = x;
		if (!any_bytes)
			check_round_trips(type, x);
		if (option & 8)
			x = shortened(x);
		use_values(type, x, y, &numbers);
	}
	server_reset();
	return 0;
}
