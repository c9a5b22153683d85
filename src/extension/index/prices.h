/*
 * prices.h: estimates of what searches of an index cost, for the planner and for ordered scans.
 */
#ifndef NEARDUP_INDEX_PRICES_H
#define NEARDUP_INDEX_PRICES_H

#include "index/scan.h"

/* What a search costs. */
typedef struct SearchPrice
{
	double ns;    /* nanoseconds, if all pages are in memory */
	double pages; /* pages read */
} SearchPrice;

/*
 * The documents that have the keys of a query: a share of all, from 0 to 1, in `lists` lists.  If
 * the query has no keys, there are no lists.
 */
typedef struct KeyShare
{
	double share;
	double lists;
} KeyShare;

#define NO_KEYS ((KeyShare){.lists = 0})

extern SearchPrice price_tails(const IndexMeta *meta);
extern SearchPrice price_search(const IndexMeta *meta, int radius, KeyShare keys);
extern SearchPrice price_all(const IndexMeta *meta, KeyShare keys);
extern SearchPrice price_end(const IndexMeta *meta, KeyShare keys);

/* ---- Ordered scans -------------------------------------------------------- */

/*
 * The matches that the first packed scan keeps, the factor from one scan to the next, and a bound
 * against overflow.  Usually few matches are wanted, and a scan costs less than to sort all
 * documents.
 */
#define FAR_LIMIT_FIRST 512
#define FAR_GROWTH 16
#define FAR_LIMIT_MAX (SIZE_MAX / FAR_GROWTH)

extern int ordering_repeats(double documents);

/* ---- Sets ------------------------------------------- */

/* Nanoseconds to look up the length of a list, to read a list, and for a posting. */
#define SET_LENGTH_NS 250.0
#define SET_LIST_NS 150.0
#define SET_POSTING_NS 1.5

/* What it costs to look at a document that does not match, which its record alone may show. */
typedef struct SetPrice
{
	double ns;
	double pages; /* pages of elements */
} SetPrice;

extern SetPrice set_price(Measure measure, double x, double y, double threshold);

#endif
