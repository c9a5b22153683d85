/*
 * sign.c: signers and lexicons.
 */
#include "library/session.h"

#include "sketch/counts.h"

/* ---- Schemes ------------------------------------------------------------ */

/* Returns the scheme of a name, which must read text; fails if there is none. */
SchemeId
scheme_of_name(const char *name)
{
	SchemeId scheme;

	if (!scheme_parse(name, strlen(name), &scheme) || !scheme_is_valid(scheme))
		session_fail(NEARDUP_INVALID,
					 "unknown shingling scheme \"%.40s\": the schemes are \"word W\", \"char K\", \"anychar K\", \"stopword W\" and \"spot D C\"",
					 name);
	if (!scheme_reads_text(scheme))
		session_fail(NEARDUP_INVALID, "scheme \"%.40s\" does not read text by itself", name);
	return scheme;
}

/* ---- Lexicons ----------------------------------------------------------- */

/* Returns a lexicon of its parts, which become its own. */
static neardup_lexicon *
lexicon_new(const LexiconParts *parts)
{
	neardup_lexicon *lexicon = host_alloc(sizeof(neardup_lexicon));

	lexicon->parts = *parts;
	weights_begin(&lexicon->weights, parts->key, parts->weight, parts->count);
	lexicon->weighed =
		lexicon_weighed_scheme(parts->scheme,
							   weights_digest(parts->scheme, parts->documents, parts->key,
											  parts->weight, parts->count));
	return lexicon;
}

