/*
 * study.c: what a scheme makes of the samples: common shingles, the similarity of random
 * pairs, and the pairs of near texts.
 */
#include "advise/advise.h"

#include <math.h>

#include "utils/memutils.h"

#include "base/hash.h"
#include "join/sets.h"

/* Common shingles are in at least this number of texts, whatever the share. */
#define COMMON_LEAST 10

/* Random pairs to look at. */
#define RANDOM_PAIRS 20000

/* Pairs that are kept to choose from. */
#define CHOICE_MOST 200000

/* The least resemblance that the weight of a text assumes. */
#define RESEMBLANCE_LEAST 0.2

/* The pairs shown are this far from each other in similarity, if there are such pairs. */
#define PAIR_STEP 0.02

/* ---- Bags of a sample -------------------------------------------------------- */

static Bag
bag_of_text(const SampleText *text, SchemeId scheme)
{
	BagBuilder builder;
	Bag bag;

	bag_begin(&builder);
	shingle_text(text->bytes, text->length, scheme, bag_add, &builder);
	(void) bag_finish(&builder, &bag);
	if (bag.frequency)
		host_free(bag.frequency);
	bag.frequency = NULL;
	return bag;
}

static Bag *
bags_of_sample(const Sample *sample, SchemeId scheme)
{
	Bag *bag = palloc(Max(sample->count, 1) * sizeof(Bag));

	for (uint32 i = 0; i < sample->count; i++)
		bag[i] = bag_of_text(&sample->text[i], scheme);
	return bag;
}

static void
free_bags(Bag *bag, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
		bag_free(&bag[i]);
	pfree(bag);
}

/* Leaves the elements of another bag out of all bags. */
static void
leave_out(Bag *bag, uint32 count, const Bag *common)
{
	for (uint32 i = 0; i < count; i++)
	{
		Bag rest = bag_difference(&bag[i], common);

		bag_free(&bag[i]);
		bag[i] = rest;
	}
}

/* ---- Common shingles --------------------------------------------------------- */

/* Returns the elements that COMMON_SHARE of the bags have; their frequencies say how many. */
static Bag
common_elements(const Bag *bag, uint32 count)
{
	uint32 least = Max((uint32) ceil(COMMON_SHARE * count), COMMON_LEAST);
	BagBuilder builder;
	uint32 kept = 0;
	Bag all;

	bag_begin(&builder);
	for (uint32 i = 0; i < count; i++)
		bag_add(&builder, (const uint64_t *) bag[i].element, bag[i].count);
	(void) bag_finish(&builder, &all);
	for (uint32 i = 0; i < all.count; i++)
	{
		if (bag_frequency(&all, i) < least)
			continue;
		all.element[kept] = all.element[i];
		all.frequency[kept++] = all.frequency[i];
	}
	all.count = kept;
	return all;
}

