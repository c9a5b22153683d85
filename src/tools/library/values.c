/*
 * values.c: reading, writing and comparing values.
 */
#include "library/session.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compare/compare.h"

/* ---- Reading and writing ------------------------------------------------ */

/* Reads a value in binary format or as text; notes in the reader what is wrong. */
static bool
read_parts(FormReader *reader, bool text, Value *value)
{
	SignatureHeader *header = &value->signature.header;
	uint8_t flags = value->kind == NEARDUP_MINHASH ? SIGNATURE_MINHASH : SIGNATURE_SIMHASH;

	switch (value->kind)
	{
		case NEARDUP_MINHASH:
		case NEARDUP_SIMHASH:
			return (text ? signature_parse : signature_receive)(reader, flags, &value->signature);
		case NEARDUP_SHINGLES:
			header->flags = SIGNATURE_SET;
			return (text ? bag_parse : bag_receive)(reader, &header->version, &header->scheme,
													&value->bag);
		case NEARDUP_LEXICON:
			return (text ? lexicon_parse : lexicon_receive)(reader, &value->lexicon);
	}
	session_fail(NEARDUP_INVALID, "there is no kind %d of values", (int) value->kind);
}

/* Returns a value of a text, which ends in a zero byte, or of bytes in binary format. */
Value
value_read(neardup_kind kind, const void *bytes, size_t length, bool text)
{
	static const char *const names[] = {"value", "minhash", "simhash", "set of shingles",
										"lexicon"};
	Value value = {.kind = kind};
	FormReader reader = {.at = bytes, .input = bytes, .end = (const char *) bytes + length};
	bool valid = read_parts(&reader, text, &value);

	if (valid && !text && reader.at != reader.end)
		valid = read_invalid(&reader, "There are bytes behind it.");
	if (!valid || reader.cut)
		session_fail(NEARDUP_MALFORMED, "this is no %s: %s", names[kind],
					 reader.cut ? "Its end is missing." : reader.defect);
	return value;
}

/* Returns the bytes of a value, which are the caller's, as text or in binary format. */
neardup_bytes
value_write(const Value *value, bool text)
{
	const SignatureHeader *header = &value->signature.header;
	FormWriter writer = {0};

	if (value->kind == NEARDUP_LEXICON)
		(text ? lexicon_print : lexicon_send)(&writer, &value->lexicon);
	else if (value->kind == NEARDUP_SHINGLES)
		(text ? bag_print : bag_send)(&writer, header->version, header->scheme, &value->bag);
	else
		(text ? signature_print : signature_send)(&writer, &value->signature);
	*form_extend(&writer, 1) = '\0';
	session_keep(writer.bytes);
	return (neardup_bytes){(uint8_t *) writer.bytes, writer.length - 1};
}

neardup_code
neardup_parse(neardup_session *session, neardup_kind kind, const char *text, neardup_bytes *bytes)
{
	Value value;

	SESSION_BEGIN(session);
	value = value_read(kind, text, strlen(text), true);
	*bytes = value_write(&value, false);
	return session_end();
}

neardup_code
neardup_print(neardup_session *session, neardup_kind kind, const void *bytes, size_t length,
			  neardup_bytes *text)
{
	Value value;

	SESSION_BEGIN(session);
	value = value_read(kind, bytes, length, false);
	*text = value_write(&value, true);
	return session_end();
}

/* ---- Comparing ---------------------------------------------------------- */

/* Fails unless a threshold is valid. */
void
session_check_threshold(double threshold)
{
	if (!(threshold > 0 && threshold <= 1))
		session_fail(NEARDUP_INVALID, "the threshold must be above 0, and at most 1");
}

/* Returns whether a value is similar to none. */
bool
value_is_empty(const Value *value)
{
	return value->kind == NEARDUP_SHINGLES ? value->bag.count == 0 :
											 signature_is_empty(&value->signature);
}

/* Fails unless a value is comparable with those that have a header, and of this recipe version. */
void
check_comparable(const Value *value, const SignatureHeader *y)
{
	const SignatureHeader *x = &value->signature.header;
	char name_x[SCHEME_NAME_SIZE];
	char name_y[SCHEME_NAME_SIZE];

	if (x->version != RECIPE_VERSION)
		session_fail(NEARDUP_MISMATCH, "cannot use a value of recipe version %d", x->version);
	if (signature_comparable(x, y))
		return;
	scheme_name(x->scheme, name_x);
	scheme_name(y->scheme, name_y);
	session_fail(NEARDUP_MISMATCH,
				 "cannot compare %s(%d, %d) of scheme \"%s\" (recipe %d) with %s(%d, %d) of scheme \"%s\" (recipe %d)",
				 signature_type_name(x->flags), x->k, signature_bits(x), name_x, x->version,
				 signature_type_name(y->flags), y->k, signature_bits(y), name_y, y->version);
}

