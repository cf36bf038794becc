/*
 * Loops over vectors of one type, REAL: blocks of entries, the repair of those that are not finite, stores
 * past the caches, and threads. They stand here once for each type.
 */
struct TYPED(job) {
    const double *numbers;
    const REAL *vectors[SYMMEM_VECTORS];
    size_t given;
    REAL *outs[SYMMEM_WRITTEN];
    size_t written;
    size_t lead; /* entries before the first full line of the result */
    bool stream;
};

typedef void TYPED(runner)(const struct TYPED(job) *job, size_t begin, size_t end);
typedef void TYPED(block)(const double *numbers, const REAL *const *vectors,
    REAL *restrict result, size_t lanes, symmem_root *root);
typedef bool TYPED(finite)(const REAL *values, size_t lanes);
typedef void TYPED(store)(REAL *out, const REAL *values, size_t lanes, bool stream);

static SYMMEM_RARE void TYPED(repair)(symmem_formula *formula, const double *numbers,
    const REAL *const *vectors, size_t given, REAL *result, size_t lanes)
{
    for (size_t i = 0; i < lanes; ++i) {
        if (result[i] - result[i] != 0) {
            symmem_wide entry[SYMMEM_VECTORS];
            for (size_t k = 0; k < given; ++k) {
                entry[k] = symmem_of(vectors[k][i]);
            }
            result[i] = (REAL)symmem_narrow(extended(formula, numbers, entry, given));
        }
    }
}

