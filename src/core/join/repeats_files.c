/*
 * repeats_files.c: the files of repeats: words of records that are added, and the words that go, as
 * repeats.c has found them, of some records.
 */
#include "join/repeats.h"

#include "base/sort.h"

/* Where a word is in its record, in characters. */
typedef struct WordPosition
{
	uint32_t start; /* NO_POSITION at the end of a text */
	uint32_t end;
} WordPosition;

/* Where a record begins. */
typedef struct RecordStart
{
	uint64_t position; /* the number of its first word, ends of texts included */
	uint64_t words;    /* words of the records before */
} RecordStart;

/* Records of which one is marked in memory. */
#define MARKED 512

/* ---- Words ---------------------------------------------------------------- */

/* Words that are written at a time. */
#define WRITTEN_WORDS 512

/* Prepares for the words of records. */
Repeats
repeats_begin(uint32_t run, size_t memory)
{
	return (Repeats){.run = run,
					 .memory = memory,
					 .mark = host_alloc(sizeof(uint64_t)),
					 .mark_room = 1,
					 .words = host_file_create(),
					 .positions = host_file_create(),
					 .records = host_file_create(),
					 .parts = host_file_create()};
}

/* Notes where a record begins. */
static void
begin_record(Repeats *repeats)
{
	RecordStart start = {repeats->length, repeats->word_count};

	if (repeats->record_count % MARKED == 0)
	{
		uint64_t marks = repeats->record_count / MARKED;

		repeats->mark = host_grow(repeats->mark, &repeats->mark_room, marks + 1, sizeof(uint64_t));
		repeats->mark[marks] = repeats->length;
	}
	host_file_write(repeats->records, repeats->record_count * sizeof(start), &start, sizeof(start));
}

