/*
 * repeats.c: words of many records that stood before, in runs of a least length T.
 *
 * A window is T words in a row of a text.  It is repeated if an equal one stands in an earlier record, or
 * ends before it begins in the same one; the first of several equal windows is a first copy.  Words go
 * that are in a repeated window and in no first copy.
 *
 * A window is looked at by its anchor: of the runs of W words in it, the last one with the least hash
 * (winnowing: Schleimer, Wilkerson, Aiken 2003).  Equal windows have equal anchors at the same position, and
 * neighbours mostly share theirs, so anchors are few.  They are sorted by their hashes, and those whose hash
 * comes once are left out.  Around the first anchor of a hash is the first of all windows that are equal to
 * the text there, and words are compared with it, once for each other anchor.  Equal windows either all
 * equal that text or none of them does.  Those that do not are sorted by hashes of their own, each its own
 * anchor, until all are equal to the first one of their hash.
 */
#include "join/repeats.h"

#include "join/edges.h"

/* ---- Numbers modulo a prime --------------------------------------------- */

/* The hash of a run of words is a polynomial of their hashes, at a secret number. */
#ifdef __SIZEOF_INT128__
typedef unsigned __int128 Product;
#define PRIME_BITS 61
#else
typedef uint64_t Product;
#define PRIME_BITS 31
#endif
#define PRIME ((UINT64_C(1) << PRIME_BITS) - 1)

/* The hash of the last words, at most `length` of them. */
typedef struct RollingHash
{
	uint64_t hash;
	uint64_t base;
	uint64_t power; /* base to the power of length */
} RollingHash;

/* Returns a number below PRIME, equal to one below 4 * PRIME^2. */
static inline uint64_t
reduce(Product number)
{
	uint64_t sum = (uint64_t) (number & PRIME) + (uint64_t) (number >> PRIME_BITS);

	sum = (sum & PRIME) + (sum >> PRIME_BITS);
	return sum >= PRIME ? sum - PRIME : sum;
}

static RollingHash
rolling_begin(uint64_t base, uint32_t length)
{
	RollingHash rolling = {0, base, 1};

	while (length-- > 0)
		rolling.power = reduce((Product) rolling.power * base);
	return rolling;
}

/* Adds a word, and removes the one that is `length` words before it, or 0; words are numbers below PRIME. */
static inline uint64_t
roll_hash(RollingHash *rolling, uint64_t in, uint64_t out)
{
	return rolling->hash = reduce((Product) rolling->hash * rolling->base +
								  (Product) (PRIME - out) * rolling->power + in);
}

/* ---- Words in files ----------------------------------------------------- */

/* Words are read in steps of this many. */
#define WORDS_STEP 1024

/* Words that were read last. */
typedef struct WordReader
{
	uint64_t start;
	size_t count;
	size_t room;
	uint64_t *word;
} WordReader;

/* Returns words, which are valid until the next call. */
static inline const uint64_t *
words_at(const Repeats *repeats, WordReader *reader, uint64_t from, size_t count)
{
	if (from < reader->start || from + count > reader->start + reader->count)
	{
		size_t step = host_limit(WORDS_STEP);
		uint64_t start = from - from % step;
		uint64_t end = Min(repeats->length, from + count + step - (from + count) % step);

		reader->start = start;
		reader->count = (size_t) (end - start);
		reader->word = host_grow(reader->word, &reader->room, reader->count, sizeof(*reader->word));
		host_file_read(repeats->words, start * sizeof(*reader->word), reader->word,
					   reader->count * sizeof(*reader->word));
	}
	return reader->word + (from - reader->start);
}

/* ---- Equal windows ------------------------------------------------------- */

