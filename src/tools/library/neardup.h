/*
 * neardup.h: near-duplicate texts, with the bits of the PostgreSQL extension neardup.
 *
 * Values are bytes in the binary format of the SQL types minhash, simhash, shingles and
 * shingle_lexicon: what COPY BINARY and bytea of minhash_send() hold, the same on every
 * machine.  Equal bytes are equal values.
 *
 * A session is used by one thread at a time, any number of threads have sessions of their
 * own.  Signers do not change, so all sessions may use them.  The library keeps no other
 * state but tables that are the same in all processes, made once and never freed.
 *
 * Functions return NEARDUP_OK or what went wrong, and then neardup_message() says it in a
 * sentence; what arguments return has no meaning then, and need not be freed.  Texts are
 * UTF-8; bytes that are not are taken as separators of words.
 */
#ifndef NEARDUP_H
#define NEARDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define NEARDUP_C extern "C"
#else
#define NEARDUP_C extern
#endif
#ifdef __GNUC__
#define NEARDUP_API NEARDUP_C __attribute__((visibility("default")))
#else
#define NEARDUP_API NEARDUP_C
#endif

typedef enum neardup_code
{
	NEARDUP_OK = 0,
	NEARDUP_INVALID = 1,   /* an argument is out of its range */
	NEARDUP_MALFORMED = 2, /* bytes or a text are no value of the kind */
	NEARDUP_MISMATCH = 3,  /* values of different shapes, schemes or recipes */
	NEARDUP_TOO_LARGE = 4,
	NEARDUP_NO_MEMORY = 5,
	NEARDUP_CANCELLED = 6,
	NEARDUP_NO_FILE = 7 /* a temporary file, which the folder TMPDIR has, cannot be used */
} neardup_code;

typedef enum neardup_kind
{
	NEARDUP_MINHASH = 1,
	NEARDUP_SIMHASH = 2,
	NEARDUP_SHINGLES = 3,
	NEARDUP_LEXICON = 4
} neardup_kind;

/* Bytes that the caller frees with neardup_free(). */
typedef struct neardup_bytes
{
	uint8_t *bytes;
	size_t length;
} neardup_bytes;

/* ---- Sessions ----------------------------------------------------------- */

typedef struct neardup_session neardup_session;

/* What a session asks of the program; anything may be NULL. */
typedef struct neardup_host
{
	/* As realloc(); frees if bytes is 0.  NULL: malloc() and its like. */
	void *(*resize)(void *state, void *memory, size_t bytes);
	/* Is called at least once per 64 kB of text; if it returns true, the function gives up. */
	bool (*cancelled)(void *state);
	void *state; /* the state of these functions */
	/* Is called with the reason why a call takes minutes, a sentence without its full stop. */
	void (*warn)(void *state, const char *message);
} neardup_host;

/* Returns the version of the library, such as "1.0.0". */
NEARDUP_API const char *neardup_version(void);

/* Returns a new session, or NULL if there is no memory.  The host may be NULL. */
NEARDUP_API neardup_session *neardup_open(const neardup_host *host);
NEARDUP_API void neardup_close(neardup_session *session);

/* A neardup_host.cancelled: returns whether the bool at state is true, which any thread may set. */
NEARDUP_API bool neardup_is_set(void *state);

/* Returns what the last function that failed in this session says. */
NEARDUP_API const char *neardup_message(const neardup_session *session);

/* Frees what a function of this library returned to the caller; NULL is allowed. */
NEARDUP_API void neardup_free(neardup_session *session, void *memory);

/* ---- Signing ------------------------------------------------------------ */

/* What SQL's functions, or the command, take if they are not told. */
typedef struct neardup_default
{
	int k; /* the symbols of minhash */
	int b;
	int f;            /* k of simhash */
	uint32_t entries; /* the entries of a lexicon */
	double share;
	double threshold; /* the threshold of the command */
	int decided_k; /* the symbols of minhash where texts decide, of which it only says which are compared */
	int decided_b;
} neardup_default;

NEARDUP_API const neardup_default *neardup_defaults(void);

/* What is made of texts: a kind, a shape, a scheme. */
typedef struct neardup_signer neardup_signer;

/*
 * Makes a signer: to_minhash(text, k, b, scheme), to_simhash(text, k, scheme), where b is 1, or
 * to_shingles(text, scheme), where k and b are 0.  A scheme is "word 3", "char 5" or the like;
 * NULL is that of the SQL function, "word 3" or, for simhash, "word 1".  With a lexicon, whose
 * scheme counts, it is to_minhash(text, k, b, lexicon) or weigh(to_shingles(text, scheme),
 * lexicon).  A lexicon is given in binary format or as text; NULL is none.
 */
