/*
 * test_parts.c: pairs in parts, and keepers of pairs, by the library's header alone.
 */
#include "library/neardup.h"

#include <string.h>

#include "unit.h"

#define VALUES 300

/* Bytes of minhash(512, 1). */
#define SIZE 76

/* Signs texts of which each third has most words of the one before. */
static void
sign_texts(neardup_session *session, uint8_t *signatures)
{
	neardup_signer *signer;

	CHECK(neardup_signer_new(session, NEARDUP_MINHASH, 512, 1, "word 1", NULL, 0, &signer) ==
		  NEARDUP_OK);
	for (int i = 0; i < VALUES; i++)
	{
		char text[1000];
		size_t length = 0;
		neardup_bytes one;

		for (int word = 0; word < 50; word++)
			length += snprintf(text + length, sizeof(text) - length, "%d ",
							   word * 1000 + (i % 3 == 2 && word > 4 ? i - 1 : i));
		CHECK(neardup_sign(session, signer, text, length, &one) == NEARDUP_OK);
		memcpy(signatures + i * SIZE, one.bytes, SIZE);
		neardup_free(session, one.bytes);
	}
	memcpy(signatures + 200 * SIZE, signatures + 9 * SIZE, SIZE);
	neardup_signer_free(session, signer);
}

/* Edges that are given, a few at a time, and what comes back. */
typedef struct Edges
{
	const neardup_edge *edge;
	size_t count;
	uint64_t keeper[VALUES]; /* of each row, itself at first */
	double similarity[VALUES];
	uint64_t last; /* row */
} Edges;

static bool
next_edges(void *state, const neardup_edge **some, size_t *count)
{
	Edges *edges = state;

	*some = edges->edge;
	*count = edges->count < 7 ? edges->count : 7;
	edges->edge += *count;
	edges->count -= *count;
	return true;
}

static bool
take_edges(void *state, const neardup_edge *edge, size_t count)
{
	Edges *edges = state;

	for (; count > 0; edge++, count--)
	{
		CHECK(edge->a > edges->last && edge->b < edge->a);
		edges->last = edge->a;
		edges->keeper[edge->a] = edge->b;
		edges->similarity[edge->a] = edge->similarity;
	}
	return true;
}

static neardup_code
find_keepers(neardup_session *session, const neardup_edge *edge, size_t count,
			 const neardup_options *options, Edges *edges)
{
	edges->edge = edge;
	edges->count = count;
	edges->last = 0;
	for (int i = 0; i < VALUES; i++)
		edges->keeper[i] = i;
	return neardup_keepers(session, next_edges, take_edges, edges, options);
}

/* Appends the pairs of a part; returns how many there are then. */
static size_t
add_part(neardup_session *session, const neardup_values *values, const neardup_values *against,
		 const neardup_options *options, neardup_edge *edge, size_t count)
{
	neardup_pair *pairs;
	size_t more;

	CHECK(neardup_pairs(session, values, against, options, &pairs, &more) == NEARDUP_OK);
	for (size_t i = 0; i < more; i++)
		edge[count++] = (neardup_edge){pairs[i].b, pairs[i].a, pairs[i].similarity};
	neardup_free(session, pairs);
	return count;
}

/* Compares for qsort. */
static int
compare_edges(const void *x, const void *y)
{
	return memcmp(x, y, 2 * sizeof(uint64_t));
}

/* Has parts find what one call does, and keepers of pairs be those of clusters. */
static void
test_parts(neardup_session *session)
{
	static uint8_t signatures[VALUES * SIZE];
	static neardup_edge whole[VALUES * VALUES];
	static neardup_edge parts[VALUES * VALUES];
	static uint32_t keeper[VALUES];
	static double similarity[VALUES];
	static Edges edges;
	neardup_values values = {NEARDUP_MINHASH, VALUES, signatures, SIZE};
	neardup_options options = {.threshold = 0.5};

	sign_texts(session, signatures);
	/* A chain, and copies of its links. */
	for (int i = 30; i < 120; i++)
	{
		memcpy(signatures + i * SIZE, signatures + (i - 1) * SIZE, SIZE);
		signatures[i * SIZE + 12 + i % 60] ^= 0xFF;
		if (i % 4 == 0)
			memcpy(signatures + i * SIZE, signatures + (i - 3) * SIZE, SIZE);
	}
	for (uint32_t blocks = 1; blocks < 9; blocks++)
		for (int two = 0; two < 2; two++)
		{
			const neardup_values *against = two ? &values : NULL;
			size_t expected;
			size_t count = 0;

			options.part.blocks = 0;
			expected = add_part(session, &values, against, &options, whole, 0);
			options.part.blocks = blocks;
			for (options.part.b = 0; options.part.b < blocks; options.part.b++)
				for (options.part.a = two ? options.part.b : 0; options.part.a <= options.part.b;
					 options.part.a++)
					count = add_part(session, &values, against, &options, parts, count);
			CHECK_MSG(count == expected, "%zu pairs in parts, %zu at once", count, expected);
			qsort(whole, count, sizeof(*whole), compare_edges);
			qsort(parts, count, sizeof(*parts), compare_edges);
			CHECK(memcmp(whole, parts, count * sizeof(*whole)) == 0);
			options.part.blocks = 0;
			for (int nearest = 0; nearest < 2 && !two; nearest++)
			{
				options.nearest = nearest;
				options.memory = blocks % 2; /* then edges go to files */
				CHECK(neardup_clusters(session, &values, NULL, &options, keeper, similarity) ==
					  NEARDUP_OK);
				CHECK(find_keepers(session, parts, count, &options, &edges) == NEARDUP_OK);
				for (int i = 0; i < VALUES; i++)
					CHECK(edges.keeper[i] == keeper[i] &&
						  (keeper[i] == i || edges.similarity[i] == similarity[i]));
			}
			options.memory = 0;
		}
}

