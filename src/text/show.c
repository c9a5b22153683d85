/*
 * show.c: shingles with the text they stand for.
 *
 * The hashes are those of shingle_text, in its order; a shingle's text is the
 * like window of the normalised tokens, joined by single spaces.  A distinct
 * shingle takes some 40 bytes beside them, however long it is and however often it
 * occurs: its text is only put together when it is asked for.
 */
#include <string.h>

#include "text/internal.h"

/* The window that moves over the joined tokens, a unit a step. */
typedef struct Window
{
	const char *text;
	size_t length;
	bool by_characters;
	size_t start;
	size_t end;
} Window;

/* What moves along a text. */
typedef struct Finder
{
	ShownShingles *shown;
	bool anchored;
	Window window;
} Finder;

/* A loop over so many units asks for interrupts in between. */
#define PASS_STEP 4096

/* Grow an array so that wanted elements fit. */
static void *
with_room(void *array, size_t *room, size_t wanted, size_t element)
{
	if (wanted <= *room)
		return array;
	*room = wanted > 2 * *room ? wanted : 2 * *room;
	return array ? host_realloc(array, *room * element) : host_alloc(*room * element);
}

/* A TokenSink with ShownShingles as its state. */
static void
join_tokens(void *state, const TokenBatch *batch)
{
	ShownShingles *shown = state;

	for (size_t i = 0; i < batch->count && !shown->too_many; i++)
	{
		uint32_t start = batch->edge[2 * i];
		uint32_t length = batch->edge[2 * i + 1] - start;
		size_t wanted = shown->length + length + 1;

		if (wanted > SHOWN_TEXT_MAX)
		{
			shown->too_many = true;
			return;
		}
		shown->text = with_room(shown->text, &shown->room, wanted, 1);
		if (shown->length > 0)
			shown->text[shown->length++] = ' ';
		memcpy(shown->text + shown->length, batch->bytes + start, length);
		shown->length += length;
	}
}

/* Nothing is found yet; the tokens of the text are joined. */
static void
begin(ShownShingles *shown, const char *utf8, size_t length)
{
	memset(shown, 0, sizeof(*shown));
	table_begin(&shown->table, 0);
	shown->shingle = host_alloc(shown->table.room * sizeof(ShownShingle));
	tokens_of_text(utf8, length, join_tokens, shown);
}

static void
free_if_any(void *memory)
{
	if (memory)
		host_free(memory);
}

void
shown_free(ShownShingles *shown)
{
	table_end(&shown->table);
	host_free(shown->shingle);
	free_if_any(shown->text);
	free_if_any(shown->place);
	free_if_any(shown->spot);
}

/* ---- Distinct shingles -------------------------------------------------- */

static uint64_t *
find_slot(const ShownShingles *shown, uint64_t hash)
{
	return table_search_key(&shown->table, table_hash(&shown->table, hash), hash,
							&shown->shingle[0].hash, sizeof(ShownShingle));
}

const ShownShingle *
shown_find(const ShownShingles *shown, uint64_t hash)
{
	const uint64_t *slot = find_slot(shown, hash);

	return *slot == 0 ? NULL : &shown->shingle[table_number(slot)];
}

/* Note occurrences of a shingle; returns it where it is new, and NULL where it is not. */
static ShownShingle *
note(ShownShingles *shown, uint64_t hash, uint64_t count)
{
	uint64_t *slot = find_slot(shown, hash);
	ShownShingle *found;

	if (*slot == 0 && shown->count == SHOWN_MAX)
		shown->too_many = true;
	if (shown->too_many)
		return NULL;
	if (*slot == 0 && shown->count == shown->table.room)
	{
		table_grow(&shown->table, shown->count + 1);
		shown->shingle = host_realloc(shown->shingle, shown->table.room * sizeof(ShownShingle));
		slot = find_slot(shown, hash);
	}
	if (*slot != 0)
	{
		found = &shown->shingle[table_number(slot)];
		found->count =
			count < INT32_MAX - found->count ? found->count + (uint32_t) count : INT32_MAX;
		return NULL;
	}
	found = &shown->shingle[table_put(&shown->table, slot, table_hash(&shown->table, hash))];
	shown->count++;
	found->hash = hash;
	found->count = count < INT32_MAX ? (uint32_t) count : INT32_MAX;
	return found;
}

/* ---- The window --------------------------------------------------------- */

/* Where the unit that starts at a place ends. */
static size_t
unit_end(const Window *w, size_t at)
{
	const char *space;

	if (!w->by_characters)
	{
		space = memchr(w->text + at, ' ', w->length - at);
		return space ? (size_t) (space - w->text) : w->length;
	}
	at++;
	while (at < w->length && ((uint8_t) w->text[at] & 0xC0) == 0x80)
		at++;
	return at;
}

/* Where the unit starts that follows the one that ends here. */
static inline size_t
next_start(const Window *w, size_t unit_end)
{
	return w->by_characters ? unit_end : unit_end + 1;
}

