/*
 * 1/sqrt(x) and 1/x, but NaN where x is infinite: a finite entry may have overflowed on the way, and
 * NaN has it computed again.
 */
static SYMMEM_INLINE double symmem_rsqrt(double x)
{
    return sqrt(x) / x;
}

static SYMMEM_INLINE float symmem_rsqrtf(float x)
{
    return sqrtf(x) / x;
}

static SYMMEM_INLINE double symmem_reciprocal(double x)
{
    return 1.0 / x + 0.0 * x;
}

static SYMMEM_INLINE float symmem_reciprocalf(float x)
{
    return 1.0f / x + 0.0f * x;
}

/* 1/sqrt(x) in place; the array has room for a multiple of 16 entries. */
typedef void symmem_root(double *x, size_t lanes);

static SYMMEM_INLINE void root_base(double *x, size_t lanes)
{
    for (size_t i = 0; i < lanes; ++i) {
        x[i] = symmem_rsqrt(x[i]);
    }
}

#if SYMMEM_HAS_WIDE
/*
 * From the 14 bits y of newer processors, which have them for doubles of any size: with e = 1 - x y^2 and |e| < 2^-13
 * the term 35/128 e^4 of the series below is less than the last bit.
 */
__attribute__((target("avx2,fma,avx512f,avx512vl"))) static SYMMEM_APART void root_newer(double *x, size_t lanes)
{
    for (size_t i = lanes; i % 8 != 0; ++i) {
        x[i] = 1;
    }
    for (size_t i = 0; i < lanes; i += 4) {
        const __m256d value = _mm256_loadu_pd(x + i), y = _mm256_rsqrt14_pd(value);
        const __m256d e = _mm256_fnmadd_pd(_mm256_mul_pd(value, y), y, _mm256_set1_pd(1));
        __m256d series = _mm256_fmadd_pd(e, _mm256_set1_pd(5.0 / 16), _mm256_set1_pd(3.0 / 8));
        series = _mm256_fmadd_pd(e, series, _mm256_set1_pd(1.0 / 2));
        _mm256_storeu_pd(x + i, _mm256_fmadd_pd(_mm256_mul_pd(y, e), series, y));
    }
}

/*
 * The square root and the division of doubles would take longer than the memory. From 12 bits y of
 * the processor, with e = 1 - x y^2 and |e| < 2^-10,
 *
 *     1/sqrt(x) = y (1 - e)^(-1/2) = y (1 + e/2 + 3/8 e^2 + 5/16 e^3 + 35/128 e^4) + O(e^5)
 *
 * has all bits of a double but for the last. Entries above the range of a float go the long way; below it
 * the result is not finite, and the entry is computed again.
 */
SYMMEM_WIDE static SYMMEM_INLINE void root_wide(double *x, size_t lanes)
{
    enum { GROUPS = 2 };
    if (__builtin_cpu_supports("avx512vl")) {
        root_newer(x, lanes);
        return;
    }
    for (size_t i = lanes; i % (4 * GROUPS) != 0; ++i) {
        x[i] = 1;
    }
    for (size_t i = 0; i < lanes; i += 4 * GROUPS) {
        __m256d value[GROUPS], y[GROUPS], e[GROUPS], series[GROUPS], far[GROUPS];
        for (int k = 0; k < GROUPS; ++k) {
            value[k] = _mm256_loadu_pd(x + i + 4 * k);
            y[k] = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(value[k])));
            e[k] = _mm256_fnmadd_pd(_mm256_mul_pd(value[k], y[k]), y[k], _mm256_set1_pd(1));
            far[k] = _mm256_cmp_pd(e[k], _mm256_set1_pd(0x1p-10), _CMP_NLT_UQ);
        }
        for (int k = 0; k < GROUPS; ++k) {
            series[k] = _mm256_fmadd_pd(e[k], _mm256_set1_pd(35.0 / 128), _mm256_set1_pd(5.0 / 16));
            series[k] = _mm256_fmadd_pd(e[k], series[k], _mm256_set1_pd(3.0 / 8));
            series[k] = _mm256_fmadd_pd(e[k], series[k], _mm256_set1_pd(1.0 / 2));
            y[k] = _mm256_fmadd_pd(_mm256_mul_pd(y[k], e[k]), series[k], y[k]);
        }
        if (_mm256_movemask_pd(_mm256_or_pd(far[0], far[1])) != 0) {
            for (int k = 0; k < GROUPS; ++k) {
                const __m256d slow = _mm256_div_pd(_mm256_sqrt_pd(value[k]), value[k]);
                y[k] = _mm256_blendv_pd(y[k], slow, far[k]);
            }
        }
        for (int k = 0; k < GROUPS; ++k) {
            _mm256_storeu_pd(x + i + 4 * k, y[k]);
        }
    }
}
#else
#define root_wide root_base
#endif