/* Refuses what cannot be right, and finds what can be written down. */
static void
test_keepers(neardup_session *session)
{
	static const neardup_edge chain[] = {{1, 0, 0.9}, {2, 1, 0.9}, {2, 3, 0.8}, {4, 2, 0.9},
										 {5, 4, 1},   {4, 3, 0.8}, {4, 4, 1}};
	static const neardup_edge equals[] = {{7, 4, 1},
										  {5, 4, 1},
										  {5, 2, 1},
										  {7, 3, 0.9},
										  {1, 5, 0.8}};
	static const neardup_edge large = {UINT64_C(1) << 63, 1, 0.9};
	static Edges edges;
	neardup_options options = {.threshold = 0.5};
	neardup_pair *pairs;
	neardup_values none = {NEARDUP_MINHASH};
	neardup_values simhash = {NEARDUP_SIMHASH, 1, (const uint8_t *) "????????12345678", 16};
	uint32_t keeper;
	uint32_t block;
	size_t count;
	int radius;

	CHECK(find_keepers(session, chain, 7, &options, &edges) == NEARDUP_OK);
	CHECK(edges.keeper[1] == 0 && edges.keeper[2] == 2 && edges.keeper[3] == 2 &&
		  edges.keeper[4] == 2 && edges.keeper[5] == 2 && edges.similarity[5] == 0.9);
	CHECK(find_keepers(session, chain, 0, &options, &edges) == NEARDUP_OK);
	CHECK(find_keepers(session, equals, 5, &options, &edges) == NEARDUP_OK);
	CHECK(edges.keeper[2] == 1 && edges.keeper[3] == 3 && edges.keeper[4] == 1 &&
		  edges.keeper[7] == 1 && edges.similarity[7] == 0.8);
	options.nearest = true;
	CHECK(find_keepers(session, equals, 5, &options, &edges) == NEARDUP_OK);
	CHECK(edges.keeper[2] == 1 && edges.keeper[4] == 3 && edges.similarity[5] == 0.9);
	options.nearest = false;
	CHECK(find_keepers(session, &large, 1, &options, &edges) == NEARDUP_INVALID);

	options.part = (neardup_part){2, 1, 0};
	CHECK(neardup_pairs(session, &none, NULL, &options, &pairs, &count) == NEARDUP_INVALID);
	CHECK(neardup_pairs(session, &none, &none, &options, &pairs, &count) == NEARDUP_OK);
	neardup_free(session, pairs);
	options.part.b = 2;
	CHECK(neardup_pairs(session, &none, &none, &options, &pairs, &count) == NEARDUP_INVALID);
	options.part.b = 1;
	CHECK(neardup_clusters(session, &none, NULL, &options, &keeper, NULL) == NEARDUP_INVALID);

	CHECK(neardup_radius(session, NEARDUP_MINHASH, 512, 1, 0.8, &radius) == NEARDUP_OK);
	CHECK(radius == 51);
	CHECK(neardup_radius(session, NEARDUP_SIMHASH, 64, 1, 0.9, &radius) == NEARDUP_OK);
	CHECK(radius == 6);
	CHECK(neardup_radius(session, NEARDUP_SIMHASH, 64, 2, 0.9, &radius) == NEARDUP_INVALID);
	CHECK(neardup_radius(session, NEARDUP_MINHASH, 512, 1, 0, &radius) == NEARDUP_INVALID);
	CHECK(neardup_radius(session, NEARDUP_SHINGLES, 512, 1, 0.9, &radius) == NEARDUP_INVALID);

	/* XXH3-64 of "12345678" is 0x62E29B4CAD9E2EF6. */
	CHECK(neardup_blocks(session, &simhash, 1000003, &block) == NEARDUP_OK);
	CHECK_MSG(block == 377243, "block %u", block);
	CHECK(neardup_blocks(session, &simhash, 0, &block) == NEARDUP_INVALID);
	simhash.size = 7;
	CHECK(neardup_blocks(session, &simhash, 9, &block) == NEARDUP_MALFORMED);
	simhash.kind = NEARDUP_LEXICON;
	CHECK(neardup_blocks(session, &simhash, 9, &block) == NEARDUP_INVALID);
}

int
main(void)
{
	neardup_session *session = neardup_open(NULL);

	test_parts(session);
	test_keepers(session);
	neardup_close(session);
	return unit_report();
}
