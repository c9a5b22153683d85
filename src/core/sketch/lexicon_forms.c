/*
 * lexicon_forms.c: text and binary format of lexicons.
 *
 * Text: VERSION/SCHEME/DOCUMENTS/{KEY:WEIGHT,...}, the keys ascending, such as
 * 1/word 1/63905/{17:3,4000000000:0}.
 *
 * Binary format: layout (1 byte), version (1), reserved (2), scheme (4), count (4),
 * documents (8), then the keys (4 each) and the weights (1 each).
 */
#include "sketch/forms.h"

/* Returns whether a lexicon of a recipe version may weigh shingles of a scheme. */
bool
lexicon_weighs(int version, SchemeId scheme)
{
	return version > RECIPE_VERSION ||
		(scheme_is_valid(scheme) && scheme_has_lexicons(scheme) && SCHEME_VARIANT(scheme) == 0);
}

/* Returns whether keys ascend, and weights are below WEIGHT_MAX. */
bool
lexicon_is_ordered(const LexiconParts *lexicon)
{
	for (uint32_t i = 0; i < lexicon->count; i++)
		if (lexicon->weight[i] >= WEIGHT_MAX || (i > 0 && lexicon->key[i] <= lexicon->key[i - 1]))
			return false;
	return true;
}

/* Returns the scheme of the shingles that a lexicon has weighed. */
SchemeId
lexicon_weighed_scheme(SchemeId scheme, uint64_t digest)
{
	return scheme | (SchemeId) (digest % 65535 + 1);
}

/* Allocates room for the entries. */
static void
lexicon_make_room(LexiconParts *lexicon)
{
	lexicon->key = host_alloc(lexicon->count * sizeof(uint32_t) + 1);
	lexicon->weight = host_alloc(lexicon->count + 1);
}

/* Frees the entries, and returns false. */
static bool
give_up(LexiconParts *lexicon)
{
	host_free(lexicon->key);
	host_free(lexicon->weight);
	return false;
}

/* ---- Text --------------------------------------------------------------- */

/* Reads KEY:WEIGHT; i is its number. */
static bool
read_entry(FormReader *reader, LexiconParts *lexicon, uint32_t i)
{
	const char *start;
	uint64_t key;
	uint64_t weight;

	if (i > 0 && !read_char(reader, ','))
		return false;
	start = reader->at;
	if (!read_number(reader, 0, UINT32_MAX, "Expected a key of 32 bits", &key))
		return false;
	if (i > 0 && key <= lexicon->key[i - 1])
	{
		reader->at = start;
		return read_expected(reader, "Expected a key greater than the one before it");
	}
	if (!read_char(reader, ':') ||
		!read_number(reader, 0, WEIGHT_MAX - 1, "Expected a weight from 0 to 14", &weight))
		return false;
	lexicon->key[i] = (uint32_t) key;
	lexicon->weight[i] = (uint8_t) weight;
	return true;
}

/* Returns how many entries a text can have: one more than it has commas, or none. */
static uint32_t
count_entries(const char *text)
{
	uint32_t count = *text != '}';

	for (; count <= LEXICON_ENTRIES_MAX && (text = strchr(text, ',')) != NULL; text++)
		count++;
	return count;
}

/* Reads the entries to the closing brace. */
static bool
read_entries(FormReader *reader, LexiconParts *lexicon)
{
	for (uint32_t i = 0; i < lexicon->count; i++)
	{
		host_check_interrupts_at(i);
		if (!read_entry(reader, lexicon, i))
			return false;
	}
	return read_char(reader, '}') && read_end(reader);
}

