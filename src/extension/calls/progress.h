/*
 * progress.h: how far the running calls are, for neardup_progress().
 *
 * A call begins, enters its phases one after the other, and ends; an error ends it, too.
 */
#ifndef NEARDUP_CALLS_PROGRESS_H
#define NEARDUP_CALLS_PROGRESS_H

#include "postgres.h"

typedef enum Phase
{
	PHASE_READING,
	PHASE_READING_AGAINST,
	PHASE_JOINING,
	PHASE_CLUSTERING,
	PHASE_COMPARING, /* texts of a sample */
	PHASE_CHECKING_INDEX,
	PHASE_CHECKING_TABLE,
	PHASES
} Phase;

/* Rows, or pairs, between two reports. */
#define PROGRESS_STEP 1024

extern void progress_begin(void);
extern void progress_phase(Phase phase);
extern void progress_rows(uint64 rows);
extern void progress_parts(int64 done, int64 total);
extern void progress_pair(void);
extern void progress_end(void);

#endif
