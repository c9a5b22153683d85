/*
 * repeats_files.c: words in files, and the words that go of some records, as repeats.c has found them.
 */
#include "join/repeats.h"

#include "base/sort.h"

/* ---- Words ----------------------------------------------------------------- */

/* The words whose positions lie together, each counted from the one before; and the most bytes of a word. */
#define BLOCK 64
#define PLACE_MOST 10

typedef struct WordBlock
{
	uint64_t place;  /* the byte where the positions begin */
	uint64_t record; /* a record that begins with the block or before */
} WordBlock;

/* Writes a number, the lowest seven bits first, and returns the position behind it. */
static inline uint8_t *
code_number(uint8_t *to, uint32_t number)
{
	for (; number >= 128; number >>= 7)
		*to++ = (uint8_t) (number | 128);
	*to++ = (uint8_t) number;
	return to;
}

/* Reads a number, and returns the position behind it. */
static inline const uint8_t *
decode_number(const uint8_t *at, uint32_t *number)
{
	int bits = 0;

	for (*number = 0; *at >= 128; bits += 7)
		*number |= (uint32_t) (*at++ & 127) << bits;
	*number |= (uint32_t) *at++ << bits;
	return at;
}

/* Prepares for the words of records. */
Repeats
repeats_begin(uint32_t run, size_t memory)
{
	Repeats repeats = {.run = run,
					   .memory = memory,
					   .words = host_file_create(),
					   .places = host_file_create(),
					   .blocks = host_file_create(),
					   .records = host_file_create(),
					   .parts = host_file_create()};

	host_file_write(repeats.records, 0, &repeats.length, sizeof(repeats.length));
	return repeats;
}

/* Closes the files. */
void
repeats_end(Repeats *repeats)
{
	host_file_close(repeats->words);
	host_file_close(repeats->places);
	host_file_close(repeats->blocks);
	host_file_close(repeats->records);
	host_file_close(repeats->parts);
}

/* Adds the words of the next records, with their ends. */
void
repeats_add(Repeats *repeats, const PlacedWord *words, size_t count)
{
	uint64_t *hash = host_alloc(count * sizeof(*hash));
	uint8_t *place = host_alloc(count * PLACE_MOST);
	uint8_t *to = place;
	uint64_t first = repeats->length;

	for (size_t i = 0; i < count; i++)
	{
		uint64_t block = repeats->length / BLOCK;

		host_check_interrupts_at(i);
		if (repeats->length++ % BLOCK == 0)
		{
			WordBlock begun = {repeats->place_bytes + (to - place), repeats->record_count};

			host_file_write(repeats->blocks, block * sizeof(begun), &begun, sizeof(begun));
			repeats->place = 0;
		}
		hash[i] = words[i].hash;
		to = code_number(to, words[i].start - repeats->place);
		to = code_number(to, words[i].end - words[i].start);
		repeats->place = words[i].end;
		if (words[i].hash == 0 && words[i].start == 0)
			host_file_write(repeats->records, ++repeats->record_count * sizeof(uint64_t),
							&repeats->length, sizeof(uint64_t));
	}
	host_file_write(repeats->words, first * sizeof(*hash), hash, count * sizeof(*hash));
	host_file_write(repeats->places, repeats->place_bytes, place, to - place);
	repeats->place_bytes += to - place;
	host_free(hash);
	host_free(place);
}

/* Returns the block of a word. */
static WordBlock
word_block(const Repeats *repeats, uint64_t word)
{
	WordBlock block;

	host_file_read(repeats->blocks, word / BLOCK * sizeof(block), &block, sizeof(block));
	return block;
}

/* Returns a word without its hash. */
static PlacedWord
place_at(const Repeats *repeats, uint64_t number)
{
	PlacedWord word = {0};
	uint8_t place[BLOCK * PLACE_MOST];
	const uint8_t *at = place;
	uint64_t start = word_block(repeats, number).place;

	host_file_read(repeats->places, start, place, Min(sizeof(place), repeats->place_bytes - start));
	for (uint64_t i = 0; i <= number % BLOCK; i++)
	{
		at = decode_number(at, &word.start);
		word.start += word.end;
		at = decode_number(at, &word.end);
		word.end += word.start;
	}
	return word;
}

