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

/* Returns a number below PRIME, equal to one below 4 * PRIME^2. */
static inline uint64_t
reduce(Product number)
{
	uint64_t sum = (uint64_t) (number & PRIME) + (uint64_t) (number >> PRIME_BITS);

	sum = (sum & PRIME) + (sum >> PRIME_BITS);
	return sum >= PRIME ? sum - PRIME : sum;
}

/* The hash of the last words, at most `length` of them. */
typedef struct RollingHash
{
	uint64_t hash;
	uint64_t base;
	uint64_t power; /* base to the power of length */
} RollingHash;

static RollingHash
rolling_begin(uint64_t base, uint32_t length)
{
	RollingHash rolling = {0, base, 1};

	while (length-- > 0)
		rolling.power = reduce((Product) rolling.power * base);
	return rolling;
}

/* Adds a word, and removes the one that is `length` words before it, or 0. */
static inline uint64_t
roll_hash(RollingHash *rolling, uint64_t in, uint64_t out)
{
	Product sum = (Product) rolling->hash * rolling->base +
		(Product) (PRIME - out % PRIME) * rolling->power + in % PRIME;

	return rolling->hash = reduce(sum);
}

/* ---- Words in files ----------------------------------------------------- */

/* Words that are read at a time, at least. */
#define WORDS_STEP 2048

typedef struct WordReader
{
	const Repeats *repeats;
	uint64_t start;
	size_t count;
	size_t room;
	uint64_t *word;
} WordReader;

static WordReader
reader_begin(const Repeats *repeats, size_t most)
{
	size_t room = most + host_limit(WORDS_STEP);

	return (WordReader){.repeats = repeats,
						.room = room,
						.word = host_alloc(room * sizeof(uint64_t))};
}

/* Returns words, which are valid until the next call. */
static inline const uint64_t *
words_at(WordReader *reader, uint64_t from, size_t count)
{
	if (from < reader->start || from + count > reader->start + reader->count)
	{
		reader->start = from;
		reader->count = Min(reader->repeats->length - from, reader->room);
		host_file_read(reader->repeats->words, from * sizeof(uint64_t), reader->word,
					   reader->count * sizeof(uint64_t));
	}
	return reader->word + (from - reader->start);
}

/* ---- Anchors and windows ------------------------------------------------- */

/* A run of W words: its hash, and its first word. */
typedef struct Anchor
{
	uint64_t hash;
	uint64_t position;
} Anchor;

/*
 * The windows of an anchor, as a number: the words of the first one before it, and how many there are.  Both
 * are at most T, below 2^21, so that a double holds them.
 */
#define WINDOWS(before, count) ((double) ((uint64_t) (before) << 32 | (count)))

/* Windows in a row that are equal to earlier ones. */
typedef struct EqualRun
{
	uint64_t at;    /* the first of them */
	uint64_t first; /* its first copy */
	uint64_t count;
} EqualRun;

/* Words that are equal to earlier ones. */
typedef struct EqualWords
{
	uint64_t from;
	uint64_t to;
	uint64_t distance; /* words from there to here */
} EqualWords;

typedef struct RepeatFinder
{
	Repeats *repeats;
	uint32_t run;
	uint32_t anchor_run; /* W; T once windows are their own anchors */
	uint64_t base;
	uint64_t hashes; /* how many hashes anchors are sorted by */
	Anchor *ring;    /* anchors of the last windows, each with a greater hash than the one before */
	uint32_t ring_mask;
	WordReader scanned;
	WordReader own;
	WordReader other;
	EqualWords last; /* the last words that were compared */
	EqualRun equal;  /* the last windows that are equal to earlier ones */
	Edges sought;    /* second: the hash of an anchor; first: the anchor; and its windows */
	Edges pairs;     /* second: the anchor; first: the first one of its hash; and its windows */
	Edges runs;      /* second: the first of several windows; first: its first copy; and how many */
	Edges firsts;    /* second: the first of several first copies; first: how many */
	RollingHash window_hash; /* the hash of the last window that was hashed */
	uint64_t hashed;
	uint64_t hash;   /* the hash of the last anchors that were given */
	uint64_t leader; /* the first of these anchors */
	HostFile *spans; /* words in first copies */
	uint64_t span_count;
	uint64_t span; /* the first one that the next run may meet */
	EqualRun
		waiting; /* the last run that no other contains, while a longer one may take its place */
	uint64_t covered; /* the end of the words of the runs that were written */
	uint64_t span_from;
	uint64_t span_to;
} RepeatFinder;

/*
 * Compares the words around an anchor with those around the first one of its hash, as far as its windows
 * reach.  Neighbours have most of them in common.
 */
