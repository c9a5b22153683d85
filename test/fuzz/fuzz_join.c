/*
 * fuzz_join.c: the join of signatures by any plan that finds every pair, against comparing
 * all pairs.
 */
#include "documents.h"
#include "join/join.h"

#define DOCUMENTS_MAX 40

/* ---- Pairs --------------------------------------------------------------- */

typedef struct Found
{
	const Documents *x;
	const Documents *y;
	bool seen[DOCUMENTS_MAX][DOCUMENTS_MAX];
} Found;

static int
distance_of(const Documents *x, uint32_t a, const Documents *y, uint32_t b)
{
	return symbol_distance(document_at(x, a), document_at(y, b), x->k, x->b);
}

static bool
note_pair(void *state, uint32_t a, uint32_t b, int distance)
{
	Found *found = state;

	REQUIRE(a < found->x->n && b < found->y->n);
	REQUIRE(distance == distance_of(found->x, a, found->y, b));
	REQUIRE(!found->seen[a][b]);
	found->seen[a][b] = true;
	return true;
}

static void
check_join(const Documents *x, const Documents *y, const SymbolJoin *shape, const JoinPlan *plan)
{
	Found found = {x, y, {{false}}};
	SymbolJoin join = *shape;

	join.emit = note_pair;
	join.state = &found;
	REQUIRE(join_run(&join, plan));
	for (uint32_t a = 0; a < x->n; a++)
		for (uint32_t b = 0; b < y->n; b++)
			REQUIRE(found.seen[a][b] == ((x != y || a < b) && distance_of(x, a, y, b) <= join.h));
}

/* ---- Plans --------------------------------------------------------------- */

/* Takes a plan of any groups that find every pair; returns false if there is none. */
static bool
take_plan(Input *in, const SymbolJoin *join, JoinPlan *plan)
{
	int sum = join->h + 1;
	int groups = take_range(in, 1, sum < 24 ? sum : 24);
	int width = join->k / groups;
	int most;

	*plan = (JoinPlan){.groups = groups, .radius = sum / groups - 1, .one_more = sum % groups};
	most = plan->radius + (plan->one_more > 0);
	if (most > RADIUS_MAX)
		return false;
	if (width * join->b > 64)
		width = 64 / join->b;
	if (most > 0 && width * join->b > 12)
		width = 12 / join->b;
	plan->recall = 1;
	plan->grouping = (Grouping){join->k, join->b, groups, width, 0, 12};
	return width > most && probe_count(width, join->b, most) < INT32_MAX;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = {data, size};
	uint8_t option = take_byte(&in);
	SymbolJoin join = {.recall = 1};
	uint32_t n = 1 + take_byte(&in) % DOCUMENTS_MAX;
	uint32_t others = 1 + take_byte(&in) % DOCUMENTS_MAX;
	JoinPlan plan;
	Documents x;
	Documents y;

	limit_lists(size);
	take_shape(&in, 160, &join.k, &join.b);
	join.h = take_range(&in, 0, option & 2 ? join.k : 8);
	join.stride = JOIN_STRIDE(join.k, join.b) + (option & 4 ? 8 : 0);
	x = take_documents(&in, join.k, join.b, n, join.stride);
	y = take_documents(&in, join.k, join.b, others, join.stride);
	for (uint32_t i = 0; i < x.n && i < y.n; i += 3)
		memcpy(y.packed + i * y.stride, x.packed + i * x.stride, x.stride);
	join.left = (JoinSide){x.packed, x.n};
	if (option & 1)
		join.right = (JoinSide){y.packed, y.n};
	if (!take_plan(&in, &join, &plan))
		plan = join_plan(&join);
	check_join(&x, option & 1 ? &y : &x, &join, &plan);
	free(x.packed);
	free(y.packed);
	return 0;
}