neardup_code
neardup_compare(neardup_session *session, neardup_kind kind, const void *x, size_t length_x,
				const void *y, size_t length_y, neardup_comparison *comparison)
{
	Value a;
	Value b;

	SESSION_BEGIN(session);
	a = value_read(kind, x, length_x, false);
	b = value_read(kind, y, length_y, false);
	check_comparable(&a, &b.signature.header);
	if (kind == NEARDUP_SHINGLES)
		*comparison =
			(neardup_comparison){.similarity =
									 bag_similarity(&a.bag, &b.bag, MEASURE_RESEMBLANCE, false),
								 .containment =
									 bag_similarity(&a.bag, &b.bag, MEASURE_CONTAINED, false),
								 .weighted =
									 bag_similarity(&a.bag, &b.bag, MEASURE_RESEMBLANCE, true)};
	else
	{
		int distance = signature_differing(&a.signature, &b.signature);
		bool empty = value_is_empty(&a) || value_is_empty(&b);

		*comparison = (neardup_comparison){.distance = distance,
										   .similarity = empty ?
											   0 :
											   signature_similarity(&a.signature.header, distance)};
	}
	return session_end();
}

/* ---- Symbols -------------------------------------------------------------- */

/* Returns the block of a value, which has the right length. */
uint32_t
value_block(neardup_kind kind, const uint8_t *value, size_t length, uint32_t blocks)
{
	size_t at = NEARDUP_SYMBOLS_AT(kind);

	if (length < at)
		session_fail(NEARDUP_MALFORMED, "this is no value: its end is missing");
	length -= at;
	if (kind == NEARDUP_SHINGLES)
	{
		size_t count = (size_t) value[8] << 24 | value[9] << 16 | value[10] << 8 | value[11];

		/* Frequencies may follow, which equal sets need not share. */
		length = Min(length, count * sizeof(int64_t));
	}
	return XXH3_64bits(value + at, length) % blocks;
}

/* Returns the bytes of a value, which are valid until the next call. */
const uint8_t *
value_bytes(const neardup_values *values, size_t row, size_t *length)
{
	size_t number = value_position(values, row);
	bool varies = values->offset != NULL;
	uint64_t start = varies ? values->offset[number] : number * values->size;
	uint64_t end = varies ? values->offset[number + 1] : start + values->size;
	const uint8_t *value = values->bytes != NULL ? values->bytes + start : NULL;

	*length = end - start;
	if (values->read != NULL && !values->read(values->state, number, &value, length))
		session_fail(NEARDUP_NO_FILE, "value %zu could not be read", number);
	return value;
}

neardup_code
neardup_blocks(neardup_session *session, const neardup_values *values, uint32_t blocks,
			   uint32_t *block)
{
	SESSION_BEGIN(session);
	if (blocks == 0 || values->kind < NEARDUP_MINHASH || values->kind > NEARDUP_SHINGLES)
		session_fail(NEARDUP_INVALID, "values of kind %d have no %u blocks", (int) values->kind,
					 blocks);
	for (size_t i = 0; i < values->count; i++)
	{
		size_t length;
		const uint8_t *value = value_bytes(values, i, &length);

		host_check_interrupts_at(i);
		block[i] = value_block(values->kind, value, length, blocks);
	}
	return session_end();
}

neardup_code
neardup_radius(neardup_session *session, neardup_kind kind, int k, int b, double threshold,
			   int *radius)
{
	bool minhash = kind == NEARDUP_MINHASH;

	SESSION_BEGIN(session);
	if (minhash ? !minhash_shape_is_valid(k, b) :
				  kind != NEARDUP_SIMHASH || b != 1 || !simhash_shape_is_valid(k))
		session_fail(NEARDUP_INVALID, "there are no signatures of this kind and shape");
	session_check_threshold(threshold);
	*radius = minhash ? minhash_radius(k, b, threshold) : simhash_radius(k, threshold);
	return session_end();
}

neardup_code
neardup_edit_distance(neardup_session *session, const char *x, size_t length_x, const char *y,
					  size_t length_y, int64_t *distance)
{
	SequencePair pair;

	SESSION_BEGIN(session);
	if (!pair_of_characters(x, length_x, y, length_y, &pair))
		session_fail(NEARDUP_TOO_LARGE, "the texts are too long to compare");
	*distance = edit_distance(&pair, (EditCosts){1, 1, 1}, EDIT_UNBOUNDED);
	return session_end();
}