static EqualWords
compare_around(RepeatFinder *f, uint64_t position, uint64_t first)
{
	uint64_t reach = f->run - f->anchor_run;
	size_t left = (size_t) Min(reach, first);
	size_t right =
		f->anchor_run + (size_t) Min(reach, f->repeats->length - position - f->anchor_run);
	const uint64_t *x = words_at(&f->own, position - left, left + right) + left;
	const uint64_t *y = words_at(&f->other, first - left, left + right) + left;
	size_t before = 0;
	size_t behind = 0;

	if (position - first == f->last.distance && position >= f->last.from && position < f->last.to)
	{
		before = (size_t) Min(position - f->last.from, left);
		behind = (size_t) Min(f->last.to - position, right);
	}
	while (behind < right && x[behind] == y[behind] && x[behind] != 0)
		behind++;
	while (before < left && x[-1 - (ptrdiff_t) before] == y[-1 - (ptrdiff_t) before] &&
		   x[-1 - (ptrdiff_t) before] != 0)
		before++;
	return f->last = (EqualWords){position - before, position + behind, position - first};
}

/* Returns whether windows go on where a run ends, and their first copies, too; if so, adds them. */
static bool
extend_run(EqualRun *run, EqualRun more)
{
	if (run->count == 0 || more.at != run->at + run->count || more.first != run->first + run->count)
		return false;
	run->count += more.count;
	return true;
}

/* Passes on the last windows that are equal to earlier ones. */
static void
flush_run(RepeatFinder *f)
{
	EqualRun run = f->equal;

	f->equal.count = 0;
	if (run.count == 0)
		return;
	edges_add(&f->runs, (LongEdge){run.at, run.first, (double) run.count});
	if (!f->repeats->has_others)
		edges_add(&f->firsts, (LongEdge){run.first, run.count, 0});
}

/* Notes that a window is equal to an earlier one, the first of all these. */
static void
add_equal(RepeatFinder *f, uint64_t window, uint64_t first)
{
	if (f->repeats->has_others && window < f->repeats->others)
		return;
	if (extend_run(&f->equal, (EqualRun){window, first, 1}))
		return;
	flush_run(f);
	f->equal = (EqualRun){window, first, 1};
}

/* Returns the hash of a window. */
static uint64_t
hash_window(RepeatFinder *f, uint64_t window)
{
	bool follows = window == f->hashed + 1;
	const uint64_t *word = words_at(&f->own, window - follows, f->run + follows);

	if (follows)
		(void) roll_hash(&f->window_hash, word[f->run], word[0]);
	else
		f->window_hash.hash = 0;
	for (uint32_t i = 0; !follows && i < f->run; i++)
		(void) roll_hash(&f->window_hash, word[i], 0);
	f->hashed = window;
	return f->window_hash.hash;
}

/* Reads all words, and finds the anchors of all windows. */
static void
scan_words(RepeatFinder *f)
{
	RollingHash rolling = rolling_begin(f->base, f->anchor_run);
	const uint64_t *word = NULL;
	uint64_t loaded = 0;
	uint64_t text = 0; /* words of the text so far */
	uint32_t head = 0;
	uint32_t tail = 0;
	LongEdge last = {.similarity = 0};

	for (uint64_t at = 0; at < f->repeats->length; at++, word++)
	{
		Anchor anchor = {.position = at + 1 - f->anchor_run};

		host_check_interrupts_at(at);
		if (at == loaded)
		{
			size_t back = (size_t) Min(at, f->anchor_run);

			word = words_at(&f->scanned, at - back, back + 1) + back;
			loaded = f->scanned.start + f->scanned.count;
		}
		if (*word == 0)
		{
			text = head = tail = 0;
			rolling.hash = 0;
			continue;
		}
		text++;
		anchor.hash =
			roll_hash(&rolling, *word, text > f->anchor_run ? word[-(ptrdiff_t) f->anchor_run] : 0);
		if (text < f->anchor_run)
			continue;
		while (tail != head && f->ring[(tail - 1) & f->ring_mask].hash >= anchor.hash)
			tail--;
		f->ring[tail++ & f->ring_mask] = anchor;
		if (text < f->run)
			continue;
		while (f->ring[head & f->ring_mask].position + f->run < at + 1)
			head++;
		anchor = f->ring[head & f->ring_mask];
		if (last.similarity > 0 && anchor.position == last.first)
		{
			last.similarity++;
			continue;
		}
		if (last.similarity > 0)
			edges_add(&f->sought, last);
		last = (LongEdge){anchor.hash % f->hashes, anchor.position,
						  WINDOWS(anchor.position + f->run - at - 1, 1)};
	}
	if (last.similarity > 0)
		edges_add(&f->sought, last);
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
	else if (!f->repeats->has_others || f->leader < f->repeats->others)
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
	EqualWords equal = compare_around(f, pair->second, pair->first);

	for (uint64_t end = window + (uint32_t) packed; window < end; window++)
		if (window >= equal.from && window + f->run <= equal.to)
			add_equal(f, window, window - equal.distance);
		else
			edges_add(&f->sought,
					  (LongEdge){hash_window(f, window) % f->hashes, window, WINDOWS(0, 1)});
	return true;
}

/* ---- What goes ---------------------------------------------------------- */

/* Words [start, end) in first copies. */
typedef struct Span
{
	uint64_t start;
	uint64_t end;
} Span;

