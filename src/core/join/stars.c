/*
 * stars.c: clusters around keepers.
 *
 * Documents are taken in order: one within the threshold of an earlier keeper joins that keeper,
 * any other becomes a keeper.  Only as many pairs are kept as there is room for.  If there are
 * more, the first documents are settled alone, and the others join the keepers found or wait for
 * the next round.
 *
 * The pairs of documents that wait for their turn with keepers of earlier rounds are kept until
 * then.
 *
 * Where evidence decides, the pairs of a round are candidates.  They are judged when their documents
 * are settled, since most need not be: pairs of members, and those with keepers after the first.
 */
#include <string.h>

#include "base/sort.h"
#include "join/pairs.h"

/* This many documents are settled together however many pairs they have. */
#define SETTLED_MIN 256

/* Room for pairs that there always is. */
#define EDGES_MIN ((size_t) SETTLED_MIN * SETTLED_MIN / 2)

/*
 * Pairs that are kept for each document, on average.  More are in large clusters, whose members
 * need not be compared with each other once they have a keeper.
 */
#define EDGES_OF_DOCUMENT 8

/* Candidates that are kept for each document, on average. */
#define CANDIDATES_OF_DOCUMENT 4

/* ---- Joining a keeper --------------------------------------------------- */

/*
 * Returns whether a document may join a keeper that it is similar to.  By containment, it joins
 * none that is shorter, unless the keepers are other documents.
 */
static bool
may_join(const Stars *stars, uint32_t document, uint32_t keeper)
{
	const StoredSet *set = stars->documents->store->sets.set;

	if (stars->may_meet != NULL && !stars->may_meet(stars, document, keeper))
		return false;
	return stars->documents->options->measure != MEASURE_CONTAINMENT || stars->keepers != NULL ||
		set[document].length <= set[keeper].length;
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
	bool better = stars->keeper[row] == NO_ROW || keeper < stars->keeper[row];

	if (stars->nearest && stars->keeper[row] != NO_ROW && similarity != stars->similarity[row])
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
	for (uint32_t row = stars->first[document]; row != NO_ROW; row = stars->documents->next[row])
	{
		host_check_interrupts();
		if (stars->keepers != NULL || keeper <= row)
			offer(stars, row, keeper, similarity);
	}
}

/* Keeps a pair of rows.  The room doubles, but not beyond the limit while the pairs are within. */
static void
add_edge(Stars *stars, uint32_t first, uint32_t second, double similarity)
{
	if (stars->edges == stars->room)
	{
		stars->room = Max(2 * stars->room, EDGES_MIN);
		if (stars->edges < stars->limit)
			stars->room = Min(stars->room, stars->limit);
		stars->edge = host_realloc(stars->edge, stars->room * sizeof(Edge));
	}
	stars->edge[stars->edges++] = (Edge){second, first, similarity};
}

/* A PairSink for a document and a keeper. */
static bool
take_keeper(void *state, uint32_t document, uint32_t keeper, double similarity)
{
	Stars *stars = state;
	const uint32_t *first = stars->keepers != NULL ? stars->keeper_first : stars->first;

	if (!may_join(stars, document, keeper))
		return true;
	if (waits(stars, document))
		add_edge(stars, first[keeper], stars->first[document], similarity);
	else
		offer_document(stars, document, first[keeper], similarity);
	return true;
}

/* ---- Candidates --------------------------------------------------------- */

/*
 * A candidate has the numbers of its documents, of 31 bits each, in place of the similarity, and
 * its sign, which no similarity has.
 */
#define NUMBER_BITS 31
#define CANDIDATE (UINT64_C(1) << 63)

/* Candidates that are looked at before all of them are judged. */
#define LOOKED_AT 1024

/* Returns what an edge has in place of its similarity. */
static double
candidate(uint32_t first, uint32_t second)
{
	uint64_t numbers = CANDIDATE | (uint64_t) first << NUMBER_BITS | second;
	double packed;

	memcpy(&packed, &numbers, sizeof(packed));
	return packed;
}

/* Returns what a candidate has in place of its similarity, or 0 if it was judged. */
static uint64_t
candidate_numbers(const Edge *edge)
{
	uint64_t numbers;

	memcpy(&numbers, &edge->similarity, sizeof(numbers));
	return (numbers & CANDIDATE) != 0 ? numbers : 0;
}

