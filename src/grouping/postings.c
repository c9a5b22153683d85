/*
 * postings.c: the code of a list of ascending document numbers (Elias 1974, Fano 1971).
 *
 * A code has a head and a body.  The body is a string of bits, the low bits of a byte
 * first: the l low bits of each document, then for each document as many zeros as its
 * high bits grew, and a one.  The last byte is filled up with zeros.
 *
 * The head of a list of fewer than LONG_LIST documents is a byte with their count; l
 * follows from the count and from the numbers that documents may have.  The head of a
 * longer list is the byte LONG_LIST, the count and the first document in 4 bytes each,
 * and l in one byte; documents in the body are relative to the first one.
 */
#include "grouping/grouping.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"

#define LONG_LIST 255
#define SHORT_HEAD 1
#define LONG_HEAD 10
#define LONG_COUNT_AT 1
#define LONG_FIRST_AT 5
#define LONG_LOW_BITS_AT 9

#define LOW_BITS_MAX 31

#define WORD_BITS 64
#define WORD_BYTES 8

/* ---- Words -------------------------------------------------------------- */

/* Turns a word between this machine's order of bytes and little-endian. */
static inline uint64_t
little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

static inline uint64_t
load_word(const uint8_t *from)
{
	uint64_t word;

	memcpy(&word, from, WORD_BYTES);
	return little_endian(word);
}

static inline void
store_word(uint8_t *to, uint64_t word)
{
	word = little_endian(word);
	memcpy(to, &word, WORD_BYTES);
}

static inline uint32_t
load_number(const uint8_t *from)
{
	return from[0] | (uint32_t) from[1] << 8 | (uint32_t) from[2] << 16 | (uint32_t) from[3] << 24;
}

static inline void
store_number(uint8_t *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t) (number >> 8 * i);
}

/* ---- The shape of a code ------------------------------------------------ */

/* What the head of a code says, or will say. */
typedef struct Shape
{
	uint32_t count;
	uint32_t first; /* is subtracted from all documents */
	int low_bits;   /* l */
	size_t head;    /* bytes */
} Shape;

static inline int
bits_of(uint32_t x)
{
	return x == 0 ? 0 : 32 - __builtin_clz(x);
}

/*
 * Returns the l with which the body of n documents up to `last` is shortest: that of
 * log2(last / n), rounded down.
 */
static inline int
low_bits_for(uint32_t n, uint32_t last)
{
	int bits = bits_of(last) - bits_of(n);

	if (bits < 0)
		return 0;
	return bits - (bits > 0 && last >> bits < n);
}

/* Returns how many bytes a body takes. */
static inline size_t
body_bytes(uint32_t n, int low_bits, uint32_t last)
{
	uint64_t bits = (uint64_t) n * (low_bits + 1) + (last >> low_bits);

	return (size_t) ((bits + 7) / 8);
}

/* Returns the shape of the code of the first n documents, n > 0. */
static inline Shape
shape_for(const uint32_t *document, uint32_t n, uint32_t numbers)
{
	if (n < LONG_LIST)
		return (Shape){n, 0, low_bits_for(n, numbers - 1), SHORT_HEAD};
	return (Shape){n, document[0], low_bits_for(n, document[n - 1] - document[0]), LONG_HEAD};
}

/* Returns how many bytes the code of the first n documents takes, n > 0. */
static inline size_t
size_of_first(const uint32_t *document, uint32_t n, uint32_t numbers)
{
	Shape shape = shape_for(document, n, numbers);

	return shape.head + body_bytes(n, shape.low_bits, document[n - 1] - shape.first);
}

double
posting_usual_bytes(uint32_t numbers, double length)
{
	double count = Max(length, 1);

	/* A code that is not empty has a document or more; half a byte is lost at its end. */
	return Max(log2(numbers / count), 0) / 8 + 2.0 / 8 + (SHORT_HEAD + 0.5) / count;
}

size_t
postings_size(const uint32_t *document, size_t n, uint32_t numbers)
{
	return n == 0 ? 0 : size_of_first(document, (uint32_t) n, numbers);
}

/*
 * The code of a long list grows with the list.  That of a short one may shrink, as l
 * becomes smaller.
 */
size_t
postings_fit(const uint32_t *document, size_t n, uint32_t numbers, size_t room)
{
	size_t fit = LONG_LIST - 1;
	size_t above = n + 1;

	while (fit + 1 < above)
	{
		size_t middle = fit + (above - fit) / 2;

		if (size_of_first(document, (uint32_t) middle, numbers) <= room)
			fit = middle;
		else
			above = middle;
	}
	if (fit >= LONG_LIST)
		return fit;
	fit = Min(n, LONG_LIST - 1);
	while (fit > 0 && size_of_first(document, (uint32_t) fit, numbers) > room)
		fit--;
	return fit;
}

/* ---- Writing ------------------------------------------------------------ */

/* Writes the head of a code. */
static void
put_head(const Shape *shape, uint8_t *to)
{
	if (shape->head == SHORT_HEAD)
	{
		to[0] = (uint8_t) shape->count;
		return;
	}
	to[0] = LONG_LIST;
	store_number(to + LONG_COUNT_AT, shape->count);
	store_number(to + LONG_FIRST_AT, shape->first);
	to[LONG_LOW_BITS_AT] = (uint8_t) shape->low_bits;
}

