/*
 * spot.c: spot signatures (Theobald, Siddharth, Paepcke, SIGIR 2008, section 3).
 *
 * A signature is an antecedent and a chain of words after it: of the words to its right
 * that are neither antecedents nor stop words, every distance-th, as many as the chain is
 * long.  An antecedent whose chain is not complete at the end of the text makes no
 * signature.
 */
#include "text/internal.h"

#include <string.h>

#include "base/sort.h"
#include "text/ascii.h"

/* How many words are remembered for chains: more than SPOT_MAX * SPOT_MAX. */
#define RECENT 256

#define NO_CHAIN SIZE_MAX

/* Hashes that go to a sink at once. */
#define STREAM_MAX 256

/* ---- Lists --------------------------------------------------------------- */

/* Returns the words of a scheme without lists of its own. */
SpotWords
spot_words_of_scheme(SchemeId scheme)
{
	SpotWords words = {.own = {.distance = SCHEME_WIDTH(scheme) >> 4,
							   .chain = SCHEME_WIDTH(scheme) & SPOT_MAX},
					   .language = SCHEME_VARIANT(scheme)};

	words.antecedents = language_antecedents(words.language);
	words.stop_words = language_stop_words(words.language);
	return words;
}

/*
 * Returns the words of a scheme of kind spot.  own_antecedents and own_stop_words say that
 * the caller will add words to use instead of the language's.
 */
SpotWords *
spot_words_begin(SchemeId scheme, bool own_antecedents, bool own_stop_words)
{
	SpotWords *words = host_alloc(sizeof(SpotWords));

	*words = spot_words_of_scheme(scheme);
	if (own_antecedents)
		words->rule = host_alloc(sizeof(SpotRule));
	if (own_stop_words)
		words->stop = host_alloc(sizeof(uint64_t));
	return words;
}

/* The tokens of a text that should have one, and the hash of the last. */
typedef struct OneToken
{
	uint64_t hash;
	size_t count;
} OneToken;

/* A TokenSink with a OneToken as its state. */
static void
hash_token(void *state, const TokenBatch *batch)
{
	OneToken *one = state;

	for (size_t i = 0; i < batch->count; i++, one->count++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		one->hash = shingle_of_token(token, length);
	}
}

/* Hashes the token of a text; returns false if it has another number of tokens. */
static bool
read_token(const char *utf8, size_t length, uint64_t *hash)
{
	OneToken one = {0};

	tokens_of_text(utf8, length, hash_token, &one);
	*hash = one.hash;
	return one.count == 1;
}

/* Reads a number from 1 to SPOT_MAX, with blanks, and the character that must follow it. */
static bool
spot_read_number(const char **at, const char *end, char after, uint8_t *number)
{
	int value = 0;

	while (*at < end && **at == ' ')
		(*at)++;
	for (; *at < end && ascii_is_digit(**at) && value <= SPOT_MAX; (*at)++)
		value = 10 * value + (**at - '0');
	while (*at < end && **at == ' ')
		(*at)++;
	*number = (uint8_t) value;
	return value >= 1 && value <= SPOT_MAX && *at < end && *(*at)++ == after;
}

/*
 * Adds an antecedent such as 'the', or 'the(1,2)' with its own distance and length of the
 * chain.  Returns false if it is not one token, or a number is out of range.
 */
bool
spot_words_add_antecedent(SpotWords *words, const char *utf8, size_t length)
{
	const char *end = utf8 + length;
	const char *open = memchr(utf8, '(', length);
	SpotRule rule = words->own;

	if (open)
	{
		const char *at = open + 1;

		if (!spot_read_number(&at, end, ',', &rule.distance) ||
			!spot_read_number(&at, end, ')', &rule.chain))
			return false;
		if (at != end)
			return false;
		length = open - utf8;
	}
	if (!read_token(utf8, length, &rule.antecedent))
		return false;
	words->rule = host_grow(words->rule, &words->rule_room, words->rules + 1, sizeof(SpotRule));
	words->rule[words->rules++] = rule;
	return true;
}

