/*
 * stars.c: clusters around keepers.
 */
#include "join/stars.h"

#include <string.h>

#include "base/sort.h"

/* This many documents are settled together however many pairs they have. */
#define SETTLED_MIN 256

/* ---- Joining a keeper --------------------------------------------------- */

/* May a document join a keeper that it is similar to?  One of another list: always. */
static bool
may_join(const Stars *stars, uint32_t document, uint32_t keeper)
{
	return stars->may_join == NULL || stars->keeper_first != NULL ||
		stars->may_join(stars, document, keeper);
}

static bool
waits(const Stars *stars, uint32_t document)
{
	return stars->waits != NULL && stars->waits(stars, document);
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

/* Keeps a pair of rows.  The room doubles, but not beyond the limit while the pairs are within. */
void
stars_add_edge(Stars *stars, uint32_t first, uint32_t second, double similarity)
{
	if (stars->edges == stars->room)
	{
		stars->room *= 2;
		if (stars->edges < stars->limit)
			stars->room = Min(stars->room, stars->limit);
		stars->edge = host_realloc(stars->edge, stars->room * sizeof(StarEdge));
	}
	stars->edge[stars->edges++] = (StarEdge){second, first, similarity};
}

/* A StarSink for a document and a keeper. */
static bool
take_keeper(void *state, uint32_t document, uint32_t keeper, double similarity)
{
	Stars *stars = state;
	const uint32_t *first = stars->keeper_first != NULL ? stars->keeper_first : stars->first;

	if (!may_join(stars, document, keeper))
		return true;
	if (waits(stars, document))
		stars_add_edge(stars, first[keeper], stars->first[document], similarity);
	else
		offer_document(stars, document, first[keeper], similarity);
	return true;
}

/* ---- Rounds ------------------------------------------------------------- */

/* A StarSink that keeps the pair, or ends the join if there is no room for it. */
static bool
take_edge(void *state, uint32_t a, uint32_t b, double similarity)
{
	Stars *stars = state;
	uint32_t first = stars->first[a];
	uint32_t second = stars->first[b];
	bool swap = first > second;

	if (first == second || !may_join(stars, swap ? a : b, swap ? b : a))
		return true;
	if (stars->edges == stars->limit)
		return false;
	stars_add_edge(stars, Min(first, second), Max(first, second), similarity);
	return true;
}

/*
 * Assigns each document of a list to keepers among the earlier ones, or makes it a keeper
 * unless keepers are others.  Edges of later documents stay.
 */
static void
settle(Stars *stars, const StarList *list)
{
	bool same = stars->keeper_first == NULL;
	size_t next = 0;

	sort_records(stars->edge, stars->edges, sizeof(StarEdge), sort_key_pair);
	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t document = list->doc[i];
		uint32_t row = stars->first[document];

		for (; next < stars->edges && stars->edge[next].second == row; next++)
		{
			const StarEdge *edge = stars->edge + next;

			if ((!same || stars->keeper[edge->first] == edge->first) &&
				(!waits(stars, document) || stars->is_allowed(stars, document, edge->first)))
				offer_document(stars, document, edge->first, edge->similarity);
		}
		if (same && stars->keeper[row] == STAR_NO_ROW)
			offer_document(stars, document, row, 1);
		host_check_interrupts_at(i);
	}
	stars->edges -= next;
	memmove(stars->edge, stars->edge + next, stars->edges * sizeof(StarEdge));
}

/*
 * Finds the pairs among the first documents of a list, at most `most` and the others of the
 * last one's unit.  Takes fewer documents if they have too many pairs, and returns how many
 * it took.
 */
static uint32_t
find_edges(Stars *stars, const StarList *undecided, uint32_t most)
{
	size_t waiting = stars->edges;
	StarList list = {undecided->doc, Min(most, undecided->count)};

	for (;;)
	{
		most = list.count;
		while (list.count < undecided->count &&
			   stars->first[list.doc[list.count - 1]] == stars->first[list.doc[list.count]])
			list.count++;
		stars->edges = waiting;
		stars->limit = most <= SETTLED_MIN ? SIZE_MAX : waiting + stars->most_edges;
		if (stars->join(stars, &list, NULL, take_edge))
			return list.count;
		list.count = Max(most / 2, SETTLED_MIN);
	}
}

typedef enum DocumentKind
{
	KEEPERS,
	MEMBERS,  /* documents that are no keepers, and do not wait */
	UNDECIDED /* documents without a keeper */
} DocumentKind;

/* Returns the documents of a list that are of a kind. */
static StarList
select_documents(const Stars *stars, const StarList *list, DocumentKind kind)
{
	uint32_t *chosen = host_alloc(list->count * sizeof(uint32_t) + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t document = list->doc[i];
		uint32_t row = stars->first[document];
		bool is_kind = stars->keeper[row] == (kind == UNDECIDED ? STAR_NO_ROW : row);

		if (kind == MEMBERS)
			is_kind = !is_kind && !waits(stars, document);
		if (is_kind)
			chosen[count++] = document;
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
make_rounds(Stars *stars)
{
	StarList undecided = select_documents(stars, &stars->documents, UNDECIDED);
	uint32_t most = undecided.count;

	while (undecided.count > 0)
	{
		uint32_t count = find_edges(stars, &undecided, most);
		StarList settled = {undecided.doc, count};
		StarList others = {undecided.doc + count, undecided.count - count};
		StarList keepers;
		StarList next;

		settle(stars, &settled);
		keepers = select_documents(stars, &settled, KEEPERS);
		join_keepers(stars, &others, &keepers);
		next = select_documents(stars, &others, UNDECIDED);
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
	const StarList *all = &stars->documents;

	if (stars->keeper_first != NULL)
	{
		StarList keepers = star_list(stars->keepers);

		join_keepers(stars, all, &keepers);
		if (stars->edges > 0)
			settle(stars, all);
		host_free((void *) keepers.doc);
		return;
	}
	make_rounds(stars);
	if (stars->nearest)
	{
		/* A later keeper may be nearer than those that a document met. */
		StarList keepers = select_documents(stars, all, KEEPERS);
		StarList members = select_documents(stars, all, MEMBERS);

		join_keepers(stars, &members, &keepers);
		host_free((void *) keepers.doc);
		host_free((void *) members.doc);
	}
}
