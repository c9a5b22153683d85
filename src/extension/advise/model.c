/*
 * model.c: what judged pairs say about candidates.
 *
 * One logistic regression of "same" on the similarities by all candidates gives each pair of
 * the sample a probability.  From it follow the precision and recall of every candidate at
 * every threshold, for all pairs and not only the few that were judged.  The coefficients have
 * normal priors, so a few verdicts are enough to choose (Bishop, Pattern Recognition and Machine
 * Learning, 2006, section 4.5).  How well a choice does is counted instead (counted.c).
 */
#include "advise/advise.h"

#include <math.h>

#include "base/host.h"

/* Lesser and greater similarities count as these, since 0 and 1 have infinite logits. */
#define LOWEST_SIMILARITY 0.01
#define HIGHEST_SIMILARITY 0.99

/* The means of the priors, and their precisions (one over the variance). */
#define CONSTANT_MEAN (-6.0)
#define CONSTANT_PRECISION 0.05
#define SLOPE_MEAN 5.0
#define SLOPE_PRECISION 0.2
#define DIFFERENCE_PRECISION 1.0

/* The precisions of the priors of the calibration, whose means are no change. */
#define SHIFT_PRECISION 0.1
#define STRETCH_PRECISION 1.0

/* Features of a pair: 1, the mean of the logits of its similarities, and what each differs from it. */
#define FEATURES (2 + CANDIDATES)

/* A logistic model of P(same). */
typedef struct Model
{
	const double *logits;      /* the logits of all similarities */
	double centre[CANDIDATES]; /* the mean of each logit over all pairs */
	double coefficient[FEATURES];
} Model;

/* How much a verdict counts that was given twice, and contradicts the order of similarity. */
#define CONFIRMED_WEIGHT 0.1

#define NEWTON_STEPS 50
#define NEWTON_END 1e-7

static double
logistic(double x)
{
	return 1 / (1 + exp(-Min(Max(x, -30), 30)));
}

/* ---- Features -------------------------------------------------------------------- */

/* Sets the features of a pair. */
static void
features_of_pair(const Model *model, const AdvicePair *pair, double *x)
{
	double mean = 0;

	for (int c = 0; c < CANDIDATES; c++)
	{
		x[2 + c] = model->logits[pair->similarity[c]] - model->centre[c];
		mean += x[2 + c] / CANDIDATES;
	}
	x[0] = 1;
	x[1] = mean;
	for (int c = 0; c < CANDIDATES; c++)
		x[2 + c] -= mean;
}

/* Returns the logits of all similarities. */
static double *
make_logits(void)
{
	double *logits = host_alloc(sizeof(double) * (SIMILARITY_UNITS + 1));

	for (int u = 0; u <= SIMILARITY_UNITS; u++)
	{
		double s = (double) u / SIMILARITY_UNITS;

		s = Min(Max(s, LOWEST_SIMILARITY), HIGHEST_SIMILARITY);
		logits[u] = log(s / (1 - s));
	}
	return logits;
}

static double
product(const double *x, const double *y)
{
	double sum = 0;

	for (int i = 0; i < FEATURES; i++)
		sum += x[i] * y[i];
	return sum;
}

/* ---- Linear equations ---------------------------------------------------------------- */

/* Replaces a positive definite matrix by its inverse (Gauss and Jordan). */
static void
invert(double m[FEATURES][FEATURES])
{
	for (int p = 0; p < FEATURES; p++)
	{
		double pivot = m[p][p];

		m[p][p] = 1;
		for (int j = 0; j < FEATURES; j++)
			m[p][j] /= pivot;
		for (int i = 0; i < FEATURES; i++)
		{
			double factor = m[i][p];

			if (i == p)
				continue;
			m[i][p] = 0;
			for (int j = 0; j < FEATURES; j++)
				m[i][j] -= factor * m[p][j];
		}
	}
}

/* ---- The fit --------------------------------------------------------------------------- */

/* The verdicts to fit a model to. */
typedef struct Evidence
{
	uint32 count;
	double (*x)[FEATURES];
	const AdvicePair **pair;
	double *weight;
	double mean[FEATURES];
	double precision[FEATURES];
} Evidence;

/* Returns 1 if a verdict is "same", or 0. */
static double
is_judged_same(const Evidence *evidence, uint32 i)
{
	return evidence->pair[i]->verdict == VERDICT_SAME;
}

/* Returns the negative logarithm of the posterior, up to a constant. */
static double
surprise(const Evidence *evidence, const double *coefficient)
{
	double sum = 0;

	for (uint32 i = 0; i < evidence->count; i++)
	{
		double z = product(evidence->x[i], coefficient);

		sum += evidence->weight[i] *
			(Max(z, 0) + log1p(exp(-fabs(z))) - is_judged_same(evidence, i) * z);
	}
	for (int j = 0; j < FEATURES; j++)
		sum += evidence->precision[j] * pow(coefficient[j] - evidence->mean[j], 2) / 2;
	return sum;
}

