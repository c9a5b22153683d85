/*
 * set_join.c: the exact join of bags.
 *
 * Documents are taken by length, and compared with those before them.  If two documents
 * are similar, the first common item by rank is among the rarest items of both, so only
 * these are listed and searched; by containment, it is among the rarest of the shorter
 * one, so the longer one searches by all its items.  All that the two share comes from
 * that item on, so nothing needs to be remembered from list to list.
 *
 * A document whose lists are long is compared with all documents instead, by bitmaps, many at a time
 * (prefixes.c).
 */
#include "join/set_join.h"

#include <string.h>

#include "base/sort.h"
#include "join/prefixes.h"
#include "join/set_plan.h"
#include "sketch/sketch.h"

/*
 * Returns the least length that a bag must have from the first element on that it shares
 * with a similar bag.  That bag is not longer if `greater`, else not shorter.
 */
uint64_t
set_remaining_needed(const SetJoin *join, uint64_t length, bool greater)
{
	uint64_t least;
	uint64_t most;

	if (!greater)
		return overlap_needed(join->measure, length, length, join->threshold);
	overlap_sizes(join->measure, length, join->threshold, &least, &most);
	return least;
}

/* ---- Meetings ------------------------------------------------------------ */

/* What documents of two lengths must share. */
typedef struct Needed
{
	uint64_t length_x;
	uint64_t length_y;
	uint64_t overlap;
	uint32_t end; /* the first document that is longer than length_y; 0: not known */
} Needed;

/* Overlaps that are kept, by the length of the listed document. */
#define NEEDED 1024

/* A pair that was found, by the numbers of its documents. */
typedef struct FoundSets
{
	uint32_t greater;
	uint32_t lesser;
	uint32_t a; /* the pair as SetPairSink takes it */
	uint32_t b;
	double similarity;
} FoundSets;

/*
 * Neighbouring documents, in memory that `run` aligns.  Bitmaps are folded into prefixes: two prefixes
 * differ in no more bits than the bitmaps.
 */
typedef struct SetRun
{
	void *memory; /* NULL: not made yet */
	PrefixRun *run;
	uint64_t least; /* the least and the greatest length of the documents */
	uint64_t most;
	uint64_t items_most; /* the greatest length of a document's items */
} SetRun;

struct SetJoiner
{
	const SetJoin *join;
	const SetPlan *plan;
	JoinStats *stats;
	size_t *first; /* the first posting of each list whose document is not too short by now */
	uint32_t *met; /* the last document that each document has met, plus 1 */
	Needed needed[NEEDED];
	uint64_t length;  /* the length of the last seeker */
	uint64_t least;   /* set_remaining_needed() of this length */
	SetRun *run;      /* runs of all documents in turn; NULL if none was scanned yet */
	FoundSets *found; /* the sets that were found and not yet given to the sink */
	size_t founds;
	size_t found_room;
	size_t steps; /* steps since the last check for interrupts */
};

/* A document that searches for similar ones, at one of its items. */
typedef struct Seeker
{
	const SetDocument *document;
	uint32_t number;
	uint32_t from; /* the documents that may be similar: from .. to - 1 */
	uint32_t to;
	uint32_t item;
	uint64_t remaining; /* length from the item on */
} Seeker;

/* Returns what documents of these lengths must share, which is mostly known. */
static Needed *
needed_of(SetJoiner *joiner, uint64_t length_x, uint64_t length_y)
{
	const SetJoin *join = joiner->join;
	Needed *known = joiner->needed + length_y % NEEDED;

	if (known->length_y != length_y)
		known->end = 0;
	if (known->length_x != length_x || known->length_y != length_y)
		*known = (Needed){length_x, length_y,
						  overlap_needed(join->measure, length_x, length_y, join->threshold),
						  known->end};
	return known;
}

/* Returns the bitmap of a document. */
static inline const uint64_t *
bitmap_of(const SetItems *items, const SetDocument *document)
{
	return items->bitmap + (document - items->document) * items->words;
}

