/*
 * AdamW without memory, to order 1 in the learning rate. Made by symmem 0.1.0 from the optimizer
 * adamw (Loshchilov and Hutter 2019). Do not edit: emit it again.
 *
 * Portable C11. For speed: -O3 -fno-math-errno -ffp-contract=off, and -fopenmp for threads. The
 * instruction set is chosen when a function is called, not when this file is compiled. Do not use
 * -ffast-math: entries that are not finite would be lost.
 */
#include "symmem_adamw.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* What differs between compilers and machines. */
#if defined(__GNUC__)
#define SYMMEM_INLINE inline __attribute__((always_inline, unused))
#define SYMMEM_RARE __attribute__((noinline, cold))
#define SYMMEM_PREFETCH(address) __builtin_prefetch(address)
#else
#define SYMMEM_INLINE inline
#define SYMMEM_RARE
#define SYMMEM_PREFETCH(address) ((void)(address))
#endif

#if defined(__GNUC__) && defined(__x86_64__) && !defined(SYMMEM_PORTABLE)
#include <immintrin.h>
#define SYMMEM_HAS_WIDE 1
#define SYMMEM_WIDE __attribute__((target("avx2,fma")))
#else
#define SYMMEM_HAS_WIDE 0
#define SYMMEM_WIDE
#endif

#if defined(__SSE2__) && !defined(SYMMEM_PORTABLE)
#include <emmintrin.h>
#define SYMMEM_HAS_SSE2 1
#else
#define SYMMEM_HAS_SSE2 0
#endif

/* A result of so many bytes would only push everything else out of the caches: it goes past them. */
#ifndef SYMMEM_STREAM_BYTES
#define SYMMEM_STREAM_BYTES ((size_t)4194304)
#endif

/* Fewer entries than this are not worth the start of threads. */
#ifndef SYMMEM_PARALLEL_ENTRIES
#define SYMMEM_PARALLEL_ENTRIES ((size_t)32768)
#endif

static bool has_wide(void)
{
#if SYMMEM_HAS_WIDE
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

enum {
    SYMMEM_VECTORS = 3,     /* at most so many inputs */
    SYMMEM_NUMBERS = 5,     /* at most so many coefficients */
    SYMMEM_LANES_f64 = 32,   /* entries treated at a time: they stay in the nearest cache */
    SYMMEM_LANES_f32 = 64,
    SYMMEM_LONG_LANES = 256, /* the same where a sum over past steps computes coefficients between */
    SYMMEM_CHUNK = 16384,    /* entries that a thread takes at a time */
    SYMMEM_AHEAD = 2048      /* bytes that are fetched before they are needed */
};

/*
 * The few entries that are not finite after the fast loop are computed again, with more range. An
 * infinite input stands for the limit: where infinite arithmetic has no answer (inf / inf), two large
 * numbers in its place show whether the formula settles, grows or vanishes.
 */
typedef long double symmem_formula(const double *numbers, const long double *vectors);

static long double along(symmem_formula *formula, const double *numbers, const long double *vectors,
    size_t given, size_t path)
{
    const int size = LDBL_MAX_EXP > 1024 ? LDBL_MAX_EXP / 32 : LDBL_MAX_EXP / 8;
    long double value[2] = {0, 0};
    for (int step = 0; step < 2; ++step) {
        long double moved[SYMMEM_VECTORS];
        for (size_t k = 0; k < given; ++k) {
            const int exponent = size * (step + 1) * (k % 2 == path ? 2 : 1);
            const bool infinite = isinf(vectors[k]);
            moved[k] = infinite ? copysignl(ldexpl(1.0L, exponent), vectors[k]) : vectors[k];
        }
        value[step] = formula(numbers, moved);
    }
    if ((double)value[0] == (double)value[1]) {
        return value[1];
    }
    if (fabsl(value[1]) > fabsl(value[0])) {
        return copysignl((long double)INFINITY, value[1]);
    }
    return fabsl(value[1]) < fabsl(value[0]) ? copysignl(0.0L, value[1]) : (long double)NAN;
}

static SYMMEM_RARE long double extended(symmem_formula *formula, const double *numbers,
    const long double *vectors, size_t given)
{
    const long double value = formula(numbers, vectors);
    size_t infinite = 0;
    for (size_t k = 0; k < given; ++k) {
        if (isnan(vectors[k])) {
            return (long double)NAN;
        }
        infinite += isinf(vectors[k]) ? 1 : 0;
    }
    if (!isnan(value) || infinite == 0) {
        return value;
    }
    const long double first = along(formula, numbers, vectors, given, 0);
    const long double second = along(formula, numbers, vectors, given, 1);
    return first == second ? first : (long double)NAN; /* the limit must not depend on the path */
}

/* The first step with decay**(stop - step) >= 2**-60.0; older terms of a sum are left out. */
static SYMMEM_INLINE double symmem_oldest(double first, double stop, double decay)
{
    if (!(decay > 0)) {
        return stop;
    }
    const double oldest = stop - ceil(-60.0 / log2(decay));
    return oldest > first ? oldest : first;
}

static SYMMEM_INLINE double symmem_sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}

