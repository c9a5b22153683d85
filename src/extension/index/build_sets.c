/*
 * build_sets.c: the sets of a build: sorted by size, and written.
 *
 * Each participant sorts the sets that it has read.  The leader merges what all have sorted, and
 * writes the pages of each segment: first pages of elements, then pages of documents.
 */
#include "index/build.h"

#include "miscadmin.h"

#include "store/sets.h"

/* ---- Sorting ------------------------------------------------------------ */

/* Begins to sort the sets that this participant reads. */
void
set_build_begin(Build *build)
{
	const BuildShared *shared = build->shared;
	SortCoordinateData coordinate = {.isWorker = true,
									 .nParticipants = -1,
									 .sharedsort = build->shared_sort};

	build->sort = size_sort_begin(shared->memory / shared->participants,
								  build->shared_sort == NULL ? NULL : &coordinate);
}

/* Sorts the sets that this participant has read, for the leader to merge. */
void
set_build_sort(Build *build)
{
	if (build->shared_sort == NULL)
		return;
	size_sort_perform(build->sort);
	size_sort_end(build->sort);
	SpinLockAcquire(&build->shared->mutex);
	build->shared->sorted++;
	SpinLockRelease(&build->shared->mutex);
}

/* Returns a sort that gives the sets of all participants, in order. */
static SizeSort *
all_sorted(const Build *build)
{
	SortCoordinateData coordinate = {.nParticipants = build->shared->sorted,
									 .sharedsort = build->shared_sort};
	SizeSort *sort = build->sort;

	if (build->shared_sort != NULL)
		sort = size_sort_begin(build->shared->memory, &coordinate);
	size_sort_perform(sort);
	return sort;
}

/* ---- Writing ------------------------------------------------------------ */

/* The segment that is being written. */
typedef struct SetWriter
{
	Build *build;
	SegmentRoot *root; /* NULL: none yet */
	uint32 number;
	BufFile *pages; /* the pages of documents */
	Size listed_room;
	SetRecord record;         /* the record of the document at hand */
	PGAlignedBlock documents; /* the pages at hand */
	PGAlignedBlock elements;
} SetWriter;

static void
begin_segment(SetWriter *w)
{
	Build *build = w->build;
	BuildShared *shared = build->shared;

	w->number = shared->segments++;
	if (w->number >= SEGMENTS_MAX - 1)
		segments_too_many(build->index, &build->shape, shared->memory);
	w->root = &shared->segment[w->number].root;
	w->root->stride = build->stride;
	w->pages = BufFileCreateTemp(false);
	w->listed_room = 0;
	page_init(w->documents.data, PAGE_DOCUMENTS, w->number + 1);
	page_init(w->elements.data, PAGE_ELEMENTS, w->number + 1);
}

/* Writes the page of elements at hand of a SetWriter. */
static void
write_elements(void *state)
{
	SetWriter *w = state;

	build_fill(build_extend(w->build), w->elements.data);
	w->root->element_pages++;
	page_init(w->elements.data, PAGE_ELEMENTS, w->number + 1);
}

/* Keeps the page of documents at hand, and lists it with the size of its first set. */
static void
keep_documents(SetWriter *w)
{
	MapEntry **listed = &w->build->listed[w->number];
	Page page = w->documents.data;

	BufFileWrite(w->pages, page, BLCKSZ);
	*listed = host_grow(*listed, &w->listed_room, w->root->document_pages + 1, sizeof(MapEntry));
	(*listed)[w->root->document_pages++] = documents_entry(&w->build->shape, page, w->root->stride);
	page_init(page, PAGE_DOCUMENTS, w->number + 1);
}

/* Writes the last page of elements, and the pages of documents. */
static void
finish_segment(SetWriter *w)
{
	MapEntry *listed;

	if (page_info(w->documents.data)->count > 0)
		keep_documents(w);
	if (page_info(w->elements.data)->count > 0)
		write_elements(w);
	listed = w->build->listed[w->number];
	if (BufFileSeek(w->pages, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
	for (uint32 p = 0; p < w->root->document_pages; p++)
	{
		if (BufFileRead(w->pages, w->documents.data, BLCKSZ) != BLCKSZ)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
		listed[p].block = build_fill(build_extend(w->build), w->documents.data);
	}
	BufFileClose(w->pages);
}

/* Begins the next segment if the one at hand has as many documents as it may have. */
static void
ensure_segment(SetWriter *w)
{
	uint32 per_page = documents_per_page(w->build->stride);

	if (w->root != NULL && w->root->documents + per_page > w->build->shared->documents_max &&
		page_info(w->documents.data)->count == 0)
	{
		finish_segment(w);
		w->root = NULL;
	}
	if (w->root == NULL)
		begin_segment(w);
}

/* Adds a part of a document, whose set is as large as those before it or larger. */
static void
add_sorted(SetWriter *w, const SortedPart *part)
{
	Document document = part->document;

	if (part->from == 0)
		ensure_segment(w);
	if (!elements_put(w->root, w->elements.data, part, &w->record, write_elements, w))
		return;
	document.symbols = (const uint8_t *) &w->record;
	page_put_document(w->documents.data, w->root->stride, &document);
	root_count(w->root, tid_flags(&document.tid));
	if (page_info(w->documents.data)->count == documents_per_page(w->root->stride))
		keep_documents(w);
}

/* The leader writes the documents and elements of all segments. */
void
set_build_write(Build *build)
{
	SetWriter *w = palloc0(sizeof(SetWriter));
	SizeSort *sort = all_sorted(build);
	SortedPart part;

	w->build = build;
	build->listed = palloc0(SEGMENTS_MAX * sizeof(MapEntry *));
	while (size_sort_get(sort, &part))
	{
		add_sorted(w, &part);
		CHECK_FOR_INTERRUPTS();
	}
	if (w->root != NULL)
		finish_segment(w);
	size_sort_end(sort);
	pfree(w);
}
