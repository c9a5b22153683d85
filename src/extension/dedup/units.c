/*
 * units.c: the units of rows that are judged the same, and which units are judged different.
 */
#include "dedup/dedup.h"

#include "utils/memutils.h"

#include "base/sort.h"

/* Returns the number of the first member of a unit, and shortens the way to it. */
static uint32
unit_of(Units *units, uint32 number)
{
	UnitMember *member = units->member;

	while (member[number].unit != number)
		number = member[number].unit = member[member[number].unit].unit;
	return number;
}

/* Makes one unit of the units of two members; the earlier row comes first. */
static void
unite(Units *units, uint32 x, uint32 y)
{
	bool swap;

	x = unit_of(units, x);
	y = unit_of(units, y);
	swap = x / units->positions != y / units->positions ?
		x > y :
		units->member[x].row > units->member[y].row;
	if (swap)
		units->member[x].unit = y;
	else
		units->member[y].unit = x;
}

/* Notes that the units of two members are judged different. */
static void
separate(Units *units, uint32 x, uint32 y)
{
	uint32 unit = unit_of(units, x);
	uint32 other = unit_of(units, y);

	if (unit == other)
		judged_contradict(units->verdicts, x % units->positions, y % units->positions,
						  "They are judged different, and the same by way of other verdicts.");
	units->different[units->pairs++] = (UnitPair){unit, other};
	units->different[units->pairs++] = (UnitPair){other, unit};
}

/* Returns the source of a member's row. */
static const Source *
source_of(const Units *units, uint32 number)
{
	return units->source[number / units->positions];
}

/* Passes the members of each pair judged same, or different, to a function. */
static void
for_verdicts(Units *units, bool same, void (*function)(Units *units, uint32 x, uint32 y))
{
	uint32 members = units->positions * (units->source[1] ? 2 : 1);

	for (uint32 v = 0; v < units->verdicts->count; v++)
	{
		const JudgedPair *verdict = units->verdicts->verdict + v;

		for (uint32 x = verdict->a; x < members && verdict->same == same; x += units->positions)
			for (uint32 y = verdict->b; y < members; y += units->positions)
				if (rows_share_scope(source_of(units, x), units->member[x].row, source_of(units, y),
									 units->member[y].row))
					function(units, x, y);
		host_check_interrupts_at(v);
	}
}

/* Tells each unit its pairs. */
static void
index_pairs(Units *units)
{
	sort_records(units->different, units->pairs, sizeof(UnitPair), sort_key_pair);
	for (uint32 i = 0; i < units->pairs; i++)
	{
		UnitMember *unit = units->member + units->different[i].unit;

		if (unit->end == 0)
			unit->first = i;
		unit->end = i + 1;
	}
}

/*
 * Makes the units of the rows of one source or two.  Raises an error if rows of one unit are
 * judged different.
 */
Units *
units_make(const JudgedPairs *verdicts, Source *keepers, Source *other)
{
	Units *units = palloc0(sizeof(Units));
	uint32 members = verdicts->positions * (other ? 2 : 1);

	*units =
		(Units){.verdicts = verdicts, .source = {keepers, other}, .positions = verdicts->positions};
	units->member =
		palloc_extended(members * sizeof(UnitMember), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < members; i++)
		units->member[i] =
			(UnitMember){.row =
							 units->source[i / units->positions]->judged_row[i % units->positions],
						 .unit = i};
	/* A verdict concerns up to four pairs of rows, each in both orders. */
	units->different =
		palloc_extended(Max(verdicts->count, 1) * 8 * sizeof(UnitPair), MCXT_ALLOC_HUGE);
	for_verdicts(units, true, unite);
	for_verdicts(units, false, separate);
	for (uint32 i = 0; i < members; i++)
		units->member[i].unit = unit_of(units, i);
	index_pairs(units);
	return units;
}

/* Returns the unit of a row, or NOT_JUDGED. */
uint32
units_of_row(const Units *units, const Source *source, uint32 row)
{
	uint32 position = source->judged[row];

	if (position == NOT_JUDGED)
		return NOT_JUDGED;
	return units->member[position + (source == units->source[0] ? 0 : units->positions)].unit;
}
