/*
 * handler.c: the access method's handler function, its options, and the shape of an index's
 * signatures.
 */
#include "index/index.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "catalog/index.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"

/* The storage parameters of an index: CREATE INDEX ... WITH (...). */
typedef struct IndexOptions
{
	int32 varlena_header; /* set by build_reloptions() */
	int groups;
} IndexOptions;

/* amoptions: parses the storage parameters. */
static bytea *
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

/* neardup_handler(internal) returns index_am_handler */
PG_FUNCTION_INFO_V1(neardup_handler);
Datum
neardup_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *am = makeNode(IndexAmRoutine);

	am->amstrategies = STRATEGIES;
	am->amsupport = SUPPORTS;
	am->amcanorderbyop = true;
	am->amoptionalkey = true;
	am->amcanmulticol = true;
	am->amsearcharray = true;
	am->amusemaintenanceworkmem = true;
	am->amparallelvacuumoptions = COMPAT_PARALLEL_VACUUM;
	compat_can_build_in_parallel(am);
	am->ambuild = neardup_build;
	am->ambuildempty = neardup_buildempty;
	am->aminsert = neardup_insert;
	am->ambulkdelete = neardup_bulkdelete;
	am->amvacuumcleanup = neardup_vacuumcleanup;
	am->amcostestimate = neardup_costestimate;
	am->amoptions = neardup_options;
	am->ambuildphasename = neardup_buildphasename;
	am->amvalidate = neardup_validate;
	am->ambeginscan = neardup_beginscan;
	am->amrescan = neardup_rescan;
	am->amgettuple = neardup_gettuple;
	am->amgetbitmap = neardup_getbitmap;
	am->amendscan = neardup_endscan;
	PG_RETURN_POINTER(am);
}

bool
index_is_ours(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_INDEX &&
		relation->rd_indam->ambuild == neardup_build;
}

/* ---- Shapes ------------------------------------------------------------- */

SignatureHeader
index_shape(Relation index, const SignatureHeader *header)
{
	SignatureHeader shape = *header;

	shape.flags &= SIGNATURE_LOG_B | SIGNATURE_MINHASH;
	if (documents_per_page(document_stride(&shape, index_keys(index))) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a %s of %zu bytes does not fit on a page of index \"%s\"",
						signature_shape(&shape), signature_symbol_bytes(&shape),
						RelationGetRelationName(index)),
				 errdetail("A page holds %zu bytes.", PAGE_ROOM - sizeof(ItemPointerData)),
				 errhint("Index a shorter signature, such as minhash_truncate(sig, 1).")));
	return shape;
}

char *
index_describe_shape(const SignatureHeader *header)
{
	char name[SCHEME_NAME_SIZE];

	scheme_name(header->scheme, name);
	return psprintf("%s of scheme \"%s\" (recipe %d)", signature_shape(header), name,
					header->version);
}

/* Returns a condition that finds the rows whose signature has another shape. */
static char *
condition_of_others(const SignatureHeader *shape)
{
	Signature empty = {.header = *shape};
	StringInfoData out;

	empty.header.flags |= SIGNATURE_EMPTY | (signature_is_minhash(shape) ? SIGNATURE_COUNTED : 0);
	initStringInfo(&out);
	appendStringInfoString(&out, "NOT is_comparable(sig, '");
	signature_print(&out, &empty);
	appendStringInfoString(&out, "')");
	return out.data;
}

void
index_check_shape(Relation index, const SignatureHeader *shape, const SignatureHeader *other,
				  bool building)
{
	if (signature_comparable(shape, other))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("index \"%s\" holds %s, not %s", RelationGetRelationName(index),
					index_describe_shape(shape), index_describe_shape(other)),
			 errdetail("All signatures of an index have the shape of its first."),
			 building ?
				 errhint("WHERE %s finds the rows that differ.  Make their signatures with %s, or use a "
						 "column and index for each shape.",
						 condition_of_others(shape), signature_call(shape)) :
				 errhint("Make this signature with %s, or use a column and index for each shape.  If no "
						 "row has the index's shape any more, use REINDEX.",
						 signature_call(shape))));
}