/* Writes the last span. */
static void
flush_span(RepeatFinder *f)
{
	Span span = {f->span_from, f->span_to};

	if (span.start < span.end)
		host_file_write(f->spans, f->span_count++ * sizeof(span), &span, sizeof(span));
}

/* An EdgeSink: adds the words of first copies. */
static bool
add_first(void *state, const LongEdge *first)
{
	RepeatFinder *f = state;
	uint64_t end = first->second + first->first - 1 + f->run;

	if (first->second > f->span_to)
	{
		flush_span(f);
		f->span_from = first->second;
	}
	f->span_to = Max(f->span_to, end);
	return true;
}

/* Returns words in first copies, or what lies behind all of them. */
static Span
span_at(const RepeatFinder *f, uint64_t number)
{
	Span span = {UINT64_MAX, UINT64_MAX};

	if (number < f->span_count)
		host_file_read(f->spans, number * sizeof(span), &span, sizeof(span));
	return span;
}

/* Returns the end of the words of windows. */
static inline uint64_t
end_of_run(const RepeatFinder *f, const EqualRun *run)
{
	return run->at + run->count - 1 + f->run;
}

/* Writes the words of the run that waits, but for those in first copies. */
static void
write_parts(RepeatFinder *f)
{
	uint64_t from = f->waiting.at;
	uint64_t end = end_of_run(f, &f->waiting);
	uint64_t distance = from - f->waiting.first;

	if (f->waiting.count == 0)
		return;
	f->covered = end;
	while (span_at(f, f->span).end <= from)
		f->span++;
	for (uint64_t i = f->span; from < end; i++)
	{
		Span span = span_at(f, i);
		Part part = {from, Min(span.start, end), from - distance};

		if (part.start < part.end)
			host_file_write(f->repeats->parts, f->repeats->part_count++ * sizeof(part), &part,
							sizeof(part));
		from = span.end;
	}
}

/*
 * Takes the last windows if they are repeated.  Of the runs that begin in the last one written, or where it
 * ends, only the one that reaches furthest is written, so each word is in two of them at most.
 */
static void
take_repeated(RepeatFinder *f)
{
	EqualRun run = f->equal;

	if (run.count == 0 || run.at - run.first < f->run ||
		(f->waiting.count > 0 && end_of_run(f, &run) <= end_of_run(f, &f->waiting)))
		return;
	if (run.at > f->covered)
		write_parts(f);
	f->waiting = run;
}

/* An EdgeSink: takes windows in order, which may go on where others were found in another way. */
static bool
take_run(void *state, const LongEdge *edge)
{
	RepeatFinder *f = state;
	EqualRun run = {edge->second, edge->first, (uint64_t) edge->similarity};

	if (extend_run(&f->equal, run))
		return true;
	take_repeated(f);
	f->equal = run;
	return true;
}

/* The shares of memory, of which there are this many, for the edges of each kind. */
#define SHARES 16
#define EDGES_SHARE 3

/* Words for each byte of memory, which has at least some bytes. */
#define WORDS_OF_BYTE 2
#define MEMORY_LEAST (4 << 20)

/* Finds all windows that are equal to earlier ones: first by anchors, then by their own hashes. */
static void
seek_equal_windows(RepeatFinder *f)
{
	scan_words(f);
	do
	{
		f->hash = UINT64_MAX;
		edges_give(&f->sought, pair_anchor, f);
		edges_give(&f->pairs, compare_pair, f);
		flush_run(f);
		f->anchor_run = f->run;
	} while (f->hash != UINT64_MAX);
}

/* Finds the words that go, when all records have been added. */
void
repeats_find(Repeats *repeats)
{
	uint32_t run = repeats->run;
	uint32_t anchor_run = (run + 1) / 2;
	size_t around = 2 * (size_t) run;
	uint32_t ring = 2;
	uint64_t base = host_random_seed() % (PRIME - 2) + 2;
	RepeatFinder f = {.repeats = repeats,
					  .run = run,
					  .anchor_run = anchor_run,
					  .base = base,
					  .hashes = host_limit(PRIME),
					  .window_hash = rolling_begin(base, run),
					  .hashed = UINT64_MAX - 1,
					  .scanned = reader_begin(repeats, 4 * around),
					  .own = reader_begin(repeats, around),
					  .other = reader_begin(repeats, around),
					  .spans = host_file_create()};

	repeats->memory = Min(repeats->memory, Max(repeats->length / WORDS_OF_BYTE, MEMORY_LEAST));
	f.sought.most = f.pairs.most = f.runs.most = f.firsts.most =
		repeats->memory / SHARES * EDGES_SHARE / sizeof(LongEdge);
	while (ring < run - anchor_run + 2)
		ring *= 2;
	f.ring_mask = ring - 1;
	f.ring = host_alloc(ring * sizeof(Anchor));
	seek_equal_windows(&f);
	edges_give(&f.firsts, add_first, &f);
	flush_span(&f);
	edges_give(&f.runs, take_run, &f);
	take_repeated(&f);
	write_parts(&f);
	host_file_close(f.spans);
	host_free(f.ring);
	host_free(f.scanned.word);
	host_free(f.own.word);
	host_free(f.other.word);
}