/* Returns one of the documents of a candidate, 0 or 1, by what candidate_numbers() returns. */
static uint32_t
candidate_document(uint64_t numbers, int which)
{
	return numbers >> (which == 0 ? NUMBER_BITS : 0) & ((UINT32_C(1) << NUMBER_BITS) - 1);
}

/* Sets the similarity of a candidate, whose documents are at two positions, or 0 if they are not similar. */
static void
judge_candidate(Judge *judge, Edge *edge, uint32_t a, uint32_t b)
{
	if (!judge_pair(judge, a, b, &edge->similarity))
		edge->similarity = 0;
}

/* Returns whether the documents of an edge are similar.  Judges a candidate. */
static bool
is_similar(Judge *judge, Edge *edge)
{
	uint64_t numbers = candidate_numbers(edge);

	if (numbers != 0)
		judge_candidate(judge, edge, candidate_document(numbers, 0),
						candidate_document(numbers, 1));
	return edge->similarity > 0;
}

/*
 * Drops candidates that are not similar, unless more than half of a sample of them are similar.
 * Returns whether at least half of them are gone.
 */
static bool
drop_candidates(Stars *stars)
{
	size_t count = stars->edges;
	size_t step = count / LOOKED_AT + 1;
	size_t similar = 0;

	for (size_t i = 0; i < count; i += step)
	{
		Edge edge = stars->edge[i];

		similar += is_similar(stars->judge, &edge) ? step : 0;
	}
	if (similar > count / 2)
		return false;
	stars->edges = 0;
	for (size_t i = 0; i < count; i++)
		if (is_similar(stars->judge, stars->edge + i))
			stars->edge[stars->edges++] = stars->edge[i];
	return stars->edges <= count / 2;
}

/*
 * The candidates of this many documents are judged ahead at once, if at least one in AHEAD_SHARE of the documents
 * has one.  In tests of tiny lists the documents are as many as the limit over AHEAD_PARTS, so that a list has several parts.
 */
#define JUDGED_AHEAD 32768
#define AHEAD_PARTS 4
#define AHEAD_SHARE 128

/* The most memory of a judge that judges ahead, and its share of the documents' memory. */
#define JUDGE_MEMORY ((size_t) 16 * 1024 * 1024)
#define JUDGE_SHARE 16

/* Candidates that are judged ahead: their positions, and their documents, two by two. */
typedef struct Ahead
{
	Stars *stars;
	size_t edge[JUDGED_AHEAD];
	uint32_t document[2 * JUDGED_AHEAD];
	int count;
} Ahead;

/* Returns how many documents' candidates are judged ahead at once. */
static uint32_t
judged_ahead(void)
{
	return (uint32_t) ((host_limit(JUDGED_AHEAD * AHEAD_PARTS) + AHEAD_PARTS - 1) / AHEAD_PARTS);
}

/* A PairWork: judges candidates.  Its judge knows their documents only: it begins often, and there may be many others. */
static void
judge_some(void *state, PairNext next, void *next_state)
{
	const Ahead *ahead = state;
	const Stars *stars = ahead->stars;
	DocumentList list = {stars->documents, ahead->document, 2 * ahead->count};
	size_t memory = DOCUMENT_MEMORY(stars->documents->options) / JUDGE_SHARE;
	Judge *judge = judge_begin(&list, &list, Min(memory, JUDGE_MEMORY));

	for (int i; (i = next(next_state)) >= 0;)
	{
		judge_candidate(judge, stars->edge + ahead->edge[i], 2 * i, 2 * i + 1);
		host_check_interrupts();
	}
	judge_end(judge);
}

/*
 * Chooses for each of some documents of a list its first candidate with a keeper that is settled, unless an
 * edge before decides.  Their edges begin at `next`.
 */
static void
choose_ahead(Ahead *ahead, const DocumentList *list, uint32_t from, uint32_t to, size_t next)
{
	const Stars *stars = ahead->stars;

	ahead->count = 0;
	for (uint32_t i = from; i < to; i++)
	{
		uint32_t row = stars->first[list_at(list, i)];
		bool decided = false;

		for (; next < stars->edges && stars->edge[next].second == row; next++)
		{
			const Edge *edge = stars->edge + next;
			uint64_t numbers = candidate_numbers(edge);

			if (decided || stars->keeper[edge->first] != edge->first || edge->similarity == 0)
				continue;
			decided = true;
			if (numbers == 0)
				continue;
			for (int which = 0; which < 2; which++)
				ahead->document[2 * ahead->count + which] = candidate_document(numbers, which);
			ahead->edge[ahead->count++] = next;
		}
	}
}

