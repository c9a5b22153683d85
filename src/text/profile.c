/*
 * profile.c: what a text is made of: tokens, scripts, and words of known languages.
 */
#include "text/internal.h"

enum
{
	SCRIPT_LATIN,
	SCRIPT_GREEK,
	SCRIPT_CYRILLIC,
	SCRIPT_ARMENIAN,
	SCRIPT_HEBREW,
	SCRIPT_ARABIC,
	SCRIPT_SYRIAC,
	SCRIPT_DEVANAGARI,
	SCRIPT_BENGALI,
	SCRIPT_GURMUKHI,
	SCRIPT_GUJARATI,
	SCRIPT_TAMIL,
	SCRIPT_TELUGU,
	SCRIPT_KANNADA,
	SCRIPT_MALAYALAM,
	SCRIPT_SINHALA,
	SCRIPT_THAI,
	SCRIPT_LAO,
	SCRIPT_TIBETAN,
	SCRIPT_MYANMAR,
	SCRIPT_GEORGIAN,
	SCRIPT_HANGUL,
	SCRIPT_ETHIOPIC,
	SCRIPT_KHMER,
	SCRIPT_MONGOLIAN,
	SCRIPT_HAN,
	SCRIPT_KANA,
	SCRIPT_BOPOMOFO,
	SCRIPT_OTHER,
	SCRIPTS
};

static const char *const script_names[SCRIPTS] = {
	[SCRIPT_LATIN] = "Latin",         [SCRIPT_GREEK] = "Greek",
	[SCRIPT_CYRILLIC] = "Cyrillic",   [SCRIPT_ARMENIAN] = "Armenian",
	[SCRIPT_HEBREW] = "Hebrew",       [SCRIPT_ARABIC] = "Arabic",
	[SCRIPT_SYRIAC] = "Syriac",       [SCRIPT_DEVANAGARI] = "Devanagari",
	[SCRIPT_BENGALI] = "Bengali",     [SCRIPT_GURMUKHI] = "Gurmukhi",
	[SCRIPT_GUJARATI] = "Gujarati",   [SCRIPT_TAMIL] = "Tamil",
	[SCRIPT_TELUGU] = "Telugu",       [SCRIPT_KANNADA] = "Kannada",
	[SCRIPT_MALAYALAM] = "Malayalam", [SCRIPT_SINHALA] = "Sinhala",
	[SCRIPT_THAI] = "Thai",           [SCRIPT_LAO] = "Lao",
	[SCRIPT_TIBETAN] = "Tibetan",     [SCRIPT_MYANMAR] = "Myanmar",
	[SCRIPT_GEORGIAN] = "Georgian",   [SCRIPT_HANGUL] = "Hangul",
	[SCRIPT_ETHIOPIC] = "Ethiopic",   [SCRIPT_KHMER] = "Khmer",
	[SCRIPT_MONGOLIAN] = "Mongolian", [SCRIPT_HAN] = "Han",
	[SCRIPT_KANA] = "Kana",           [SCRIPT_BOPOMOFO] = "Bopomofo",
	[SCRIPT_OTHER] = "others",
};

_Static_assert(SCRIPTS <= PROFILE_SCRIPTS_MAX, "scripts fit into a profile");

/* The scripts of code points, ascending. */
typedef struct ScriptRange
{
	uint32_t first;
	uint32_t last;
	int script;
} ScriptRange;

