/*
 * statements.h: what a guard does in SQL, and the rights that it needs.
 */
#ifndef NEARDUP_GUARD_STATEMENTS_H
#define NEARDUP_GUARD_STATEMENTS_H

#include "guard/check.h"

#include "utils/acl.h"

extern const char *guard_qualified(Oid relation);
extern const char *guard_extension_schema(const GuardRule *rule);
extern const char *guard_comparison(const char *left, Oid type, bool less, const char *right);
extern SPIPlanPtr guard_prepare(const GuardRule *rule, const char *text, int count, Oid *type);
extern bool guard_run(SPIPlanPtr plan, Datum *value, int expected, bool in_order);

extern void guard_check_right(const GuardRule *rule, Oid table, AttrNumber column, AclMode right,
							  GuardOption option);
extern void guard_check_search(const GuardRule *rule);

extern const char *guard_verdict(const GuardRule *rule, const GuardTable *table, const char *key);
extern bool guard_is_judged(GuardCheck *check, const GuardHit *hit);
extern void guard_check_statements(GuardRule *rule);
extern void guard_record(const GuardCheck *check, const GuardHit *hit);

#endif
