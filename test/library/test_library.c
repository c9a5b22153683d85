/*
 * test_library.c: the library by its header alone, on any processor.
 */
#include "library/neardup.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>

#include "random.h"
#include "unit.h"

/* ---- A host that counts memory, and fails or cancels when it is told to ---- */

typedef struct Counts
{
	long blocks;
	long left;   /* allocations until one fails; below 0: none does */
	long checks; /* until one cancels; below 0: none does */
} Counts;

static void *
counted_resize(void *state, void *memory, size_t bytes)
{
	Counts *counts = state;

	if (bytes == 0)
	{
		counts->blocks--;
		free(memory);
		return NULL;
	}
	if (counts->left == 0)
		return NULL;
	counts->left--;
	counts->blocks += memory == NULL;
	return realloc(memory, bytes);
}

static bool
counted_cancelled(void *state)
{
	Counts *counts = state;

	return counts->checks-- == 0;
}

/* Bytes of minhash(512, 1). */
#define SIZE 76

/* ---- Bits --------------------------------------------------------------- */

/* A text of words in scripts that are written with and without spaces, with marks, capitals and symbols. */
static const char mixed[] =
	"Der Fluß fließt; THE RIVER was wide, ﬁne and 2²=4. Ёлка и река ΣΊΣΥΦΟΣ — été e\xCC\x81te\xCC\x81 "
	"नदी चौड़ी है। แม่น้ำกว้าง 川は広い 강은 넓다 نهر واسع נהר רחב მდინარე 🙂🙂 Ⅻ ½ the end of it";

/* What the server says of it, as test/library/command.pl compares in all scripts. */
static const struct
{
	neardup_kind kind;
	int k;
	int b;
	const char *scheme;
	const char *text;
} vectors[] = {
	{NEARDUP_MINHASH, 512, 1, "word 3",
	 "1/word 3/512x1/44/5bcfdccaf008fbc65ec882421c834394ccef388df78d628daeabfbfacb61a7a214"
	 "714c634835883178f0612870d1b1e39ab965f8ce940bcceded8b37c7b3fb02"},
	{NEARDUP_MINHASH, 64, 4, "char 5",
	 "1/char 5/64x4/166/0486da743df4126b8b5ce6f782fffc744c3c1b16d7722932a5ffc41859f202be"},
	{NEARDUP_MINHASH, 100, 2, "anychar 4",
	 "1/anychar 4/100x2/164/0caa0dc656133fedd2c59b9c0fbd7774695f9eff5cb2b88de4"},
	{NEARDUP_MINHASH, 64, 1, "stopword 2", "1/stopword 2/64x1/5/f5a9bf3dfccbf534"},
	{NEARDUP_SIMHASH, 128, 1, "word 1", "1/word 1/128/c80d9e13414a29161e05052e09c80f3a"},
	{NEARDUP_SHINGLES, 0, 0, "spot 1 2", "1/spot 1 2/{-3244458544749461762}"},
};

static void
test_vectors(neardup_session *session)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
	{
		neardup_signer *signer;
		neardup_bytes value = {NULL, 0};
		neardup_bytes text;
		neardup_bytes parsed;

		CHECK(neardup_signer_new(session, vectors[i].kind, vectors[i].k, vectors[i].b,
								 vectors[i].scheme, NULL, 0, &signer) == NEARDUP_OK);
		CHECK(neardup_sign(session, signer, mixed, strlen(mixed), &value) == NEARDUP_OK);
		CHECK(neardup_print(session, vectors[i].kind, value.bytes, value.length, &text) ==
			  NEARDUP_OK);
		CHECK_MSG(strcmp((char *) text.bytes, vectors[i].text) == 0, "%s is %s", vectors[i].scheme,
				  (char *) text.bytes);
		CHECK(neardup_parse(session, vectors[i].kind, (char *) text.bytes, &parsed) == NEARDUP_OK);
		CHECK(parsed.length == value.length &&
			  memcmp(parsed.bytes, value.bytes, value.length) == 0);
		neardup_free(session, parsed.bytes);
		neardup_free(session, text.bytes);
		neardup_free(session, value.bytes);
		neardup_signer_free(session, signer);
	}
}