/* Adds the words of the next records, with their ends. */
void
repeats_add(Repeats *repeats, const PlacedWord *words, size_t count)
{
	uint64_t hash[WRITTEN_WORDS];
	WordPosition position[WRITTEN_WORDS];

	for (size_t at = 0; at < count;)
	{
		size_t some = 0;

		if (repeats->length == 0 && repeats->record_count == 0)
			begin_record(repeats);
		for (; at < count && some < WRITTEN_WORDS && words[at].hash + words[at].start > 0; at++)
		{
			hash[some] = words[at].hash;
			position[some++] = (WordPosition){words[at].start, words[at].end};
			repeats->word_count += words[at].hash != 0;
		}
		host_file_write(repeats->words, repeats->length * sizeof(*hash), hash,
						some * sizeof(*hash));
		host_file_write(repeats->positions, repeats->length * sizeof(*position), position,
						some * sizeof(*position));
		repeats->length += some;
		if (at == count || words[at].hash + words[at].start > 0)
			continue;
		at++;
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

/* Returns a part. */
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

/* Returns the position of a word in its record. */
static WordPosition
position_at(const Repeats *repeats, uint64_t word)
{
	WordPosition position;

	host_file_read(repeats->positions, word * sizeof(position), &position, sizeof(position));
	return position;
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

/* Returns the first part at a word or behind it, where a record begins. */
static uint64_t
first_part(const Repeats *repeats, uint64_t word)
{
	uint64_t part = 0;

	SEARCH_SORTED(part, repeats->part_count, part_at(repeats, middle).start < word);
	return part;
}

/* A SortKey of parts that are at most 2^32 words apart: by their beginning, the longest first. */
static uint64_t
key_of_part(const void *record)
{
	const Part *part = record;

	return part->start << 32 | (uint32_t) ~part->end;
}

/* Reads the parts between two words, in order, but those that are within one before. */
static Part *
parts_between(const Repeats *repeats, uint64_t from, uint64_t to, size_t *count)
{
	Part *part = NULL;
	size_t room = 0;
	size_t read = 0;
	size_t kept = 0;
	Part next;

	for (uint64_t i = first_part(repeats, from); (next = part_at(repeats, i)).start < to; i++)
	{
		host_check_interrupts_at(i);
		part = host_grow(part, &room, read + 1, sizeof(Part));
		part[read++] = (Part){next.start - from, next.end - from, next.first};
	}
	if (to - from > UINT32_MAX)
		host_refuse_size("too many words are asked for at once");
	sort_records(part, read, sizeof(Part), key_of_part);
	for (size_t i = 0; i < read; i++)
	{
		Part *last = part + kept - 1;

		if (kept > 0 && part[i].start == last->start && part[i].end == last->end)
			last->first = Min(last->first, part[i].first);
		else if (kept == 0 || part[i].end > last->end)
			part[kept++] = part[i];
	}
	for (size_t i = 0; i < kept; i++)
		part[i] = (Part){part[i].start + from, part[i].end + from, part[i].first};
	*count = kept;
	return part;
}

/* Returns whether two words would be one without what is between them. */
static bool
grow_together(const Repeats *repeats, uint64_t x, uint64_t y)
{
	uint64_t hash[2];

	host_file_read(repeats->words, x * sizeof(*hash), hash, sizeof(*hash));
	host_file_read(repeats->words, y * sizeof(*hash), hash + 1, sizeof(*hash));
	return ((hash[0] | hash[1]) & 1) == 0;
}

/*
 * Sets what is cut out for a part: words that no part before has, from a word on, and what follows
 * each, up to the next word.  *left is the word before the first that goes, if that follows at once.
 */
static void
set_cut(const Repeats *repeats, RepeatedPart *made, uint64_t from, const Part *part,
		const Part *next, bool begins, uint64_t *left)
{
	WordPosition none = {NO_POSITION, 0};
	WordPosition before = begins && from > 0 ? position_at(repeats, from - 1) : none;
	WordPosition behind = position_at(repeats, part->end);

	made->words = part->end - from;
	made->cut_from = position_at(repeats, from).start;
	made->cut_to =
		behind.start != NO_POSITION ? behind.start : position_at(repeats, part->end - 1).end;
	if (begins)
		*left = before.start != NO_POSITION && before.end >= made->cut_from ? from - 1 : UINT64_MAX;
	if (before.start != NO_POSITION)
		made->cut_from = Max(made->cut_from, before.end);
	made->cut_to = Max(made->cut_to, made->cut_from);
	made->blank = *left != UINT64_MAX && behind.start != NO_POSITION &&
		(next == NULL || next->start > part->end) && made->cut_to == behind.start &&
		grow_together(repeats, *left, part->end);
}

/* Sets where a part and its first copy are. */
static void
set_part_positions(const Repeats *repeats, RepeatedPart *made, const Part *part)
{
	uint64_t last = part->end - part->start - 1;

	made->from = position_at(repeats, part->start).start;
	made->to = position_at(repeats, part->end - 1).end;
	made->first_record = record_of_word(repeats, part->first);
	made->first_from = position_at(repeats, part->first).start;
	made->first_to = position_at(repeats, part->first + last).end;
}

/* Sets how many words stay of the records that have some parts. */
static void
set_left(const Repeats *repeats, RepeatedPart *made, size_t count)
{
	for (size_t i = 0, end; i < count; i = end)
	{
		uint64_t record = made[i].record;
		uint64_t left =
			record_start(repeats, record + 1).words - record_start(repeats, record).words;

		for (end = i; end < count && made[end].record == record; end++)
			left -= made[end].words;
		for (size_t j = i; j < end; j++)
			made[j].left = left;
	}
}

/*
 * Returns what goes of some records, in order, after repeats_find(); the caller frees the array.  Each
 * word that goes is in a part, and no part is within another.
 */
RepeatedPart *
repeats_of(const Repeats *repeats, uint64_t first, uint64_t count, size_t *found)
{
	uint64_t from = record_start(repeats, first).position;
	Part *part = parts_between(repeats, from, record_start(repeats, first + count).position, found);
	RepeatedPart *made = host_alloc(*found * sizeof(RepeatedPart));
	uint64_t covered = 0;
	uint64_t left = UINT64_MAX;

	for (size_t i = 0; i < *found; i++)
	{
		bool begins = i == 0 || part[i].start > covered;

		host_check_interrupts_at(i);
		while (record_start(repeats, first + 1).position <= part[i].start)
			first++;
		made[i] = (RepeatedPart){.record = first};
		set_cut(repeats, made + i, begins ? part[i].start : covered, part + i,
				i + 1 < *found ? part + i + 1 : NULL, begins, &left);
		set_part_positions(repeats, made + i, part + i);
		covered = part[i].end;
	}
	set_left(repeats, made, *found);
	host_free(part);
	return made;
}

/* Closes the files. */
void
repeats_end(Repeats *repeats)
{
	host_file_close(repeats->words);
	host_file_close(repeats->positions);
	host_file_close(repeats->records);
	host_file_close(repeats->parts);
	host_free(repeats->mark);
}
