/*
 * forecast.c: how long a run of a join takes, by the share of its work that is done.
 *
 * Families, which are documents nearly similar to each other, have to be compared pair by pair.  So the
 * caller is told of a run that takes more than a minute.  Only the share that is done is an estimate, by a
 * sample of documents that is taken when the run has lasted some seconds; the time is measured.
 */
#include "join/forecast.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "join/documents.h"
#include "join/set_plan.h"
#include "join/spread.h"
#include "sketch/symbols.h"

/* Microseconds before the first look at a run, and those that a run may take before the caller is told. */
#define PATIENCE_US 3000000
#define SILENT_US 60000000

/* A family of fewer documents in a sample may be there by chance. */
#define FAMILY_MIN 8

/* The time until the next look, as a share of the time that the run has lasted. */
#define NEXT_LOOK 0.1

/* Calls for each look at the clock, which else takes a fiftieth of a join of small buckets. */
#define CALLS_OF_LOOK 16

/* ---- The clock -------------------------------------------------------------------- */

/* Returns a time in microseconds; 0 in tests whose lists hold at most two, which are told of every run. */
static double
patience(double usual)
{
	return host_limit(3) <= 2 ? 0 : usual;
}

static double
now_us(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* Returns whether it is time to look at a run; never if nobody wants to know, or knows already. */
bool
forecast_is_due(Forecast *forecast)
{
	double now;

	if (forecast == NULL || forecast->options->stats->slow ||
		forecast->calls++ % host_limit(CALLS_OF_LOOK) != 0)
		return false;
	now = now_us();
	if (forecast->begun == 0)
	{
		forecast->begun = now;
		forecast->next = now + patience(PATIENCE_US);
	}
	if (now < forecast->next)
		return false;
	forecast->next = now + (now - forecast->begun) * NEXT_LOOK;
	return true;
}

/* ---- Signatures ----------------------------------------------------------------- */

/* The most signatures of a side that are looked at. */
#define SAMPLED 1024

/* Signatures of a side, at equal distances. */
typedef struct SampledSide
{
	uint32_t documents; /* the documents of the side */
	uint32_t count;
	uint8_t *packed;
} SampledSide;

static SampledSide
take_side(const SpreadJoin *join, const JoinSide *side, const FileList *in_file)
{
	SampledSide sample = {side->documents, Min(side->documents, SAMPLED)};
	size_t stride = join->symbols.stride;

	sample.packed = host_alloc(sample.count * stride);
	for (uint32_t i = 0; i < sample.count; i++)
	{
		uint64_t position = (uint64_t) i * sample.documents / sample.count;

		if (in_file->file != NULL)
			host_file_read(in_file->file, position * in_file->stride, sample.packed + i * stride,
						   stride);
		else
			memcpy(sample.packed + i * stride, side->packed + position * stride, stride);
	}
	return sample;
}

/* Returns the buckets of a sample in a group. */
static uint32_t *
buckets_in_group(const SpreadJoin *join, const SampledSide *sample, int group)
{
	uint32_t *bucket = host_alloc(sample->count * sizeof(uint32_t));

	for (uint32_t i = 0; i < sample->count; i++)
		bucket[i] =
			group_bucket(&join->plan.grouping, group, sample->packed + i * join->symbols.stride);
	return bucket;
}

/* Adds the pairs of two samples that meet in a group, as many as each of them stands for. */
static void
add_work_of_group(Forecast *forecast, int group, const SampledSide *x, const SampledSide *y)
{
	const SpreadJoin *join = forecast->signatures;
	uint32_t *left = buckets_in_group(join, x, group);
	uint32_t *right = buckets_in_group(join, y, group);
	int radius = join_radius(&join->plan, group);
	double scale = (double) y->documents / y->count;

	host_check_interrupts();
	for (uint32_t i = 0; i < x->count; i++)
	{
		uint32_t near = 0;

		for (uint32_t j = 0; j < y->count; j++)
			near += count_symbols(left[i] ^ right[j], join->symbols.b) <= radius;
		/* In one list, a document is near itself. */
		forecast->all += (near - (x == y)) * scale * x->documents / x->count;
		if (near > FAMILY_MIN)
			forecast->family = fmax(forecast->family, near * scale);
	}
	host_free(left);
	host_free(right);
}

/* Estimates the pairs that the groups of a join compare; without groups these are all pairs. */
static void
estimate_signatures(Forecast *forecast)
{
	const SpreadJoin *join = forecast->signatures;
	const JoinSide *left = &join->symbols.left;
	const JoinSide *right = &join->symbols.right;
	bool two = right->documents > 0;
	SampledSide x = take_side(join, left, &join->left);
	SampledSide y = two ? take_side(join, right, &join->right) : x;

	for (int group = 0; group < join->plan.groups; group++)
		add_work_of_group(forecast, group, &x, two ? &y : &x);
	if (join->plan.groups == 0)
	{
		forecast->all = (double) x.documents * y.documents;
		forecast->family = x.documents;
	}
	host_free(x.packed);
	if (two)
		host_free(y.packed);
	else
		forecast->all /= 2;
}

/* ---- Sets --------------------------------------------------------------------- */

/* Returns the document of a step of a forecast. */
static uint32_t
set_step(const SetItems *items, uint32_t step)
{
	return (uint32_t) ((uint64_t) items->documents * step / FORECAST_STEPS);
}

/* Returns the rarest items of documents at equal distances: the rank of each, and the step, ascending. */
static uint64_t *
sample_items(const SetJoin *join, const SetItems *items, size_t *count)
{
	uint64_t *key = host_alloc((items->items_most + 1) * sizeof(uint64_t));
	uint64_t *sampled = NULL;
	size_t room = 0;

	*count = 0;
	for (uint32_t s = 0; s < FORECAST_STEPS; s++)
	{
		const SetDocument *document = items->document + set_step(items, s);
		uint32_t most = (uint32_t) set_postings_most(join, document, false);

		host_check_interrupts();
		sampled = host_grow(sampled, &room, *count + most, sizeof(uint64_t));
		if (items->file != NULL)
			host_file_read(items->file, document->item * sizeof(uint64_t), key,
						   most * sizeof(uint64_t));
		for (uint32_t i = 0; i < most; i++)
		{
			uint64_t rank =
				items->file != NULL ? set_key_rank(key[i]) : items->rank[document->item + i];

			sampled[(*count)++] = rank << 32 | s;
		}
	}
	host_free(key);
	sort_records(sampled, *count, sizeof(uint64_t), sort_key_unsigned);
	return sampled;
}

/*
 * Estimates what the documents up to each step of a forecast cost, by a sample of them: their lists are read,
 * or they are scanned.  The longest list is the largest family.
 */
static void
estimate_work(const SetJoin *join, const SetItems *items)
{
	Forecast *forecast = join->forecast;
	double scale = (double) items->documents / FORECAST_STEPS;
	double hits[FORECAST_STEPS] = {0};
	size_t count;
	uint64_t *item = sample_items(join, items, &count);
	size_t first = 0;

	for (size_t i = 0; i < count; i++)
	{
		uint32_t s = (uint32_t) item[i];

		while (item[first] >> 32 != item[i] >> 32 ||
			   set_step(items, (uint32_t) item[first]) <
				   items->document[set_step(items, s)].earliest)
			first++;
		hits[s] += (double) (i - first) * scale * COST_OF_HIT;
		if (i - first >= FAMILY_MIN)
			forecast->family = fmax(forecast->family, (double) (i - first + 1) * scale);
	}
	host_free(item);
	for (uint32_t s = 0; s < FORECAST_STEPS; s++)
	{
		uint32_t d = set_step(items, s);
		double scanned = (double) (d - items->document[d].earliest) * COST_OF_SCANNED;

		forecast->before[s + 1] = forecast->before[s] + fmin(hits[s], scanned) * scale;
	}
	forecast->all = fmax(forecast->before[FORECAST_STEPS], 1);
}

/* Returns about what the documents before one cost to be compared with those before them. */
double
set_work_before(const SetJoin *join, const SetItems *items, uint32_t d)
{
	const double *before = join->forecast->before;
	double step = (double) d * FORECAST_STEPS / items->documents;
	uint32_t whole = (uint32_t) step;

	if (join->forecast->all == 0)
		estimate_work(join, items);
	return whole == FORECAST_STEPS ?
		before[whole] :
		before[whole] + (step - whole) * (before[whole + 1] - before[whole]);
}

/* ---- What is said ---------------------------------------------------------------- */

/* Returns a number, rounded to two digits. */
static double
two_digits(double number)
{
	double unit = pow(10, floor(log10(number)) - 1);

	return rint(number / unit) * unit;
}

/* Looks at a run of which this process has done some work; tells the caller if the run takes long. */
void
forecast_look(Forecast *forecast, double done)
{
	const PairOptions *options = forecast->options;
	double share;
	double minutes;

	if (forecast->all == 0 && forecast->signatures != NULL)
		estimate_signatures(forecast);
	share = done > 0 ? done / forecast->all * forecast->processes : 0;
	if (*forecast->pairs < forecast->most / forecast->processes)
		share = fmax(share, (double) *forecast->pairs * forecast->processes / forecast->most);
	minutes = (now_us() - forecast->begun) / 60e6 / share;
	if (share == 0 || forecast->family == 0 || !(minutes * 60e6 >= patience(SILENT_US)))
		return;
	options->stats->slow = true;
	options->slow(options->state, two_digits(forecast->family), fmax(rint(minutes), 1));
}
