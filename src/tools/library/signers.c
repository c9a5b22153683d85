/*
 * signers.c: lexicons of texts, and signers.
 */
#include "library/session.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/defaults.h"
#include "base/hash.h"
#include "sketch/common_elements.h"
#include "sketch/counts.h"
#include "text/mask.h"

const neardup_default *
neardup_defaults(void)
{
	static const neardup_default defaults = {.k = DEFAULT_MINHASH_K,
											 .b = DEFAULT_MINHASH_B,
											 .f = DEFAULT_SIMHASH_F,
											 .entries = DEFAULT_LEXICON_ENTRIES,
											 .share = DEFAULT_LEXICON_SHARE,
											 .threshold = DEFAULT_THRESHOLD,
											 .decided_k = DEFAULT_DECIDED_K,
											 .decided_b = DEFAULT_DECIDED_B};

	return &defaults;
}

/* Returns the scheme of a name, which must read text; fails if there is none. */
static SchemeId
scheme_of_name(const char *name)
{
	SchemeId scheme;

	if (!scheme_parse(name, strlen(name), &scheme) || !scheme_is_valid(scheme))
		session_fail(NEARDUP_INVALID,
					 "unknown shingling scheme \"%.40s\": the schemes are " SCHEME_NAMES(", ") " and \"spot D C\"",
					 name);
	if (!scheme_reads_text(scheme))
		session_fail(NEARDUP_INVALID, "scheme \"%.40s\" does not read text by itself", name);
	return scheme;
}

/* ---- Lexicons ----------------------------------------------------------- */

/* Bytes of a text for each of its shingles, about. */
#define TEXT_BYTES 6

/* As much as the server takes by default. */
#define MEMORY_USUAL ((size_t) 64 << 20)

/* Fails unless a lexicon can have a scheme and a share; returns the scheme, which has a default. */
static SchemeId
check_learning(const char *name, const char *usual, double share)
{
	SchemeId scheme = scheme_of_name(name != NULL ? name : usual);

	if (!lexicon_weighs(RECIPE_VERSION, scheme))
		session_fail(NEARDUP_INVALID, "a lexicon cannot have scheme \"%s\"", name);
	if (!(share > 0 && share <= 1))
		session_fail(NEARDUP_INVALID, "the share must be above 0, and at most 1");
	return scheme;
}

/* Fails if a lexicon has too many entries. */
static void
check_entries(const LexiconParts *parts)
{
	if (parts->count > LEXICON_ENTRIES_MAX)
		session_fail(NEARDUP_TOO_LARGE,
					 "the lexicon has more than %d entries: raise the share, or lower the entries",
					 LEXICON_ENTRIES_MAX);
}

neardup_code
neardup_learn(neardup_session *session, const char *scheme, uint32_t entries, double share,
			  size_t memory, neardup_next next, void *state, neardup_bytes *lexicon)
{
	Value value = {.kind = NEARDUP_LEXICON, .lexicon = {.version = RECIPE_VERSION}};
	LexiconParts *parts = &value.lexicon;
	ElementCounts counts;
	const char *utf8;
	size_t length;
	uint64_t source = 0;

	SESSION_BEGIN(session);
	parts->scheme = check_learning(scheme, DEFAULT_SCHEME_SINGLE, share);
	if (entries < 1 || entries > LEXICON_ENTRIES_MAX)
		session_fail(NEARDUP_INVALID, "a lexicon has from 1 to %d entries", LEXICON_ENTRIES_MAX);
	counts_begin(&counts,
				 Max((memory > 0 ? memory : MEMORY_USUAL) / COUNTS_BYTES, 2 * (size_t) entries));
	while (next(state, &utf8, &length, &source))
	{
		counts_next(&counts);
		shingle_text(utf8, length, parts->scheme, counts_add, &counts);
	}
	parts->documents = counts.documents;
	if (parts->documents < 2)
		session_fail(NEARDUP_INVALID, "a lexicon needs at least two documents");
	parts->count = counts_finish(&counts, entries, share, &parts->key, &parts->weight);
	check_entries(parts);
	*lexicon = value_write(&value, false);
	return session_end();
}

