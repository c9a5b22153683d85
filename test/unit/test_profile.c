/*
 * test_profile.c: what texts are made of.
 */
#include <string.h>

#include "text/internal.h"
#include "unit.h"

static TextProfile
profile_of(const char *text)
{
	TextProfile profile;

	profile_text(text, strlen(text), &profile);
	return profile;
}

/* Is the answer this name, or NULL? */
static bool
is_called(const char *answer, const char *name)
{
	return name == NULL ? answer == NULL : answer != NULL && strcmp(answer, name) == 0;
}

static void
scripts_are_told(void)
{
	static const struct
	{
		const char *text;
		const char *script;
	} cases[] = {
		{"", NULL},
		{"12 34 !!", NULL},
		{"Grüße, \u017Eena", "Latin"},
		{"\uFF26\uFF35\uFF2C\uFF2C", "Latin"}, /* full width: normalised */
		{"Слово", "Cyrillic"},
		{"λόγος ἦν", "Greek"},
		{"שלום", "Hebrew"},
		{"كلمة", "Arabic"},
		{"शब्द", "Devanagari"},
		{"คำ", "Thai"},
		{"말씀", "Hangul"},
		{"太初", "Han"},
		{"ことば", "Kana"},
		{"\U00020000", "Han"},
		{"\u13A0\u13A1", "others"}, /* Cherokee has no name here */
		{"word слово слова", "Cyrillic"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		TextProfile profile = profile_of(cases[i].text);

		CHECK(is_called(profile_script(&profile), cases[i].script));
	}
}

static void
tokens_are_counted(void)
{
	TextProfile profile = profile_of("two words 太初有");

	CHECK(profile.tokens == 5);
	CHECK(profile.alone == 3);
	profile = profile_of("");
	CHECK(profile.tokens == 0 && profile.alone == 0);
}

/* The stop words of each language make up its sentences; two are needed, and a seventh. */
static void
languages_are_told(void)
{
	TextProfile profile = profile_of("the reefs that we saw were white");

	CHECK(is_called(profile_language(&profile), "en"));
	profile = profile_of("das Wort war bei ihnen, und es war nicht ihr Wort");
	CHECK(is_called(profile_language(&profile), "de"));
	profile = profile_of("les mots que nous avons vus dans les livres");
	CHECK(is_called(profile_language(&profile), "fr"));
	profile = profile_of("coral reef the");
	CHECK(is_called(profile_language(&profile), NULL));
	profile = profile_of("");
	CHECK(is_called(profile_language(&profile), NULL));
	profile = profile_of("the the a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4");
	CHECK(is_called(profile_language(&profile), NULL));
	profile = profile_of("the the a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3");
	CHECK(is_called(profile_language(&profile), "en"));
	for (int i = 0; i < language_count; i++)
	{
		profile = profile_of(languages[i].stop_words);
		CHECK(is_called(profile_language(&profile), languages[i].code));
		CHECK(profile.stop_words[i] == profile.tokens);
	}
}

/* The ranges ascend, so the search finds each script by its first and last letter. */
static void
every_code_point_has_a_script(void)
{
	uint64_t named = 0;

	for (uint32_t c = 0x41; c < 0x30000; c++)
	{
		uint8_t letter[4];
		TextProfile profile;
		const char *script;

		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		profile_text((const char *) letter, utf8_encode(c, letter), &profile);
		script = profile_script(&profile);
		CHECK(profile.tokens > 0 || script == NULL);
		named += script != NULL && strcmp(script, "others") != 0;
	}
	CHECK(named > 100000);
}

int
main(void)
{
	scripts_are_told();
	tokens_are_counted();
	languages_are_told();
	every_code_point_has_a_script();
	return unit_report();
}
