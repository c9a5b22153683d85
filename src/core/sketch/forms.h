/*
 * forms.h: the text and binary formats of signatures, sets and lexicons.
 *
 * Text begins with VERSION/SCHEME/, the version of the recipe and the name of a scheme.
 * Binary formats are big-endian.  A value of a later recipe version can be read and written.
 */
#ifndef NEARDUP_SKETCH_FORMS_H
#define NEARDUP_SKETCH_FORMS_H

#include "sketch/signature.h"

/* ---- Writing (forms.c) -------------------------------------------------- */

/* A value that is being written. */
typedef struct FormWriter
{
	char *bytes; /* the bytes, made by host_alloc */
	size_t length;
	size_t room;
} FormWriter;

extern char *form_extend(FormWriter *writer, size_t more);
extern void form_put(FormWriter *writer, const void *bytes, size_t length);
extern void form_put_text(FormWriter *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
extern void form_put_decimal(FormWriter *writer, int64_t number);
extern void form_put_number(FormWriter *writer, uint64_t number, int bytes);

/* ---- Reading (forms.c) -------------------------------------------------- */

#define FORM_DEFECT_SIZE 256

/* A text, which ends in a zero byte, or a binary value that is being read. */
typedef struct FormReader
{
	const char *at;    /* the position that is read next */
	const char *input; /* all of the input */
	const char *end;   /* the end of a binary value */
	bool strict;       /* numbers have no leading zeros */
	bool strange;      /* the input does not begin as a value does */
	bool cut;          /* a binary value has fewer bytes than it should */
	bool shapeless;    /* there is no signature of this kind, k and b */
	uint8_t kind;
	int64_t k;
	int64_t b;
	char defect[FORM_DEFECT_SIZE]; /* a sentence that says what is wrong; empty: nothing is */
} FormReader;

extern bool read_invalid(FormReader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
extern bool read_expected(FormReader *reader, const char *expected);
extern bool read_char(FormReader *reader, char c);
extern bool read_number(FormReader *reader, uint64_t least, uint64_t most, const char *expected,
						uint64_t *number);
extern bool read_recipe(FormReader *reader, uint8_t *version, SchemeId *scheme);
extern bool read_end(FormReader *reader);

extern bool recipe_has_scheme(int version, SchemeId scheme);
extern uint64_t receive_number(FormReader *reader, int bytes);
extern bool receive_bytes(FormReader *reader, void *bytes, size_t count);
extern bool receive_recipe(FormReader *reader, int version, SchemeId scheme);

/* ---- Signatures (signature_forms.c) ------------------------------------- */

#define SIGNATURE_ANY_KIND 0xFF

extern bool signature_parse(FormReader *reader, uint8_t kind, Signature *signature);
extern void signature_print(FormWriter *writer, const Signature *signature);
extern bool signature_receive(FormReader *reader, uint8_t kind, Signature *signature);
extern void signature_send_header(const Signature *signature, uint8_t *bytes);
extern void signature_send(FormWriter *writer, const Signature *signature);

/* ---- Sets (bag_forms.c) ------------------------------------------------- */

#define SHINGLES_LAYOUT 1
#define SHINGLES_FREQUENCIES 1 /* the flag of a set whose frequencies are not all 1 */

extern bool bag_parse(FormReader *reader, uint8_t *version, SchemeId *scheme, Bag *bag);
extern void bag_print(FormWriter *writer, int version, SchemeId scheme, const Bag *bag);
extern bool bag_receive(FormReader *reader, uint8_t *version, SchemeId *scheme, Bag *bag);
extern void bag_send(FormWriter *writer, int version, SchemeId scheme, const Bag *bag);

/* ---- Lexicons (lexicon_forms.c) ----------------------------------------- */

#define LEXICON_LAYOUT 1
#define LEXICON_ENTRIES_MAX 1000000

/* All of a lexicon. */
typedef struct LexiconParts
{
	uint8_t version;
	SchemeId scheme; /* the scheme of the shingles that it weighs */
	uint64_t documents;
	uint32_t count;
	uint32_t *key;   /* the keys, ascending */
	uint8_t *weight; /* the weights, each below WEIGHT_MAX */
} LexiconParts;

extern bool lexicon_weighs(int version, SchemeId scheme);
extern bool lexicon_is_ordered(const LexiconParts *lexicon);
extern SchemeId lexicon_weighed_scheme(SchemeId scheme, uint64_t digest);
extern bool lexicon_parse(FormReader *reader, LexiconParts *lexicon);
extern void lexicon_print(FormWriter *writer, const LexiconParts *lexicon);
extern bool lexicon_receive(FormReader *reader, LexiconParts *lexicon);
extern void lexicon_send(FormWriter *writer, const LexiconParts *lexicon);

#endif
