/*
 * best.c: the order of the records by --best.
 *
 * Values are all numbers, which sort exactly, or all texts, which sort by their bytes, as
 * dates and times of ISO 8601 do.  Records without a value come last.
 */
#include "command/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"

/* Exponents of ten; the key of a number has its own in 17 digits, with EXPONENT_ZERO added. */
#define EXPONENT_MOST 500000000000000LL
#define EXPONENT_INFINITE (4 * EXPONENT_MOST)
#define EXPONENT_ZERO 20000000000000000LL
#define EXPONENT_NONE (-EXPONENT_ZERO) /* the exponent of 0 */

/* Skips a name, in any case, that a text may begin with. */
static bool
skip(const char **at, const char *name)
{
	bool found = strncasecmp(*at, name, strlen(name)) == 0;

	*at += found ? strlen(name) : 0;
	return found;
}

/*
 * Reads the digits of a number: appends those between its first and its last that are not 0, and
 * returns the exponent of 0.DIGITS.  Sets *some to whether there are any digits.
 */
static long long
read_digits(Buffer *digits, const char **at, bool *some)
{
	long long exponent = 0;
	bool point = false;

	for (*some = false; isdigit((unsigned char) **at) || (**at == '.' && !point); (*at)++)
	{
		if (**at == '.')
		{
			point = true;
			continue;
		}
		*some = true;
		if (digits->length > 0 || **at != '0')
			put(digits, *at, 1);
		exponent += point ? -(digits->length == 0) : digits->length > 0;
	}
	while (digits->length > 0 && digits->bytes[digits->length - 1] == '0')
		digits->length--;
	return exponent;
}

/* Reads the exponent of a number, if it has one. */
static long long
read_exponent(const char **at)
{
	const char *sign = *at + 1;
	long long exponent;
	char *end;

	if (tolower((unsigned char) **at) != 'e' ||
		!isdigit((unsigned char) sign[*sign == '-' || *sign == '+']))
		return 0;
	exponent = strtoll(sign, &end, 10);
	*at = end;
	return exponent > EXPONENT_MOST ? EXPONENT_MOST :
		exponent < -EXPONENT_MOST   ? -EXPONENT_MOST :
									  exponent;
}

/*
 * Appends the key of a number such as 5, +5.0, -.5e3 or inf; returns false if a text is none.  A
 * key is the sign, the exponent and the digits, each digit d below 0 as 9 - d.
 */
static bool
put_number_key(Buffer *key, const char *text)
{
	const char *at = text + strspn(text, BLANKS);
	bool negative = *at == '-';
	size_t start = key->length + 1;
	long long exponent = EXPONENT_INFINITE;
	bool some = true;
	Buffer digits = {0};

	at += *at == '-' || *at == '+';
	if (!skip(&at, "infinity") && !skip(&at, "inf"))
	{
		exponent = read_digits(&digits, &at, &some);
		exponent += read_exponent(&at);
		if (digits.length == 0)
			exponent = EXPONENT_NONE;
	}
	if (!some || at[strspn(at, BLANKS)] != '\0')
		start = 0;
	else if (exponent == EXPONENT_NONE)
		put(key, "1", 1);
	else
	{
		put_text(key, "%c%lld", negative ? '0' : '2', EXPONENT_ZERO + exponent);
		put(key, digits.bytes, digits.length);
		for (char *digit = key->bytes + start; negative && digit < key->bytes + key->length;
			 digit++)
			*digit = '0' + '9' - *digit;
		/* Of two numbers below 0, the smaller one is that with more digits. */
		put(key, ":", negative);
	}
	resize(NULL, digits.bytes, 0);
	return start > 0;
}

/* Returns whether a text is a value, neither blank nor NaN. */
static bool
is_value(const char *text)
{
	text += strspn(text, BLANKS);
	if (*text == '\0')
		return false;
	text += *text == '-' || *text == '+';
	return !skip(&text, "nan") || text[strspn(text, BLANKS)] != '\0';
}

/* Adds the value of the next record, one of a batch. */
static void
add_value(Best *best, const RecordBatch *batch, const char *text)
{
	static const char *const kinds[] = {"a text", "a number"};
	bool number;

	best->count++;
	if (is_value(text))
	{
		number = put_number_key(&best->key, text);
		if (!number)
			put(&best->key, text, strlen(text));
		if (best->first == 0)
		{
			best->first = best->count;
			best->numbers = number;
			put(&best->first_text, text, strlen(text) + 1);
		}
		if (number != best->numbers)
			fail(EXIT_INPUT,
				 "record %u of \"%s\" has \"%.60s\" in the field \"%s\", %s, but record %u has \"%.60s\", %s: they have no order",
				 best->count, batch->file, text, options.field[BEST], kinds[number], best->first,
				 best->first_text.bytes, kinds[best->numbers]);
	}
	put(&best->key, "", 1);
}

/* Adds the values of the records of a batch, the next one in order. */
void
best_add(Best *best, const RecordBatch *batch)
{
	const char *text = batch->best.bytes;

	for (size_t i = 0; i < records_of(batch); i++, text += strlen(text) + 1)
		add_value(best, batch, text);
}

/* Returns the key of each record, of which the greatest is best; fails if none has a value. */
const char **
best_keys(const Best *best)
{
	const char **keys = resize(NULL, NULL, best->count * sizeof(char *));
	const char *at = best->key.bytes;

	if (best->first == 0)
		fail(EXIT_INPUT, "no record has a value in the field \"%s\"", options.field[BEST]);
	for (uint32_t i = 0; i < best->count; i++, at += strlen(at) + 1)
		keys[i] = at;
	return keys;
}