NEARDUP_API neardup_code neardup_signer_new(neardup_session *session, neardup_kind kind, int k,
											int b, const char *scheme, const void *lexicon,
											size_t length, neardup_signer **signer);
NEARDUP_API void neardup_signer_free(neardup_session *session, neardup_signer *signer);

/*
 * Lets a signer of minhashes remember a part of the shingles of all texts whose digests it makes, in
 * about `bytes` bytes (half of one for each shingle is enough) and a temporary file.  Texts that are
 * similar to no other by `threshold` are not compared then, which gives the same answers in less time.
 * With `later`, minhashes of texts that are similar to no earlier one are not made: their first byte is
 * 0.  A call makes those that it needs: see neardup_values.made.
 */
NEARDUP_API neardup_code neardup_signer_remember(neardup_session *session, neardup_signer *signer,
												 double threshold, size_t bytes, bool later);

/*
 * Returns of how many texts, whose values this signer made, its lexicon leaves nothing out since it would
 * leave out all: they are weighed whole.
 */
NEARDUP_API size_t neardup_signer_whole(const neardup_signer *signer);

/* Returns the bytes of each signature, or 0 for shingles. */
NEARDUP_API size_t neardup_signature_size(const neardup_signer *signer);

/* Makes the value of a text. */
NEARDUP_API neardup_code neardup_sign(neardup_session *session, const neardup_signer *signer,
									  const char *utf8, size_t length, neardup_bytes *value);

/*
 * Sets *hash to a hash of a text's words, as the recipe normalises them, in their order, with the seed
 * *hash, and *words to their number.  Nobody who does not know the seed can write texts that collide; what
 * a seed makes of words may change with a version.
 */
NEARDUP_API neardup_code neardup_hash_words(neardup_session *session, const char *utf8,
											size_t length, uint64_t *hash, uint64_t *words);

/*
 * Sets *masked to a text with a blank in place of what changes by itself: mask_changing(text, what).
 */
NEARDUP_API neardup_code neardup_mask(neardup_session *session, const char *what, const char *utf8,
									  size_t length, neardup_bytes *masked);

/* Texts where they lie, in the layout of an Arrow column. */
typedef struct neardup_column
{
	size_t count;
	size_t first;            /* the position of the first text in validity and entry */
	const uint8_t *validity; /* a bit for each position, the lowest of a byte first: 0 is a null.
								NULL: there are no nulls */
	const void *entry; /* where each text begins in data, and where the last ends; or a view of
								each, or its number in the dictionary */
	int width;         /* bytes of an entry: 4 or 8; 16 of a view; 1, 2, 4 or 8 of a number */
	const uint8_t *data;
	const uint8_t *const *buffer; /* the buffers that views refer to */
	const struct neardup_column *dictionary;
} neardup_column;

/*
 * Makes the values of a column's texts, one behind the other.  null, unless it is NULL, is set for
 * each text that is a null; the value of a null is that of the empty text.  Signatures, of
 * neardup_signature_size() each, are written to `signatures`.  Sets are returned in *sets, and
 * offset, which has room for one more than the texts, is set to where each begins, and to where
 * the last ends.  digest, unless it is NULL, is set for each minhash to a number that this signer
 * gives to equal sets of shingles, as neardup_evidence takes it.
 */
NEARDUP_API neardup_code neardup_sign_column(neardup_session *session, const neardup_signer *signer,
											 const neardup_column *texts, bool *null,
											 uint8_t *signatures, neardup_bytes *sets,
											 uint64_t *offset, uint64_t *digest);

/*
 * Sets utf8 and length to the next text, which must stay valid until the next call, and *source,
 * which is 0, to a number of its source if neardup_common() is to know it; returns false after the
 * last text.  It must not use the session that neardup_learn() was given.
 */
typedef bool (*neardup_next)(void *state, const char **utf8, size_t *length, uint64_t *source);

/*
 * Makes the lexicon of texts, the weights of shingles by how few of the texts have them, as
 * neardup_lexicon() does.  A shingle that at least this share of the texts (above 0, at most 1)
 * has, and at least 20 of them, weighs nothing.  Of the others the `entries` (1 to 1,000,000) that
 * most texts have get an entry; one without an entry weighs most.  scheme NULL is "word 1".  memory
 * is how many bytes the counts may take, unless the entries need more; 0 is 64 MB, as
 * maintenance_work_mem usually is.
 */
