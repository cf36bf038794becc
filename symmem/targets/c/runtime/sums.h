/*
 * Functions of gaps 1 - decay: sums over the past without the digits that their closed forms lose.
 */
#if defined(__GNUC__) || defined(__clang__)
#define SYMMEM_MAYBE_UNUSED __attribute__((unused))
#else
#define SYMMEM_MAYBE_UNUSED
#endif

/* The sum of all products of m factors 1 - gap, 0 for m < 0: a matrix power by doubling, in which nothing is
   subtracted; the powers on the diagonal are taken anew, so that their errors do not double with them. */
static SYMMEM_MAYBE_UNUSED double symmem_complete(double m, int count, const double *gaps)
{
    double rows[SYMMEM_MOST_NODES][SYMMEM_MOST_NODES] = {{0}};
    double next[SYMMEM_MOST_NODES][SYMMEM_MOST_NODES] = {{0}};
    if (m < 0) {
        return 0;
    }
    const uint64_t last = (uint64_t)m + (uint64_t)count - 1;
    uint64_t done = 0;
    for (int i = 0; i < count; ++i) {
        rows[i][i] = 1;
    }
    for (int place = 63; place >= 0; --place) {
        const uint64_t bit = (last >> place) & 1u;
        if (done + bit == 0) {
            continue;
        }
        for (int i = 0; i < count; ++i) {
            for (int j = i; j < count; ++j) {
                double sum = 0;
                for (int k = i; k <= j; ++k) {
                    sum += rows[i][k] * rows[k][j];
                }
                next[i][j] = sum;
            }
        }
        done = 2 * done + bit;
        for (int i = 0; i < count; ++i) {
            for (int j = i; j < count; ++j) {
                const double before = j > i ? next[i][j - 1] : 0.0;
                rows[i][j] = bit ? next[i][j] * (1.0 - gaps[j]) + before : next[i][j];
            }
        }
        for (int i = 0; i < count; ++i) {
            rows[i][i] = gaps[i] < 1 ? exp((double)done * log1p(-gaps[i])) : 0.0;
        }
    }
    return rows[0][count - 1];
}

/* 1 - (1 - first)(1 - second), without cancellation. */
static SYMMEM_INLINE double symmem_joint(double first, double second)
{
    return first + second * (1.0 - first);
}

/* 1 - (1 - gap)**k, without cancellation. */
static SYMMEM_INLINE double symmem_shortfall(double gap, double k)
{
    return gap < 1 ? -expm1(k * log1p(-gap)) : k > 0 ? 1.0 : 0.0;
}
