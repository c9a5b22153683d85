/*
 * record_ends.c: where the records of a file end.
 */
#include "command/command.h"

#include <string.h>

/* Returns the character between the columns of CSV or TSV. */
char
separator_of(int format)
{
	return options.separator != NULL ? *options.separator : format == FORMAT_TSV ? '\t' : ',';
}

/* Returns where a record ends, its line end included; 0 if its end is not there. */
size_t
end_of_record(int format, const Buffer *data, RecordEnd *search)
{
	char separator = separator_of(format);
	const char *end = NULL;

	if (format == FORMAT_JSONL || format == FORMAT_TSV)
		end = memchr(data->bytes + search->at, '\n', data->length - search->at);
	for (; format == FORMAT_CSV && end == NULL && search->at < data->length; search->at++)
	{
		char c = data->bytes[search->at];

		if (c == '"' && (search->quoted || !search->inside))
		{
			/* Another one behind it opens the field again. */
			search->inside = !search->quoted;
			search->quoted = !search->quoted;
			continue;
		}
		search->inside = c != separator;
		if (c == '\n' && !search->quoted)
			end = data->bytes + search->at;
	}
	if (end == NULL)
		search->at = data->length;
	return end != NULL ? end + 1 - data->bytes : 0;
}

/* Returns the length of the longest record of a file, which is read in pieces. */
size_t
longest_of_file(int format, Input *input)
{
	RecordEnd search = {0};
	Buffer piece = {0};
	size_t longest = 0;
	size_t length = 0; /* the length of the record up to the piece */
	bool more = true;

	for (; more; piece.length = search.at = 0)
	{
		size_t start = 0;
		size_t end;

		more = input_read(input, &piece);
		for (; (end = end_of_record(format, &piece, &search)) > 0; length = 0)
		{
			longest = longest > length + end - start ? longest : length + end - start;
			search = (RecordEnd){start = end};
		}
		length += piece.length - start;
		longest = longest > length ? longest : length;
	}
	resize(NULL, piece.bytes, 0);
	return longest;
}
