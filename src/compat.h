/*
 * compat.h: what differs between PostgreSQL 13 and 18.  The only place that
 * asks for a version.
 */
#ifndef NEARDUP_COMPAT_H
#define NEARDUP_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 130000
#error "neardup needs PostgreSQL 13 or later"
#endif

/* VARDATA and its kin left postgres.h in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#endif