typedef struct RepeatFinder
{
	Repeats *repeats;
	uint32_t run;
	uint32_t anchor_run; /* W; T once windows are their own anchors */
	uint64_t others;     /* words before this one stay */
	uint64_t leaders;    /* only runs that begin before this word count */
	WordReader own;
	WordReader other;
	Part words;   /* the last words that were compared, and are equal to earlier ones */
	Part windows; /* the last windows that are equal to earlier ones */
	Edges sought; /* second: the hash of an anchor; first: its first word; and its windows */
	Edges pairs;  /* second: an anchor; first: the first one of its hash; and its windows */
	Edges
		events; /* second: the first of some windows; first: its first copy, or KEPT; and their number */
	RollingHash window_hash; /* the hash of no words, for windows */
	uint64_t hash;           /* the hash of the last anchors that were given */
	uint64_t leader;         /* the first of these anchors */
	uint64_t decided;        /* words before it stay, or are in parts */
	uint64_t kept;           /* the end of the words in first copies so far */
	Part now;                /* the windows in which words go */
	Part next;               /* the windows so far that reach furthest */
	Part made;               /* the last part, which is not written yet */
} RepeatFinder;

/*
 * The windows of an anchor, as a number: the words of the first one before it, and how many there are.  Both
 * are at most T, below 2^21, so that a double holds them.
 */
#define WINDOWS(before, count) ((double) ((uint64_t) (before) << 32 | (count)))

/* A word that was scanned last, and the hash of the run of W words that ends with it. */
typedef struct ScannedWord
{
	uint64_t word;
	uint64_t hash;
} ScannedWord;

/* Adds the windows of an anchor, if there are some. */
static void
add_anchor(RepeatFinder *f, LongEdge anchor)
{
	if (anchor.similarity > 0)
		edges_add(&f->sought, anchor);
}

/* Finds the anchors of all windows. */
static void
seek_anchors(RepeatFinder *f)
{
	uint64_t length = f->anchor_run;
	uint64_t reach = f->run - length;
	RollingHash rolling = rolling_begin(f->window_hash.base, f->anchor_run);
	ScannedWord *scanned; /* word n is at n & mask */
	uint64_t mask = 1;
	uint64_t text = 0;   /* words of the text so far */
	uint64_t least = 0;  /* the last word of the anchor */
	LongEdge last = {0}; /* the anchor of the last windows */

	while (mask <= f->run)
		mask *= 2;
	scanned = host_alloc(mask-- * sizeof(ScannedWord));
	for (uint64_t at = 0; at < f->repeats->length; at++)
	{
		uint64_t word = *words_at(f->repeats, &f->own, at, 1);
		uint64_t hash;

		host_check_interrupts_at(at);
		if (word == 0)
		{
			text = rolling.hash = 0;
			continue;
		}
		text++;
		word %= PRIME;
		hash = roll_hash(&rolling, word, text > length ? scanned[(at - length) & mask].word : 0);
		scanned[at & mask] = (ScannedWord){word, hash};
		if (text < length)
			continue;
		if (text == length || hash <= scanned[least & mask].hash)
			least = at;
		else if (at - least > reach)
			for (uint64_t i = least = at - reach; i <= at; i++)
				least = scanned[i & mask].hash <= scanned[least & mask].hash ? i : least;
		if (text < f->run)
			continue;
		if (last.similarity == 0 || last.first != least + 1 - length)
		{
			add_anchor(f, last);
			last = (LongEdge){scanned[least & mask].hash % host_limit(PRIME), least + 1 - length,
							  WINDOWS(least + reach - at, 0)};
		}
		last.similarity++;
	}
	add_anchor(f, last);
	host_free(scanned);
}

/* The first copy of windows that are first copies themselves. */
#define KEPT UINT64_MAX

/*
 * Extends a part if another goes on where it ends, or `overlap` before, and the first copy, too.  Returns
 * whether it does.
 */
static bool
extend_part(Part *part, Part more, uint64_t overlap)
{
	if (more.start + overlap != part->end || more.start - more.first != part->start - part->first)
		return false;
	part->end = more.end;
	return true;
}

