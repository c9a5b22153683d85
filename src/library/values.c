/*
 * values.c: reading, writing and comparing values.
 */
#include "library/session.h"

#include "compare/compare.h"

/* ---- Reading ------------------------------------------------------------ */

/* Returns a reader of bytes; of a text they end in a zero. */
FormReader
reader_of(const void *bytes, size_t length)
{
	const char *at = bytes;

	return (FormReader){.at = at, .input = at, .end = at + length};
}

/* Fails with what a reader has found. */
static _Noreturn void
refuse(const FormReader *reader, neardup_kind kind)
{
	static const char *const names[] = {"value", "minhash", "simhash", "set of shingles",
										"lexicon"};

	session_fail(NEARDUP_MALFORMED, "this is no %s: %s", names[kind],
				 reader->cut ? "Its end is missing." : reader->defect);
}

/* Returns the flags of a kind of signature; fails for any other kind. */
static uint8_t
flags_of(neardup_kind kind)
{
	if (kind != NEARDUP_MINHASH && kind != NEARDUP_SIMHASH)
		session_fail(NEARDUP_INVALID, "kind %d is not allowed here", (int) kind);
	return kind == NEARDUP_MINHASH ? SIGNATURE_MINHASH : SIGNATURE_SIMHASH;
}

/* Reads a signature in binary format.  Its symbols are a copy. */
Signature
signature_of_bytes(neardup_kind kind, const void *bytes, size_t length)
{
	FormReader reader = reader_of(bytes, length);
	Signature signature;

	if (!signature_receive(&reader, flags_of(kind), &signature))
		refuse(&reader, kind);
	if (reader.at != reader.end)
	{
		read_invalid(&reader, "There are bytes behind it.");
		refuse(&reader, kind);
	}
	return signature;
}

/* Reads a set in binary format. */
Bag
bag_of_bytes(const void *bytes, size_t length, uint8_t *version, SchemeId *scheme)
{
	FormReader reader = reader_of(bytes, length);
	Bag bag;

	if (!bag_receive(&reader, version, scheme, &bag))
		refuse(&reader, NEARDUP_SHINGLES);
	return bag;
}

/* ---- Text and binary format --------------------------------------------- */

neardup_code
neardup_parse(neardup_session *session, neardup_kind kind, const char *text, neardup_bytes *value)
{
	FormReader reader = reader_of(text, strlen(text));
	FormWriter writer = {0};
	Signature signature;
	uint8_t version;
	SchemeId scheme;
	Bag bag;

	SESSION_BEGIN(session);
	if (kind == NEARDUP_SHINGLES)
	{
		if (!bag_parse(&reader, &version, &scheme, &bag))
			refuse(&reader, kind);
		bag_send(&writer, version, scheme, &bag);
		bag_free(&bag);
	}
	else
	{
		if (!signature_parse(&reader, flags_of(kind), &signature))
			refuse(&reader, kind);
		signature_send(&writer, &signature);
		host_free((void *) signature.symbols);
	}
	*value = (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
	return session_end();
}

neardup_code
neardup_print(neardup_session *session, neardup_kind kind, const void *value, size_t length,
			  neardup_bytes *text)
{
	FormWriter writer = {0};
	Signature signature;
	uint8_t version;
	SchemeId scheme;
	Bag bag;

	SESSION_BEGIN(session);
	if (kind == NEARDUP_SHINGLES)
	{
		bag = bag_of_bytes(value, length, &version, &scheme);
		bag_print(&writer, version, scheme, &bag);
		bag_free(&bag);
	}
	else
	{
		signature = signature_of_bytes(kind, value, length);
		signature_print(&writer, &signature);
		host_free((void *) signature.symbols);
	}
	*text = (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
	return session_end();
}

/* ---- Comparing ---------------------------------------------------------- */

/* Fails unless two signatures are comparable, and of this recipe version. */
void
check_comparable(const SignatureHeader *x, const SignatureHeader *y)
{
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

/* Returns the header that stands for the recipe and scheme of a set. */
SignatureHeader
header_of_set(uint8_t version, SchemeId scheme)
{
	return (SignatureHeader){.version = version, .flags = SIGNATURE_SET, .scheme = scheme};
}

/* Compares two signatures. */
static neardup_comparison
compare_signatures(const Signature *x, const Signature *y)
{
	neardup_comparison result = {.distance = signature_differing(x, y)};

	if (!signature_is_empty(x) && !signature_is_empty(y))
		result.similarity = signature_similarity(&x->header, result.distance);
	return result;
}

neardup_code
neardup_compare(neardup_session *session, neardup_kind kind, const void *x, size_t length_x,
				const void *y, size_t length_y, neardup_comparison *comparison)
{
	SESSION_BEGIN(session);
	if (kind == NEARDUP_SHINGLES)
	{
		uint8_t version[2];
		SchemeId scheme[2];
		Bag a = bag_of_bytes(x, length_x, &version[0], &scheme[0]);
		Bag b = bag_of_bytes(y, length_y, &version[1], &scheme[1]);
		SignatureHeader of_a = header_of_set(version[0], scheme[0]);
		SignatureHeader of_b = header_of_set(version[1], scheme[1]);

		check_comparable(&of_a, &of_b);
		*comparison = (neardup_comparison){.similarity = bag_resemblance(&a, &b),
										   .containment = bag_containment(&a, &b),
										   .weighted = bag_weighted_resemblance(&a, &b)};
		bag_free(&a);
		bag_free(&b);
	}
	else
	{
		Signature a = signature_of_bytes(kind, x, length_x);
		Signature b = signature_of_bytes(kind, y, length_y);

		check_comparable(&a.header, &b.header);
		*comparison = compare_signatures(&a, &b);
		host_free((void *) a.symbols);
		host_free((void *) b.symbols);
	}
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
	pair_free(&pair);
	return session_end();
}