/* Returns a copy of a text that ends in a zero instead of line ends. */
static char *
copy_of_text(const char *text, size_t length)
{
	char *copy = host_alloc(length + 1);

	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

neardup_code
neardup_lexicon_read(neardup_session *session, const void *bytes, size_t length,
					 neardup_lexicon **lexicon)
{
	bool text = length > 0 && *(const char *) bytes != LEXICON_LAYOUT;
	FormReader reader;
	LexiconParts parts;

	SESSION_BEGIN(session);
	reader = reader_of(text ? copy_of_text(bytes, length) : bytes, length);
	if (!(text ? lexicon_parse : lexicon_receive)(&reader, &parts) || reader.cut)
		session_fail(NEARDUP_MALFORMED, "this is no lexicon: %s",
					 reader.cut ? "Its end is missing." : reader.defect);
	if (parts.version != RECIPE_VERSION)
		session_fail(NEARDUP_MISMATCH, "cannot use a lexicon of recipe version %d", parts.version);
	if (text)
		host_free((void *) reader.input);
	*lexicon = lexicon_new(&parts);
	return session_end();
}

neardup_code
neardup_lexicon_write(neardup_session *session, const neardup_lexicon *lexicon,
					  neardup_bytes *bytes)
{
	FormWriter writer = {0};

	SESSION_BEGIN(session);
	lexicon_send(&writer, &lexicon->parts);
	*bytes = (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
	return session_end();
}

neardup_code
neardup_lexicon_print(neardup_session *session, const neardup_lexicon *lexicon, neardup_bytes *text)
{
	FormWriter writer = {0};

	SESSION_BEGIN(session);
	lexicon_print(&writer, &lexicon->parts);
	*text = (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
	return session_end();
}

void
neardup_lexicon_free(neardup_session *session, neardup_lexicon *lexicon)
{
	if (lexicon == NULL)
		return;
	neardup_free(session, lexicon->weights.start);
	neardup_free(session, lexicon->parts.key);
	neardup_free(session, lexicon->parts.weight);
	neardup_free(session, lexicon);
}

/* ---- Learning ----------------------------------------------------------- */

/* The counts are memory of a session of their own, which an error of any call frees. */
struct neardup_learner
{
	neardup_session own;
	SchemeId scheme;
	uint32_t entries;
	ElementCounts counts;
};

/* Tells the caller's session the outcome of a call. */
static neardup_code
tell(neardup_session *session, const neardup_learner *learner, neardup_code code)
{
	if (code != NEARDUP_OK)
		memcpy(session->message, learner->own.message, sizeof(session->message));
	return code;
}

/* As much as the server takes, unless it is told otherwise. */
#define MEMORY_USUAL ((size_t) 64 << 20)

/* Begins to count. */
static neardup_code
begin_counts(neardup_learner *learner, const char *scheme, uint32_t entries, size_t memory)
{
	SESSION_BEGIN(&learner->own);
	learner->scheme = scheme_of_name(scheme);
	if (!lexicon_weighs(RECIPE_VERSION, learner->scheme))
		session_fail(NEARDUP_INVALID, "a lexicon cannot have scheme \"%s\"", scheme);
	if (entries < 1 || entries > LEXICON_ENTRIES_MAX)
		session_fail(NEARDUP_INVALID, "a lexicon has from 1 to %d entries", LEXICON_ENTRIES_MAX);
	learner->entries = entries;
	counts_begin(&learner->counts,
				 Max((memory > 0 ? memory : MEMORY_USUAL) / COUNTS_BYTES, 2 * (size_t) entries));
	return session_pause();
}

neardup_code
neardup_learner_new(neardup_session *session, const char *scheme, uint32_t entries, size_t memory,
					neardup_learner **learner)
{
	neardup_learner *made;
	neardup_code code;

	SESSION_BEGIN(session);
	made = host_alloc(sizeof(neardup_learner));
	session_inherit(&made->own, session);
	(void) session_end();
	code = tell(session, made, begin_counts(made, scheme, entries, memory));
	if (code == NEARDUP_OK)
		*learner = made;
	else
		neardup_free(session, made);
	return code;
}

/* Counts the shingles of a text. */
static neardup_code
count_text(neardup_learner *learner, const char *utf8, size_t length)
{
	SESSION_BEGIN(&learner->own);
	if (learner->own.code != NEARDUP_OK)
		session_fail(learner->own.code, "the lexicon was given up after an error");
	counts_next(&learner->counts);
	shingle_text(utf8, length, learner->scheme, counts_add, &learner->counts);
	return session_pause();
}

neardup_code
neardup_learn(neardup_session *session, neardup_learner *learner, const char *utf8, size_t length)
{
	return tell(session, learner, count_text(learner, utf8, length));
}

/* Makes the lexicon, and frees the counts. */
static neardup_code
finish_counts(neardup_learner *learner, double share, neardup_lexicon **lexicon)
{
	LexiconParts parts = {.version = RECIPE_VERSION,
						  .scheme = learner->scheme,
						  .documents = learner->counts.documents};

	SESSION_BEGIN(&learner->own);
	if (learner->own.code != NEARDUP_OK)
		session_fail(learner->own.code, "the lexicon was given up after an error");
	if (!(share > 0 && share <= 1))
		session_fail(NEARDUP_INVALID, "the share must be above 0, and at most 1");
	if (parts.documents < 2)
		session_fail(NEARDUP_INVALID, "a lexicon needs at least two documents");
	parts.count =
		counts_finish(&learner->counts, learner->entries, share, &parts.key, &parts.weight);
	if (parts.count > LEXICON_ENTRIES_MAX)
		session_fail(NEARDUP_TOO_LARGE,
					 "the lexicon has more than %d entries: raise the share, or lower the entries",
					 LEXICON_ENTRIES_MAX);
	*lexicon = lexicon_new(&parts);
	learner->own.code = NEARDUP_INVALID;
	return session_end();
}

neardup_code
neardup_learner_finish(neardup_session *session, neardup_learner *learner, double share,
					   neardup_lexicon **lexicon)
{
	return tell(session, learner, finish_counts(learner, share, lexicon));
}

void
neardup_learner_free(neardup_session *session, neardup_learner *learner)
{
	if (learner == NULL)
		return;
	(void) session_begin(&learner->own);
	(void) session_give_up();
	neardup_free(session, learner);
}

/* ---- Signers ------------------------------------------------------------ */

/* Fails unless a signer can make this. */
static void
check_shape(neardup_kind kind, int k, int b, const neardup_lexicon *lexicon)
{
	if (kind == NEARDUP_MINHASH && !minhash_shape_is_valid(k, b))
		session_fail(NEARDUP_INVALID,
					 "there is no minhash(%d, %d): k is from %d to %d, b is 1, 2, 4, 8, 16 or 32, and k * b is at most %d",
					 k, b, MINHASH_K_MIN, MINHASH_K_MAX, MINHASH_BITS_MAX);
	if (kind == NEARDUP_SIMHASH && (!simhash_shape_is_valid(k) || b != 1))
		session_fail(NEARDUP_INVALID,
					 "there is no simhash(%d): f is 64, 128, 256 or 512, and b is 1", k);
	if (kind == NEARDUP_SIMHASH && lexicon != NULL)
		session_fail(NEARDUP_INVALID, "a lexicon weighs minhash and shingles, not simhash");
	if (kind != NEARDUP_MINHASH && kind != NEARDUP_SIMHASH && kind != NEARDUP_SHINGLES)
		session_fail(NEARDUP_INVALID, "kind %d cannot be made of texts", (int) kind);
}

neardup_code
neardup_signer_new(neardup_session *session, neardup_kind kind, int k, int b, const char *scheme,
				   const neardup_lexicon *lexicon, neardup_signer **signer)
{
	neardup_signer *made;
	SchemeId weighed;

	SESSION_BEGIN(session);
	check_shape(kind, k, b, lexicon);
	made = host_alloc(sizeof(neardup_signer));
	memset(made, 0, sizeof(*made));
	made->kind = kind;
	made->maker.scheme = weighed = scheme_of_name(scheme != NULL              ? scheme :
													  kind == NEARDUP_SIMHASH ? "word 1" :
																				"word 3");
	if (lexicon != NULL)
	{
		if (scheme != NULL && made->maker.scheme != lexicon->parts.scheme)
			session_fail(NEARDUP_MISMATCH, "the lexicon is not of scheme \"%s\"", scheme);
		made->maker.scheme = lexicon->parts.scheme;
		made->maker.weights = &lexicon->weights;
		weighed = lexicon->weighed;
	}
	made->maker.header =
		signature_header(kind == NEARDUP_MINHASH ? SIGNATURE_MINHASH : SIGNATURE_SIMHASH, k,
						 kind == NEARDUP_SHINGLES ? 1 : b, weighed);
	*signer = made;
	return session_end();
}

void
neardup_signer_free(neardup_session *session, neardup_signer *signer)
{
	neardup_free(session, signer);
}

size_t
neardup_signature_size(const neardup_signer *signer)
{
	return signer->kind == NEARDUP_SHINGLES ? 0 : signature_size(&signer->maker.header);
}

/* ---- Signing ------------------------------------------------------------ */

neardup_code
neardup_sign(neardup_session *session, const neardup_signer *signer, const char *utf8,
			 size_t length, uint8_t *signature)
{
	return neardup_sign_many(session, signer, 1, &utf8, &length, signature);
}

neardup_code
neardup_sign_many(neardup_session *session, const neardup_signer *signer, size_t count,
				  const char *const *utf8, const size_t *length, uint8_t *signatures)
{
	SESSION_BEGIN(session);
	if (neardup_signature_size(signer) == 0)
		session_fail(NEARDUP_INVALID, "shingles have no fixed size");
	for (size_t i = 0; i < count; i++)
	{
		uint8_t *to = signatures + i * neardup_signature_size(signer);
		Signature made = signature_of_text(&signer->maker, utf8[i], length[i],
										   to + SIGNATURE_SYMBOLS_AT(signer->maker.header.flags));

		signature_send_header(&made, to);
	}
	return session_end();
}

neardup_code
neardup_shingles(neardup_session *session, const neardup_signer *signer, const char *utf8,
				 size_t length, neardup_bytes *shingles)
{
	const SignatureMaker *maker = &signer->maker;
	FormWriter writer = {0};
	BagBuilder builder;
	Bag bag;

	SESSION_BEGIN(session);
	bag_begin(&builder);
	shingle_text(utf8, length, maker->scheme, bag_add, &builder);
	if (!bag_finish(&builder, &bag))
		session_fail(NEARDUP_TOO_LARGE, "the text has too many shingles");
	if (maker->weights != NULL)
	{
		Bag plain = bag;

		bag = bag_weigh(&plain, maker->weights);
		bag_free(&plain);
	}
	bag_send(&writer, RECIPE_VERSION, maker->header.scheme, &bag);
	bag_free(&bag);
	*shingles = (neardup_bytes){(uint8_t *) writer.bytes, writer.length};
	return session_end();
}
