/*
 * scan_kill.c: marks the documents of rows that a scan has found dead to all transactions, so that
 * later scans do not return them.  VACUUM removes them.
 *
 * The mark is logged, as all that changes pages.  A scan on a standby sees no mark, since its
 * snapshot may be older than the row's end, and sets none.  A segment that is written anew has the
 * marked documents, too, with their marks.
 */
#include "index/scan.h"

#include "access/generic_xlog.h"

/* Notes where a match is, unless there are many. */
void
matches_note_place(MatchList *list, MatchPlace place)
{
	if (list->places >= list->places_most)
		return;
	list->place = host_grow(list->place, &list->place_room, list->places + 1, sizeof(MatchPlace));
	list->place[list->places++] = place;
}

/* Marks documents of a page that are there still.  A page that another process has locked is left. */
static void
kill_on_page(Relation index, const MatchPlace *place, Size count)
{
	Buffer buffer = ReadBuffer(index, place->block);
	const PageInfo *info = page_info(BufferGetPage(buffer));

	if (!ConditionalLockBuffer(buffer))
	{
		ReleaseBuffer(buffer);
		return;
	}
	/* A page keeps its documents as long as it has its stamp. */
	if (page_is_ours(BufferGetPage(buffer)) && info->kind == PAGE_DOCUMENTS &&
		info->stamp == place->stamp)
	{
		GenericXLogState *state = GenericXLogStart(index);
		Page page = GenericXLogRegisterBuffer(state, buffer, 0);

		for (Size i = 0; i < count; i++)
			if (place[i].slot < page_info(page)->count)
				tid_add_flags(page_tid(page, place[i].slot), TID_KILLED);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(buffer);
}

static int
compare_matches(const void *x, const void *y)
{
	uint64 a = *(const uint64 *) x;
	uint64 b = *(const uint64 *) y;

	return (a > b) - (a < b);
}

/* Orders places by their pages. */
static int
kill_compare_places(const void *x, const void *y)
{
	const MatchPlace *a = x;
	const MatchPlace *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->stamp > b->stamp) - (a->stamp < b->stamp);
}

/* Returns whether a match is among the killed, which are bits in the order of the list. */
static bool
is_killed(const MatchList *list, const uint8 *killed, uint64 match)
{
	const uint64 *found =
		bsearch(&match, list->match, list->count, sizeof(uint64), compare_matches);
	Size at = found == NULL ? 0 : found - list->match;

	return found != NULL && (killed[at / 8] & 1 << at % 8) != 0;
}

/*
 * Marks the documents of matches whose rows are dead to all transactions, if their places are known.
 * The list is sorted, and has a bit of `killed` for each match.
 */
void
matches_kill(Relation index, MatchList *list, const uint8 *killed)
{
	Size kept = 0;
	Size next;

	for (Size i = 0; i < list->places; i++)
		if (is_killed(list, killed, list->place[i].match))
			list->place[kept++] = list->place[i];
	qsort(list->place, kept, sizeof(MatchPlace), kill_compare_places);
	for (Size i = 0; i < kept; i = next)
	{
		for (next = i + 1;
			 next < kept && kill_compare_places(&list->place[i], &list->place[next]) == 0;)
			next++;
		kill_on_page(index, &list->place[i], next - i);
	}
	list->places = 0;
}