/* Open the window over the first width units, or all where there are fewer; there is one. */
static Window
open_window(const ShownShingles *shown, SchemeId scheme)
{
	Window w = {shown->text, shown->length, SCHEME_KIND(scheme) == SCHEME_CHAR, 0, 0};

	w.end = unit_end(&w, 0);
	for (int i = 1; i < SCHEME_WIDTH(scheme) && w.end < w.length; i++)
		w.end = unit_end(&w, next_start(&w, w.end));
	return w;
}

/* Move on by a unit; false at the end of the text. */
static bool
move_window(Window *w)
{
	if (w->end >= w->length)
		return false;
	w->start = next_start(w, unit_end(w, w->start));
	w->end = unit_end(w, next_start(w, w->end));
	return true;
}

/* Move on to where a stop word begins, if the window does not stand there. */
static void
find_anchor(Window *w)
{
	size_t steps = 0;

	do
	{
		const char *first = w->text + w->start;

		if (is_stop_word(shingle_of_token(first, unit_end(w, w->start) - w->start)))
			return;
		if (++steps % PASS_STEP == 0)
			host_check_interrupts();
	} while (move_window(w));
}

/* A HashSink with a Finder as its state: goes along the text and its hashes together. */
static void
find_shingles(void *state, const uint64_t *hashes, size_t count)
{
	Finder *finder = state;
	Window *w = &finder->window;

	host_check_interrupts();
	for (size_t i = 0; i < count && !finder->shown->too_many; i++)
	{
		ShownShingle *new;

		/* A single window may be a text too short to ask for a stop word. */
		if (finder->anchored)
			find_anchor(w);
		new = note(finder->shown, hashes[i], 1);
		if (new)
		{
			new->start = (uint32_t) w->start;
			new->length = (uint32_t) (w->end - w->start);
		}
		move_window(w);
	}
}

bool
shingles_to_show(const char *utf8, size_t length, SchemeId scheme, ShownShingles *shown)
{
	Finder finder = {shown, SCHEME_KIND(scheme) == SCHEME_STOPWORD};
	SpotWords words;

	if (SCHEME_KIND(scheme) == SCHEME_SPOT)
	{
		words = spot_words_of_scheme(scheme);
		return spots_to_show(utf8, length, &words, shown);
	}
	begin(shown, utf8, length);
	if (shown->length == 0 || shown->too_many)
		return !shown->too_many;
	finder.window = open_window(shown, scheme);
	shingle_text(utf8, length, scheme, find_shingles, &finder);
	return !shown->too_many;
}

/* ---- Spot signatures ----------------------------------------------------- */

/* A SpotSink with ShownShingles as its state. */
static void
find_spot(void *state, const Spot *spot)
{
	ShownShingles *shown = state;
	ShownShingle *new = note(shown, spot_hash(spot), spot->count);

	if (!new)
		return;
	new->start = (uint32_t) shown->places;
	new->length = (uint32_t) spot->words;
	shown->place =
		with_room(shown->place, &shown->place_room, shown->places + spot->words, sizeof(uint32_t));
	for (int i = 0; i < spot->words; i++)
		shown->place[shown->places++] = (uint32_t) spot->place[i];
}

bool
spots_to_show(const char *utf8, size_t length, const SpotWords *words, ShownShingles *shown)
{
	SpotFinder *finder;
	size_t steps = 0;
	Window w;

	begin(shown, utf8, length);
	shown->of_spots = true;
	if (shown->length == 0 || shown->too_many)
		return !shown->too_many;
	finder = spot_finder_begin(words, find_spot, shown);
	w = open_window(shown, SCHEME_ID(SCHEME_WORD, 1));
	do
	{
		spot_finder_add(finder, shingle_of_token(w.text + w.start, w.end - w.start), w.start);
		if (++steps % (PASS_STEP / 16) == 0)
			host_check_interrupts();
	} while (!shown->too_many && move_window(&w));
	spot_finder_end(finder);
	return !shown->too_many;
}

/* The words of a signature, joined by ':'. */
static const char *
spot_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length)
{
	const Window tokens = {shown->text, shown->length, false, 0, 0};
	size_t filled = 0;

	for (uint32_t i = 0; i < shingle->length; i++)
	{
		size_t place = shown->place[shingle->start + i];
		size_t bytes = unit_end(&tokens, place) - place;

		shown->spot = with_room(shown->spot, &shown->spot_room, filled + bytes + 1, 1);
		if (i > 0)
			shown->spot[filled++] = ':';
		memcpy(shown->spot + filled, shown->text + place, bytes);
		filled += bytes;
	}
	*length = filled;
	return shown->spot;
}

const char *
shown_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length)
{
	if (shown->of_spots)
		return spot_text(shown, shingle, length);
	*length = shingle->length;
	return shown->text + shingle->start;
}
