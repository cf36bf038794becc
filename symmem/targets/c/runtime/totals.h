/*
 * Sums over all entries of vectors of REAL. The vectors are cut at places that depend on their length
 * alone, and the parts are added in their order: any number of threads and any alignment give the same
 * bits. Terms are doubles; what an addition rounds away is kept, and added at the end. Where the sum is
 * not finite, or so small that terms may have vanished, it is taken again with more range. What is not
 * finite then is NaN: how fast the entries go to infinity against each other is not known.
 */
struct TYPED(terms) {
    const double *numbers;
    const REAL *vectors[SYMMEM_VECTORS];
    size_t given;
};

typedef long double TYPED(adder)(const struct TYPED(terms) *terms, size_t begin, size_t end);
typedef void TYPED(density)(const double *numbers, const REAL *const *vectors, double *restrict result,
    size_t lanes, symmem_root *root);

static SYMMEM_INLINE long double TYPED(added)(TYPED(density) *density, symmem_root *root, size_t given,
    size_t lanes, const struct TYPED(terms) *terms, size_t begin, size_t end)
{
    enum { WAYS = 8 };
    _Alignas(64) double values[SYMMEM_LONG_LANES];
    double sum[WAYS] = {0}, rest[WAYS] = {0};
    for (size_t at = begin; at < end; at += lanes) {
        const REAL *vectors[SYMMEM_VECTORS] = {NULL};
        for (size_t k = 0; k < given; ++k) {
            vectors[k] = terms->vectors[k] + at;
        }
        const size_t here = end - at < lanes ? end - at : lanes;
        if (here == lanes) {
            density(terms->numbers, vectors, values, lanes, root);
        } else {
            density(terms->numbers, vectors, values, here, root);
            memset(values + here, 0, (lanes - here) * sizeof *values);
        }
        for (size_t i = 0; i < lanes; i += WAYS) {
            for (size_t k = 0; k < WAYS; ++k) {
                const double term = values[i + k], next = sum[k] + term, back = next - sum[k];
                rest[k] += (sum[k] - (next - back)) + (term - back);
                sum[k] = next;
            }
        }
    }
    long double total = 0, small = 0;
    for (size_t k = 0; k < WAYS; ++k) {
        total += sum[k];
        small += rest[k];
    }
    return total + small;
}

static SYMMEM_RARE long double TYPED(added_again)(symmem_formula *formula,
    const struct TYPED(terms) *terms, size_t begin, size_t end)
{
    long double sum = 0, rest = 0;
    for (size_t i = begin; i < end; ++i) {
        long double entry[SYMMEM_VECTORS];
        for (size_t k = 0; k < terms->given; ++k) {
            entry[k] = terms->vectors[k][i];
        }
        const long double term = extended(formula, terms->numbers, entry, terms->given);
        const long double next = sum + term, back = next - sum;
        rest += (sum - (next - back)) + (term - back);
        sum = next;
    }
    return isfinite(sum) ? sum + rest : sum;
}

static long double TYPED(total)(TYPED(adder) *base, TYPED(adder) *wide, symmem_formula *formula,
    const double *numbers, const REAL *const *vectors, size_t given, size_t count)
{
    enum { PARTS = 256, SHORTEST = 2048 };
    struct TYPED(terms) terms = {.numbers = numbers, .given = given};
    for (size_t k = 0; k < given; ++k) {
        terms.vectors[k] = vectors[k];
    }
    const size_t whole = count / PARTS + 1, runs = (whole - 1) / SYMMEM_LONG_LANES + 1;
    const size_t length = whole < SHORTEST ? (size_t)SHORTEST : runs * SYMMEM_LONG_LANES;
    const ptrdiff_t used = (ptrdiff_t)((count - 1) / length + 1);
    TYPED(adder) *const adder = has_wide() ? wide : base;
    long double parts[PARTS], total = 0;
    for (int again = 0; again < 2; ++again) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_shared(count))
#endif
        for (ptrdiff_t part = 0; part < used; ++part) {
            const size_t begin = (size_t)part * length, left = count - begin;
            const size_t end = begin + (left < length ? left : length);
            parts[part] = again ? TYPED(added_again)(formula, &terms, begin, end) : adder(&terms, begin, end);
        }
        total = 0;
        for (ptrdiff_t part = 0; part < used; ++part) {
            total += parts[part];
        }
        if (isfinite(total) && fabsl(total) > 1e-280L) {
            break;
        }
    }
    return isfinite(total) ? total : (long double)NAN;
}