/* ---- Many values -------------------------------------------------------- */

#define VALUES 300

/* Signs a text, as a column of its own. */
static neardup_code
sign_to(neardup_session *session, const neardup_signer *signer, const char *utf8, int64_t length,
		uint8_t *signature)
{
	int64_t entry[2] = {0, length};
	neardup_column column = {.count = 1,
							 .entry = entry,
							 .width = sizeof(int64_t),
							 .data = (const uint8_t *) utf8};

	return neardup_sign_column(session, signer, &column, NULL, signature, NULL, NULL, NULL);
}

/* Signs texts of which each third has most words of the one before. */
static void
sign_texts(neardup_session *session, uint8_t *signatures)
{
	neardup_signer *signer;
	neardup_bytes one;

	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, "word 1", NULL, 0, &signer) ==
		  NEARDUP_OK);
	CHECK(neardup_signature_size(signer) == SIZE);
	for (int i = 0; i < VALUES; i++)
	{
		char text[1000];
		size_t length = 0;

		for (int word = 0; word < 50; word++)
			length += snprintf(text + length, sizeof(text) - length, "%d ",
							   word * 1000 + (i % 3 == 2 && word > 4 ? i - 1 : i));
		CHECK(sign_to(session, signer, text, length, signatures + i * SIZE) == NEARDUP_OK);
		CHECK(neardup_sign(session, signer, text, length, &one) == NEARDUP_OK);
		CHECK(one.length == SIZE && memcmp(one.bytes, signatures + i * SIZE, SIZE) == 0);
		neardup_free(session, one.bytes);
	}
	memcpy(signatures + 200 * SIZE, signatures + 9 * SIZE, SIZE);
	neardup_signer_free(session, signer);
}

static void
test_clusters(neardup_session *session)
{
	static uint8_t signatures[VALUES * SIZE];
	static uint32_t keeper[VALUES];
	static uint32_t chosen[VALUES];
	neardup_values values = {NEARDUP_MINHASH, VALUES, signatures, SIZE};
	neardup_options options = {.threshold = 0.7};
	neardup_pair *pairs;
	size_t count;

	sign_texts(session, signatures);
	for (options.jobs = 1; options.jobs < 5; options.jobs++)
	{
		CHECK(neardup_pairs(session, &values, NULL, &options, &pairs, &count) == NEARDUP_OK);
		CHECK_MSG(count == 100, "%zu pairs", count);
		CHECK(pairs[0].a == 1 && pairs[0].b == 2 && pairs[0].similarity > 0.7);
		for (size_t i = 1; i < count; i++)
			CHECK(pairs[i - 1].a < pairs[i].a);
		neardup_free(session, pairs);
		CHECK(neardup_pairs(session, &values, &values, &options, &pairs, &count) == NEARDUP_OK);
		CHECK_MSG(count == VALUES + 2 * 99, "%zu pairs", count);
		neardup_free(session, pairs);
		CHECK(neardup_clusters(session, &values, NULL, &options, keeper, NULL) == NEARDUP_OK);
		for (uint32_t i = 0; i < VALUES; i++)
			CHECK(keeper[i] == (i == 200 ? 9 : i % 3 == 2 ? i - 1 : i));
	}
	/* The last value first, without the first one. */
	values.count--;
	for (uint32_t i = 0; i < VALUES - 1; i++)
		chosen[i] = VALUES - 1 - i;
	values.chosen = chosen;
	CHECK(neardup_clusters(session, &values, NULL, &options, keeper, NULL) == NEARDUP_OK);
	for (uint32_t i = 0; i < VALUES - 1; i++)
	{
		uint32_t value = chosen[i];

		CHECK(chosen[keeper[i]] ==
			  (value == 9                         ? 200 :
				   value % 3 == 1 && value != 199 ? value + 1 :
													value));
	}
	values.count++;
	values.chosen = NULL;
	options.threshold = 0;
	CHECK(neardup_pairs(session, &values, NULL, &options, &pairs, &count) == NEARDUP_INVALID);
	options.threshold = 0.1;
	options.memory = 16;
	CHECK(neardup_pairs(session, &values, NULL, &options, &pairs, &count) == NEARDUP_TOO_LARGE);
	CHECK(neardup_clusters(session, &values, NULL, &options, keeper, NULL) == NEARDUP_OK);
	signatures[0] = 9;
	CHECK(neardup_clusters(session, &values, NULL, &options, keeper, NULL) == NEARDUP_MISMATCH);
}

