/*
 * test_remembered.c: clusters of texts that decide, with signers that remember shingles and without.
 */
#include <stdio.h>
#include <string.h>

#include "library/neardup.h"
#include "unit.h"

#define SIZE (12 + 512 / 8)
#define TEXTS 6000
#define WORDS 40

/* Writes texts, some like an earlier one, some of a form. */
static neardup_column
write_many(void)
{
	static char data[TEXTS * WORDS * 8];
	static int64_t entry[TEXTS + 1];
	neardup_column column = {.count = TEXTS,
							 .entry = entry,
							 .width = sizeof(*entry),
							 .data = (const uint8_t *) data};

	for (int i = 0; i < TEXTS; i++)
	{
		int like = i % 5 == 1 ? i / 3 : i % 50 == 2 ? TEXTS : i;

		entry[i + 1] = entry[i];
		for (int word = 0; word < WORDS; word++)
			entry[i + 1] += sprintf(data + entry[i + 1], "%d ",
									word * (TEXTS + 1) + (word * 7 % 40 < i % 11 ? i : like));
	}
	return column;
}

static uint8_t signatures[TEXTS * SIZE];
static size_t late; /* minhashes that were made late */

/* A neardup_values.made. */
static void
keep_late(void *state, size_t row, const uint8_t *value, size_t length)
{
	(void) state;
	CHECK(signatures[row * SIZE] == 0 && length == SIZE);
	memcpy(signatures + row * SIZE, value, length);
	late++;
}

/* What a signer remembers, at what threshold, and whether it leaves minhashes out. */
typedef struct Remembered
{
	size_t bytes; /* 0: it does not */
	double threshold;
	bool later;
} Remembered;

/* Signs texts, and returns their clusters decided by their sets. */
static void
cluster_many(neardup_session *session, const neardup_column *texts, Remembered remembered,
			 const neardup_options *options, uint32_t *keeper, double *similarity)
{
	static uint64_t digest[TEXTS];
	neardup_signer *signer[2];
	neardup_evidence evidence = {.texts = texts, .columns = 1};
	neardup_values values = {NEARDUP_MINHASH,      TEXTS, signatures, SIZE, .made = keep_late,
							 .evidence = &evidence};

	for (int i = 0; i < 2; i++)
		CHECK(neardup_signer_new(session, i == 0 ? NEARDUP_MINHASH : NEARDUP_SHINGLES,
								 i == 0 ? 512 : 0, i == 0, "word 1", NULL, 0,
								 &signer[i]) == NEARDUP_OK);
	for (int i = 0; remembered.bytes > 0 && i < 3; i++)
		CHECK(neardup_signer_remember(session, signer[i > 1], i == 0 ? 0 : remembered.threshold,
									  remembered.bytes, remembered.later) == NEARDUP_INVALID ||
			  i == 1);
	if (remembered.bytes > 0)
	{
		CHECK(neardup_signer_remember(session, signer[0], 0.5, 1, false) == NEARDUP_INVALID);
		evidence.digest = digest;
		evidence.remembers = signer[0];
	}
	CHECK(neardup_sign_column(session, signer[0], texts, NULL, signatures, NULL, NULL, digest) ==
		  NEARDUP_OK);
	evidence.signer = signer[1];
	CHECK(neardup_clusters(session, &values, NULL, options, keeper, similarity) == NEARDUP_OK);
	neardup_signer_free(session, signer[0]);
	neardup_signer_free(session, signer[1]);
}

/* What is remembered changes no answer, however little memory there is for it. */
static void
test_remembered(neardup_session *session)
{
	static const Remembered remembered[] = {{1, 0.6},
											{4096, 0.6, true},
											{65536, 0.6},
											{1 << 20, 0.6, true},
											{1 << 20, 0.9, true},
											{1 << 20, 0.3}};
	static uint32_t keeper[2][TEXTS];
	static double similarity[2][TEXTS];
	neardup_column texts = write_many();
	neardup_options options = {.threshold = 0.6, .jobs = 2};

	for (int nearest = 0; nearest < 2; nearest++)
	{
		uint32_t members = 0;

		options.nearest = nearest;
		cluster_many(session, &texts, (Remembered){0}, &options, keeper[0], similarity[0]);
		for (uint32_t i = 0; i < TEXTS; i++)
			members += keeper[0][i] != i;
		CHECK_MSG(members > 500 && members < TEXTS / 2, "%u members", members);
		for (size_t i = 0; i < sizeof(remembered) / sizeof(*remembered); i++)
		{
			late = 0;
			cluster_many(session, &texts, remembered[i], &options, keeper[1], similarity[1]);
			CHECK_MSG(i != 3 || (late > 0 && late < TEXTS / 2), "%zu were made late", late);
			CHECK_MSG(memcmp(keeper[0], keeper[1], sizeof(keeper[0])) == 0 &&
						  memcmp(similarity[0], similarity[1], sizeof(similarity[0])) == 0,
					  "%zu bytes", remembered[i].bytes);
		}
	}
}

/* A neardup_take. */
static bool
count_pair(void *state, const neardup_pair *pair)
{
	*(size_t *) state += pair->similarity > 0;
	return true;
}

/* Minhashes that were not made are made where what is remembered is of no help. */
static void
test_missing(neardup_session *session)
{
	static uint64_t digest[TEXTS];
	neardup_column texts = write_many();
	neardup_signer *signer[2];
	neardup_evidence evidence = {.texts = &texts, .columns = 1, .digest = digest};
	neardup_evidence no_texts = {0};
	neardup_values values = {NEARDUP_MINHASH,      TEXTS, signatures, SIZE, .made = keep_late,
							 .evidence = &evidence};
	neardup_values none = {NEARDUP_MINHASH, .evidence = &no_texts};
	neardup_options options = {.threshold = 0.6, .jobs = 2};

	for (int contained = 0; contained < 2; contained++)
	{
		size_t pairs = 0;

		late = 0;
		options.contained = contained;
		for (int i = 0; i < 2; i++)
			CHECK(neardup_signer_new(session, i == 0 ? NEARDUP_MINHASH : NEARDUP_SHINGLES,
									 i == 0 ? 512 : 0, i == 0, "word 1", NULL, 0,
									 &signer[i]) == NEARDUP_OK);
		evidence.signer = no_texts.signer = signer[1];
		evidence.remembers = signer[0];
		CHECK(neardup_signer_remember(session, signer[0], 0.6, 1 << 20, true) == NEARDUP_OK);
		CHECK(neardup_sign_column(session, signer[0], &texts, NULL, signatures, NULL, NULL,
								  digest) == NEARDUP_OK);
		CHECK(neardup_each_pair(session, contained ? &values : &none, contained ? NULL : &values,
								&options, count_pair, &pairs) == NEARDUP_OK);
		CHECK_MSG(late > 0 && (pairs > 0) == contained, "%zu were made late, %zu pairs", late,
				  pairs);
		neardup_signer_free(session, signer[0]);
		neardup_signer_free(session, signer[1]);
	}
}

int
main(void)
{
	neardup_session *session = neardup_open(NULL);

	test_remembered(session);
	test_missing(session);
	neardup_close(session);
	return unit_report();
}