/* Sets the gradient of surprise(), and the inverse of the matrix of its second derivatives. */
static void
derive(const Evidence *evidence, const double *coefficient, double *gradient,
	   double inverse[FEATURES][FEATURES])
{
	for (int j = 0; j < FEATURES; j++)
	{
		gradient[j] = evidence->precision[j] * (coefficient[j] - evidence->mean[j]);
		for (int k = 0; k < FEATURES; k++)
			inverse[j][k] = j == k ? evidence->precision[j] : 0;
	}
	for (uint32 i = 0; i < evidence->count; i++)
	{
		const double *x = evidence->x[i];
		double p = logistic(product(x, coefficient));
		double spread = evidence->weight[i] * p * (1 - p);

		for (int j = 0; j < FEATURES; j++)
		{
			gradient[j] += evidence->weight[i] * (p - is_judged_same(evidence, i)) * x[j];
			for (int k = 0; k < FEATURES; k++)
				inverse[j][k] += spread * x[j] * x[k];
		}
	}
	invert(inverse);
}

/* Finds the most probable coefficients b by Newton's method.  A step that overshoots is halved. */
static void
maximise(const Evidence *evidence, double *b)
{
	double before = surprise(evidence, memcpy(b, evidence->mean, sizeof(evidence->mean)));
	double inverse[FEATURES][FEATURES];
	double gradient[FEATURES];

	for (int step = 0; step < NEWTON_STEPS; step++)
	{
		double after = INFINITY;
		double next[FEATURES];

		derive(evidence, b, gradient, inverse);
		for (double length = 1; length > 1e-4 && after > before; length /= 2)
		{
			for (int j = 0; j < FEATURES; j++)
				next[j] = b[j] - length * product(inverse[j], gradient);
			after = surprise(evidence, next);
		}
		if (after > before)
			break;
		memcpy(b, next, sizeof(next));
		if (before - after < NEWTON_END)
			break;
		before = after;
	}
}

/*
 * Sets the weights: by a power of the chance of a pair to be drawn, 1 on average.  Verdicts that contradict
 * the order of similarity count less: `once` if they were given once, `again` if twice.
 */
static void
weigh_evidence(Evidence *evidence, double power, double once, double again)
{
	double total = 0;

	for (uint32 i = 0; i < evidence->count; i++)
		total += evidence->weight[i] = pow(evidence->pair[i]->chance, -power);
	for (uint32 i = 0; i < evidence->count; i++)
	{
		evidence->weight[i] *= evidence->count / total;
		if (evidence->pair[i]->contradicts)
			evidence->weight[i] *= evidence->pair[i]->again ? again : once;
	}
}

/*
 * Gathers the judged pairs and the priors.  A pair weighs 1 / sqrt(chance).  If it weighed
 * 1 / chance, the few pairs from strata of many pairs would decide alone.
 */
static void
gather_evidence(Evidence *evidence, const Model *model, const CorpusPairs *pairs, uint32 left_out)
{
	*evidence = (Evidence){.x = host_alloc(sizeof(*evidence->x) * pairs->judged_count + 1),
						   .pair = host_alloc(sizeof(AdvicePair *) * pairs->judged_count + 1),
						   .weight = host_alloc(sizeof(double) * pairs->judged_count + 1),
						   .mean = {CONSTANT_MEAN, SLOPE_MEAN},
						   .precision = {CONSTANT_PRECISION, SLOPE_PRECISION}};
	for (uint32 i = 0; i < pairs->judged_count; i++)
	{
		if (pairs->judged[i] == left_out)
			continue;
		evidence->pair[evidence->count] = &pairs->pair[pairs->judged[i]];
		features_of_pair(model, evidence->pair[evidence->count], evidence->x[evidence->count]);
		evidence->count++;
	}
	weigh_evidence(evidence, 0.5, 1, CONFIRMED_WEIGHT);
	for (int c = 0; c < CANDIDATES; c++)
		evidence->precision[2 + c] = DIFFERENCE_PRECISION;
}

/*
 * Finds how to shift and stretch the model's logits so that estimates of numbers of pairs are
 * right.  Here a pair weighs 1 / chance, and one whose verdict contradicts nothing: it would
 * stand for many.  `calibration` gets the coefficients of 1 and of the logit.  The features of the
 * evidence are overwritten.
 */