/* ---- Columns ------------------------------------------------------------ */

/* Two words, the mixed text, nothing, three words. */
#define TEXTS 4

/* The first place is not of the column; the third text is null, though its entry has bytes. */
static const uint8_t validity[] = {0x17};

static void
check_column(neardup_session *session, const neardup_column *column)
{
	static const char *const text[TEXTS] = {"of it", mixed, "", "the end of it"};
	neardup_signer *signer[2];
	uint8_t signatures[TEXTS * SIZE];
	bool null[TEXTS];
	uint64_t offset[TEXTS + 1];
	neardup_bytes sets;
	neardup_bytes one;

	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, NULL, 0, &signer[0]) ==
		  NEARDUP_OK);
	CHECK(neardup_signer_new(session, NEARDUP_SHINGLES, 0, 0, "word 2", NULL, 0, &signer[1]) ==
		  NEARDUP_OK);
	CHECK(neardup_sign_column(session, signer[0], column, null, signatures, NULL, NULL, NULL) ==
		  NEARDUP_OK);
	CHECK(neardup_sign_column(session, signer[1], column, NULL, NULL, &sets, offset, NULL) ==
		  NEARDUP_OK);
	CHECK(offset[0] == 0 && offset[TEXTS] == sets.length);
	for (int i = 0; i < TEXTS; i++)
	{
		CHECK(null[i] == (i == 2));
		CHECK(neardup_sign(session, signer[0], text[i], strlen(text[i]), &one) == NEARDUP_OK);
		CHECK_MSG(memcmp(one.bytes, signatures + i * SIZE, SIZE) == 0, "signature %d", i);
		neardup_free(session, one.bytes);
		CHECK(neardup_sign(session, signer[1], text[i], strlen(text[i]), &one) == NEARDUP_OK);
		CHECK_MSG(one.length == offset[i + 1] - offset[i] &&
					  memcmp(one.bytes, sets.bytes + offset[i], one.length) == 0,
				  "set %d", i);
		neardup_free(session, one.bytes);
	}
	neardup_free(session, sets.bytes);
	for (int i = 0; i < 2; i++)
		neardup_signer_free(session, signer[i]);
}

/* A text lies in the column itself if it is short, or else in the second buffer. */
static void
put_view(char *view, const char *text, const char *buffer)
{
	int32_t part[4] = {(int32_t) strlen(text), 0, 1, (int32_t) (text - buffer)};

	memcpy(view, part, sizeof(part));
	if (part[0] <= 12)
		memcpy(view + sizeof(int32_t), text, part[0]);
}

