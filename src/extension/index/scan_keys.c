/*
 * scan_keys.c: the keys of a scan: balls to search, and conditions on the columns beside the
 * signature, with the lists of documents that satisfy them.
 */
#include "index/prices.h"

#include "access/relscan.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "base/sort.h"

/* ---- Values ------------------------------------------------------------- */

/* The values that a scan key names: one, or the values of an array that are not NULL. */
typedef struct KeyValues
{
	Oid type;
	Datum *value;
	int count;
} KeyValues;

static KeyValues
values_of_key(Relation index, const ScanKeyData *key)
{
	KeyValues values = {.type = key->sk_subtype};

	if (!OidIsValid(values.type))
		values.type = index->rd_opcintype[key->sk_attno - 1];
	if (key->sk_flags & SK_ISNULL)
		return values;
	if (key->sk_flags & SK_SEARCHARRAY)
	{
		ArrayType *array = DatumGetArrayTypeP(key->sk_argument);
		Oid type = ARR_ELEMTYPE(array);
		bool *isnull;
		int16 length;
		bool by_value;
		char align;
		int count;

		get_typlenbyvalalign(type, &length, &by_value, &align);
		deconstruct_array(array, type, length, by_value, align, &values.value, &isnull, &count);
		/* Nothing is equal to NULL, or within it. */
		for (int i = 0; i < count; i++)
			if (!isnull[i])
				values.value[values.count++] = values.value[i];
		return values;
	}
	values.value = palloc(sizeof(Datum));
	values.value[0] = key->sk_argument;
	values.count = 1;
	return values;
}

/* ---- Conditions on keys ------------------------------------------------- */

static KeyCondition
condition_of_key(Relation index, const ScanKeyData *key)
{
	KeyValues values = values_of_key(index, key);
	KeyHasher hasher = index_key_hasher(index, key->sk_attno, values.type);
	KeyCondition condition = {.key = hasher.key};

	condition.hash = palloc((values.count + 1) * sizeof(uint32));
	for (int i = 0; i < values.count; i++)
	{
		host_check_interrupts_at(i);
		condition.hash[i] = key_hash(&hasher, values.value[i]);
	}
	/* A guard asks for rows that are equal to a value or NULL. */
	if (key->sk_flags & SK_SEARCHNULL)
		condition.hash[values.count++] = HASH_OF_NULL;
	sort_records(condition.hash, values.count, sizeof(uint32), sort_key_32);
	for (int i = 0; i < values.count; i++)
		if (i == 0 || condition.hash[i] != condition.hash[i - 1])
			condition.hash[condition.count++] = condition.hash[i];
	return condition;
}

/* Returns whether a condition contains the hash of a key. */
bool
condition_holds(const KeyCondition *condition, uint32 hash)
{
	int at = 0;

	SEARCH_SORTED(at, condition->count, condition->hash[middle] < hash);
	return at < condition->count && condition->hash[at] == hash;
}

/* ---- Balls -------------------------------------------------------------- */

/* The balls of a scan key.  A signature that is to be equal to a value is within 0 of it. */
typedef struct KeyBalls
{
	Ball *ball;
	int count;
	int radius; /* the greatest */
} KeyBalls;

/* Reports an error if a ball has another shape than the index. */
static void
check_shapes(Relation index, const KeyBalls *balls)
{
	IndexMeta *meta = meta_read(index);

	for (int i = 0; i < balls->count && meta->shape.k != 0; i++)
		index_check_shape(index, &meta->shape, &balls->ball[i].centre.header, false);
	pfree(meta);
}

/* Returns the balls that a key names, empty ones included. */
static KeyBalls
balls_of_key(Relation index, const ScanKeyData *key)
{
	KeyValues values = values_of_key(index, key);
	KeyBalls balls = {.ball = palloc(Max(values.count, 1) * sizeof(Ball)), .count = values.count};

	for (int i = 0; i < values.count; i++)
	{
		Datum value = values.value[i];

		/* Of signatures, only a bigint has an equality, with any integer. */
		if (values.type == INT2OID)
			value = Int64GetDatum(DatumGetInt16(value));
		else if (values.type == INT4OID)
			value = Int64GetDatum(DatumGetInt32(value));
		balls.ball[i] = key->sk_strategy == STRATEGY_EQUAL ?
			(Ball){.centre = index_signature(index, value)} :
			ball_of_datum(value);
	}
	return balls;
}

/* Drops empty balls, to which nothing is similar. */
static void
drop_empty(KeyBalls *balls)
{
	int kept = 0;

	for (int i = 0; i < balls->count; i++)
	{
		if (signature_is_empty(&balls->ball[i].centre))
			continue;
		balls->radius = Max(balls->radius, balls->ball[i].header.radius);
		balls->ball[kept++] = balls->ball[i];
	}
	balls->count = kept;
}

