/*
 * test_markup.c: removing markup from any bytes, in memory as large as the input.
 */
#include <stdlib.h>
#include <string.h>

#include "text/markup.h"
#include "random.h"
#include "unit.h"

/* The pieces of random documents. */
static const char *const pieces[] = {"<",         ">",        "</",         "<!--",     "-->",
									 "<![CDATA[", "]]>",      "<script",    "</script", "</style>",
									 "<style>",   "<p",       "<b>",        "\"",       "'",
									 "=",         " ",        "&",          "&#",       "&#x",
									 ";",         "&eacute;", "&#65;",      "word",     "\xC3\xA9",
									 "\xC3",      "\xFF",     "<?",         "<!",       "/>",
									 "&zwj;",     "&#0;",     "&#x10FFFF;", "7",        "F",
									 "\n",        "amp",      "thetasym;",  "<a href=", "]]"};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

static char *
stripped(const char *text, size_t length, size_t *result)
{
	char *exact = malloc(length > 0 ? length : 1);
	char *out = malloc(length > 0 ? length : 1);

	memcpy(exact, text, length);
	*result = markup_strip(exact, length, out);
	free(exact);
	return out;
}

static void
test_random(void)
{
	uint64_t seed = 5;

	for (int round = 0; round < 20000; round++)
	{
		char text[512] = "";
		size_t length;

		for (uint32_t count = next_random(&seed) % 30; count > 0; count--)
			strcat(text, pieces[next_random(&seed) % PIECES]);
		free(stripped(text, strlen(text), &length));
		CHECK_MSG(length <= strlen(text), "%s", text);
	}
}

static void
test_text(const char *text, const char *expected)
{
	size_t length;
	char *out = stripped(text, strlen(text), &length);

	CHECK_MSG(length == strlen(expected) && memcmp(out, expected, length) == 0, "%s: %.*s", text,
			  (int) length, out);
	free(out);
}

/* All names are found, so the table is sorted. */
static void
test_names(void)
{
	CHECK(entity_named("AElig", 5) == 0xC6 && entity_named("zwnj", 4) == 0x200C);
	CHECK(entity_named("eacute", 6) == 0xE9 && entity_named("Eacute", 6) == 0xC9);
	CHECK(entity_named("apos", 4) == '\'' && entity_named("nbsp", 4) == 0xA0 &&
		  entity_named("thetasym", 8) == 0x3D1);
	CHECK(entity_named("", 0) == 0 && entity_named("eacut", 5) == 0 &&
		  entity_named("eacutee", 7) == 0);
	CHECK(entity_named("muchtoolong", 11) == 0);
}

int
main(void)
{
	test_random();
	test_names();
	test_text("a<p>b</p>c<b>d</b>", "a b cd");
	test_text("&lt;p&gt;&#x20AC;", "<p>\xE2\x82\xAC");
	test_text("\xFF<p>\xC3", "\xFF \xC3");
	return unit_report();
}
