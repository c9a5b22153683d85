/*
 * reloptions.c: the storage parameters of an index.
 */
#include "store/store.h"

#include "access/reloptions.h"

/* The storage parameters of an index: CREATE INDEX ... WITH (...). */
typedef struct IndexOptions
{
	int32 varlena_header; /* the length, which build_reloptions() sets */
	int groups;
} IndexOptions;

/* amoptions: parses the storage parameters. */
bytea *
neardup_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt known[] = {
		{"groups", RELOPT_TYPE_INT, offsetof(IndexOptions, groups)}};
	static relopt_kind kind = 0;

	if (kind == 0)
	{
		kind = add_reloption_kind();
		add_int_reloption(kind, "groups",
						  "Number of groups that signatures are cut into; 0 chooses it by size.", 0,
						  0, GROUPS_MAX, ShareUpdateExclusiveLock);
	}
	return build_reloptions(reloptions, validate, kind, sizeof(IndexOptions), known,
							lengthof(known));
}

/*
 * Returns the grouping of a new segment by the index's storage parameters: `grouped` documents
 * are in groups, and `keyed` in the lists of keys.
 */
Grouping
index_grouping(Relation index, const SignatureHeader *shape, uint32 grouped, uint32 keyed)
{
	const IndexOptions *options = (IndexOptions *) index->rd_options;
	int b = signature_bits(shape);
	bool chosen = options != NULL && options->groups > 0;

	return grouping_with_keys(chosen ? grouping_with(shape->k, b, grouped, options->groups) :
									   grouping_for(shape->k, b, grouped),
							  index_keys(index), keyed);
}
