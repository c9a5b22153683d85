/*
 * model.c: what judged pairs say about candidates.
 *
 * One logistic regression of "same" on the similarities by all candidates gives each pair of
 * the sample a probability.  From it follow the precision and recall of every candidate at
 * every threshold, for all pairs and not only the few that were judged.  To count verdicts
 * instead, many more would be needed.  The coefficients have normal priors, so a few
 * verdicts are enough.  The intervals have the normal approximation of their posterior (Bishop,
 * Pattern Recognition and Machine Learning, 2006, section 4.5), and the variance of the number
 * of same pairs, if chance decides about each.
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

#define NEWTON_STEPS 50
#define NEWTON_END 1e-7

#define NORMAL_95 1.96

static double
logistic(double x)
{
	return 1 / (1 + exp(-Min(Max(x, -30), 30)));
}

static double
logit(double p)
{
	return log(p / (1 - p));
}

/* ---- Features -------------------------------------------------------------------- */

/* Returns the logit of a similarity. */
static double
logit_of_units(uint16 similarity)
{
	double s = (double) similarity / SIMILARITY_UNITS;

	return logit(Min(Max(s, LOWEST_SIMILARITY), HIGHEST_SIMILARITY));
}

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
		logits[u] = logit_of_units((uint16) u);
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
	double *same;   /* 0 or 1 */
	double *weight; /* 1 on average */
	double mean[FEATURES];
	double precision[FEATURES];
} Evidence;

/* Returns the negative logarithm of the posterior, up to a constant. */
static double
surprise(const Evidence *evidence, const double *coefficient)
{
	double sum = 0;

	for (uint32 i = 0; i < evidence->count; i++)
	{
		double z = product(evidence->x[i], coefficient);

		sum += evidence->weight[i] * (Max(z, 0) + log1p(exp(-fabs(z))) - evidence->same[i] * z);
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
			gradient[j] += evidence->weight[i] * (p - evidence->same[i]) * x[j];
			for (int k = 0; k < FEATURES; k++)
				inverse[j][k] += spread * x[j] * x[k];
		}
	}
	invert(inverse);
}

/* Finds the most probable coefficients by Newton's method.  A step that overshoots is halved. */
static void
maximise(const Evidence *evidence, Model *model)
{
	double *b = model->coefficient;
	double before = surprise(evidence, memcpy(b, evidence->mean, sizeof(evidence->mean)));
	double gradient[FEATURES];

	for (int step = 0; step < NEWTON_STEPS; step++)
	{
		double after = INFINITY;
		double next[FEATURES];

		derive(evidence, b, gradient, model->covariance);
		for (double length = 1; length > 1e-4 && after > before; length /= 2)
		{
			for (int j = 0; j < FEATURES; j++)
				next[j] = b[j] - length * product(model->covariance[j], gradient);
			after = surprise(evidence, next);
		}
		if (after > before)
			break;
		memcpy(b, next, sizeof(next));
		if (before - after < NEWTON_END)
			break;
		before = after;
	}
	derive(evidence, b, gradient, model->covariance);
}

/* Makes the weights 1 on average. */
static void
normalise_weights(Evidence *evidence)
{
	double total = 0;

	for (uint32 i = 0; i < evidence->count; i++)
		total += evidence->weight[i];
	for (uint32 i = 0; i < evidence->count; i++)
		evidence->weight[i] *= evidence->count / total;
}

/*
 * Gathers the judged pairs and the priors.  A pair weighs 1 / sqrt(chance).  If it weighed
 * 1 / chance, the few pairs from strata of many pairs would decide alone.
 */
static void
gather_evidence(Evidence *evidence, const Model *model, const CorpusPairs *pairs)
{
	*evidence = (Evidence){.count = pairs->judged_count,
						   .x = host_alloc(sizeof(*evidence->x) * pairs->judged_count + 1),
						   .same = host_alloc(sizeof(double) * pairs->judged_count + 1),
						   .weight = host_alloc(sizeof(double) * pairs->judged_count + 1),
						   .mean = {CONSTANT_MEAN, SLOPE_MEAN},
						   .precision = {CONSTANT_PRECISION, SLOPE_PRECISION}};
	for (uint32 i = 0; i < evidence->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[pairs->judged[i]];

		features_of_pair(model, pair, evidence->x[i]);
		evidence->same[i] = pairs->same[i];
		evidence->weight[i] = 1 / sqrt(pair->chance);
	}
	normalise_weights(evidence);
	for (int c = 0; c < CANDIDATES; c++)
		evidence->precision[2 + c] = DIFFERENCE_PRECISION;
}

/*
 * Finds how to shift and stretch the model's logits so that estimates of numbers of pairs are
 * right.  Here a pair weighs 1 / chance.  `calibration` gets the coefficients of 1 and of the logit.
 * The features of the evidence are overwritten.
 */
static void
calibrate(Evidence *evidence, const Model *model, const CorpusPairs *pairs, Model *calibration)
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
		evidence->weight[i] = 1 / pairs->pair[pairs->judged[i]].chance;
	}
	normalise_weights(evidence);
	maximise(evidence, calibration);
}

/* Adds a pair with features x to sums. */
static void
add_to_sums(Sums *sums, const AdvicePair *pair, const double *x)
{
	double p = pair->calibrated;

	sums->same += pair->stands_for * p;
	sums->variance += pow(pair->stands_for, 2) * p * (1 - p);
	for (int j = 0; j < FEATURES; j++)
		sums->gradient[j] += pair->stands_for * p * (1 - p) * x[j];
}

