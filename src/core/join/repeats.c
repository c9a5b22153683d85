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

/* Words that are read at a time where they are read in order. */
#define WORDS_STEP 4096

typedef struct WordReader
{
	const Repeats *repeats;
	uint64_t start;
	size_t count;
	size_t room;
	PlacedWord *word;
} WordReader;

static WordReader
reader_begin(const Repeats *repeats)
{
	size_t room = 2 * (size_t) repeats->run + host_limit(WORDS_STEP);

	return (WordReader){.repeats = repeats,
						.room = room,
						.word = host_alloc(room * sizeof(PlacedWord))};
}

/* Returns words, which are valid until the next call.  If they follow on the last ones, twice as many are read. */
static inline const PlacedWord *
words_at(WordReader *reader, uint64_t from, size_t count)
{
	uint64_t behind = from - reader->start;

	if (from < reader->start || behind + count > reader->count)
	{
		if (from >= reader->start && behind <= reader->count)
			count = (size_t) Min(reader->repeats->length - from,
								 Min(Max(count, 2 * reader->count), reader->room));
		host_file_read(reader->repeats->words, from * sizeof(PlacedWord), reader->word,
					   count * sizeof(PlacedWord));
		reader->start = from;
		reader->count = count;
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

/* A word that was scanned last, and the hash of the run of W words that ends with it. */
typedef struct ScannedWord
{
	uint64_t word;
	uint64_t hash;
} ScannedWord;

typedef struct RepeatFinder
{
	Repeats *repeats;
	uint32_t run;
	uint32_t anchor_run; /* W; T once windows are their own anchors */
	uint64_t base;
	uint64_t hashes; /* how many hashes anchors are sorted by */
	WordReader own;
	WordReader other;
	EqualWords last; /* the last words that were compared */
	EqualRun equal;  /* the last windows that are equal to earlier ones */
	Edges sought;    /* second: the hash of an anchor; first: the anchor; and its windows */
	Edges pairs;     /* second: the anchor; first: the first one of its hash; and its windows */
	Edges runs;      /* second: the first of several windows; first: its first copy; and how many */
	Edges
		events; /* second: the first of several windows; first: its first copy, or KEPT; and how many */
	RollingHash window_hash; /* the hash of the last window that was hashed */
	uint64_t hashed;
	uint64_t hash;    /* the hash of the last anchors that were given */
	uint64_t leader;  /* the first of these anchors */
	uint64_t decided; /* words before it stay, or are in parts */
	uint64_t kept;    /* the end of the words in first copies so far */
	Part now;         /* the windows in which words go */
	Part next;        /* the windows so far that reach furthest */
	Part made;        /* the last part, which is not written yet */
} RepeatFinder;

/* The first copy of windows that are first copies themselves. */
#define KEPT UINT64_MAX

/* Returns whether two words are equal, and no ends of texts. */
static inline bool
words_are_equal(const PlacedWord *x, const PlacedWord *y)
{
	return x->hash == y->hash && x->hash != 0;
}

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
	const PlacedWord *x = words_at(&f->own, position - left, left + right);
	const PlacedWord *y = words_at(&f->other, first - left, left + right);
	size_t from = left;
	size_t to = left;

	if (position - first == f->last.distance && position >= f->last.from && position < f->last.to)
	{
		from -= (size_t) Min(position - f->last.from, left);
		to += (size_t) Min(f->last.to - position, right);
	}
	while (to < left + right && words_are_equal(x + to, y + to))
		to++;
	while (from > 0 && words_are_equal(x + from - 1, y + from - 1))
		from--;
	return f->last = (EqualWords){position - left + from, position - left + to, position - first};
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
	if (f->equal.count > 0)
		edges_add(&f->runs, (LongEdge){f->equal.at, f->equal.first, (double) f->equal.count});
	f->equal.count = 0;
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
	const PlacedWord *word = words_at(&f->own, window - follows, f->run + follows);

	if (follows)
		(void) roll_hash(&f->window_hash, word[f->run].hash, word[0].hash);
	else
		f->window_hash.hash = 0;
	for (uint32_t i = 0; !follows && i < f->run; i++)
		(void) roll_hash(&f->window_hash, word[i].hash, 0);
	f->hashed = window;
	return f->window_hash.hash;
}

/* Adds the windows of an anchor, if there are some. */
static void
add_anchor(RepeatFinder *f, const LongEdge *anchor)
{
	if (anchor->similarity > 0)
		edges_add(&f->sought, *anchor);
}

/* Reads all words, and finds the anchors of all windows. */
static void
scan_words(RepeatFinder *f)
{
	RollingHash rolling = rolling_begin(f->base, f->anchor_run);
	uint64_t reach = f->run - f->anchor_run;
	uint64_t text = 0;  /* words of the text so far */
	uint64_t least = 0; /* the end of the anchor */
	uint64_t mask = 1;
	LongEdge last = {.similarity = 0};
	ScannedWord *scanned;

	while (mask <= f->run)
		mask *= 2;
	scanned = host_alloc(mask-- * sizeof(ScannedWord));
	for (uint64_t at = 0; at < f->repeats->length; at++)
	{
		ScannedWord word = {words_at(&f->own, at, 1)->hash, 0};

		host_check_interrupts_at(at);
		if (word.word == 0)
		{
			text = rolling.hash = 0;
			continue;
		}
		text++;
		word.hash = roll_hash(&rolling, word.word,
							  text > f->anchor_run ? scanned[(at - f->anchor_run) & mask].word : 0);
		scanned[at & mask] = word;
		if (text < f->anchor_run)
			continue;
		if (text == f->anchor_run || word.hash <= scanned[least & mask].hash)
			least = at;
		else if (at - least > reach)
			for (uint64_t i = least = at - reach; i <= at; i++)
				least = scanned[i & mask].hash <= scanned[least & mask].hash ? i : least;
		if (text < f->run)
			continue;
		if (last.similarity > 0 && last.first == least + 1 - f->anchor_run)
		{
			last.similarity++;
			continue;
		}
		add_anchor(f, &last);
		last = (LongEdge){scanned[least & mask].hash % f->hashes, least + 1 - f->anchor_run,
						  WINDOWS(least + reach - at, 1)};
	}
	add_anchor(f, &last);
	host_free(scanned);
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

	if (part.start == f->made.end && part.start - part.first == f->made.start - f->made.first)
	{
		f->made.end = to;
		return;
	}
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
		uint64_t end = to;

		if (f->now.end <= f->decided)
			f->now = f->next;
		if (f->now.end > f->decided)
			end = Min(f->now.end, to);
		if (f->now.end > f->decided && from < end)
			add_gone_words(f, from, end);
		f->decided = end;
	}
}

