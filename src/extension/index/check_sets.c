/*
 * check_sets.c: the elements of a set against its record and its postings.
 */
#include "index/check.h"

/* Reports an error unless elements ascend and fit their record. */
static void
check_elements(Relation index, BlockNumber block, const SetRecord *record, const uint64 *element)
{
	SetBitmap bitmap = set_bitmap(element, record->count);

	for (uint32 i = 1; i < record->count; i++)
		if (element[i - 1] >= element[i])
			page_corrupt(index, block, "elements of a set out of order");
	if (record->count == 0 || memcmp(&bitmap, &record->bitmap, sizeof(bitmap)) != 0)
		page_corrupt(index, block, "record that does not fit its set");
}

/*
 * Checks the elements of a set, whose document is on a page and has a number, and sums up its
 * postings.  Makes the elements the symbols of the document.  No page is locked.
 */
void
set_check(SetCheck *check, Document *document, uint32 number, BlockNumber block)
{
	const SetRecord *record = (const SetRecord *) document->symbols;
	uint64 *element = elements_copy(&check->source, record);
	int64 last = -1;

	if (element == NULL)
		page_corrupt(check->source.index, block, "elements of its sets belong to another segment");
	check_elements(check->source.index, block, record, element);
	for (uint32 i = 0; i < record->count && check->grouping != NULL; i++)
	{
		uint32 bucket = set_bucket(check->grouping, element[i]);

		/* Elements of one bucket follow each other, and have one posting. */
		if (bucket != last)
			check->wanted += sum_of_posting(bucket, number);
		last = bucket;
	}
	document->symbols = (const uint8_t *) element;
	document->bytes = record->count * sizeof(uint64);
}
