/*
 * pair_classes.c: joins of the documents of each class.
 */
#include "base/sort.h"
#include "join/documents.h"

/* A place in a list of documents, by class. */
typedef struct ClassedPlace
{
	uint32_t class;
	uint32_t place;
} ClassedPlace;

/* Returns the class of the document at a place of a list. */
static uint32_t
class_at(const DocumentList *list, uint32_t place)
{
	return document_class(list->documents, list_at(list, place));
}

/* Returns a list in the order of classes, and of its places within a class. */
static DocumentList
order_by_class(const DocumentList *list)
{
	ClassedPlace *classed = host_alloc(list->count * sizeof(ClassedPlace));
	uint32_t *doc = host_alloc(list->count * sizeof(uint32_t));

	for (uint32_t i = 0; i < list->count; i++)
		classed[i] = (ClassedPlace){class_at(list, i), i};
	sort_records(classed, list->count, sizeof(ClassedPlace), sort_key_pair);
	for (uint32_t i = 0; i < list->count; i++)
		doc[i] = list_at(list, classed[i].place);
	host_free(classed);
	return (DocumentList){list->documents, doc, list->count, NULL, list->unjudged, list->members};
}

/* Cuts the documents of the first class off a list that is in order, and returns them. */
static DocumentList
cut_class(DocumentList *list)
{
	DocumentList cut = {list->documents, list->doc, 0, NULL, list->unjudged, list->members};
	uint32_t class = class_at(list, 0);

	while (cut.count < list->count && class_at(list, cut.count) == class)
		cut.count++;
	list->doc += cut.count;
	list->count -= cut.count;
	return cut;
}

/* Cuts the documents of a class, and of lesser classes, off a list that is in order. */
static DocumentList
cut_to_class(DocumentList *list, uint32_t class)
{
	while (list->count > 0 && class_at(list, 0) < class)
		(void) cut_class(list);
	if (list->count > 0 && class_at(list, 0) == class)
		return cut_class(list);
	return (DocumentList){list->documents, NULL, 0};
}

/* Joins the documents of each class. */
bool
join_classes(const DocumentList *left, const DocumentList *right, uint64_t most, PairSink sink,
			 void *state)
{
	DocumentList ordered = order_by_class(left);
	DocumentList others = {NULL};
	DocumentList rest = ordered;
	DocumentList other_rest;
	bool goes_on = true;

	if (left != right)
		others = order_by_class(right);
	other_rest = others;
	while (goes_on && rest.count > 0)
	{
		uint32_t class = class_at(&rest, 0);
		DocumentList list = cut_class(&rest);

		if (left != right)
		{
			DocumentList other = cut_to_class(&other_rest, class);

			goes_on = join_lists(&list, &other, most, sink, state);
		}
		else if (list.count > 1)
			goes_on = join_lists(&list, &list, most, sink, state);
		host_check_interrupts();
	}
	host_free((void *) ordered.doc);
	host_free((void *) others.doc);
	return goes_on;
}
