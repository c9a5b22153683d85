/*
 * hash.c: the hash function of the recipe, for many numbers at once.
 */
#include "base/hash.h"

#include "base/cpu.h"

typedef struct MixKernel
{
	const char *name;
	bool (*available)(void);
	void (*mix)(const uint64_t *from, size_t count, uint64_t *to);
} MixKernel;

/* A processor multiplies 64 bits in vectors with AVX-512 only. */
KERNEL_BODY void
mix_body(const uint64_t *from, size_t count, uint64_t *to)
{
	for (size_t i = 0; i < count; i++)
		to[i] = mix64(from[i]);
}

#define MIX_VARIANTS(X) CPU_PLAIN(X) CPU_AVX512(X)

#define MIX_FUNCTION(name, target) \
	target static void mix_##name(const uint64_t *from, size_t count, uint64_t *to) \
	{ \
		mix_body(from, count, to); \
	}

#define MIX_KERNEL(name, target) {#name, cpu_has_##name, mix_##name},

MIX_VARIANTS(MIX_FUNCTION)

static const MixKernel mix_kernels[] = {MIX_VARIANTS(MIX_KERNEL){NULL}};

CPU_CHOICE(best_mix, MixKernel, mix_kernels)

/* Sets each number of `to` to mix64() of that of `from`, which may be the same array. */
void
mix64_all(const uint64_t *from, size_t count, uint64_t *to)
{
	best_mix.mix(from, count, to);
}
