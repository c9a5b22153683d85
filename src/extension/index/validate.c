/*
 * validate.c: amvalidate: checks the operator families of this access method.
 */
#include "index/index.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "planner/expressions.h"
#include "calls/objects.h"

typedef struct Validation
{
	Oid family;
	char *family_name;
	Oid handler; /* the handler of the access method */
	bool valid;  /* no defect so far */
} Validation;

#define FAMILY "operator family \"%s\" of access method neardup "

/* Reports a defect.  The message names the family and an object. */
static void
defect(Validation *validation, const char *message, const char *name)
{
	validation->valid = false;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg(message, validation->family_name, name)));
}

/* Returns true if an operator takes and returns the types of its strategy. */
static bool
has_right_types(const Validation *validation, const FormData_pg_amop *member)
{
	Oid left = member->amoplefttype;
	Oid right = member->amoprighttype;

	switch (member->amopstrategy)
	{
		case STRATEGY_IN_BALL:
			return is_ball_type(validation->handler, right) &&
				!is_ball_type(validation->handler, left) &&
				check_amop_signature(member->amopopr, BOOLOID, left, right);
		case STRATEGY_BALLS_MEET:
			return is_ball_type(validation->handler, right) && left == right &&
				check_amop_signature(member->amopopr, BOOLOID, left, right);
		case STRATEGY_DISTANCE:
			return is_sketch_type(validation->handler, right) &&
				check_amop_signature(member->amopopr, FLOAT8OID, left, right);
		case STRATEGY_SYMBOLS:
			return is_sketch_type(validation->handler, right) &&
				check_amop_signature(member->amopopr, INT4OID, left, right);
		case STRATEGY_EQUAL:
			return check_amop_signature(member->amopopr, BOOLOID, left, right);
		default:
			return false;
	}
}

/* Returns true if a distance is for ORDER BY, with its type's order, and a ball for search. */
static bool
has_right_purpose(const FormData_pg_amop *member)
{
	Oid result = get_op_rettype(member->amopopr);

	if (member->amopstrategy != STRATEGY_DISTANCE && member->amopstrategy != STRATEGY_SYMBOLS)
		return member->amoppurpose == AMOP_SEARCH && !OidIsValid(member->amopsortfamily);
	return member->amoppurpose == AMOP_ORDER &&
		opfamily_can_sort_type(member->amopsortfamily, result);
}

/*
 * Checks an operator.  Its left type needs the support function that makes signatures, or, if
 * it is the equality of keys, hash functions of both types.
 */
static void
check_operator(Validation *validation, const FormData_pg_amop *member)
{
	char *name = format_operator(member->amopopr);

	if (member->amopstrategy < 1 || member->amopstrategy > STRATEGIES)
		defect(validation, FAMILY "contains operator %s with an invalid strategy number", name);
	else if (!has_right_types(validation, member))
		defect(validation, FAMILY "contains operator %s with wrong types", name);
	if (!has_right_purpose(member))
		defect(validation, FAMILY "contains invalid ORDER BY specification for operator %s", name);
	if (member->amopstrategy == STRATEGY_EQUAL)
	{
		if (!OidIsValid(key_hash_function(member->amopopr)))
			defect(validation, FAMILY "has no hash functions for operator %s", name);
	}
	else if (!OidIsValid(get_opfamily_proc(validation->family, member->amoplefttype,
										   member->amoplefttype, SUPPORT_SIGNATURE)))
		defect(validation, FAMILY "is missing the support function for operator %s", name);
}

static void
check_function(Validation *validation, const FormData_pg_amproc *member)
{
	char *name = format_procedure(member->amproc);

	if (member->amprocnum != SUPPORT_SIGNATURE)
		defect(validation, FAMILY "contains function %s with an invalid support number", name);
	if (member->amproclefttype != member->amprocrighttype ||
		!check_amproc_signature(member->amproc, VOIDOID, false, 2, 2, member->amproclefttype,
								INTERNALOID))
		defect(validation, FAMILY "contains function %s with wrong types", name);
}

/* Checks all operators and functions of the family. */
static void
check_family(Validation *validation)
{
	CatCList *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(validation->family));
	CatCList *functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(validation->family));

	for (int i = 0; i < operators->n_members; i++)
		check_operator(validation, (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple));
	for (int i = 0; i < functions->n_members; i++)
		check_function(validation, (Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple));
	ReleaseCatCacheList(operators);
	ReleaseCatCacheList(functions);
}

/* Returns true if the family searches this type, or one that is binary-coercible to it. */
static bool
has_operator(Oid family, Oid type)
{
	CatCList *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	bool found = false;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (member->amoppurpose == AMOP_SEARCH && IsBinaryCoercible(member->amoplefttype, type))
			found = true;
	}
	ReleaseCatCacheList(operators);
	return found;
}

/*
 * Checks the class itself: its type has a search operator, and the support function of
 * signatures or the equality of keys.
 */
static void
check_class(Validation *validation, const FormData_pg_opclass *class)
{
	Oid type = class->opcintype;
	bool keys = OidIsValid(get_opfamily_member(class->opcfamily, type, type, STRATEGY_EQUAL));

	if (OidIsValid(class->opckeytype) && class->opckeytype != type)
		defect(validation, FAMILY "stores another type in operator class %s",
			   NameStr(class->opcname));
	if (!has_operator(validation->family, type))
		defect(validation, FAMILY "is missing the operator for operator class %s",
			   NameStr(class->opcname));
	if (!keys && !OidIsValid(get_opfamily_proc(validation->family, type, type, SUPPORT_SIGNATURE)))
		defect(validation, FAMILY "is missing the support function for operator class %s",
			   NameStr(class->opcname));
}

static char *
name_of_family(Oid family)
{
	HeapTuple tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family));
	char *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family);
	name = pstrdup(NameStr(((Form_pg_opfamily) GETSTRUCT(tuple))->opfname));
	ReleaseSysCache(tuple);
	return name;
}

/* amvalidate: checks an operator class and its family; each defect is reported at level INFO. */
bool
neardup_validate(Oid opclass)
{
	HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	Validation validation;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	validation.family = class->opcfamily;
	validation.family_name = name_of_family(class->opcfamily);
	validation.handler =
		GetSysCacheOid1(AMOID, Anum_pg_am_amhandler, ObjectIdGetDatum(class->opcmethod));
	validation.valid = true;
	check_family(&validation);
	check_class(&validation, class);
	ReleaseSysCache(tuple);
	return validation.valid;
}
