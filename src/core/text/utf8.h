/*
 * utf8.h: decoding and encoding UTF-8.
 */
#ifndef NEARDUP_TEXT_UTF8_H
#define NEARDUP_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INVALID_CHARACTER UINT32_MAX

/* Returns the length of the character that a byte starts, 0 if it starts none. */
static inline int
sequence_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xC2)
		return 0;
	if (lead < 0xE0)
		return 2;
	if (lead < 0xF0)
		return 3;
	return lead < 0xF5 ? 4 : 0;
}

/* Returns how many characters start in bytes. */
static inline size_t
utf8_characters(const char *utf8, size_t length)
{
	size_t characters = 0;

	for (size_t i = 0; i < length; i++)
		characters += (utf8[i] & 0xC0) != 0x80;
	return characters;
}

/* Returns whether a code point is no surrogate, is in Unicode, and needs `bytes` bytes. */
static inline bool
is_proper(uint32_t code_point, int bytes)
{
	if (bytes == 3)
		return code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF);
	if (bytes == 4)
		return code_point >= 0x10000 && code_point <= 0x10FFFF;
	return true; /* the lead byte tells it */
}

/*
 * Decodes the first character of [in, in + length), length > 0, and returns how many bytes
 * it has.  If it is not valid, returns 1 and sets *code_point to INVALID_CHARACTER.  Reads
 * nothing past length.
 */
static inline int
utf8_decode(const uint8_t *in, size_t length, uint32_t *code_point)
{
	int bytes = sequence_length(in[0]);
	uint32_t c = in[0];

	*code_point = INVALID_CHARACTER;
	if (bytes == 0 || (size_t) bytes > length)
		return 1;
	if (bytes > 1)
		c &= 0x7F >> bytes;
	for (int i = 1; i < bytes; i++)
	{
		if ((in[i] & 0xC0) != 0x80)
			return 1;
		c = c << 6 | (in[i] & 0x3F);
	}
	if (!is_proper(c, bytes))
		return 1;
	*code_point = c;
	return bytes;
}

/* Writes a character to out, which has room for 4 bytes; returns how many it has written. */
static inline int
utf8_encode(uint32_t code_point, uint8_t *out)
{
	int bytes = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;

	for (int i = bytes - 1; i > 0; i--)
	{
		out[i] = 0x80 | (code_point & 0x3F);
		code_point >>= 6;
	}
	out[0] = (uint8_t) (bytes == 1 ? code_point : (0xF00 >> bytes & 0xFF) | code_point);
	return bytes;
}

#endif
