/*
 * fuzz_markup.c: removing markup from any bytes, and masking what changes.  The result is no longer, and valid UTF-8
 * remains valid.
 */
#include "fuzz.h"
#include "text/markup.h"
#include "text/mask.h"
#include "text/utf8.h"

static bool
is_utf8(const uint8_t *bytes, size_t length)
{
	size_t at = 0;

	while (at < length)
	{
		uint32_t c;

		at += utf8_decode(bytes + at, length - at, &c);
		if (c == INVALID_CHARACTER)
			return false;
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t *text = take_copy(&in, &size);
	uint8_t *out = malloc(size > 0 ? size : 1);
	size_t length = markup_strip((const char *) text, size, (char *) out);

	REQUIRE(length <= size);
	REQUIRE(is_utf8(out, length) || !is_utf8(text, size));
	length = mask_text((const char *) text, size, size > 0 ? text[0] : 0, (char *) out);
	REQUIRE(length <= size);
	REQUIRE(is_utf8(out, length) || !is_utf8(text, size));
	free(text);
	free(out);
	return 0;
}
