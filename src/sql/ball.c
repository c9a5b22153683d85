/*
 * ball.c: the types minhash_ball and simhash_ball.
 *
 * Text: "0.9 around SIGNATURE" or "60 symbols around SIGNATURE".
 * Binary: the threshold (float8; 0 where the radius was given), the radius
 * (int4), the signature.
 */
#include "sql/ball.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#define AROUND " around "
#define SYMBOLS " symbols"

/* ---- Values ------------------------------------------------------------- */

Ball
ball_of_any_bytes(const void *bytes, size_t size)
{
	Ball ball;

	if (size > sizeof(BallHeader))
	{
		memcpy(&ball.header, bytes, sizeof(BallHeader));
		ball.centre = signature_of_any_bytes((const char *) bytes + sizeof(BallHeader),
											 size - sizeof(BallHeader));
		if (ball.header.radius >= 0 && ball.header.radius <= ball.centre.header.k &&
			ball.header.reserved == 0)
			return ball;
	}
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ball value is corrupt")));
}

Ball
ball_of_any(Datum datum)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);

	return ball_of_any_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

Ball
ball_of_datum(Datum datum)
{
	Ball ball = ball_of_any(datum);

	signature_check_recipe(&ball.centre.header);
	return ball;
}

/*
 * Fill in the header of a value that holds its centre already.  A threshold
 * other than 0 gives the radius.  What decides is checked.
 */
static struct varlena *
ball_finish(struct varlena *value, double threshold, int radius)
{
	Signature centre = signature_of_any_bytes(VARDATA(value) + sizeof(BallHeader),
											  VARSIZE(value) - VARHDRSZ - sizeof(BallHeader));
	BallHeader header;

	/* What radius a threshold means is the recipe's to say. */
	signature_check_recipe(&centre.header);
	memset(&header, 0, sizeof(header));
	if (threshold != 0)
	{
		check_threshold(threshold);
		radius = signature_radius(&centre.header, threshold);
		header.threshold = threshold;
	}
	else
		check_distance(&centre.header, radius);
	header.radius = radius;
	memcpy(VARDATA(value), &header, sizeof(header));
	return value;
}

struct varlena *
ball_around(const Signature *centre, double threshold, int radius)
{
	uint8 *symbols;
	struct varlena *value =
		signature_new(&centre->header, centre->cardinality, sizeof(BallHeader), &symbols);

	memcpy(symbols, centre->symbols, signature_symbol_bytes(&centre->header));
	return ball_finish(value, threshold, radius);
}

PG_FUNCTION_INFO_V1(neardup_near);
Datum
neardup_near(PG_FUNCTION_ARGS)
{
	Signature centre = PG_GETARG_SIGNATURE(0);
	double threshold = PG_GETARG_FLOAT8(1);

	check_threshold(threshold);
	PG_RETURN_POINTER(ball_around(&centre, threshold, 0));
}

PG_FUNCTION_INFO_V1(neardup_hamming_ball);
Datum
neardup_hamming_ball(PG_FUNCTION_ARGS)
{
	Signature centre = PG_GETARG_SIGNATURE(0);

	PG_RETURN_POINTER(ball_around(&centre, 0, PG_GETARG_INT32(1)));
}

/* ---- Operators ---------------------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_signature_in_ball);
Datum
neardup_signature_in_ball(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_SIGNATURE(0);
	Ball ball = PG_GETARG_BALL(1);

	PG_RETURN_BOOL(signature_within(&signature, &ball.centre, ball.header.radius));
}

PG_FUNCTION_INFO_V1(neardup_ball_contains);
Datum
neardup_ball_contains(PG_FUNCTION_ARGS)
{
	Ball ball = PG_GETARG_BALL(0);
	Signature signature = PG_GETARG_SIGNATURE(1);

	PG_RETURN_BOOL(signature_within(&ball.centre, &signature, ball.header.radius));
}

/* Does each ball hold the other's centre? */
PG_FUNCTION_INFO_V1(neardup_balls_meet);
Datum
neardup_balls_meet(PG_FUNCTION_ARGS)
{
	Ball x = PG_GETARG_BALL(0);
	Ball y = PG_GETARG_BALL(1);

	PG_RETURN_BOOL(signature_within(&x.centre, &y.centre, Min(x.header.radius, y.header.radius)));
}

static int
compare_balls(struct varlena *x, struct varlena *y)
{
	Ball a = ball_of_any_bytes(VARDATA_ANY(x), VARSIZE_ANY_EXHDR(x));
	Ball b = ball_of_any_bytes(VARDATA_ANY(y), VARSIZE_ANY_EXHDR(y));

	if (a.header.threshold != b.header.threshold)
		return a.header.threshold < b.header.threshold ? -1 : 1;
	if (a.header.radius != b.header.radius)
		return a.header.radius < b.header.radius ? -1 : 1;
	return signature_compare(&a.centre, &b.centre);
}

COMPARISON_FUNCTIONS(neardup_ball, compare_balls);

/* ---- Text form ---------------------------------------------------------- */