static void
test_columns(neardup_session *session)
{
	enum
	{
		END = sizeof(mixed) - 1,
		LAST = END - 13 /* "the end of it" */
	};
	static const char *const buffer[2] = {NULL, mixed};
	static const int32_t narrow[] = {0, 2, 7, 7 + END, 9 + END, 22 + END};
	static const int64_t wide[] = {0, 2, 7, 7 + END, 9 + END, 22 + END};
	static const int64_t falling[] = {9, 8, 7, 6, 5, 4};
	static const uint8_t number[] = {9, 1, 0, 7, 2};
	char data[22 + END + 1];
	char views[1 + 16 * (TEXTS + 1)];
	neardup_column texts = {.count = TEXTS, .first = 1, .validity = validity};
	neardup_column few = {.count = 3, .width = 16, .entry = views + 1};
	neardup_signer *signer;
	uint8_t signatures[TEXTS * SIZE];

	snprintf(data, sizeof(data), "noof it%sbethe end of it", mixed);
	texts.data = (const uint8_t *) data;
	texts.entry = narrow;
	texts.width = 4;
	check_column(session, &texts);
	texts.entry = wide;
	texts.width = 8;
	check_column(session, &texts);
	/* Views need not be aligned. */
	for (int i = 0; i <= TEXTS; i++)
		put_view(views + 1 + 16 * i, mixed + (const int[]){0, END - 5, 0, 3, LAST}[i], mixed);
	texts.entry = views + 1;
	texts.width = 16;
	texts.buffer = few.buffer = (const uint8_t *const *) buffer;
	check_column(session, &texts);
	put_view(views + 1 + 16 * 2, mixed + LAST, mixed);
	texts.entry = number;
	texts.width = 1;
	texts.dictionary = &few;
	check_column(session, &texts);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, NULL, 0, &signer) ==
		  NEARDUP_OK);
	texts.validity = NULL;
	CHECK(neardup_sign_column(session, signer, &texts, NULL, signatures, NULL, NULL, NULL) ==
		  NEARDUP_MALFORMED);
	texts.dictionary = NULL;
	CHECK(neardup_sign_column(session, signer, &texts, NULL, signatures, NULL, NULL, NULL) ==
		  NEARDUP_INVALID);
	texts.entry = falling;
	texts.width = 8;
	CHECK(neardup_sign_column(session, signer, &texts, NULL, signatures, NULL, NULL, NULL) ==
		  NEARDUP_MALFORMED);
	neardup_signer_free(session, signer);
}

/* A table of numbers, of which the last of ten is null, and of values of three bytes. */
static void
test_export(neardup_session *session)
{
	static const bool null[10] = {[9] = true};
	static const int32_t numbers[10] = {7, 8, [9] = 9};
	const neardup_field columns[2] = {
		{"i", "number", 10, null, {numbers}, {sizeof(numbers)}},
		{"w:3", "value", 10, NULL, {"abcdefghijklmnopqrstuvwxyz1234"}, {30}},
	};
	const neardup_field table = {"+s", "", 10, .children = 2, .child = columns};
	struct ArrowSchema schema;
	struct ArrowArray array;
	struct ArrowArray moved;

	CHECK(neardup_export(session, &table, &schema, &array) == NEARDUP_OK);
	CHECK(schema.n_children == 2 && strcmp(schema.children[1]->format, "w:3") == 0);
	CHECK(strcmp(schema.children[0]->name, "number") == 0);
	CHECK(array.length == 10 && array.n_buffers == 1 && array.n_children == 2);
	CHECK(array.children[0]->null_count == 1 && array.children[1]->null_count == 0);
	/* A child outlives its table. */
	moved = *array.children[0];
	array.children[0]->release = NULL;
	schema.release(&schema);
	array.release(&array);
	CHECK(schema.release == NULL && array.release == NULL);
	CHECK(memcmp(moved.buffers[0], "\xFF\1", 2) == 0);
	CHECK(memcmp(moved.buffers[1], numbers, sizeof(numbers)) == 0);
	moved.release(&moved);
}

/* Signs in a thread of its own, with the caller's signer. */
static void *
sign_in_thread(void *signer)
{
	neardup_session *session = neardup_open(NULL);
	neardup_bytes first;
	neardup_bytes again;

	CHECK(neardup_sign(session, signer, mixed, strlen(mixed), &first) == NEARDUP_OK);
	for (int i = 0; i < 50; i++)
	{
		CHECK(neardup_sign(session, signer, mixed, strlen(mixed), &again) == NEARDUP_OK);
		CHECK(memcmp(first.bytes, again.bytes, neardup_signature_size(signer)) == 0);
		neardup_free(session, again.bytes);
	}
	neardup_free(session, first.bytes);
	neardup_close(session);
	return NULL;
}

static void
test_threads(neardup_session *session)
{
	pthread_t thread[4];
	neardup_signer *signer;

	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 128, 2, "spot 1 2", NULL, 0, &signer) ==
		  NEARDUP_OK);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&thread[i], NULL, sign_in_thread, signer) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	neardup_signer_free(session, signer);
}

/* ---- Errors ------------------------------------------------------------- */

/* A neardup_next: three texts. */
static bool
next_text(void *state, const char **utf8, size_t *length, uint64_t *source)
{
	int *texts = state;

	*utf8 = mixed + *texts;
	*length = strlen(*utf8);
	return (*texts)++ < 3;
}

