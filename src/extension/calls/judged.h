/*
 * judged.h: what people say of pairs of ids, as a query returns it.
 */
#ifndef NEARDUP_CALLS_JUDGED_H
#define NEARDUP_CALLS_JUDGED_H

#include "calls/ids.h"

#define NOT_JUDGED UINT32_MAX

/* How often a pair was judged. */
typedef enum JudgedTimes
{
	JUDGED_ONCE,
	JUDGED_AGAIN,  /* the pair was judged before, and alike */
	JUDGED_UNSURE, /* the pair was judged before, and differently */
	JUDGED_NULL    /* all that was said of the pair is NULL */
} JudgedTimes;

/* A verdict on a pair of ids, which are positions among the judged ids, a < b or a = b. */
typedef struct JudgedPair
{
	uint32 a;
	uint32 b;
	bool same;
	uint8 times;      /* JudgedTimes */
	bool reported[2]; /* pairs: with a in the first source, and in the second */
} JudgedPair;

typedef struct JudgedPairs
{
	const char *name; /* the argument's name, for messages */
	MemoryContext context;
	const IdType *ids;
	Datum *id; /* ids that have verdicts, ascending */
	uint32 positions;
	JudgedPair *verdict; /* the verdicts, ascending by a and b */
	uint32 count;
	uint32 room;
	uint32 nameless; /* the verdicts beside, of which an id is NULL */
} JudgedPairs;

extern JudgedPairs *judged_read(const char *name, const char *query, const IdType *ids,
								bool unsure);
extern uint32 judged_position(const JudgedPairs *verdicts, Datum id);
extern uint32 *judged_rows(const JudgedPairs *verdicts);
extern void judged_keep(JudgedPairs *verdicts,
						bool (*is_met)(const void *state, uint32 a, uint32 b), const void *state,
						bool unsure);
extern JudgedPair *judged_find(const JudgedPairs *verdicts, uint32 x, uint32 y);
extern void judged_contradict(const JudgedPairs *verdicts, uint32 a, uint32 b, const char *detail);

#endif
