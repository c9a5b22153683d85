/*
 * command.h: the command neardup: its options, records of files, and the threads that read them.
 */
#ifndef NEARDUP_COMMAND_COMMAND_H
#define NEARDUP_COMMAND_COMMAND_H

#include <stdio.h>
#include <sys/stat.h>

#include "library/neardup.h"

/* Exit codes, as the man page lists them. */
enum
{
	EXIT_USAGE = 1,
	EXIT_INPUT = 2,
	EXIT_RESOURCES = 3
};

/* ---- Options (main.c) --------------------------------------------------- */

/* The fields of a record that are read. */
enum
{
	TEXT,
	ID,
	BEST,   /* the record with the greatest value of the field stays */
	SOURCE, /* texts of one value are of one source, for --common */
	FIELDS
};

/* In the order of --input; a file is a document of FORMAT_FILES. */
enum
{
	FORMAT_AUTO = -1,
	FORMAT_JSONL,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_FILES
};

/* In the order of --format. */
enum
{
	OUTPUT_COPY_TEXT,
	OUTPUT_COPY_BINARY,
	OUTPUT_RECORDS
};

/* In the order of --decide. */
enum
{
	DECIDE_TEXTS,
	DECIDE_SIGNATURES
};

/* In the order of --drop. */
enum
{
	DROP_OTHERS,
	DROP_ALL
};

/* The most threads. */
#define JOBS_MAX 1024

/* In the order of --unit. */
enum
{
	UNIT_RECORD,
	UNIT_LINE,
	UNIT_PASSAGE
};

typedef struct CommandOptions
{
	const char *field[FIELDS]; /* names; NULL: records are numbered, or the first is best */
	int format;
	int output;
	int decide;
	bool id_number;      /* ids are written as bigint, in binary format */
	const char *scheme;  /* NULL: the library's, or that of the lexicon */
	const char *minhash; /* shapes; or NULL */
	const char *simhash;
	bool shingles;
	bool skip_errors;
	bool null; /* names of files end in a zero byte */
	int drop;
	int unit;
	double min_words;
	double min_run;
	double min_left;
	bool mark;
	const char *separator; /* the one character between columns; NULL: the format's own */
	const char *files_from;
	const char *folder;  /* the folder of --output; NULL: none */
	const char *lexicon; /* files; or NULL */
	const char *report;
	const char *against;
	const char *mask;       /* kinds, as SQL's mask_changing() takes them; or NULL */
	const char *signatures; /* files of them, in place of records; or NULL */
	const char *without;    /* a file of ids that leave them; or NULL */
	const char *part;
	double entries;
	double share;
	double common; /* the share of texts whose shingles are left out; 0: none are */
	double jobs;
	double memory; /* 0: half of the machine's, for joins */
	char **files;  /* "-" if none is named */
	char **others; /* the files of --against, or NULL */
	char **line;   /* the words behind the name of the program, as they were typed */
	neardup_options join;
} CommandOptions;

extern CommandOptions options;

/* ---- Errors and bytes (main.c) ------------------------------------------ */

typedef struct Buffer
{
	char *bytes;
	size_t length;
	size_t room;
} Buffer;

