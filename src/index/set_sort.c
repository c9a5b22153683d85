/*
 * set_sort.c: a counting sort of the postings of sets: a document has a posting in the bucket
 * of each of its elements, and in the bucket of each of its keys.
 */
#include "index/sets.h"

/* The postings of a range of buckets, or of a key, by ascending documents. */
typedef struct SetPostings
{
	uint32 *bucket; /* in the group */
	uint32 *document;
	Size count;
	Size bucket_room;
	Size document_room;
} SetPostings;

/* Bytes that a posting takes while arrays grow. */
#define BYTES_PER_POSTING (2 * 2 * sizeof(uint32))

/* Allocates memory for as many ranges at once as memory suffices for. */
void
set_sort_begin(GroupSort *sort)
{
	const SegmentRoot *root = sort->writer->root;
	uint64 range = sort->grouping.groups > 0 ? root->elements / sort->grouping.groups : 0;
	Size each = Max(Max(range, root->documents), 1) * BYTES_PER_POSTING;

	sort->at_once = (int) Max(1, Min(grouping_lists(&sort->grouping), sort->writer->memory / each));
	sort->sets = palloc0(sort->at_once * sizeof(SetPostings));
	sort->document_room = 0;
	sort->document = NULL;
}

/* Frees the postings. */
void
set_sort_end(GroupSort *sort)
{
	for (int i = 0; i < sort->at_once; i++)
	{
		host_free(sort->sets[i].bucket);
		host_free(sort->sets[i].document);
	}
	pfree(sort->sets);
	sort->document = host_grow(sort->document, &sort->document_room, 1, sizeof(uint32));
}

/* ---- Reading ------------------------------------------------------------ */

/* The document whose postings are added. */
typedef struct Posting
{
	GroupSort *sort;
	int count;     /* of groups that are read */
	uint32 number; /* of the document */
	int64 last;    /* the bucket among those of all groups that the document had last; -1: none */
} Posting;

static inline void
put_posting(SetPostings *to, uint32 bucket, uint32 document)
{
	to->bucket = host_grow(to->bucket, &to->bucket_room, to->count + 1, sizeof(uint32));
	to->document = host_grow(to->document, &to->document_room, to->count + 1, sizeof(uint32));
	to->bucket[to->count] = bucket;
	to->document[to->count++] = document;
}

/* An ElementVisitor: adds the postings of elements.  Elements of one bucket follow each other. */
static void
add_elements(void *state, const uint64 *element, uint32 count)
{
	Posting *posting = state;
	GroupSort *sort = posting->sort;
	const Grouping *g = &sort->grouping;

	for (uint32 i = 0; i < count; i++)
	{
		uint32 bucket = set_bucket(g, element[i]);
		int range = (int) (bucket >> g->bucket_bits) - sort->first;

		if (range >= 0 && range < posting->count && bucket != posting->last)
			put_posting(&sort->sets[range], bucket & ((UINT32_C(1) << g->bucket_bits) - 1),
						posting->number);
		posting->last = bucket;
	}
}

/* Adds the postings of a document's keys. */
static void
add_keys(Posting *posting, Page page, uint32 i)
{
	GroupSort *sort = posting->sort;
	const Grouping *g = &sort->grouping;
	uint32 stride = sort->writer->root->stride;

	for (int group = Max(sort->first, g->groups); group < sort->first + posting->count; group++)
		put_posting(&sort->sets[group - sort->first],
					document_bucket(g, group, page_symbols(page, stride, i), stride),
					posting->number);
}

/* Adds the postings of the documents of a page, a copy. */
static void
add_page(Posting *posting, Page page, uint32 number)
{
	GroupSort *sort = posting->sort;
	const SegmentWriter *writer = sort->writer;
	ElementSource source = {.index = writer->index, .stamp = writer->stamp, .writer = writer};
	uint32 stride = writer->root->stride;

	for (uint32 i = 0; i < page_info(page)->count; i++)
	{
		posting->number = number * documents_per_page(stride) + i;
		posting->last = -1;
		add_keys(posting, page, i);
		if (sort->first < sort->grouping.groups && tid_flags(page_tid(page, i)) == 0 &&
			!elements_read(&source, (SetRecord *) page_symbols(page, stride, i), add_elements,
						   posting))
			page_corrupt(writer->index, META_BLOCK,
						 "page of a segment that is being written belongs to another");
	}
}

/* Reads the postings of some groups, at most at_once; false if writing is to be abandoned. */
bool
set_sort_read(GroupSort *sort, int first, int count)
{
	Posting posting = {.sort = sort, .count = count};

	for (int i = 0; i < count; i++)
		sort->sets[i].count = 0;
	for (uint32 p = 0; p < sort->writer->root->document_pages; p++)
	{
		PGAlignedBlock page;
		Buffer buffer = group_sort_documents(sort->writer, p);

		memcpy(page.data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		add_page(&posting, page.data, p);
		if (!sort->writer->goes_on(sort->writer))
			return false;
	}
	return true;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Sorts one of these groups: sets offset and document; false as set_sort_read. */
bool
set_sort_run(GroupSort *sort, int group)
{
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);
	const SetPostings *postings = &sort->sets[group - sort->first];

	sort->document =
		host_grow(sort->document, &sort->document_room, Max(postings->count, 1), sizeof(uint32));
	memset(sort->offset, 0, (Size) (buckets + 1) * sizeof(uint32));
	for (Size i = 0; i < postings->count; i++)
		sort->offset[postings->bucket[i]]++;
	group_sort_sum_up(sort->offset, buckets);
	for (Size i = 0; i < postings->count; i++)
		sort->document[sort->offset[postings->bucket[i]]++] = postings->document[i];
	/* By now each offset has moved to the end of its bucket, where the next begins. */
	memmove(sort->offset + 1, sort->offset, (Size) buckets * sizeof(uint32));
	sort->offset[0] = 0;
	return sort->writer->goes_on(sort->writer);
}

/* Adds the lengths of the lists that the postings of a group are in. */
void
set_sort_lengths(const GroupSort *sort, int group, BucketLengths *lengths)
{
	uint32 buckets = UINT32_C(1) << group_bucket_bits(&sort->grouping, group);

	for (uint32 v = 0; v < buckets; v++)
	{
		uint64 length = sort->offset[v + 1] - sort->offset[v];

		lengths->own += length * length;
		lengths->samples += length;
	}
}
