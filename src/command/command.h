/*
 * command.h: the command neardup: its options, records of files, and the threads that sign them.
 */
#ifndef NEARDUP_COMMAND_COMMAND_H
#define NEARDUP_COMMAND_COMMAND_H

#include <stdio.h>

#include "library/neardup.h"

/* Exit codes, as the man page lists them. */
enum
{
	EXIT_USAGE = 1,
	EXIT_INPUT = 2,
	EXIT_RESOURCES = 3
};

/* ---- Options (main.c) --------------------------------------------------- */

typedef enum Format
{
	FORMAT_AUTO,
	FORMAT_JSONL,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_FILES /* a file is a document */
} Format;

typedef enum Output
{
	OUTPUT_COPY_TEXT,
	OUTPUT_COPY_BINARY,
	OUTPUT_RECORDS
} Output;

typedef struct Options
{
	const char *field;
	const char *id;   /* NULL: records are numbered from 1 */
	bool id_number;   /* ids are written as bigint, in binary format */
	const char *best; /* of a group stays the record with most of this field; NULL: the first */
	Format format;
	Output output;
	const char *scheme; /* NULL: the library's, or that of the lexicon */
	neardup_kind kind;
	int k;
	int b;
	int jobs;
	size_t memory; /* 0: any */
	double share;
	uint32_t entries;
	const char *lexicon; /* files; or NULL */
	const char *report;
	const char *against;
	char **files;
	neardup_options join;
} Options;

extern Options options;

extern void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
extern void check(neardup_session *session, neardup_code code);
extern void *resize(void *state, void *memory, size_t bytes);
extern neardup_session *new_session(void);
extern neardup_signer *new_signer(neardup_session *session);
extern void write_out(FILE *file, const void *bytes, size_t length);

extern void command_sign(void);
extern void command_learn(void);
extern void command_compare(void);
extern void command_pairs(void);
extern void command_clusters(void);
extern void command_dedupe(void);

/* ---- Bytes (main.c) ----------------------------------------------------- */

typedef struct Buffer
{
	char *bytes;
	size_t length;
	size_t room;
} Buffer;

extern char *extend(Buffer *buffer, size_t more);
extern void put(Buffer *buffer, const void *bytes, size_t length);
extern void put_big_endian(Buffer *buffer, uint64_t number, int bytes);
extern void put_copy_text(Buffer *buffer, const char *text);
extern void put_similarity(Buffer *buffer, double similarity);

/* ---- Records (records.c) ------------------------------------------------ */

/* The fields of a record that are read: the text, the id, what to keep the best by. */
#define COLUMNS 3

typedef struct Record
{
	size_t start; /* in the data of its batch */
	size_t length;
} Record;

/* Whole records of a file, and what was made of them. */
typedef struct Batch
{
	const char *file;
	Format format;
	Buffer data;
	size_t head; /* length of the names of columns, with which the data begins */
	int column[COLUMNS];
	Record *record;
	size_t records;
	size_t record_room;
	size_t bad;         /* a record that cannot be read */
	const char *defect; /* why; NULL: there is none */
	unsigned seen;      /* a bit for each of COLUMNS that a JSON record has */
	Buffer out;         /* output, or values */
	Buffer end;         /* size_t: where each value ends in out */
	Buffer id;          /* ids, each with a zero behind it */
	Buffer best;        /* double: of each record */
} Batch;

/* A text and what belongs to it; bytes that are valid until the next record. */
typedef struct Document
{
	const char *text;
	size_t length;
	const char *id; /* ends in a zero; NULL: none */
	double best;
	const char *defect; /* why it cannot be read, or NULL */
} Document;

typedef struct Files Files;
typedef struct Parser Parser;

extern Files *files_open(char **names, bool keep);
extern bool files_next(Files *files, Batch *batch);
extern void files_rewind(Files *files);
extern void files_close(Files *files);
extern void batch_split(Batch *batch);

extern Parser *parser_new(void);
extern void parser_free(Parser *parser);
extern bool parse(Parser *parser, Batch *batch, size_t record, Document *document);
extern void check_fields(const Files *files, unsigned seen);

/* ---- Values of records (sign.c) ------------------------------------------ */

extern neardup_bytes value_of(neardup_session *session, const neardup_signer *signer,
							  const Document *document);
extern void value_free(neardup_session *session, const neardup_signer *signer,
					   neardup_bytes *value);
extern bool is_numbered(Format format);
extern size_t without_line_end(const char *bytes, size_t length);

/* ---- Threads (pipeline.c) ----------------------------------------------- */

/* Makes something of a batch, in any thread. */
typedef void (*Work)(void *state, neardup_session *session, Parser *parser, Batch *batch);

/* Takes what was made, of one batch after the other. */
typedef void (*Take)(void *state, Batch *batch);

extern void pipeline(Files *files, Work work, Take take, void *state);

#endif
