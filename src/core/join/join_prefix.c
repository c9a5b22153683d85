/*
 * join_prefix.c: the prefixes of a group, which are compared before whole documents.
 *
 * Let a pair be within the distance, so that it differs in fewer symbols than the sum of all
 * t_g + 1.  Put the groups into a ring.  Then there is a group with this property: of any number
 * of groups that begin with it, the pair differs in fewer symbols than the sum of their t_g + 1
 * (Qin and Xiao, PVLDB 12(1), 2018: the pigeonring).  So a group needs to find a pair only if
 * that holds for the group itself, as its radius says, and for as many groups as fit into a
 * prefix.  Few pairs of unrelated documents that share a bucket pass both.
 */
#include "join/prefixes.h"

#include "sketch/symbols.h"

/*
 * Returns which symbols the prefixes of a group have, in this number of words, and in how many of
 * them a pair at distance h may differ.  A plan that may miss pairs has fewer groups than the ring
 * needs.  Then prefixes have the symbols from the group on, and a pair may differ in h of them.
 */
JoinPrefix
prefix_of_group(const JoinPlan *plan, int group, int words, int h)
{
	const Grouping *g = &plan->grouping;
	int room = words * (64 / g->b);
	int all = group_first_symbol(g, plan->groups);
	JoinPrefix part = {.b = g->b, .first = group_first_symbol(g, group), .ring = all, .h = -1};
	int next = group;

	if (plan->groups * (plan->radius + 1) + plan->one_more <= h)
		return (JoinPrefix){g->b, part.first, Min(room, g->k), g->k, h};
	while (part.symbols < all && part.symbols + group_width(g, next) <= room)
	{
		part.symbols += group_width(g, next);
		part.h += join_radius(plan, next) + 1;
		next = next + 1 < plan->groups ? next + 1 : 0;
	}
	return part;
}

/* Returns bits [first, first + count) as a number; 0 < count <= 64. */
static inline uint64_t
bits_at(const uint8_t *packed, int first, int count)
{
	const uint8_t *word = packed + first / 64 * sizeof(uint64_t);
	int skipped = first % 64;
	uint64_t bits = packed_word(word) << skipped;

	if (skipped + count > 64)
		bits |= packed_word(word + sizeof(uint64_t)) >> (64 - skipped);
	return bits >> (64 - count);
}

/* Returns word w of a prefix. */
static inline uint64_t
prefix_word(const JoinPrefix *part, const uint8_t *packed, int w)
{
	int in_word = 64 / part->b;
	int symbols = Min(part->symbols - w * in_word, in_word);
	int first = part->first + w * in_word;
	int wrapped;
	uint64_t bits;

	if (symbols <= 0)
		return 0;
	if (first >= part->ring)
		first -= part->ring;
	wrapped = Max(first + symbols - part->ring, 0) * part->b;
	bits = bits_at(packed, first * part->b, symbols * part->b - wrapped);
	return wrapped == 0 ? bits : bits << wrapped | bits_at(packed, 0, wrapped);
}

/* Makes the prefix of a document. */
void
prefix_make(const JoinPrefix *part, const uint8_t *packed, int words, uint64_t *prefix)
{
	for (int w = 0; w < words; w++)
		prefix[w] = prefix_word(part, packed, w);
}

/* Returns the prefixes of all groups of a plan. */
JoinPrefix *
join_prefixes(const SymbolJoin *join, const JoinPlan *plan)
{
	JoinPrefix *prefixes = host_alloc(Max(plan->groups, 1) * sizeof(JoinPrefix));
	int words = join_words(join, plan);

	for (int group = 0; group < plan->groups; group++)
		prefixes[group] = prefix_of_group(plan, group, words, join->h);
	return prefixes;
}

/* Returns whether the prefixes of two documents are near enough. */
bool
prefix_within(const JoinPrefix *part, const uint8_t *x, const uint8_t *y)
{
	int distance = 0;

	for (int w = 0; w * (64 / part->b) < part->symbols; w++)
		distance += count_symbols(prefix_word(part, x, w) ^ prefix_word(part, y, w), part->b);
	return distance <= part->h;
}

/* Returns whether a group before this one finds a pair that is within the distance. */
bool
join_found_before(const JoinPlan *plan, const JoinPrefix *prefixes, int group, const uint8_t *x,
				  const uint8_t *y)
{
	const Grouping *g = &plan->grouping;

	for (int i = 0; i < group; i++)
	{
		uint32_t differ = group_bucket(g, i, x) ^ group_bucket(g, i, y);

		if (count_symbols(differ, g->b) <= join_radius(plan, i) &&
			prefix_within(prefixes + i, x, y))
			return true;
	}
	return false;
}