static char *
ball_text(const Ball *ball)
{
	char threshold[DOUBLE_SHORTEST_DECIMAL_LEN];
	StringInfoData out;

	initStringInfo(&out);
	if (ball->header.threshold == 0)
		appendStringInfo(&out, "%d" SYMBOLS, ball->header.radius);
	else
	{
		/* Not float8out, whose digits depend on a setting. */
		double_to_shortest_decimal_buf(ball->header.threshold, threshold);
		appendStringInfoString(&out, threshold);
	}
	appendStringInfoString(&out, AROUND);
	signature_print(&out, &ball->centre);
	return out.data;
}

PG_FUNCTION_INFO_V1(neardup_ball_out);
Datum
neardup_ball_out(PG_FUNCTION_ARGS)
{
	Ball ball = ball_of_any(PG_GETARG_DATUM(0));

	PG_RETURN_CSTRING(ball_text(&ball));
}

static struct varlena *
ball_parse(uint8 kind, const char *type, const char *input)
{
	const char *around = strstr(input, AROUND);
	char *extent;
	char *symbols;
	char *end;
	double number;
	struct varlena *value;

	if (around == NULL)
		malformed_text(type, input,
					   "Expected \"THRESHOLD around SIGNATURE\" or \"DISTANCE symbols around SIGNATURE\".");
	extent = pnstrdup(input, around - input);
	symbols = strstr(extent, SYMBOLS);
	if (symbols != NULL && symbols[strlen(SYMBOLS)] == '\0')
		*symbols = '\0';
	else
		symbols = NULL;
	number = strtod(extent, &end);
	if (*extent == '\0' || isspace((unsigned char) *extent) || *end != '\0')
		malformed_text(type, input, "What stands before \"around\" is not a number.");
	if (symbols != NULL && (number < 0 || number > MINHASH_K_MAX || number != floor(number)))
		malformed_text(type, input, "The number of symbols is not a whole number in range.");

	value = signature_parse(kind, around + strlen(AROUND), sizeof(BallHeader), type, input);
	if (symbols != NULL)
		return ball_finish(value, 0, (int) number);
	check_threshold(number);
	return ball_finish(value, number, 0);
}

PG_FUNCTION_INFO_V1(neardup_minhash_ball_in);
Datum
neardup_minhash_ball_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(ball_parse(SIGNATURE_MINHASH, "minhash_ball", PG_GETARG_CSTRING(0)));
}

PG_FUNCTION_INFO_V1(neardup_simhash_ball_in);
Datum
neardup_simhash_ball_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(ball_parse(SIGNATURE_SIMHASH, "simhash_ball", PG_GETARG_CSTRING(0)));
}

/* ---- Keys --------------------------------------------------------------- */

/*
 * The operator classes are for types of the same bytes, to which balls are
 * coercible.  Their text form is what the error of a violated constraint shows,
 * so it is short; it cannot be read back.
 */

/* Digits of the symbols that are shown; of 64 bits all. */
#define KEY_DIGITS 16

PG_FUNCTION_INFO_V1(neardup_ball_key_out);
Datum
neardup_ball_key_out(PG_FUNCTION_ARGS)
{
	Ball ball = ball_of_any(PG_GETARG_DATUM(0));
	char *text = ball_text(&ball);
	char *digits = strrchr(text, '/') + 1;

	if (strlen(digits) > KEY_DIGITS)
		strcpy(digits + KEY_DIGITS, "...");
	PG_RETURN_CSTRING(text);
}

static _Noreturn void
refuse_key(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot accept a value of an index key of balls"),
			 errdetail("Its text form is short and does not hold the whole ball."),
			 errhint("Use type minhash_ball or simhash_ball.")));
}

PG_FUNCTION_INFO_V1(neardup_ball_key_in);
Datum
neardup_ball_key_in(PG_FUNCTION_ARGS)
{
	refuse_key();
}

PG_FUNCTION_INFO_V1(neardup_ball_key_recv);
Datum
neardup_ball_key_recv(PG_FUNCTION_ARGS)
{
	refuse_key();
}

/* ---- Binary form -------------------------------------------------------- */

PG_FUNCTION_INFO_V1(neardup_ball_send);
Datum
neardup_ball_send(PG_FUNCTION_ARGS)
{
	Ball ball = ball_of_any(PG_GETARG_DATUM(0));
	StringInfoData out;

	pq_begintypsend(&out);
	pq_sendfloat8(&out, ball.header.threshold);
	pq_sendint32(&out, ball.header.radius);
	signature_send(&out, &ball.centre);
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}

static struct varlena *
ball_receive(uint8 kind, StringInfo in)
{
	double threshold = pq_getmsgfloat8(in);
	int32 radius = (int32) pq_getmsgint(in, 4);
	struct varlena *value = signature_receive(kind, in, sizeof(BallHeader));
	Ball ball = ball_of_datum(PointerGetDatum(ball_finish(value, threshold, radius)));

	if (ball.header.radius != radius)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary form of a ball"),
				 errdetail("Its radius is %d where its threshold gives %d.", radius,
						   ball.header.radius)));
	return value;
}

PG_FUNCTION_INFO_V1(neardup_minhash_ball_recv);
Datum
neardup_minhash_ball_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(ball_receive(SIGNATURE_MINHASH, (StringInfo) PG_GETARG_POINTER(0)));
}

PG_FUNCTION_INFO_V1(neardup_simhash_ball_recv);
Datum
neardup_simhash_ball_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(ball_receive(SIGNATURE_SIMHASH, (StringInfo) PG_GETARG_POINTER(0)));
}
