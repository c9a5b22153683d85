/*
 * edge_keepers.c: the keepers of rows whose pairs are known.
 *
 * Rows of similarity 1 are equal: the first of them stands for all in their edges.
 *
 * Edges are sorted by their later rows, and read once.  When the edges of a row come, all earlier rows
 * are decided: a bit for each says whether it is a keeper.  What rows may join is sorted again,
 * since the first of equal rows, which has their edges, answers for the others: later ones, which
 * may join keepers that come later, too.
 */
#include "library/session.h"

#include "base/forest.h"
#include "base/table.h"
#include "join/edges.h"

/* Edges that are passed on at a time. */
#define STEP 1024

/* The number of pairs that wait for their bits.  This saves a third of the time for 30 million pairs. */
#define FETCH_AHEAD 16

/* Rows have lower numbers. */
#define ROWS_MOST (UINT64_C(1) << 63)

/* The number of a row in `found`: in order, with a bit that tells rows that are equal from keepers. */
#define FOUND(row, equal) ((row) << 1 | (equal))

#define NO_LONG_ROW UINT64_MAX

typedef struct Keepers
{
	bool nearest;
	uint8_t *member; /* a bit for each row: it is no keeper */
	size_t member_bytes;
	Table equals;     /* numbers rows that equal others */
	uint64_t *row;    /* the row of each number */
	uint32_t *parent; /* a number that each number equals */
	size_t parent_room;
	uint64_t *root;                /* the first row of the numbers that equal each number */
	Edges read;                    /* all edges of rows that are not equal */
	Edges pairs;                   /* the pairs, by the later row */
	LongEdge waiting[FETCH_AHEAD]; /* pairs that are not decided yet */
	uint64_t taken;                /* pairs */
	Edges found;   /* the edges from a row to keepers, and to rows that equal it: FOUND() */
	Edges answers; /* the edges from a row to its keeper, maybe several times */
	LongEdge best; /* the best of a row's keepers so far; NO_LONG_ROW if there is none */
	bool answered; /* the row of `best` has its answer */
	neardup_edge out[STEP];
	size_t count; /* the number of edges in out */
	neardup_take_edges take;
	void *state;
	bool stopped; /* take has stopped it */
} Keepers;

/* ---- Equal rows ----------------------------------------------------------- */

/* Returns the number of a row among the rows that equal others, a new one if it has none. */
static uint32_t
equal_number(Keepers *keepers, uint64_t row)
{
	size_t count = keepers->equals.count;
	uint32_t number = table_number_key(&keepers->equals, row, &keepers->row);

	if (number < count)
		return number;
	keepers->parent =
		host_grow(keepers->parent, &keepers->parent_room, number + 1, sizeof(uint32_t));
	keepers->parent[number] = number;
	return number;
}

/* Finds the first row of each row's equals. */
static void
find_first_equals(Keepers *keepers)
{
	uint32_t count = keepers->equals.count;

	keepers->root = host_alloc(count * sizeof(uint64_t));
	for (uint32_t i = 0; i < count; i++)
		keepers->root[i] = keepers->row[i];
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t *root = keepers->root + forest_root(keepers->parent, i);

		*root = Min(*root, keepers->row[i]);
		host_check_interrupts_at(i);
	}
}

/* Returns the first of the rows that equal a row. */
static uint64_t
first_equal(const Keepers *keepers, uint64_t row)
{
	const Table *table = &keepers->equals;
	const uint64_t *slot;

	if (table->count == 0)
		return row;
	slot = table_search_key(table, table_hash(table, row), row, keepers->row, sizeof(row));
	return *slot == 0 ? row : keepers->root[forest_root(keepers->parent, table_number(slot))];
}

/* An EdgeSink for all edges: replaces rows by the first of their equals. */
static bool
take_first_equals(void *state, const LongEdge *edge)
{
	Keepers *keepers = state;
	uint64_t x = first_equal(keepers, edge->first);
	uint64_t y = first_equal(keepers, edge->second);

	if (x != y)
		edges_add(&keepers->pairs, (LongEdge){Max(x, y), Min(x, y), edge->similarity});
	return true;
}

