/*
 * normalise.c: normalising pieces of text.
 *
 * The normal form is NFKC_Casefold of the NFD of the text: canonically
 * equivalent texts, and texts that differ in case, compatibility variants or
 * ignorable characters, become the same characters (doc/explanation/recipe.md).
 */
#include "text/internal.h"

#include <utf8proc.h>

#if UTF8PROC_VERSION_MAJOR < 2 || (UTF8PROC_VERSION_MAJOR == 2 && UTF8PROC_VERSION_MINOR < 5)
#error "utf8proc 2.5 or later is needed: before it Unicode 13.0 was not complete"
#endif

#define DECOMPOSE_CANONICAL (UTF8PROC_STABLE | UTF8PROC_DECOMPOSE)
#define DECOMPOSE_FOLDED (DECOMPOSE_CANONICAL | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD)
#define COMPOSE (UTF8PROC_STABLE | UTF8PROC_COMPOSE)

static inline unsigned
info_of(uint32_t code_point)
{
	return code_point == INVALID_CHARACTER ? 0 : char_info(code_point);
}

/*
 * Returns the length of the piece at `in`, whose first character has `first` bytes: it ends before a
 * character with the flag `ends`.  If there are too many characters, it ends before the last boundary
 * among them, so only a very long run of marks is ever cut.
 */
static size_t
piece_length(const uint8_t *in, size_t length, size_t first, unsigned ends)
{
	size_t at = first;
	size_t boundary = 0;

	for (int n = 1; at < length && in[at] >= 0x80; n++)
	{
		uint32_t code_point;
		int bytes = utf8_decode(in + at, length - at, &code_point);
		unsigned info = info_of(code_point);

		if (!(info & CHAR_ASSIGNED) || (info & ends))
			break;
		if (info & CHAR_BOUNDARY)
			boundary = at;
		if (n == PIECE_SOURCE_MAX)
			return boundary > 0 ? boundary : at;
		at += bytes;
	}
	return at;
}

/*
 * Returns the length of the shortest piece at `in`: one that ends before the next boundary, or
 * after PIECE_SOURCE_MAX characters.
 */
size_t
shortest_piece(const uint8_t *in, size_t length)
{
	uint32_t code_point;
	size_t first = utf8_decode(in, length, &code_point);

	return piece_length(in, length, first, CHAR_BOUNDARY);
}

/* Folds and decomposes characters, and removes ignorable ones; returns how many there are. */
static int
fold(const int32_t *in, int count, int32_t *out)
{
	int filled = 0;
	int unused = 0;

	for (int i = 0; i < count; i++)
	{
		unsigned info = char_info(in[i]);

		if (info & CHAR_STABLE)
			out[filled++] = in[i];
		else if (!(info & CHAR_IGNORED))
			filled += utf8proc_decompose_char(in[i], out + filled, PIECE_RESULT_MAX - filled,
											  DECOMPOSE_FOLDED, &unused);
	}
	return filled;
}

static inline int
combining_class(int32_t code_point)
{
	return utf8proc_get_property(code_point)->combining_class;
}

/* Puts marks in canonical order: sorts each run of non-starters by class, stably. */
static void
reorder(int32_t *text, int count)
{
	for (int i = 1; i < count; i++)
	{
		int32_t moved = text[i];
		int class, to;

		if (!(char_info(moved) & CHAR_NONSTARTER))
			continue;
		class = combining_class(moved);
		for (to = i; to > 0 && combining_class(text[to - 1]) > class; to--)
			text[to] = text[to - 1];
		text[to] = moved;
	}
}

/*
 * Folding comes after canonical decomposition, because it turns the mark U+0345 into a
 * letter, and that must not depend on its position among other marks.  Removed and folded
 * characters may have separated marks, so these are ordered again.
 *
 * Composition never sees U+11A7 after a Hangul syllable, where utf8proc would remove it:
 * it is stable, and so it starts a piece.
 */
size_t
normalise_piece(const uint8_t *in, size_t length, uint32_t *result, int *count)
{
	int32_t decomposed[PIECE_RESULT_MAX];
	int32_t *folded = (int32_t *) result;
	uint32_t code_point;
	size_t taken = utf8_decode(in, length, &code_point);

	if (!(info_of(code_point) & CHAR_ASSIGNED))
	{
		*result = ' ';
		*count = 1;
		return taken;
	}
	taken = piece_length(in, length, taken, CHAR_STABLE);
	*count = (int) utf8proc_decompose(in, taken, decomposed, PIECE_RESULT_MAX, DECOMPOSE_CANONICAL);
	*count = fold(decomposed, *count, folded);
	reorder(folded, *count);
	*count = (int) utf8proc_normalize_utf32(folded, *count, COMPOSE);
	return taken;
}