/* An OverlapPart: the lesser frequency. */
OVERLAP_INLINE uint64_t
lesser_frequency(void *state, size_t i, size_t j)
{
	const SetItems *items = state;

	return Min(items->frequency[i], items->frequency[j]);
}

/*
 * Returns what two documents share from their first common item on; or a number less than
 * needed, as soon as what remains is not enough.
 */
static uint64_t
shared_from(const SetItems *items, const Seeker *seeker, const SetPosting *posting, uint64_t needed)
{
	const SetDocument *x = seeker->document;
	const SetDocument *y = items->document + posting->document;
	Overlap o = {.x = items->rank,
				 .y = items->rank,
				 .i = x->item + seeker->item,
				 .j = y->item + posting->item,
				 .end_x = x->item + x->items,
				 .end_y = y->item + y->items};

	return items->frequency == NULL ?
		overlap_count(&o, needed, overlap_key_32) :
		overlap_sum(&o, overlap_key_32, lesser_frequency, (void *) items);
}

/* Returns whether two documents of one list are known to be connected. */
static inline bool
set_join_are_connected(const SetJoiner *joiner, const SetDocument *x, const SetDocument *y)
{
	const JoinLabels *labels = &joiner->join->labels;

	return labels->label != NULL &&
		labels_connected(labels, labels->label[x->bag], labels->label[y->bag]);
}

/* Documents of one length, which follow one another, beside the seeker. */
typedef struct LengthRun
{
	uint32_t end;     /* the first document behind them */
	uint64_t overlap; /* what they must share with it */
	int64_t differ;   /* the most bits that similar ones differ in; negative: none is similar */
} LengthRun;

/* Returns the documents that are as long as one of a list. */
static LengthRun
length_run(SetJoiner *joiner, const SetDocument *x, uint32_t document)
{
	const SetItems *items = &joiner->plan->items;
	uint64_t length = items->document[document].length;
	Needed *needed = needed_of(joiner, x->length, length);
	LengthRun run = {.overlap = needed->overlap, .differ = -1};
	uint32_t end = items->documents;

	if (needed->end == 0)
	{
		needed->end = document;
		SEARCH_SORTED(needed->end, end, items->document[middle].length <= length);
	}
	run.end = needed->end;
	if (run.overlap <= Min(x->length, length))
		run.differ = (int64_t) (x->length - x->unshared + length) - 2 * (int64_t) run.overlap;
	return run;
}

/*
 * Returns whether two documents may be similar, by their bitmaps: for each bit in which these differ, one
 * document has an item, or a copy of it, that the other lacks.  `most` is the `differ` of a LengthRun.
 */
static inline bool
may_share(const SetItems *items, const SetDocument *x, const SetDocument *y, int64_t most)
{
	int64_t differ =
		symbol_distance((const uint8_t *) bitmap_of(items, x),
						(const uint8_t *) bitmap_of(items, y), (int) items->words * 64, 1);

	return differ <= most && differ + (int64_t) y->unshared <= most;
}

/*
 * Compares the seeker and a listed document at the first item that they share.  `run` is of the document
 * that was met last.  Most are refused by their lengths and bitmaps, before anything else of them is read.
 */
