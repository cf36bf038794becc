/* The loops that follow, for vectors of floats: 16 entries fill a line of a cache. */
#define REAL float
#define TYPED(name) name##_f32
#define LINE 16
#define SMALLEST SYMMEM_SMALLEST
#define LARGEST SYMMEM_LARGEST
#define REGISTER __m128
#define WIDE_REGISTER __m256
#define SSE(operation) _mm_##operation##_ps
#define AVX(operation) _mm256_##operation##_ps
#if !SYMMEM_HAS_WIDE
#define finite_wide_f32 finite_base_f32
#define store_wide_f32 store_base_f32
#endif
