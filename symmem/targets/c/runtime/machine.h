/* What differs between compilers and machines, and how much is taken at a time. */
#if defined(__GNUC__)
#define SYMMEM_INLINE inline __attribute__((always_inline, unused))
#define SYMMEM_RARE __attribute__((noinline, cold))
#define SYMMEM_SELDOM __attribute__((cold, unused))
#define SYMMEM_APART __attribute__((noinline))
#define SYMMEM_MAYBE_UNUSED __attribute__((unused))
#define SYMMEM_PREFETCH(address) __builtin_prefetch(address)
#else
#define SYMMEM_INLINE inline
#define SYMMEM_RARE
#define SYMMEM_SELDOM
#define SYMMEM_APART
#define SYMMEM_MAYBE_UNUSED
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

enum {
    SYMMEM_LANES_f64 = 32,   /* entries treated at a time: they stay in the nearest cache */
    SYMMEM_LANES_f32 = 64,
    SYMMEM_LONG_LANES = 256, /* the same where a sum over past steps computes coefficients between */
    SYMMEM_ROW = SYMMEM_LONG_LANES + 16, /* between rows of values: no power of 2, for the caches */
    SYMMEM_CHUNK = 16384,    /* entries that a thread takes at a time */
    SYMMEM_AHEAD = 2048      /* bytes that are fetched before they are needed */
};

/* Coefficients of a float: products of them and of powers of entries stay within its range. */
#define SYMMEM_SMALLEST 1e-30
#define SYMMEM_LARGEST 1e30

static bool has_wide(void)
{
#if SYMMEM_HAS_WIDE
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/*
 * A child of fork has none of the threads of its parent, and OpenMP may wait for them: the child works alone.
 * Who forks before the library is loaded has its threads.
 */
#if defined(_OPENMP) && defined(__GNUC__) && (defined(__unix__) || defined(__APPLE__))
#include <pthread.h>
static bool symmem_is_alone = false;

static void symmem_forked(void)
{
    symmem_is_alone = true;
}

__attribute__((constructor)) static void symmem_loaded(void)
{
    (void)pthread_atfork(NULL, NULL, symmem_forked);
}
#else
enum { symmem_is_alone = 0 };
#endif

/* Whether so many entries are shared among threads. */
static SYMMEM_INLINE bool is_shared(size_t count)
{
    return count >= SYMMEM_PARALLEL_ENTRIES && !symmem_is_alone;
}

/* Whether all coefficients are 0 or between these sizes. */
static SYMMEM_INLINE bool are_within(const double *numbers, size_t known, double smallest, double largest)
{
    bool within = true;
    for (size_t k = 0; k < known; ++k) {
        const double size = fabs(numbers[k]);
        within = within && (size == 0 || (size > smallest && size < largest));
    }
    return within;
}