static void
meet(SetJoiner *joiner, const Seeker *seeker, const SetPosting *posting, LengthRun *run)
{
	const SetJoin *join = joiner->join;
	const SetItems *items = &joiner->plan->items;
	const SetDocument *x = seeker->document;
	const SetDocument *y = items->document + posting->document;
	bool swap;
	uint64_t shared;

	if (posting->document >= run->end)
		*run = length_run(joiner, x, posting->document);
	if (run->differ < 0)
	{
		joiner->stats->pruned_by_length++;
		return;
	}
	if (Min(seeker->remaining, posting->remaining) < run->overlap ||
		!may_share(items, x, y, run->differ))
	{
		joiner->stats->pruned_by_frequency++;
		return;
	}
	if (set_join_are_connected(joiner, x, y))
		return;
	joiner->stats->compared++;
	shared = shared_from(items, seeker, posting, run->overlap);
	host_count_steps(&joiner->steps, x->items + (size_t) y->items);
	if (shared < run->overlap)
		return;
	swap = join->right ? x->of_right : x->bag > y->bag;
	joiner->found =
		host_grow(joiner->found, &joiner->found_room, joiner->founds + 1, sizeof(FoundSets));
	joiner->found[joiner->founds++] =
		(FoundSets){joiner->plan->block ? posting->document : seeker->number,
					joiner->plan->block ? seeker->number : posting->document,
					swap ? y->bag : x->bag, swap ? x->bag : y->bag,
					overlap_similarity(join->measure, shared, x->length, y->length)};
}

/* Returns whether a posting is of another rank, which happens in a block. */
static inline bool
is_of_other_rank(const SetPlan *plan, const SetPosting *posting, uint32_t rank)
{
	const SetItems *items = &plan->items;

	return plan->block &&
		items->rank[items->document[posting->document].item + posting->item] != rank;
}

/* Meets the documents in the list of a rank that the seeker may be similar to. */
static void
read_list(SetJoiner *joiner, const Seeker *seeker, uint32_t rank, bool of_right)
{
	const SetPlan *plan = joiner->plan;
	size_t list = set_list(joiner->join, plan, rank, of_right);
	const SetPosting *end = plan->posting + plan->start[list + 1];
	const SetPosting *posting = plan->posting + joiner->first[list];
	LengthRun run = {.end = 0};

	while (posting < end && posting->document < seeker->from)
		posting++;
	joiner->first[list] = (size_t) (posting - plan->posting);
	for (; posting < end && posting->document < seeker->to; posting++)
	{
		uint32_t *met = joiner->met + posting->document;

		host_count_steps(&joiner->steps, 1);
		joiner->stats->hits++;
		if (*met == seeker->number + 1 || is_of_other_rank(plan, posting, rank))
			continue;
		*met = seeker->number + 1;
		meet(joiner, seeker, posting, &run);
	}
}

/* ---- Scans ----------------------------------------------------------------- */

/* The shortest list that is long: below, lists are never worse than a scan. */
#define LONG_LIST 256

/* Returns the words of a prefix. */
static uint32_t
prefix_words(const SetItems *items)
{
	return Min(items->words, JOIN_PREFIX_WORDS);
}

/* Folds the bitmap of a document into a prefix. */
static void
fold_bitmap(const SetItems *items, uint32_t document, uint64_t *prefix)
{
	const uint64_t *bitmap = items->bitmap + (size_t) document * items->words;
	uint32_t words = prefix_words(items);

	memcpy(prefix, bitmap, words * sizeof(uint64_t));
	for (uint32_t w = words; w < items->words; w++)
		prefix[w % words] ^= bitmap[w];
}

/* Returns the run of the documents from a number on, which is made when it is first scanned. */
static const SetRun *
run_of(SetJoiner *joiner, uint32_t first)
{
	const SetItems *items = &joiner->plan->items;
	size_t runs = (size_t) items->documents / RUN + 1;
	PrefixShape shape = {.words = (int) prefix_words(items), .b = 1};
	uint32_t count = Min(items->documents - first, RUN);
	uint64_t prefix[RUN * JOIN_PREFIX_WORDS];
	SetRun *run;

	if (joiner->run == NULL)
	{
		joiner->run = host_alloc(runs * sizeof(SetRun));
		memset(joiner->run, 0, runs * sizeof(SetRun));
	}
	run = joiner->run + first / RUN;
	if (run->memory != NULL)
		return run;
	run->memory = host_alloc(sizeof(PrefixRun) + _Alignof(PrefixRun));
	run->run = (PrefixRun *) (((uintptr_t) run->memory + _Alignof(PrefixRun) - 1) /
							  _Alignof(PrefixRun) * _Alignof(PrefixRun));
	run->least = items->document[first].length;
	run->most = items->document[first + count - 1].length;
	for (uint32_t i = 0; i < count; i++)
	{
		const SetDocument *document = items->document + first + i;

		run->items_most = Max(run->items_most, document->length - document->unshared);
		fold_bitmap(items, first + i, prefix + i * shape.words);
	}
	prefixes_load(&shape, prefix, (int) count, run->run);
	return run;
}