/* Reads a lexicon up to the end of the text. */
bool
lexicon_parse(FormReader *reader, LexiconParts *lexicon)
{
	reader->strict = true;
	if (reader->at[strspn(reader->at, "0123456789")] != '/')
		return read_invalid(reader,
							"It begins with a recipe version and a scheme, such as \"1/word 1/\".  "
							"neardup_lexicon(query) makes a lexicon.");
	if (!read_recipe(reader, &lexicon->version, &lexicon->scheme))
		return false;
	if (!lexicon_weighs(lexicon->version, lexicon->scheme))
		return read_invalid(reader, "A lexicon has a scheme such as \"word 1\".");
	if (!read_number(reader, 0, INT64_MAX, "Expected a number of documents", &lexicon->documents) ||
		!read_char(reader, '/') || !read_char(reader, '{'))
		return false;
	lexicon->count = count_entries(reader->at);
	if (lexicon->count > LEXICON_ENTRIES_MAX)
		return read_invalid(reader, "It has more than %d entries.", LEXICON_ENTRIES_MAX);
	lexicon_make_room(lexicon);
	return read_entries(reader, lexicon) || give_up(lexicon);
}

/* Writes a lexicon as text. */
void
lexicon_print(FormWriter *writer, const LexiconParts *lexicon)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(lexicon->scheme, name);
	form_put_text(writer, "%d/%s/%llu/{", lexicon->version, name,
				  (unsigned long long) lexicon->documents);
	for (uint32_t i = 0; i < lexicon->count; i++)
	{
		host_check_interrupts_at(i);
		form_put_text(writer, "%s%u:%d", i > 0 ? "," : "", lexicon->key[i], lexicon->weight[i]);
	}
	form_put(writer, "}", 2);
	writer->length--;
}

/* ---- Binary format ------------------------------------------------------ */

/* Reads the binary format of a lexicon. */
bool
lexicon_receive(FormReader *reader, LexiconParts *lexicon)
{
	int layout = (int) receive_number(reader, 1);
	int reserved;

	lexicon->version = (uint8_t) receive_number(reader, 1);
	reserved = (int) receive_number(reader, 2);
	lexicon->scheme = (SchemeId) receive_number(reader, 4);
	lexicon->count = (uint32_t) receive_number(reader, 4);
	lexicon->documents = receive_number(reader, 8);
	if (reader->cut)
		return false;
	if (layout != LEXICON_LAYOUT || reserved != 0)
		return read_invalid(reader, "The layout is of another version.");
	if (!receive_recipe(reader, lexicon->version, lexicon->scheme))
		return false;
	if (!lexicon_weighs(lexicon->version, lexicon->scheme))
		return read_invalid(reader, "It has a scheme that lexicons do not weigh.");
	if (lexicon->documents > INT64_MAX)
		return read_invalid(reader, "The number of documents is out of range.");
	if (lexicon->count > LEXICON_ENTRIES_MAX ||
		(size_t) (reader->end - reader->at) != lexicon->count * (sizeof(uint32_t) + 1))
		return read_invalid(reader, "The length does not fit the number of entries.");
	lexicon_make_room(lexicon);
	for (uint32_t i = 0; i < lexicon->count; i++)
		lexicon->key[i] = (uint32_t) receive_number(reader, 4);
	receive_bytes(reader, lexicon->weight, lexicon->count);
	if (lexicon_is_ordered(lexicon))
		return true;
	read_invalid(reader, "The keys are not ascending, or a weight is above 14.");
	return give_up(lexicon);
}

/* Writes a lexicon in binary format. */
void
lexicon_send(FormWriter *writer, const LexiconParts *lexicon)
{
	form_put_number(writer, LEXICON_LAYOUT, 1);
	form_put_number(writer, lexicon->version, 1);
	form_put_number(writer, 0, 2);
	form_put_number(writer, lexicon->scheme, 4);
	form_put_number(writer, lexicon->count, 4);
	form_put_number(writer, lexicon->documents, 8);
	for (uint32_t i = 0; i < lexicon->count; i++)
		form_put_number(writer, lexicon->key[i], 4);
	form_put(writer, lexicon->weight, lexicon->count);
}
