/*
 * stars.c: clusters around keepers.
 */
#include "join/stars.h"

#include <string.h>

#include "base/sort.h"

/* This many documents are settled together however many pairs they have. */
#define SETTLED_MIN 256

/* ---- Joining a keeper --------------------------------------------------- */

static bool
may_join(const Stars *stars, uint32_t document, uint32_t keeper)
{
	return stars->may_join == NULL || stars->may_join(stars, document, keeper);
}

/* Assigns a row to a keeper unless it has a better one: nearer if that counts, or earlier. */
static void
offer(Stars *stars, uint32_t row, uint32_t keeper, double similarity)
{
	bool better = stars->keeper[row] == STAR_NO_ROW || keeper < stars->keeper[row];

	if (stars->nearest && stars->keeper[row] != STAR_NO_ROW && similarity != stars->similarity[row])
		better = similarity > stars->similarity[row];
	if (!better)
		return;
	stars->keeper[row] = keeper;
	stars->similarity[row] = similarity;
}

/* Offers a keeper to the rows of a document, within one list to those that come after it. */
static void
offer_document(Stars *stars, uint32_t document, uint32_t keeper, double similarity)
{
	for (uint32_t row = stars->first[document]; row != STAR_NO_ROW; row = stars->next[row])
	{
		host_check_interrupts();
		if (stars->keeper_first != NULL || keeper <= row)
			offer(stars, row, keeper, similarity);
	}
}

/* A StarSink for a document and a keeper. */
static bool
take_keeper(void *state, uint32_t document, uint32_t keeper, double similarity)
{
	Stars *stars = state;
	const uint32_t *first = stars->keeper_first != NULL ? stars->keeper_first : stars->first;

	if (may_join(stars, document, keeper))
		offer_document(stars, document, first[keeper], similarity);
	return true;
}

/* ---- Rounds ------------------------------------------------------------- */

/* A StarSink that keeps the pair, or ends the join if there is no room for it. */
static bool
take_edge(void *state, uint32_t a, uint32_t b, double similarity)
{
	Stars *stars = state;
	uint32_t first = Min(a, b);
	uint32_t second = Max(a, b);

	if (!may_join(stars, second, first))
		return true;
	if (stars->edges == stars->limit)
		return false;
	stars->edge = host_grow(stars->edge, &stars->room, stars->edges + 1, sizeof(StarEdge));
	stars->edge[stars->edges++] = (StarEdge){second, first, similarity};
	return true;
}

/* Assigns each document of a list to keepers among the earlier ones, or makes it a keeper. */
static void
settle(Stars *stars, const StarList *list)
{
	size_t next = 0;

	sort_records(stars->edge, stars->edges, sizeof(StarEdge), sort_key_pair);
	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t document = list->doc[i];

		for (; next < stars->edges && stars->edge[next].second == document; next++)
		{
			uint32_t row = stars->first[stars->edge[next].first];

			if (stars->keeper[row] == row)
				offer_document(stars, document, row, stars->edge[next].similarity);
		}
		if (stars->keeper[stars->first[document]] == STAR_NO_ROW)
			offer_document(stars, document, stars->first[document], 1);
		host_check_interrupts_at(i);
	}
}

/*
 * Finds the pairs among the first documents of a list, at most `most`.  Takes fewer if they
 * have too many pairs, and returns how many it took.
 */
static uint32_t
find_edges(Stars *stars, const StarList *undecided, uint32_t most)
{
	StarList list = {undecided->doc, Min(most, undecided->count)};

	for (;;)
	{
		stars->edges = 0;
		stars->limit = list.count <= SETTLED_MIN ? SIZE_MAX : stars->most_edges;
		if (stars->join(stars, &list, NULL, take_edge))
			return list.count;
		list.count = Max(list.count / 2, SETTLED_MIN);
	}
}

/* Returns the documents of a list that are keepers, or those that have none yet. */
static StarList
select_documents(const Stars *stars, const StarList *list, bool keepers)
{
	uint32_t *chosen = host_alloc(list->count * sizeof(uint32_t) + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t row = stars->first[list->doc[i]];

		if (stars->keeper[row] == (keepers ? row : STAR_NO_ROW))
			chosen[count++] = list->doc[i];
	}
	return (StarList){chosen, count};
}

/* Joins documents with the keepers of a list. */
static void
join_keepers(Stars *stars, const StarList *list, const StarList *keepers)
{
	if (list->count > 0 && keepers->count > 0)
		(void) stars->join(stars, list, keepers, take_keeper);
}

/* Returns the list of the first documents. */
StarList
star_list(uint32_t count)
{
	uint32_t *doc = host_alloc(count * sizeof(uint32_t) + 1);

	for (uint32_t i = 0; i < count; i++)
		doc[i] = i;
	return (StarList){doc, count};
}

/* Finds the keepers among the documents, in rounds. */
static void
make_rounds(Stars *stars, const StarList *all)
{
	StarList undecided = star_list(all->count);
	uint32_t most = undecided.count;

	while (undecided.count > 0)
	{
		uint32_t count = find_edges(stars, &undecided, most);
		StarList settled = {undecided.doc, count};
		StarList others = {undecided.doc + count, undecided.count - count};
		StarList keepers;
		StarList next;

		settle(stars, &settled);
		keepers = select_documents(stars, &settled, true);
		join_keepers(stars, &others, &keepers);
		next = select_documents(stars, &others, false);
		host_free((void *) keepers.doc);
		host_free((void *) undecided.doc);
		undecided = next;
		most = count < UINT32_MAX / 2 ? count * 2 : count;
	}
	host_free((void *) undecided.doc);
}

/* Sets the keepers of all rows, and their similarities to them. */
void
stars_make(Stars *stars)
{
	StarList all = star_list(stars->documents);

	if (stars->keeper_first == NULL)
		make_rounds(stars, &all);
	if (stars->keeper_first != NULL || stars->nearest)
	{
		/* A later keeper may be nearer than those that a document met. */
		StarList keepers = stars->keeper_first != NULL ? star_list(stars->keepers) :
														 select_documents(stars, &all, true);

		join_keepers(stars, &all, &keepers);
		host_free((void *) keepers.doc);
	}
	host_free((void *) all.doc);
}
