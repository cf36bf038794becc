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

typedef symmem_wide TYPED(adder)(const struct TYPED(terms) *terms, size_t begin, size_t end);
typedef void TYPED(density)(const double *numbers, const REAL *const *vectors, double *restrict result,
    size_t lanes, symmem_root *root);

static SYMMEM_INLINE symmem_wide TYPED(added)(TYPED(density) *density, symmem_root *root, size_t given,
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
    symmem_kept total = {{0, 0}, {0, 0}};
    for (size_t k = 0; k < WAYS; ++k) {
        total = symmem_keep(symmem_keep(total, symmem_of(sum[k])), symmem_of(rest[k]));
    }
    return symmem_whole(total);
}

static SYMMEM_RARE symmem_wide TYPED(added_again)(symmem_formula *formula,
    const struct TYPED(terms) *terms, size_t begin, size_t end)
{
    symmem_kept total = {{0, 0}, {0, 0}};
    for (size_t i = begin; i < end; ++i) {
        symmem_wide entry[SYMMEM_VECTORS];
        for (size_t k = 0; k < terms->given; ++k) {
            entry[k] = symmem_of(terms->vectors[k][i]);
        }
        total = symmem_keep(total, extended(formula, terms->numbers, entry, terms->given));
    }
    return symmem_whole(total);
}

struct TYPED(sum) {
    struct TYPED(terms) terms;
    TYPED(adder) *adder;
    symmem_formula *formula;
};

static symmem_wide TYPED(part)(const void *given, bool again, size_t begin, size_t end)
{
    const struct TYPED(sum) *const sum = given;
    return again ? TYPED(added_again)(sum->formula, &sum->terms, begin, end) : sum->adder(&sum->terms, begin, end);
}

static symmem_wide TYPED(total)(TYPED(adder) *base, TYPED(adder) *wide, symmem_formula *formula,
    const double *numbers, const REAL *const *vectors, size_t given, size_t count)
{
    struct TYPED(sum) sum = {
        .terms = {.numbers = numbers, .given = given}, .adder = has_wide() ? wide : base, .formula = formula};
    for (size_t k = 0; k < given; ++k) {
        sum.terms.vectors[k] = vectors[k];
    }
    return add_parts(TYPED(part), &sum, count);
}
