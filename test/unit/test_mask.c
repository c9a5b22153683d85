/*
 * test_mask.c: masking what changes, in texts and in any bytes, in memory as large as the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "text/mask.h"
#include "unit.h"

#define ALL "url,email,uuid,ip,date,hex,number,digits"

/* ---- Texts ---------------------------------------------------------------- */

static char *
masked(const char *text, size_t length, const char *what, size_t *result)
{
	char *out = malloc(length + 1);
	unsigned kinds = 0;

	CHECK_MSG(mask_parse(what, strlen(what), &kinds), "%s", what);
	memcpy(out, text, length);
	*result = mask_text(out, length, kinds, out);
	out[*result] = '\0';
	return out;
}

static void
test_text(const char *what, const char *text, const char *expected)
{
	size_t length;
	char *out = masked(text, strlen(text), what, &length);

	CHECK_MSG(strcmp(out, expected) == 0, "%s: '%s' became '%s'", what, text, out);
	free(out);
}

/* Nothing of a text is masked. */
static void
test_kept(const char *what, const char *text)
{
	test_text(what, text, text);
}

/* All of a text is masked, also between other words and punctuation. */
static void
test_whole(const char *what, const char *text)
{
	char around[200];

	test_text(what, text, " ");
	snprintf(around, sizeof(around), "at %s, then", text);
	test_text(what, around, "at , then");
	snprintf(around, sizeof(around), "[%s]", text);
	test_text(what, around, "[ ]");
}

static void
test_addresses(void)
{
	test_whole("url", "https://example.org/a/b?c=1&d=%20#e");
	test_whole("url", "svn+ssh://host/path/");
	test_whole("url", "www.example.org");
	test_text("url", "(see http://a.example/x.) <http://b.example>", "(see .) < >");
	test_text("url", "http://a.example/\xE4\xB8\xAD\xE6\x96\x87", " \xE4\xB8\xAD\xE6\x96\x87");
	test_kept("url", "a :// b, http:/x, wwww.example, www., http://");
	test_whole("email", "jo.doe+tag@mail.example.org");
	test_text("email", "x@y.example. and @z.example, a@b", " . and @z.example, a@b");
	test_kept("email", "a@b, @c.d, x@.y, x@y.");
	test_whole("uuid", "123e4567-e89b-12d3-a456-426614174000");
	test_kept("uuid", "123e4567-e89b-12d3-a456-42661417400, 123e4567e89b12d3a456426614174000");
	test_whole("ip", "192.168.0.255");
	test_whole("ip", "2001:db8::ff00:42:8329");
	test_whole("ip", "fe80::1");
	test_whole("ip", "1:2:3:4:5:6:7:8");
	test_text("ip", "10.0.0.1:8080", " :8080");
	test_kept("ip",
			  "1.2.3.4.5, 1.2.3.256, 1.2.3, dead::beef, 12:34:56, 1:2:3:4:5:6:7:8:9, a::b::1");
}

static void
test_dates(void)
{
	static const char *const whole[] = {"2026-11-27",
										"2026/1/7",
										"27.11.2026",
										"11/27/26",
										"27 Nov 2026",
										"27-November-2026",
										"Nov 27",
										"November 27, 2026",
										"Nov  7 07:31:37",
										"2026-11-27 07:31",
										"2026-11-27T07:31:37.123Z",
										"2026-11-27T07:31:37+01:00",
										"27/Nov/2026:07:31:37 +0000",
										"20261127T073137Z",
										"20261127T0731",
										"7:31",
										"07:31:37,123"};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		test_whole("date", whole[i]);
	test_text("date", "log ts:2026-11-27", "log ts: ");
	test_text("date", "2026\xE5\xB9\xB4 10:20\xE5\x88\x86", "2026\xE5\xB9\xB4 \xE5\x88\x86");
	test_kept("date",
			  "27, 2026, 1.2.3, 1.22.33.44, may, Nov 27th, 00:11:22:33:44:55, 2026-11-27x, 1-2-345");
}

