/*
 * collect.h: the tokens and hashes of a text as lists, for tests of text/.
 */
#ifndef NEARDUP_COLLECT_H
#define NEARDUP_COLLECT_H

#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

/* Lists that grow; their arrays are freed by free(). */
typedef struct TokenList
{
	char *text; /* tokens joined by single spaces, zero-terminated */
	size_t length;
	size_t count;
} TokenList;

typedef struct HashList
{
	uint64_t *hash;
	size_t count;
} HashList;

/* Lists have room for this many bytes at first, and then for a power of two. */
#define LIST_ROOM 64

/* Returns memory of which `used` bytes are used, with room for `more`. */
static inline void *
list_with_room(void *memory, size_t used, size_t more)
{
	size_t room = LIST_ROOM;

	while (room < used)
		room *= 2;
	if (used + more <= room)
		return memory;
	while (room < used + more)
		room *= 2;
	return realloc(memory, room);
}

/* A TokenSink with a TokenList as its state. */
static inline void
collect_tokens(void *state, const TokenBatch *batch)
{
	TokenList *list = state;

	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		list->text = list_with_room(list->text, list->length + 1, length + 1);
		if (list->count++ > 0)
			list->text[list->length++] = ' ';
		memcpy(list->text + list->length, token, length);
		list->length += length;
		list->text[list->length] = '\0';
	}
}

/* Returns the tokens or chunks that a scheme makes its units of. */
static inline TokenList
words_from(const char *utf8, size_t length, SchemeId scheme)
{
	TokenList list = {calloc(1, LIST_ROOM), 0, 0};

	words_of_text(utf8, length, scheme, collect_tokens, &list);
	return list;
}

static inline TokenList
tokens_from(const char *utf8, size_t length)
{
	return words_from(utf8, length, SCHEME_ID(SCHEME_WORD, 1));
}

/* A HashSink with a HashList as its state. */
static inline void
collect_hashes(void *state, const uint64_t *hashes, size_t count)
{
	HashList *list = state;

	list->hash =
		list_with_room(list->hash, list->count * sizeof(uint64_t), count * sizeof(uint64_t));
	memcpy(list->hash + list->count, hashes, count * sizeof(uint64_t));
	list->count += count;
}

static inline HashList
hashes_from(const char *utf8, size_t length, SchemeId scheme)
{
	HashList list = {calloc(1, LIST_ROOM), 0};

	shingle_text(utf8, length, scheme, collect_hashes, &list);
	return list;
}

/* Returns the number of a scheme that exists. */
static inline SchemeId
scheme_called(const char *name)
{
	SchemeId id;

	if (!scheme_parse(name, strlen(name), &id))
		abort();
	return id;
}

#endif
