/*
 * signature_io.c: SQL functions of the text and binary format of minhash and simhash
 * (sketch/signature_forms.c).
 */
#include "types/signature_type.h"

#include "utils/builtins.h"

#include "types/read.h"

/* Bytes of symbols that show_signature() shows: all of a signature of 64 bits. */
#define SHOWN_SYMBOL_BYTES 8

/* Returns a new value of a signature, with room for prefix bytes in front. */
struct varlena *
signature_value(const Signature *signature, size_t prefix)
{
	uint8 *symbols;
	struct varlena *value =
		signature_new(&signature->header, signature->cardinality, prefix, &symbols);

	memcpy(symbols, signature->symbols, signature_symbol_bytes(&signature->header));
	return value;
}

/* minhash_out(minhash) returns cstring; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_out);
Datum
neardup_signature_out(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out = {0};

	signature_print(&out, &signature);
	PG_RETURN_CSTRING(out.bytes);
}

/* show_signature(minhash) returns text; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_show_signature);
Datum
neardup_show_signature(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out = {0};
	char *digits;

	signature_print(&out, &signature);
	digits = strrchr(out.bytes, '/') + 1;
	if (strlen(digits) > 2 * SHOWN_SYMBOL_BYTES)
		strcpy(digits + 2 * SHOWN_SYMBOL_BYTES, "...");
	PG_RETURN_TEXT_P(cstring_to_text(out.bytes));
}

/* minhash_send(minhash) returns bytea; the same for simhash */
PG_FUNCTION_INFO_V1(neardup_signature_send);
Datum
neardup_signature_send(PG_FUNCTION_ARGS)
{
	Signature signature = PG_GETARG_ANY_SIGNATURE(0);
	FormWriter out;

	send_begin(&out);
	signature_send(&out, &signature);
	PG_RETURN_BYTEA_P(send_end(&out));
}

/* The input function of a kind. */
static Datum
signature_in(FunctionCallInfo fcinfo, uint8 kind)
{
	FormReader reader = text_reader(fcinfo);
	Signature signature;

	if (!signature_parse(&reader, kind, &signature))
		return text_refuse(fcinfo, &reader, signature_type_name(kind));
	if (!signature_check_typmod(&signature.header, PG_GETARG_INT32(2), fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(signature_value(&signature, 0));
}

/* Reads a signature of a kind or of any from a message. */
Signature
signature_of_message(StringInfo message, uint8 kind)
{
	FormReader reader = message_reader(message);
	Signature signature;

	if (!signature_receive(&reader, kind, &signature))
		message_refuse(message, &reader,
					   signature_type_name(kind == SIGNATURE_ANY_KIND ? signature.header.flags :
																		kind));
	message_end(message, &reader);
	return signature;
}

/* The receive function of a kind. */
static Datum
signature_recv(FunctionCallInfo fcinfo, uint8 kind)
{
	Signature signature = signature_of_message((StringInfo) PG_GETARG_POINTER(0), kind);

	signature_check_typmod(&signature.header, PG_GETARG_INT32(2), NULL);
	PG_RETURN_POINTER(signature_value(&signature, 0));
}

/* minhash_in(cstring, oid, int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_in);
Datum
neardup_minhash_in(PG_FUNCTION_ARGS)
{
	return signature_in(fcinfo, SIGNATURE_MINHASH);
}

/* minhash_recv(internal, oid, int) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_recv);
Datum
neardup_minhash_recv(PG_FUNCTION_ARGS)
{
	return signature_recv(fcinfo, SIGNATURE_MINHASH);
}

/* minhash_of_bytea(bytea) returns minhash */
PG_FUNCTION_INFO_V1(neardup_minhash_of_bytea);
Datum
neardup_minhash_of_bytea(PG_FUNCTION_ARGS)
{
	return value_of_bytea(fcinfo, neardup_minhash_recv);
}

/* simhash_in(cstring, oid, int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_in);
Datum
neardup_simhash_in(PG_FUNCTION_ARGS)
{
	return signature_in(fcinfo, SIGNATURE_SIMHASH);
}

/* simhash_recv(internal, oid, int) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_recv);
Datum
neardup_simhash_recv(PG_FUNCTION_ARGS)
{
	return signature_recv(fcinfo, SIGNATURE_SIMHASH);
}

/* simhash_of_bytea(bytea) returns simhash */
PG_FUNCTION_INFO_V1(neardup_simhash_of_bytea);
Datum
neardup_simhash_of_bytea(PG_FUNCTION_ARGS)
{
	return value_of_bytea(fcinfo, neardup_simhash_recv);
}
