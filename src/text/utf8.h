/*
 * utf8.h: characters from and to UTF-8.
 */
#ifndef NEARDUP_TEXT_UTF8_H
#define NEARDUP_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INVALID_CHARACTER UINT32_MAX

/* Length of the character that a byte begins, 0 where it begins none. */
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

/* Not a surrogate, within Unicode, and not written longer than need be? */
static inline bool
is_proper(uint32_t code_point, int bytes)
{
	if (bytes == 3)
		return code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF);
	if (bytes == 4)
		return code_point >= 0x10000 && code_point <= 0x10FFFF;
	return true; /* the lead byte said so */
}

/*
 * Decode one character of [in, in + length), length > 0.  Returns the bytes it
 * takes; for a byte that begins no valid UTF-8 character returns 1 and sets
 * *code_point to INVALID_CHARACTER.  Never reads past length.
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

/* Write a character at out, room for 4 bytes; returns the bytes written. */
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
