/*
 * trust.h: whether a superuser may run the code of a table.
 */
#ifndef NEARDUP_TRUST_H
#define NEARDUP_TRUST_H

#include "postgres.h"

extern void require_trust(Oid relation, bool changes);

#endif
