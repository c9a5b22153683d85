/*
 * kept.c: the rules of triggers, kept from row to row.
 *
 * A rule is made of names and numbers that any change of the tables may have
 * changed, and lives as long as PostgreSQL finds the plans of its statements
 * valid.
 */
#include "reject/reject.h"

#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

typedef struct RuleEntry
{
	Oid trigger;
	RejectRule *rule;
} RuleEntry;

static HTAB *rules = NULL;

static RuleEntry *
rule_entry(Oid trigger)
{
	RuleEntry *entry;
	bool found;

	if (rules == NULL)
	{
		HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(RuleEntry)};

		rules = hash_create("neardup_reject rules", 16, &control, HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(rules, &trigger, HASH_ENTER, &found);
	if (!found)
		entry->rule = NULL;
	return entry;
}

static bool
rule_is_valid(const RejectRule *rule)
{
	return SPI_plan_is_valid(rule->search) &&
		(rule->match == NULL || SPI_plan_is_valid(rule->match)) &&
		(rule->record == NULL || SPI_plan_is_valid(rule->record));
}

static void
rule_free(RejectRule *rule)
{
	SPI_freeplan(rule->search);
	if (rule->match != NULL)
		SPI_freeplan(rule->match);
	if (rule->record != NULL)
		SPI_freeplan(rule->record);
	MemoryContextDelete(rule->context);
}

/* Nobody tells of a trigger that is gone, but the plans of its rule are no longer valid. */
static void
forget_invalid_rules(void)
{
	HASH_SEQ_STATUS scan;
	RuleEntry *entry;

	hash_seq_init(&scan, rules);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->rule != NULL && (entry->rule->running > 0 || rule_is_valid(entry->rule)))
			continue;
		if (entry->rule != NULL)
			rule_free(entry->rule);
		hash_search(rules, &entry->trigger, HASH_REMOVE, NULL);
	}
}

RejectRule *
reject_rule(Trigger *trigger, Relation table, Oid function)
{
	RejectRule *rule = rule_entry(trigger->tgoid)->rule;

	if (rule != NULL)
	{
		/* What has changed is known once there is a lock. */
		LockRelationOid(rule->guarded, AccessShareLock);
		if (rule_is_valid(rule))
			return rule;
		/* One that an outer call still uses is left to it. */
		rule_entry(trigger->tgoid)->rule = NULL;
		if (rule->running == 0)
			rule_free(rule);
	}
	forget_invalid_rules();
	rule = make_reject_rule(trigger, table, function);
	rule_entry(trigger->tgoid)->rule = rule;
	return rule;
}
