/*
 * show.c: shingles with their text.
 *
 * The hashes are what shingle_text() makes, in its order.  A window moves over the normalised
 * tokens, separated by single spaces, and shows the text of each hash.  A distinct shingle
 * takes about 40 bytes, however long and frequent it is, since its text is a position in the
 * text of all tokens.
 */
#include "text/internal.h"

#include <string.h>

/* A window that moves over all tokens, by one unit a step. */
typedef struct Window
{
	const char *text;
	size_t length;
	bool by_characters;
	size_t start;
	size_t end;
} Window;

/* Moves the window along with the hashes of a text. */
typedef struct Finder
{
	ShownShingles *shown;
	bool anchored; /* shingles start with a stop word */
	Window window;
} Finder;

/* Adds tokens to the text; a TokenSink with ShownShingles as its state. */
static void
join_tokens(void *state, const TokenBatch *batch)
{
	ShownShingles *shown = state;

	for (size_t i = 0; i < batch->count && !shown->too_many; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		size_t needed = shown->length + length + 1;

		if (needed > SHOWN_TEXT_MAX)
		{
			shown->too_many = true;
			return;
		}
		shown->text = host_grow(shown->text, &shown->room, needed, 1);
		if (shown->length > 0)
			shown->text[shown->length++] = ' ';
		memcpy(shown->text + shown->length, token, length);
		shown->length += length;
	}
}

/* Starts without shingles, and with the text of all tokens or chunks. */
static void
show_begin(ShownShingles *shown, const char *utf8, size_t length, SchemeId scheme)
{
	memset(shown, 0, sizeof(*shown));
	table_begin(&shown->table, 0);
	shown->shingle = host_alloc(shown->table.room * sizeof(ShownShingle));
	words_of_text(utf8, length, scheme, join_tokens, shown);
}

/* Frees the shingles found. */
void
shown_free(ShownShingles *shown)
{
	table_end(&shown->table);
	host_free(shown->shingle);
	host_free(shown->text);
	host_free(shown->position);
	host_free(shown->spot);
}

/* ---- Distinct shingles -------------------------------------------------- */

static uint64_t *
find_slot(const ShownShingles *shown, uint64_t hash)
{
	return table_search_key(&shown->table, table_hash(&shown->table, hash), hash,
							&shown->shingle[0].hash, sizeof(ShownShingle));
}

/* Returns the shingle of a hash, NULL if there is none. */
const ShownShingle *
shown_find(const ShownShingles *shown, uint64_t hash)
{
	const uint64_t *slot = find_slot(shown, hash);

	return *slot == 0 ? NULL : &shown->shingle[table_number(slot)];
}

/* Counts occurrences of a shingle; returns it if it is new, else NULL. */
static ShownShingle *
count_shingle(ShownShingles *shown, uint64_t hash, uint64_t count)
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
		found->count += (uint32_t) Min(count, INT32_MAX - found->count);
		return NULL;
	}
	found = &shown->shingle[table_put(&shown->table, slot, table_hash(&shown->table, hash))];
	shown->count++;
	found->hash = hash;
	found->count = (uint32_t) Min(count, INT32_MAX);
	return found;
}

/* ---- The window --------------------------------------------------------- */

/* Returns the end of the unit that starts at a position. */
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

/* Returns the start of the unit after the one that ends here. */
static inline size_t
next_start(const Window *w, size_t unit_end)
{
	return w->by_characters ? unit_end : unit_end + 1;
}

/* Returns the window over the first width units, or all if there are fewer, but at least one. */
static Window
open_window(const ShownShingles *shown, SchemeId scheme)
{
	Window w = {.text = shown->text,
				.length = shown->length,
				.by_characters = scheme_has_characters(scheme)};

	w.end = unit_end(&w, 0);
	for (int i = 1; i < SCHEME_WIDTH(scheme) && w.end < w.length; i++)
		w.end = unit_end(&w, next_start(&w, w.end));
	return w;
}

/* Moves the window by a unit; returns false at the end of the text. */
static bool
move_window(Window *w)
{
	if (w->end >= w->length)
		return false;
	w->start = next_start(w, unit_end(w, w->start));
	w->end = unit_end(w, next_start(w, w->end));
	return true;
}

/* Moves the window until it starts with a stop word. */
static void
find_anchor(Window *w)
{
	size_t steps = 0;

	do
	{
		const char *first = w->text + w->start;

		if (is_stop_word(shingle_of_token(first, unit_end(w, w->start) - w->start)))
			return;
		host_check_interrupts_at(++steps);
	} while (move_window(w));
}

