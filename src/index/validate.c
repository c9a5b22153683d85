/*
 * validate.c: is an operator class of the index what the index needs?
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

#include "sql/siblings.h"

/* What is looked at, and whether all was well so far. */
typedef struct Validation
{
	Oid family;
	char *family_name;
	Oid handler; /* of the access method */
	bool valid;
} Validation;

/* Report a defect; what has two %s, first the family. */
static void
defect(Validation *validation, const char *what, const char *name)
{
	validation->valid = false;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg_internal("operator family \"%s\" of access method neardup %s%s",
							 validation->family_name, what, name)));
}

static bool
is_ball(const Validation *validation, Oid type)
{
	return type == sibling_type(validation->handler, "minhash_ball") ||
		type == sibling_type(validation->handler, "simhash_ball");
}

/* What the strategies take and return. */
static bool
has_right_types(const Validation *validation, const FormData_pg_amop *member)
{
	Oid left = member->amoplefttype;
	Oid right = member->amoprighttype;

	switch (member->amopstrategy)
	{
		case STRATEGY_IN_BALL:
			return is_ball(validation, right) && !is_ball(validation, left) &&
				check_amop_signature(member->amopopr, BOOLOID, left, right);
		case STRATEGY_BALLS_MEET:
			return is_ball(validation, right) && left == right &&
				check_amop_signature(member->amopopr, BOOLOID, left, right);
		case STRATEGY_DISTANCE:
			return left == right && check_amop_signature(member->amopopr, FLOAT8OID, left, right);
		case STRATEGY_SYMBOLS:
			return left == right && check_amop_signature(member->amopopr, INT4OID, left, right);
		default:
			return false;
	}
}

/* Distances are for ORDER BY alone, as their type sorts; balls are for WHERE. */
static bool
has_right_purpose(const FormData_pg_amop *member)
{
	Oid result = get_op_rettype(member->amopopr);

	if (member->amopstrategy != STRATEGY_DISTANCE && member->amopstrategy != STRATEGY_SYMBOLS)
		return member->amoppurpose == AMOP_SEARCH && !OidIsValid(member->amopsortfamily);
	return member->amoppurpose == AMOP_ORDER &&
		opfamily_can_sort_type(member->amopsortfamily, result);
}

/* Without a signature nothing of the type can be searched. */
static void
check_operator(Validation *validation, const FormData_pg_amop *member)
{
	char *name = format_operator(member->amopopr);

	if (member->amopstrategy < 1 || member->amopstrategy > STRATEGIES)
		defect(validation, "contains an invalid strategy number for operator ", name);
	else if (!has_right_types(validation, member))
		defect(validation, "contains wrong types for operator ", name);
	if (!has_right_purpose(member))
		defect(validation, "contains invalid ORDER BY specification for operator ", name);
	if (!OidIsValid(get_opfamily_proc(validation->family, member->amoplefttype,
									  member->amoplefttype, SUPPORT_SIGNATURE)))
		defect(validation, "is missing the support function for operator ", name);
}

static void
check_function(Validation *validation, const FormData_pg_amproc *member)
{
	char *name = format_procedure(member->amproc);

	if (member->amprocnum != SUPPORT_SIGNATURE)
		defect(validation, "contains an invalid support number for function ", name);
	if (member->amproclefttype != member->amprocrighttype ||
		!check_amproc_signature(member->amproc, VOIDOID, false, 2, 2, member->amproclefttype,
								INTERNALOID))
		defect(validation, "contains wrong types for function ", name);
}

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

/* Does the family search this type, or one that is coercible to it as it is? */
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

/* The class itself: a signature and a search for its type, stored as it is. */
static void
check_class(Validation *validation, const FormData_pg_opclass *class)
{
	Oid type = class->opcintype;

	if (OidIsValid(class->opckeytype) && class->opckeytype != type)
		defect(validation, "stores another type in operator class ", NameStr(class->opcname));
	if (!has_operator(validation->family, type))
		defect(validation, "is missing the operator for operator class ", NameStr(class->opcname));
	if (!OidIsValid(get_opfamily_proc(validation->family, type, type, SUPPORT_SIGNATURE)))
		defect(validation, "is missing the support function for operator class ",
			   NameStr(class->opcname));
}

static Oid
handler_of_method(Oid method)
{
	HeapTuple tuple = SearchSysCache1(AMOID, ObjectIdGetDatum(method));
	Oid handler;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for access method %u", method);
	handler = ((Form_pg_am) GETSTRUCT(tuple))->amhandler;
	ReleaseSysCache(tuple);
	return handler;
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
	validation.handler = handler_of_method(class->opcmethod);
	validation.valid = true;
	check_family(&validation);
	check_class(&validation, class);
	ReleaseSysCache(tuple);
	return validation.valid;
}
