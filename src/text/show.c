/*
 * show.c: shingles with the text they stand for.
 *
 * The hashes are those of shingle_text, in its order; a shingle's text is the
 * like window of the normalised tokens, joined by single spaces.
 */
#include <string.h>

#include "internal.h"

/* The hashes of a text's shingles, all of them. */
typedef struct HashList
{
	uint64_t *hash;
	size_t count;
	size_t room;
} HashList;

/* The tokens of a text, joined by single spaces. */
typedef struct Joined
{
	char *text;
	size_t length;
	size_t room;
} Joined;

/* The window that moves over the joined tokens, a unit a step. */
typedef struct Window
{
	const Joined *joined;
	bool by_characters;
	size_t start;
	size_t end;
} Window;

/* What has been found: an open-addressing table of indexes into shown. */
typedef struct Found
{
	ShownShingle *shown;
	size_t count;
	size_t *slot; /* index + 1, 0 is free */
	size_t mask;  /* slots - 1 */
} Found;

/* Grow an array so that wanted elements fit. */
static void *
with_room(void *array, size_t *room, size_t wanted, size_t element)
{
	if (wanted <= *room)
		return array;
	*room = wanted > 2 * *room ? wanted : 2 * *room;
	return array ? host_realloc(array, *room * element) : host_alloc(*room * element);
}

/* A HashSink. */
static void
list_hashes(void *state, const uint64_t *hashes, size_t count)
{
	HashList *list = state;

	list->hash = with_room(list->hash, &list->room, list->count + count, sizeof(uint64_t));
	memcpy(list->hash + list->count, hashes, count * sizeof(uint64_t));
	list->count += count;
}

/* A TokenSink. */
static void
join_tokens(void *state, const TokenBatch *batch)
{
	Joined *joined = state;

	for (size_t i = 0; i < batch->count; i++)
	{
		uint32_t start = batch->edge[2 * i];
		uint32_t length = batch->edge[2 * i + 1] - start;

		joined->text = with_room(joined->text, &joined->room, joined->length + length + 1, 1);
		if (joined->length > 0)
			joined->text[joined->length++] = ' ';
		memcpy(joined->text + joined->length, batch->bytes + start, length);
		joined->length += length;
	}
}

/* ---- The window --------------------------------------------------------- */

/* Where the unit that starts at a place ends. */
static size_t
unit_end(const Window *w, size_t at)
{
	const char *text = w->joined->text;
	size_t length = w->joined->length;
	const char *space;

	if (!w->by_characters)
	{
		space = memchr(text + at, ' ', length - at);
		return space ? (size_t) (space - text) : length;
	}
	at++;
	while (at < length && ((uint8_t) text[at] & 0xC0) == 0x80)
		at++;
	return at;
}

/* Where the unit starts that follows the one that ends here. */
static inline size_t
next_start(const Window *w, size_t unit_end)
{
	return w->by_characters ? unit_end : unit_end + 1;
}

/* Open the window over the first width units, or all where there are fewer. */
static Window
open_window(const Joined *joined, SchemeId scheme)
{
	Window w = {joined, SCHEME_KIND(scheme) == SCHEME_CHAR, 0, 0};

	w.end = unit_end(&w, 0);
	for (int i = 1; i < SCHEME_WIDTH(scheme) && w.end < joined->length; i++)
		w.end = unit_end(&w, next_start(&w, w.end));
	return w;
}

/* Move on by a unit; false at the end of the text. */
static bool
move_window(Window *w)
{
	if (w->end >= w->joined->length)
		return false;
	w->start = next_start(w, unit_end(w, w->start));
	w->end = unit_end(w, next_start(w, w->end));
	return true;
}

/* Move on to where a stop word begins, if the window does not stand there. */
static void
find_anchor(Window *w)
{
	do
	{
		const char *first = w->joined->text + w->start;

		if (is_stop_word(shingle_of_token(first, unit_end(w, w->start) - w->start)))
			return;
	} while (move_window(w));
}

/* ---- Distinct shingles -------------------------------------------------- */

/* Note an occurrence of the shingle under the window. */
static void
note(Found *found, const Window *w, uint64_t hash)
{
	ShownShingle *new = found->shown + found->count;
	size_t slot = mix64(hash) & found->mask;

	for (; found->slot[slot] != 0; slot = (slot + 1) & found->mask)
	{
		ShownShingle *old = found->shown + found->slot[slot] - 1;

		if (old->hash == hash)
		{
			old->count++;
			return;
		}
	}
	new->text = w->joined->text + w->start;
	new->length = (uint32_t) (w->end - w->start);
	new->count = 1;
	new->hash = hash;
	found->slot[slot] = ++found->count;
}

