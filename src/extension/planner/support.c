/*
 * support.c: the planner support function of is_similar() and is_within(), which
 * gives their index condition and their selectivity.
 */
#include "planner/expressions.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/selectivity.h"
#include "calls/objects.h"

/*
 * Returns the function that makes the ball of a call: near() for is_similar(x, y, float8),
 * hamming_ball() for is_within(x, y, int), and for is_contained(x, y, float8) held_in() around
 * y or holding() around x, if the column is x or y.  InvalidOid for any other function, since
 * a user may name our support function for one of their own.
 */
static Oid
constructor_of_call(Oid support, const FuncExpr *call, int column)
{
	Oid type;
	Oid bound;
	const char *name;

	if (!IsA(call, FuncExpr) || list_length(call->args) != 3 ||
		!is_extension_object(support, ProcedureRelationId, call->funcid))
		return InvalidOid;
	type = exprType(linitial(call->args));
	bound = exprType(lthird(call->args));
	name = bound == FLOAT8OID ? "is_similar" : "is_within";
	if (exprType(lsecond(call->args)) != type)
		return InvalidOid;
	if (bound == FLOAT8OID && strcmp(get_func_name(call->funcid), "is_contained") == 0)
		return extension_function(support, column == 0 ? "held_in" : "holding", type, bound);
	if (strcmp(get_func_name(call->funcid), name) != 0)
		return InvalidOid;
	return ball_constructor(support, type, bound);
}

/*
 * Returns x <@ ball(y, bound) if an index searches by that operator, x is its column and
 * the ball is constant during a scan.
 */
static List *
index_condition(Oid support, SupportRequestIndexCondition *request)
{
	FuncExpr *call = (FuncExpr *) request->node;
	Oid function = constructor_of_call(support, call, request->indexarg);
	Oid in_ball;
	Node *indexed;
	Node *ball;

	if (!OidIsValid(function) || request->indexarg > 1)
		return NIL;
	in_ball = extension_operator(support, "<@", exprType(linitial(call->args)),
								 get_func_rettype(function));
	if (!op_in_opfamily(in_ball, request->opfamily))
		return NIL;

	indexed = list_nth(call->args, request->indexarg);
	ball = (Node *) makeFuncExpr(function, get_func_rettype(function),
								 list_make2(list_nth(call->args, 1 - request->indexarg),
											lthird(call->args)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if (!is_pseudo_constant_for_index(request->root, ball, request->index))
		return NIL;
	request->lossy = false;
	ball = eval_const_expressions(request->root, ball);
	return list_make1(make_opclause(in_ball, BOOLOID, false, (Expr *) indexed, (Expr *) ball,
									InvalidOid, InvalidOid));
}

/* neardup_support(internal) returns internal: answers SupportRequestIndexCondition and Selectivity */
PG_FUNCTION_INFO_V1(neardup_support);
Datum
neardup_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	Oid support = fcinfo->flinfo->fn_oid;

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(index_condition(support, (SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *answer = (SupportRequestSelectivity *) request;

		answer->selectivity = answer->is_join ?
			ball_join_selectivity(answer->root, support, answer->args, answer->jointype) :
			ball_selectivity(answer->root, support, answer->args);
		PG_RETURN_POINTER(answer);
	}
	PG_RETURN_POINTER(NULL);
}
