/*
 * Half precision by its bits, bfloat16 and IEEE's: to float, which is exact, and back, rounded to the nearest, ties
 * to even. In whole numbers but for the smallest of IEEE's, so that every compiler makes wide loops of it; where the
 * machine converts IEEE's by itself, it does.
 */
static SYMMEM_INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static SYMMEM_INLINE float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static SYMMEM_INLINE float from_bf16(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

static SYMMEM_INLINE uint16_t to_bf16(float x)
{
    const uint32_t bits = bits_of(x), is_odd = bits >> 16 & 1;
    const uint32_t rounded = (bits + 0x7fff + is_odd) >> 16, quiet = bits >> 16 | 0x40;
    return (uint16_t)(x != x ? quiet : rounded);
}

/* Exponents are 112 apart. A half below its normal range is m 2^-24: 2^-14 (1 + m/1024) less 2^-14. */
static SYMMEM_INLINE float from_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, size = (uint32_t)(half & 0x7fff) << 13;
    const uint32_t exponent = size & 0x0f800000, least = 0x38800000; /* 2^-14 */
    const uint32_t small = bits_of(float_of(size + least) - float_of(least));
    const uint32_t special = size | 0x7f800000, normal = size + 0x38000000;
    return float_of(sign | (exponent == 0 ? small : exponent == 0x0f800000 ? special : normal));
}

/* Below 2^-14 the sum with 1/2 has the half's last place as its own, and is rounded there. */
static SYMMEM_INLINE uint16_t to_f16(float x)
{
    const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    const uint32_t small = bits_of(float_of(size) + 0.5f) - 0x3f000000;
    const uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    const uint32_t large = size > 0x7f800000 ? 0x7e00 | (size >> 13 & 0x3ff) : 0x7c00;
    return (uint16_t)(sign | (size < 0x38800000 ? small : size < 0x47800000 ? normal : large));
}

/* Runs of them. */
static SYMMEM_INLINE void widen_bf16(float *restrict to, const uint16_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = from_bf16(from[i]);
    }
}

static SYMMEM_INLINE void narrow_bf16(uint16_t *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = to_bf16(from[i]);
    }
}

#if defined(__aarch64__) && defined(__ARM_FP16_FORMAT_IEEE) && !defined(SYMMEM_PORTABLE)
typedef __fp16 __attribute__((may_alias)) symmem_native_half;
#define SYMMEM_FROM_F16(half) ((float)*(const symmem_native_half *)&(half))
#define SYMMEM_TO_F16(place, x) (*(symmem_native_half *)&(place) = (symmem_native_half)(x))
#else
#define SYMMEM_FROM_F16(half) from_f16(half)
#define SYMMEM_TO_F16(place, x) ((place) = to_f16(x))
#endif

static SYMMEM_INLINE void widen_f16(float *restrict to, const uint16_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = SYMMEM_FROM_F16(from[i]);
    }
}

static SYMMEM_INLINE void narrow_f16(uint16_t *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        SYMMEM_TO_F16(to[i], from[i]);
    }
}

#if SYMMEM_HAS_WIDE
#include <cpuid.h>
#define SYMMEM_F16C __attribute__((target("avx2,fma,f16c")))

/* Asked when the library is loaded: on a virtual machine the question itself takes microseconds. */
static bool symmem_has_f16c = false;

__attribute__((constructor)) static void symmem_ask(void)
{
    unsigned int a = 0, b = 0, c = 0, d = 0;
    symmem_has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

static bool has_f16c(void)
{
    return symmem_has_f16c && has_wide();
}

SYMMEM_F16C static SYMMEM_INLINE void widen_f16_wide(float *restrict to, const uint16_t *restrict from, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
    }
    widen_f16(to + i, from + i, count - i);
}

SYMMEM_F16C static SYMMEM_INLINE void narrow_f16_wide(uint16_t *restrict to, const float *restrict from, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        _mm_storeu_si128((__m128i *)(void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    }
    narrow_f16(to + i, from + i, count - i);
}
#else
#define SYMMEM_F16C
#define has_f16c() false
#define widen_f16_wide widen_f16
#define narrow_f16_wide narrow_f16
#endif
