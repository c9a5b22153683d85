/*
 * session.h: sessions from the inside: calls of the library, their memory and their errors.
 */
#ifndef NEARDUP_LIBRARY_SESSION_H
#define NEARDUP_LIBRARY_SESSION_H

#include <pthread.h>
#include <setjmp.h>

#include "join/pairs.h"
#include "library/neardup.h"
#include "sketch/forms.h"
#include "sketch/lone_sets.h"

/* Memory that a call has allocated and not freed, in a ring. */
typedef struct Block
{
	struct Block *next;
	struct Block *previous;
} Block;

/* The temporary files of a call, in a ring. */
typedef struct FileLink
{
	struct FileLink *next;
	struct FileLink *previous;
} FileLink;

struct neardup_session
{
	neardup_host host;
	Block blocks;           /* the blocks of the call under way */
	FileLink files;         /* the files of the call under way */
	jmp_buf failed;         /* the position where an error of the call goes */
	int thread;             /* number of the thread, of those that a call has started */
	neardup_session *outer; /* the session whose call led, by the host, to this one */
	neardup_code code;
	char message[512];
};

/* The sets of a signer that neardup_signer_remember() was told of. */
typedef struct Memory
{
	pthread_mutex_t lock;
	uint8_t tag;    /* differs from the tags of the next memories; 0: it is of no use any more */
	bool later;     /* minhashes of sets like no earlier one are not made */
	HostFile *file; /* the file of `sets` once it is kept */
	LoneSets sets;
} Memory;

/* What a signer is made for; its lexicon is its own. */
struct neardup_signer
{
	neardup_kind kind;
	SignatureMaker maker; /* the maker for shingles: scheme, weights and the header's scheme */
	LexiconParts lexicon;
	Weights weights;
	uint64_t whole;  /* texts that were weighed whole */
	uint64_t secret; /* the secret of digests */
	Memory *memory;  /* the memory of neardup_signer_remember(), or NULL */
};

/*
 * Begins a call of the library.  Its end frees what it has allocated, unless session_keep() has
 * been told of it.  An error returns its code from the function that has this line.
 */
#define SESSION_BEGIN(session) \
	do \
	{ \
		if (setjmp(*session_begin(session)) != 0) \
			return session_end(); \
	} while (0)

extern jmp_buf *session_begin(neardup_session *session);
extern neardup_code session_end(void);
extern int session_thread(void);
extern void session_keep(void *memory);
extern bool session_lend(neardup_session *owner, void (*function)(void *state), void *state);
extern void session_warn(const neardup_session *session, double family, double minutes);
extern _Noreturn void session_fail_again(void);
extern _Noreturn void session_fail(neardup_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- Threads (threads.c) ------------------------------------------------ */

/* A call whose work threads share. */
typedef struct ThreadCall
{
	neardup_session *session;
	int jobs;
	PairStats stats;
} ThreadCall;

extern void thread_run_join(void *state, PairJoin *join, PairSink sink, void *sink_state);
extern void thread_share(void *state, int count, PairWork work, void *work_state);

/* ---- Temporary files (file.c) ------------------------------------------- */

extern void session_link_file(FileLink *link);
extern void session_unlink_file(FileLink *link);
extern HostFile *session_reopen(HostFile *file);
extern void session_keep_file(HostFile *file);
extern void session_flush_file(HostFile *file);

/* ---- Values (values.c) -------------------------------------------------- */

/* A value that was read. */
typedef struct Value
{
	neardup_kind kind;
	Signature signature; /* the signature; of a set only the header */
	Bag bag;
	LexiconParts lexicon;
} Value;

extern Value value_read(neardup_kind kind, const void *bytes, size_t length, bool text);
extern neardup_bytes value_write(const Value *value, bool text);
extern bool value_is_empty(const Value *value);

/* Returns the position of a row. */
static inline size_t
value_position(const neardup_values *values, size_t row)
{
	return values->chosen != NULL ? values->chosen[row] : row;
}

extern const uint8_t *value_bytes(const neardup_values *values, size_t row, size_t *length);
extern uint32_t value_block(neardup_kind kind, const uint8_t *value, size_t length,
							uint32_t blocks);
extern void session_check_threshold(double threshold);
extern size_t default_memory(void);
extern void check_comparable(const Value *x, const SignatureHeader *y);

/* ---- Texts (signers.c) ------------------------------------------------------ */

/* The tag of the memory that has the set of a digest, 0 if none has: its lowest byte. */
#define DIGEST_TAG(digest) ((uint8_t) (digest))

/* A text of a column; a null is empty. */
typedef struct ColumnText
{
	const char *utf8;
	size_t length;
	bool null;
} ColumnText;

extern Value set_of_text(const SignatureMaker *maker, const char *utf8, size_t length);
extern void check_column(const neardup_column *texts);
extern ColumnText text_at(const neardup_column *texts, size_t i);
extern void make_signature(neardup_session *session, const neardup_signer *signer, const char *utf8,
						   size_t length, uint8_t *to, uint64_t *digest);

/* ---- Sets that signers remember (remembered.c) ---------------------------- */

/* The digests, with a tag, of the sets that are not lone; the tag is 0 if this is not known. */
typedef struct OtherSets
{
	uint8_t tag;
	KeyNumbers digests;
} OtherSets;

extern void memory_end(Memory *memory);
extern bool remember_set(neardup_session *session, Memory *memory, uint64_t digest,
						 const uint64_t *element, size_t count);
extern OtherSets find_others(neardup_session *session, const neardup_values *const *values,
							 int sides, double threshold);
extern bool row_is_lone(const OtherSets *others, const neardup_values *values, uint32_t row);

#endif