/* Enters the rows that equal an earlier one, which answers for them. */
static void
add_equals(Keepers *keepers)
{
	for (uint32_t i = 0; i < keepers->equals.count; i++)
	{
		uint64_t row = keepers->row[i];
		uint64_t first = keepers->root[forest_root(keepers->parent, i)];

		host_check_interrupts_at(i);
		if (row != first)
			edges_add(&keepers->found, (LongEdge){first, FOUND(row, 1), 1});
	}
}

/* ---- Who is a keeper ------------------------------------------------------ */

static inline bool
is_member(const Keepers *keepers, uint64_t row)
{
	return row / 8 < keepers->member_bytes && (keepers->member[row / 8] >> row % 8 & 1) != 0;
}

static void
set_member(Keepers *keepers, uint64_t row)
{
	size_t before = keepers->member_bytes;

	keepers->member = host_grow(keepers->member, &keepers->member_bytes, row / 8 + 1, 1);
	memset(keepers->member + before, 0, keepers->member_bytes - before);
	keepers->member[row / 8] |= 1 << row % 8;
}

/* Decides whether the later row of a pair is a keeper. */
static void
decide(Keepers *keepers, const LongEdge *edge)
{
	uint64_t row = edge->second;

	/* Whether the later row is a keeper that is nearest to an equal of the earlier one is not known yet. */
	if (is_member(keepers, edge->first) && keepers->nearest)
		edges_add(&keepers->found, (LongEdge){edge->first, FOUND(row, 0), edge->similarity});
	if (is_member(keepers, edge->first))
		return;
	set_member(keepers, row);
	edges_add(&keepers->found, (LongEdge){row, FOUND(edge->first, 0), edge->similarity});
}

/* An EdgeSink for the pairs, by the later row: fetches the bit of the earlier one, and decides the pair that has waited longest. */
static bool
take_known_pair(void *state, const LongEdge *edge)
{
	Keepers *keepers = state;
	LongEdge *waiting = keepers->waiting + keepers->taken % FETCH_AHEAD;

	if (edge->first / 8 < keepers->member_bytes)
		__builtin_prefetch(keepers->member + edge->first / 8);
	if (keepers->taken++ >= FETCH_AHEAD)
		decide(keepers, waiting);
	*waiting = *edge;
	return true;
}

/* Decides the pairs that wait. */
static void
decide_last(Keepers *keepers)
{
	uint64_t waiting = Min(keepers->taken, FETCH_AHEAD);

	for (uint64_t i = keepers->taken - waiting; i < keepers->taken; i++)
		decide(keepers, keepers->waiting + i % FETCH_AHEAD);
}

/* ---- Which keeper --------------------------------------------------------- */

/* Offers a keeper to a row, after those before it. */
static void
keepers_offer(Keepers *keepers, const LongEdge *edge)
{
	LongEdge *best = &keepers->best;

	if (best->first == NO_LONG_ROW || (keepers->nearest && edge->similarity > best->similarity))
		*best = *edge;
}

/* Begins with what was found for a row. */
static void
begin_row(Keepers *keepers, uint64_t row)
{
	keepers->best = (LongEdge){row, NO_LONG_ROW, 0};
	keepers->answered = false;
}

/* Answers for the row, when all keepers before it were offered, if there is one. */
static void
answer_row(Keepers *keepers)
{
	if (!keepers->answered && keepers->best.first != NO_LONG_ROW)
		edges_add(&keepers->answers, keepers->best);
	keepers->answered = true;
}

/* Answers for a row that equals another one, after the keepers before it were offered. */
static void
answer_equal(Keepers *keepers, uint64_t row)
{
	const LongEdge *best = &keepers->best;
	bool alone = best->first == NO_LONG_ROW;

	edges_add(&keepers->answers,
			  (LongEdge){row, alone ? best->second : best->first, alone ? 1 : best->similarity});
}

