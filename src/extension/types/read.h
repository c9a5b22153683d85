/*
 * read.h: reading the text and binary formats of this extension's types (sketch/forms.h).
 *
 * On PostgreSQL 16 and later the error of a text is saved where the caller of the input
 * function wants it, as pg_input_is_valid() and COPY ... ON_ERROR do; otherwise it is thrown.
 */
#ifndef NEARDUP_TYPES_READ_H
#define NEARDUP_TYPES_READ_H

#include "calls/arguments.h"
#include "calls/schemes.h"

#include "lib/stringinfo.h"

#include "sketch/forms.h"

extern FormReader text_reader(FunctionCallInfo fcinfo);
extern Datum text_refuse(FunctionCallInfo fcinfo, const FormReader *reader, const char *type);

extern FormReader message_reader(StringInfo message);
extern void message_end(StringInfo message, const FormReader *reader);
extern _Noreturn void message_refuse(StringInfo message, const FormReader *reader,
									 const char *type);
extern Datum value_of_bytea(FunctionCallInfo fcinfo, PGFunction receive);
extern _Noreturn void binary_invalid(const char *type, const char *detail);

extern void send_begin(FormWriter *writer);
extern bytea *send_end(FormWriter *writer);

#endif