static void
test_words(void)
{
	test_whole("hex", "0xDEADbeef");
	test_whole("hex", "5f3a9c1");
	test_kept("hex", "deadbeef, 5f3a9c, 0x, 0xg1, 5f3a9c1g");
	test_whole("number", "1,234,567.89");
	test_whole("number", "7");
	test_text("number", "-3.5% of 1.2.3; 12, 13.", "- % of ; , .");
	test_kept("number", "W120, 3rd, x1.y2");
	test_whole("digits", "W120");
	test_whole("digits", "na\xC3\xAFve2");
	test_text("digits",
			  "KDL-52XBR5 \xE5\x9C\xA8"
			  "2024\xE5\xB9\xB4",
			  "KDL-  \xE5\x9C\xA8 \xE5\xB9\xB4");
	test_kept("digits", "no digit here\n\n");
	/* Kinds together, in any order, and no line end is lost */
	test_text(" digits ,url", "a1 http://x/y b\nc2\n\n3 d", "   b\n\n\n d");
	test_text("url,digits", "http://x1/y2", " ");
}

/* ---- Lists ---------------------------------------------------------------- */

static void
test_lists(void)
{
	static const char *const bad[] = {"", ",", "url,", "urls", "url;ip", "URL", "u", "url ip"};
	unsigned kinds;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!mask_parse(bad[i], strlen(bad[i]), &kinds), "%s", bad[i]);
	CHECK(mask_parse(mask_names, strlen(mask_names), &kinds) && kinds == 0xFF);
	CHECK(mask_parse("ip,ip", 5, &kinds) && kinds == 1 << 3);
}

/* ---- Hostile texts ---------------------------------------------------------- */

static const char *const pieces[] = {"http",
									 "://",
									 "www.",
									 "@",
									 ".",
									 ":",
									 "::",
									 "-",
									 "/",
									 "0x",
									 "1",
									 "27",
									 "2026",
									 "Nov",
									 "T",
									 "Z",
									 " ",
									 "\n",
									 "a",
									 "ffff",
									 "123e4567-",
									 "e89b",
									 ",",
									 "+00",
									 "%",
									 "\xC3\xA9",
									 "\xC3",
									 "\xFF",
									 "\xE4\xB8\xAD",
									 "\xCC\x81",
									 "192.168.0.1",
									 "x@y.z"};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* The result is no longer, its line ends are those of the text, and masking it again changes nothing of its digits. */
static void
test_random(void)
{
	for (int round = 0; round < unit_rounds(20000); round++)
	{
		char text[512] = "";
		int lines = 0;
		size_t length;
		char *out;

		for (uint32_t count = random_below(30); count > 0; count--)
			strcat(text, pieces[random_below(PIECES)]);
		out = masked(text, strlen(text), ALL, &length);
		CHECK_MSG(length <= strlen(text), "%s", text);
		for (const char *at = text; *at; at++)
			lines += *at == '\n';
		for (const char *at = out; *at; at++)
		{
			lines -= *at == '\n';
			CHECK_MSG(*at < '0' || *at > '9', "'%s' '%s'", text, out);
		}
		CHECK_MSG(lines == 0, "%s", text);
		free(out);
	}
}

/* Texts of a piece that is repeated, on which a search that begins again and again would take hours. */
static void
test_long(void)
{
	static const char *const repeated[] = {"http://",   "http://a.", "www.", "a.",       "a@",
										   "a@b.",      "1:",        "::",   "1.",       "1,",
										   "f",         "1",         "12-",  "Nov ",     "27 Nov ",
										   "20261127T", "http://)",  "a+",   "\xC3\xA9", "12:34:",
										   "\xCC\x81"};
	size_t length = 400000;
	char *text = malloc(length);

	for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++)
	{
		size_t piece = strlen(repeated[i]);
		size_t result;

		for (size_t at = 0; at < length; at++)
			text[at] = repeated[i][at % piece];
		memcpy(text + length - 2, "\xC3\xA9", 2);
		free(masked(text, length, ALL, &result));
		CHECK(result <= length);
	}
	free(text);
}

int
main(void)
{
	test_addresses();
	test_dates();
	test_words();
	test_lists();
	test_random();
	test_long();
	return unit_report();
}
