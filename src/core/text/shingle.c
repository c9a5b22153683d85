/*
 * shingle.c: from tokens to the hashes of shingles.
 *
 * Units are tokens or characters; each is hashed once.  A rolling hash moves a wide window of
 * units by one unit in constant time.
 */
#include "text/internal.h"

#include <string.h>

#include "base/cpu.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or later is needed: before it XXH3 was not final"
#endif

/* Units that wait before the window rolls over them. */
#define UNITS_MAX 512

/* Bytes of a token that become units at once; TOKEN_SLACK or less.  Few words are longer. */
#define TOGETHER 8

typedef struct Shingler
{
	HashSink sink;
	void *state;
	SchemeKind kind;
	uint32_t width;
	uint64_t leaving;                            /* SHINGLE_MULTIPLIER^width */
	uint64_t window;                             /* polynomial of the last width units */
	uint64_t units;                              /* units that the window has passed */
	uint32_t fill;                               /* units that wait */
	uint64_t unit[SCHEME_WIDTH_MAX + UNITS_MAX]; /* the last width units, and those that wait */
} Shingler;

/* The hashes of single ASCII characters. */
static uint64_t ascii_unit[128];

static __attribute__((constructor)) void
hash_ascii(void)
{
	for (int c = 0; c < 128; c++)
	{
		uint8_t byte = (uint8_t) c;

		ascii_unit[c] = XXH3_64bits(&byte, 1);
	}
}

/* Removes the shingles that do not start with a stop word; returns how many are left. */
static uint32_t
keep_anchored(const uint64_t *first_unit, uint64_t *hash, uint32_t count)
{
	const WordSet *anchors = language_stop_words(LANGUAGE_ENGLISH);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (word_set_has(anchors, first_unit[i]))
			hash[kept++] = hash[i];
	return kept;
}

/* The widest windows that are computed anew for each unit: in vectors, that is faster than rolling. */
#define WIDEST_plain 1
#define WIDEST_avx512 8

typedef struct WindowKernel
{
	const char *name;
	bool (*available)(void);
	uint32_t widest;
	void (*windows)(const uint64_t *unit, uint32_t width, size_t count, uint64_t *window);
} WindowKernel;

/* Sets window[i], the polynomial of unit[i] .. unit[i + width - 1], for `count` numbers i. */
KERNEL_BODY void
windows_body(const uint64_t *unit, uint32_t width, size_t count, uint64_t *restrict window)
{
	memcpy(window, unit, count * sizeof(uint64_t));
	for (uint32_t j = 1; j < width; j++)
		for (size_t i = 0; i < count; i++)
			window[i] = window[i] * SHINGLE_MULTIPLIER + unit[i + j];
}

#define WINDOW_VARIANTS(X) CPU_PLAIN(X) CPU_AVX512(X)

#define WINDOW_FUNCTION(name, target) \
	target static void windows_##name(const uint64_t *unit, uint32_t width, size_t count, \
									  uint64_t *window) \
	{ \
		windows_body(unit, width, count, window); \
	}

#define WINDOW_KERNEL(name, target) {#name, cpu_has_##name, WIDEST_##name, windows_##name},

WINDOW_VARIANTS(WINDOW_FUNCTION)

static const WindowKernel window_kernels[] = {WINDOW_VARIANTS(WINDOW_KERNEL){NULL}};

CPU_CHOICE(best_windows, WindowKernel, window_kernels)

/* Sets the window that ends with each unit that waits. */
static void
find_windows(Shingler *s, uint64_t *window)
{
	const uint64_t *arriving = s->unit + s->width;
	uint64_t last = s->window;

	if (s->width <= best_windows.widest)
		best_windows.windows(s->unit + 1, s->width, s->fill, window);
	else
		for (uint32_t i = 0; i < s->fill; i++)
			window[i] = last = last * SHINGLE_MULTIPLIER + (arriving[i] - s->unit[i] * s->leaving);
	if (s->fill > 0)
		s->window = window[s->fill - 1];
}

/* Moves the window over the units that wait, and gives their shingles to the sink. */
static void
roll(Shingler *s)
{
	uint64_t hash[UNITS_MAX];
	/* Windows that end at the first `missing` units that wait are not full. */
	uint64_t missing = s->units < s->width - 1 ? s->width - 1 - s->units : 0;
	uint32_t incomplete = (uint32_t) Min(missing, s->fill);
	uint32_t count = s->fill - incomplete;

	host_check_interrupts();
	find_windows(s, hash);
	mix64_all(hash, s->fill, hash);
	s->units += s->fill;
	if (s->kind == SCHEME_STOPWORD)
		count = keep_anchored(s->unit + incomplete + 1, hash + incomplete, count);
	if (count > 0)
		s->sink(s->state, hash + incomplete, count);
	memmove(s->unit, s->unit + s->fill, s->width * sizeof(uint64_t));
	s->fill = 0;
}

static inline void
shingle_add_unit(Shingler *s, uint64_t hash)
{
	s->unit[s->width + s->fill++] = hash;
	if (s->fill == UNITS_MAX)
		roll(s);
}

/* Hashes a token of `least` to `most` bytes: constants, which spare XXH3 its branches. */
static inline __attribute__((always_inline)) uint64_t
hash_between(const TokenBatch *batch, size_t i, size_t least, size_t most)
{
	size_t length;
	const char *token = batch_token(batch, i, &length);

	if (length < least || length > most)
		__builtin_unreachable();
	return XXH3_64bits(token, length);
}

