/*
 * ball.c: the type ball, and its operators.
 *
 * Text format: "0.9 around KIND SIGNATURE" or "60 symbols around KIND SIGNATURE"; KIND is
 * minhash or simhash.  Around a set: "0.9 around shingles SET", "0.9 of shingles SET" (the sets
 * that hold at least that share of it), "0.9 in shingles SET" (the sets of which it holds at least
 * that share).
 * Binary format: the threshold (float8; 0 if a radius was given), the radius (int4), the
 * signature, whose flags say its kind.  Around a set: the threshold, the least int4 plus the
 * number of the measure, and the set.
 */
#include "types/ball.h"
#include "types/hashes.h"
#include "types/shingles_type.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "libpq/pqformat.h"

#define AROUND " around "
#define SYMBOLS " symbols"

/* The names of measures in text format; a signature has none. */
static const char *const measures[] = {[MEASURE_RESEMBLANCE] = AROUND "shingles ",
									   [MEASURE_CONTAINED] = " of shingles ",
									   [MEASURE_CONTAINS] = " in shingles "};

/* ---- Values ------------------------------------------------------------- */

/* Returns what an index takes for the signature of a set. */
Signature
signature_of_set(Shingles *set)
{
	Signature signature = {.header = {.version = set->version,
									  .flags = SIGNATURE_SET,
									  .k = SET_SYMBOLS,
									  .scheme = set->scheme},
						   .cardinality = set->count,
						   .symbols = (const uint8_t *) set->element};

	if (set->count == 0)
		signature.header.flags |= SIGNATURE_EMPTY;
	return signature;
}

/* Reads the centre of a ball around a set.  Returns false if the header is not of such a ball. */
static bool
read_set(Ball *ball, const void *bytes, size_t size)
{
	void *copy;

	if (ball->header.measure > lengthof(measures) || ball->header.radius != 0 ||
		!(ball->header.threshold > 0 && ball->header.threshold <= 1) ||
		size < offsetof(Shingles, element))
		return false;
	copy = palloc(size);
	memcpy(copy, bytes, size);
	/* Its length may be crafted. */
	SET_VARSIZE(copy, size);
	ball->set = shingles_of_datum(PointerGetDatum(copy));
	ball->centre = signature_of_set(ball->set);
	return true;
}

/*
 * Reads a value of this recipe or a later one.  It is an error if header, centre and size
 * do not agree.
 */
static Ball
ball_of_any_bytes(const void *bytes, size_t size)
{
	const char *centre = (const char *) bytes + sizeof(BallHeader);
	Ball ball = {.set = NULL};

	if (size > sizeof(BallHeader))
	{
		size -= sizeof(BallHeader);
		memcpy(&ball.header, bytes, sizeof(BallHeader));
		if (ball.header.measure == 0)
			ball.centre = signature_of_any_bytes(centre, size);
		if (ball.header.measure > 0 ?
				read_set(&ball, centre, size) :
				ball.header.radius >= 0 && ball.header.radius <= ball.centre.header.k)
			return ball;
	}
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ball value is corrupt")));
}

/* Reads a datum.  Makes a copy only if it is toasted. */
static Ball
ball_of_any(Datum datum)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);

	return ball_of_any_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

/*
 * Reads a datum that is to be compared; makes a copy only if it is toasted.  It is an error if
 * the value is of a later recipe, or if header, centre and size do not agree.
 */
Ball
ball_of_datum(Datum datum)
{
	Ball ball = ball_of_any(datum);

	signature_check_recipe(&ball.centre.header, NULL);
	return ball;
}

/*
 * Sets the header of a value whose centre is set.  A threshold other than 0 determines the
 * radius.  Returns false if an error was saved in the context.
 */
static bool
ball_finish(struct varlena *value, double threshold, int radius, Node *context)
{
	Signature centre = signature_read(VARDATA(value) + sizeof(BallHeader));
	BallHeader header = {.threshold = threshold, .radius = radius, .measure = 0};

	/* The recipe determines the radius of a threshold. */
	if (!signature_check_recipe(&centre.header, context))
		return false;
	if (threshold == 0)
	{
		/* It may be a negative zero. */
		header.threshold = 0;
		if (!check_distance(&centre.header, radius, context))
			return false;
	}
	else
	{
		if (!check_threshold(threshold, context))
			return false;
		header.radius = signature_radius(&centre.header, threshold);
	}
	memcpy(VARDATA(value), &header, sizeof(header));
	return true;
}

/*
 * Makes a ball.  A threshold other than 0 determines the radius.  It is an error if
 * threshold or radius is out of range.
 */
