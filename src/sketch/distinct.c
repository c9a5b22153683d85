/*
 * distinct.c: the distinct elements of a set, in a table of open addressing.
 *
 * Elements are kept as mix64 of what comes, a bijection: whatever they are,
 * the bits that choose a slot are even, and only the element 0 is mixed to 0.
 */
#include <string.h>

#include "../hash.h"
#include "minhash.h"

#define SLOTS_MIN 64

/* Between two looks at interrupts. */
#define SLOTS_AT_ONCE 65536

/* From this size on slots are fetched ahead: they are in no near cache. */
#define PREFETCH_SLOTS (UINT64_C(1) << 15)
#define PREFETCH_AHEAD 12

/* Small tables are kept three quarters empty, large ones half. */
static size_t
slots_for(size_t elements)
{
	size_t slots = SLOTS_MIN;
	size_t wanted = elements * (elements < 4096 ? 4 : 2);

	while (slots < wanted)
		slots *= 2;
	return slots;
}

static void
new_slots(MinhashBuilder *builder, size_t slots)
{
	builder->slot = host_alloc(slots * sizeof(uint64_t));
	for (size_t done = 0; done < slots; done += SLOTS_AT_ONCE)
	{
		size_t count = slots - done < SLOTS_AT_ONCE ? slots - done : SLOTS_AT_ONCE;

		host_check_interrupts();
		memset(builder->slot + done, 0, count * sizeof(uint64_t));
	}
	builder->mask = slots - 1;
}

/* Half the slots are used at most. */
static size_t
elements_for(size_t slots)
{
	return slots / 2 * sizeof(uint64_t);
}

void
minhash_begin(MinhashBuilder *builder, size_t expected)
{
	size_t slots = slots_for(expected < 1024 * 1024 ? expected : 1024 * 1024);

	new_slots(builder, slots);
	builder->element = host_alloc(elements_for(slots));
	builder->used = 0;
	builder->has_zero = false;
}

/* The slot of a mixed element: its own or a free one. */
static inline uint64_t *
slot_of(const MinhashBuilder *builder, uint64_t mixed)
{
	size_t i = mixed & builder->mask;

	while (builder->slot[i] != 0 && builder->slot[i] != mixed)
		i = (i + 1) & builder->mask;
	return &builder->slot[i];
}

static void
grow(MinhashBuilder *builder, size_t elements)
{
	size_t slots = slots_for(elements);

	host_free(builder->slot);
	new_slots(builder, slots);
	builder->element = host_realloc(builder->element, elements_for(slots));
	for (size_t i = 0; i < builder->used; i++)
	{
		if (i % SLOTS_AT_ONCE == 0)
			host_check_interrupts();
		*slot_of(builder, builder->element[i]) = builder->element[i];
	}
}

void
minhash_add(void *state, const uint64_t *hashes, size_t count)
{
	MinhashBuilder *builder = state;
	bool far;

	if ((builder->used + count) * 2 > builder->mask)
		grow(builder, (builder->used + count) * 2);
	far = builder->mask >= PREFETCH_SLOTS;
	for (size_t i = 0; i < count; i++)
	{
		uint64_t mixed = mix64(hashes[i]);
		uint64_t *slot = slot_of(builder, mixed);

		if (far && i + PREFETCH_AHEAD < count)
			__builtin_prefetch(&builder->slot[mix64(hashes[i + PREFETCH_AHEAD]) & builder->mask],
							   1);
		builder->has_zero |= mixed == 0;
		builder->element[builder->used] = mixed;
		builder->used += *slot != mixed;
		*slot = mixed;
	}
}

size_t
distinct_elements(MinhashBuilder *builder, uint64_t **elements)
{
	if (builder->has_zero)
		builder->element[builder->used++] = 0;
	host_free(builder->slot);
	*elements = builder->element;
	return builder->used;
}