NEARDUP_API neardup_code neardup_learn(neardup_session *session, const char *scheme,
									   uint32_t entries, double share, size_t memory,
									   neardup_next next, void *state, neardup_bytes *lexicon);

/*
 * Makes the lexicon of what many texts have: a shingle weighs nothing if at least this share of the
 * distinct texts has it, or of those of one source, and at least 20; all others weigh alike.  *count,
 * unless it is NULL, is set to how many weigh nothing.  Texts of the same shingles are one.  Counts are exact; they go
 * to a temporary file beyond about an eighth of `memory` bytes, 0 for 64 MB.  scheme NULL is
 * "word 3".
 */
NEARDUP_API neardup_code neardup_common(neardup_session *session, const char *scheme, double share,
										size_t memory, neardup_next next, void *state,
										size_t *count, neardup_bytes *lexicon);

/* ---- Passages ----------------------------------------------------------- */

/*
 * Passages of many texts that stood before: words that lie in a run of at least `run` words that stood
 * in an earlier record, or ended before this one begins in the same one, and in no first copy of such a
 * run.  Words are those of the recipe.  They are kept in temporary files, about 10 bytes for each,
 * until neardup_passages_free().  memory is about the most bytes of memory that they take besides; 0 is
 * half of the machine's.
 */
typedef struct neardup_passages neardup_passages;

#define NEARDUP_RUN_MOST 100000

NEARDUP_API neardup_code neardup_passages_new(neardup_session *session, uint32_t run, size_t memory,
											  neardup_passages **passages);
NEARDUP_API neardup_code neardup_passages_free(neardup_session *session,
											   neardup_passages *passages);

/*
 * Returns the words of texts, each of which is a record, or all of which are one.  No run goes on from a
 * text to the next.  Several threads may call this at once, in sessions of their own; others add words,
 * in the order of the records.
 */
NEARDUP_API neardup_code neardup_passages_words(neardup_session *session,
												const neardup_passages *passages,
												const neardup_column *texts, bool one_record,
												neardup_bytes *words);
NEARDUP_API neardup_code neardup_passages_add(neardup_session *session, neardup_passages *passages,
											  const neardup_bytes *words);

/*
 * Finds the passages, when all records have been added.  If `against` is not NULL, only those of the first
 * *against records, in the ones behind them.
 */
NEARDUP_API neardup_code neardup_passages_find(neardup_session *session, neardup_passages *passages,
											   const uint64_t *against);

/* Words that go, which are in no other passage.  Records are numbered, and characters of all texts of a record counted, from 0. */
typedef struct neardup_passage
{
	uint64_t record;
	uint64_t words;
	uint64_t left; /* words of the record that are in no passage up to this one */
	uint32_t from; /* the position of the words, in characters */
	uint32_t to;
	uint32_t
		cut_from; /* the position of what goes: words, and what follows each up to the next one */
	uint32_t cut_to;
	bool blank;            /* words around it would be one: a blank has to stand in its place */
	uint64_t first_record; /* the record of the first copy */
	uint32_t first_from;
	uint32_t first_to;
} neardup_passage;

/* Returns what goes of `count` records from the record `first` on, in order.  Threads may call it at once. */
NEARDUP_API neardup_code neardup_passages_of(neardup_session *session, neardup_passages *passages,
											 uint64_t first, uint64_t count,
											 neardup_passage **found, size_t *number);

/* ---- Values ------------------------------------------------------------- */

/* Returns the value of a text, which ends in a zero byte, as the input function of the SQL type. */
NEARDUP_API neardup_code neardup_parse(neardup_session *session, neardup_kind kind,
									   const char *text, neardup_bytes *value);

/* Returns a value as text, which ends in a zero byte, as the output function of the SQL type. */
NEARDUP_API neardup_code neardup_print(neardup_session *session, neardup_kind kind,
									   const void *value, size_t length, neardup_bytes *text);

/* What two values have in common. */
typedef struct neardup_comparison
{
	int distance;       /* symbols that differ, all if a value is empty; 0 for shingles */
	double similarity;  /* the similarity of signatures, or the resemblance of shingles */
	double containment; /* the share of the first set that is in the second; 0 for signatures */
	double weighted;    /* the resemblance of multisets; 0 for signatures */
} neardup_comparison;

/* Compares two values of a kind, as similarity(), <~>, containment() and weighted_jaccard() do. */
NEARDUP_API neardup_code neardup_compare(neardup_session *session, neardup_kind kind, const void *x,
										 size_t length_x, const void *y, size_t length_y,
										 neardup_comparison *comparison);