/*
 * Reads the keys of a scan.  Searches the balls of one key, the cheapest.  A recheck tests the
 * other keys, and alone decides on a condition that is not an equality on a column beside the
 * signature.  The planner may ask for one: it makes a bitmap scan also of an index path that is
 * disabled.
 */
ScanConditions
scan_conditions(IndexScanDesc scan)
{
	Relation index = scan->indexRelation;
	int signature = index_cache(index)->signature;
	KeyFilter *filter =
		palloc(offsetof(KeyFilter, condition) + scan->numberOfKeys * sizeof(KeyCondition));
	ScanConditions conditions = {.complete = scan->numberOfKeys <= 1};
	KeyBalls best = {.count = 0};

	filter->keys = index_keys(index);
	filter->conditions = 0;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		const ScanKeyData *key = &scan->keyData[i];

		if (key->sk_attno != signature)
		{
			conditions.complete = false;
			if (key->sk_strategy == STRATEGY_EQUAL)
			{
				KeyCondition condition = condition_of_key(index, key);

				conditions.nothing |= condition.count == 0;
				filter->condition[filter->conditions++] = condition;
			}
		}
		else
		{
			KeyBalls balls = balls_of_key(index, key);

			/* A search of one ball compares its shape itself. */
			if (scan->numberOfKeys + scan->numberOfOrderBys > 1 || balls.count != 1 ||
				signature_is_empty(&balls.ball[0].centre))
				check_shapes(index, &balls);
			drop_empty(&balls);
			/* The radii of balls that meet are in the table only. */
			conditions.complete &= key->sk_strategy != STRATEGY_BALLS_MEET;
			conditions.nothing |= balls.count == 0;
			/* Fewer balls, or as many of a smaller radius, are likely to cost less. */
			if (best.ball == NULL || balls.count < best.count ||
				(balls.count == best.count && balls.radius < best.radius))
				best = balls;
		}
	}
	conditions.ball = best.ball;
	conditions.balls = best.count;
	conditions.filter = filter->conditions > 0 ? filter : NULL;
	return conditions;
}

/* ---- Lists of keys ------------------------------------------------------ */

/* Returns the buckets of the hashes of a condition, without their lengths. */
static KeyLists
lists_of_condition(const Segment *segment, const KeyCondition *condition)
{
	const Grouping *g = &segment->grouping;
	KeyLists lists = {.bucket = palloc(condition->count * sizeof(QueryBucket))};

	for (int i = 0; i < condition->count; i++)
	{
		QueryBucket bucket = {.group = g->groups + condition->key,
							  .bucket = key_bucket(g, condition->hash[i])};

		if (i == 0 || lists.bucket[lists.count - 1].bucket != bucket.bucket)
			lists.bucket[lists.count++] = bucket;
	}
	return lists;
}

/* Finds the condition whose lists cost least, if that is less than `cost` nanoseconds. */
KeyLists
find_key_lists(Relation index, Segment *segment, const KeyFilter *filter, double cost,
			   SearchReport *report)
{
	SegmentStats stats = segment_stats(segment);
	KeyLists best = {.bucket = NULL};

	for (int i = 0; i < filter->conditions && segment->grouping.keys > 0; i++)
	{
		const KeyCondition *condition = &filter->condition[i];
		KeyLists lists;

		if (condition->count * LOOK_NS > cost)
			continue;
		lists = lists_of_condition(segment, condition);
		lists.plan = keys_plan(&segment->grouping, &stats, lists.count, 0);
		for (int b = 0; b < lists.count && lists.plan.cost < cost; b++)
		{
			postings_lengths(index, segment, report, &lists.bucket[b], 1);
			lists.postings += lists.bucket[b].length;
			lists.plan = keys_plan(&segment->grouping, &stats, lists.count, lists.postings);
		}
		if (lists.plan.cost < cost && lists.postings <= postings_candidates_max(segment))
		{
			cost = lists.plan.cost;
			best = lists;
		}
	}
	return best;
}

/* Returns the nanoseconds that it takes to compare all documents that pass a filter. */
double
filter_price(Relation index, const IndexMeta *meta, const KeyFilter *filter)
{
	double price = price_tails(meta).ns;
	SearchReport report = {0};

	for (uint32 i = 0; i < meta->segments; i++)
	{
		Segment *segment = segment_open(index, meta, &meta->segment[i]);
		KeyLists lists;
		double scan;

		if (segment == NULL)
			return price_search(meta, -1, NO_KEYS).ns;
		scan = segment_usual_plan(segment, 0, SEARCH_SCAN).cost;
		lists = find_key_lists(index, segment, filter, scan, &report);
		price += lists.bucket == NULL ? scan : lists.plan.cost;
	}
	return price;
}
