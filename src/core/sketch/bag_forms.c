/*
 * bag_forms.c: text and binary format of sets of shingles.
 *
 * Text: VERSION/SCHEME/{ELEMENT,ELEMENT:FREQUENCY,...}, the elements ascending and
 * without frequencies of 1, such as 1/word 3/{-7,12:2}.
 *
 * Binary format: layout (1 byte), version (1), flags (2), scheme (4), count (4), then the
 * elements (8 each) and, if the flag is set, the frequencies (4 each).
 */
#include "sketch/forms.h"

/* ---- Text --------------------------------------------------------------- */

/* Returns how many elements a text can have at most: one more than it has commas. */
static size_t
bag_count_elements(const char *text)
{
	size_t count = 1;

	for (; (text = strchr(text, ',')) != NULL; text++)
		host_check_interrupts_at(count++);
	return count;
}

/* Reads a signed number. */
static bool
read_element(FormReader *reader, int64_t *element)
{
	static const char *const expected = "Expected a 64-bit number";
	uint64_t number;

	if (*reader->at == '-')
	{
		reader->at++;
		if (!read_number(reader, 1, (uint64_t) INT64_MAX + 1, expected, &number))
			return false;
		*element = (int64_t) -number;
		return true;
	}
	if (!read_number(reader, 0, INT64_MAX, expected, &number))
		return false;
	*element = (int64_t) number;
	return true;
}

/* Reads ":FREQUENCY", if that is there, else sets *frequency to 1. */
static bool
read_frequency(FormReader *reader, uint32_t *frequency)
{
	uint64_t number = 1;

	if (*reader->at == ':')
	{
		reader->at++;
		if (!read_number(reader, 2, UINT32_MAX, "Expected a frequency from 2 to 4294967295",
						 &number))
			return false;
	}
	*frequency = (uint32_t) number;
	return true;
}

/* Reads elements and frequencies to the closing brace. */
static bool
read_elements(FormReader *reader, Bag *bag)
{
	while (*reader->at != '}')
	{
		int64_t element;
		const char *start;

		host_check_interrupts_at(bag->count);
		if (bag->count > 0)
		{
			if (*reader->at != ',')
				return read_expected(reader, "Expected \",\" or \"}\"");
			reader->at++;
		}
		start = reader->at;
		if (!read_element(reader, &element))
			return false;
		if (bag->count > 0 && element <= bag->element[bag->count - 1])
		{
			reader->at = start;
			return read_expected(reader, "Expected an element greater than the one before it");
		}
		if (!read_frequency(reader, &bag->frequency[bag->count]))
			return false;
		bag->element[bag->count++] = element;
	}
	reader->at++;
	bag_drop_ones(bag);
	return read_end(reader);
}

/* Reads a set up to the end of the text. */
bool
bag_parse(FormReader *reader, uint8_t *version, SchemeId *scheme, Bag *bag)
{
	size_t room;

	reader->strict = true;
	host_check_interrupts();
	if (!read_recipe(reader, version, scheme) || !read_char(reader, '{'))
		return false;
	room = bag_count_elements(reader->at);
	*bag = (Bag){.element = host_alloc(room * sizeof(int64_t)),
				 .frequency = host_alloc(room * sizeof(uint32_t))};
	if (read_elements(reader, bag))
		return true;
	bag_free(bag);
	return false;
}

/* Writes a set as text. */
void
bag_print(FormWriter *writer, int version, SchemeId scheme, const Bag *bag)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(scheme, name);
	form_put_text(writer, "%d/%s/{", version, name);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		if (i > 0)
			form_put(writer, ",", 1);
		form_put_decimal(writer, bag->element[i]);
		if (bag_frequency(bag, i) > 1)
			form_put_text(writer, ":%u", bag_frequency(bag, i));
	}
	form_put(writer, "}", 2);
	writer->length--;
}

/* ---- Binary format ------------------------------------------------------ */

/* Reads the elements and frequencies of a set that has room for them. */
static bool
receive_elements(FormReader *reader, Bag *bag)
{
	bool repeated = false;

	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		bag->element[i] = (int64_t) receive_number(reader, sizeof(int64_t));
		if (i > 0 && bag->element[i] <= bag->element[i - 1])
			return read_invalid(reader, "The elements are not ascending.");
	}
	if (bag->frequency == NULL)
		return true;
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		bag->frequency[i] = (uint32_t) receive_number(reader, sizeof(uint32_t));
		if (bag->frequency[i] == 0)
			return read_invalid(reader, "A frequency is zero.");
		repeated |= bag->frequency[i] > 1;
	}
	return repeated || read_invalid(reader, "Frequencies are given though all are 1.");
}

/* Reads the binary format of a set. */
bool
bag_receive(FormReader *reader, uint8_t *version, SchemeId *scheme, Bag *bag)
{
	int layout = (int) receive_number(reader, 1);
	unsigned flags;
	uint64_t bytes;

	*version = (uint8_t) receive_number(reader, 1);
	flags = (unsigned) receive_number(reader, 2);
	*scheme = (SchemeId) receive_number(reader, 4);
	*bag = (Bag){.count = (uint32_t) receive_number(reader, 4)};
	if (reader->cut)
		return false;
	if (layout != SHINGLES_LAYOUT || (flags & ~SHINGLES_FREQUENCIES) != 0)
		return read_invalid(reader, "The layout is of another version.");
	if (!receive_recipe(reader, *version, *scheme))
		return false;
	bytes = (uint64_t) bag->count * (flags ? sizeof(int64_t) + sizeof(uint32_t) : sizeof(int64_t));
	if ((uint64_t) (reader->end - reader->at) != bytes)
		return read_invalid(reader, "The length does not fit the number of elements.");
	bag->element = host_alloc(bag->count * sizeof(int64_t) + 1);
	bag->frequency = flags ? host_alloc(bag->count * sizeof(uint32_t) + 1) : NULL;
	if (receive_elements(reader, bag))
		return true;
	bag_free(bag);
	return false;
}

/* Writes a set in binary format. */
void
bag_send(FormWriter *writer, int version, SchemeId scheme, const Bag *bag)
{
	form_put_number(writer, SHINGLES_LAYOUT, 1);
	form_put_number(writer, version, 1);
	form_put_number(writer, bag->frequency ? SHINGLES_FREQUENCIES : 0, 2);
	form_put_number(writer, scheme, 4);
	form_put_number(writer, bag->count, 4);
	for (uint32_t i = 0; i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		form_put_number(writer, (uint64_t) bag->element[i], sizeof(int64_t));
	}
	for (uint32_t i = 0; bag->frequency && i < bag->count; i++)
	{
		host_check_interrupts_at(i);
		form_put_number(writer, bag->frequency[i], sizeof(uint32_t));
	}
}