neardup_code
neardup_common(neardup_session *session, const char *scheme, double share, size_t memory,
			   neardup_next next, void *state, size_t *count, neardup_bytes *lexicon)
{
	Value value = {.kind = NEARDUP_LEXICON, .lexicon = {.version = RECIPE_VERSION}};
	LexiconParts *parts = &value.lexicon;
	CommonElements *common;
	const char *utf8;
	size_t length;
	uint64_t source = 0;

	SESSION_BEGIN(session);
	common = host_alloc(sizeof(CommonElements));
	parts->scheme = check_learning(scheme, DEFAULT_SCHEME, share);
	common_begin(common, share, memory > 0 ? memory : MEMORY_USUAL);
	for (; next(state, &utf8, &length, &source); source = 0)
	{
		MinhashBuilder builder;

		minhash_begin(&builder, length / TEXT_BYTES);
		shingle_text(utf8, length, parts->scheme, minhash_add, &builder);
		common_add(common, source, builder.element, builder.table.count);
		table_end(&builder.table);
		host_free(builder.element);
	}
	parts->documents = common->documents;
	parts->count = common_finish(common, &parts->key);
	check_entries(parts);
	parts->weight = host_alloc(parts->count + 1);
	memset(parts->weight, 0, parts->count);
	if (count != NULL)
		*count = parts->count;
	*lexicon = value_write(&value, false);
	return session_end();
}

/* Returns a lexicon of bytes in binary format or of a text, with line ends behind it or not. */
static LexiconParts
signer_read_lexicon(const char *bytes, size_t length)
{
	bool text = length > 0 && *bytes != LEXICON_LAYOUT;
	char *copy = host_alloc(length + 1);
	Value value;

	memcpy(copy, bytes, length);
	while (text && length > 0 && strchr("\r\n", copy[length - 1]) != NULL)
		length--;
	copy[length] = '\0';
	value = value_read(NEARDUP_LEXICON, copy, length, text);
	if (value.lexicon.version != RECIPE_VERSION)
		session_fail(NEARDUP_MISMATCH, "cannot use a lexicon of recipe version %d",
					 value.lexicon.version);
	return value.lexicon;
}

/* ---- Signers ------------------------------------------------------------ */

/* Fails unless a signer can make this. */
static void
signer_check_shape(neardup_kind kind, int k, int b, bool weighed)
{
	if (kind == NEARDUP_MINHASH && !minhash_shape_is_valid(k, b))
		session_fail(NEARDUP_INVALID,
					 "there is no minhash(%d, %d): k is from %d to %d, b is 1, 2, 4, 8, 16 or 32, and k * b is at most %d",
					 k, b, MINHASH_K_MIN, MINHASH_K_MAX, MINHASH_BITS_MAX);
	if (kind == NEARDUP_SIMHASH && (!simhash_shape_is_valid(k) || b != 1))
		session_fail(NEARDUP_INVALID,
					 "there is no simhash(%d): f is 64, 128, 256 or 512, and b is 1", k);
	if (kind == NEARDUP_SIMHASH && weighed)
		session_fail(NEARDUP_INVALID, "a lexicon weighs minhash and shingles, not simhash");
	if (kind != NEARDUP_MINHASH && kind != NEARDUP_SIMHASH && kind != NEARDUP_SHINGLES)
		session_fail(NEARDUP_INVALID, "kind %d cannot be made of texts", (int) kind);
}

/* Lets a signer weigh shingles by its lexicon; returns the scheme of what it makes. */
static SchemeId
weigh(neardup_signer *signer, const char *scheme)
{
	const LexiconParts *lexicon = &signer->lexicon;

	if (scheme != NULL && scheme_of_name(scheme) != lexicon->scheme)
		session_fail(NEARDUP_MISMATCH, "the lexicon is not of scheme \"%s\"", scheme);
	weights_begin(&signer->weights, lexicon->key, lexicon->weight, lexicon->count);
	signer->weights.whole = &signer->whole;
	signer->maker.weights = &signer->weights;
	signer->maker.scheme = lexicon->scheme;
	return lexicon_weighed_scheme(lexicon->scheme,
								  weights_digest(lexicon->scheme, lexicon->documents, lexicon->key,
												 lexicon->weight, lexicon->count));
}