/*
 * An EdgeSink: takes windows that are repeated, or first copies, in order.  Words go with the windows that
 * reach furthest, once those before end, so they are in few parts.
 */
static bool
take_event(void *state, const LongEdge *event)
{
	RepeatFinder *f = state;
	Part part = {event->second, event->second + (uint64_t) event->similarity - 1 + f->run,
				 event->first};

	decide_words(f, part.start);
	if (part.first == KEPT)
		f->kept = Max(f->kept, part.end);
	else if (part.end > f->next.end)
		f->next = part;
	return true;
}

/* Passes on the last windows, and their first copies. */
static void
flush_events(RepeatFinder *f)
{
	EqualRun run = f->equal;

	if (run.count > 0 && run.at - run.first >= f->run)
		edges_add(&f->events, (LongEdge){run.at, run.first, (double) run.count});
	if (run.count > 0 && !f->repeats->has_others)
		edges_add(&f->events, (LongEdge){run.first, KEPT, (double) run.count});
}

/* An EdgeSink: takes windows in order, which may go on where others were found in another way. */
static bool
take_run(void *state, const LongEdge *edge)
{
	RepeatFinder *f = state;
	EqualRun run = {edge->second, edge->first, (uint64_t) edge->similarity};

	if (extend_run(&f->equal, run))
		return true;
	flush_events(f);
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
	uint64_t base = host_random_seed() % (PRIME - 2) + 2;
	RepeatFinder f = {.repeats = repeats,
					  .run = repeats->run,
					  .anchor_run = (repeats->run + 1) / 2,
					  .base = base,
					  .hashes = host_limit(PRIME),
					  .window_hash = rolling_begin(base, repeats->run),
					  .hashed = UINT64_MAX - 1,
					  .own = reader_begin(repeats),
					  .other = reader_begin(repeats)};

	repeats->memory = Min(repeats->memory, Max(repeats->length / WORDS_OF_BYTE, MEMORY_LEAST));
	f.sought.most = f.pairs.most = f.runs.most = f.events.most =
		repeats->memory / SHARES * EDGES_SHARE / sizeof(LongEdge);
	seek_equal_windows(&f);
	edges_give(&f.runs, take_run, &f);
	flush_events(&f);
	edges_give(&f.events, take_event, &f);
	decide_words(&f, UINT64_MAX);
	write_part(&f);
	host_free(f.own.word);
	host_free(f.other.word);
}
