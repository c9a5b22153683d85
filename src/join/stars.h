/*
 * stars.h: clusters around keepers.
 *
 * Rows whose values are equal form one document; documents are numbered in the order of
 * their first rows.  Documents are taken in order: one within the threshold of an earlier
 * keeper joins that keeper, any other becomes a keeper.  Only as many pairs are kept as
 * there is room for.  If there are more, the first documents are settled alone, and the
 * others join the keepers found or wait for the next round.
 *
 * Some documents may be one unit, which takes their place: one row stands for all of them.
 * A document may also wait for its turn, if the documents that joined before decide which
 * keepers it may join.  Its pairs with keepers of earlier rounds are kept until then.
 */
#ifndef NEARDUP_JOIN_STARS_H
#define NEARDUP_JOIN_STARS_H

#include "base/host.h"

#define STAR_NO_ROW UINT32_MAX

/* A list of documents. */
typedef struct StarList
{
	const uint32_t *doc;
	uint32_t count;
} StarList;

/* Takes a pair of similar documents; the second is of the second list, if there is one. */
typedef bool (*StarSink)(void *stars, uint32_t a, uint32_t b, double similarity);

/* Two rows that stand for similar documents. */
typedef struct StarEdge
{
	uint32_t second; /* edges are sorted by it, then by the first */
	uint32_t first;
	double similarity;
} StarEdge;

typedef struct Stars
{
	StarList documents;           /* in the order of the rows that stand for them */
	const uint32_t *first;        /* row that stands for each document */
	const uint32_t *next;         /* row of the same document, by row; or STAR_NO_ROW */
	const uint32_t *keeper_first; /* row of each document that may be a keeper; NULL: of all */
	uint32_t keepers;             /* their number */
	bool nearest;                 /* documents join the most similar keeper */
	size_t most_edges;            /* kept at once, unless SETTLED_MIN documents have more */
	uint32_t *keeper;             /* of each row, STAR_NO_ROW at first */
	double *similarity;           /* to it */
	/* Passes pairs of two lists, or of one where the second is NULL.  Returns false if sink did. */
	bool (*join)(struct Stars *stars, const StarList *list, const StarList *keepers, StarSink sink);
	/* May a document join a keeper of the same list that it is similar to?  NULL: yes. */
	bool (*may_join)(const struct Stars *stars, uint32_t document, uint32_t keeper);
	/* Does a document wait for its turn?  NULL: no. */
	bool (*waits)(const struct Stars *stars, uint32_t document);
	/* If it does: may it join a keeper, a row, now? */
	bool (*is_allowed)(const struct Stars *stars, uint32_t document, uint32_t keeper);
	StarEdge *edge;
	size_t edges;
	size_t room; /* for edges; join finds some */
	size_t limit;
} Stars;

extern StarList star_list(uint32_t count);
extern void stars_add_edge(Stars *stars, uint32_t first, uint32_t second, double similarity);
extern void stars_make(Stars *stars);

#endif
