/* The loops that follow, for vectors of doubles: 8 entries fill a line of a cache. */
#define REAL double
#define TYPED(name) name##_f64
#define LINE 8
#define SMALLEST 0 /* coefficients of any size */
#define LARGEST INFINITY
#define REGISTER __m128d
#define WIDE_REGISTER __m256d
#define SSE(operation) _mm_##operation##_pd
#define AVX(operation) _mm256_##operation##_pd
#if !SYMMEM_HAS_WIDE
#define finite_wide_f64 finite_base_f64
#define store_wide_f64 store_base_f64
#endif
