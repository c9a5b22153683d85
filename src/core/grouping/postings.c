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
#include "base/sort.h"

#ifdef CPU_X86
#include <immintrin.h>
#endif

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
	uint32_t first; /* the number that is subtracted from all documents */
	int low_bits;   /* l */
	size_t head;    /* bytes of the head */
} Shape;

static inline int
bits_of(uint32_t x)
{
	return x == 0 ? 0 : 32 - __builtin_clz(x);
}

/*
 * Returns the l with which the body of n documents up to `last` is shortest: log2(last / n),
 * rounded down.
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

/* Returns about how many bytes a posting takes in lists of a mean length. */
double
posting_usual_bytes(uint32_t numbers, double length)
{
	double count = Max(length, 1);

	/* A code that is not empty has a document or more; half a byte is lost at its end. */
	return Max(log2(numbers / count), 0) / 8 + 2.0 / 8 + (SHORT_HEAD + 0.5) / count;
}

/* Returns how many bytes the code of n documents takes. */
size_t
postings_size(const uint32_t *document, size_t n, uint32_t numbers)
{
	return n == 0 ? 0 : size_of_first(document, (uint32_t) n, numbers);
}

/*
 * Returns for how many documents, from the first on, the code takes no more than `room` bytes.
 * The code of a long list grows with the list, since its l is the best one.  That of a short
 * list may shrink: its l depends on the count alone.
 */
size_t
postings_fit(const uint32_t *document, size_t n, uint32_t numbers, size_t room)
{
	size_t fit;
	size_t next = LONG_LIST;

	SEARCH_SORTED(next, n + 1, size_of_first(document, (uint32_t) middle, numbers) <= room);
	if (next > LONG_LIST)
		return next - 1;
	fit = Min(n, LONG_LIST - 1);
	while (fit > 0 && size_of_first(document, (uint32_t) fit, numbers) > room)
		fit--;
	return fit;
}

/* ---- Writing ------------------------------------------------------------ */

/* Writes the head of a code. */
static void
list_put_head(const Shape *shape, uint8_t *to)
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

/* Writes the code of n documents; returns its bytes. */
size_t
postings_put(const uint32_t *document, size_t n, uint32_t numbers, uint8_t *to)
{
	size_t bytes = postings_size(document, n, numbers);
	BodyWriter writer = {0};
	Shape shape;

	if (n == 0)
		return 0;
	shape = shape_for(document, (uint32_t) n, numbers);
	list_put_head(&shape, to);
	writer.to = to + shape.head;
	put_lows(&writer, document, &shape);
	put_highs(&writer, document, &shape);
	/* The last word is the only one that may not be full. */
	for (; writer.to < to + bytes; writer.word >>= 8)
		*writer.to++ = (uint8_t) writer.word;
	return bytes;
}

/* ---- Reading ------------------------------------------------------------ */

/* Returns how many documents a code has: no more than it has bits, and 0 if it is malformed. */
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
 * Reads the head of a code.  Returns false unless the low bits of its documents are within the
 * body.
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

/*
 * Returns the 64 bits of a body from bit `at` on, without those before bit `first` and
 * those after the end.
 */
KERNEL_BODY uint64_t
load_highs(const uint8_t *body, size_t bytes, uint64_t at, uint64_t first)
{
	uint64_t left = 8 * (uint64_t) bytes - at;
	uint64_t word = load_word(body + at / 8);

	if (at < first)
		word &= UINT64_MAX << (first - at);
	if (left < WORD_BITS)
		word &= UINT64_MAX >> (WORD_BITS - left);
	return word;
}

/*
 * Reads the documents of a body.  Returns false unless the high bits have a one for each,
 * and documents ascend.
 */
static bool
body_plain(const uint8_t *body, size_t bytes, const Shape *shape, uint32_t *document)
{
	int l = shape->low_bits;
	uint32_t mask = (UINT32_C(1) << l) - 1;
	uint64_t first = (uint64_t) shape->count * l;
	uint64_t low_at = 0;
	int64_t before = -1;
	bool ascend = true;
	uint32_t i = 0;

	for (uint64_t at = first / 8 * 8; at < 8 * (uint64_t) bytes; at += WORD_BITS)
	{
		uint64_t ones = load_highs(body, bytes, at, first);

		for (; ones != 0; ones &= ones - 1)
		{
			uint32_t high = (uint32_t) (at - first) + __builtin_ctzll(ones) - i;
			uint32_t low = (uint32_t) (load_word(body + low_at / 8) >> low_at % 8) & mask;

			if (i == shape->count)
				return false;
			document[i] = shape->first + (high << l | low);
			ascend &= document[i] > before;
			before = document[i++];
			low_at += l;
		}
	}
	return ascend && i == shape->count;
}

#ifdef CPU_X86

/* ---- Reading with AVX-512 ------------------------------------------------ */