/* An EdgeSink for what was found. */
static bool
keepers_choose(void *state, const LongEdge *edge)
{
	Keepers *keepers = state;
	uint64_t other = edge->first >> 1;

	if (edge->second != keepers->best.second)
	{
		answer_row(keepers);
		begin_row(keepers, edge->second);
	}
	if (other > edge->second)
		answer_row(keepers);
	if ((edge->first & 1) != 0)
		answer_equal(keepers, other);
	else if (!keepers->nearest || (is_member(keepers, edge->second) && !is_member(keepers, other)))
		keepers_offer(keepers, &(LongEdge){edge->second, other, edge->similarity});
	return true;
}

/* ---- Answers -------------------------------------------------------------- */

/* Passes on what is collected. */
static void
give(Keepers *keepers)
{
	if (keepers->count > 0 && !keepers->stopped)
		keepers->stopped = !keepers->take(keepers->state, keepers->out, keepers->count);
	keepers->count = 0;
}

/* Passes on the keeper of the row whose answers were read. */
static void
give_row(Keepers *keepers)
{
	const LongEdge *best = &keepers->best;

	if (best->first == NO_LONG_ROW)
		return;
	keepers->out[keepers->count++] = (neardup_edge){best->second, best->first, best->similarity};
	if (keepers->count == STEP)
		give(keepers);
}

/* An EdgeSink for answers. */
static bool
take_answer(void *state, const LongEdge *edge)
{
	Keepers *keepers = state;

	if (edge->second != keepers->best.second)
	{
		give_row(keepers);
		begin_row(keepers, edge->second);
	}
	keepers_offer(keepers, edge);
	return !keepers->stopped;
}

/* ---- The call ------------------------------------------------------------- */

/* Takes an edge as it was read. */
static void
read_edge(Keepers *keepers, const neardup_edge *edge)
{
	LongEdge read = {Max(edge->a, edge->b), Min(edge->a, edge->b), edge->similarity};

	if (read.second >= ROWS_MOST)
		session_fail(NEARDUP_INVALID, "a row's number must be below 2^63");
	if (read.similarity < 1)
		edges_add(&keepers->read, read);
	else if (read.first != read.second)
	{
		uint32_t first = equal_number(keepers, read.first);
		uint32_t second = equal_number(keepers, read.second);

		/* The array is read only now, since each number may have moved it. */
		forest_link(keepers->parent, second, first);
	}
}

/* Reads all edges. */
static void
read_edges(Keepers *keepers, neardup_next_edges next, void *state)
{
	const neardup_edge *edges;
	size_t count;

	for (;;)
	{
		if (!next(state, &edges, &count))
			session_fail(NEARDUP_NO_FILE, "the edges could not be read");
		if (count == 0)
			return;
		host_check_interrupts();
		for (size_t i = 0; i < count; i++)
			read_edge(keepers, edges + i);
	}
}

neardup_code
neardup_keepers(neardup_session *session, neardup_next_edges next, neardup_take_edges take,
				void *state, const neardup_options *options)
{
	size_t memory = options->memory > 0 ? options->memory : default_memory();
	size_t most = memory / 4 / sizeof(LongEdge);
	Keepers *keepers;

	SESSION_BEGIN(session);
	keepers = host_alloc(sizeof(Keepers));
	memset(keepers, 0, sizeof(Keepers));
	keepers->nearest = options->nearest;
	keepers->take = take;
	keepers->state = state;
	keepers->read.unsorted = true;
	keepers->read.most = keepers->pairs.most = keepers->found.most = keepers->answers.most = most;
	table_begin(&keepers->equals, 0);
	keepers->row = host_alloc(keepers->equals.room * sizeof(uint64_t));
	read_edges(keepers, next, state);
	find_first_equals(keepers);
	edges_give(&keepers->read, take_first_equals, keepers);
	edges_give(&keepers->pairs, take_known_pair, keepers);
	decide_last(keepers);
	add_equals(keepers);
	begin_row(keepers, NO_LONG_ROW);
	edges_give(&keepers->found, keepers_choose, keepers);
	answer_row(keepers);
	begin_row(keepers, NO_LONG_ROW);
	edges_give(&keepers->answers, take_answer, keepers);
	give_row(keepers);
	give(keepers);
	return session_end();
}
