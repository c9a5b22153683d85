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

#include "base/sort.h"

/* Notes where a match is, unless there are many. */
void
matches_note_position(MatchList *list, MatchPosition position)
{
	if (list->positions >= list->positions_most)
		return;
	list->position =
		host_grow(list->position, &list->position_room, list->positions + 1, sizeof(MatchPosition));
	list->position[list->positions++] = position;
}

/* Marks documents of a page that are there still.  A page that another process has locked is left. */
static void
kill_on_page(Relation index, const MatchPosition *position, Size count)
{
	Buffer buffer = ReadBuffer(index, position->block);
	const PageInfo *info = page_info(BufferGetPage(buffer));

	if (!ConditionalLockBuffer(buffer))
	{
		ReleaseBuffer(buffer);
		return;
	}
	/* A page keeps its documents as long as it has its stamp. */
	if (page_is_ours(BufferGetPage(buffer)) && info->kind == PAGE_DOCUMENTS &&
		info->stamp == position->stamp)
	{
		GenericXLogState *state = GenericXLogStart(index);
		Page page = GenericXLogRegisterBuffer(state, buffer, 0);

		for (Size i = 0; i < count; i++)
			if (position[i].slot < page_info(page)->count)
				tid_add_flags(page_tid(page, position[i].slot), TID_KILLED);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(buffer);
}

/* A SortKey of positions: their pages. */
static inline uint64
key_of_page(const void *record)
{
	const MatchPosition *position = record;

	return (uint64) position->block << 32 | position->stamp;
}

/* Returns whether a match is among the killed, which are bits in the order of the list. */
static bool
is_killed(const MatchList *list, const uint8 *killed, uint64 match)
{
	Size at = 0;

	SEARCH_SORTED(at, list->count, list->match[middle] < match);
	return at < list->count && list->match[at] == match && (killed[at / 8] & 1 << at % 8) != 0;
}

/*
 * Marks the documents of matches whose rows are dead to all transactions, if their positions are known.
 * The list is sorted, and has a bit of `killed` for each match.
 */
void
matches_kill(Relation index, MatchList *list, const uint8 *killed)
{
	Size kept = 0;
	Size next;

	for (Size i = 0; i < list->positions; i++)
		if (is_killed(list, killed, list->position[i].match))
			list->position[kept++] = list->position[i];
	if (kept > 1)
		sort_records(list->position, kept, sizeof(MatchPosition), key_of_page);
	for (Size i = 0; i < kept; i = next)
	{
		for (next = i + 1;
			 next < kept && key_of_page(&list->position[i]) == key_of_page(&list->position[next]);)
			next++;
		kill_on_page(index, &list->position[i], next - i);
	}
	list->positions = 0;
}
