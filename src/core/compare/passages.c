/*
 * passages.c: the passages that two sequences share.
 *
 * Suffixes that share their first n symbols are neighbours in the order of suffixes: they
 * are a group of depth n, and groups are nested.  The longest run at a position that the other
 * sequence has, too, is as long as the depth of the least group of the position that has
 * suffixes of both sequences.  The first suffix of the other sequence in the group is the
 * first position where the run occurs there.
 */
#include "compare/suffix.h"

#include <string.h>

#include "base/sort.h"

#define NONE UINT32_MAX

/* ---- Matches ------------------------------------------------------------ */

/* Returns whether symbols i - 1 and i of a sequence share a character of the text. */
static inline bool
is_inside_character(const Sequence *s, uint32_t i)
{
	return i > 0 && i < s->length && s->position[i - 1].end > s->position[i].start;
}

/*
 * A group of suffixes that is not closed yet.  The positions without a match so far, which are
 * all of one sequence, are a list: position[p] is the one after p.
 */
typedef struct Group
{
	uint32_t depth;
	uint32_t first_a; /* the least position in each sequence; NONE: none */
	uint32_t first_b;
	uint32_t head; /* the first of the list; NONE: it is empty */
	uint32_t tail;
} Group;

/* For each position of the joined sequences, the longest run that the other sequence has, too. */
typedef struct Matches
{
	uint32_t *length;
	uint32_t *position; /* the first position of the run in the other sequence */
	uint32_t border;
	Group *group; /* a stack, the deepest one last */
	size_t groups;
	size_t room;
} Matches;

static void
push(Matches *m, Group group)
{
	m->group = host_grow(m->group, &m->room, m->groups + 1, sizeof(Group));
	m->group[m->groups++] = group;
}

/* Closes a group: its positions have matches if it has positions of both sequences. */
static void
close_group(Matches *m, Group *group)
{
	size_t step = 1;

	if (group->first_a == NONE || group->first_b == NONE)
		return;
	for (uint32_t at = group->head, next; at != NONE; at = next)
	{
		host_check_interrupts_at(step++);
		next = at == group->tail ? NONE : m->position[at];
		m->length[at] = group->depth;
		m->position[at] = at < m->border ? group->first_b : group->first_a;
	}
	group->head = NONE;
}

/* Adds a group's positions to the group around it. */
static void
add_to_group(Matches *m, Group *outer, const Group *inner)
{
	outer->first_a = Min(outer->first_a, inner->first_a);
	outer->first_b = Min(outer->first_b, inner->first_b);
	if (inner->head == NONE)
		return;
	if (outer->head == NONE)
		outer->head = inner->head;
	else
		m->position[outer->tail] = inner->head;
	outer->tail = inner->tail;
}

/* Closes the groups deeper than `depth`, so that a group of this depth is the last. */
static void
close_to(Matches *m, uint32_t depth)
{
	size_t step = 1;

	while (m->group[m->groups - 1].depth > depth)
	{
		Group group = m->group[--m->groups];
		Group *outer = &m->group[m->groups - 1];

		host_check_interrupts_at(step++);
		close_group(m, &group);
		if (outer->depth >= depth)
			add_to_group(m, outer, &group);
		else
		{
			group.depth = depth;
			push(m, group);
		}
	}
}

/* Returns whether no passage may begin at a position of the joined sequences. */
static inline bool
is_no_beginning(const SequencePair *pair, uint32_t border, uint32_t at)
{
	const Sequence *s = at < border ? &pair->a : &pair->b;

	return s->position && is_inside_character(s, at < border ? at : at - border - 1);
}

/*
 * Finds the matches, and writes them over shared[] and text[] of `joined`.  Where a passage
 * may not begin there is no match.
 */
static Matches
find_matches(const SequencePair *pair, Joined *joined)
{
	Matches m = {.length = joined->shared, .position = joined->text, .border = joined->border};
	Group none = {0, NONE, NONE, NONE, NONE};

	push(&m, none);
	/* The end and the separator are the first two in order. */
	for (uint32_t i = 2; i < joined->length; i++)
	{
		uint32_t at = joined->array[i];
		Group suffix = {NONE, NONE, NONE, at, at};

		host_check_interrupts_at(i);
		close_to(&m, m.length[at]);
		m.length[at] = 0;
		if (is_no_beginning(pair, m.border, at))
			continue;
		*(at < m.border ? &suffix.first_a : &suffix.first_b) = at;
		push(&m, suffix);
	}
	close_to(&m, 0);
	/* What is left in the outermost group has no match, or one of no symbols. */
	m.group[0].first_a = m.group[0].first_b = 0;
	close_group(&m, &m.group[0]);
	host_free(m.group);
	return m;
}

