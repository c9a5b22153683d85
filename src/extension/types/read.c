/*
 * read.c: reading the text and binary formats of this extension's types.
 */
#include "types/read.h"

#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"

#include "calls/texts.h"
#include "types/signature_type.h"

/* Throws the error for a shape that no signature has, or saves it. */
static void
refuse_shape(const FormReader *reader, Node *context)
{
	if (reader->kind == SIGNATURE_MINHASH)
		(void) check_minhash_shape(reader->k, reader->b, context);
	else
		(void) check_simhash_shape(reader->k, context);
}

/* ---- Text --------------------------------------------------------------- */

/* Returns a reader of the text that an input function is called with. */
FormReader
text_reader(FunctionCallInfo fcinfo)
{
	const char *input = PG_GETARG_CSTRING(0);

	return (FormReader){.at = input, .input = input};
}

/* Reports what is wrong with a text that should be of a type. */
static bool
report_defect(const FormReader *reader, const char *type, Node *context)
{
	ereturn(context, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"", type, beginning_of(reader->input)),
			 errdetail("%s", reader->defect),
			 reader->strange ?
				 errhint("To make a value of type %s from a text, use to_%s(text).  To compare two texts, use text_similarity(text, text).",
						 type, type) :
				 0));
}

/*
 * Reports why a text is not of a type, unless that was reported before, and returns what the
 * input function returns then.
 */
Datum
text_refuse(FunctionCallInfo fcinfo, const FormReader *reader, const char *type)
{
	if (reader->shapeless)
		refuse_shape(reader, fcinfo->context);
	else if (reader->defect[0] != '\0')
		(void) report_defect(reader, type, fcinfo->context);
	PG_RETURN_NULL();
}

/* ---- Binary format ------------------------------------------------------ */

/* Returns a reader of what is left of a message. */
FormReader
message_reader(StringInfo message)
{
	const char *data = message->data;

	return (FormReader){.at = data + message->cursor, .input = data, .end = data + message->len};
}

/* Marks as read what the reader has. */
void
message_end(StringInfo message, const FormReader *reader)
{
	message->cursor = reader->at - message->data;
}

/* Throws the error for bytes that are not of the type; detail is a sentence. */
void
binary_invalid(const char *type, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid binary format of type %s", type), errdetail("%s", detail)));
}

/* Throws the error for what a reader of a message has found. */
void
message_refuse(StringInfo message, const FormReader *reader, const char *type)
{
	char none[1];

	/* These throw the errors for messages that are too short. */
	if (reader->cut)
	{
		(void) pq_getmsgbyte(message);
		pq_copymsgbytes(message, none, message->len - message->cursor + 1);
	}
	if (reader->shapeless)
		refuse_shape(reader, NULL);
	binary_invalid(type, reader->defect);
}

/* Returns the value whose binary format is the argument, a bytea, as a receive function reads it. */
Datum
value_of_bytea(FunctionCallInfo fcinfo, PGFunction receive)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	StringInfoData message = {.data = VARDATA_ANY(bytes), .len = VARSIZE_ANY_EXHDR(bytes)};
	Datum value = DirectFunctionCall3(receive, PointerGetDatum(&message),
									  ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	if (message.cursor != message.len)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("incorrect binary data format")));
	PG_FREE_IF_COPY(bytes, 0);
	return value;
}

/* ---- Sending ------------------------------------------------------------ */

/* Begins a value in binary format, behind its varlena header. */
void
send_begin(FormWriter *writer)
{
	*writer = (FormWriter){0};
	(void) form_extend(writer, VARHDRSZ);
}

/* Returns what was written. */
bytea *
send_end(FormWriter *writer)
{
	SET_VARSIZE(writer->bytes, writer->length);
	return (bytea *) writer->bytes;
}
