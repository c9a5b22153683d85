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

#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

/* A new page at the end of a relation, exclusively locked. */
static inline Buffer
compat_extend(Relation relation)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(relation), MAIN_FORKNUM, NULL, EB_LOCK_FIRST);
#else
	bool		shared = !RELATION_IS_LOCAL(relation);
	Buffer		buffer;

	if (shared)
		LockRelationForExtension(relation, ExclusiveLock);
	buffer = ReadBuffer(relation, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
	return buffer;
#endif
}

#endif
