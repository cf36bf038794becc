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

/* The first step with |decay|**(stop - step) >= 2**-SYMMEM_TOLERANCE_BITS; older terms of a sum are left out. */
static SYMMEM_INLINE double symmem_oldest(double first, double stop, double decay)
{
    if (decay == 0) {
        return stop;
    }
    const double oldest = stop - ceil(-(double)SYMMEM_TOLERANCE_BITS / log2(fabs(decay)));
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