/*
 * Returns in how many bits the prefix of a similar document of a run may differ, at most; -1 if none is
 * similar.  What two documents must share grows with the length of each.
 */
static int64_t
bits_allowed(SetJoiner *joiner, const SetDocument *x, const SetRun *run)
{
	uint64_t nearest = x->length < run->least ? run->least : Min(x->length, run->most);
	uint64_t needed = needed_of(joiner, x->length, run->least)->overlap;

	if (needed_of(joiner, x->length, nearest)->overlap > Min(x->length, nearest))
		return -1;
	return (int64_t) (x->length - x->unshared + run->items_most) - 2 * (int64_t) needed;
}

/* Meets the documents of a run, from .. to - 1, whose prefixes may be those of similar documents. */
static void
scan_run(SetJoiner *joiner, const Seeker *seeker, const uint64_t *prefix, uint32_t from,
		 uint32_t to)
{
	const SetItems *items = &joiner->plan->items;
	const SetRun *run = run_of(joiner, from / RUN * RUN);
	LengthRun same = {.end = 0};
	int64_t allowed = bits_allowed(joiner, seeker->document, run);
	uint32_t words = prefix_words(items);
	PrefixShape shape = {(int) words, 1, (int) Min(allowed, 64 * words)};
	PrefixMatch match;
	bool two = joiner->join->right != NULL;

	joiner->stats->hits += to - from;
	joiner->stats->pruned_by_frequency += to - from;
	host_count_steps(&joiner->steps, to - from);
	if (allowed < 0 || !prefixes_compare(&shape, prefix, 1, run->run, &match))
		return;
	for (uint32_t d = from; d < to; d++)
	{
		const SetDocument *y = items->document + d;
		SetPosting whole = {.remaining = y->length - y->unshared, .document = d};
		uint64_t bits = match.bits[d % RUN / 64] >> d % 64;

		if (bits == 0)
			d |= 63;
		if ((bits & 1) == 0 || (two && y->of_right == seeker->document->of_right))
			continue;
		joiner->stats->pruned_by_frequency--;
		meet(joiner, seeker, &whole, &same);
	}
}

/* Meets all documents, by their prefixes. */
static void
scan(SetJoiner *joiner, const Seeker *seeker)
{
	const SetPlan *plan = joiner->plan;
	uint64_t prefix[JOIN_PREFIX_WORDS];
	uint32_t next;

	fold_bitmap(&plan->items, (uint32_t) (seeker->document - plan->items.document), prefix);
	for (uint32_t d = seeker->from; d < seeker->to; d = next)
	{
		next = Min(seeker->to, (d / RUN + 1) * RUN);
		scan_run(joiner, seeker, prefix, d, next);
	}
}

/* Returns the first posting of a list, from `first` on, whose document is not before one. */
static size_t
find_posting(const SetPlan *plan, size_t first, size_t end, uint32_t document)
{
	SEARCH_SORTED(first, end, plan->posting[middle].document < document);
	return first;
}

/*
 * Returns how many hits a seeker, whose `items` from the rarest on have lists that it reads, has in these,
 * as soon as they are more than `most`.  Counts documents out of its range, too, unless exact.
 */