extern void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
extern void check(neardup_session *session, neardup_code code);
extern void count_memory(size_t before, size_t after);
extern size_t memory_for_join(void);
extern void *resize(void *state, void *memory, size_t bytes);
extern neardup_session *new_session(void);
extern char *extend(Buffer *buffer, size_t more);
extern void put(Buffer *buffer, const void *bytes, size_t length);
extern void put_text(Buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
extern void write_out(FILE *file, const void *bytes, size_t length);

/* ---- Names of files (names.c) -------------------------------------------- */

extern char **files_of(const char *name);
extern void read_lines(const char *name, Buffer *all);
extern char **read_names(char **names);
extern void leave_out_names(char **others, char **names);
extern void check_files(void);

/* ---- Bytes of files (input.c) ------------------------------------------- */

/* The share of --memory for the bytes of a batch: what is made of them takes 60 times as much at most. */
#define BATCH_SHARE 64

/* Returns how many bytes are read at once, of which a batch has the whole records. */
static inline size_t
batch_bytes(void)
{
	const double most = 1 << 20;
	const double share = options.memory / BATCH_SHARE / options.jobs;

	return (size_t) (options.memory > 0 && share < most ? share : most);
}

/* How a file is compressed. */
typedef enum Packing
{
	PLAIN,
	GZIP,
	ZSTD
} Packing;

typedef struct Input Input;

extern size_t without_ending(const char *name, size_t length, const char *ending);
extern bool is_stream(const char *name);
extern void check_readable(const char *name);
extern int temporary_file(void);
extern void refuse_file(const char *name, Buffer *defect, const char *why);
extern bool refuse_encoding(const char *name, Packing packing, const Buffer *data, Buffer *defect);
extern int copy_input(const char *name, Buffer *defect);
extern int open_input(const char *name, int copy, Buffer *defect);
extern Input *input_open(const char *name, int copy, struct stat *status, Buffer *defect);
extern void input_close(Input *input);
extern bool input_read(Input *input, Buffer *data);
extern Packing input_packing(const Input *input);
extern uint64_t input_position(const Input *input);
extern void pack(Packing packing, Buffer *bytes);

/* ---- Ends of records (record_ends.c) ------------------------------------- */

/* A search for the end of a record, which goes on when more has been read. */
typedef struct RecordEnd
{
	size_t at;
	bool quoted;
	bool inside; /* whether a quote opens no field here */
} RecordEnd;

extern char separator_of(int format);
extern size_t end_of_record(int format, const Buffer *data, RecordEnd *search);
extern size_t longest_of_file(int format, Input *input);

/* ---- Records (file_records.c) ------------------------------------------------ */

typedef struct Files Files;

typedef struct Record
{
	size_t start; /* the position in the data of its batch */
	size_t length;
} Record;

/* A record that cannot be read. */
typedef struct Skipped
{
	uint64_t number; /* the record's number, from 0 */
	const char *defect;
} Skipped;

/* Whole records of a file, and what a thread makes of them. */
typedef struct RecordBatch
{
	neardup_session *session;
	const char *file;
	int format;
	int source;        /* the number of the file, or that of packed files */
	uint64_t position; /* the position where the data lie there */
	uint64_t read;     /* bytes of the files that were read with these data, packed or not */
	Packing packing;   /* the packing of the file */
	Buffer data;
	Record head; /* the names of columns, in the first batch that has them; else of length 0 */
	bool marked; /* a byte order mark is before the data, which goes out */
	int column[FIELDS];
	int columns;
	Buffer record;        /* Record */
	size_t next;          /* record to parse */
	uint64_t first;       /* number of records before */
	struct Json *json;    /* the parser */
	Buffer field[FIELDS]; /* the fields of the last record, with a zero behind each */
	Buffer cell;          /* a field that was read */
	unsigned has;         /* a bit for each of FIELDS that the last record of JSON has */
	unsigned named;       /* a bit for each of those whose own name is the field's */
	uint64_t holder;      /* the last JsonValue.holder of a text */
	Buffer border; /* int64_t: where each text of the last record of JSON begins in its field */
	Buffer span;   /* Record: where the texts of the last record are in the data, as written */
	unsigned seen; /* a bit for each of FIELDS that a record has */
	const char *defect;       /* why the last record cannot be read, or NULL */
	Buffer out;               /* output, or values */
	Buffer size;              /* uint64_t: the bytes of each value */
	Buffer id;                /* ids, each with a zero behind it */
	Buffer best;              /* the field of --best of the records, as ids are kept */
	Buffer digest;            /* uint64_t: the digest of each text's shingles */
	Buffer skipped;           /* Skipped: records that --skip-errors leaves out */
	Buffer broken;            /* where and why the file cannot be read to its end, or nothing */
	Buffer line;              /* Line: the lines, for lines.c */
	neardup_passage *passage; /* what goes, for cut_passages.c */
	size_t passages;
	neardup_bytes masked; /* the text of the last record, as --mask says */
} RecordBatch;

/* A text and what belongs to it; bytes that are valid until the next record. */
typedef struct RecordText
{
	const char *text;
	size_t length;
	const char *id;     /* ends in a zero */
	const char *best;   /* the value of --best, as the id; empty if there is none */
	const char *source; /* the value of --source, likewise */
	bool skipped;       /* --skip-errors leaves it out */
} RecordText;

/* Where a record lies: in a file, or in a copy of what packed files hold. */
typedef struct RecordPosition
{
	uint64_t at;
	uint32_t length;
	int32_t source; /* PACKED_FILES, or the number of a file */
} RecordPosition;

#define PACKED_FILES (-1)

extern int format_by_name(const char *name);
extern int format_of(const char *name);
extern Files *files_open(char **names, int format, bool twice);
extern uint64_t names_bytes(char **names, const int *copy, bool unpacked);
extern uint64_t files_bytes(const Files *files);
extern bool files_next(Files *files, RecordBatch *batch);
extern void files_done(Files *files, const RecordBatch *batch);
extern void files_rewind(Files *files);
extern size_t files_longest(const Files *files);
extern void files_keep(Files *files);
extern int files_reopen(const Files *files, int source);
extern void files_begin_batch(const Files *files, RecordBatch *batch);
extern void check_fields(const Files *files);
extern void files_mark(const Files *files, bool *mark);
extern const char open_quote[];
extern bool skip_record(RecordBatch *batch);
extern bool is_name_of(int i, const char *name, size_t length);
extern bool is_signature(const char *name, size_t length);
extern const char *read_field(RecordBatch *batch, const char *at, const char *end, Buffer *field);
extern bool next_document(RecordBatch *batch, RecordText *document);
extern void batch_free(RecordBatch *batch);
extern bool is_numbered(const RecordBatch *batch);
extern size_t records_of(const RecordBatch *batch);
extern size_t without_line_end(const char *bytes, size_t length);
extern const char *record_at(const RecordBatch *batch, size_t number, size_t *length);
extern Buffer read_whole(const char *name, bool text);

/* ---- Signatures (signatures.c) -------------------------------------------- */

/* A record of a file of signatures, whose bytes are valid until the next one. */
typedef struct SignatureRecord
{
	const char *id; /* ends in a zero */
	bool number;    /* it is a bigint in the file */
	neardup_kind kind;
	const uint8_t *value;
	size_t length;
} SignatureRecord;

typedef void (*TakeSignature)(void *state, const SignatureRecord *signature);

extern bool are_signatures(char **names);
extern void read_signatures(char **names, TakeSignature take, void *state);
extern neardup_part read_part(const char *part, bool against);
extern bool is_of_part(neardup_session *session, const SignatureRecord *signature, bool against);

/* ---- Signatures that leave (without.c) ------------------------------------ */

extern void read_without(void);
extern bool is_without(const char *id);
extern void tell_without(void);

/* ---- JSON (json.cpp) ---------------------------------------------------- */

/* Bytes behind an object that can be read, whatever they are. */
#define JSON_PADDING 64

typedef struct Json Json;

/* A value within an object. */
typedef struct JsonValue
{
	const char *path; /* the name of the field: "a.name" in an object, "a[].name" in an array */
	size_t path_length;
	bool nested;     /* the path is not just a name */
	uint64_t holder; /* a number of the object that it is a member of; another for each element */
	const char *raw; /* the value as it is written */
	size_t raw_length;
	const char *bytes; /* the text of a string, else the value as it is written */
	size_t length;
} JsonValue;

typedef void (*JsonTake)(void *state, const JsonValue *value);

extern const char *json_read(Json **json, const char *at, size_t length, bool nested, JsonTake take,
							 void *state);
extern void json_free(Json *json);
extern bool is_utf8(const char *bytes, size_t length);

/* ---- Threads (pipeline.c) ----------------------------------------------- */

/* Does something with a batch: in any thread, or with one batch after the other. */
typedef void (*Step)(void *state, RecordBatch *batch);

extern void pipeline(Files *files, Step work, Step take, void *state);

/* ---- Texts that are read again (reread_texts.c) --------------------------------- */

/* The texts of all records of files, which are read again where they lie. */
typedef struct Texts
{
	const Files *files;
	Buffer position;           /* RecordPosition: the position of each text */
	Buffer digest;             /* uint64_t: the digest of each text */
	struct TextReader *reader; /* the readers of texts, one for each thread */
	neardup_evidence evidence;
} Texts;

extern void texts_add(Texts *texts, const RecordBatch *batch);
extern const neardup_evidence *texts_done(Texts *texts, const neardup_signer *signer,
										  const neardup_signer *remembers);

/* ---- Templates (template.c) ----------------------------------------------------- */

extern void look_for_templates(neardup_session *session, const neardup_evidence *evidence,
							   const uint32_t *keeper, size_t count);

/* ---- The order of records (best.c) --------------------------------------- */

/* The values of the field of --best of all records. */
typedef struct Best
{
	Buffer key; /* the key of each record, with a zero behind it, or empty */
	uint32_t count;
	uint32_t first;    /* record that has a value, from 1, or 0 */
	Buffer first_text; /* the first value that is a text */
	bool numbers;      /* all values are numbers, not texts */
} Best;

extern void best_add(Best *best, const RecordBatch *batch);
extern const char **best_keys(const Best *best);

/* ---- Commands (sign.c, dedupe.c) ---------------------------------------- */

extern neardup_signer *new_signer(neardup_session *session, neardup_kind kind);
extern void tell_whole(const neardup_signer *signer);
extern void learn_common(neardup_session *session, Files *files, Files *others);
extern neardup_kind kind_of_options(void);
extern bool texts_decide(void);
extern void write_copy_begin(void);
extern void write_copy_end(void);
extern bool put_copy_row(Buffer *out, const char *id, bool number, const void *value,
						 size_t length);

/* ---- What is written (output.c) ------------------------------------------ */

extern void output_begin(void);
extern void put_head(RecordBatch *batch, const char *more);
extern FILE *output_open_report(void);
extern void output_pack(RecordBatch *batch);
extern void output_write(void *state, RecordBatch *batch);
extern void output_end(void);
extern void output_abandon(void);

/* ---- Values of all records (spool.c) ------------------------------------- */

/* Bytes in memory, or in a temporary file if they are more than a part of --memory. */
typedef struct Spool
{
	Buffer buffer;  /* the last bytes, or those that were read last */
	uint64_t start; /* the position where they begin */
	int file;       /* the file's descriptor + 1; 0: there is none */
	bool reads;     /* it has been read */
} Spool;

/* Where items end that lie one behind the other.  If all have one length, only that is kept. */
typedef struct Ends
{
	uint64_t length; /* the length of each */
	size_t count;    /* how many items there are */
	Buffer end;      /* uint64_t: the end of each, if lengths differ */
} Ends;

extern void ends_add(Ends *ends, uint64_t length);
extern uint64_t ends_start(const Ends *ends, size_t item);

extern void write_at(int file, const void *bytes, size_t length, uint64_t position);
extern void spool_put(Spool *spool, const void *bytes, size_t length);
extern const uint8_t *spool_get(Spool *spool, uint64_t start, size_t length);
extern void spool_free(Spool *spool);

extern void put_copy_text(Buffer *buffer, const char *text);
extern void put_similarity(Buffer *buffer, double similarity);

extern void command_sign(void);
extern void command_learn(void);
extern void command_compare(void);
extern void command_pairs(void);
extern void command_clusters(void);
extern void command_dedupe(void);
extern void dedupe_lines(FILE *report);
extern void dedupe_passages(FILE *report);
extern double memory_for_passages(void);
extern void command_keepers(void);

#endif
