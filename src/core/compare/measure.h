/*
 * measure.h: numbers of a unit, such as "1.5 l" or "16GB", in a text.
 */
#ifndef NEARDUP_COMPARE_MEASURE_H
#define NEARDUP_COMPARE_MEASURE_H

#include "base/host.h"

/* The measures of a text, each its unit and its number in one key, and the number that was read last. */
typedef struct Measures
{
	uint64_t *key;
	size_t count;
	size_t room;
	uint64_t number; /* the digits so far, the fraction's among them */
	int digits;      /* how many these are */
	int fraction;    /* the digits behind the point */
	bool open;       /* a unit, or more digits, may follow */
	bool point;      /* the number has a point */
} Measures;

extern char gap_between(const char *text, uint32_t end, uint32_t start);
extern void measures_take(Measures *m, const char *token, size_t length, char gap);
extern bool measures_differ(Measures *a, Measures *b);
extern void measures_free(Measures *m);

#endif
