/*
 * words.c: sets of words, and the sets of the languages that the recipe knows.
 */
#include "text/internal.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Makes a set of words: one that is never freed, or one for word_set_free. */
WordSet
word_set_of(const uint64_t *hashes, size_t count, bool forever)
{
	WordSet set = {.word = NULL};

	set.word = (forever ? host_alloc_forever : host_alloc)((count + 1) * sizeof(uint64_t));
	(forever ? table_begin_forever : table_begin)(&set.table, count);
	table_reserve(&set.table, count);
	for (size_t i = 0; i < count; i++)
		table_add_key(&set.table, table_hash(&set.table, hashes[i]), hashes[i], set.word);
	return set;
}

/* Frees a set; one that is not made yet is allowed. */
void
word_set_free(WordSet *set)
{
	if (set->word == NULL)
		return;
	table_end(&set->table);
	host_free(set->word);
	set->word = NULL;
}

/* Returns the element for a token that the user gives: XXH3-64 of its bytes. */
uint64_t
shingle_of_token(const char *utf8, size_t length)
{
	return XXH3_64bits(utf8, length);
}

/*
 * Returns a set of the words of a list, making it in the first call.  If several threads
 * make it at once, one copy is kept, and the others are not freed.
 */
static const WordSet *
word_set_of_list(WordSet **kept, const char *list)
{
	WordSet *set = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
	uint64_t *hash;
	size_t count = 0;

	if (set != NULL)
		return set;
	hash = host_alloc((strlen(list) / 2 + 1) * sizeof(uint64_t));
	while (*list != '\0')
	{
		size_t length = strcspn(list, " ");

		hash[count++] = shingle_of_token(list, length);
		list += length + (list[length] == ' ');
	}
	set = host_alloc_forever(sizeof(WordSet));
	*set = word_set_of(hash, count, true);
	host_free(hash);
	__atomic_store_n(kept, set, __ATOMIC_RELEASE);
	return set;
}

/* Returns the set of a language's stop words, which lives as long as the process. */
const WordSet *
language_stop_words(int language)
{
	static WordSet *sets[LANGUAGES_MAX];

	return word_set_of_list(&sets[language], languages[language].stop_words);
}

/* Returns the set of a language's antecedents, which lives as long as the process. */
const WordSet *
language_antecedents(int language)
{
	static WordSet *sets[LANGUAGES_MAX];

	return word_set_of_list(&sets[language], languages[language].antecedents);
}

/* Returns whether the token of this hash (shingle_of_token) is an English stop word. */
bool
is_stop_word(uint64_t token_hash)
{
	return word_set_has(language_stop_words(LANGUAGE_ENGLISH), token_hash);
}
