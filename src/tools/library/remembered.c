/*
 * remembered.c: the sets of texts that signers remember.
 */
#define _GNU_SOURCE
#include "library/session.h"

#include <stdatomic.h>

/* The lock of a memory is held for less time than a thread takes to sleep and wake: it spins first, if it can. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define SHORT_LOCK PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define SHORT_LOCK PTHREAD_MUTEX_INITIALIZER
#endif

neardup_code
neardup_signer_remember(neardup_session *session, neardup_signer *signer, double threshold,
						size_t bytes, bool later)
{
	static atomic_uint memories;
	Memory *memory;

	SESSION_BEGIN(session);
	session_check_threshold(threshold);
	if (signer->kind != NEARDUP_MINHASH || signer->memory != NULL)
		session_fail(NEARDUP_INVALID, "a signer of minhashes remembers sets, and begins to once");
	memory = host_alloc(sizeof(Memory));
	*memory = (Memory){.tag = atomic_fetch_add(&memories, 1) % UINT8_MAX + 1,
					   .later = later,
					   .sets = lone_begin(threshold, bytes)};
	memory->lock = (pthread_mutex_t) SHORT_LOCK;
	session_keep(memory->sets.seen.bits);
	session_keep(memory->sets.list);
	session_keep(memory->sets.similar);
	session_keep(memory);
	signer->memory = memory;
	return session_end();
}

/* Frees a memory. */
void
memory_end(Memory *memory)
{
	pthread_mutex_destroy(&memory->lock);
	lone_end(&memory->sets);
	host_free(memory);
}

/* What is done with a memory while no other thread uses it. */
typedef struct MemoryUse
{
	Memory *memory;
	uint64_t digest; /* a set to add: its digest and elements; NULL: the others are found */
	const uint64_t *element;
	size_t count;
	bool lone;        /* no earlier set is similar to it */
	double threshold; /* the least resemblance at which the others are found */
	KeyNumbers others;
} MemoryUse;

/* A function of session_lend(). */
static void
use_memory(void *state)
{
	MemoryUse *use = state;
	Memory *memory = use->memory;

	if (use->element == NULL)
		use->others = lone_others(&memory->sets, use->threshold);
	else
		use->lone = lone_add(&memory->sets, use->digest, use->element, use->count);
	if (memory->sets.file != memory->file)
		session_keep_file(memory->file = memory->sets.file);
}

/* Uses a memory.  If it lacks a set then, it is of no use any more. */
static void
use_alone(neardup_session *session, MemoryUse *use)
{
	Memory *memory = use->memory;
	bool done;

	pthread_mutex_lock(&memory->lock);
	done = session_lend(session, use_memory, use);
	if (!done && use->element != NULL)
	{
		memory->tag = 0;
		memory->sets.file = memory->file;
	}
	pthread_mutex_unlock(&memory->lock);
	if (!done)
		session_fail_again();
}

/* Remembers a set.  Returns whether it is known to be similar to no earlier one. */
bool
remember_set(neardup_session *session, Memory *memory, uint64_t digest, const uint64_t *element,
			 size_t count)
{
	MemoryUse use = {.memory = memory, .digest = digest, .element = element, .count = count};

	use_alone(session, &use);
	return use.lone;
}

/* Returns the sets that are not lone, if one signer remembers those of all values. */
OtherSets
find_others(neardup_session *session, const neardup_values *const *values, int sides,
			double threshold)
{
	const neardup_signer *signer = values[0]->evidence->remembers;
	MemoryUse use = {.memory = signer != NULL ? signer->memory : NULL, .threshold = threshold};
	OtherSets none = {0};
	uint8_t tag;

	for (int side = 0; side < sides; side++)
		if (use.memory == NULL || values[side]->evidence->remembers != signer ||
			values[side]->evidence->digest == NULL)
			return none;
	tag = use.memory->tag;
	if (tag == 0)
		return none;
	use_alone(session, &use);
	return (OtherSets){tag, use.others};
}

/* Returns whether the set of a row is remembered, and similar to no other. */
bool
row_is_lone(const OtherSets *others, const neardup_values *values, uint32_t row)
{
	const Table *table = &others->digests.table;
	uint64_t digest;

	if (others->tag == 0)
		return false;
	digest = values->evidence->digest[value_position(values, row)];
	return DIGEST_TAG(digest) == others->tag &&
		*table_search_key(table, table_hash(table, digest), digest, others->digests.key,
						  sizeof(uint64_t)) == 0;
}
