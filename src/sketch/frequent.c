/*
 * frequent.c: the elements that many of a stream of bags have.
 */
#include "sketch/frequent.h"

/* An element's count may lack this part of the share. */
#define LOSS 0.05

void
frequent_begin(Frequent *frequent, double share)
{
	double width = 1 / (LOSS * share);

	*frequent = (Frequent){.share = share};
	frequent->width = width < UINT32_MAX ? (uint32_t) width + 1 : UINT32_MAX;
	table_begin(&frequent->table, 0);
}

/* Puts an element into the table, which has room for it. */
static uint64_t *
search(const Frequent *frequent, uint64_t hash, uint64_t element)
{
	return table_search_key(&frequent->table, hash, element, frequent->counted, sizeof(Counted));
}

/* Forgets the elements that may be in no more than one of `width` bags on average. */
static void
forget_rare(Frequent *frequent)
{
	size_t count = frequent->table.count;
	uint32_t rare = frequent->bags / frequent->width;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		if (frequent->counted[i].bags + frequent->counted[i].missed > rare)
			frequent->counted[kept++] = frequent->counted[i];
	}
	table_end(&frequent->table);
	table_begin(&frequent->table, kept);
	table_reserve(&frequent->table, kept);
	for (size_t i = 0; i < kept; i++)
	{
		uint64_t hash = table_hash(&frequent->table, frequent->counted[i].element);

		host_check_interrupts_at(i);
		table_put(&frequent->table, search(frequent, hash, frequent->counted[i].element), hash);
	}
}

void
frequent_add(Frequent *frequent, const Bag *bag)
{
	Table *table = &frequent->table;
	size_t most = table->count + bag->count;

	table_reserve(table, most);
	frequent->counted = host_grow(frequent->counted, &frequent->room, most, sizeof(Counted));
	for (uint32_t i = 0; i < bag->count; i++)
	{
		uint64_t element = (uint64_t) bag->element[i];
		uint64_t hash = table_hash(table, element);
		uint64_t *slot = search(frequent, hash, element);

		host_check_interrupts_at(i);
		if (*slot != 0)
			frequent->counted[table_number(slot)].bags++;
		else
			frequent->counted[table_put(table, slot, hash)] =
				(Counted){element, 1, frequent->bags / frequent->width};
	}
	if (++frequent->bags % frequent->width == 0)
		forget_rare(frequent);
}

Bag
frequent_finish(Frequent *frequent)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	for (size_t i = 0; i < frequent->table.count; i++)
	{
		const Counted *counted = &frequent->counted[i];
		uint64_t bags = (uint64_t) counted->bags + counted->missed;

		host_check_interrupts_at(i);
		if (bags > 1 && (double) bags / frequent->bags >= frequent->share)
			bag_add(&builder, &counted->element, 1);
	}
	/* A table has fewer keys than a bag may have. */
	(void) bag_finish(&builder, &bag);
	table_end(&frequent->table);
	host_free(frequent->counted);
	return bag;
}