static SYMMEM_INLINE float symmem_signf(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}

static SYMMEM_INLINE long double symmem_signl(long double x)
{
    return x > 0 ? 1.0L : x < 0 ? -1.0L : x;
}

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
 * The square root and the division of doubles would take longer than the memory. From 12 bits y of
 * the processor, with e = 1 - x y^2 and |e| < 2^-10,
 *
 *     1/sqrt(x) = y (1 - e)^(-1/2) = y (1 + e/2 + 3/8 e^2 + 5/16 e^3 + 35/128 e^4) + O(e^5)
 *
 * has all bits of a double but for the last. Entries beyond the range of a float go the long way.
 */
SYMMEM_WIDE static SYMMEM_INLINE void root_wide(double *x, size_t lanes)
{
    enum { GROUPS = 2 };
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

/* Loops over vectors of double: 8 entries fill a line of a cache. */
struct job_f64 {
    const double *numbers;
    const double *vectors[SYMMEM_VECTORS];
    double *out;
    size_t count;
    size_t lead;  /* entries before the first full line of `out` */
    bool in_range; /* the coefficients are numbers that the fast loop can hold */
    bool stream;
};

typedef void runner_f64(const struct job_f64 *job, size_t begin, size_t end);
typedef void block_f64(const double *numbers, const double *const *vectors,
    double *restrict result, size_t lanes, symmem_root *root);
typedef bool finite_f64(const double *values, size_t lanes);
typedef void store_f64(double *out, const double *values, size_t lanes, bool stream);

static SYMMEM_RARE void repair_f64(symmem_formula *formula, const double *numbers,
    const double *const *vectors, size_t given, double *result, size_t lanes, bool all)
{
    for (size_t i = 0; i < lanes; ++i) {
        if (all || result[i] - result[i] != 0) {
            long double entry[SYMMEM_VECTORS];
            for (size_t k = 0; k < given; ++k) {
                entry[k] = vectors[k][i];
            }
            result[i] = (double)extended(formula, numbers, entry, given);
        }
    }
}

/* Whether a full run of entries is finite. Sums are: a sum that overflows only costs a closer look. */
static SYMMEM_INLINE bool finite_base_f64(const double *values, size_t lanes)
{
#if SYMMEM_HAS_SSE2
    __m128d sum = _mm_setzero_pd();
    for (size_t i = 0; i < lanes; i += 8 / 4) {
        sum = _mm_add_pd(sum, _mm_load_pd(values + i));
    }
    const __m128d rest = _mm_sub_pd(sum, sum); /* NaN where the sum is not finite */
    return _mm_movemask_pd(_mm_cmpunord_pd(rest, rest)) == 0;
#else
    for (size_t i = 0; i < lanes; ++i) {
        if (values[i] - values[i] != 0) {
            return false;
        }
    }
    return true;
#endif
}

/* A full run of entries; `out` is aligned to a line where the stores go past the caches. */
static SYMMEM_INLINE void store_base_f64(double *out, const double *values, size_t lanes, bool stream)
{
#if SYMMEM_HAS_SSE2
    for (size_t i = 0; i < lanes; i += 8 / 4) {
        const __m128d part = _mm_load_pd(values + i);
        if (stream) {
            _mm_stream_pd(out + i, part);
        } else {
            _mm_storeu_pd(out + i, part);
        }
    }
#else
    (void)stream;
    memcpy(out, values, lanes * sizeof *out);
#endif
}

#if SYMMEM_HAS_WIDE
/* The same with wide registers. */
SYMMEM_WIDE static SYMMEM_INLINE bool finite_wide_f64(const double *values, size_t lanes)
{
    __m256d sum = _mm256_setzero_pd();
    for (size_t i = 0; i < lanes; i += 8 / 2) {
        sum = _mm256_add_pd(sum, _mm256_load_pd(values + i));
    }
    const __m256d rest = _mm256_sub_pd(sum, sum);
    return _mm256_movemask_pd(_mm256_cmp_pd(rest, rest, _CMP_UNORD_Q)) == 0;
}

SYMMEM_WIDE static SYMMEM_INLINE void store_wide_f64(double *out, const double *values, size_t lanes,
    bool stream)
{
    for (size_t i = 0; i < lanes; i += 8 / 2) {
        const __m256d part = _mm256_load_pd(values + i);
        if (stream) {
            _mm256_stream_pd(out + i, part);
        } else {
            _mm256_storeu_pd(out + i, part);
        }
    }
}
#else
#define finite_wide_f64 finite_base_f64
#define store_wide_f64 store_base_f64
#endif

static SYMMEM_INLINE void run_f64(block_f64 *block, finite_f64 *finite, store_f64 *store,
    symmem_root *root, symmem_formula *formula, size_t given, size_t lanes, const struct job_f64 *job, size_t begin, size_t end)
{
    _Alignas(64) double values[SYMMEM_LONG_LANES];
    double numbers[SYMMEM_NUMBERS];
    memcpy(numbers, job->numbers, sizeof numbers);
    const bool in_range = job->in_range, stream = job->stream;
    for (size_t at = begin, next; at < end; at = next) {
        const double *vectors[SYMMEM_VECTORS] = {NULL};
        for (size_t k = 0; k < given; ++k) {
            vectors[k] = job->vectors[k] + at;
        }
        next = at < job->lead ? job->lead : at + lanes;
        next = next < end ? next : end;
        const size_t here = next - at;
        if (here < lanes) {
            block(numbers, vectors, values, here, root);
            repair_f64(formula, numbers, vectors, given, values, here, !in_range);
            memcpy(job->out + at, values, here * sizeof *values);
            continue;
        }
        block(numbers, vectors, values, lanes, root);
        if (!(in_range && finite(values, lanes))) {
            repair_f64(formula, numbers, vectors, given, values, lanes, !in_range);
        }
        for (size_t k = 0; k < given; ++k) {
            for (size_t i = 0; i < lanes; i += 8) {
                SYMMEM_PREFETCH((const void *)((uintptr_t)(vectors[k] + i) + SYMMEM_AHEAD));
            }
        }
        store(job->out + at, values, lanes, stream);
    }
#if SYMMEM_HAS_SSE2
    if (stream) {
        _mm_sfence();
    }
#endif
}

static void launch_f64(runner_f64 *base, runner_f64 *wide, const double *numbers,
    size_t known, const double *const *vectors, size_t given, double *out, size_t count)
{
    struct job_f64 job = {.numbers = numbers, .out = out, .count = count, .in_range = true};
    bool apart = true;
    for (size_t k = 0; k < given; ++k) {
        job.vectors[k] = vectors[k];
        apart = apart && vectors[k] != out;
    }
    for (size_t k = 0; k < known; ++k) {
        const double size = fabs(numbers[k]);
        job.in_range = job.in_range && (size == 0 || (size > 0 && size < INFINITY));
    }
    job.stream = SYMMEM_HAS_SSE2 && apart && count * sizeof *out >= SYMMEM_STREAM_BYTES;
    job.lead = job.stream ? (64 - (uintptr_t)out % 64) % 64 / sizeof *out : 0;
    runner_f64 *const runner = has_wide() ? wide : base;
    const ptrdiff_t chunks = (ptrdiff_t)(count / SYMMEM_CHUNK + 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (count >= SYMMEM_PARALLEL_ENTRIES)
#endif
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const size_t begin = chunk == 0 ? 0 : job.lead + (size_t)chunk * SYMMEM_CHUNK;
        const size_t end = job.lead + ((size_t)chunk + 1) * SYMMEM_CHUNK;
        if (begin < count) {
            runner(&job, begin, end < count ? end : count);
        }
    }
}

/* Loops over vectors of float: 16 entries fill a line of a cache. */
struct job_f32 {
    const double *numbers;
    const float *vectors[SYMMEM_VECTORS];
    float *out;
    size_t count;
    size_t lead;  /* entries before the first full line of `out` */
    bool in_range; /* the coefficients are numbers that the fast loop can hold */
    bool stream;
};

typedef void runner_f32(const struct job_f32 *job, size_t begin, size_t end);
typedef void block_f32(const double *numbers, const float *const *vectors,
    float *restrict result, size_t lanes, symmem_root *root);
typedef bool finite_f32(const float *values, size_t lanes);
typedef void store_f32(float *out, const float *values, size_t lanes, bool stream);

static SYMMEM_RARE void repair_f32(symmem_formula *formula, const double *numbers,
    const float *const *vectors, size_t given, float *result, size_t lanes, bool all)
{
    for (size_t i = 0; i < lanes; ++i) {
        if (all || result[i] - result[i] != 0) {
            long double entry[SYMMEM_VECTORS];
            for (size_t k = 0; k < given; ++k) {
                entry[k] = vectors[k][i];
            }
            result[i] = (float)extended(formula, numbers, entry, given);
        }
    }
}

/* Whether a full run of entries is finite. Sums are: a sum that overflows only costs a closer look. */
static SYMMEM_INLINE bool finite_base_f32(const float *values, size_t lanes)
{
#if SYMMEM_HAS_SSE2
    __m128 sum = _mm_setzero_ps();
    for (size_t i = 0; i < lanes; i += 16 / 4) {
        sum = _mm_add_ps(sum, _mm_load_ps(values + i));
    }
    const __m128 rest = _mm_sub_ps(sum, sum); /* NaN where the sum is not finite */
    return _mm_movemask_ps(_mm_cmpunord_ps(rest, rest)) == 0;
#else
    for (size_t i = 0; i < lanes; ++i) {
        if (values[i] - values[i] != 0) {
            return false;
        }
    }
    return true;
#endif
}

/* A full run of entries; `out` is aligned to a line where the stores go past the caches. */
static SYMMEM_INLINE void store_base_f32(float *out, const float *values, size_t lanes, bool stream)
{
#if SYMMEM_HAS_SSE2
    for (size_t i = 0; i < lanes; i += 16 / 4) {
        const __m128 part = _mm_load_ps(values + i);
        if (stream) {
            _mm_stream_ps(out + i, part);
        } else {
            _mm_storeu_ps(out + i, part);
        }
    }
#else
    (void)stream;
    memcpy(out, values, lanes * sizeof *out);
#endif
}

#if SYMMEM_HAS_WIDE
/* The same with wide registers. */
SYMMEM_WIDE static SYMMEM_INLINE bool finite_wide_f32(const float *values, size_t lanes)
{
    __m256 sum = _mm256_setzero_ps();
    for (size_t i = 0; i < lanes; i += 16 / 2) {
        sum = _mm256_add_ps(sum, _mm256_load_ps(values + i));
    }
    const __m256 rest = _mm256_sub_ps(sum, sum);
    return _mm256_movemask_ps(_mm256_cmp_ps(rest, rest, _CMP_UNORD_Q)) == 0;
}

SYMMEM_WIDE static SYMMEM_INLINE void store_wide_f32(float *out, const float *values, size_t lanes,
    bool stream)
{
    for (size_t i = 0; i < lanes; i += 16 / 2) {
        const __m256 part = _mm256_load_ps(values + i);
        if (stream) {
            _mm256_stream_ps(out + i, part);
        } else {
            _mm256_storeu_ps(out + i, part);
        }
    }
}
#else
#define finite_wide_f32 finite_base_f32
#define store_wide_f32 store_base_f32
#endif

static SYMMEM_INLINE void run_f32(block_f32 *block, finite_f32 *finite, store_f32 *store,
    symmem_root *root, symmem_formula *formula, size_t given, size_t lanes, const struct job_f32 *job, size_t begin, size_t end)
{
    _Alignas(64) float values[SYMMEM_LONG_LANES];
    double numbers[SYMMEM_NUMBERS];
    memcpy(numbers, job->numbers, sizeof numbers);
    const bool in_range = job->in_range, stream = job->stream;
    for (size_t at = begin, next; at < end; at = next) {
        const float *vectors[SYMMEM_VECTORS] = {NULL};
        for (size_t k = 0; k < given; ++k) {
            vectors[k] = job->vectors[k] + at;
        }
        next = at < job->lead ? job->lead : at + lanes;
        next = next < end ? next : end;
        const size_t here = next - at;
        if (here < lanes) {
            block(numbers, vectors, values, here, root);
            repair_f32(formula, numbers, vectors, given, values, here, !in_range);
            memcpy(job->out + at, values, here * sizeof *values);
            continue;
        }
        block(numbers, vectors, values, lanes, root);
        if (!(in_range && finite(values, lanes))) {
            repair_f32(formula, numbers, vectors, given, values, lanes, !in_range);
        }
        for (size_t k = 0; k < given; ++k) {
            for (size_t i = 0; i < lanes; i += 16) {
                SYMMEM_PREFETCH((const void *)((uintptr_t)(vectors[k] + i) + SYMMEM_AHEAD));
            }
        }
        store(job->out + at, values, lanes, stream);
    }
#if SYMMEM_HAS_SSE2
    if (stream) {
        _mm_sfence();
    }
#endif
}

static void launch_f32(runner_f32 *base, runner_f32 *wide, const double *numbers,
    size_t known, const float *const *vectors, size_t given, float *out, size_t count)
{
    struct job_f32 job = {.numbers = numbers, .out = out, .count = count, .in_range = true};
    bool apart = true;
    for (size_t k = 0; k < given; ++k) {
        job.vectors[k] = vectors[k];
        apart = apart && vectors[k] != out;
    }
    for (size_t k = 0; k < known; ++k) {
        const double size = fabs(numbers[k]);
        job.in_range = job.in_range && (size == 0 || (size > 1e-30 && size < 1e30));
    }
    job.stream = SYMMEM_HAS_SSE2 && apart && count * sizeof *out >= SYMMEM_STREAM_BYTES;
    job.lead = job.stream ? (64 - (uintptr_t)out % 64) % 64 / sizeof *out : 0;
    runner_f32 *const runner = has_wide() ? wide : base;
    const ptrdiff_t chunks = (ptrdiff_t)(count / SYMMEM_CHUNK + 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (count >= SYMMEM_PARALLEL_ENTRIES)
#endif
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const size_t begin = chunk == 0 ? 0 : job.lead + (size_t)chunk * SYMMEM_CHUNK;
        const size_t end = job.lead + ((size_t)chunk + 1) * SYMMEM_CHUNK;
        if (begin < count) {
            runner(&job, begin, end < count ? end : count);
        }
    }
}

/* A pass for the machine that every compiler knows, and for the wide registers of newer ones. */
#define SYMMEM_RUNNERS(pass, suffix, given, lanes)                                                        \
    static void pass##_base_##suffix(const struct job_##suffix *job, size_t begin, size_t end)            \
    {                                                                                                     \
        run_##suffix(pass##_block_##suffix, finite_base_##suffix, store_base_##suffix, root_base,         \
            pass##_extended, given, lanes, job, begin, end);                                                               \
    }                                                                                                     \
    SYMMEM_WIDE static void pass##_wide_##suffix(const struct job_##suffix *job, size_t begin, size_t end) \
    {                                                                                                     \
        run_##suffix(pass##_block_##suffix, finite_wide_##suffix, store_wide_##suffix, root_wide,         \
            pass##_extended, given, lanes, job, begin, end);                                                               \
    }

/* One entry of memoryless. */
static SYMMEM_INLINE void memoryless_block_f64(const double *numbers,
    const double *const *vectors, double *restrict result, size_t lanes,
    symmem_root *root)
{
    const double eps = numbers[0];
    const double weight_decay = numbers[1];
    const double *const theta_ = vectors[0];
    const double *const grad_ = vectors[1];
    {
        double r1_[SYMMEM_LONG_LANES];
        for (size_t i = 0; i < lanes; ++i) {
            const double grad = grad_[i];
            r1_[i] = eps + grad * grad;
        }
        root(r1_, lanes);
        for (size_t i = 0; i < lanes; ++i) {
            const double theta = theta_[i];
            const double grad = grad_[i];
            const double r1 = r1_[i];
            result[i] = grad * r1 + weight_decay * theta;
        }
    }
}

static SYMMEM_INLINE void memoryless_block_f32(const double *numbers,
    const float *const *vectors, float *restrict result, size_t lanes,
    symmem_root *root)
{
    (void)root;
    const float eps = (float)numbers[0];
    const float weight_decay = (float)numbers[1];
    const float *const theta_ = vectors[0];
    const float *const grad_ = vectors[1];
    for (size_t i = 0; i < lanes; ++i) {
        const float theta = theta_[i];
        const float grad = grad_[i];
        const float r1 = symmem_rsqrtf(eps + grad * grad);
        result[i] = grad * r1 + weight_decay * theta;
    }
}

static long double memoryless_extended(const double *numbers, const long double *vectors)
{
    const long double eps = numbers[0];
    const long double weight_decay = numbers[1];
    const long double theta = vectors[0];
    const long double grad = vectors[1];
    const long double r1 = 1.0L / sqrtl(eps + grad * grad);
    return grad * r1 + weight_decay * theta;
}

SYMMEM_RUNNERS(memoryless, f64, 2, SYMMEM_LANES_f64)
SYMMEM_RUNNERS(memoryless, f32, 2, SYMMEM_LANES_f32)

/* One entry of correction. */
static SYMMEM_INLINE void correction_block_f64(const double *numbers,
    const double *const *vectors, double *restrict result, size_t lanes,
    symmem_root *root)
{
    const double c1 = numbers[0];
    const double c2 = numbers[1];
    const double eps = numbers[2];
    const double lr = numbers[3];
    const double *const grad_ = vectors[0];
    const double *const h1_ = vectors[1];
    {
        double r1_[SYMMEM_LONG_LANES];
        for (size_t i = 0; i < lanes; ++i) {
            const double grad = grad_[i];
            r1_[i] = eps + grad * grad;
        }
        root(r1_, lanes);
        for (size_t i = 0; i < lanes; ++i) {
            const double h1 = h1_[i];
            const double r1 = r1_[i];
            result[i] = lr * h1 * r1 * (c2 + c1 * r1 * r1);
        }
    }
}

static SYMMEM_INLINE void correction_block_f32(const double *numbers,
    const float *const *vectors, float *restrict result, size_t lanes,
    symmem_root *root)
{
    (void)root;
    const float c1 = (float)numbers[0];
    const float c2 = (float)numbers[1];
    const float eps = (float)numbers[2];
    const float lr = (float)numbers[3];
    const float *const grad_ = vectors[0];
    const float *const h1_ = vectors[1];
    for (size_t i = 0; i < lanes; ++i) {
        const float grad = grad_[i];
        const float h1 = h1_[i];
        const float r1 = symmem_rsqrtf(eps + grad * grad);
        result[i] = lr * h1 * r1 * (c2 + c1 * r1 * r1);
    }
}

static long double correction_extended(const double *numbers, const long double *vectors)
{
    const long double c1 = numbers[0];
    const long double c2 = numbers[1];
    const long double eps = numbers[2];
    const long double lr = numbers[3];
    const long double grad = vectors[0];
    const long double h1 = vectors[1];
    const long double r1 = 1.0L / sqrtl(eps + grad * grad);
    return lr * h1 * r1 * (c2 + c1 * r1 * r1);
}

SYMMEM_RUNNERS(correction, f64, 2, SYMMEM_LANES_f64)
SYMMEM_RUNNERS(correction, f32, 2, SYMMEM_LANES_f32)

/* One entry of step. */
static SYMMEM_INLINE void step_block_f64(const double *numbers,
    const double *const *vectors, double *restrict result, size_t lanes,
    symmem_root *root)
{
    const double c1 = numbers[0];
    const double c2 = numbers[1];
    const double eps = numbers[2];
    const double lr = numbers[3];
    const double weight_decay = numbers[4];
    const double *const theta_ = vectors[0];
    const double *const grad_ = vectors[1];
    const double *const h1_ = vectors[2];
    {
        double r1_[SYMMEM_LONG_LANES];
        for (size_t i = 0; i < lanes; ++i) {
            const double grad = grad_[i];
            r1_[i] = eps + grad * grad;
        }
        root(r1_, lanes);
        for (size_t i = 0; i < lanes; ++i) {
            const double theta = theta_[i];
            const double grad = grad_[i];
            const double h1 = h1_[i];
            const double r1 = r1_[i];
            const double p3 = lr * h1 * r1 * (c2 + c1 * r1 * r1);
            const double p2 = p3 + grad * r1 + weight_decay * theta;
            const double p1 = -lr * p2;
            result[i] = p1 + theta;
        }
    }
}

static SYMMEM_INLINE void step_block_f32(const double *numbers,
    const float *const *vectors, float *restrict result, size_t lanes,
    symmem_root *root)
{
    (void)root;
    const float c1 = (float)numbers[0];
    const float c2 = (float)numbers[1];
    const float eps = (float)numbers[2];
    const float lr = (float)numbers[3];
    const float weight_decay = (float)numbers[4];
    const float *const theta_ = vectors[0];
    const float *const grad_ = vectors[1];
    const float *const h1_ = vectors[2];
    for (size_t i = 0; i < lanes; ++i) {
        const float theta = theta_[i];
        const float grad = grad_[i];
        const float h1 = h1_[i];
        const float r1 = symmem_rsqrtf(eps + grad * grad);
        const float p3 = lr * h1 * r1 * (c2 + c1 * r1 * r1);
        const float p2 = p3 + grad * r1 + weight_decay * theta;
        const float p1 = -lr * p2;
        result[i] = p1 + theta;
    }
}

static long double step_extended(const double *numbers, const long double *vectors)
{
    const long double c1 = numbers[0];
    const long double c2 = numbers[1];
    const long double eps = numbers[2];
    const long double lr = numbers[3];
    const long double weight_decay = numbers[4];
    const long double theta = vectors[0];
    const long double grad = vectors[1];
    const long double h1 = vectors[2];
    const long double r1 = 1.0L / sqrtl(eps + grad * grad);
    const long double p3 = lr * h1 * r1 * (c2 + c1 * r1 * r1);
    const long double p2 = p3 + grad * r1 + weight_decay * theta;
    const long double p1 = -lr * p2;
    return p1 + theta;
}

SYMMEM_RUNNERS(step, f64, 3, SYMMEM_LANES_f64)
SYMMEM_RUNNERS(step, f32, 3, SYMMEM_LANES_f32)

/* The coefficients: computed once in a call, in double. */
static void memoryless_limit_numbers(const struct symmem_adamw_params *params, double n, double lr, double *numbers)
{
    (void)params;
    (void)n;
    (void)lr;
    (void)numbers;
    const double eps = params->eps;
    const double weight_decay = params->weight_decay;
    numbers[0] = eps;
    numbers[1] = weight_decay;
}

static void correction_limit_numbers(const struct symmem_adamw_params *params, double n, double lr, double *numbers)
{
    (void)params;
    (void)n;
    (void)lr;
    (void)numbers;
    const double beta1 = params->beta1;
    const double beta2 = params->beta2;
    const double eps = params->eps;
    const double x1 = beta2 / (1.0 - beta2);
    const double c1 = eps * x1;
    const double c2 = beta1 / (1.0 - beta1) - x1;
    numbers[0] = c1;
    numbers[1] = c2;
    numbers[2] = eps;
    numbers[3] = lr;
}

static void correction_finite_numbers(const struct symmem_adamw_params *params, double n, double lr, double *numbers)
{
    (void)params;
    (void)n;
    (void)lr;
    (void)numbers;
    const double beta1 = params->beta1;
    const double beta2 = params->beta2;
    const double eps = params->eps;
    const double x1 = beta2 / (1.0 - beta2);
    const double x2 = n + 1.0;
    const double x3 = pow(beta2, x2);
    const double x4 = x2 * x3 / (1.0 - x3);
    const double x5 = pow(beta1, x2);
    const double c1 = eps * (x1 - x4);
    const double c2 = x4 + beta1 / (1.0 - beta1) - x1 - x2 * x5 / (1.0 - x5);
    numbers[0] = c1;
    numbers[1] = c2;
    numbers[2] = eps;
    numbers[3] = lr;
}

static void step_limit_numbers(const struct symmem_adamw_params *params, double n, double lr, double *numbers)
{
    (void)params;
    (void)n;
    (void)lr;
    (void)numbers;
    const double beta1 = params->beta1;
    const double beta2 = params->beta2;
    const double eps = params->eps;
    const double weight_decay = params->weight_decay;
    const double x1 = beta2 / (1.0 - beta2);
    const double c1 = eps * x1;
    const double c2 = beta1 / (1.0 - beta1) - x1;
    numbers[0] = c1;
    numbers[1] = c2;
    numbers[2] = eps;
    numbers[3] = lr;
    numbers[4] = weight_decay;
}

static void step_finite_numbers(const struct symmem_adamw_params *params, double n, double lr, double *numbers)
{
    (void)params;
    (void)n;
    (void)lr;
    (void)numbers;
    const double beta1 = params->beta1;
    const double beta2 = params->beta2;
    const double eps = params->eps;
    const double weight_decay = params->weight_decay;
    const double x1 = beta2 / (1.0 - beta2);
    const double x2 = n + 1.0;
    const double x3 = pow(beta2, x2);
    const double x4 = x2 * x3 / (1.0 - x3);
    const double x5 = pow(beta1, x2);
    const double c1 = eps * (x1 - x4);
    const double c2 = x4 + beta1 / (1.0 - beta1) - x1 - x2 * x5 / (1.0 - x5);
    numbers[0] = c1;
    numbers[1] = c2;
    numbers[2] = eps;
    numbers[3] = lr;
    numbers[4] = weight_decay;
}

static bool in_range(const struct symmem_adamw_params *params)
{
    (void)params;
    return true
        && isfinite(params->beta1)
        && params->beta1 >= 0.0
        && params->beta1 < 1.0
        && isfinite(params->beta2)
        && params->beta2 >= 0.0
        && params->beta2 < 1.0
        && isfinite(params->eps)
        && params->eps > 0.0
        && isfinite(params->weight_decay)
        && params->weight_decay >= 0.0;
}

/* Whether two vectors have no byte in common. */
static bool are_apart(const void *first, size_t first_bytes, const void *second, size_t second_bytes)
{
    const uintptr_t a = (uintptr_t)first, b = (uintptr_t)second;
    return a + first_bytes <= b || b + second_bytes <= a;
}

/*
 * What is wrong with the arguments. `hv` holds `products` vectors, `out` gets `written` ones. An entry of
 * the result depends on the same entries of the inputs alone, so that the result may be an input; where
 * several vectors are read or written one after another, it may not.
 */
static int checked(const void *theta, const void *grad, const void *hv, size_t products, const void *out,
    size_t written, size_t count, size_t size, const struct symmem_adamw_params *params)
{
    const struct {
        const void *start;
        size_t vectors;
    } inputs[] = {{theta, 1}, {grad, 1}, {hv, products}};
    const size_t most = 1 + products + written;
    if (params == NULL) {
        return SYMMEM_NULL_POINTER;
    }
    if (!in_range(params) || count > SIZE_MAX / 2 / size / most) {
        return SYMMEM_OUT_OF_RANGE;
    }
    if (count == 0) {
        return SYMMEM_OK; /* there is nothing to point to */
    }
    if (out == NULL && written > 0) {
        return SYMMEM_NULL_POINTER;
    }
    if ((uintptr_t)out % size != 0) {
        return SYMMEM_MISALIGNED;
    }
    for (size_t k = 0; k < 3; ++k) {
        const size_t vectors = inputs[k].vectors;
        if (vectors > 0 && inputs[k].start == NULL) {
            return SYMMEM_NULL_POINTER;
        }
        if (vectors > 0 && (uintptr_t)inputs[k].start % size != 0) {
            return SYMMEM_MISALIGNED;
        }
        const bool same = inputs[k].start == out && vectors == 1 && written == 1;
        if (vectors > 0 && written > 0 && !same
            && !are_apart(inputs[k].start, vectors * count * size, out, written * count * size)) {
            return SYMMEM_OVERLAP;
        }
    }
    return SYMMEM_OK;
}

void symmem_adamw_params_init(struct symmem_adamw_params *params)
{
    const struct symmem_adamw_params defaults = SYMMEM_ADAMW_PARAMS_INIT;
    if (params != NULL) {
        *params = defaults;
    }
}

const char *symmem_adamw_name(void)
{
    return "adamw";
}

const char *symmem_adamw_version(void)
{
    return "0.1.0";
}

const char *symmem_adamw_message(int status)
{
    switch (status) {
    case SYMMEM_OK:
        return "done";
    case SYMMEM_NULL_POINTER:
        return "a vector or the parameters are NULL";
    case SYMMEM_OVERLAP:
        return "the result overlaps an input without being the same vector";
    case SYMMEM_OUT_OF_RANGE:
        return "out of range: beta1 in [0, 1), beta2 in [0, 1), eps in (0, inf), weight_decay in [0, inf), lr finite, count";
    case SYMMEM_MISALIGNED:
        return "a vector does not start at a multiple of its element's size";
    case SYMMEM_UNAVAILABLE:
        return "every n is available";
    default:
        return "an unknown status";
    }
}

size_t symmem_adamw_directions(int64_t n)
{
    return n < 0 ? 1 : 1;
}

int symmem_adamw_memoryless_f64(const double *theta, const double *grad, double *out, size_t count,
    int64_t n, const struct symmem_adamw_params *params)
{
    const int status = checked(theta, grad, NULL, 0, out, 1,
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    memoryless_limit_numbers(params, (double)n, 0, numbers);
    launch_f64(memoryless_base_f64, memoryless_wide_f64, numbers, 2,
        (const double *const[]){theta, grad}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_direction_f64(const double *theta, const double *grad, double *out, size_t count,
    int64_t n, const struct symmem_adamw_params *params)
{
    const int status = checked(theta, grad, NULL, 0, out, symmem_adamw_directions(n),
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    memoryless_limit_numbers(params, (double)n, 0, numbers);
    launch_f64(memoryless_base_f64, memoryless_wide_f64, numbers, 2,
        (const double *const[]){theta, grad}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_correction_f64(const double *theta, const double *grad, const double *hv,
    double *out, size_t count, int64_t n, double lr, const struct symmem_adamw_params *params)
{
    if (!isfinite(lr)) {
        return SYMMEM_OUT_OF_RANGE;
    }
    const int status = checked(theta, grad, hv, symmem_adamw_directions(n), out, 1,
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    (n < 0 ? correction_limit_numbers : correction_finite_numbers)(params, (double)n, lr, numbers);
    launch_f64(correction_base_f64, correction_wide_f64, numbers, 4,
        (const double *const[]){grad, hv}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_step_f64(double *theta, const double *grad, const double *hv, size_t count,
    int64_t n, double lr, const struct symmem_adamw_params *params)
{
    if (!isfinite(lr)) {
        return SYMMEM_OUT_OF_RANGE;
    }
    const int status = checked(theta, grad, hv, symmem_adamw_directions(n), theta, 1,
        count, sizeof *theta, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    (n < 0 ? step_limit_numbers : step_finite_numbers)(params, (double)n, lr, numbers);
    launch_f64(step_base_f64, step_wide_f64, numbers, 5,
        (const double *const[]){theta, grad, hv}, 3, theta, count);
    return SYMMEM_OK;
}

int symmem_adamw_memoryless_f32(const float *theta, const float *grad, float *out, size_t count,
    int64_t n, const struct symmem_adamw_params *params)
{
    const int status = checked(theta, grad, NULL, 0, out, 1,
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    memoryless_limit_numbers(params, (double)n, 0, numbers);
    launch_f32(memoryless_base_f32, memoryless_wide_f32, numbers, 2,
        (const float *const[]){theta, grad}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_direction_f32(const float *theta, const float *grad, float *out, size_t count,
    int64_t n, const struct symmem_adamw_params *params)
{
    const int status = checked(theta, grad, NULL, 0, out, symmem_adamw_directions(n),
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    memoryless_limit_numbers(params, (double)n, 0, numbers);
    launch_f32(memoryless_base_f32, memoryless_wide_f32, numbers, 2,
        (const float *const[]){theta, grad}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_correction_f32(const float *theta, const float *grad, const float *hv, float *out,
    size_t count, int64_t n, double lr, const struct symmem_adamw_params *params)
{
    if (!isfinite(lr)) {
        return SYMMEM_OUT_OF_RANGE;
    }
    const int status = checked(theta, grad, hv, symmem_adamw_directions(n), out, 1,
        count, sizeof *out, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    (n < 0 ? correction_limit_numbers : correction_finite_numbers)(params, (double)n, lr, numbers);
    launch_f32(correction_base_f32, correction_wide_f32, numbers, 4,
        (const float *const[]){grad, hv}, 2, out, count);
    return SYMMEM_OK;
}

int symmem_adamw_step_f32(float *theta, const float *grad, const float *hv, size_t count, int64_t n,
    double lr, const struct symmem_adamw_params *params)
{
    if (!isfinite(lr)) {
        return SYMMEM_OUT_OF_RANGE;
    }
    const int status = checked(theta, grad, hv, symmem_adamw_directions(n), theta, 1,
        count, sizeof *theta, params);
    if (status != SYMMEM_OK || count == 0) {
        return status;
    }
    double numbers[SYMMEM_NUMBERS] = {0};
    (n < 0 ? step_limit_numbers : step_finite_numbers)(params, (double)n, lr, numbers);
    launch_f32(step_base_f32, step_wide_f32, numbers, 5,
        (const float *const[]){theta, grad, hv}, 3, theta, count);
    return SYMMEM_OK;
}

