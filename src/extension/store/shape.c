/*
 * shape.c: the shape that all signatures of an index have.
 */
#include "store/store.h"
#include "sketch/forms.h"
#include "types/signature_type.h"

/*
 * Returns the shape that the first signature gives an index: its header without the flags
 * of that one value.  It is an error if a signature does not fit on a page.
 */
SignatureHeader
index_shape(Relation index, const SignatureHeader *header)
{
	SignatureHeader shape = *header;

	shape.flags &= SIGNATURE_SAME_FLAGS;
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

/* Returns a description for people: shape, scheme and recipe. */
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
	FormWriter out = {0};

	empty.header.flags |= SIGNATURE_EMPTY | (signature_is_minhash(shape) ? SIGNATURE_COUNTED : 0);
	signature_print(&out, &empty);
	return psprintf("NOT is_comparable(sig, '%s')", out.bytes);
}

/* Reports an error if a signature has another shape than the index, perhaps while it is built. */
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
			 building && !shape_is_set(shape) ?
				 errhint("WHERE %s finds the rows that differ.  Make their signatures with %s, or use a "
						 "column and index for each shape.",
						 condition_of_others(shape), signature_call(shape)) :
				 errhint("Make this signature with %s, or use a column and index for each shape.  If no "
						 "row has the index's shape any more, use REINDEX.",
						 signature_call(shape))));
}
