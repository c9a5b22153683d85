/*
 * repeats_files.c: the files of repeats: words of records that are added, and the words that go, as
 * repeats.c has found them, of some records.
 */
#include "join/repeats.h"

#include "base/sort.h"

/* Where a record begins. */
typedef struct RecordStart
{
	uint64_t position; /* the number of its first word, ends included */
	uint64_t words;    /* words of the records before */
} RecordStart;

/* Records of which one is marked in memory. */
#define MARKED 512

/* ---- Words ---------------------------------------------------------------- */

/* Notes where a record begins. */
static void
begin_record(Repeats *repeats)
{
	RecordStart start = {repeats->length, repeats->word_count};
	uint64_t marks = repeats->record_count / MARKED;

	repeats->mark = host_grow(repeats->mark, &repeats->mark_room, marks + 1, sizeof(uint64_t));
	if (repeats->record_count % MARKED == 0)
		repeats->mark[marks] = repeats->length;
	host_file_write(repeats->records, repeats->record_count * sizeof(start), &start, sizeof(start));
}

/* Prepares for the words of records. */
Repeats
repeats_begin(uint32_t run, size_t memory)
{
	Repeats repeats = {.run = run,
					   .memory = memory,
					   .words = host_file_create(),
					   .records = host_file_create(),
					   .parts = host_file_create()};

	begin_record(&repeats);
	return repeats;
}

/* Adds the words of the next records, with their ends. */
void
repeats_add(Repeats *repeats, const PlacedWord *words, size_t count)
{
	host_file_write(repeats->words, repeats->length * sizeof(*words), words,
					count * sizeof(*words));
	for (; count > 0; count--, words++)
	{
		repeats->length++;
		repeats->word_count += words->hash != 0;
		if (words->hash != 0 || words->start != 0)
			continue;
		repeats->record_count++;
		begin_record(repeats);
	}
}

/* Says that only runs of the records so far count in those that follow. */
void
repeats_end_others(Repeats *repeats)
{
	repeats->has_others = true;
	repeats->others = repeats->length;
}

/* ---- What goes ------------------------------------------------------------ */

/* Returns a part, or one behind all. */
static Part
part_at(const Repeats *repeats, uint64_t number)
{
	Part part = {UINT64_MAX, 0, 0};

	if (number < repeats->part_count)
		host_file_read(repeats->parts, number * sizeof(part), &part, sizeof(part));
	return part;
}

/* Returns where a record begins. */
static RecordStart
record_start(const Repeats *repeats, uint64_t record)
{
	RecordStart start;

	host_file_read(repeats->records, record * sizeof(start), &start, sizeof(start));
	return start;
}

static PlacedWord
word_at(const Repeats *repeats, uint64_t number)
{
	PlacedWord word;

	host_file_read(repeats->words, number * sizeof(word), &word, sizeof(word));
	return word;
}

/* Returns the record of a word, by the marks, and by the records from one of these on. */
static uint64_t
record_of_word(const Repeats *repeats, uint64_t word)
{
	uint64_t mark = 1;
	uint64_t record;

	SEARCH_SORTED(mark, (repeats->record_count - 1) / MARKED + 1, repeats->mark[middle] <= word);
	record = (mark - 1) * MARKED + 1;
	SEARCH_SORTED(record, Min(mark * MARKED, repeats->record_count),
				  record_start(repeats, middle).position <= word);
	return record - 1;
}

/*
 * Sets where a part is, and what is cut out for it: its words, and what follows each, up to the next word.
 * *left is the word before the first that goes, if that follows at once, else an end.
 */
static void
set_part_positions(const Repeats *repeats, RepeatedPart *made, uint64_t number, PlacedWord *left)
{
	Part part = part_at(repeats, number);
	bool begins = number == 0 || part_at(repeats, number - 1).end < part.start;
	bool ends = part_at(repeats, number + 1).start > part.end;
	PlacedWord begin = word_at(repeats, part.start);
	PlacedWord behind = word_at(repeats, part.end);

	made->from = made->cut_from = begin.start;
	made->to = word_at(repeats, part.end - 1).end;
	if (begins)
		*left = part.start > 0 ? word_at(repeats, part.start - 1) : (PlacedWord){0};
	if (begins && left->hash != 0)
		made->cut_from = Max(begin.start, left->end);
	if (begins && left->end < begin.start)
		left->hash = 0;
	made->cut_to = Max(behind.hash != 0 ? behind.start : made->to, made->cut_from);
	made->blank = ends && left->hash != 0 && behind.hash != 0 && made->cut_to == behind.start &&
		((left->hash | behind.hash) & 1) == 0;
}

/* Sets where the first copy of a part is, which begins with a word. */
static void
set_first_copy(const Repeats *repeats, RepeatedPart *made, uint64_t word)
{
	made->first_record = record_of_word(repeats, word);
	made->first_from = word_at(repeats, word).start;
	made->first_to = word_at(repeats, word + made->words - 1).end;
}

/* Returns the first part at a word or behind it. */
static uint64_t
first_part(const Repeats *repeats, uint64_t word)
{
	uint64_t number = 0;

	SEARCH_SORTED(number, repeats->part_count, part_at(repeats, middle).start < word);
	return number;
}

/*
 * Returns what goes of some records, in order, after repeats_find(); the caller frees the array.  Each
 * word that goes is in one part.  First copies come last, since they may be anywhere.
 */
RepeatedPart *
repeats_of(const Repeats *repeats, uint64_t record, uint64_t count, size_t *found)
{
	RecordStart next = record_start(repeats, record);
	uint64_t first = first_part(repeats, next.position);
	uint64_t words = 0; /* words of the record that are in no part so far */
	PlacedWord left = {0};
	RepeatedPart *made;

	*found = first_part(repeats, record_start(repeats, record + count).position) - first;
	made = host_alloc(*found * sizeof(RepeatedPart));
	for (size_t i = 0; i < *found; i++)
	{
		Part part = part_at(repeats, first + i);

		host_check_interrupts_at(i);
		for (; next.position <= part.start; record++)
		{
			words = next.words;
			next = record_start(repeats, record + 1);
			words = next.words - words;
		}
		words -= part.end - part.start;
		made[i] =
			(RepeatedPart){.record = record - 1, .words = part.end - part.start, .left = words};
		set_part_positions(repeats, made + i, first + i, &left);
	}
	for (size_t i = 0; i < *found; i++)
		set_first_copy(repeats, made + i, part_at(repeats, first + i).first);
	return made;
}

/* Closes the files. */
void
repeats_end(Repeats *repeats)
{
	host_file_close(repeats->words);
	host_file_close(repeats->records);
	host_file_close(repeats->parts);
	host_free(repeats->mark);
}