neardup_code
neardup_signer_new(neardup_session *session, neardup_kind kind, int k, int b, const char *scheme,
				   const void *lexicon, size_t length, neardup_signer **signer)
{
	neardup_signer *made;
	SchemeId weighed;

	SESSION_BEGIN(session);
	made = host_alloc(sizeof(neardup_signer));
	signer_check_shape(kind, k, b, lexicon != NULL);
	*made = (neardup_signer){.kind = kind, .secret = host_random_seed()};
	if (lexicon != NULL)
	{
		made->lexicon = signer_read_lexicon(lexicon, length);
		weighed = weigh(made, scheme);
	}
	else
		weighed = made->maker.scheme =
			scheme_of_name(scheme != NULL              ? scheme :
							   kind == NEARDUP_SIMHASH ? DEFAULT_SCHEME_SINGLE :
														 DEFAULT_SCHEME);
	made->maker.header =
		signature_header(kind == NEARDUP_MINHASH ? SIGNATURE_MINHASH : SIGNATURE_SIMHASH, k,
						 kind == NEARDUP_SHINGLES ? 1 : b, weighed);
	session_keep(made->lexicon.key);
	session_keep(made->lexicon.weight);
	session_keep(made->weights.start);
	session_keep(made);
	*signer = made;
	return session_end();
}

void
neardup_signer_free(neardup_session *session, neardup_signer *signer)
{
	if (signer == NULL)
		return;
	(void) session_begin(session);
	host_free(signer->lexicon.key);
	host_free(signer->lexicon.weight);
	host_free(signer->weights.start);
	if (signer->memory != NULL)
		memory_end(signer->memory);
	host_free(signer);
	(void) session_end();
}

size_t
neardup_signer_whole(const neardup_signer *signer)
{
	return __atomic_load_n(&signer->whole, __ATOMIC_RELAXED);
}

size_t
neardup_signature_size(const neardup_signer *signer)
{
	return signer->kind == NEARDUP_SHINGLES ? 0 : signature_size(&signer->maker.header);
}

/* ---- Digests ------------------------------------------------------------ */

/* What digests are made of. */
typedef struct Digester
{
	neardup_session *session;
	const neardup_signer *signer;
	uint64_t digest;
} Digester;

/* Returns the sum of secret hashes of the elements that have a weight, or of all if none has. */
static uint64_t
sum_of_weighed(const neardup_signer *signer, const uint64_t *element, size_t count)
{
	uint64_t sum = 0;
	uint64_t all = 0;
	bool weighed = false;

	for (size_t i = 0; i < count; i++)
	{
		uint64_t hash = mix64(element[i] + signer->secret);
		bool weighs = weight_of(signer->maker.weights, element[i]) > 0;

		weighed = weighed || weighs;
		all += hash;
		sum += weighs ? hash : 0;
	}
	return weighed ? sum : all;
}

/*
 * Makes the digest of elements: the sum of secret hashes, and the tag of the memory that has them.
 * Returns whether their minhash is made at once.
 */
static bool
signer_take_elements(void *state, const uint64_t *element, size_t count)
{
	Digester *digester = state;
	const neardup_signer *signer = digester->signer;
	Memory *memory = signer->memory;
	uint64_t sum = 0;

	if (signer->maker.weights != NULL)
	{
		digester->digest = sum_of_weighed(signer, element, count) << 8;
		return true;
	}
	for (size_t i = 0; i < count; i++)
		sum += mix64(element[i] + signer->secret);
	digester->digest = sum << 8 | (memory != NULL ? memory->tag : 0);
	return DIGEST_TAG(digester->digest) == 0 ||
		!remember_set(digester->session, memory, digester->digest, element, count) ||
		!memory->later;
}