/* Adds a stop word.  Returns false if it is not one token. */
bool
spot_words_add_stop_word(SpotWords *words, const char *utf8, size_t length)
{
	uint64_t hash;

	if (!read_token(utf8, length, &hash))
		return false;
	words->stop = host_grow(words->stop, &words->stop_room, words->stops + 1, sizeof(uint64_t));
	words->stop[words->stops++] = hash;
	return true;
}

/* A SortKey of the rules of an antecedent. */
static inline uint64_t
rule_shape(const void *record)
{
	const SpotRule *rule = record;

	return (uint64_t) rule->distance << 4 | rule->chain;
}

/* Sorts rules by antecedent and shape, and removes repeated ones; returns how many are left. */
static size_t
sort_rules(SpotRule *rule, size_t count)
{
	size_t kept = 0;

	sort_records_twice(rule, count, sizeof(SpotRule), sort_key_unsigned, rule_shape);
	for (size_t i = 0; i < count; i++)
	{
		host_check_interrupts_at(i);
		if (i == 0 || rule[i].antecedent != rule[kept - 1].antecedent ||
			rule_shape(&rule[i]) != rule_shape(&rule[kept - 1]))
			rule[kept++] = rule[i];
	}
	return kept;
}

/* Returns a hash of the language and of the lists that take the place of its own. */
static uint64_t
hash_lists(const SpotWords *words)
{
	uint64_t hash = mix64((uint64_t) words->language + 1);

	hash = mix64(hash + (words->rule ? words->rules + 1 : 0));
	for (size_t i = 0; i < words->rules; i++)
		hash = mix64(mix64(hash + words->rule[i].antecedent) + rule_shape(&words->rule[i]));
	hash = mix64(hash + (words->stop ? words->stops + 1 : 0));
	for (size_t i = 0; i < words->stops; i++)
		hash = mix64(hash + words->stop[i]);
	return hash;
}

/* Ends adding words; returns the scheme of the signatures that they make. */
SchemeId
spot_words_finish(SpotWords *words)
{
	int variant = words->language;

	if (words->rule)
	{
		uint64_t *antecedent;

		words->rules = sort_rules(words->rule, words->rules);
		antecedent = host_alloc(words->rules * sizeof(uint64_t));
		for (size_t i = 0; i < words->rules; i++)
			antecedent[i] = words->rule[i].antecedent;
		words->rule_set = word_set_of(antecedent, words->rules, false);
		words->antecedents = &words->rule_set;
		host_free(antecedent);
	}
	if (words->stop)
	{
		size_t count = words->stops;

		sort_records(words->stop, count, sizeof(uint64_t), sort_key_unsigned);
		words->stops = 0;
		for (size_t i = 0; i < count; i++)
			if (i == 0 || words->stop[i] != words->stop[words->stops - 1])
				words->stop[words->stops++] = words->stop[i];
		words->stop_set = word_set_of(words->stop, words->stops, false);
		words->stop_words = &words->stop_set;
	}
	if (words->rule || words->stop)
		variant = SPOT_LISTS | (int) (hash_lists(words) >> 49);
	return SCHEME_SPOT_ID(words->own.distance, words->own.chain, variant);
}

/* Frees the words. */
void
spot_words_free(SpotWords *words)
{
	host_free(words->rule);
	host_free(words->stop);
	word_set_free(&words->rule_set);
	word_set_free(&words->stop_set);
	host_free(words);
}

/* ---- Chains -------------------------------------------------------------- */

/* An antecedent whose chain is not complete. */
typedef struct Chain
{
	SpotRule rule;
	size_t position;
	uint64_t count; /* occurrences of the antecedent with no chain word between */
	size_t next;    /* chain that ends at the same word; or next free one */
} Chain;

/* The last chain of a rule, and how many chain words came before it. */
typedef struct Opened
{
	uint64_t content;
	size_t chain;
} Opened;