/* Returns a word. */
static PlacedWord
word_at(const Repeats *repeats, uint64_t number)
{
	PlacedWord word = place_at(repeats, number);

	host_file_read(repeats->words, number * sizeof(word.hash), &word.hash, sizeof(word.hash));
	return word;
}

/* ---- What goes ------------------------------------------------------------- */

/* Returns where a record begins. */
static uint64_t
record_start(const Repeats *repeats, uint64_t record)
{
	uint64_t start;

	host_file_read(repeats->records, record * sizeof(start), &start, sizeof(start));
	return start;
}

/* Returns the record that has a word. */
static uint64_t
record_with(const Repeats *repeats, uint64_t word)
{
	uint64_t record = word_block(repeats, word).record;

	while (record_start(repeats, record + 1) <= word)
		record++;
	return record;
}

/* Returns the first part in a record, or behind it. */
static uint64_t
first_part(const Repeats *repeats, uint64_t record)
{
	uint64_t word = record_start(repeats, record);
	uint64_t number = 0;
	Part part;

	SEARCH_SORTED(number, repeats->part_count,
				  (host_file_read(repeats->parts, middle * sizeof(part), &part, sizeof(part)),
				   part.start < word));
	return number;
}

/*
 * Sets where a part is, and what is cut out for it: its words, and what follows each, up to the next word.
 * Parts may follow on each other: `begins` and `ends` say that the part is the first and the last of them.
 * *left is the word before the first that goes, if that follows at once, else an end.
 */
static void
set_places(const Repeats *repeats, const Part *part, bool begins, bool ends, PlacedWord *left,
		   RepeatedPart *made)
{
	PlacedWord begin = place_at(repeats, part->start);
	PlacedWord behind = word_at(repeats, part->end);

	made->from = made->cut_from = begin.start;
	made->to = place_at(repeats, part->end - 1).end;
	if (begins)
	{
		*left = part->start > 0 ? word_at(repeats, part->start - 1) : (PlacedWord){0};
		made->cut_from = left->hash != 0 ? Max(begin.start, left->end) : begin.start;
		left->hash = left->end < begin.start ? 0 : left->hash;
	}
	made->cut_to = Max(behind.hash != 0 ? behind.start : made->to, made->cut_from);
	made->blank = ends && left->hash != 0 && behind.hash != 0 && made->cut_to == behind.start &&
		((left->hash | behind.hash) & 1) == 0;
}

/*
 * Returns what goes of some records, in order, after repeats_find(); the caller frees the array.  Each
 * word that goes is in one part.  First copies come last, since they may be anywhere.
 */
RepeatedPart *
repeats_of(const Repeats *repeats, uint64_t record, uint64_t count, size_t *found)
{
	uint64_t first = first_part(repeats, record);
	size_t parts = *found = first_part(repeats, record + count) - first;
	Part *part = host_alloc(parts * sizeof(Part));
	RepeatedPart *made = host_alloc(parts * sizeof(RepeatedPart));
	PlacedWord left = {0};

	host_file_read(repeats->parts, first * sizeof(Part), part, parts * sizeof(Part));
	for (size_t i = 0; i < parts; i++)
	{
		uint64_t words = part[i].end - part[i].start;

		host_check_interrupts_at(i);
		record = record_with(repeats, part[i].start);
		made[i] = (RepeatedPart){.record = record, .words = words};
		if (i > 0 && made[i - 1].record == record)
			made[i].left = made[i - 1].left - words;
		else
			made[i].left = place_at(repeats, record_start(repeats, record + 1) - 1).end - words;
		set_places(repeats, part + i, i == 0 || part[i - 1].end < part[i].start,
				   i + 1 == parts || part[i].end < part[i + 1].start, &left, made + i);
	}
	for (size_t i = 0; i < parts; i++)
	{
		made[i].first_record = record_with(repeats, part[i].first);
		made[i].first_from = place_at(repeats, part[i].first).start;
		made[i].first_to = place_at(repeats, part[i].first + made[i].words - 1).end;
	}
	host_free(part);
	return made;
}
