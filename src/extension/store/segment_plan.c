/*
 * segment_plan.c: what plans for a segment depend on, and the plans that its searches use.
 */
#include "store/segment_read.h"

/* This many pages weigh as much as all that were visited before. */
#define PAGES_TO_LEARN 64.0

/* The time of a search tells that of reading if this part of its pages, or more, was read in. */
#define READ_PART 0.25

/*
 * Nanoseconds to read in and verify a page that the kernel has, until a search has measured
 * them.
 */
#define READ_NS_USUAL 10000.0

/* Notes how many of the pages that it visited a search read in, and in what time. */
void
page_price_learn(PagePrice *price, uint64 visited, uint64 read, double ns)
{
	double share = visited == 0 ? 0 : Min((double) read / visited, 1);

	price->share += (share - price->share) * visited / (visited + PAGES_TO_LEARN);
	if (ns <= 0 || share < READ_PART)
		return;
	if (price->read_ns == 0)
		price->read_ns = READ_NS_USUAL;
	price->read_ns += (ns / read - price->read_ns) * read / (read + PAGES_TO_LEARN);
}

/* Returns statistics for a plan that does not depend on the query's values. */
SegmentStats
segment_stats(const Segment *segment)
{
	const PagePrice *price = &segment->page_price;
	double read_ns = price->read_ns == 0 ? READ_NS_USUAL : price->read_ns;

	return (SegmentStats){.documents = segment->root.grouped,
						  .stored = segment->root.documents,
						  .documents_per_page = segment->documents_per_page,
						  .posting_pages = segment->root.posting_pages,
						  .own_length = segment->root.own_length,
						  .near_length = segment->root.near_length,
						  .page_ns = price->share * read_ns};
}

/* A page in a buffer takes about this time, so a lower price of reading changes no plan. */
#define PAGE_NS_LEAST 100.0

/* Returns whether a plan is made for about the same price of a page. */
static bool
same_price(double planned, double now)
{
	double a = Max(planned, PAGE_NS_LEAST);
	double b = Max(now, PAGE_NS_LEAST);

	return a <= 2 * b && b <= 2 * a;
}

/* Returns the plan for buckets of usual length.  The segment keeps some. */
SearchPlan
segment_usual_plan(Segment *segment, int radius, SearchMethod method)
{
	SegmentStats stats = segment_stats(segment);
	UsualPlan *usual;

	for (int i = 0; i < USUAL_PLANS; i++)
	{
		usual = &segment->usual[i];
		if (usual->made && usual->radius == radius && usual->method == method &&
			same_price(usual->page_ns, stats.page_ns))
			return usual->plan;
	}
	usual = &segment->usual[segment->next_usual++ % USUAL_PLANS];
	*usual = (UsualPlan){true, radius, method, stats.page_ns,
						 search_plan(&segment->grouping, &stats, radius, method)};
	return usual->plan;
}