/* Learns the common shingles of the even sample. */
void
form_learn(Form *form, const Texts *texts, SchemeId scheme)
{
	const Sample *sample = &texts->even;
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup form", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Bag *bag = bags_of_sample(sample, scheme);
	Bag common = common_elements(bag, sample->count);

	*form = (Form){.shingles = common.count};
	for (uint32 i = 0; i < sample->count; i++)
		form->share += (double) bag_shared(&bag[i], &common) / Max(bag[i].count, 1);
	form->share /= Max(sample->count, 1);
	/* Where hardly anything else is left, the texts are copies of each other. */
	form->found = form->share >= FORM_SHARE && form->share <= COPY_SHARE;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---- Random pairs ------------------------------------------------------------ */

static int
compare_doubles(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return (a > b) - (a < b);
}

/*
 * Sets the similarities of random pairs, or of all pairs if they are not more; returns
 * their number.
 */
static uint32
random_similarities(const Bag *bag, uint32 count, double *similarity)
{
	uint64 all = (uint64) count * (count - Min(count, 1)) / 2;
	uint32 pairs = 0;

	for (uint32 a = 1; all <= RANDOM_PAIRS && a < count; a++)
		for (uint32 b = 0; b < a; b++)
			similarity[pairs++] = bag_resemblance(&bag[a], &bag[b]);
	for (uint64 seed = 1; all > RANDOM_PAIRS && pairs < RANDOM_PAIRS; seed++)
	{
		uint64 random = mix64(seed);
		uint32 a = (uint32) (random >> 32) % count;
		uint32 b = (uint32) random % count;

		host_check_interrupts_at(pairs);
		if (a != b)
			similarity[pairs++] = bag_resemblance(&bag[a], &bag[b]);
	}
	return pairs;
}

/*
 * Returns how many of the ascending similarities are of unrelated pairs: those far above
 * the middle half are of related ones.
 */
static uint32
count_unrelated(const double *similarity, uint32 pairs)
{
	double middle = similarity[pairs / 2];
	double upper = similarity[(uint64) pairs * 3 / 4];
	double fence = upper + 4 * (upper - middle) + 0.05;

	while (similarity[pairs - 1] > fence)
		pairs--;
	return pairs;
}

static void
study_random_pairs(Study *study, const Bag *bag, uint32 count)
{
	double *similarity = palloc(RANDOM_PAIRS * sizeof(double));
	uint32 pairs = random_similarities(bag, count, similarity);

	if (pairs > 0)
	{
		qsort(similarity, pairs, sizeof(double), compare_doubles);
		pairs = count_unrelated(similarity, pairs);
		for (uint32 i = 0; i < pairs; i++)
		{
			study->mean += similarity[i] / pairs;
			study->unrelated[(int) rint(similarity[i] * STEPS * 2)]++;
		}
		study->high = similarity[(uint32) ceil((pairs - 1) * 0.9999)];
		study->unrelated_pairs = pairs;
	}
	pfree(similarity);
}

/* Returns how many unrelated pairs of all texts reach a threshold in their signatures. */
double
study_chance(const Study *study, double threshold)
{
	int radius = minhash_radius(ADVISED_K, ADVISED_B, threshold);
	double sum = 0;

	for (int i = 0; i <= STEPS * 2; i++)
		if (study->unrelated[i] > 0)
			sum += study->unrelated[i] *
				chance_within(ADVISED_K, ADVISED_B, i / (STEPS * 2.0), radius);
	return study->population * sum / Max(study->unrelated_pairs, 1);
}

/* ---- Near texts -------------------------------------------------------------- */

/* The nearest text of a text. */
typedef struct Nearest
{
	int step; /* of its similarity; 0 if there is none */
	uint32 text;
} Nearest;

/* Counts the pairs of a join. */
typedef struct Counter
{
	Study *study;
	Nearest *nearest; /* of each text */
} Counter;

/* A SetPairSink. */
static void
count_pair(void *state, uint32 a, uint32 b, double similarity)
{
	Counter *counter = state;
	int step = (int) (similarity * STEPS + 1e-9);

	host_check_interrupts_at(counter->study->pairs[step]);
	counter->study->pairs[step]++;
	if (step > counter->nearest[a].step)
		counter->nearest[a] = (Nearest){.step = step, .text = b};
	if (step > counter->nearest[b].step)
		counter->nearest[b] = (Nearest){.step = step, .text = a};
}

/*
 * Returns how many texts near another a text stands for: its nearest text is in the sample
 * too if they have the same key, which has the probability of their resemblance, or by its
 * own key.
 */
static double
weight_of_text(const Texts *texts, uint32 a, uint32 b)
{
	double by_itself = sample_share(&texts->families);
	Bag x = bag_of_text(&texts->families.text[a], texts->scheme);
	Bag y = bag_of_text(&texts->families.text[b], texts->scheme);
	double resemblance = bag_resemblance(&x, &y);

	resemblance = Max(resemblance, RESEMBLANCE_LEAST);
	bag_free(&x);
	bag_free(&y);
	return 1 / (resemblance + (1 - resemblance) * by_itself);
}

/* Joins the bags of the families. */
static void
join_families(const Bag *bag, uint32 count, double least, SetPairSink sink, void *state)
{
	SetJoin join = {.left = bag,
					.left_count = count,
					.threshold = least,
					.sink = sink,
					.state = state};
	SetJoinStats stats = {0};

	(void) set_join(&join, &stats);
}

static void
study_near_texts(Study *study, const Texts *texts, const Bag *bag)
{
	uint32 count = texts->families.count;
	Counter counter = {.study = study, .nearest = palloc0(Max(count, 1) * sizeof(Nearest))};

	join_families(bag, count, (double) study->floor / STEPS, count_pair, &counter);
	for (uint32 i = 0; i < count; i++)
	{
		Nearest nearest = counter.nearest[i];

		if (nearest.step > 0)
			study->share[nearest.step] += weight_of_text(texts, i, nearest.text) / count;
	}
}

/* ---- A study ----------------------------------------------------------------- */

/* Returns the bags of the families, without the common shingles if the study is so. */
static Bag *
bags_of_families(const Study *study, const Texts *texts, const Bag *common)
{
	Bag *bag = bags_of_sample(&texts->families, study->scheme);

	if (study->minus)
		leave_out(bag, texts->families.count, common);
	return bag;
}

/* Runs in a memory context of its own. */
static void
study_samples(Study *study, const Texts *texts)
{
	Bag *bag = bags_of_sample(&texts->even, study->scheme);
	Bag common = common_elements(bag, texts->even.count);
	double present = texts->rows - texts->nulls - texts->wordless;

	for (uint32 i = 0; i < texts->even.count; i++)
		study->few += bag[i].count < FEW_SHINGLES;
	if (study->minus)
		leave_out(bag, texts->even.count, &common);
	study->population = present * (present - 1) / 2;
	study_random_pairs(study, bag, texts->even.count);
	study->floor = LEAST_SIMILARITY * STEPS;
	while (study->floor < STEPS && study_chance(study, (double) study->floor / STEPS) >= 1)
		study->floor++;
	free_bags(bag, texts->even.count);
	study_near_texts(study, texts, bags_of_families(study, texts, &common));
}

/* Studies a scheme; with minus, after its common shingles are left out. */
void
study_scheme(Study *study, const Texts *texts, SchemeId scheme, bool minus)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup study", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	*study = (Study){.scheme = scheme, .minus = minus};
	scheme_name(scheme, study->name);
	study_samples(study, texts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---- Pairs to look at -------------------------------------------------------- */

/* Pairs from which some are chosen. */
typedef struct Choice
{
	uint32 count;
	NearPair *pair;
} Choice;

/* A SetPairSink. */
static void
take_pair(void *state, uint32 a, uint32 b, double similarity)
{
	Choice *choice = state;

	host_check_interrupts_at(choice->count);
	if (choice->count < CHOICE_MOST)
		choice->pair[choice->count++] = (NearPair){.a = a, .b = b, .similarity = similarity};
}

/* Is a pair nearer to a similarity than another?  Of equal ones, that of earlier texts is. */
static bool
is_nearer(const NearPair *p, const NearPair *q, double similarity)
{
	double far_p = fabs(p->similarity - similarity);
	double far_q = fabs(q->similarity - similarity);

	if (far_p != far_q)
		return far_p < far_q;
	return p->a != q->a ? p->a < q->a : p->b < q->b;
}

/* Returns the pair nearest to a similarity whose texts are in no pair chosen before, or NULL. */
static const NearPair *
nearest_pair(const Choice *choice, double similarity, bool *used)
{
	const NearPair *nearest = NULL;

	for (uint32 i = 0; i < choice->count; i++)
	{
		const NearPair *p = &choice->pair[i];

		host_check_interrupts_at(i);
		if (!used[p->a] && !used[p->b] && (!nearest || is_nearer(p, nearest, similarity)))
			nearest = p;
	}
	if (nearest)
		used[nearest->a] = used[nearest->b] = true;
	return nearest;
}

static int
compare_pairs(const void *x, const void *y)
{
	const NearPair *p = x;
	const NearPair *q = y;

	if (p->similarity != q->similarity)
		return p->similarity > q->similarity ? -1 : 1;
	return p->a < q->a ? -1 : p->a > q->a;
}

/* Chooses pairs at even steps around a similarity, in descending order. */
static int
choose_pairs(const Choice *choice, uint32 texts, double similarity, NearPair *pair, int most)
{
	bool *used = palloc0(Max(texts, 1) * sizeof(bool));
	const NearPair *nearest;
	int chosen = 0;

	for (int i = 0; i < most; i++)
	{
		nearest = nearest_pair(choice, similarity + (i - (most - 1) / 2.0) * PAIR_STEP, used);
		if (nearest)
			pair[chosen++] = *nearest;
	}
	qsort(pair, chosen, sizeof(NearPair), compare_pairs);
	return chosen;
}

/* Finds the most pairs nearest to a similarity, each of other texts; returns how many. */
int
study_pairs_near(const Study *study, const Texts *texts, double similarity, NearPair *pair,
				 int most)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "neardup pairs", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Choice choice = {.pair = palloc(CHOICE_MOST * sizeof(NearPair))};
	Bag *bag = bags_of_sample(&texts->even, study->scheme);
	Bag common = common_elements(bag, texts->even.count);
	int chosen;

	join_families(bags_of_families(study, texts, &common), texts->families.count,
				  Max(similarity - 0.1, LEAST_SIMILARITY), take_pair, &choice);
	chosen = choose_pairs(&choice, texts->families.count, similarity, pair, most);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return chosen;
}
