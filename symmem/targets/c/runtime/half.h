/*
 * Vectors in half precision: pieces of them are widened to float, computed there and rounded. Vectors in float beside
 * them, the memory of an optimizer, are read and written where they lie.
 */
enum symmem_format { SYMMEM_BF16, SYMMEM_F16, SYMMEM_FLOAT };
enum { SYMMEM_PIECE = 512, SYMMEM_PIECE_ROW = SYMMEM_PIECE + 16 };

struct symmem_input {
    const void *start;
    enum symmem_format format;
};

struct symmem_output {
    void *start;
    enum symmem_format format;
};

typedef void symmem_widen(float *restrict to, const uint16_t *restrict from, size_t count);
typedef void symmem_narrowing(uint16_t *restrict to, const float *restrict from, size_t count);

/* An input from the entry `at` on, as floats: in `room`, or where it lies. */
static SYMMEM_INLINE const float *widened(struct symmem_input from, size_t at, size_t count, float *room,
    symmem_widen *of_f16)
{
    if (from.format == SYMMEM_FLOAT) {
        return (const float *)from.start + at;
    }
    const uint16_t *const halves = (const uint16_t *)from.start + at;
    if (from.format == SYMMEM_BF16) {
        widen_bf16(room, halves, count);
    } else {
        of_f16(room, halves, count);
    }
    return room;
}

static SYMMEM_INLINE void narrowed(struct symmem_output to, size_t at, size_t count, const float *room,
    symmem_narrowing *into_f16)
{
    uint16_t *const halves = (uint16_t *)to.start + at;
    if (to.format == SYMMEM_BF16) {
        narrow_bf16(halves, room, count);
    } else if (to.format == SYMMEM_F16) {
        into_f16(halves, room, count);
    }
}

struct half_job {
    const double *numbers;
    const struct symmem_input *vectors;
    size_t given;
    const struct symmem_output *outs;
    size_t written;
    runner_f32 *runner;
    runner_f64 *exact; /* where a coefficient is beyond a float, else NULL */
};

static SYMMEM_INLINE void run_pieces(const struct half_job *job, size_t begin, size_t end,
    symmem_widen *of_f16, symmem_narrowing *into_f16)
{
    _Alignas(64) float copies[SYMMEM_VECTORS][SYMMEM_PIECE_ROW], results[SYMMEM_WRITTEN][SYMMEM_PIECE_ROW];
    for (size_t at = begin, here; at < end; at += here) {
        struct job_f32 work = {.numbers = job->numbers, .given = job->given, .written = job->written};
        here = end - at < SYMMEM_PIECE ? end - at : (size_t)SYMMEM_PIECE;
        for (size_t k = 0; k < job->given; ++k) {
            work.vectors[k] = widened(job->vectors[k], at, here, copies[k], of_f16);
        }
        for (size_t k = 0; k < job->written; ++k) {
            work.outs[k] = job->outs[k].format == SYMMEM_FLOAT ? (float *)job->outs[k].start + at : results[k];
        }
        if (job->exact != NULL) {
            in_double_f32(job->exact, &work, 0, here);
        } else {
            job->runner(&work, 0, here);
        }
        for (size_t k = 0; k < job->written; ++k) {
            narrowed(job->outs[k], at, here, results[k], into_f16);
        }
    }
}

static SYMMEM_APART void run_half_base(const struct half_job *job, size_t begin, size_t end)
{
    run_pieces(job, begin, end, widen_f16, narrow_f16);
}

SYMMEM_F16C static SYMMEM_APART void run_half_wide(const struct half_job *job, size_t begin, size_t end)
{
    run_pieces(job, begin, end, widen_f16_wide, narrow_f16_wide);
}

static void launch_half(runner_f32 *base, runner_f32 *wide, runner_f64 *exact_base, runner_f64 *exact_wide,
    const double *numbers, size_t known, const struct symmem_input *vectors, size_t given,
    const struct symmem_output *outs, size_t written, size_t count)
{
    struct half_job job = {numbers, vectors, given, outs, written, has_wide() ? wide : base, NULL};
    if (!are_within(numbers, known, SYMMEM_SMALLEST, SYMMEM_LARGEST)) {
        job.exact = has_wide() ? exact_wide : exact_base;
    }
    const bool fast = has_f16c();
    const ptrdiff_t chunks = (ptrdiff_t)(count / SYMMEM_CHUNK + 1);
    if (!is_shared(count)) {
        (fast ? run_half_wide : run_half_base)(&job, 0, count); /* the start of a team of one is not free */
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_shared(count))
#endif
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const size_t begin = (size_t)chunk * SYMMEM_CHUNK, end = begin + SYMMEM_CHUNK;
        if (begin < count) {
            (fast ? run_half_wide : run_half_base)(&job, begin, end < count ? end : count);
        }
    }
}
#define launch_bf16 launch_half
#define launch_f16 launch_half