/* ---- Passages ----------------------------------------------------------- */

/* Returns whether a passage may not begin, or end, between symbols i - 1 and i of both. */
static inline bool
is_no_edge(const SequencePair *pair, uint32_t a, uint32_t b)
{
	return is_inside_character(&pair->a, a) || is_inside_character(&pair->b, b);
}

/* Shortens a passage until it neither begins nor ends inside a character or with a space. */
static void
shorten(const SequencePair *pair, Passage *p)
{
	const uint32_t *symbol = pair->a.symbol;

	if (!pair->a.position || !pair->b.position)
		return;
	while (p->length > 0 && (symbol[p->a] == pair->blank || is_no_edge(pair, p->a, p->b)))
	{
		host_check_interrupts_at(p->length);
		p->a++;
		p->b++;
		p->length--;
	}
	while (p->length > 0 &&
		   (symbol[p->a + p->length - 1] == pair->blank ||
			is_no_edge(pair, p->a + p->length, p->b + p->length)))
		host_check_interrupts_at(p->length--);
}

/* Adds a passage if it is long enough. */
static void
add_passage(Passages *found, const SequencePair *pair, Passage passage, uint32_t least)
{
	shorten(pair, &passage);
	if (passage.length < least)
		return;
	found->passage = host_grow(found->passage, &found->room, found->count + 1, sizeof(Passage));
	found->passage[found->count++] = passage;
}

/* Returns the run at a position, in symbols of both sequences. */
static inline Passage
passage_at(const Matches *m, uint32_t at)
{
	uint32_t other = m->position[at];
	uint32_t in_b = m->border + 1;

	return at < m->border ? (Passage){at, other - in_b, m->length[at]} :
							(Passage){other, at - in_b, m->length[at]};
}

/*
 * Adds the passages that cover all runs of positions [from, to), one of the sequences.  Of the
 * runs that begin in the passage before, or where it ends, the last one reaches furthest.
 */
static void
cover(Passages *found, const SequencePair *pair, const Matches *m, uint32_t from, uint32_t to,
	  uint32_t least)
{
	uint32_t covered = from; /* the end of the last passage */
	uint32_t waiting = NONE; /* the last run that begins up to there */
	uint32_t end = from;     /* the end of the last run that no other contains */

	for (uint32_t at = from; at < to; at++)
	{
		host_check_interrupts_at(at);
		if (m->length[at] < least || at + m->length[at] <= end)
			continue;
		end = at + m->length[at];
		if (waiting != NONE && at > covered)
		{
			covered = waiting + m->length[waiting];
			add_passage(found, pair, passage_at(m, waiting), least);
		}
		waiting = at;
	}
	if (waiting != NONE)
		add_passage(found, pair, passage_at(m, waiting), least);
}

/* ---- Order -------------------------------------------------------------- */

/* Removes the second of two equal passages. */
static void
remove_repeated(Passages *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++)
	{
		host_check_interrupts_at(i);
		if (kept == 0 ||
			sort_key_pair(&found->passage[kept - 1]) != sort_key_pair(&found->passage[i]))
			found->passage[kept++] = found->passage[i];
	}
	found->count = kept;
}

/*
 * Returns runs of at least `least` symbols, least > 0, that occur in both, in order of a,
 * then b.  The caller frees the array.
 *
 * For each sequence, take the runs that occur in the other one and that are not part of
 * a longer such run of the same position; then leave out as many as possible whose symbols are
 * all in the runs before and after them.  Each run is paired with its first position in
 * the other sequence.  So each symbol in any common run of that length is in a passage, at
 * most two passages of one sequence's runs share a symbol, and there are at most
 * 2 * (length of a + length of b) / least of them.
 *
 * If the symbols have positions, no passage begins or ends between symbols that share a
 * character of the text, nor with a space: such a run is shortened.
 *
 * Takes linear time, apart from sorting the passages, and at most 32 bytes for each symbol
 * of both.
 */
Passages
shared_passages(const SequencePair *pair, uint32_t least)
{
	Passages found = {0};
	Joined joined;
	Matches matches;

	if (pair->a.length == 0 || pair->b.length == 0)
		return found;
	joined = join_sequences(pair);
	matches = find_matches(pair, &joined);
	cover(&found, pair, &matches, 0, joined.border, least);
	cover(&found, pair, &matches, joined.border + 1, joined.length - 1, least);
	joined_free(&joined);
	sort_records(found.passage, found.count, sizeof(Passage), sort_key_pair);
	remove_repeated(&found);
	return found;
}