/*
 * Judges candidates of the next documents of a list ahead, in threads.  Only such are judged as settle()
 * comes to as well, but for those of a document that joins a keeper among these documents.
 */
static void
judge_ahead(Ahead *ahead, const DocumentList *list, uint32_t from, size_t next)
{
	const PairOptions *options = ahead->stars->documents->options;
	uint32_t to = Min(from + judged_ahead(), list->count);
	int least = Max((int) judged_ahead() / AHEAD_SHARE, 1);

	do
	{
		choose_ahead(ahead, list, from, to, next);
		if (ahead->count >= least)
			options->share(options->state, ahead->count, judge_some, ahead);
	} while (ahead->count >= least);
}

/* ---- Rounds ------------------------------------------------------------- */

/* A PairSink that keeps the pair, or ends the join if there is no room for it. */
static bool
take_edge(void *state, uint32_t a, uint32_t b, double similarity)
{
	Stars *stars = state;
	uint32_t first = stars->first[a];
	uint32_t second = stars->first[b];
	bool swap = first > second;

	if (first == second || !may_join(stars, swap ? a : b, swap ? b : a))
		return true;
	if (stars->edges == stars->limit && (stars->judge == NULL || !drop_candidates(stars)))
		return false;
	if (stars->judge != NULL)
		similarity = swap ? candidate(b, a) : candidate(a, b);
	add_edge(stars, Min(first, second), Max(first, second), similarity);
	return true;
}

/*
 * Assigns each document of a list to keepers among the earlier ones, or makes it a keeper
 * unless the keepers are other documents.  Edges of later documents stay.
 */
static void
settle(Stars *stars, const DocumentList *list)
{
	bool same = stars->keepers == NULL;
	Ahead *ahead = NULL;
	size_t next = 0;

	/* No keeper is settled before the first of these documents. */
	if (stars->judge != NULL && stars->documents->options->share != NULL &&
		list->count > judged_ahead())
	{
		ahead = host_alloc(sizeof(Ahead));
		ahead->stars = stars;
	}
	if (stars->edges > 0)
		sort_records(stars->edge, stars->edges, sizeof(Edge), sort_key_pair);
	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t document = list_at(list, i);
		uint32_t row = stars->first[document];

		if (ahead != NULL && i > 0 && i % judged_ahead() == 0)
			judge_ahead(ahead, list, i, next);
		for (; next < stars->edges && stars->edge[next].second == row; next++)
		{
			Edge *edge = stars->edge + next;

			if ((!same || stars->keeper[edge->first] == edge->first) &&
				(!waits(stars, document) || stars->is_allowed(stars, document, edge->first)) &&
				(stars->nearest || stars->keeper[row] == NO_ROW) && is_similar(stars->judge, edge))
				offer_document(stars, document, edge->first, edge->similarity);
		}
		if (same && stars->keeper[row] == NO_ROW)
			offer_document(stars, document, row, 1);
		host_check_interrupts_at(i);
	}
	host_free(ahead);
	stars->edges -= next;
	if (stars->edges > 0)
		memmove(stars->edge, stars->edge + next, stars->edges * sizeof(Edge));
	else
	{
		host_free(stars->edge);
		stars->edge = NULL;
		stars->room = 0;
	}
}

/* Returns how many pairs are kept of a number of documents. */
static size_t
most_edges(const Stars *stars, uint32_t documents)
{
	size_t held = EDGE_MEMORY(stars->documents->options) / sizeof(Edge);
	size_t each = stars->judge != NULL ? CANDIDATES_OF_DOCUMENT : EDGES_OF_DOCUMENT;

	return host_limit(Max(EDGES_MIN, Min(held, documents * each)));
}

/*
 * Finds the pairs among the first documents of a list, at most `most` and the others of the
 * last one's unit.  Takes fewer documents if they have too many pairs, and returns how many
 * it took.  Later rounds try to take all that are left, unless tries take longer than rounds.
 */
