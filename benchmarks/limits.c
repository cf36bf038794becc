/* What the memory allows: loops with the reads and writes of a kernel and next to no arithmetic. */
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#define LOOPS(type, suffix)                                                                          \
    /* Two reads, one write. */                                                                      \
    void triad_##suffix(const type *a, const type *b, type *out, size_t count)                       \
    {                                                                                                \
        _Pragma("omp parallel for simd schedule(static)") for (size_t i = 0; i < count; ++i)         \
        {                                                                                            \
            out[i] = a[i] + (type)3 * b[i];                                                          \
        }                                                                                            \
    }                                                                                                \
    /* Three reads, one write, in place. */                                                          \
    void copy_##suffix(type *a, const type *b, const type *c, size_t count)                          \
    {                                                                                                \
        _Pragma("omp parallel for simd schedule(static)") for (size_t i = 0; i < count; ++i)         \
        {                                                                                            \
            a[i] = a[i] + (b[i] + c[i]);                                                             \
        }                                                                                            \
    }                                                                                                \
    /* Four reads, three writes, in place: what an optimizer with two averages moves. */             \
    void moments_##suffix(type *a, const type *b, type *c, type *d, size_t count)                    \
    {                                                                                                \
        _Pragma("omp parallel for simd schedule(static)") for (size_t i = 0; i < count; ++i)         \
        {                                                                                            \
            c[i] = c[i] + b[i];                                                                      \
            d[i] = d[i] - b[i];                                                                      \
            a[i] = a[i] + (c[i] + d[i]);                                                             \
        }                                                                                            \
    }

LOOPS(double, f64)
LOOPS(float, f32)

#if defined(__AVX__)
/* The triad with streaming stores; `out` is aligned to 32 bytes and `count` a multiple of 8. */
void streaming_f64(const double *a, const double *b, double *out, size_t count)
{
    const __m256d three = _mm256_set1_pd(3);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i += 4) {
        _mm256_stream_pd(out + i, _mm256_add_pd(_mm256_loadu_pd(a + i), _mm256_mul_pd(three, _mm256_loadu_pd(b + i))));
    }
}

void streaming_f32(const float *a, const float *b, float *out, size_t count)
{
    const __m256 three = _mm256_set1_ps(3);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i += 8) {
        _mm256_stream_ps(out + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_mul_ps(three, _mm256_loadu_ps(b + i))));
    }
}
#else
void streaming_f64(const double *a, const double *b, double *out, size_t count)
{
    triad_f64(a, b, out, count);
}

void streaming_f32(const float *a, const float *b, float *out, size_t count)
{
    triad_f32(a, b, out, count);
}
#endif
