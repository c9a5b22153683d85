/*
 * components.c: connected components of similar documents.
 *
 * A large cluster has a number of pairs that is quadratic in its size.  So if there are many
 * pairs, stars come first: all documents of a star are connected.  Then only pairs of documents
 * of different components are looked for: each document has a label, that of its star if the
 * star is large, and the join skips documents whose labels are connected.
 */
#include <string.h>

#include "base/forest.h"
#include "join/pairs.h"

/* The fewest documents of a star that has a label. */
#define LABELLED_MIN 64

/* More pairs than MANY_PAIRS for each document are many, unless they are at most FEW_PAIRS. */
#define MANY_PAIRS 8
#define FEW_PAIRS 65536

typedef struct Components
{
	const Stars *stars;
	uint32_t *parent; /* the parent of each row */
	uint64_t wanted;  /* pairs */
} Components;

/* A PairSink. */
static bool
take_link(void *state, uint32_t a, uint32_t b, double similarity)
{
	Components *components = state;
	const uint32_t *first = components->stars->first;

	(void) forest_link(components->parent, first[a], first[b]);
	return components->wanted-- > 0;
}

/* Returns the keepers of rows by stars of the documents alone. */
static uint32_t *
find_stars(const Documents *documents)
{
	Stars stars = {.documents = (Documents *) documents, .first = documents->first};

	stars.keeper = host_alloc(documents->rows * sizeof(uint32_t));
	memset(stars.keeper, 0xFF, documents->rows * sizeof(uint32_t)); /* NO_ROW */
	stars.similarity = host_alloc(documents->rows * sizeof(double));
	stars_make(&stars);
	host_free(stars.similarity);
	return stars.keeper;
}

/* Returns a label for the keeper of each large star, by row; 0: none.  Sets *labels to their number. */
static uint32_t *
label_keepers(const Documents *documents, const uint32_t *keeper, uint32_t *labels)
{
	uint32_t *label = host_alloc(documents->rows * sizeof(uint32_t));
	size_t least = host_limit(LABELLED_MIN);

	*labels = 0;
	memset(label, 0, documents->rows * sizeof(uint32_t));
	for (uint32_t i = 0; i < documents->count; i++)
		label[keeper[documents->first[i]]]++;
	for (uint32_t row = 0; row < documents->rows; row++)
		label[row] = label[row] >= least ? ++*labels : 0;
	return label;
}

/* Orders the documents by label; sets the label of each position. */
static void
order_by_label(const Documents *documents, const uint32_t *keeper, const uint32_t *label_of_keeper,
			   uint32_t labels, uint32_t *doc, uint32_t *label)
{
	uint32_t *next = host_alloc((labels + 2) * sizeof(uint32_t));

	memset(next, 0, (labels + 2) * sizeof(uint32_t));
	for (uint32_t i = 0; i < documents->count; i++)
		next[label_of_keeper[keeper[documents->first[i]]] + 1]++;
	for (uint32_t l = 1; l <= labels; l++)
		next[l] += next[l - 1];
	for (uint32_t i = 0; i < documents->count; i++)
	{
		uint32_t own = label_of_keeper[keeper[documents->first[i]]];
		uint32_t position = next[own]++;

		doc[position] = i;
		label[position] = own;
	}
	host_free(next);
}

/* Links similar documents.  Returns false if they have many pairs, and not all are linked. */
static bool
link_few(Components *components)
{
	DocumentList all = all_documents(components->stars->documents);

	components->wanted =
		Max((uint64_t) all.count * host_limit(MANY_PAIRS), (uint64_t) host_limit(FEW_PAIRS));
	return pairs_join(&all, NULL, components->wanted, take_link, components);
}

/* Links the documents of each star, and similar documents of different stars. */
static void
link_stars(Components *components)
{
	Documents *documents = components->stars->documents;
	const uint32_t *first = components->stars->first;
	uint32_t *keeper = find_stars(documents);
	uint32_t *doc = host_alloc(documents->count * sizeof(uint32_t));
	uint32_t *label = host_alloc(documents->count * sizeof(uint32_t));
	uint32_t labels;
	uint32_t *label_of_keeper = label_keepers(documents, keeper, &labels);
	DocumentList list = {documents, doc, documents->count};
	JoinLabels join_labels = {label, forest_begin(labels + 1), labels + 1};

	order_by_label(documents, keeper, label_of_keeper, labels, doc, label);
	for (uint32_t i = 0; i < documents->count; i++)
	{
		(void) forest_link(components->parent, first[i], keeper[documents->first[i]]);
		(void) forest_link(components->parent, first[i], documents->first[i]);
	}
	host_free(label_of_keeper);
	host_free(keeper);
	if (labels > 0)
		list.labels = &join_labels;
	components->wanted = UINT64_MAX;
	(void) pairs_join(&list, NULL, UINT64_MAX, take_link, components);
	host_free(join_labels.parent);
	host_free(label);
	host_free(doc);
}

/* Sets the keeper of each row to the root of its tree. */
void
components_set(Stars *stars, uint32_t *parent)
{
	for (uint32_t i = 0; i < stars->documents->count; i++)
	{
		uint32_t root = forest_root(parent, stars->first[i]);

		stars->keeper[stars->first[i]] = root;
		for_each_row(stars->documents, i, row) stars->keeper[row] = root;
		host_check_interrupts_at(i);
	}
}

/*
 * Sets the keeper of each row to the first row of its connected component.  Rows that stand for
 * several documents connect them.
 */
void
components_make(Stars *stars)
{
	Components components = {.stars = stars, .parent = forest_begin(stars->documents->rows)};

	if (!link_few(&components))
		link_stars(&components);
	components_set(stars, components.parent);
	host_free(components.parent);
}