static const ScriptRange script_ranges[] = {
	{0x41, 0x24F, SCRIPT_LATIN},        {0x250, 0x2FF, SCRIPT_LATIN},
	{0x370, 0x3FF, SCRIPT_GREEK},       {0x400, 0x52F, SCRIPT_CYRILLIC},
	{0x531, 0x58F, SCRIPT_ARMENIAN},    {0x590, 0x5FF, SCRIPT_HEBREW},
	{0x600, 0x6FF, SCRIPT_ARABIC},      {0x700, 0x74F, SCRIPT_SYRIAC},
	{0x750, 0x77F, SCRIPT_ARABIC},      {0x900, 0x97F, SCRIPT_DEVANAGARI},
	{0x980, 0x9FF, SCRIPT_BENGALI},     {0xA00, 0xA7F, SCRIPT_GURMUKHI},
	{0xA80, 0xAFF, SCRIPT_GUJARATI},    {0xB80, 0xBFF, SCRIPT_TAMIL},
	{0xC00, 0xC7F, SCRIPT_TELUGU},      {0xC80, 0xCFF, SCRIPT_KANNADA},
	{0xD00, 0xD7F, SCRIPT_MALAYALAM},   {0xD80, 0xDFF, SCRIPT_SINHALA},
	{0xE00, 0xE7F, SCRIPT_THAI},        {0xE80, 0xEFF, SCRIPT_LAO},
	{0xF00, 0xFFF, SCRIPT_TIBETAN},     {0x1000, 0x109F, SCRIPT_MYANMAR},
	{0x10A0, 0x10FF, SCRIPT_GEORGIAN},  {0x1100, 0x11FF, SCRIPT_HANGUL},
	{0x1200, 0x139F, SCRIPT_ETHIOPIC},  {0x1780, 0x17FF, SCRIPT_KHMER},
	{0x1800, 0x18AF, SCRIPT_MONGOLIAN}, {0x1E00, 0x1EFF, SCRIPT_LATIN},
	{0x1F00, 0x1FFF, SCRIPT_GREEK},     {0x3005, 0x3007, SCRIPT_HAN},
	{0x3041, 0x30FF, SCRIPT_KANA},      {0x3105, 0x312F, SCRIPT_BOPOMOFO},
	{0x3131, 0x318E, SCRIPT_HANGUL},    {0x31F0, 0x31FF, SCRIPT_KANA},
	{0x3400, 0x9FFF, SCRIPT_HAN},       {0xAC00, 0xD7FB, SCRIPT_HANGUL},
	{0xF900, 0xFAFF, SCRIPT_HAN},       {0x20000, 0x3FFFF, SCRIPT_HAN},
};

#define SCRIPT_RANGES ((int) (sizeof(script_ranges) / sizeof(script_ranges[0])))

static int
script_of(uint32_t code_point)
{
	int low = 0;
	int high = SCRIPT_RANGES;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (script_ranges[middle].last < code_point)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == SCRIPT_RANGES || script_ranges[low].first > code_point)
		return SCRIPT_OTHER;
	return script_ranges[low].script;
}

/*
 * Counts the letters of a token for their scripts; returns whether it is one of a script
 * without spaces.
 */
static bool
count_letters(TextProfile *profile, const uint8_t *token, size_t length)
{
	bool alone = false;

	for (const uint8_t *end = token + length; token < end;)
	{
		uint32_t code_point;
		int bytes = utf8_decode(token, end - token, &code_point);
		CharClass class = CHAR_CLASS(char_info(code_point));

		alone |= class == CHAR_ALONE;
		if ((class == CHAR_WORD || class == CHAR_ALONE) &&
			!(code_point >= '0' && code_point <= '9'))
			profile->letters[script_of(code_point)]++;
		token += bytes;
	}
	return alone;
}

/* A TokenSink. */
static void
count_tokens(void *state, const TokenBatch *batch)
{
	TextProfile *profile = state;

	host_check_interrupts();
	profile->tokens += batch->count;
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);
		uint64_t hash = shingle_of_token(token, length);

		profile->alone += count_letters(profile, (const uint8_t *) token, length);
		for (int language = 0; language < language_count; language++)
			profile->stop_words[language] += word_set_has(language_stop_words(language), hash);
	}
}

/* Counts what a text has. */
void
profile_text(const char *utf8, size_t length, TextProfile *profile)
{
	*profile = (TextProfile){.tokens = 0};
	tokens_of_text(utf8, length, count_tokens, profile);
}

/* Returns the name of the script of most letters, NULL for a text without letters. */
const char *
profile_script(const TextProfile *profile)
{
	int most = 0;

	for (int i = 1; i < SCRIPTS; i++)
		if (profile->letters[i] > profile->letters[most])
			most = i;
	return profile->letters[most] > 0 ? script_names[most] : NULL;
}

/*
 * Returns the code of the language most of whose stop words a text has, NULL if fewer than
 * a seventh of its tokens, or a single one, are among them.
 */
const char *
profile_language(const TextProfile *profile)
{
	int most = 0;

	for (int i = 1; i < language_count; i++)
		if (profile->stop_words[i] > profile->stop_words[most])
			most = i;
	/* Sentences of each language have more: a fifth at least.  A list of names has few. */
	return profile->stop_words[most] * 7 >= profile->tokens && profile->stop_words[most] > 1 ?
		languages[most].code :
		NULL;
}