#define EDGES 4000

/* A neardup_next_edges: returns a number of edges, and then none. */
static bool
next_edges(void *state, const neardup_edge **edges, size_t *count)
{
	static neardup_edge edge[EDGES];
	int *left = state;

	for (int i = 0; i < EDGES; i++)
		edge[i] = (neardup_edge){1 + i % 299, i % 7 % (1 + i % 299), i % 9 == 0 ? 1 : 0.5};
	*edges = edge;
	*count = *left;
	*left = 0;
	return true;
}

/* A neardup_take_edges. */
static bool
take_edges(void *state, const neardup_edge *edges, size_t count)
{
	return count > 0;
}

/* Finds the keepers of more edges than little memory holds. */
static neardup_code
keep_many(neardup_session *session)
{
	neardup_options options = {.nearest = true, .memory = 1};
	int left = EDGES;
	neardup_code code = neardup_keepers(session, next_edges, take_edges, &left, &options);

	return code == NEARDUP_OK ? NEARDUP_TOO_LARGE : code;
}

/* Values of a join that goes to temporary files if it has little memory. */
#define MANY 1030

/* Joins sets in files, and signatures in files, in little memory; a third of them are similar. */
static neardup_code
use_files(neardup_session *session, const uint8_t *set, size_t length, const uint8_t *signature)
{
	static uint8_t signatures[MANY * SIZE];
	static uint8_t sets[64 * 4096];
	static uint32_t keeper[MANY];
	neardup_options options = {.threshold = 0.9, .jobs = 1, .memory = 1};
	neardup_values values = {NEARDUP_MINHASH, MANY, signatures, SIZE};
	neardup_values bags = {NEARDUP_SHINGLES, 64, sets, length};
	neardup_pair *pairs = NULL;
	neardup_code code;
	size_t count;

	for (int i = 0; i < MANY; i++)
	{
		memcpy(signatures + i * SIZE, signature, SIZE);
		for (int byte = 12; byte < SIZE && i % 3 != 0; byte++)
			signatures[i * SIZE + byte] ^= (uint8_t) (i * 37 + byte * i);
		signatures[i * SIZE + SIZE - 1 - i / 256] ^= (uint8_t) i;
	}
	for (int i = 0; i < 64; i++)
		memcpy(sets + i * length, set, length);
	code = neardup_clusters(session, &values, NULL, &options, keeper, NULL);
	if (code == NEARDUP_OK)
		code = neardup_pairs(session, &values, NULL, &options, &pairs, &count);
	CHECK(code != NEARDUP_OK);
	if (code == NEARDUP_TOO_LARGE)
		code = neardup_pairs(session, &bags, &bags, &options, &pairs, &count);
	if (code == NEARDUP_TOO_LARGE)
		code = keep_many(session);
	return code == NEARDUP_TOO_LARGE ? NEARDUP_OK : code;
}

/* Returns how many files the process has open, 0 if that is not told. */
static int
open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder != NULL && readdir(folder) != NULL)
		count++;
	if (folder != NULL)
		closedir(folder);
	return count;
}

/* The bytes of a text whose words are more than memory holds of their anchors. */
#define PASSAGE_BYTES 10000