/*
 * Hashes tokens [first, first + count), count <= UNITS_MAX.  The lengths of words follow each
 * other as if by chance, and a processor that guesses wrong loses more time than a hash takes.
 * So they are put into classes that XXH3 hashes alike first, without a branch: texts in English
 * are hashed in 0.6 of the time.
 */
static void
hash_tokens(const TokenBatch *batch, size_t first, uint32_t count, uint64_t *hash)
{
	uint16_t shortest[UNITS_MAX], middle[UNITS_MAX], longer[UNITS_MAX];
	uint32_t a = 0, b = 0, c = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		size_t length;

		batch_token(batch, first + i, &length);
		shortest[a] = middle[b] = longer[c] = (uint16_t) i;
		a += length <= 3;
		b += length > 3 && length <= 8;
		c += length > 8;
	}
	for (uint32_t i = 0; i < a; i++)
		hash[shortest[i]] = hash_between(batch, first + shortest[i], 1, 3);
	for (uint32_t i = 0; i < b; i++)
		hash[middle[i]] = hash_between(batch, first + middle[i], 4, 8);
	for (uint32_t i = 0; i < c; i++)
		hash[longer[i]] = hash_between(batch, first + longer[i], 9, SIZE_MAX);
}

/* Adds tokens as units; a TokenSink. */
static void
add_tokens(void *state, const TokenBatch *batch)
{
	Shingler *s = state;

	for (size_t done = 0; done < batch->count;)
	{
		uint32_t count = (uint32_t) Min(batch->count - done, UNITS_MAX - s->fill);

		hash_tokens(batch, done, count, s->unit + s->width + s->fill);
		s->fill += count;
		done += count;
		if (s->fill == UNITS_MAX)
			roll(s);
	}
}

/*
 * Adds the first characters of a token, at most TOGETHER, if they are ASCII and there is room for
 * TOGETHER units; returns how many.  It always writes TOGETHER units, and counts those of the token:
 * a processor cannot predict where a loop would end, since words differ in length.
 */
static inline size_t
shingle_add_ascii(Shingler *s, const uint8_t *in, size_t length)
{
	uint64_t *unit = s->unit + s->width + s->fill;
	size_t count = Min(length, TOGETHER);
	int beyond = 8 * (int) (TOGETHER - count);
	uint64_t bytes = load_word(in) << beyond >> beyond;

	if ((bytes & UINT64_C(0x8080808080808080)) != 0 || s->fill + TOGETHER >= UNITS_MAX)
		return 0;
	for (int i = 0; i < TOGETHER; i++)
		unit[i] = ascii_unit[bytes >> 8 * i & 0x7F];
	s->fill += (uint32_t) count;
	return count;
}

/* Adds the characters of a token as units. */
static void
shingle_add_token_characters(Shingler *s, const uint8_t *in, size_t length)
{
	const uint8_t *end = in + length;

	while (in < end)
	{
		uint32_t code_point;
		size_t bytes = shingle_add_ascii(s, in, end - in);

		if (bytes == 0)
		{
			bytes = utf8_decode(in, end - in, &code_point);
			shingle_add_unit(s, bytes == 1 ? ascii_unit[*in] : XXH3_64bits(in, bytes));
		}
		in += bytes;
	}
}

/* Adds characters as units, with a space between tokens; a TokenSink. */
static void
shingle_add_characters(void *state, const TokenBatch *batch)
{
	Shingler *s = state;

	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		if (s->units + s->fill > 0)
			shingle_add_unit(s, ascii_unit[' ']);
		shingle_add_token_characters(s, (const uint8_t *) token, length);
	}
}

/* Starts with an empty window, and hashes the ASCII characters if they are units. */
static void
begin(Shingler *s, SchemeId scheme, HashSink sink, void *state)
{
	s->sink = sink;
	s->state = state;
	s->kind = SCHEME_KIND(scheme);
	s->width = SCHEME_WIDTH(scheme);
	s->window = s->units = 0;
	s->fill = 0;
	s->leaving = 1;
	for (uint32_t i = 0; i < s->width; i++)
		s->leaving *= SHINGLE_MULTIPLIER;
	memset(s->unit, 0, s->width * sizeof(uint64_t));
}

/*
 * Gives the hashes of the shingles of a text to sink, in the order of the text, with
 * repeated ones, in batches.  scheme_reads_text is true for the scheme.
 */
void
shingle_text(const char *utf8, size_t length, SchemeId scheme, HashSink sink, void *state)
{
	Shingler s;

	if (SCHEME_KIND(scheme) == SCHEME_SPOT)
	{
		SpotWords words = spot_words_of_scheme(scheme);

		spots_of_text(utf8, length, &words, sink, state);
		return;
	}
	begin(&s, scheme, sink, state);
	words_of_text(utf8, length, scheme,
				  scheme_has_characters(scheme) ? shingle_add_characters : add_tokens, &s);
	roll(&s);
	/* A text of fewer units than the width is one shingle. */
	if (s.units > 0 && s.units < s.width)
	{
		uint64_t all = mix64(s.window);

		sink(state, &all, 1);
	}
}
