/*
 * arrow.c: arrays of the Arrow C data interface, which own their memory.
 */
#include "library/session.h"

#include <stdlib.h>

/* Buffers have the alignment of malloc. */
#define ALIGNED(bytes) (((bytes) + 15) & ~(size_t) 15)

#define BUFFERS 3 /* the validity, and two of a field */

/* ---- Arrays ------------------------------------------------------------- */

static void
release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release != NULL)
			array->children[i]->release(array->children[i]);
	array->release = NULL;
	free(array->private_data);
}

/* Writes the bits of values that are not null; returns how many are null. */
static int64_t
write_validity(const neardup_field *field, uint8_t *bits)
{
	int64_t nulls = 0;

	for (size_t i = 0; i < field->count; i++)
	{
		bits[i / 8] |= !field->null[i] << i % 8;
		nulls += field->null[i];
	}
	return nulls;
}

/* Makes an array, with its buffers in one block; returns false if there is no memory. */
static bool
arrow_make_array(const neardup_field *field, struct ArrowArray *array)
{
	size_t size[BUFFERS] = {field->null != NULL ? (field->count + 7) / 8 : 0, field->bytes[0],
							field->bytes[1]};
	size_t head = ALIGNED(BUFFERS * sizeof(void *) +
						  field->children * (sizeof(void *) + sizeof(struct ArrowArray)));
	char *block = calloc(1, head + ALIGNED(size[0]) + ALIGNED(size[1]) + ALIGNED(size[2]) + 1);
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *child;
	char *to;

	if (block == NULL)
		return false;
	buffers = (const void **) block;
	children = (struct ArrowArray **) (buffers + BUFFERS);
	child = (struct ArrowArray *) (children + field->children);
	to = block + head;
	*array = (struct ArrowArray){.length = field->count,
								 .n_buffers = 1,
								 .buffers = buffers,
								 .children = children,
								 .release = release_array,
								 .private_data = block};
	if (field->null != NULL)
	{
		array->null_count = write_validity(field, (uint8_t *) to);
		buffers[0] = to;
	}
	for (int i = 1; i < BUFFERS && field->buffer[i - 1] != NULL; i++)
	{
		to += ALIGNED(size[i - 1]);
		memcpy(to, field->buffer[i - 1], size[i]);
		buffers[array->n_buffers++] = to;
	}
	for (; array->n_children < field->children; array->n_children++)
	{
		if (!arrow_make_array(field->child + array->n_children, child))
		{
			release_array(array);
			return false;
		}
		children[array->n_children] = child++;
	}
	return true;
}

/* ---- Schemas ------------------------------------------------------------ */

static void
release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release != NULL)
			schema->children[i]->release(schema->children[i]);
	schema->release = NULL;
	free(schema->private_data);
}

/* Makes a schema, with its names in one block; returns false if there is no memory. */
static bool
make_schema(const neardup_field *field, struct ArrowSchema *schema)
{
	size_t format = strlen(field->format) + 1;
	size_t name = strlen(field->name) + 1;
	size_t head = field->children * (sizeof(void *) + sizeof(struct ArrowSchema));
	char *block = malloc(head + format + name);
	struct ArrowSchema **children;
	struct ArrowSchema *child;
	char *names;

	if (block == NULL)
		return false;
	children = (struct ArrowSchema **) block;
	child = (struct ArrowSchema *) (children + field->children);
	names = (char *) (child + field->children);
	memcpy(names, field->format, format);
	memcpy(names + format, field->name, name);
	*schema = (struct ArrowSchema){.format = names,
								   .name = names + format,
								   .flags = ARROW_FLAG_NULLABLE,
								   .children = children,
								   .release = release_schema,
								   .private_data = block};
	for (; schema->n_children < field->children; schema->n_children++)
	{
		if (!make_schema(field->child + schema->n_children, child))
		{
			release_schema(schema);
			return false;
		}
		children[schema->n_children] = child++;
	}
	return true;
}

/* ---- Export ------------------------------------------------------------- */

neardup_code
neardup_export(neardup_session *session, const neardup_field *field, struct ArrowSchema *schema,
			   struct ArrowArray *array)
{
	SESSION_BEGIN(session);
	if (!make_schema(field, schema))
		session_fail(NEARDUP_NO_MEMORY, "out of memory: could not allocate a schema");
	if (!arrow_make_array(field, array))
	{
		release_schema(schema);
		session_fail(NEARDUP_NO_MEMORY, "out of memory: could not allocate a column");
	}
	return session_end();
}

/* ---- Capsules of Python ------------------------------------------------- */

/* PyCapsule_GetPointer, which the library is not linked with. */
static void *(*get_pointer_of)(void *capsule, const char *name);

void
neardup_capsules(void *(*get_pointer)(void *capsule, const char *name))
{
	get_pointer_of = get_pointer;
}

void
neardup_free_schema(void *capsule)
{
	struct ArrowSchema *schema = get_pointer_of(capsule, "arrow_schema");

	if (schema != NULL && schema->release != NULL)
		schema->release(schema);
	free(schema);
}

void
neardup_free_array(void *capsule)
{
	struct ArrowArray *array = get_pointer_of(capsule, "arrow_array");

	if (array != NULL && array->release != NULL)
		array->release(array);
	free(array);
}