/* Whether a full run of entries is finite. Sums are: a sum that overflows only costs a closer look. */
static SYMMEM_INLINE bool TYPED(finite_base)(const REAL *values, size_t lanes)
{
#if SYMMEM_HAS_SSE2
    REGISTER sum = SSE(setzero)();
    for (size_t i = 0; i < lanes; i += LINE / 4) {
        sum = SSE(add)(sum, SSE(load)(values + i));
    }
    const REGISTER rest = SSE(sub)(sum, sum); /* NaN where the sum is not finite */
    return SSE(movemask)(SSE(cmpunord)(rest, rest)) == 0;
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
static SYMMEM_INLINE void TYPED(store_base)(REAL *out, const REAL *values, size_t lanes, bool stream)
{
#if SYMMEM_HAS_SSE2
    for (size_t i = 0; i < lanes; i += LINE / 4) {
        const REGISTER part = SSE(load)(values + i);
        if (stream) {
            SSE(stream)(out + i, part);
        } else {
            SSE(storeu)(out + i, part);
        }
    }
#else
    (void)stream;
    memcpy(out, values, lanes * sizeof *out);
#endif
}

#if SYMMEM_HAS_WIDE
/* The same with wide registers. */
SYMMEM_WIDE static SYMMEM_INLINE bool TYPED(finite_wide)(const REAL *values, size_t lanes)
{
    WIDE_REGISTER sum = AVX(setzero)();
    for (size_t i = 0; i < lanes; i += LINE / 2) {
        sum = AVX(add)(sum, AVX(load)(values + i));
    }
    const WIDE_REGISTER rest = AVX(sub)(sum, sum);
    return AVX(movemask)(AVX(cmp)(rest, rest, _CMP_UNORD_Q)) == 0;
}

SYMMEM_WIDE static SYMMEM_INLINE void TYPED(store_wide)(REAL *out, const REAL *values, size_t lanes, bool stream)
{
    for (size_t i = 0; i < lanes; i += LINE / 2) {
        const WIDE_REGISTER part = AVX(load)(values + i);
        if (stream) {
            AVX(stream)(out + i, part);
        } else {
            AVX(storeu)(out + i, part);
        }
    }
}
#endif

/* A short run of every vector, filled up with its last entry: once for all passes. */
static SYMMEM_RARE void TYPED(fill)(const REAL **vectors, REAL (*filled)[SYMMEM_LANES_f32], size_t given,
    size_t here, size_t lanes)
{
    for (size_t k = 0; k < given; ++k) {
        for (size_t i = 0; i < lanes; ++i) {
            filled[k][i] = vectors[k][i < here ? i : here - 1];
        }
        vectors[k] = filled[k];
    }
}

/* The vectors that are written have their values in rows, SYMMEM_ROW apart: all are computed before one is stored. */
static SYMMEM_INLINE void TYPED(run)(TYPED(block) *block, TYPED(finite) *finite, TYPED(store) *store,
    symmem_root *root, symmem_formula *const *formulas, size_t given, size_t written, size_t lanes, size_t known,
    const struct TYPED(job) *job, size_t begin, size_t end)
{
    _Alignas(64) REAL values[SYMMEM_WRITTEN * SYMMEM_ROW];
    /* A copy that no store can change; rows of past steps are read where they lie. */
    double copy[SYMMEM_PLAIN];
    memcpy(copy, job->numbers, known * sizeof *copy);
    const double *const numbers = known > 0 ? copy : job->numbers;
    const bool stream = job->stream;
    /* A short run is filled up, so that the loop has one length; where a sum makes every entry long, it is not. */
    const bool fills = lanes < SYMMEM_LONG_LANES;
    for (size_t at = begin, next; at < end; at = next) {
        const REAL *vectors[SYMMEM_VECTORS] = {NULL};
        REAL filled[SYMMEM_VECTORS][SYMMEM_LANES_f32];
        next = at < job->lead ? job->lead : at + lanes;
        next = next < end ? next : end;
        const size_t here = next - at;
        for (size_t k = 0; k < given; ++k) {
            vectors[k] = job->vectors[k] + at;
        }
        if (fills && here < lanes) {
            TYPED(fill)(vectors, filled, given, here, lanes);
        }
        block(numbers, vectors, values, fills ? lanes : here, root);
        for (size_t k = 0; k < written; ++k) {
            REAL *const row = values + k * SYMMEM_ROW;
            if (here < lanes || !finite(row, lanes)) {
                TYPED(repair)(formulas[k], numbers, vectors, given, row, here);
            }
        }
        for (size_t k = 0; k < written && here < lanes; ++k) {
            memcpy(job->outs[k] + at, values + k * SYMMEM_ROW, here * sizeof *values);
        }
        if (here < lanes) {
            continue;
        }
        for (size_t k = 0; k < given; ++k) {
            for (size_t i = 0; i < lanes; i += LINE) {
                SYMMEM_PREFETCH((const void *)((uintptr_t)(vectors[k] + i) + SYMMEM_AHEAD));
            }
        }
        for (size_t k = 0; k < written; ++k) {
            store(job->outs[k] + at, values + k * SYMMEM_ROW, lanes, stream);
        }
    }
#if SYMMEM_HAS_SSE2
    if (stream) {
        _mm_sfence();
    }
#endif
}

/* The same entries in double, where a coefficient is too small or too large for this type: `exact` runs over doubles. */
static SYMMEM_APART void TYPED(in_double)(runner_f64 *exact, const struct TYPED(job) *job, size_t begin, size_t end)
{
    enum { LENGTH = 128 };
    _Alignas(64) double copies[SYMMEM_VECTORS][LENGTH], results[SYMMEM_WRITTEN][LENGTH];
    for (size_t at = begin, here; at < end; at += here) {
        struct job_f64 work = {.numbers = job->numbers, .given = job->given, .written = job->written};
        here = end - at < LENGTH ? end - at : (size_t)LENGTH;
        for (size_t k = 0; k < job->given; ++k) {
            for (size_t i = 0; i < here; ++i) {
                copies[k][i] = job->vectors[k][at + i];
            }
            work.vectors[k] = copies[k];
        }
        for (size_t k = 0; k < job->written; ++k) {
            work.outs[k] = results[k];
        }
        exact(&work, 0, here);
        for (size_t k = 0; k < job->written; ++k) {
            for (size_t i = 0; i < here; ++i) {
                job->outs[k][at + i] = (REAL)results[k][i];
            }
        }
    }
}

/* The runners are two of this type and two of double, each for every machine and for wide registers. */
static void TYPED(launch)(TYPED(runner) *base, TYPED(runner) *wide, runner_f64 *exact_base, runner_f64 *exact_wide,
    const double *numbers, size_t known, const REAL *const *vectors, size_t given, REAL *const *outs, size_t written,
    size_t count)
{
    struct TYPED(job) job = {.numbers = numbers, .given = given, .written = written};
    bool apart = written == 1;
    for (size_t k = 0; k < given; ++k) {
        job.vectors[k] = vectors[k];
        apart = apart && vectors[k] != outs[0];
    }
    for (size_t k = 0; k < written; ++k) {
        job.outs[k] = outs[k];
    }
    const bool in_range = are_within(numbers, known, SMALLEST, LARGEST);
    job.stream = SYMMEM_HAS_SSE2 && apart && count * sizeof(REAL) >= SYMMEM_STREAM_BYTES;
    job.lead = job.stream ? (64 - (uintptr_t)outs[0] % 64) % 64 / sizeof(REAL) : 0;
    TYPED(runner) *const runner = has_wide() ? wide : base;
    runner_f64 *const exact = has_wide() ? exact_wide : exact_base;
    if (in_range && !is_shared(count)) {
        runner(&job, 0, count); /* the start of a team of one is not free */
        return;
    }
    const ptrdiff_t chunks = (ptrdiff_t)(count / SYMMEM_CHUNK + 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_shared(count))
#endif
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const size_t begin = chunk == 0 ? 0 : job.lead + (size_t)chunk * SYMMEM_CHUNK;
        const size_t end = job.lead + ((size_t)chunk + 1) * SYMMEM_CHUNK;
        const size_t stop = end < count ? end : count;
        if (begin < count && in_range) {
            runner(&job, begin, stop);
        } else if (begin < count) {
            TYPED(in_double)(exact, &job, begin, stop);
        }
    }
}

#undef REAL
#undef TYPED
#undef LINE
#undef SMALLEST
#undef LARGEST
#undef REGISTER
#undef WIDE_REGISTER
#undef SSE
#undef AVX