/* Finds the passages of two texts, the second of which begins like the first; returns the first error. */
static neardup_code
use_passages(neardup_session *session)
{
	static char text[2 * PASSAGE_BYTES];
	static const int64_t entry[] = {0, PASSAGE_BYTES, 2 * PASSAGE_BYTES};
	const neardup_column texts = {.count = 2,
								  .entry = entry,
								  .width = sizeof(*entry),
								  .data = (const uint8_t *) text};
	neardup_passages *passages = NULL;
	neardup_passage *found = NULL;
	neardup_bytes words = {NULL, 0};
	size_t count = 0;
	uint64_t seed = 1;
	neardup_code code = neardup_passages_new(session, 2, 1, &passages);

	for (int i = 0; i < 2 * PASSAGE_BYTES; i++)
		text[i] = i % 4 == 3 ? ' ' : 'a' + next_random(&seed) % 26;
	memcpy(text + PASSAGE_BYTES, text, PASSAGE_BYTES / 2);
	if (code == NEARDUP_OK)
		code = neardup_passages_words(session, passages, &texts, false, &words);
	if (code == NEARDUP_OK)
		code = neardup_passages_add(session, passages, &words);
	if (code == NEARDUP_OK)
		code = neardup_passages_find(session, passages, &(uint64_t){1});
	if (code == NEARDUP_OK)
		code = neardup_passages_of(session, passages, 0, 2, &found, &count);
	if (code == NEARDUP_OK)
	{
		CHECK(count > 0 && found[0].record == 1 && found[0].from == 0 && found[0].to >= 4999);
		CHECK(neardup_passages_add(session, passages, &words) == NEARDUP_INVALID);
		CHECK(neardup_passages_find(session, passages, &(uint64_t){3}) == NEARDUP_INVALID);
	}
	neardup_free(session, found);
	neardup_free(session, words.bytes);
	if (passages != NULL)
		CHECK(neardup_passages_free(session, passages) == NEARDUP_OK);
	return code;
}

/* Uses all of the library once; returns the first error. */
static neardup_code
use_everything(neardup_session *session)
{
	neardup_signer *signer = NULL;
	neardup_bytes lexicon = {NULL, 0};
	neardup_bytes common = {NULL, 0};
	neardup_bytes shingles[2] = {{NULL, 0}, {NULL, 0}};
	neardup_comparison comparison;
	neardup_pair *pairs = NULL;
	uint32_t keeper[4];
	int64_t distance;
	int texts = 0;
	size_t count;
	static uint8_t signatures[4 * SIZE];
	neardup_values values = {NEARDUP_MINHASH, 4, signatures, SIZE};
	neardup_options options = {.threshold = 0.1, .jobs = 1};
	neardup_code code =
		neardup_learn(session, "word 1", 10, 0.9, 1000, next_text, &texts, &lexicon);

	texts = 0;
	if (code == NEARDUP_OK)
		code = neardup_common(session, NULL, 0.5, 1000, next_text, &texts, &count, &common);
	if (code == NEARDUP_OK)
		code = neardup_signer_new(session, NEARDUP_SHINGLES, 0, 0, NULL, lexicon.bytes,
								  lexicon.length, &signer);
	for (int i = 0; i < 2 && code == NEARDUP_OK; i++)
		code = neardup_sign(session, signer, mixed, strlen(mixed) - i * 9, &shingles[i]);
	if (code == NEARDUP_OK)
		code = neardup_compare(session, NEARDUP_SHINGLES, shingles[0].bytes, shingles[0].length,
							   shingles[1].bytes, shingles[1].length, &comparison);
	neardup_signer_free(session, signer);
	signer = NULL;
	if (code == NEARDUP_OK)
		code = neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, NULL, 0, &signer);
	for (int i = 0; i < 4 && code == NEARDUP_OK; i++)
	{
		code = sign_to(session, signer, mixed + i, strlen(mixed + i), signatures + i * SIZE);
	}
	if (code == NEARDUP_OK)
		code = neardup_clusters(session, &values, NULL, &options, keeper, NULL);
	if (code == NEARDUP_OK)
		code = neardup_pairs(session, &values, &values, &options, &pairs, &count);
	if (code == NEARDUP_OK)
		code = neardup_edit_distance(session, mixed, 50, mixed + 2, 50, &distance);
	if (code == NEARDUP_OK)
		code = use_files(session, shingles[0].bytes, shingles[0].length, signatures);
	if (code == NEARDUP_OK)
		code = use_passages(session);
	for (int i = 0; i < 2; i++)
		neardup_free(session, shingles[i].bytes);
	neardup_free(session, pairs);
	neardup_free(session, lexicon.bytes);
	neardup_free(session, common.bytes);
	neardup_signer_free(session, signer);
	return code;
}

/* Later tries, which are long, are some of all. */
#define STEP(tries) ((tries) < 150 || unit_is_long() ? 1 : 5)

