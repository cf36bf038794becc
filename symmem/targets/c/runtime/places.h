/*
 * A sum over past steps, sum_s w(s) f(s), by a few of them: rows of numbers, the weight first. Steps s + 1 below
 * SYMMEM_WHOLE, and blocks that are not longer, are taken as they are; any other block from one power of 2 to
 * the next stands as SYMMEM_NODES steps near Chebyshev's points, each with the sum of w(s) l_k(s) as its weight,
 * l_k Lagrange's polynomials of these steps. Where f is analytic for Re s > 0 the error is (3 + sqrt(8))**-NODES
 * of the block: so many rows are enough, however many steps there were.
 */
enum {
    SYMMEM_WHOLE = 128,
    SYMMEM_NODES = 18,
    SYMMEM_PLACES = 1536 /* three runs of whole steps, and the nodes of 57 blocks */
};

struct symmem_places {
    double *rows; /* their number, then the rows */
    size_t width, first;
    double stop, end; /* of the sum, and of the block */
    bool is_whole;
    double nodes[SYMMEM_NODES], factors[SYMMEM_NODES];
};

static SYMMEM_MAYBE_UNUSED struct symmem_places symmem_opened(double *rows, size_t width, double stop)
{
    struct symmem_places places = {.rows = rows, .width = width, .stop = stop, .end = 0, .is_whole = true};
    rows[0] = 0;
    return places;
}

static SYMMEM_INLINE double *symmem_row(const struct symmem_places *places, size_t row)
{
    return places->rows + 1 + row * places->width;
}

/* The block that begins with a step. */
static SYMMEM_MAYBE_UNUSED void symmem_next_block(struct symmem_places *places, double step)
{
    int power = 0;
    (void)frexp(step + 1, &power); /* 2**(power - 1) <= step + 1 < 2**power */
    const double end = power < 8 ? SYMMEM_WHOLE - 1 : ldexp(1, power) - 1;
    places->end = end < places->stop ? end : places->stop;
    const double length = places->end - 1 - step;
    places->is_whole = length < SYMMEM_WHOLE;
    if (places->is_whole) {
        return;
    }
    places->first = (size_t)places->rows[0];
    for (int k = 0; k < SYMMEM_NODES; ++k) {
        const double turn = cos(3.14159265358979324 * k / (SYMMEM_NODES - 1));
        places->nodes[k] = nearbyint(step + length * (1 - turn) / 2);
        symmem_row(places, places->first + (size_t)k)[0] = 0;
    }
    for (int k = 0; k < SYMMEM_NODES; ++k) {
        places->factors[k] = 1;
        for (int j = 0; j < SYMMEM_NODES; ++j) {
            places->factors[k] *= j == k ? 1 : length / (4 * (places->nodes[k] - places->nodes[j]));
        }
    }
    places->rows[0] += SYMMEM_NODES;
}

/* A step with its weight; the row that its other numbers belong to, or NULL. Steps come in their order. */
static SYMMEM_MAYBE_UNUSED double *symmem_place(struct symmem_places *places, double step, double weight)
{
    if (!(step < places->end)) {
        symmem_next_block(places, step);
    }
    if (places->is_whole) {
        double *const row = symmem_row(places, (size_t)places->rows[0]);
        places->rows[0] += 1;
        row[0] = weight;
        return row;
    }
    double parts[SYMMEM_NODES], sum = 0;
    for (int k = 0; k < SYMMEM_NODES; ++k) {
        const double gap = step - places->nodes[k];
        if (gap == 0) {
            double *const row = symmem_row(places, places->first + (size_t)k);
            row[0] += weight;
            return row;
        }
        parts[k] = places->factors[k] / gap;
        sum += parts[k];
    }
    for (int k = 0; k < SYMMEM_NODES; ++k) {
        symmem_row(places, places->first + (size_t)k)[0] += weight * (parts[k] / sum);
    }
    return NULL;
}
