/*
 * common_elements.c: counts the elements that many documents have, exactly.
 */
#include "sketch/common_elements.h"

#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "sketch/weights.h"

/* The highest bits of a key that say its part. */
#define PART_BITS 9

/* The most and the fewest occurrences of a part in memory, and the share of the memory for those of all. */
#define CHUNK_MOST 1024
#define CHUNK_LEAST 16
#define CHUNK_SHARE 8

/* An occurrence: the key, then the number of the source, then whether the document is new. */
#define OCCURRENCE(key, source, is_new) ((uint64_t) (key) << 32 | (source) << 1 | (is_new))
#define OCCURRENCE_KEY(occurrence) ((uint32_t) ((occurrence) >> 32))
#define OCCURRENCE_SOURCE(occurrence) ((uint32_t) (occurrence) >> 1)
#define OCCURRENCE_IS_NEW(occurrence) ((occurrence) &1)

static void
begin_numbers(KeyNumbers *numbers)
{
	table_begin(&numbers->table, 0);
	numbers->key = host_alloc(numbers->table.room * sizeof(uint64_t));
}

static void
end_numbers(KeyNumbers *numbers)
{
	table_end(&numbers->table);
	host_free(numbers->key);
}

/* Returns the number of a key, and sets *is_new to whether it is new. */
static uint32_t
number_key(KeyNumbers *numbers, uint64_t key, bool *is_new)
{
	size_t before = numbers->table.count;
	uint32_t number = table_number_key(&numbers->table, key, &numbers->key);

	*is_new = numbers->table.count > before;
	return number;
}

/* Starts to count; a share is above 0, at most 1; memory is for occurrences. */
void
common_begin(CommonElements *common, double share, size_t memory)
{
	size_t chunk = memory / CHUNK_SHARE / COMMON_PARTS / sizeof(uint64_t);

	memset(common, 0, sizeof(*common));
	common->share = share;
	common->secret = host_random_seed();
	common->chunk_count = host_limit(Max(Min(chunk, CHUNK_MOST), CHUNK_LEAST));
	begin_numbers(&common->seen);
	begin_numbers(&common->sources);
	common->occurrences = host_alloc(COMMON_PARTS * common->chunk_count * sizeof(uint64_t));
	for (size_t i = 0; i < COMMON_PARTS; i++)
		common->part[i].occurrence = common->occurrences + i * common->chunk_count;
}

/* Writes the occurrences of a part that are in memory to the file. */
static void
write_chunk(CommonElements *common, CommonPart *part)
{
	size_t bytes = part->count * sizeof(uint64_t);

	if (common->file == NULL)
		common->file = host_file_create();
	part->chunk = host_grow(part->chunk, &part->room, part->chunks + 1, sizeof(uint64_t));
	part->chunk[part->chunks++] = common->end;
	host_file_write(common->file, common->end, part->occurrence, bytes);
	common->end += bytes;
	part->count = 0;
}

/* Returns the number of a source, from 1 on, and counts a document of it; 0 for none. */
static uint64_t
number_source(CommonElements *common, uint64_t source)
{
	bool is_new;
	uint32_t number;

	if (source == 0)
		return 0;
	number = number_key(&common->sources, source, &is_new);
	common->of_source =
		host_grow(common->of_source, &common->source_room, number + 1, sizeof(uint32_t));
	if (is_new)
		common->of_source[number] = 0;
	common->of_source[number]++;
	return (uint64_t) number + 1;
}

/*
 * Adds a document, the mix64 of each of its distinct elements; `source` is a number of its source, or 0.
 * A document of the same elements counts once, and once for each source.
 */
void
common_add(CommonElements *common, uint64_t source, const uint64_t *mixed, size_t count)
{
	uint64_t hash = 0;
	uint64_t number;
	bool is_new;
	bool is_new_there;

	for (size_t i = 0; i < count; i++)
		hash += mix64(mixed[i] + common->secret);
	(void) number_key(&common->seen, hash, &is_new);
	is_new_there = is_new;
	if (source != 0)
		(void) number_key(&common->seen, mix64(hash + mix64(source)), &is_new_there);
	common->documents += is_new;
	if (!is_new_there)
		return;
	number = number_source(common, source);
	for (size_t i = 0; i < count; i++)
	{
		uint32_t key = weight_key(mixed[i]);
		CommonPart *part = common->part + (key >> (32 - PART_BITS));

		host_check_interrupts_at(i);
		part->occurrence[part->count++] = OCCURRENCE(key, number, is_new);
		if (part->count == common->chunk_count)
			write_chunk(common, part);
	}
}

/* Returns all occurrences of a part, sorted; *count is their number. */
static uint64_t *
sorted_part(const CommonElements *common, const CommonPart *part, size_t *count)
{
	size_t chunk = common->chunk_count;
	uint64_t *all;

	*count = part->chunks * chunk + part->count;
	all = host_alloc(*count * sizeof(uint64_t) + 1);
	for (size_t i = 0; i < part->chunks; i++)
		host_file_read(common->file, part->chunk[i], all + i * chunk, chunk * sizeof(uint64_t));
	memcpy(all + part->chunks * chunk, part->occurrence, part->count * sizeof(uint64_t));
	sort_records(all, *count, sizeof(uint64_t), sort_key_unsigned);
	return all;
}

/* Returns whether a key is common, of which these are the occurrences. */
static bool
is_frequent(const CommonElements *common, const uint64_t *occurrence, size_t count)
{
	uint64_t documents = 0;
	size_t end;

	for (size_t at = 0; at < count; at = end)
	{
		uint32_t source = OCCURRENCE_SOURCE(occurrence[at]);

		for (end = at; end < count && OCCURRENCE_SOURCE(occurrence[end]) == source; end++)
			documents += OCCURRENCE_IS_NEW(occurrence[end]);
		if (source > 0 && is_of_form(end - at, common->of_source[source - 1], common->share))
			return true;
	}
	return is_of_form(documents, common->documents, common->share);
}

/*
 * Returns how many keys at least the share of the documents, or of those of a source, have, and at
 * least FORM_DOCUMENTS; sets *key to them, ascending.  Frees the counts.
 */
uint32_t
common_finish(CommonElements *common, uint32_t **key)
{
	uint32_t keys = 0;
	size_t room = 0;

	*key = host_alloc(1);
	for (CommonPart *part = common->part; part < common->part + COMMON_PARTS; part++)
	{
		size_t count;
		uint64_t *all;
		size_t end;

		if (part->count + part->chunks == 0)
			continue;
		all = sorted_part(common, part, &count);

		for (size_t at = 0; at < count; at = end)
		{
			for (end = at; end < count && OCCURRENCE_KEY(all[end]) == OCCURRENCE_KEY(all[at]);)
				end++;
			host_check_interrupts_at(at);
			if (!is_frequent(common, all + at, end - at))
				continue;
			*key = host_grow(*key, &room, keys + 1, sizeof(uint32_t));
			(*key)[keys++] = OCCURRENCE_KEY(all[at]);
		}
		host_free(all);
		host_free(part->chunk);
	}
	if (common->file != NULL)
		host_file_close(common->file);
	host_free(common->occurrences);
	end_numbers(&common->seen);
	end_numbers(&common->sources);
	host_free(common->of_source);
	return keys;
}
