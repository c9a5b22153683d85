/*
 * cpu.h: the order of bytes in words, and kernels that are compiled for several instruction sets.
 *
 * A kernel is plain C that is inlined into a function for each instruction set.  So all
 * these variants compute the same.  Where a compiler does not find the
 * instructions, a variant may be written with intrinsics; tests compare it with plain C.
 * A file with kernels
 *
 *   - lists the variants, the best last:  #define VARIANTS(X) CPU_PLAIN(X) CPU_POPCNT(X)
 *   - defines their functions with a macro X(name, target): VARIANTS(DEFINE_FUNCTIONS)
 *   - lists them in an array of structs that begin with a name and with available(),
 *     and that ends with a NULL name
 *   - defines with CPU_CHOICE a variable that holds the best one.
 */
#ifndef NEARDUP_BASE_CPU_H
#define NEARDUP_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Turns a word between this machine's order of bytes and little-endian. */
static inline uint64_t
little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

/* Returns 8 bytes as a number, whose lowest bits are the first byte. */
static inline uint64_t
load_word(const uint8_t *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return little_endian(word);
}

/* A function that is inlined into every variant. */
#define KERNEL_BODY static inline __attribute__((always_inline))

/* Returns true: every processor runs plain C. */
static inline bool
cpu_has_plain(void)
{
	return true;
}

#define CPU_PLAIN(X) X(plain, )

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#define CPU_X86

#define CPU_POPCNT(X) X(popcnt, __attribute__((target("popcnt"))))
#define TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define CPU_AVX2(X) X(avx2, TARGET_AVX2)
#define TARGET_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi,bmi2,popcnt")))
#define CPU_AVX512(X) X(avx512, TARGET_AVX512)
#define CPU_TARGET_VBMI2 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))
#define CPU_VBMI2(X) X(vbmi2, CPU_TARGET_VBMI2)

static inline bool
cpu_has_popcnt(void)
{
	return __builtin_cpu_supports("popcnt");
}

static inline bool
cpu_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

static inline bool
cpu_has_avx512(void)
{
	return cpu_has_avx2() && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512vpopcntdq");
}

static inline bool
cpu_has_vbmi2(void)
{
	return cpu_has_avx512() && __builtin_cpu_supports("avx512vbmi") &&
		__builtin_cpu_supports("avx512vbmi2");
}

#else

#define CPU_POPCNT(X)
#define CPU_AVX2(X)
#define CPU_AVX512(X)
#define CPU_VBMI2(X)

#endif

#if defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))

#define CPU_NEON(X) X(neon, )

/* Returns true: every 64-bit ARM processor has NEON. */
static inline bool
cpu_has_neon(void)
{
	return true;
}

#else

#define CPU_NEON(X)

#endif

/*
 * Defines a variable that holds the last variant of the array that this processor can run.
 * It is set when the program or library is loaded, so that a call needs no test.
 */
#define CPU_CHOICE(best, Variant, array) \
	static Variant best; \
\
	static __attribute__((constructor)) void choose_##best(void) \
	{ \
		for (const Variant *variant = array; variant->name != NULL; variant++) \
			if (variant->available()) \
				best = *variant; \
	}

#endif