/* ---- Signing ------------------------------------------------------------ */

/* Makes the signature of a text, and a digest of its set unless that is NULL. */
void
make_signature(neardup_session *session, const neardup_signer *signer, const char *utf8,
			   size_t length, uint8_t *to, uint64_t *digest)
{
	SignatureMaker maker = signer->maker;
	Digester digester = {session, signer};
	Signature made;

	maker.take = digest != NULL ? signer_take_elements : NULL;
	maker.state = &digester;
	made = signature_of_text(&maker, utf8, length, to + SIGNATURE_SYMBOLS_AT(maker.header.flags));
	signature_send_header(&made, to);
	if (digest != NULL)
		*digest = digester.digest;
}

/* Makes the set of a text. */
Value
set_of_text(const SignatureMaker *maker, const char *utf8, size_t length)
{
	Value value = {.kind = NEARDUP_SHINGLES, .signature.header = maker->header};
	BagBuilder builder;

	bag_begin(&builder);
	shingle_text(utf8, length, maker->scheme, bag_add, &builder);
	if (!bag_finish(&builder, &value.bag))
		session_fail(NEARDUP_TOO_LARGE, "the text has too many shingles");
	if (maker->weights != NULL)
	{
		Bag all = value.bag;

		value.bag = bag_weigh(&all, maker->weights);
		bag_free(&all);
	}
	return value;
}

neardup_code
neardup_sign(neardup_session *session, const neardup_signer *signer, const char *utf8,
			 size_t length, neardup_bytes *bytes)
{
	SESSION_BEGIN(session);
	if (signer->kind == NEARDUP_SHINGLES)
	{
		Value value = set_of_text(&signer->maker, utf8, length);

		*bytes = value_write(&value, false);
	}
	else
	{
		uint8_t *made = host_alloc(neardup_signature_size(signer));

		make_signature(session, signer, utf8, length, made, NULL);
		session_keep(made);
		*bytes = (neardup_bytes){made, neardup_signature_size(signer)};
	}
	return session_end();
}

/* The words of a text. */
typedef struct Words
{
	uint64_t hash;
	uint64_t count;
} Words;

/* A TokenSink: adds words. */
static void
signer_add_words(void *state, const TokenBatch *batch)
{
	Words *words = state;

	host_check_interrupts();
	for (size_t i = 0; i < batch->count; i++)
	{
		size_t length;
		const char *token = batch_token(batch, i, &length);

		words->hash = XXH3_64bits_withSeed(token, length, words->hash);
	}
	words->count += batch->count;
}

neardup_code
neardup_mask(neardup_session *session, const char *what, const char *utf8, size_t length,
			 neardup_bytes *masked)
{
	unsigned kinds;

	SESSION_BEGIN(session);
	if (!mask_parse(what, strlen(what), &kinds))
		session_fail(NEARDUP_INVALID, "cannot mask \"%.80s\": write one or more of %s", what,
					 mask_names);
	masked->bytes = host_alloc(length + 1);
	masked->length = mask_text(utf8, length, kinds, (char *) masked->bytes);
	session_keep(masked->bytes);
	return session_end();
}

neardup_code
neardup_hash_words(neardup_session *session, const char *utf8, size_t length, uint64_t *hash,
				   uint64_t *words)
{
	Words found = {.hash = *hash};

	SESSION_BEGIN(session);
	tokens_of_text(utf8, length, signer_add_words, &found);
	*hash = found.hash;
	*words = found.count;
	return session_end();
}

/* ---- Columns ------------------------------------------------------------ */

/* Returns entry `position`, a number, which need not be aligned. */
static int64_t
number_at(const neardup_column *texts, size_t position)
{
	const char *from = (const char *) texts->entry + position * texts->width;
	uint16_t two;
	int32_t four;
	int64_t eight;

	switch (texts->width)
	{
		case 1:
			return *(const uint8_t *) from;
		case 2:
			memcpy(&two, from, sizeof(two));
			return two;
		case 4:
			memcpy(&four, from, sizeof(four));
			return four;
		case 8:
			memcpy(&eight, from, sizeof(eight));
			return eight;
	}
	session_fail(NEARDUP_INVALID, "a column has no entries of %d bytes", texts->width);
}

