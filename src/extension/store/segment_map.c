/*
 * segment_map.c: maps as a backend keeps them, in about two bytes an entry.
 *
 * The blocks of a map, and the first buckets of its pages, usually lie near straight lines.  So
 * only their differences from these are kept, if there are any.  Blocks of a build follow each
 * other, and all pages of documents of a build have one stamp: these have none.
 */
#include "store/segment_read.h"

#include "base/sort.h"

/* Returns how many bytes the differences of a column take in a map of `count` entries. */
static Size
column_bytes(const MapColumn *column, uint32 count)
{
	return MAXALIGN(count * column->width);
}

/* Returns how many bytes a map takes. */
Size
map_bytes(const CachedMap *map)
{
	return sizeof(CachedMap) + column_bytes(&map->number, map->count) +
		column_bytes(&map->block, map->count);
}

/* Sets the line of a column through its first entry and its last. */
static void
set_line(MapColumn *column, const uint32 *value, uint32 count)
{
	int64 rise = (int64) value[count - 1] - value[0];

	column->first = value[0];
	column->step = count == 1 ? 0 : rise * (1 << MAP_STEP_BITS) / (count - 1);
}

/*
 * Sets a column, and `value` to its differences, which the map has `offset` bytes behind its
 * beginning.
 */
static void
set_column(CachedMap *map, MapColumn *column, uint32 *value, Size offset)
{
	int32 least = 0;
	int32 most = 0;
	char *difference = (char *) map + offset;

	set_line(column, value, map->count);
	for (uint32 i = 0; i < map->count; i++)
	{
		value[i] -= column_line(column, i);
		least = Min(least, (int32) value[i]);
		most = Max(most, (int32) value[i]);
	}
	column->offset = (uint32) offset;
	column->width = sizeof(int32);
	if (least >= PG_INT16_MIN && most <= PG_INT16_MAX)
		column->width = least == 0 && most == 0 ? 0 : sizeof(int16);
	if (column->width == sizeof(int32))
		memcpy(difference, value, map->count * sizeof(int32));
	else if (column->width == sizeof(int16))
		for (uint32 i = 0; i < map->count; i++)
			((int16 *) difference)[i] = (int16) value[i];
}

/* Returns a copy of a map, which has entries, in memory that is larger than needed. */
CachedMap *
map_pack(const MapEntry *entry, uint32 count)
{
	Size most = MAXALIGN(count * sizeof(uint32));
	CachedMap *map = palloc0(sizeof(CachedMap) + 2 * most);
	uint32 *value = palloc(most);

	map->count = count;
	for (uint32 i = 0; i < count; i++)
		value[i] = entry[i].number << 1 | entry[i].number >> 31;
	set_column(map, &map->number, value, sizeof(CachedMap));
	for (uint32 i = 0; i < count; i++)
		value[i] = entry[i].block;
	set_column(map, &map->block, value, sizeof(CachedMap) + column_bytes(&map->number, count));
	if (map->number.step > 0)
		map->slots_per_bucket = 2 * (float) (1 << MAP_STEP_BITS) / map->number.step;
	pfree(value);
	return map;
}

/* Returns the entry of a map where a bucket is likely to begin. */
static inline uint32
guess(const CachedMap *map, uint32 bucket)
{
	float slot = (float) (int32) (bucket - map->number.first / 2) * map->slots_per_bucket;

	return slot <= 0 ? 0 : Min((uint32) slot, map->count - 1);
}

/* Prefetches where a bucket is likely to begin into the processor's cache. */
void
map_prefetch(const CachedMap *map, uint32 bucket)
{
	uint32 slot = guess(map, bucket);

	__builtin_prefetch((const char *) map + map->number.offset + slot * map->number.width);
	__builtin_prefetch((const char *) map + map->block.offset + slot * map->block.width);
	__builtin_prefetch(&map->recent[slot]);
}

/* Returns the first bucket of an entry of a map. */
static inline uint32
map_bucket(const CachedMap *map, uint32 slot)
{
	return bucket_of_number(map_number(map, slot));
}

/*
 * Returns the last entry of a map that begins with a bucket or before it, or the first.  Steps from a
 * guess; skewed buckets may need many steps, so these grow.
 */
uint32
map_find(const CachedMap *map, uint32 bucket)
{
	uint32 low = guess(map, bucket);
	uint32 high = low + 1;

	for (uint32 step = 1; low > 0 && map_bucket(map, low) > bucket; step *= 2)
	{
		high = low;
		low -= Min(step, low);
	}
	for (uint32 step = 1; high < map->count && map_bucket(map, high) <= bucket; step *= 2)
	{
		low = high;
		high += Min(step, map->count - high);
	}
	low++;
	SEARCH_SORTED(low, high, map_bucket(map, middle) <= bucket);
	return low - 1;
}