#define LANES 16

/* Two lists of low bits at any bit of a byte must fit into a word. */
#define VECTOR_LOW_BITS_MAX 25

/* Lists up to this length, in a body up to this length, are read without a loop. */
#define VECTORS_2 (2 * LANES)
#define WORDS_2 (2 * WORD_BITS)

/* What reads the low bits of 16 documents: two at a time, in each of 8 words. */
typedef struct LowReader
{
	const uint8_t *body;
	size_t bytes;
	int low_bits;
	__m512i byte;  /* the bytes that are the words */
	__m512i shift; /* the bits of its word at which each byte of the result begins */
	__m512i mask;
} LowReader;

/* Prepares to read the low bits of the numbers of a body, l of each. */
CPU_TARGET_VBMI2 KERNEL_BODY LowReader
low_reader(const uint8_t *body, size_t bytes, int l)
{
	/* Word w begins at bit 2 w l: its byte, and the bit in that byte. */
	__m512i word = _mm512_set_epi16(7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 2,
									2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
	__m512i at = _mm512_mullo_epi16(word, _mm512_set1_epi16((short) (2 * l)));
	__m512i byte = _mm512_srli_epi16(at, 3);
	__m512i bit = _mm512_and_si512(at, _mm512_set1_epi16(7));
	LowReader reader = {body, bytes, l};

	byte = _mm512_or_si512(byte, _mm512_slli_epi16(byte, 8));
	bit = _mm512_or_si512(bit, _mm512_slli_epi16(bit, 8));
	reader.byte = _mm512_add_epi8(byte, _mm512_set1_epi64(0x0706050403020100));
	reader.shift =
		_mm512_add_epi8(bit,
						_mm512_set1_epi64(0x1810080018100800 + 0x0101010100000000 * (int64_t) l));
	reader.mask = _mm512_set1_epi32((1 << l) - 1);
	return reader;
}

/* Returns the low bits of 16 documents from document i on. */
CPU_TARGET_VBMI2 KERNEL_BODY __m512i
load_lows(const LowReader *reader, uint32_t i)
{
	uint64_t at = (uint64_t) i * reader->low_bits;
	size_t left = reader->bytes - at / 8;
	__mmask64 valid = _bzhi_u64(UINT64_MAX, Min(left, 64));
	__m512i words = _mm512_permutexvar_epi8(reader->byte,
											_mm512_maskz_loadu_epi8(valid, reader->body + at / 8));
	__m512i shift = _mm512_add_epi8(reader->shift, _mm512_set1_epi8(at % 8));

	return _mm512_and_si512(_mm512_multishift_epi64_epi8(shift, words), reader->mask);
}

/* Returns the positions of the ones of a word, a byte each. */
CPU_TARGET_VBMI2 KERNEL_BODY __m512i
positions_of_ones(uint64_t ones)
{
	__m512i bytes = _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928,
									 0x2726252423222120, 0x1F1E1D1C1B1A1918, 0x1716151413121110,
									 0x0F0E0D0C0B0A0908, 0x0706050403020100);

	return _mm512_maskz_compress_epi8(ones, bytes);
}

/*
 * Returns 16 documents from document i on.  Their ones are at the positions `position`, which count
 * from `base` after the first high bit.
 */
CPU_TARGET_VBMI2 KERNEL_BODY __m512i
join_bits(const LowReader *reader, const Shape *shape, __m128i position, uint32_t base, uint32_t i)
{
	__m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	__m512i zeros = _mm512_sub_epi32(_mm512_set1_epi32((int) (base - i)), lane);
	__m512i high = _mm512_add_epi32(_mm512_cvtepu8_epi32(position), zeros);

	high = _mm512_sll_epi32(high, _mm_cvtsi32_si128(shape->low_bits));
	return _mm512_add_epi32(_mm512_or_si512(high, load_lows(reader, i)),
							_mm512_set1_epi32((int) shape->first));
}

/* Returns which of the first `left` lanes are true. */
CPU_TARGET_VBMI2 KERNEL_BODY __mmask16
lanes_of(uint32_t left)
{
	return (__mmask16) _bzhi_u32((1 << LANES) - 1, Min(left, LANES));
}