/* Counts the insertions, deletions and substitutions of characters that make y of x. */
NEARDUP_API neardup_code neardup_edit_distance(neardup_session *session, const char *x,
											   size_t length_x, const char *y, size_t length_y,
											   int64_t *distance);

/*
 * Where the symbols of a signature, or the elements of a set, begin in its value.  Symbols have b
 * bits each, without gaps; elements have 8 bytes each.
 */
#define NEARDUP_SYMBOLS_AT(kind) ((kind) == NEARDUP_SIMHASH ? 8 : 12)

/*
 * Sets *radius to how many symbols of two signatures may differ so that their similarity is at least
 * a threshold, above 0, at most 1.  b is 1 for NEARDUP_SIMHASH.
 */
NEARDUP_API neardup_code neardup_radius(neardup_session *session, neardup_kind kind, int k, int b,
										double threshold, int *radius);

/* ---- Many values -------------------------------------------------------- */

/*
 * What decides which of some minhashes are similar, which then only say whose sets are compared:
 * texts in a column, texts that are read, or sets.  One pair in 30,000 that lies just at the
 * threshold is not compared.  Each has the position of its minhash.
 */
typedef struct neardup_evidence
{
	const neardup_signer
		*signer; /* the signer of shingles: makes the sets of texts as the minhashes were made */
	const neardup_column
		*texts; /* the texts in `columns` columns, one behind the other; NULL: see read */
	size_t columns;
	/*
	 * Reads the text at a position, which is valid until the thread's next call; `thread`, below
	 * neardup_options.jobs, is the number of the thread that calls.  Returns false if it fails.
	 */
	bool (*read)(void *state, int thread, size_t position, const char **utf8, size_t *length);
	void *state;                       /* the state of read */
	const struct neardup_values *sets; /* the sets of shingles, for which there is no signer */
	const uint64_t *digest; /* the digest of each text, from neardup_sign_column(), by one signer;
							   NULL: all sets are made */
	const neardup_signer *remembers; /* the signer that remembers all texts, or NULL */
} neardup_evidence;

/* Values of a kind, one behind the other. */
typedef struct neardup_values
{
	neardup_kind kind; /* all but NEARDUP_LEXICON */
	size_t count;
	const uint8_t *bytes;
	size_t size;            /* bytes of each value, if offset is NULL */
	const uint64_t *offset; /* the position where each value begins, and where the last ends */
	const uint32_t *chosen; /* NULL, or `count` of them by their positions there, in any order */
	/*
	 * Reads the value at a position, where bytes is NULL; it is valid until the next call.  Returns
	 * false if it fails.  NULL: values lie in bytes.
	 */
	bool (*read)(void *state, size_t position, const uint8_t **value, size_t *length);
	/* Keeps a minhash that was not made before, which `read` returns from then on.  NULL: it is written to `bytes`. */
	void (*made)(void *state, size_t position, const uint8_t *value, size_t length);
	void *state;                      /* the state of read and made */
	const neardup_evidence *evidence; /* NULL: minhashes decide by themselves */
} neardup_values;

/*
 * Sets block[i] to the block of value i, below `blocks`: XXH3-64, with the seed 0, of its symbols or
 * elements, modulo `blocks`.  So it is the same on every machine, and for equal values.
 */
NEARDUP_API neardup_code neardup_blocks(neardup_session *session, const neardup_values *values,
										uint32_t blocks, uint32_t *block);

/*
 * A part of the work of finding pairs: the pairs of the values of block a with those of block b, or
 * with each other if a is b.  With `against`, a is not used: the pairs of all values with values of
 * block b there.  The pairs of all parts, with a <= b, are those of one call.
 */
typedef struct neardup_part
{
	uint32_t blocks; /* 0: all pairs are found */
	uint32_t a;      /* the first block, as neardup_blocks() numbers them */
	uint32_t b;
} neardup_part;

typedef struct neardup_options
{
	double threshold;  /* the least similarity, above 0, at most 1 */
	bool multiset;     /* shingles: compare multisets */
	bool containment;  /* shingles: compare by containment */
	bool nearest;      /* clusters: join the most similar keeper, not the first */
	int jobs;          /* threads; 0 is 1.  With more, all of them call the host's functions */
	size_t memory;     /* about the most bytes to take; what is beyond goes to temporary files.
						 0: half of the machine's memory */
	double contained;  /* evidence, if above 0: the share of a value's set that an earlier value
						 or a keeper must have; with `against`, either of the other.  The threshold
						 says which are compared */
	neardup_part part; /* the part of pairs */
} neardup_options;