/* Lets each allocation fail, and each check for cancellation cancel: no memory is lost. */
static void
test_failures(void)
{
	Counts counts = {0, -1, -1};
	neardup_host host = {counted_resize, counted_cancelled, &counts};
	neardup_session *session = neardup_open(&host);
	neardup_code code;
	long tries = 0;
	int files = open_files();

	do
	{
		counts.left = tries;
		tries += STEP(tries);
		code = use_everything(session);
		CHECK(code == NEARDUP_OK || code == NEARDUP_NO_MEMORY);
		CHECK_MSG(counts.blocks == 1, "%ld blocks are left after %ld", counts.blocks, tries);
		CHECK_MSG(open_files() == files, "%d files are open", open_files() - files);
	} while (code != NEARDUP_OK);
	CHECK(tries > 30);
	counts.left = -1;
	tries = 0;
	do
	{
		counts.checks = tries;
		tries += STEP(tries);
		code = use_everything(session);
		CHECK(code == NEARDUP_OK || code == NEARDUP_CANCELLED);
		CHECK_MSG(counts.blocks == 1, "%ld blocks are left", counts.blocks);
		CHECK_MSG(open_files() == files, "%d files are open", open_files() - files);
	} while (code != NEARDUP_OK);
	CHECK(tries > 10);
	neardup_close(session);
	CHECK(counts.blocks == 0);
}

static void
test_refused(neardup_session *session)
{
	static const char text[] = "1/word 1/9/{3:1,7:2}\n";
	neardup_signer *signer;
	neardup_bytes bytes;
	int texts = 2;

	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 15, 1, NULL, NULL, 0, &signer) ==
		  NEARDUP_INVALID);
	CHECK(strstr(neardup_message(session), "minhash(15, 1)") != NULL);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, "tokens", NULL, 0, &signer) ==
		  NEARDUP_INVALID);
	CHECK(neardup_parse(session, NEARDUP_MINHASH, "1/word 3/512x1/5/00", &bytes) ==
		  NEARDUP_MALFORMED);
	CHECK(neardup_parse(session, 9, "", &bytes) == NEARDUP_INVALID);
	CHECK(neardup_parse(session, NEARDUP_LEXICON, text, &bytes) == NEARDUP_MALFORMED);
	CHECK(neardup_print(session, NEARDUP_SHINGLES, "\1\1", 2, &bytes) == NEARDUP_MALFORMED);
	CHECK(neardup_learn(session, "word 1", 10, 0.9, 0, next_text, &texts, &bytes) ==
		  NEARDUP_INVALID);
	CHECK(strstr(neardup_message(session), "at least two documents") != NULL);
	CHECK(neardup_common(session, NULL, 0, 0, next_text, &texts, NULL, &bytes) == NEARDUP_INVALID);
	CHECK(neardup_common(session, "spot 1 2", 0.5, 0, next_text, &texts, NULL, &bytes) ==
		  NEARDUP_INVALID);
	CHECK(neardup_common(session, NULL, 0.5, 0, next_text, &texts, NULL, &bytes) == NEARDUP_OK);
	neardup_free(session, bytes.bytes);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, "1/word 1/9/{7:1,3:2}", 20,
							 &signer) == NEARDUP_MALFORMED);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, "word 3", text, sizeof(text) - 1,
							 &signer) == NEARDUP_MISMATCH);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, text, sizeof(text) - 1,
							 &signer) == NEARDUP_OK);
	neardup_signer_free(session, signer);
	CHECK(neardup_parse(session, NEARDUP_LEXICON, "1/word 1/9/{3:1,7:2}", &bytes) == NEARDUP_OK);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, bytes.bytes, bytes.length,
							 &signer) == NEARDUP_OK);
	neardup_signer_free(session, signer);
	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, NULL, bytes.bytes, bytes.length - 1,
							 &signer) == NEARDUP_MALFORMED);
	neardup_free(session, bytes.bytes);
}

int
main(void)
{
	neardup_session *session = neardup_open(NULL);

	test_vectors(session);
	test_clusters(session);
	test_columns(session);
	test_export(session);
	test_threads(session);
	test_failures();
	test_refused(session);
	neardup_close(session);
	return unit_report();
}
