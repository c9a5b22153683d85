/*
 * common.c: the longest common substring, in linear time.
 *
 * The longest common run starts two suffixes that are neighbours and come from different
 * sequences.
 */
#include "compare/suffix.h"

static uint32_t
longest_shared(const Joined *joined)
{
	uint32_t longest = 0;

	for (uint32_t i = 1; i < joined->length; i++)
	{
		uint32_t at = joined->array[i];
		bool crosses = (at < joined->border) != (joined->array[i - 1] < joined->border);

		host_check_interrupts_at(i);
		if (crosses)
			longest = Max(longest, joined->shared[at]);
	}
	return longest;
}

/* Returns the first position in a of a run of this length that b has, too. */
static uint32_t
first_position(const Joined *joined, uint32_t longest)
{
	uint32_t first = joined->length;
	uint32_t first_of_group = joined->length;
	bool in_b = false;

	for (uint32_t i = 1; i <= joined->length; i++)
	{
		bool ends = i == joined->length || joined->shared[joined->array[i]] < longest;
		uint32_t at = joined->array[i - 1];

		host_check_interrupts_at(i);
		in_b |= at > joined->border;
		if (at < joined->border)
			first_of_group = Min(at, first_of_group);
		if (!ends)
			continue;
		if (in_b)
			first = Min(first_of_group, first);
		first_of_group = joined->length;
		in_b = false;
	}
	return first;
}

/*
 * Returns the longest run of symbols that occurs in both; of several, the first in a.
 * Takes linear time, and 16 bytes for each symbol of both and of the alphabet.
 */
Common
longest_common_run(const SequencePair *pair)
{
	Common common = {0};
	Joined joined;

	if (pair->a.length == 0 || pair->b.length == 0)
		return common;
	joined = join_sequences(pair);
	common.length = longest_shared(&joined);
	if (common.length > 0)
		common.start = first_position(&joined, (uint32_t) common.length);
	joined_free(&joined);
	return common;
}