static void
make_slots(Found *found, size_t entries)
{
	size_t slots = 16;

	while (slots < 2 * entries)
		slots *= 2;
	found->mask = slots - 1;
	found->slot = host_alloc(slots * sizeof(size_t));
	memset(found->slot, 0, slots * sizeof(size_t));
}

/* Go along the text and its hashes together. */
static void
match_up(Found *found, const HashList *list, const Joined *joined, SchemeId scheme)
{
	Window w = open_window(joined, scheme);

	for (size_t i = 0; i < list->count; i++)
	{
		/* A single window may be a text too short to ask for a stop word. */
		if (SCHEME_KIND(scheme) == SCHEME_STOPWORD)
			find_anchor(&w);
		note(found, &w, list->hash[i]);
		move_window(&w);
		if (i % 4096 == 0)
			host_check_interrupts();
	}
}

/* Match up a text and its hashes, which are freed. */
static size_t
show(HashList *list, Joined *joined, SchemeId scheme, ShownShingle **shown)
{
	Joined kept;
	Found found;

	/* The texts stand behind the shingles, of which this is room enough. */
	found.shown = host_alloc(list->count * sizeof(ShownShingle) + joined->length + 1);
	found.count = 0;
	kept.text = (char *) (found.shown + list->count);
	kept.length = joined->length;
	*shown = found.shown;
	if (list->count > 0)
	{
		memcpy(kept.text, joined->text, joined->length);
		make_slots(&found, list->count);
		match_up(&found, list, &kept, scheme);
		host_free(found.slot);
		host_free(list->hash);
	}
	if (joined->text)
		host_free(joined->text);
	return found.count;
}

/* ---- Spot signatures ----------------------------------------------------- */

/* Signatures as they are found; their texts are units that spaces separate. */
typedef struct ShownSpots
{
	const Joined *tokens;
	HashList list;
	Joined joined;
} ShownSpots;

/* Append a token of the text after a separator. */
static void
append_token(ShownSpots *spots, size_t place, char separator)
{
	Joined *joined = &spots->joined;
	const char *token = spots->tokens->text + place;
	const char *space = memchr(token, ' ', spots->tokens->length - place);
	size_t length = space ? (size_t) (space - token) : spots->tokens->length - place;

	joined->text = with_room(joined->text, &joined->room, joined->length + length + 1, 1);
	if (joined->length > 0)
		joined->text[joined->length++] = separator;
	memcpy(joined->text + joined->length, token, length);
	joined->length += length;
}

/* A SpotSink. */
static void
list_spot(void *state, const Spot *spot)
{
	ShownSpots *spots = state;
	uint64_t hash = spot_hash(spot);

	for (uint64_t n = 0; n < spot->count; n++)
	{
		list_hashes(&spots->list, &hash, 1);
		for (int i = 0; i < spot->words; i++)
			append_token(spots, spot->place[i], i == 0 ? ' ' : ':');
	}
}

size_t
spots_to_show(const char *utf8, size_t length, const SpotWords *words, ShownShingle **shown)
{
	Joined tokens = {NULL, 0, 0};
	ShownSpots spots = {&tokens, {NULL, 0, 0}, {NULL, 0, 0}};
	SpotFinder *finder = spot_finder_begin(words, list_spot, &spots);
	Window w;

	tokens_of_text(utf8, length, join_tokens, &tokens);
	if (tokens.length > 0)
	{
		w = open_window(&tokens, SCHEME_ID(SCHEME_WORD, 1));
		do
		{
			spot_finder_add(finder, shingle_of_token(tokens.text + w.start, w.end - w.start),
							w.start);
			host_check_interrupts();
		} while (move_window(&w));
		host_free(tokens.text);
	}
	spot_finder_end(finder);
	return show(&spots.list, &spots.joined, SCHEME_ID(SCHEME_WORD, 1), shown);
}

/* ---- Shingles ------------------------------------------------------------ */

size_t
shingles_to_show(const char *utf8, size_t length, SchemeId scheme, ShownShingle **shown)
{
	HashList list = {NULL, 0, 0};
	Joined joined = {NULL, 0, 0};
	SpotWords words;

	if (SCHEME_KIND(scheme) == SCHEME_SPOT)
	{
		words = spot_words_of_scheme(scheme);
		return spots_to_show(utf8, length, &words, shown);
	}
	shingle_text(utf8, length, scheme, list_hashes, &list);
	tokens_of_text(utf8, length, join_tokens, &joined);
	return show(&list, &joined, scheme, shown);
}
