/*
 * support.c: the planner support function of is_similar() and
 * hamming_within(): the index condition that each is, and how many rows it
 * leaves.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/selectivity.h"
#include "sql/siblings.h"

/*
 * The function that makes a ball of what a call compares with: near() where it
 * is is_similar(x, y, float8), hamming_ball() where it is
 * hamming_within(x, y, int).  InvalidOid for any other function, to which
 * someone may have attached ours.
 */
static Oid
ball_function(Oid support, const FuncExpr *call)
{
	Oid type;
	Oid bound;
	bool similar;

	if (!IsA(call, FuncExpr) || list_length(call->args) != 3 ||
		get_func_namespace(call->funcid) != get_func_namespace(support))
		return InvalidOid;
	type = exprType(linitial(call->args));
	bound = exprType(lthird(call->args));
	similar = strcmp(get_func_name(call->funcid), "is_similar") == 0;
	if (exprType(lsecond(call->args)) != type || bound != (similar ? FLOAT8OID : INT4OID) ||
		(!similar && strcmp(get_func_name(call->funcid), "hamming_within") != 0))
		return InvalidOid;
	return sibling_function(support, similar ? "near" : "hamming_ball", type, bound);
}

/*
 * Returns x <@ ball(y, bound) if an index searches by that operator, x is its column and
 * the ball is constant during a scan.
 */
static List *
index_condition(Oid support, SupportRequestIndexCondition *request)
{
	FuncExpr *call = (FuncExpr *) request->node;
	Oid function = ball_function(support, call);
	Oid in_ball;
	Node *indexed;
	Node *ball;

	if (!OidIsValid(function) || request->indexarg > 1)
		return NIL;
	in_ball =
		sibling_operator(support, "<@", exprType(linitial(call->args)), get_func_rettype(function));
	if (!op_in_opfamily(in_ball, request->opfamily))
		return NIL;

	indexed = list_nth(call->args, request->indexarg);
	ball = (Node *) makeFuncExpr(function, get_func_rettype(function),
								 list_make2(list_nth(call->args, 1 - request->indexarg),
											lthird(call->args)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if (!compat_is_pseudo_constant(request->root, ball, request->index))
		return NIL;
	request->lossy = false;
	return list_make1(make_opclause(in_ball, BOOLOID, false, (Expr *) indexed,
									(Expr *) eval_const_expressions(request->root, ball),
									InvalidOid, InvalidOid));
}

/* As the operators' estimators have it. */
static Selectivity
selectivity(Oid support, const SupportRequestSelectivity *request)
{
	if (request->is_join)
		return ball_join_selectivity(request->root, support, request->args, request->jointype);
	return ball_selectivity(request->root, support, request->args);
}

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

		answer->selectivity = selectivity(support, answer);
		PG_RETURN_POINTER(answer);
	}
	PG_RETURN_POINTER(NULL);
}
