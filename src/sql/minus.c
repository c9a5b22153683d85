/*
 * minus.c: the argument "minus" of SQL functions: shingles that they leave out.
 */
#include "sql/minus.h"

#include "utils/memutils.h"

/* Throws an error for a scheme that does not read text. */
static void
check_reads_text(SchemeId scheme)
{
	char name[SCHEME_NAME_SIZE];

	if (scheme_reads_text(scheme))
		return;
	scheme_name(scheme, name);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("cannot leave shingles of scheme \"%s\" out of a text", name),
			 errdetail("This scheme does not read text alone."),
			 errhint("Make both sets and use the operator -, or use minus => to_shingles(text, scheme => 'word 3').")));
}

/* Copies the shingles, and prepares to leave them out. */
static void
prepare(MinusArgument *argument, const Shingles *shingles)
{
	MemoryContext old;
	Shingles *copy;

	argument->shingles = NULL;
	MemoryContextReset(argument->context);
	old = MemoryContextSwitchTo(argument->context);
	copy = MemoryContextAllocHuge(argument->context, VARSIZE(shingles));
	memcpy(copy, shingles, VARSIZE(shingles));
	minus_begin(&argument->minus, (const uint64_t *) copy->element, copy->count);
	MemoryContextSwitchTo(old);
	argument->shingles = copy;
}

MinusArgument *
minus_argument(FunctionCallInfo fcinfo, int n)
{
	FmgrInfo *function = fcinfo->flinfo;
	MinusArgument *argument = function->fn_extra;
	Shingles *shingles;

	if (argument == NULL)
	{
		argument = MemoryContextAllocZero(function->fn_mcxt, sizeof(MinusArgument));
		argument->context =
			AllocSetContextCreate(function->fn_mcxt, "neardup minus", ALLOCSET_DEFAULT_SIZES);
		function->fn_extra = argument;
	}
	else if (argument->shingles != NULL && is_constant_argument(function, n))
		return argument;
	shingles = shingles_to_sketch(PG_GETARG_DATUM(n));
	check_reads_text(shingles->scheme);
	if (argument->shingles == NULL || VARSIZE(argument->shingles) != VARSIZE(shingles) ||
		memcmp(argument->shingles, shingles, VARSIZE(shingles)) != 0)
		prepare(argument, shingles);
	PG_FREE_IF_COPY(shingles, n);
	return argument;
}