/* Returns whether two words are equal, and no ends of texts. */
static inline bool
words_are_equal(uint64_t x, uint64_t y)
{
	return x == y && x != 0;
}

/*
 * Compares the words around an anchor with those around the first one of its hash, as far as its windows
 * reach.  Neighbours have most of them in common.  Returns equal words around the anchor, if there are some.
 */
static Part
compare_around(RepeatFinder *f, uint64_t position, uint64_t first)
{
	uint64_t reach = f->run - f->anchor_run;
	uint64_t low = position - Min(reach, first);
	uint64_t high = Min(position + f->anchor_run + reach, f->repeats->length);
	const uint64_t *x = words_at(f->repeats, &f->own, low, high - low);
	const uint64_t *y = words_at(f->repeats, &f->other, low - (position - first), high - low);
	Part equal = f->words;

	if (position - first != equal.start - equal.first || position < equal.start ||
		position >= equal.end)
		equal = (Part){position, position, first};
	while (equal.end < high && words_are_equal(x[equal.end - low], y[equal.end - low]))
		equal.end++;
	for (; equal.start > low && words_are_equal(x[equal.start - 1 - low], y[equal.start - 1 - low]);
		 equal.first--)
		equal.start--;
	return f->words = equal;
}

/* Passes on the last windows that are equal to earlier ones, and their first copies. */
static void
flush_windows(RepeatFinder *f)
{
	Part run = f->windows;
	double count = (double) (run.end - run.start);

	if (count == 0)
		return;
	if (run.start - run.first >= f->run)
		edges_add(&f->events, (LongEdge){run.start, run.first, count});
	edges_add(&f->events, (LongEdge){run.first, KEPT, count});
}

/* Notes that windows are equal to earlier ones, the first of all these. */
static void
add_equal(RepeatFinder *f, Part windows)
{
	if (windows.start == windows.end || windows.start < f->others ||
		extend_part(&f->windows, windows, 0))
		return;
	flush_windows(f);
	f->windows = windows;
}

/* Adds windows that are to be sorted by hashes of their own. */
static void
seek_windows(RepeatFinder *f, uint64_t from, uint64_t to)
{
	size_t run = f->run;
	size_t words = (size_t) (to - from) + run - 1;
	RollingHash rolling = f->window_hash;
	const uint64_t *word;

	if (from == to)
		return;
	word = words_at(f->repeats, &f->own, from, words);
	for (size_t i = 0; i < words; i++)
	{
		uint64_t hash = roll_hash(&rolling, word[i] % PRIME, i < run ? 0 : word[i - run] % PRIME);

		if (i + 1 >= run)
			edges_add(&f->sought,
					  (LongEdge){hash % host_limit(PRIME), from + i + 1 - run, WINDOWS(0, 1)});
	}
}

/* An EdgeSink: pairs an anchor with the first one of its hash. */
static bool
pair_anchor(void *state, const LongEdge *anchor)
{
	RepeatFinder *f = state;

	if (anchor->second != f->hash)
	{
		f->hash = anchor->second;
		f->leader = anchor->first;
	}
	else if (f->leader < f->leaders)
		edges_add(&f->pairs, (LongEdge){anchor->first, f->leader, anchor->similarity});
	return true;
}

/* An EdgeSink: compares the windows of an anchor with those of the first one of its hash. */
static bool
compare_pair(void *state, const LongEdge *pair)
{
	RepeatFinder *f = state;
	uint64_t packed = (uint64_t) pair->similarity;
	uint64_t window = pair->second - (packed >> 32);
	uint64_t end = window + (uint32_t) packed;
	Part equal = compare_around(f, pair->second, pair->first);
	uint64_t overlap = f->run - 1;
	uint64_t from = Max(window, equal.start);
	uint64_t to = Min(end + overlap, equal.end);

	if (from + overlap >= to)
	{
		from = end;
		to = end + overlap;
	}
	seek_windows(f, window, from);
	add_equal(f, (Part){from, to - overlap, from - (pair->second - pair->first)});
	seek_windows(f, to - overlap, end);
	return true;
}