struct SpotFinder
{
	const SpotWords *words;
	SpotSink sink;
	void *state;
	uint64_t content;      /* chain words so far, which are neither antecedents nor stop words */
	uint64_t hash[RECENT]; /* the hashes of the last chain words */
	size_t position[RECENT];
	size_t ending[RECENT]; /* the first chain that ends at each chain word to come */
	size_t last[RECENT];   /* the last chain that ends there */
	Opened *opened;        /* what each rule has opened; NULL if there are no rules */
	Chain *chain;
	size_t chains;
	size_t room;
	size_t free; /* the first chain that is not in use */
};

/* Starts before the first token. */
SpotFinder *
spot_finder_begin(const SpotWords *words, SpotSink sink, void *state)
{
	SpotFinder *finder = host_alloc(sizeof(SpotFinder));

	finder->words = words;
	finder->sink = sink;
	finder->state = state;
	finder->content = 0;
	finder->chains = 0;
	finder->room = 16;
	finder->chain = host_alloc(finder->room * sizeof(Chain));
	finder->free = NO_CHAIN;
	finder->opened = words->rule ? host_alloc(words->rules * sizeof(Opened)) : NULL;
	for (size_t rule = 0; rule < words->rules; rule++)
		finder->opened[rule] = (Opened){.chain = NO_CHAIN};
	for (int i = 0; i < RECENT; i++)
		finder->ending[i] = NO_CHAIN;
	return finder;
}

/* Frees a finder; chains that are not complete give no signature. */
void
spot_finder_end(SpotFinder *finder)
{
	host_free(finder->opened);
	host_free(finder->chain);
	host_free(finder);
}

/* Returns the number of a chain that is not in use. */
static size_t
new_chain(SpotFinder *finder)
{
	size_t number = finder->free;

	if (number != NO_CHAIN)
	{
		finder->free = finder->chain[number].next;
		return number;
	}
	finder->chain = host_grow(finder->chain, &finder->room, finder->chains + 1, sizeof(Chain));
	return finder->chains++;
}

/* Starts a chain, after those that end at the same word; returns its number. */
static size_t
open_chain(SpotFinder *finder, const SpotRule *rule, size_t position)
{
	size_t bucket = (finder->content + rule->distance * rule->chain) % RECENT;
	size_t number = new_chain(finder);

	finder->chain[number] =
		(Chain){.rule = *rule, .position = position, .count = 1, .next = NO_CHAIN};
	if (finder->ending[bucket] == NO_CHAIN)
		finder->ending[bucket] = number;
	else
		finder->chain[finder->last[bucket]].next = number;
	finder->last[bucket] = number;
	return number;
}

/*
 * Starts the chain of an antecedent of the language, or counts it again.  A language has
 * few antecedents, so few chains end at a word.
 */
static void
add_own_antecedent(SpotFinder *finder, uint64_t hash, size_t position)
{
	SpotRule rule = finder->words->own;
	size_t bucket = (finder->content + rule.distance * rule.chain) % RECENT;
	size_t number;

	rule.antecedent = hash;
	for (number = finder->ending[bucket]; number != NO_CHAIN; number = finder->chain[number].next)
		if (finder->chain[number].rule.antecedent == hash)
		{
			finder->chain[number].count++;
			return;
		}
	open_chain(finder, &rule, position);
}

/*
 * Starts the chain of a rule, or counts it again: chains of a rule end at the same word if
 * no chain word is between their antecedents.
 */
static void
add_listed_antecedent(SpotFinder *finder, size_t rule, size_t position)
{
	Opened *opened = &finder->opened[rule];

	if (opened->chain != NO_CHAIN && opened->content == finder->content)
		finder->chain[opened->chain].count++;
	else
		*opened = (Opened){.content = finder->content,
						   .chain = open_chain(finder, &finder->words->rule[rule], position)};
}