static uint32_t
find_edges(Stars *stars, const DocumentList *undecided, uint32_t most)
{
	size_t waiting = stars->edges;
	size_t settled = host_limit(SETTLED_MIN);
	DocumentList list = *undecided;

	list.unjudged = stars->judge != NULL;
	list.count = Min(most, undecided->count);
	for (;;)
	{
		most = list.count;
		while (list.count < undecided->count &&
			   stars->first[list.doc[list.count - 1]] == stars->first[list.doc[list.count]])
			list.count++;
		stars->edges = waiting;
		stars->limit = most <= settled ? SIZE_MAX : waiting + most_edges(stars, list.count);
		if (pairs_join(&list, NULL, stars->limit - waiting, take_edge, stars))
			return list.count;
		stars->begun = stars->documents->options->stats->join.candidates;
		list.count = Max(most / 2, settled);
	}
}

typedef enum DocumentKind
{
	KEEPERS,
	MEMBERS,  /* documents that are no keepers, and do not wait */
	UNDECIDED /* documents without a keeper */
} DocumentKind;

/* Returns the documents of a list that are of a kind. */
static DocumentList
select_documents(const Stars *stars, const DocumentList *list, DocumentKind kind)
{
	uint32_t *chosen = host_alloc(list->count * sizeof(uint32_t));
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
	{
		uint32_t document = list_at(list, i);
		uint32_t row = stars->first[document];
		bool is_kind = stars->keeper[row] == (kind == UNDECIDED ? NO_ROW : row);

		if (kind == MEMBERS)
			is_kind = !is_kind && !waits(stars, document);
		if (is_kind)
			chosen[count++] = document;
	}
	return (DocumentList){list->documents, chosen, count};
}

/* Joins documents with the keepers of a list. */
static void
join_keepers(Stars *stars, const DocumentList *list, const DocumentList *keepers)
{
	DocumentList members = *list;

	members.members = true;
	if (list->count > 0 && keepers->count > 0)
		(void) pairs_join(&members, keepers, UINT64_MAX, take_keeper, stars);
}

/* Finds the keepers among the documents, in rounds. */
static void
make_rounds(Stars *stars, const DocumentList *all)
{
	DocumentList undecided = select_documents(stars, all, UNDECIDED);
	uint32_t most = undecided.count;
	const uint64_t *compared = &stars->documents->options->stats->join.candidates;
	bool cautious = false;

	while (undecided.count > 0)
	{
		uint64_t before = stars->begun = *compared;
		uint32_t count = find_edges(stars, &undecided, most);
		DocumentList settled = {stars->documents, undecided.doc, count};
		DocumentList others = {stars->documents, undecided.doc + count, undecided.count - count};
		DocumentList keepers;
		DocumentList next;

		settle(stars, &settled);
		keepers = select_documents(stars, &settled, KEEPERS);
		join_keepers(stars, &others, &keepers);
		next = select_documents(stars, &others, UNDECIDED);
		host_free((void *) keepers.doc);
		host_free((void *) undecided.doc);
		undecided = next;
		cautious |= stars->begun - before > *compared - stars->begun;
		most = cautious && count < undecided.count / 2 ? count * 2 : undecided.count;
	}
	host_free((void *) undecided.doc);
}

/* Joins documents with keepers that are other documents. */
static void
join_others(Stars *stars, const DocumentList *all)
{
	DocumentList keepers = all_documents(stars->keepers);

	join_keepers(stars, all, &keepers);
	if (stars->edges > 0)
		settle(stars, all);
}

/* Joins documents that are no keepers with the nearest, maybe later ones than they have met. */
static void
join_nearest(Stars *stars, const DocumentList *all)
{
	DocumentList keepers = select_documents(stars, all, KEEPERS);
	DocumentList members = select_documents(stars, all, MEMBERS);

	join_keepers(stars, &members, &keepers);
	host_free((void *) keepers.doc);
	host_free((void *) members.doc);
}

/* Sets the keepers of all rows, and their similarities to them. */
void
stars_make(Stars *stars)
{
	const PairOptions *options = stars->documents->options;
	DocumentList whole = all_documents(stars->documents);
	DocumentList all = whole;

	if (stars->order != NULL)
		all = (DocumentList){stars->documents, stars->order, stars->count};
	stars->edge = NULL;
	stars->edges = stars->room = 0;
	stars->limit = SIZE_MAX;
	if (stars->keepers != NULL)
		join_others(stars, &all);
	else
	{
		if (options->evidence && stars->waits == NULL && whole.count >> NUMBER_BITS == 0)
			stars->judge = judge_begin(&whole, &whole, DOCUMENT_MEMORY(options));
		make_rounds(stars, &all);
		judge_end(stars->judge);
		if (stars->nearest)
			join_nearest(stars, &all);
	}
	host_free(stars->edge);
	stars->edge = NULL;
}