static struct varlena *
ball_around(const Signature *centre, double threshold, int radius)
{
	struct varlena *value = signature_value(centre, sizeof(BallHeader));

	ball_finish(value, threshold, radius, NULL);
	return value;
}

/* near(minhash, threshold float8) returns ball; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_near);
Datum
neardup_near(PG_FUNCTION_ARGS)
{
	Signature centre = PG_GETARG_SIGNATURE(0);
	double threshold = PG_GETARG_FLOAT8(1);

	check_threshold(threshold, NULL);
	PG_RETURN_POINTER(ball_around(&centre, threshold, 0));
}

/* Makes a ball around a set. */
static Datum
ball_around_set(Datum datum, Measure measure, double threshold)
{
	Shingles *set = shingles_of_datum(datum);
	BallHeader header = {.threshold = threshold, .measure = measure + 1};
	Size size = VARHDRSZ + sizeof(header) + VARSIZE(set);
	struct varlena *value;

	check_threshold(threshold, NULL);
	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("set of %zu shingles is too large", (size_t) set->count),
				 errhint("Divide the text into parts, or make a minhash of it.")));
	value = palloc(size);
	SET_VARSIZE(value, size);
	memcpy(VARDATA(value), &header, sizeof(header));
	memcpy(VARDATA(value) + sizeof(header), set, VARSIZE(set));
	return PointerGetDatum(value);
}

/* near(shingles, threshold float8) returns ball */
PG_FUNCTION_INFO_V1(neardup_near_shingles);
Datum
neardup_near_shingles(PG_FUNCTION_ARGS)
{
	return ball_around_set(PG_GETARG_DATUM(0), MEASURE_RESEMBLANCE, PG_GETARG_FLOAT8(1));
}

/* holding(shingles, threshold float8) returns ball */
PG_FUNCTION_INFO_V1(neardup_holding);
Datum
neardup_holding(PG_FUNCTION_ARGS)
{
	return ball_around_set(PG_GETARG_DATUM(0), MEASURE_CONTAINED, PG_GETARG_FLOAT8(1));
}

/* held_in(shingles, threshold float8) returns ball */
PG_FUNCTION_INFO_V1(neardup_held_in);
Datum
neardup_held_in(PG_FUNCTION_ARGS)
{
	return ball_around_set(PG_GETARG_DATUM(0), MEASURE_CONTAINS, PG_GETARG_FLOAT8(1));
}

/* hamming_ball(minhash, distance int) returns ball; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_hamming_ball);
Datum
neardup_hamming_ball(PG_FUNCTION_ARGS)
{
	Signature centre = PG_GETARG_SIGNATURE(0);

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

/* ---- Operators ----------------------------------------------------------
 *
 * Functions that take a signature and a ball are LEAKPROOF: PostgreSQL calls them with rows
 * that a policy hides.  So no value may make them throw an error.  A signature of another
 * kind, shape, scheme or recipe version than the centre is in no ball around it.
 */

/* Returns whether a signature is in a ball. */
static bool
ball_holds(Datum datum, const Signature *signature)
{
	Ball ball = ball_of_any(datum);

	return ball.set == NULL && ball.centre.header.version == RECIPE_VERSION &&
		signature_comparable(&signature->header, &ball.centre.header) &&
		signature_near(signature, &ball.centre, ball.header.radius);
}

/* Returns whether a set is in a ball.  One of another recipe or scheme than the centre is not. */
static bool
ball_holds_set(Datum datum, Datum set)
{
	Ball ball = ball_of_any(datum);
	Shingles *shingles = shingles_of_datum(set);
	Bag centre;
	Bag bag = shingles_bag(shingles);

	if (ball.set == NULL || ball.set->version != shingles->version ||
		ball.set->scheme != shingles->scheme)
		return false;
	centre = shingles_bag(ball.set);
	return bag_is_similar(&centre, &bag, ball_measure(&ball), ball.header.threshold);
}