/* Returns a number that is at least 0, and at most `most`. */
static int64_t
check_entry(int64_t number, int64_t most)
{
	if (number < 0 || number > most)
		session_fail(NEARDUP_MALFORMED, "an entry of the column is out of range");
	return number;
}

/* Reads a view: a length, and the text itself if it has at most 12 bytes, or its buffer and position. */
static ColumnText
text_of_view(const neardup_column *texts, size_t position)
{
	const char *view = (const char *) texts->entry + position * 16;
	int32_t part[4];

	memcpy(part, view, sizeof(part));
	if (check_entry(part[0], INT32_MAX) <= 12)
		return (ColumnText){view + sizeof(int32_t), part[0]};
	return (ColumnText){(const char *) texts->buffer[part[2]] + part[3], part[0]};
}

/* Returns a text of a column. */
ColumnText
text_at(const neardup_column *texts, size_t i)
{
	const neardup_column *dictionary = texts->dictionary;
	size_t position = texts->first + i;
	int64_t start;
	int64_t end;

	if (texts->validity != NULL && (texts->validity[position / 8] >> position % 8 & 1) == 0)
		return (ColumnText){"", 0, true};
	if (dictionary != NULL)
		return text_at(dictionary,
					   check_entry(number_at(texts, position), (int64_t) dictionary->count - 1));
	if (texts->width == 16)
		return text_of_view(texts, position);
	end = check_entry(number_at(texts, position + 1), INT64_MAX);
	start = check_entry(number_at(texts, position), end);
	return (ColumnText){start < end ? (const char *) texts->data + start : "", end - start};
}

/* Fails unless a column can have texts. */
void
check_column(const neardup_column *texts)
{
	if (texts->dictionary == NULL && texts->width < (int) sizeof(int32_t))
		session_fail(NEARDUP_INVALID, "a column of texts has no entries of %d bytes", texts->width);
}

/* Writes the sets of a column's texts. */
static neardup_bytes
sign_sets(const SignatureMaker *maker, const neardup_column *texts, bool *null, uint64_t *offset)
{
	FormWriter writer = {0};

	(void) form_extend(&writer, 0);
	offset[0] = 0;
	for (size_t i = 0; i < texts->count; i++)
	{
		ColumnText text = text_at(texts, i);
		Value value = set_of_text(maker, text.utf8, text.length);

		host_check_interrupts();
		if (null != NULL)
			null[i] = text.null;
		bag_send(&writer, maker->header.version, maker->header.scheme, &value.bag);
		bag_free(&value.bag);
		offset[i + 1] = writer.length;
	}
	session_keep(writer.bytes);
	return (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
}

/* Writes the signatures of a column's texts. */
static void
sign_texts(neardup_session *session, const neardup_signer *signer, const neardup_column *texts,
		   bool *null, uint8_t *signatures, uint64_t *digest)
{
	size_t size = neardup_signature_size(signer);

	for (size_t i = 0; i < texts->count; i++)
	{
		ColumnText text = text_at(texts, i);

		host_check_interrupts();
		if (null != NULL)
			null[i] = text.null;
		make_signature(session, signer, text.utf8, text.length, signatures + i * size,
					   digest != NULL ? digest + i : NULL);
	}
}

neardup_code
neardup_sign_column(neardup_session *session, const neardup_signer *signer,
					const neardup_column *texts, bool *null, uint8_t *signatures,
					neardup_bytes *sets, uint64_t *offset, uint64_t *digest)
{
	SESSION_BEGIN(session);
	check_column(texts);
	if (signer->kind == NEARDUP_SHINGLES)
		*sets = sign_sets(&signer->maker, texts, null, offset);
	else
		sign_texts(session, signer, texts, null, signatures, digest);
	return session_end();
}
