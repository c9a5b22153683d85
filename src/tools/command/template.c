/*
 * template.c: says if records went since they share a template, not what they say.
 *
 * Members of such a cluster have a fixed part in common, and are unlike without it.  Copies that were
 * edited here and there have little that all of them have, and are alike without it, too.
 */
#include "command/command.h"

#include <math.h>
#include <string.h>

/* The least share of the records that a cluster must have, and the fewest members. */
#define CLUSTER_SHARE 0.01
#define CLUSTER_LEAST 20

/* Members of a cluster that are looked at, at most. */
#define SAMPLE 64

/* The members of a cluster that are looked at, in order. */
typedef struct Sample
{
	const neardup_evidence *evidence;
	uint32_t member[SAMPLE];
	size_t count;
	size_t next;
} Sample;

/* A neardup_next. */
static bool
next_member(void *state, const char **utf8, size_t *length, uint64_t *source)
{
	Sample *sample = state;
	const neardup_evidence *evidence = sample->evidence;

	return sample->next < sample->count &&
		evidence->read(evidence->state, 0, sample->member[sample->next++], utf8, length);
}

/* Returns how much of members is in others, on average, without the shingles of a lexicon. */
static double
containment_without(neardup_session *session, Sample *sample, const neardup_bytes *lexicon)
{
	neardup_signer *signer;
	neardup_bytes set[SAMPLE];
	double sum = 0;
	const char *utf8;
	size_t length;

	check(session,
		  neardup_signer_new(session, NEARDUP_SHINGLES, 0, 0, options.scheme, lexicon->bytes,
							 lexicon->length, &signer));
	for (sample->next = 0; next_member(sample, &utf8, &length, NULL);)
		check(session, neardup_sign(session, signer, utf8, length, &set[sample->next - 1]));
	/* Members that come one after the other may be of one family. */
	for (size_t i = 0; i < sample->count; i++)
	{
		const neardup_bytes *other = &set[(i + sample->count / 2) % sample->count];
		neardup_comparison comparison;

		check(session,
			  neardup_compare(session, NEARDUP_SHINGLES, set[i].bytes, set[i].length, other->bytes,
							  other->length, &comparison));
		sum += comparison.containment;
	}
	for (size_t i = 0; i < sample->count; i++)
		neardup_free(session, set[i].bytes);
	neardup_signer_free(session, signer);
	return sum / sample->count;
}

/* Returns whether the members of a sample share a template. */
static bool
is_template(neardup_session *session, Sample *sample)
{
	neardup_bytes lexicon;
	size_t shared;
	bool found;

	sample->next = 0;
	check(session,
		  neardup_common(session, options.scheme, 1, options.memory / 2, next_member, sample,
						 &shared, &lexicon));
	found =
		shared > 0 && containment_without(session, sample, &lexicon) < options.join.threshold / 2;
	neardup_free(session, lexicon.bytes);
	return found;
}

/* Puts members of a cluster of some size into a sample, evenly. */
static void
take_sample(Sample *sample, const uint32_t *keeper, uint32_t cluster, uint32_t size)
{
	uint32_t seen = 0;

	sample->count = 0;
	for (uint32_t i = 0; seen < size; i++)
		if (keeper[i] == cluster && (uint64_t) seen++ * SAMPLE / size >= sample->count)
			sample->member[sample->count++] = i;
}

/* Writes a word as a shell reads it. */
static void
put_word(Buffer *line, const char *word)
{
	bool plain = *word != '\0' &&
		word[strspn(word,
					"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%")] ==
			'\0';

	put_text(line, plain ? " " : " '");
	for (; *word != '\0'; word++)
		put_text(line, *word == '\'' ? "'\\''" : "%c", *word);
	put_text(line, plain ? "" : "'");
}

/* Says which clusters share a template, and how to leave it out: by half of their share of the records, in one digit. */
static void
suggest_common(size_t clusters, size_t records, double share)
{
	double unit = pow(10, floor(log10(share / 2)));
	Buffer line = {0};

	for (char **word = options.line; *word != NULL; word++)
	{
		put_word(&line, *word);
		if (word == options.line)
			put_text(&line, " --common %g", floor(share / 2 / unit) * unit);
	}
	fprintf(stderr,
			"neardup: clusters that share a template, and little else: %zu, of %zu records; to compare what is their own: neardup%s\n",
			clusters, records, line.bytes);
	resize(NULL, line.bytes, 0);
}

/* Says if clusters of records share a template, where texts decide, and nothing weighs their shingles. */
void
look_for_templates(neardup_session *session, const neardup_evidence *evidence,
				   const uint32_t *keeper, size_t count)
{
	Sample sample = {.evidence = evidence};
	uint32_t *size;
	size_t clusters = 0;
	size_t records = 0;
	double least = 1;

	if (evidence == NULL || options.common > 0 || options.lexicon != NULL)
		return;
	size = resize(NULL, NULL, count * sizeof(uint32_t) + 1);
	memset(size, 0, count * sizeof(uint32_t));
	for (size_t i = 0; i < count; i++)
		if (keeper[i] != NEARDUP_NO_KEEPER)
			size[keeper[i]]++;
	for (uint32_t i = 0; i < count; i++)
	{
		if (size[i] < CLUSTER_LEAST || size[i] < CLUSTER_SHARE * count)
			continue;
		take_sample(&sample, keeper, i, size[i]);
		if (!is_template(session, &sample))
			continue;
		clusters++;
		records += size[i];
		least = fmin(least, (double) size[i] / count);
	}
	resize(NULL, size, 0);
	if (clusters > 0)
		suggest_common(clusters, records, least);
}