static void
calibrate(Evidence *evidence, const Model *model, double *calibration)
{
	memset(evidence->mean, 0, sizeof(evidence->mean));
	evidence->mean[1] = 1;
	evidence->precision[0] = SHIFT_PRECISION;
	evidence->precision[1] = STRETCH_PRECISION;
	for (uint32 i = 0; i < evidence->count; i++)
	{
		double *x = evidence->x[i];
		double z = product(x, model->coefficient);

		memset(x, 0, sizeof(*evidence->x));
		x[0] = 1;
		x[1] = z;
	}
	weigh_evidence(evidence, 1, 0, 0);
	maximise(evidence, calibration);
}

/* Sets P(same) of all pairs: what the model says of a pair is a sum of its logits, each with a weight. */
static void
set_chances_of_same(CorpusPairs *pairs, const Model *model, const double *calibration)
{
	const double *b = model->coefficient;
	double constant = b[0];
	double of_mean = b[1];
	double weight[CANDIDATES];

	for (int c = 0; c < CANDIDATES; c++)
		of_mean -= b[2 + c];
	for (int c = 0; c < CANDIDATES; c++)
	{
		weight[c] = b[2 + c] + of_mean / CANDIDATES;
		constant -= weight[c] * model->centre[c];
	}
	for (size_t i = 0; i < pairs->count; i++)
	{
		AdvicePair *pair = &pairs->pair[i];
		double z = constant;

		host_check_interrupts_at(i);
		for (int c = 0; c < CANDIDATES; c++)
			z += weight[c] * model->logits[pair->similarity[c]];
		pair->same = (float) logistic(z);
		pair->calibrated = (float) logistic(calibration[0] + calibration[1] * z);
	}
}

/*
 * Fits a model to the judged pairs, of which there is at least one, but for the pair `left_out`.  Sets
 * P(same) of all pairs.
 */
void
model_fit(CorpusPairs *pairs, uint32 left_out)
{
	Model model = {.logits = make_logits()};
	double calibration[FEATURES];
	Evidence evidence;

	for (size_t i = 0; i < pairs->count; i++)
		for (int c = 0; c < CANDIDATES; c++)
			model.centre[c] += model.logits[pairs->pair[i].similarity[c]] / pairs->count;
	gather_evidence(&evidence, &model, pairs, left_out);
	maximise(&evidence, model.coefficient);
	calibrate(&evidence, &model, calibration);
	set_chances_of_same(pairs, &model, calibration);
	host_free(evidence.x);
	host_free(evidence.pair);
	host_free(evidence.weight);
}

/* ---- The outlook of a candidate ---------------------------------------------------------- */

/* Returns F1 if `found` of `same` pairs are among `reported` pairs. */
static double
f1_of(double found, double reported, double same)
{
	return reported + same > 0 ? 2 * found / (reported + same) : 0;
}

/*
 * Sets *outlook to what a candidate does at the threshold of the greatest F1 whose precision is at
 * least `least_precision`.  Returns false if there is no such threshold.
 */
static bool
model_outlook(const CorpusPairs *pairs, int candidate, double least_precision, Outlook *outlook)
{
	const double *reported = pairs->reported[candidate];
	double same[GRID + 2] = {0};
	double calibrated[GRID + 2] = {0};

	for (size_t i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];
		int step = pair_step(pair, candidate);

		same[step] += pair->stands_for * pair->same;
		calibrated[step] += pair->stands_for * pair->calibrated;
	}
	for (int t = GRID; t >= 0; t--)
	{
		same[t] += same[t + 1];
		calibrated[t] += calibrated[t + 1];
	}
	*outlook = (Outlook){.candidate = candidate};
	for (int t = GRID; t > 0; t--)
	{
		double merit = f1_of(same[t], reported[t], same[0]);

		if (merit > outlook->merit && calibrated[t] >= least_precision * reported[t])
			*outlook = (Outlook){.candidate = candidate,
								 .step = t,
								 .pairs = reported[t],
								 .merit = merit,
								 .f1 = f1_of(calibrated[t], reported[t], calibrated[0]),
								 .recall = calibrated[t] / calibrated[0]};
	}
	return outlook->merit > 0;
}

/* Sorts the best outlook first; equal ones by their positions in candidates[]. */
static int
compare_outlooks(const void *x, const void *y)
{
	const Outlook *p = x;
	const Outlook *q = y;

	if (p->merit != q->merit)
		return p->merit > q->merit ? -1 : 1;
	return p->candidate - q->candidate;
}

/* Sets the outlooks of candidates, the best first, and returns their number. */
int
model_outlooks(const CorpusPairs *pairs, double least_precision, Outlook *outlook)
{
	int count = 0;

	for (int c = 0; c < CANDIDATES; c++)
		count += model_outlook(pairs, c, least_precision, &outlook[count]);
	qsort(outlook, count, sizeof(Outlook), compare_outlooks);
	return count;
}