/* in_ball(shingles, ball) returns boolean */
PG_FUNCTION_INFO_V1(neardup_in_ball_shingles);
Datum
neardup_in_ball_shingles(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ball_holds_set(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
}

/* in_ball(minhash, ball) returns boolean; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_in_ball);
Datum
neardup_in_ball(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(1), &signature));
}

/* Returns true if each ball holds the centre of the other. */
PG_FUNCTION_INFO_V1(neardup_balls_meet);
Datum
neardup_balls_meet(PG_FUNCTION_ARGS)
{
	Ball x = PG_GETARG_BALL(0);
	Ball y = PG_GETARG_BALL(1);

	if (x.set != NULL && y.set != NULL)
	{
		Datum of_x = PointerGetDatum(x.set);
		Datum of_y = PointerGetDatum(y.set);

		check_same_recipe(x.set->version, x.set->scheme, y.set->version, y.set->scheme);
		PG_RETURN_BOOL(ball_holds_set(PG_GETARG_DATUM(0), of_y) &&
					   ball_holds_set(PG_GETARG_DATUM(1), of_x));
	}
	PG_RETURN_BOOL(signature_within(&x.centre, &y.centre, Min(x.header.radius, y.header.radius)));
}

/* ---- The same for bit(n) and bigint ------------------------------------- */

/* hamming_ball(bit, distance int) returns ball */
PG_FUNCTION_INFO_V1(neardup_hamming_ball_bit);
Datum
neardup_hamming_ball_bit(PG_FUNCTION_ARGS)
{
	Signature centre = signature_of_bit(PG_GETARG_DATUM(0));

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

/* hamming_ball(bigint, distance int) returns ball */
PG_FUNCTION_INFO_V1(neardup_hamming_ball_bigint);
Datum
neardup_hamming_ball_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature centre = signature_of_int8(PG_GETARG_DATUM(0), &bits);

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

/* in_ball(bit, ball) returns boolean */
PG_FUNCTION_INFO_V1(neardup_in_ball_bit);
Datum
neardup_in_ball_bit(PG_FUNCTION_ARGS)
{
	Signature signature;

	PG_RETURN_BOOL(signature_read_bit(PG_GETARG_DATUM(0), &signature) &&
				   ball_holds(PG_GETARG_DATUM(1), &signature));
}

/* in_ball(bigint, ball) returns boolean */
PG_FUNCTION_INFO_V1(neardup_in_ball_bigint);
Datum
neardup_in_ball_bigint(PG_FUNCTION_ARGS)
{
	uint64 bits;
	Signature signature = signature_of_int8(PG_GETARG_DATUM(0), &bits);

	PG_RETURN_BOOL(ball_holds(PG_GETARG_DATUM(1), &signature));
}

/* ---- Text format -------------------------------------------------------- */

/* Returns a ball in text format. */
static char *
ball_text(const Ball *ball)
{
	char threshold[DOUBLE_SHORTEST_DECIMAL_LEN];
	FormWriter out = {0};

	if (ball->header.threshold == 0)
		form_put_text(&out, "%d" SYMBOLS, ball->header.radius);
	else
	{
		/* float8out would depend on extra_float_digits. */
		double_to_shortest_decimal_buf(ball->header.threshold, threshold);
		form_put_text(&out, "%s", threshold);
	}
	if (ball->set != NULL)
		return psprintf("%.*s%s%s", (int) out.length, out.bytes, measures[ball_measure(ball)],
						shingles_text(ball->set));
	form_put_text(&out, AROUND "%s ", signature_type_name(ball->centre.header.flags));
	signature_print(&out, &ball->centre);
	return out.bytes;
}

/* ball_out(ball) returns cstring */
PG_FUNCTION_INFO_V1(neardup_ball_out);
Datum
neardup_ball_out(PG_FUNCTION_ARGS)
{
	Ball ball = ball_of_any(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(ball_text(&ball));
}

/*
 * Reads "THRESHOLD" or "DISTANCE symbols", length bytes in front of AROUND, and sets the
 * one that it is.
 */
static bool
read_extent(FunctionCallInfo fcinfo, FormReader *reader, size_t length, double *threshold,
			int *radius)
{
	char *extent = pnstrdup(reader->at, length);
	char *symbols = strstr(extent, SYMBOLS);
	bool is_distance = symbols != NULL && symbols[strlen(SYMBOLS)] == '\0';
	char *end;
	double number;

	if (is_distance)
		*symbols = '\0';
	number = strtod(extent, &end);
	if (*extent == '\0' || isspace((unsigned char) *extent) || *end != '\0')
		return read_invalid(reader, "Expected a number before \"around\".");
	if (!is_distance)
	{
		*threshold = number;
		return check_threshold(number, fcinfo->context);
	}
	if (!(number >= 0 && number <= MINHASH_K_MAX && number == floor(number)))
		return read_invalid(reader,
							"The number of symbols must be a whole number from 0 to 16384.");
	*radius = (int) number;
	return true;
}

/* Reads "minhash " or "simhash ". */
static bool
read_kind(FormReader *reader, uint8 *kind)
{
	static const uint8 kinds[] = {SIGNATURE_MINHASH, SIGNATURE_SIMHASH};

	for (int i = 0; i < lengthof(kinds); i++)
	{
		const char *name = signature_type_name(kinds[i]);
		size_t length = strlen(name);

		if (strncmp(reader->at, name, length) == 0 && reader->at[length] == ' ')
		{
			reader->at += length + 1;
			*kind = kinds[i];
			return true;
		}
	}
	return read_expected(reader, "Expected \"minhash\" or \"simhash\"");
}

/*
 * Reads a ball around a set: "THRESHOLD around shingles SET", or "of" or "in" for "around".
 * Returns false if the text is of another kind.
 */
static bool
read_set_ball(FunctionCallInfo fcinfo, FormReader *reader, Datum *result)
{
	for (int i = 0; i < lengthof(measures); i++)
	{
		const char *name = strstr(reader->input, measures[i]);
		Shingles *set = NULL;
		double threshold = 0;
		int radius = 0;

		if (name == NULL)
			continue;
		*result = (Datum) 0;
		if (read_extent(fcinfo, reader, name - reader->input, &threshold, &radius) &&
			(threshold != 0 || check_threshold(0, fcinfo->context)))
		{
			reader->at = name + strlen(measures[i]);
			set = shingles_parse(reader);
		}
		if (set == NULL)
			*result = text_refuse(fcinfo, reader, "ball");
		else
			*result = ball_around_set(PointerGetDatum(set), (Measure) i, threshold);
		return true;
	}
	return false;
}

/* ball_in(cstring) returns ball */
PG_FUNCTION_INFO_V1(neardup_ball_in);
Datum
neardup_ball_in(PG_FUNCTION_ARGS)
{
	FormReader reader = text_reader(fcinfo);
	const char *around = strstr(reader.input, AROUND);
	Datum set_ball;
	double threshold = 0;
	int radius = 0;
	uint8 kind = SIGNATURE_MINHASH;
	Signature centre;
	struct varlena *value;

	if (read_set_ball(fcinfo, &reader, &set_ball))
		return set_ball;
	if (around == NULL)
	{
		read_invalid(&reader,
					 "Expected \"THRESHOLD around KIND SIGNATURE\" or "
					 "\"DISTANCE symbols around KIND SIGNATURE\".");
		return text_refuse(fcinfo, &reader, "ball");
	}
	if (!read_extent(fcinfo, &reader, around - reader.input, &threshold, &radius))
		return text_refuse(fcinfo, &reader, "ball");
	reader.at = around + strlen(AROUND);
	if (!read_kind(&reader, &kind) || !signature_parse(&reader, kind, &centre))
		return text_refuse(fcinfo, &reader, "ball");
	value = signature_value(&centre, sizeof(BallHeader));
	if (!ball_finish(value, threshold, radius, fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(value);
}

/* ---- Binary format ------------------------------------------------------ */

/* ball_send(ball) returns bytea */
PG_FUNCTION_INFO_V1(neardup_ball_send);
Datum
neardup_ball_send(PG_FUNCTION_ARGS)
{
	Ball ball = ball_of_any(PG_GETARG_DATUM(0));
	FormWriter out;
	uint64 threshold;

	memcpy(&threshold, &ball.header.threshold, sizeof(threshold));
	send_begin(&out);
	form_put_number(&out, threshold, 8);
	form_put_number(&out,
					ball.set == NULL ? ball.header.radius :
									   PG_INT32_MIN + (int) ball_measure(&ball),
					4);
	if (ball.set != NULL)
		shingles_put(&out, ball.set);
	else
		signature_send(&out, &ball.centre);
	PG_RETURN_BYTEA_P(send_end(&out));
}

/* ball_recv(internal) returns ball */
PG_FUNCTION_INFO_V1(neardup_ball_recv);
Datum
neardup_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo in = (StringInfo) PG_GETARG_POINTER(0);
	double threshold = pq_getmsgfloat8(in);
	int32 radius = (int32) pq_getmsgint(in, 4);
	Signature centre;
	struct varlena *value;
	Ball ball;

	if (radius < PG_INT32_MIN + (int) lengthof(measures))
		return ball_around_set(DirectFunctionCall1(neardup_shingles_recv, PointerGetDatum(in)),
							   (Measure) (radius - PG_INT32_MIN), threshold);
	centre = signature_of_message(in, SIGNATURE_ANY_KIND);
	value = signature_value(&centre, sizeof(BallHeader));
	ball_finish(value, threshold, radius, NULL);
	ball = ball_of_datum(PointerGetDatum(value));
	if (ball.header.radius != radius)
		binary_invalid("ball",
					   psprintf("Its radius is %d, but its threshold gives %d.", radius,
								ball.header.radius));
	PG_RETURN_POINTER(value);
}