static double
hits_of(const SetJoiner *joiner, const Seeker *seeker, bool of_right, double most, bool exact)
{
	const SetPlan *plan = joiner->plan;
	const SetItems *items = &plan->items;
	uint64_t remaining = seeker->remaining;
	double hits = 0;

	for (uint32_t i = 0; i < seeker->document->items && remaining >= joiner->least && hits <= most;
		 i++)
	{
		size_t item = seeker->document->item + i;
		size_t list = set_list(joiner->join, plan, items->rank[item], of_right);
		size_t end = plan->start[list + 1];
		size_t first = joiner->first[list];

		if (exact)
		{
			first = find_posting(plan, first, end, seeker->from);
			end = find_posting(plan, first, end, seeker->to);
		}
		hits += (double) (end - first);
		remaining -= set_item_frequency(items, item);
	}
	return hits;
}

/* Returns whether a scan of all documents costs less than the lists of a seeker. */
static bool
scan_is_cheaper(const SetJoiner *joiner, const Seeker *seeker, bool of_right)
{
	double most = (double) (seeker->to - seeker->from) * COST_OF_SCANNED / COST_OF_HIT;

	return joiner->plan->longest >= host_limit(LONG_LIST) &&
		hits_of(joiner, seeker, of_right, most, false) > most &&
		hits_of(joiner, seeker, of_right, most, true) > most;
}

/*
 * Finds the documents from .. to - 1 that are similar to a document, by the rarest list first;
 * neither from nor number may be less than in the call before.  Returns how many pairs wait
 * for set_join_give().
 */
size_t
set_join_seek(SetJoiner *joiner, const SetDocument *document, uint32_t number, uint32_t from,
			  uint32_t to)
{
	const SetItems *items = &joiner->plan->items;
	const SetJoin *join = joiner->join;
	bool of_right = join->right ? !document->of_right : false;
	Seeker seeker = {.document = document,
					 .number = number,
					 .from = from,
					 .to = to,
					 .remaining = document->length - document->unshared};

	joiner->stats->bags++;
	if (joiner->length != document->length)
	{
		joiner->length = document->length;
		joiner->least = set_remaining_needed(join, document->length, !joiner->plan->block);
	}
	if (scan_is_cheaper(joiner, &seeker, of_right))
	{
		scan(joiner, &seeker);
		return joiner->founds;
	}
	for (; seeker.item < document->items && seeker.remaining >= joiner->least; seeker.item++)
	{
		size_t item = document->item + seeker.item;

		read_list(joiner, &seeker, items->rank[item], of_right);
		seeker.remaining -= set_item_frequency(items, item);
	}
	host_count_steps(&joiner->steps, seeker.item + 1);
	return joiner->founds;
}

/* Drops the pairs whose greater document is `end` or a later one.  Returns how many are left. */
size_t
set_join_cut(SetJoiner *joiner, uint32_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < joiner->founds; i++)
		if (joiner->found[i].greater < end)
			joiner->found[kept++] = joiner->found[i];
	return joiner->founds = kept;
}

/*
 * Gives sink the pairs found, by the greater document, then by the lesser one.  Returns false
 * if it ended the join.
 */
bool
set_join_give(SetJoiner *joiner)
{
	const SetJoin *join = joiner->join;
	bool wanted = true;

	if (joiner->founds > 1)
		sort_records(joiner->found, joiner->founds, sizeof(FoundSets), sort_key_pair);
	for (size_t i = 0; i < joiner->founds && wanted; i++)
	{
		const FoundSets *found = joiner->found + i;

		joiner->stats->pairs++;
		wanted = join->sink(join->state, found->a, found->b, found->similarity);
	}
	joiner->founds = 0;
	return wanted;
}

/* Returns the first document of a part. */
static uint32_t
part_start(const SetPlan *plan, int part)
{
	return (uint32_t) ((uint64_t) plan->items.documents * part / SET_PARTS);
}

/* Returns how many bytes set_run() allocates. */
size_t
set_run_bytes(const SetPlan *plan)
{
	return plan->items.documents * sizeof(uint32_t) + plan->lists * sizeof(size_t);
}