/* A body that is being written: the word that is not full, where it goes, and its bits. */
typedef struct BodyWriter
{
	uint64_t word;
	uint8_t *to;
	int used;
} BodyWriter;

static inline void
put_lows(BodyWriter *writer, const uint32_t *document, const Shape *shape)
{
	BodyWriter w = *writer;
	int l = shape->low_bits;
	uint32_t mask = (UINT32_C(1) << l) - 1;

	for (uint32_t i = 0; i < shape->count; i++)
	{
		uint64_t low = (document[i] - shape->first) & mask;

		w.word |= low << w.used;
		w.used += l;
		if (w.used >= WORD_BITS)
		{
			store_word(w.to, w.word);
			w.to += WORD_BYTES;
			w.used -= WORD_BITS;
			w.word = low >> (l - w.used);
		}
	}
	*writer = w;
}

static inline void
put_highs(BodyWriter *writer, const uint32_t *document, const Shape *shape)
{
	BodyWriter w = *writer;
	uint64_t full = WORD_BITS;

	for (uint32_t i = 0; i < shape->count; i++)
	{
		uint64_t high = (document[i] - shape->first) >> shape->low_bits;
		uint64_t at = w.used + high + i;

		for (; at >= full; full += WORD_BITS)
		{
			store_word(w.to, w.word);
			w.to += WORD_BYTES;
			w.word = 0;
		}
		w.word |= UINT64_C(1) << at % WORD_BITS;
	}
	*writer = w;
}

size_t
postings_put(const uint32_t *document, size_t n, uint32_t numbers, uint8_t *to)
{
	size_t bytes = postings_size(document, n, numbers);
	BodyWriter writer = {0};
	Shape shape;

	if (n == 0)
		return 0;
	shape = shape_for(document, (uint32_t) n, numbers);
	put_head(&shape, to);
	writer.to = to + shape.head;
	put_lows(&writer, document, &shape);
	put_highs(&writer, document, &shape);
	/* The last word is the only one that may not be full. */
	for (; writer.to < to + bytes; writer.word >>= 8)
		*writer.to++ = (uint8_t) writer.word;
	return bytes;
}

/* ---- Reading ------------------------------------------------------------ */

size_t
postings_count(const uint8_t *code, size_t bytes)
{
	size_t count;

	if (bytes == 0)
		return 0;
	if (code[0] < LONG_LIST)
		return code[0] <= 8 * bytes ? code[0] : 0;
	if (bytes < LONG_HEAD)
		return 0;
	count = load_number(code + LONG_COUNT_AT);
	return count <= 8 * bytes ? count : 0;
}

/*
 * Reads the head of a code.  Returns false if the body cannot have as many documents, so
 * their low bits are within it.
 */
static inline bool
read_head(const uint8_t *code, size_t bytes, uint32_t numbers, Shape *shape)
{
	*shape = (Shape){(uint32_t) postings_count(code, bytes)};
	if (shape->count == 0)
		return false;
	if (code[0] < LONG_LIST)
	{
		shape->head = SHORT_HEAD;
		shape->low_bits = low_bits_for(shape->count, numbers - 1);
	}
	else
	{
		shape->head = LONG_HEAD;
		shape->first = load_number(code + LONG_FIRST_AT);
		shape->low_bits = code[LONG_LOW_BITS_AT];
	}
	return shape->low_bits <= LOW_BITS_MAX &&
		(uint64_t) shape->count * (shape->low_bits + 1) <= 8 * (uint64_t) (bytes - shape->head);
}

/* Sets all documents; false if the body has fewer ones than documents. */
static bool
get_body(const uint8_t *body, size_t bytes, const Shape *shape, uint32_t *document)
{
	int l = shape->low_bits;
	uint32_t mask = (UINT32_C(1) << l) - 1;
	uint64_t low_at = 0;
	uint64_t first_at = (uint64_t) shape->count * l;
	uint64_t word_at = first_at / WORD_BITS * WORD_BITS;
	uint64_t word = load_word(body + word_at / 8) & UINT64_MAX << first_at % WORD_BITS;
	uint64_t last_at = 0;

	for (uint32_t i = 0; i < shape->count; i++, low_at += l)
	{
		uint32_t low = (uint32_t) (load_word(body + low_at / 8) >> low_at % 8) & mask;
		uint32_t high;

		while (word == 0)
		{
			word_at += WORD_BITS;
			if (word_at >= 8 * bytes)
				return false;
			word = load_word(body + word_at / 8);
		}
		last_at = word_at + __builtin_ctzll(word);
		high = (uint32_t) (last_at - first_at) - i;
		document[i] = shape->first + (high << l | low);
		word &= word - 1;
	}
	return last_at < 8 * bytes;
}

bool
postings_get(const uint8_t *code, size_t bytes, uint32_t numbers, uint32_t *document)
{
	Shape shape;

	if (!read_head(code, bytes, numbers, &shape))
		return false;
	return get_body(code + shape.head, bytes - shape.head, &shape, document);
}