typedef struct neardup_pair
{
	uint32_t a; /* the number of a value */
	uint32_t b; /* the number of a later value, or of a value in `against` */
	double similarity;
} neardup_pair;

/*
 * Returns all pairs of similar values, in order, as neardup_pairs() does: of equal values each
 * is paired with the first of them only, which stands for all.  against is NULL, or other
 * values, of which each is compared with all of `values`.
 */
NEARDUP_API neardup_code neardup_pairs(neardup_session *session, const neardup_values *values,
									   const neardup_values *against,
									   const neardup_options *options, neardup_pair **pairs,
									   size_t *count);

/* Takes a pair; returns false to end the call.  It must not use the session of the call. */
typedef bool (*neardup_take)(void *state, const neardup_pair *pair);

/* Passes the pairs of neardup_pairs() to a function, in order, whatever memory holds of them. */
NEARDUP_API neardup_code neardup_each_pair(neardup_session *session, const neardup_values *values,
										   const neardup_values *against,
										   const neardup_options *options, neardup_take take,
										   void *state);

#define NEARDUP_NO_KEEPER UINT32_MAX

/*
 * Finds the keeper of each value, as neardup_clusters() does: the first earlier keeper that
 * it is similar to, else itself.  Empty values have none.  With `against` keepers are its
 * values only, and a value may have none.  keeper and similarity have room for all values;
 * similarity may be NULL.
 */
NEARDUP_API neardup_code neardup_clusters(neardup_session *session, const neardup_values *values,
										  const neardup_values *against,
										  const neardup_options *options, uint32_t *keeper,
										  double *similarity);

/* ---- Rows whose pairs are known ------------------------------------------ */

/* Two rows, which have numbers below 2^63. */
typedef struct neardup_edge
{
	uint64_t a;
	uint64_t b;
	double similarity;
} neardup_edge;

/*
 * Takes some edges, or returns some, which are valid until the next call, and none after the last.
 * Returns false to end the call.  It must not use the session of the call.
 */
typedef bool (*neardup_take_edges)(void *state, const neardup_edge *edges, size_t count);
typedef bool (*neardup_next_edges)(void *state, const neardup_edge **edges, size_t *count);

/*
 * Passes on the keeper b of each row a that has one, in the order of the rows: what
 * neardup_clusters() finds of all values, if the edges are their pairs by neardup_pairs(), of all
 * parts, or each time of new values with each other and against older ones.  A row that is not
 * passed on is a keeper, unless its value is empty.  Rows of similarity 1 are equal, and each
 * stands for all.  Edges may have any order, and come more than once.  Not for pairs by containment
 * or with `contained`: there a keeper depends on sizes, and similarity 1 is of a part, too.
 *
 * Memory is a bit for each row up to the last one that is no keeper, 32 to 64 bytes for each that
 * equals another, and about options->memory; of the other options only `nearest` counts.
 */
NEARDUP_API neardup_code neardup_keepers(neardup_session *session, neardup_next_edges next,
										 neardup_take_edges take, void *state,
										 const neardup_options *options);

/* ---- Arrow -------------------------------------------------------------- */

/* The Arrow C data interface, as its specification has it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema
{
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray
{
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

/* A column, or a table, whose columns are children of the format "+s". */
typedef struct neardup_field
{
	const char *format; /* the format as in ArrowSchema, such as "w:76" */
	const char *name;
	size_t count;
	const bool *null;      /* whether each value is null; NULL: none is */
	const void *buffer[2]; /* the buffers of the format behind the validity; NULL: fewer */
	size_t bytes[2];
	size_t children;
	const struct neardup_field *child;
} neardup_field;

/* Makes an array of copies of a column's buffers; it does not depend on the session. */
NEARDUP_API neardup_code neardup_export(neardup_session *session, const neardup_field *field,
										struct ArrowSchema *schema, struct ArrowArray *array);

/*
 * Destructors of Python's capsules of an ArrowSchema or ArrowArray, which they release, and free
 * as malloc() has allocated it; and what they need to be told first: PyCapsule_GetPointer.
 */
NEARDUP_API void neardup_capsules(void *(*get_pointer)(void *capsule, const char *name));
NEARDUP_API void neardup_free_schema(void *capsule);
NEARDUP_API void neardup_free_array(void *capsule);

#endif