/* Prepares to search the lists of a plan.  Searches add to stats. */
SetJoiner *
set_join_begin(const SetJoin *join, const SetPlan *plan, JoinStats *stats)
{
	SetJoiner *joiner = host_alloc(sizeof(SetJoiner));
	size_t documents = plan->items.documents;

	memset(joiner, 0, sizeof(SetJoiner));
	joiner->join = join;
	joiner->plan = plan;
	joiner->stats = stats;
	joiner->first = host_alloc((plan->lists + 1) * sizeof(size_t));
	memcpy(joiner->first, plan->start, (plan->lists + 1) * sizeof(size_t));
	joiner->met = host_alloc(documents * sizeof(uint32_t));
	memset(joiner->met, 0, documents * sizeof(uint32_t));
	return joiner;
}

/* Frees what set_join_begin and searches have allocated. */
void
set_join_end(SetJoiner *joiner)
{
	for (size_t r = 0; joiner->run != NULL && r <= joiner->plan->items.documents / RUN; r++)
		host_free(joiner->run[r].memory);
	host_free(joiner->run);
	host_free(joiner->found);
	host_free(joiner->met);
	host_free(joiner->first);
	host_free(joiner);
}

/* Forecasts a run that has joined some parts, the last one up to document `d`. */
static void
sets_look_ahead(const SetJoin *join, const SetPlan *plan, const bool *joined, uint32_t d)
{
	double done = 0;

	for (int p = 0; p < SET_PARTS && part_start(plan, p) < d; p++)
		if (joined[p])
			done += set_work_before(join, &plan->items, Min(part_start(plan, p + 1), d)) -
				set_work_before(join, &plan->items, part_start(plan, p));
	forecast_look(join->forecast, done);
}

/*
 * Joins parts in ascending order: all, or those that join->next returns.  Adds to stats.
 * Returns false if the sink ended the join.
 */
bool
set_run(const SetJoin *join, const SetPlan *plan, JoinStats *stats)
{
	SetJoiner *joiner = set_join_begin(join, plan, stats);
	bool joined[SET_PARTS] = {false};
	bool wanted = true;
	int part = -1;

	while (wanted)
	{
		part = join->next ? join->next(join->next_state) : part + 1;
		if (part < 0 || part >= SET_PARTS)
			break;
		joined[part] = true;
		for (uint32_t d = part_start(plan, part); d < part_start(plan, part + 1) && wanted; d++)
		{
			const SetDocument *document = plan->items.document + d;

			if (forecast_is_due(join->forecast))
				sets_look_ahead(join, plan, joined, d);
			wanted = set_join_seek(joiner, document, d, document->earliest, d) == 0 ||
				set_join_give(joiner);
		}
	}
	set_join_end(joiner);
	return wanted;
}

/* Fails because sets have NO_RANK or more elements in common with others. */
void
set_refuse_size(void)
{
	host_refuse_size("too many shingles to compare at once");
}

/*
 * Gives sink every pair whose similarity, the exact number that the functions of
 * sketch/bag.h return, is at least the threshold.  Each pair is given once, in an order
 * that depends only on the bags.  An empty bag is in no pair.
 *
 * n equal bags are n (n - 1) / 2 pairs; a caller that does not want them collapses equal
 * bags first.  Returns false, without a pair, if UINT32_MAX or more elements are in more
 * than one bag, or there are that many bags.
 */
bool
set_join(const SetJoin *join, JoinStats *stats)
{
	SetPlan plan;

	memset(stats, 0, sizeof(JoinStats));
	if (!set_plan(join, &plan))
		return false;
	stats->bags =
		(uint64_t) join->left_count + (join->right ? join->right_count : 0) - plan.items.documents;
	stats->partitions = plan.items.partitions;
	(void) (plan.items.file == NULL ? set_run(join, &plan, stats) :
									  set_spread_run(join, &plan, stats));
	set_plan_free(&plan);
	return true;
}
