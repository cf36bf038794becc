/*
 * The few entries that are not finite after the fast loop are computed again, with more range. An
 * infinite input stands for the limit: where infinite arithmetic has no answer (inf / inf), two large
 * numbers in its place show whether the formula settles, grows or vanishes.
 */
typedef symmem_wide symmem_formula(const double *numbers, const symmem_wide *vectors);

static symmem_wide along(symmem_formula *formula, const double *numbers, const symmem_wide *vectors,
    size_t given, size_t path)
{
    enum { SIZE = 512 };
    symmem_wide value[2];
    for (int step = 0; step < 2; ++step) {
        symmem_wide moved[SYMMEM_VECTORS];
        for (size_t k = 0; k < given; ++k) {
            const double exponent = SIZE * (step + 1) * (k % 2 == path ? 2 : 1);
            moved[k] = isinf(vectors[k].part) ? symmem_scaled(copysign(1, vectors[k].part), exponent) : vectors[k];
        }
        value[step] = formula(numbers, moved);
    }
    if (symmem_narrow(symmem_sub(value[0], value[1])) == 0 || symmem_narrow(value[0]) == symmem_narrow(value[1])) {
        return value[1];
    }
    const symmem_wide first = symmem_abs(value[0]), second = symmem_abs(value[1]);
    const double grown = symmem_less(first, second) ? INFINITY : symmem_less(second, first) ? 0 : NAN;
    return symmem_of(copysign(grown, value[1].part));
}

static SYMMEM_RARE symmem_wide extended(symmem_formula *formula, const double *numbers,
    const symmem_wide *vectors, size_t given)
{
    const symmem_wide value = formula(numbers, vectors);
    size_t infinite = 0;
    for (size_t k = 0; k < given; ++k) {
        if (isnan(vectors[k].part)) {
            return symmem_of(NAN);
        }
        infinite += isinf(vectors[k].part) ? 1 : 0;
    }
    if (!isnan(value.part) || infinite == 0) {
        return value;
    }
    const symmem_wide first = along(formula, numbers, vectors, given, 0);
    const symmem_wide second = along(formula, numbers, vectors, given, 1);
    const bool same = first.part == second.part && first.exponent == second.exponent;
    return same ? first : symmem_of(NAN); /* the limit must not depend on the path */
}

/* The first step with |decay|**(stop - step) >= 2**-SYMMEM_TOLERANCE_BITS, with 0**0 = 1 the last one at least; older
   terms of a sum are left out. */
static SYMMEM_INLINE double symmem_oldest(double first, double stop, double decay)
{
    const double terms = decay == 0 ? 1 : ceil(-(double)SYMMEM_TOLERANCE_BITS / log2(fabs(decay)));
    const double oldest = stop - terms;
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