/* Starts the chains of an antecedent. */
static void
add_antecedent(SpotFinder *finder, uint64_t hash, size_t position)
{
	const SpotWords *words = finder->words;
	size_t rule = 0;

	if (words->rule == NULL)
	{
		add_own_antecedent(finder, hash, position);
		return;
	}
	SEARCH_SORTED(rule, words->rules, words->rule[middle].antecedent < hash);
	for (; rule < words->rules && words->rule[rule].antecedent == hash; rule++)
		add_listed_antecedent(finder, rule, position);
}

/* Gives the signature of a chain that is complete to the sink. */
static void
report_chain(const SpotFinder *finder, const Chain *chain)
{
	Spot spot;

	spot.words = 1 + chain->rule.chain;
	spot.hash[0] = chain->rule.antecedent;
	spot.position[0] = chain->position;
	spot.count = chain->count;
	for (int i = 1; i < spot.words; i++)
	{
		size_t at = (finder->content - (spot.words - 1 - i) * chain->rule.distance) % RECENT;

		spot.hash[i] = finder->hash[at];
		spot.position[i] = finder->position[at];
	}
	finder->sink(finder->state, &spot);
}

/* Takes a chain word, and ends the chains that wait for it. */
static void
add_content(SpotFinder *finder, uint64_t hash, size_t position)
{
	size_t at = ++finder->content % RECENT;

	finder->hash[at] = hash;
	finder->position[at] = position;
	while (finder->ending[at] != NO_CHAIN)
	{
		size_t number = finder->ending[at];
		Chain *chain = &finder->chain[number];

		report_chain(finder, chain);
		finder->ending[at] = chain->next;
		chain->next = finder->free;
		finder->free = number;
	}
}

/* Takes the next token; `position` is any number by which the caller knows it. */
void
spot_finder_add(SpotFinder *finder, uint64_t token_hash, size_t position)
{
	if (word_set_has(finder->words->antecedents, token_hash))
		add_antecedent(finder, token_hash, position);
	else if (!word_set_has(finder->words->stop_words, token_hash))
		add_content(finder, token_hash, position);
}

/* ---- Shingles ------------------------------------------------------------ */

/* Returns the hash of a signature, an element of the set. */
uint64_t
spot_hash(const Spot *spot)
{
	uint64_t sum = 0;

	for (int i = 0; i < spot->words; i++)
		sum = sum * SHINGLE_MULTIPLIER + spot->hash[i];
	return mix64(sum);
}

/* Passes hashes from a finder to a sink, many at a time. */
typedef struct SpotStream
{
	SpotFinder *finder;
	HashSink sink;
	void *state;
	size_t count;
	uint64_t hash[STREAM_MAX];
} SpotStream;

/* A SpotSink with a SpotStream as its state. */
static void
stream_spot(void *state, const Spot *spot)
{
	SpotStream *stream = state;
	uint64_t hash = spot_hash(spot);

	for (uint64_t i = 0; i < spot->count; i++)
	{
		stream->hash[stream->count++] = hash;
		if (stream->count < STREAM_MAX)
			continue;
		host_check_interrupts();
		stream->sink(stream->state, stream->hash, stream->count);
		stream->count = 0;
	}
}

/* A TokenSink with a SpotStream as its state. */
static void
find_spots(void *state, const TokenBatch *batch)
{
	SpotStream *stream = state;

	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		/* A token may start many chains. */
		host_check_interrupts();
		spot_finder_add(stream->finder, shingle_of_token(token, length), 0);
	}
}

/* Gives the hashes of spot signatures to sink like shingle_text, in the order of their ends. */
void
spots_of_text(const char *utf8, size_t length, const SpotWords *words, HashSink sink, void *state)
{
	SpotStream stream;

	stream.finder = spot_finder_begin(words, stream_spot, &stream);
	stream.sink = sink;
	stream.state = state;
	stream.count = 0;
	tokens_of_text(utf8, length, find_spots, &stream);
	if (stream.count > 0)
		sink(state, stream.hash, stream.count);
	spot_finder_end(stream.finder);
}
