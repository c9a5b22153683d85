/*
 * many_passages.c: passages of many texts that stood before.
 */
#include "library/session.h"

#include "join/repeats.h"

struct neardup_passages
{
	pthread_mutex_t lock; /* taken by calls that read the files */
	uint64_t seed;
	Repeats repeats;
};

neardup_code
neardup_passages_new(neardup_session *session, uint32_t run, size_t memory,
					 neardup_passages **passages)
{
	neardup_passages *made;

	SESSION_BEGIN(session);
	if (run < 1 || run > NEARDUP_RUN_MOST)
		session_fail(NEARDUP_INVALID, "a passage has from 1 to %d words, not %u", NEARDUP_RUN_MOST,
					 run);
	made = host_alloc(sizeof(neardup_passages));
	made->seed = host_random_seed();
	made->repeats = repeats_begin(run, memory > 0 ? memory : default_memory());
	pthread_mutex_init(&made->lock, NULL);
	session_keep_file(made->repeats.words);
	session_keep_file(made->repeats.places);
	session_keep_file(made->repeats.blocks);
	session_keep_file(made->repeats.records);
	session_keep_file(made->repeats.parts);
	session_keep(made);
	*passages = made;
	return session_end();
}

neardup_code
neardup_passages_free(neardup_session *session, neardup_passages *passages)
{
	SESSION_BEGIN(session);
	repeats_end(&passages->repeats);
	pthread_mutex_destroy(&passages->lock);
	host_free(passages);
	return session_end();
}

neardup_code
neardup_passages_words(neardup_session *session, const neardup_passages *passages,
					   const neardup_column *texts, bool one_record, neardup_bytes *words)
{
	PlacedWords made = {.seed = passages->seed};

	SESSION_BEGIN(session);
	check_column(texts);
	for (size_t i = 0; i < texts->count; i++)
	{
		ColumnText text = text_at(texts, i);

		placed_words_add(&made, text.utf8, text.length);
		if (!one_record || i + 1 == texts->count)
			placed_words_end_record(&made);
	}
	session_keep(made.word);
	*words = (neardup_bytes){(uint8_t *) made.word, made.count * sizeof(PlacedWord)};
	return session_end();
}

neardup_code
neardup_passages_add(neardup_session *session, neardup_passages *passages,
					 const neardup_bytes *words)
{
	SESSION_BEGIN(session);
	if (passages->repeats.found)
		session_fail(NEARDUP_INVALID, "passages have been found: no words are added any more");
	repeats_add(&passages->repeats, (const PlacedWord *) words->bytes,
				words->length / sizeof(PlacedWord));
	return session_end();
}

neardup_code
neardup_passages_find(neardup_session *session, neardup_passages *passages, const uint64_t *against)
{
	SESSION_BEGIN(session);
	if (against != NULL && *against > passages->repeats.record_count)
		session_fail(NEARDUP_INVALID, "there are no such records");
	repeats_find(&passages->repeats, against);
	return session_end();
}

/* The header has the struct of the core, with the same members. */
_Static_assert(sizeof(neardup_passage) == sizeof(RepeatedPart) &&
				   offsetof(neardup_passage, first_to) == offsetof(RepeatedPart, first_to),
			   "passages of the header are parts of the core");

/* Returns passages as a call of the library. */
static neardup_code
call_repeats_of(neardup_session *session, const Repeats *repeats, uint64_t first, uint64_t count,
				neardup_passage **found, size_t *passages)
{
	SESSION_BEGIN(session);
	if (first > repeats->record_count || count > repeats->record_count - first)
		session_fail(NEARDUP_INVALID, "there are no such records");
	*found = (neardup_passage *) repeats_of(repeats, first, count, passages);
	session_keep(*found);
	return session_end();
}

neardup_code
neardup_passages_of(neardup_session *session, neardup_passages *passages, uint64_t first,
					uint64_t count, neardup_passage **found, size_t *number)
{
	neardup_code code;

	pthread_mutex_lock(&passages->lock);
	code = call_repeats_of(session, &passages->repeats, first, count, found, number);
	pthread_mutex_unlock(&passages->lock);
	return code;
}
