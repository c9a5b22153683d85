/*
 * prices.h: what the searches of an index take, for the planner and for ordered scans.
 */
#ifndef NEARDUP_INDEX_PRICES_H
#define NEARDUP_INDEX_PRICES_H

#include "index/scan.h"

/* What a search takes: nanoseconds if all pages are in memory, and pages read. */
typedef struct SearchPrice
{
	double ns;
	double pages;
} SearchPrice;

/*
 * The documents that have the keys of a query: a share of all, in `lists` lists; no lists
 * if the query has no keys.
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

/* ---- Sets (scan_sets.c, prices.c) ------------------------------------------- */

/* Nanoseconds to look up the length of a list, to read a list, and for a posting. */
#define SET_LENGTH_NS 250.0
#define SET_LIST_NS 150.0
#define SET_POSTING_NS 1.5

/* What it takes to look at a document that does not match, whose record may show it. */
typedef struct SetPrice
{
	double ns;
	double pages; /* pages of elements */
} SetPrice;

extern SetPrice set_price(Measure measure, double x, double y, double threshold);

#endif