/* Finds the text of hashes; a HashSink with a Finder as its state. */
static void
find_shingles(void *state, const uint64_t *hashes, size_t count)
{
	Finder *finder = state;
	Window *w = &finder->window;

	host_check_interrupts();
	for (size_t i = 0; i < count && !finder->shown->too_many; i++)
	{
		ShownShingle *new;

		/* A text of one window has a shingle even without a stop word. */
		if (finder->anchored)
			find_anchor(w);
		new = count_shingle(finder->shown, hashes[i], 1);
		if (new)
		{
			new->start = (uint32_t) w->start;
			new->length = (uint32_t) (w->end - w->start);
		}
		move_window(w);
	}
}

/*
 * Finds the distinct shingles of a text.  Returns false if they are too many to be shown.
 * The caller frees them by shown_free in either case.
 */
bool
shingles_to_show(const char *utf8, size_t length, SchemeId scheme, ShownShingles *shown)
{
	Finder finder = {.shown = shown, .anchored = SCHEME_KIND(scheme) == SCHEME_STOPWORD};

	if (SCHEME_KIND(scheme) == SCHEME_SPOT)
	{
		SpotWords words = spot_words_of_scheme(scheme);

		return spots_to_show(utf8, length, &words, shown);
	}
	show_begin(shown, utf8, length, scheme);
	if (shown->length == 0 || shown->too_many)
		return !shown->too_many;
	finder.window = open_window(shown, scheme);
	shingle_text(utf8, length, scheme, find_shingles, &finder);
	return !shown->too_many;
}

/* ---- Spot signatures ----------------------------------------------------- */

/* Adds a spot signature; a SpotSink with ShownShingles as its state. */
static void
find_spot(void *state, const Spot *spot)
{
	ShownShingles *shown = state;
	ShownShingle *new = count_shingle(shown, spot_hash(spot), spot->count);

	if (!new)
		return;
	new->start = (uint32_t) shown->positions;
	new->length = (uint32_t) spot->words;
	shown->position = host_grow(shown->position, &shown->position_room,
								shown->positions + spot->words, sizeof(uint32_t));
	for (int i = 0; i < spot->words; i++)
		shown->position[shown->positions++] = (uint32_t) spot->position[i];
}

/*
 * Finds the distinct spot signatures of a text.  Returns false if they are too many to be
 * shown.  The caller frees them by shown_free in either case.
 */
bool
spots_to_show(const char *utf8, size_t length, const SpotWords *words, ShownShingles *shown)
{
	SpotFinder *finder;
	Window w;

	show_begin(shown, utf8, length, SCHEME_ID(SCHEME_WORD, 1));
	shown->of_spots = true;
	if (shown->length == 0 || shown->too_many)
		return !shown->too_many;
	finder = spot_finder_begin(words, find_spot, shown);
	w = open_window(shown, SCHEME_ID(SCHEME_WORD, 1));
	do
	{
		spot_finder_add(finder, shingle_of_token(w.text + w.start, w.end - w.start), w.start);
		/* A token may end many signatures. */
		host_check_interrupts();
	} while (!shown->too_many && move_window(&w));
	spot_finder_end(finder);
	return !shown->too_many;
}

/* Returns the words of a spot signature, separated by ':'. */
static const char *
spot_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length)
{
	const Window tokens = {.text = shown->text, .length = shown->length};
	size_t filled = 0;

	for (uint32_t i = 0; i < shingle->length; i++)
	{
		size_t position = shown->position[shingle->start + i];
		size_t bytes = unit_end(&tokens, position) - position;

		shown->spot = host_grow(shown->spot, &shown->spot_room, filled + bytes + 1, 1);
		if (i > 0)
			shown->spot[filled++] = ':';
		memcpy(shown->spot + filled, shown->text + position, bytes);
		filled += bytes;
	}
	*length = filled;
	return shown->spot;
}

/*
 * Returns the text of a shingle: its tokens, separated by single spaces, or by ':' in a
 * spot signature.  It is valid until the next call.
 */
const char *
shown_text(ShownShingles *shown, const ShownShingle *shingle, size_t *length)
{
	if (shown->of_spots)
		return spot_text(shown, shingle, length);
	*length = shingle->length;
	return shown->text + shingle->start;
}