/* Fits a model to the judged pairs, of which there is at least one, and sets P(same) of all pairs. */
void
model_fit(Model *model, CorpusPairs *pairs)
{
	Evidence evidence;
	Model calibration;

	*model = (Model){.logits = make_logits()};
	for (size_t i = 0; i < pairs->count; i++)
		for (int c = 0; c < CANDIDATES; c++)
			model->centre[c] += model->logits[pairs->pair[i].similarity[c]] / pairs->count;
	gather_evidence(&evidence, model, pairs);
	maximise(&evidence, model);
	calibrate(&evidence, model, pairs, &calibration);
	for (size_t i = 0; i < pairs->count; i++)
	{
		AdvicePair *pair = &pairs->pair[i];
		double x[FEATURES];
		double z;

		host_check_interrupts_at(i);
		features_of_pair(model, pair, x);
		z = product(x, model->coefficient);
		pair->same = (float) logistic(z);
		pair->calibrated =
			(float) logistic(calibration.coefficient[0] + calibration.coefficient[1] * z);
		add_to_sums(&model->all, pair, x);
	}
	host_free(evidence.x);
	host_free(evidence.same);
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
 * Returns the threshold of the greatest F1 whose precision is at least `least_precision`, in steps
 * of the grid, or 0 if there is none.  Sets *merit to this F1.
 */
static int
choose_threshold(const CorpusPairs *pairs, int candidate, double least_precision, double *merit)
{
	const double *reported = pairs->reported[candidate];
	double same[GRID + 1] = {0};
	double calibrated[GRID + 1] = {0};
	double all = 0;
	int chosen = 0;

	for (size_t i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];
		int step = pair_step(pair, candidate);

		same[step] += pair->stands_for * pair->same;
		calibrated[step] += pair->stands_for * pair->calibrated;
		all += pair->stands_for * pair->same;
	}
	*merit = 0;
	for (int t = GRID; t > 0; t--)
	{
		double f1;

		if (t < GRID)
		{
			same[t] += same[t + 1];
			calibrated[t] += calibrated[t + 1];
		}
		f1 = f1_of(same[t], reported[t], all);
		if (f1 > *merit && calibrated[t] >= least_precision * reported[t])
		{
			*merit = f1;
			chosen = t;
		}
	}
	return chosen;
}

/* The derivatives of an estimate by the number of same pairs that a candidate finds, and misses. */
typedef struct Slopes
{
	double found;
	double missed;
} Slopes;

/*
 * Returns an estimate with its interval.  That is normal on the scale of logits, and is rounded
 * outwards: otherwise it would never include 1.
 */
static Estimate
model_estimate(const Model *model, double value, const Sums *found, Slopes slopes)
{
	const Sums *all = &model->all;
	double p = Min(Max(value, 1e-4), 1 - 1e-4);
	double gradient[FEATURES];
	double variance = pow(slopes.found, 2) * found->variance +
		pow(slopes.missed, 2) * (all->variance - found->variance);
	double error;

	for (int j = 0; j < FEATURES; j++)
		gradient[j] = slopes.found * found->gradient[j] +
			slopes.missed * (all->gradient[j] - found->gradient[j]);
	for (int j = 0; j < FEATURES; j++)
		variance += gradient[j] * product(model->covariance[j], gradient);
	error = NORMAL_95 * sqrt(Max(variance, 0)) / (p * (1 - p));
	return (Estimate){value, floor(GRID * logistic(logit(p) - error)) / GRID,
					  ceil(GRID * logistic(logit(p) + error)) / GRID};
}

/* Returns the sums of the pairs that a candidate reports at a threshold, in steps of the grid. */
static Sums
sum_up(const Model *model, const CorpusPairs *pairs, int candidate, int threshold)
{
	Sums sums = {0};

	for (size_t i = 0; i < pairs->count; i++)
	{
		const AdvicePair *pair = &pairs->pair[i];
		double x[FEATURES];

		host_check_interrupts_at(i);
		if (pair_step(pair, candidate) < threshold)
			continue;
		features_of_pair(model, pair, x);
		add_to_sums(&sums, pair, x);
	}
	return sums;
}

/*
 * Sets *outlook to what a candidate does at its best threshold whose precision is at least
 * `least_precision`, from 0 to 1.  Returns false if there is no such threshold.
 */
bool
model_outlook(const Model *model, const CorpusPairs *pairs, int candidate, double least_precision,
			  Outlook *outlook)
{
	double merit;
	int threshold = choose_threshold(pairs, candidate, least_precision, &merit);
	double reported = pairs->reported[candidate][threshold];
	const Sums *all = &model->all;
	Sums found;
	double missed;
	double both;

	if (threshold == 0)
		return false;
	found = sum_up(model, pairs, candidate, threshold);
	missed = all->same - found.same;
	both = reported + all->same;
	*outlook = (Outlook){.candidate = candidate,
						 .threshold = (double) threshold / GRID,
						 .pairs = reported,
						 .merit = merit,
						 .precision = model_estimate(model, found.same / reported, &found,
													 (Slopes){1 / reported, 0}),
						 .recall = model_estimate(model, found.same / all->same, &found,
												  (Slopes){missed / pow(all->same, 2),
														   -found.same / pow(all->same, 2)}),
						 .f1 = model_estimate(model, f1_of(found.same, reported, all->same), &found,
											  (Slopes){2 * (both - found.same) / pow(both, 2),
													   -2 * found.same / pow(both, 2)})};
	return true;
}
