/*
 * cpu.h: kernels compiled for several instruction sets and chosen at run time.
 *
 * A kernel is a plain C body that the compiler vectorises once for each set,
 * so that all variants compute the same by construction.
 */
#ifndef NEARDUP_BASE_CPU_H
#define NEARDUP_BASE_CPU_H

#include <stdbool.h>

/* A body to be inlined into each variant. */
#define KERNEL_BODY static inline __attribute__((always_inline))

static inline bool
cpu_has_plain(void)
{
	return true;
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#define CPU_X86 1

#define TARGET_POPCNT __attribute__((target("popcnt")))
#define TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define TARGET_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi,bmi2,popcnt")))

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

#endif
#endif
