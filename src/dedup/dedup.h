/*
 * dedup.h: pairs and clusters of near-duplicates among the rows of a query.
 *
 * A query is read once into a source.  Rows whose signatures are equal are one
 * document; documents are numbered in the order of their first rows.  The
 * documents are joined (join.c), and the pairs are made rows again.
 */
#ifndef NEARDUP_DEDUP_DEDUP_H
#define NEARDUP_DEDUP_DEDUP_H

#include "sql/sql.h"

#include "funcapi.h"
#include "storage/buffile.h"
#include "utils/resowner.h"

#include "sketch/bag.h"
#include "sql/shingles.h"
#include "sql/signature.h"

/* ---- What a call did (stats.c) ------------------------------------------ */

/* Stars take several joins, as do signatures that outgrow memory. */
typedef struct CallStats
{
	int64 rows;
	int64 documents;
	int64 joins;
	bool sets;
	int groups; /* of the first join of signatures: its plan */
	int radius;
	int one_more;
	int workers;      /* that came, in the join that most came to */
	int64 partitions; /* of the first join of sets */
	int64 met;        /* pairs that met in a list, or in neighbouring buckets of a group */
	int64 length;     /* given up by the difference of their lengths */
	int64 frequency;  /* given up by the frequency already passed */
	int64 compared;   /* the others that were compared as a whole */
	int64 pairs;      /* handed out */
} CallStats;

/* From now on neardup_join_stats() shows these. */
extern void stats_show(const CallStats *stats);

/* ---- Options of a call -------------------------------------------------- */

typedef struct Options
{
	Oid function; /* that was called */
	double threshold;
	bool multiset; /* similarity of shingles as multisets */
	double verify; /* least similarity of the evidence; 0: there is none */
	double recall;
	CallStats *stats;
} Options;

/* ---- Progress (progress.c) ---------------------------------------------- */

typedef enum Phase
{
	PHASE_READING,
	PHASE_READING_AGAINST,
	PHASE_JOINING,
	PHASE_CLUSTERING
} Phase;

extern void progress_begin(void);
extern void progress_phase(Phase phase);
extern void progress_rows(uint32 rows);
extern void progress_groups(int64 done, int64 total);
extern void progress_pair(void);
extern void progress_end(void);

/* ---- Records of one size (store.c) -------------------------------------- */

/*
 * In memory up to a limit, then in a temporary file.  The records that are not
 * in the file are the last ones.
 */
typedef struct Store
{
	MemoryContext context;
	ResourceOwner owner; /* of the file */
	size_t stride;
	uint32 limit;    /* records in memory, at most */
	uint32 records;  /* all */
	uint32 flushed;  /* in the file */
	uint8 *memory;   /* the others */
	uint32 room;     /* records that memory has room for */
	BufFile *file;   /* NULL: none */
	uint32 position; /* record that the file is read at next */
} Store;

/* owner: of the file, should there be one; not that of a query that feeds it. */
extern Store *store_begin(MemoryContext context, ResourceOwner owner, size_t stride, uint32 limit);

/* Room for one more record, all zero; it counts once store_add is called. */
extern uint8 *store_next(Store *store);
extern void store_add(Store *store);

/* Move what is in memory to the file. */
extern void store_flush(Store *store);

/* Once all records are in the file, and none will be added. */
extern void store_free_memory(Store *store);

/* A record: in memory, or read into buffer. */
extern const uint8 *store_record(Store *store, uint32 record, uint8 *buffer);

extern void store_end(Store *store);

/* ---- Bytes of any length (store.c) -------------------------------------- */

typedef struct Heap
{
	MemoryContext context;
	ResourceOwner owner;
	BufFile *file;
	int64 end;
} Heap;

extern void heap_begin(Heap *heap, MemoryContext context, ResourceOwner owner);

/* Append, and where it begins. */
extern int64 heap_add(Heap *heap, const void *bytes, size_t size);

/* What was appended there, palloc'd. */
extern void *heap_read(Heap *heap, int64 position);
extern void heap_end(Heap *heap);

/* ---- A query read (source.c) -------------------------------------------- */

#define NO_ROW UINT32_MAX
#define NO_DOCUMENT UINT32_MAX

typedef struct Collapse Collapse;

typedef struct Source
{
	MemoryContext context;
	ResourceOwner owner; /* of files */
	const char *name;    /* of the argument */
	const Options *options;

	/* Rows, in the query's order. */
	uint32 rows;
	uint32 row_room;
	Oid id_type;
	int16 id_length;
	bool id_by_value;
	Datum *id;
	uint32 *next; /* next row of the same document */

	/* Documents. */
	bool sets; /* bags; else signatures */
	uint32 documents;
	uint32 document_room;
	uint32 *first;         /* its first row */
	uint32 *last;          /* its last one */
	bool shaped;           /* is the shape known? */
	SignatureHeader shape; /* of sets: version and scheme */
	Store *store;          /* symbols, then a digest of the evidence */
	Bag *bag;
	int64 *evidence; /* where it is in the heap */
	Heap heap;
	Collapse *collapse;
} Source;

/*
 * Read a query that returns ids of a type and signatures.  like: a source read
 * before, whose kind of signatures it must have, or NULL.
 */
extern Source *source_read(const char *name, const char *query, Oid id_type, const Options *options,
						   const Source *like);

/* Close its files and free it. */
extern void source_end(Source *source);

/* ---- Equal signatures (collapse.c) -------------------------------------- */

#define DIGEST_BYTES 16

extern void collapse_begin(Source *source);

/*
 * Give a row to the document that equals the record, which is store_next(), or
 * the bag; or make a new one of it: true.
 */
extern bool collapse_add(Source *source, uint32 row, const uint8 *record, const Bag *bag);

/* Move the documents in memory to the file, but for those that it has. */
extern void collapse_flush(Source *source);
extern void collapse_end(Source *source);

extern void collapse_digest(const void *bytes, size_t size, uint8 *digest);

/* Rows of a document, ascending. */
#define for_each_row(source, document, row) \
	for (uint32 row = (source)->first[document]; row != NO_ROW; row = (source)->next[row])

/* ---- Joins (join.c) --------------------------------------------------- */

/* Documents of a source, ascending; all of them where doc is NULL. */
typedef struct Documents
{
	Source *source;
	const uint32 *doc;
	uint32 count;
} Documents;

/* a is a document of the first source, b of the second; of one source a < b.  False ends it. */
typedef bool (*PairSink)(void *state, uint32 a, uint32 b, double similarity);

static inline Documents
all_documents(Source *source)
{
	return (Documents){source, NULL, source->documents};
}

/*
 * Hand all pairs that reach the threshold to sink; right NULL: within left.
 * Was it done to the end?
 */
extern bool documents_join(const Documents *left, const Documents *right, PairSink sink,
						   void *state);

/* The similarity of two documents of a source. */
extern double documents_similarity(Source *source, uint32 a, uint32 b);

#endif
