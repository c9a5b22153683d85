/*
 * settings.h: the settings that users make (neardup.c).
 */
#ifndef NEARDUP_SETTINGS_H
#define NEARDUP_SETTINGS_H

#include "compat.h"

extern int neardup_cache_size;    /* kB of segments that a backend may cache */
extern int neardup_search;        /* a SearchMethod */
extern bool neardup_background;   /* background workers do the maintenance */
extern int neardup_segment_pages; /* limit of a new segment, for tests */
extern int neardup_limit; /* limit of bounded lists, batches, samples and caches, for tests */

#endif
