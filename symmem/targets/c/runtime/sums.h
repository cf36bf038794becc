/*
 * Sums over the past without the digits that their closed forms lose.
 */

/* The power of a node, a product of `width` factors, taken factor by factor: so it keeps its digits. */
static SYMMEM_INLINE double symmem_node_power(const double *node, int width, double k)
{
    double power = 1;
    for (int i = 0; i < width; ++i) {
        power *= pow(node[i], k);
    }
    return power;
}

/* The sum of all products of m nodes: a power of a triangular matrix, by doubling, in which nothing is
   subtracted; the powers on the diagonal are taken anew, so that their errors do not double with them. */
static SYMMEM_MAYBE_UNUSED double symmem_complete(double m, int count, int width, const double *nodes)
{
    double rows[SYMMEM_MOST_NODES][SYMMEM_MOST_NODES] = {{0}}; /* row d: d places off the diagonal */
    const uint64_t last = (uint64_t)(m + count - 1);
    uint64_t done = 0;
    for (int i = 0; i < count; ++i) {
        rows[0][i] = 1;
    }
    for (int place = 63; place >= 0; --place) {
        const uint64_t bit = (last >> place) & 1u;
        if (done + bit == 0) {
            continue;
        }
        for (int d = count - 1; d > 0; --d) {
            for (int i = 0; i < count - d; ++i) {
                rows[d][i] *= rows[0][i] + rows[0][i + d];
                for (int e = 1; e < d; ++e) {
                    rows[d][i] += rows[e][i] * rows[d - e][i + e];
                }
            }
        }
        for (int i = 0; i < count; ++i) {
            rows[0][i] *= rows[0][i];
        }
        for (int d = count - 1; d > 0 && bit; --d) {
            for (int i = 0; i < count - d; ++i) {
                rows[d][i] = rows[d][i] * symmem_node_power(nodes + (i + d) * width, width, 1) + rows[d - 1][i];
            }
        }
        done = 2 * done + bit;
        for (int i = 0; i < count; ++i) {
            rows[0][i] = symmem_node_power(nodes + i * width, width, (double)done);
        }
    }
    return rows[count - 1][0];
}

/* Steps are counted in doubles: beyond 2**53, which no run reaches, they are all the same. */
static SYMMEM_INLINE double symmem_step(int64_t n)
{
    return n > 9007199254740992 ? 9007199254740992.0 : (double)n;
}

/* 1 - x**k, without cancellation. */
static SYMMEM_INLINE double symmem_shortfall(double x, double k)
{
    return x > 0 ? -expm1(k * log(x)) : 1.0 - pow(x, k);
}