/* Reads a body of at most VECTORS_2 documents, with WORDS_2 bits from `at` on. */
CPU_TARGET_VBMI2 KERNEL_BODY bool
short_body_vbmi2(const LowReader *reader, const Shape *shape, uint32_t *document)
{
	uint32_t n = shape->count;
	uint32_t first = n * shape->low_bits;
	const uint8_t *from = reader->body + first / 8;
	uint32_t bits = (uint32_t) (8 * reader->bytes - first / 8 * 8);
	uint64_t ones = _bzhi_u64(load_word(from), bits) >> first % 8 << first % 8;
	uint64_t more = _bzhi_u64(load_word(from + WORD_BYTES), Max(bits, WORD_BITS) - WORD_BITS);
	int count = __builtin_popcountll(ones);
	__m512i last = _mm512_set1_epi8(WORD_BITS);
	__m512i position;
	__m512i low;
	__mmask16 disorder;

	if (count + __builtin_popcountll(more) != n)
		return false;
	last = _mm512_add_epi8(last, positions_of_ones(more));
	position = _mm512_mask_expand_epi8(positions_of_ones(ones), UINT64_MAX << count, last);
	low = join_bits(reader, shape, _mm512_castsi512_si128(position), -(first % 8), 0);
	_mm512_mask_storeu_epi32(document, lanes_of(n), low);
	disorder = _mm512_mask_cmple_epu32_mask(lanes_of(n) & ~1, low,
											_mm512_alignr_epi32(low, low, LANES - 1));
	if (n > LANES)
	{
		__m512i high =
			join_bits(reader, shape, _mm512_extracti32x4_epi32(position, 1), -(first % 8), LANES);

		_mm512_mask_storeu_epi32(document + LANES, lanes_of(n - LANES), high);
		disorder |= _mm512_mask_cmple_epu32_mask(lanes_of(n - LANES), high,
												 _mm512_alignr_epi32(high, low, LANES - 1));
	}
	return disorder == 0;
}

/* Returns whether documents ascend. */
CPU_TARGET_VBMI2 KERNEL_BODY bool
ascend_vbmi2(const uint32_t *document, uint32_t n)
{
	__mmask16 disorder = 0;

	for (uint32_t i = 1; i < n; i += LANES)
	{
		__m512i before = _mm512_maskz_loadu_epi32(lanes_of(n - i), document + i - 1);
		__m512i now = _mm512_maskz_loadu_epi32(lanes_of(n - i), document + i);

		disorder |= _mm512_mask_cmple_epu32_mask(lanes_of(n - i), now, before);
	}
	return disorder == 0;
}

/* Does what body_plain() does, 16 documents at a time. */
CPU_TARGET_VBMI2 static bool
body_vbmi2(const uint8_t *body, size_t bytes, const Shape *shape, uint32_t *document)
{
	uint64_t first = (uint64_t) shape->count * shape->low_bits;
	uint64_t end = 8 * (uint64_t) bytes;
	uint32_t i = 0;
	LowReader reader;

	if (shape->low_bits > VECTOR_LOW_BITS_MAX)
		return body_plain(body, bytes, shape, document);
	reader = low_reader(body, bytes, shape->low_bits);
	if (shape->count <= VECTORS_2 && end - first / 8 * 8 <= WORDS_2)
		return short_body_vbmi2(&reader, shape, document);
	for (uint64_t at = first / 8 * 8; at < end; at += WORD_BITS)
	{
		uint64_t ones = load_highs(body, bytes, at, first);
		__m512i position = positions_of_ones(ones);
		int left = __builtin_popcountll(ones);

		if (left > shape->count - i)
			return false;
		for (; left > 0; left -= LANES)
		{
			__m512i joined = join_bits(&reader, shape, _mm512_castsi512_si128(position),
									   (uint32_t) (at - first), i);

			_mm512_mask_storeu_epi32(document + i, lanes_of(left), joined);
			position = _mm512_alignr_epi64(position, position, 2);
			i += Min(left, LANES);
		}
	}
	return i == shape->count && ascend_vbmi2(document, i);
}

#endif

/*
 * VBMI2 reads lists of 8 documents in 0.57 times the time of plain C, of 24 in 0.36, of 1,000
 * in 0.22 (medians of 7 runs, test/bench/kernels.c).
 */
#define POSTINGS_VARIANTS(X) CPU_PLAIN(X) CPU_VBMI2(X)

#define POSTINGS_FUNCTION(name, target) \
	static bool get_##name(const uint8_t *code, size_t bytes, uint32_t numbers, \
						   uint32_t *document) \
	{ \
		Shape shape; \
\
		return read_head(code, bytes, numbers, &shape) && \
			body_##name(code + shape.head, bytes - shape.head, &shape, document) && \
			document[shape.count - 1] < numbers; \
	}

#define POSTINGS_KERNEL(name, target) {#name, cpu_has_##name, get_##name},

POSTINGS_VARIANTS(POSTINGS_FUNCTION)

const PostingsKernel postings_kernels[] = {POSTINGS_VARIANTS(POSTINGS_KERNEL){NULL}};

CPU_CHOICE(best_kernel, PostingsKernel, postings_kernels)

/*
 * Reads the postings_count() documents of a code.  Returns true if they are ascending and
 * below `numbers`, and false if the code is malformed; the documents may be anything then.
 */
bool
postings_get(const uint8_t *code, size_t bytes, uint32_t numbers, uint32_t *document)
{
	return best_kernel.get(code, bytes, numbers, document);
}