/* Finds all windows that are equal to earlier ones: first by anchors, then by their own hashes. */
static void
seek_equal_windows(RepeatFinder *f)
{
	seek_anchors(f);
	do
	{
		f->hash = UINT64_MAX;
		edges_give(&f->sought, pair_anchor, f);
		edges_give(&f->pairs, compare_pair, f);
		f->anchor_run = f->run;
	} while (f->hash != UINT64_MAX);
	flush_windows(f);
}

/* ---- What goes ---------------------------------------------------------- */

/* Writes the last part. */
static void
write_part(RepeatFinder *f)
{
	Repeats *repeats = f->repeats;

	if (f->made.start < f->made.end)
		host_file_write(repeats->parts, repeats->part_count++ * sizeof(Part), &f->made,
						sizeof(Part));
}

/* Adds words that go. */
static void
add_gone_words(RepeatFinder *f, uint64_t from, uint64_t to)
{
	Part part = {from, to, f->now.first + (from - f->now.start)};

	if (extend_part(&f->made, part, 0))
		return;
	write_part(f);
	f->made = part;
}

/* Decides on the words before one, where no windows begin that are not known. */
static void
decide_words(RepeatFinder *f, uint64_t to)
{
	while (f->decided < to)
	{
		uint64_t from = Max(f->decided, f->kept);

		if (f->now.end <= f->decided)
			f->now = f->next;
		f->decided = f->now.end > f->decided ? Min(f->now.end, to) : to;
		if (from < Min(f->now.end, f->decided))
			add_gone_words(f, from, f->decided);
	}
}

/*
 * An EdgeSink: takes windows that are repeated, or first copies, in order.  Words go with the windows that
 * reach furthest, once those before end, so they are in few parts.  Windows may go on where others were found
 * in another way.
 */
static bool
take_event(void *state, const LongEdge *event)
{
	RepeatFinder *f = state;
	uint64_t overlap = f->run - 1;
	Part part = {event->second, event->second + (uint64_t) event->similarity + overlap,
				 event->first};

	decide_words(f, part.start);
	if (part.first == KEPT)
	{
		f->kept = Max(f->kept, part.end);
		return true;
	}
	(void) extend_part(&f->now, part, overlap);
	if (!extend_part(&f->next, part, overlap) && part.end > f->next.end)
		f->next = part;
	return true;
}

/* The share of memory for the edges of each kind, of which there are three at once. */
#define EDGES_SHARE 6

/* The least bytes of memory. */
#define MEMORY_LEAST (4 << 20)

/*
 * Finds the words that go, when all records have been added.  If `others` is not NULL, only runs of the first
 * `*others` records count, which keep theirs.  All edges in memory take at most a byte for each word.
 */
void
repeats_find(Repeats *repeats, const uint64_t *others)
{
	RepeatFinder f = {.repeats = repeats,
					  .run = repeats->run,
					  .anchor_run = (repeats->run + 1) / 2,
					  .window_hash =
						  rolling_begin(host_random_seed() % (PRIME - 2) + 2, repeats->run),
					  .leaders = UINT64_MAX};

	if (others != NULL)
	{
		host_file_read(repeats->records, *others * sizeof(f.others), &f.others, sizeof(f.others));
		f.leaders = f.others;
	}
	f.sought.most = f.pairs.most = f.events.most =
		Min(repeats->memory, Max(repeats->length, MEMORY_LEAST)) / EDGES_SHARE / sizeof(LongEdge);
	repeats->found = true;
	repeats->part_count = 0;
	seek_equal_windows(&f);
	edges_give(&f.events, take_event, &f);
	decide_words(&f, UINT64_MAX);
	write_part(&f);
	host_free(f.own.word);
	host_free(f.other.word);
}
