/*
 * signing.c: the megabytes of text that a core signs in a second.
 *
 *   signing NAME <PAGES
 *
 * Reads pages of HTML, cuts their text into pieces of 200, 2000 and 20000 bytes, signs these
 * as minhash(512, 1), by words and by characters, and prints a row of the medians.
 */
#include <stdio.h>
#include <string.h>

#include "sketch/signature.h"
#include "text/markup.h"
#include "timer.h"

#define RUNS 7
#define BYTES_MAX ((size_t) 8 << 20)
#define SIGNED_BYTES ((size_t) 20 << 20) /* by each run, at least */

static const size_t piece_bytes[] = {200, 2000, 20000};
static const SchemeId schemes[] = {SCHEME_ID(SCHEME_WORD, 3), SCHEME_ID(SCHEME_CHAR, 5)};

/* Makes the signature of a piece. */
static void
sign_piece(const char *utf8, size_t length, SchemeId scheme)
{
	uint8_t symbols[SYMBOL_BYTES(512, 1)];
	SignatureMaker maker = {.header = signature_header(SIGNATURE_MINHASH, 512, 1, scheme),
							.scheme = scheme};

	sink += signature_of_text(&maker, utf8, length, symbols).cardinality;
}

/* Returns the length of the first piece of a text, which does not end within a character. */
static size_t
piece_length(const char *utf8, size_t length, size_t bytes)
{
	if (length <= bytes)
		return length;
	while ((utf8[bytes] & 0xC0) == 0x80)
		bytes++;
	return bytes;
}

/* Signs all pieces of a text, again and again; returns the megabytes that it signed in a second. */
static double
sign_pieces(const char *utf8, size_t length, size_t bytes, SchemeId scheme)
{
	double start = seconds();
	size_t done = 0;

	while (done < SIGNED_BYTES)
		for (size_t at = 0, piece; at < length; at += piece, done += piece)
			sign_piece(utf8 + at, piece = piece_length(utf8 + at, length - at, bytes), scheme);
	return done / (seconds() - start) / 1e6;
}

int
main(int argc, char **argv)
{
	static char page[BYTES_MAX];
	static char text[BYTES_MAX];
	size_t length = markup_strip(page, fread(page, 1, BYTES_MAX, stdin), text);

	if (argc != 2 || length == 0)
	{
		fputs("usage: signing NAME <PAGES\n", stderr);
		return 1;
	}
	printf("| %s |", argv[1]);
	for (size_t i = 0; i < 6; i++)
	{
		double rate[RUNS];

		for (int run = 0; run < RUNS; run++)
			rate[run] = sign_pieces(text, length, piece_bytes[i % 3], schemes[i / 3]);
		printf(" %.0f |", median(rate, RUNS));
	}
	putchar('\n');
	return 0;
}
