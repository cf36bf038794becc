/*
 * A sum over past steps, sum_s w(s) f(c(s)), by the Gauss rule of its weights: rows of a weight and of a value of c.
 * f is analytic for |arg c| < sector pi/2, so that in y = log(c)/sector it is in a strip around the real line. With
 * p_N the orthonormal polynomials of the measure of weights, the rule of N nodes is off by at most the largest
 * |f|/|p_N|**2 on a line in that strip, times a number near 1: N is the first that leaves SYMMEM_RULE_BITS bits. c
 * comes nearer and nearer to its limit, and then one node is enough: the limit itself.
 */
enum {
    SYMMEM_POINTS = 1024,   /* points that are held: nodes of earlier steps, and steps behind them */
    SYMMEM_STEPS = 512,     /* so many of them are steps, which one rule takes the place of */
    SYMMEM_SHORT = 16,      /* so few points stay as they are */
    SYMMEM_MOST = 128,      /* nodes of a rule; a measure that needs more is halved */
    SYMMEM_LINE_POINTS = 32, /* where p_N is looked at */
    SYMMEM_RULE_BITS = 54,
    SYMMEM_BESIDE = 8        /* sums that are taken side by side */
};

/* Points (y, w) with weights of one sign, and room to compute in. */
struct symmem_past {
    double *rows; /* their number, then the rows */
    double sector, growth;
    size_t kept, count;
    double y[SYMMEM_POINTS], w[SYMMEM_POINTS];
    double sorted[2][SYMMEM_POINTS], basis[3][SYMMEM_POINTS];
};

static SYMMEM_MAYBE_UNUSED void symmem_begin(struct symmem_past *past, double *rows, double sector, double growth)
{
    past->rows = rows;
    past->sector = sector;
    past->growth = growth * sector; /* of y */
    past->kept = past->count = 0;
    rows[0] = 0;
}

static SYMMEM_MAYBE_UNUSED double symmem_gathered(const double *parts)
{
    double sum = 0;
    for (int k = 0; k < SYMMEM_BESIDE; ++k) {
        sum += parts[k];
    }
    return sum;
}

/* Eigenvalues of a symmetric tridiagonal matrix in place of its diagonal, and the first entries of its eigenvectors:
   by rotations (QL with implicit shifts). The entries of the matrix are at most about 1. */
static SYMMEM_MAYBE_UNUSED void symmem_diagonalise(double *diagonal, double *beside, double *first, size_t size)
{
    for (size_t l = 0; l < size; ++l) {
        for (int turns = 0; turns < 60; ++turns) {
            size_t m = l;
            while (m + 1 < size && fabs(beside[m]) > 0.5 * DBL_EPSILON) {
                ++m;
            }
            if (m == l) {
                break;
            }
            const double apart = (diagonal[l + 1] - diagonal[l]) / (2 * beside[l]);
            double g = diagonal[m] - diagonal[l] + beside[l] / (apart + copysign(sqrt(apart * apart + 1), apart));
            double sine = 1, cosine = 1, shift = 0;
            size_t i = m;
            for (; i > l; --i) {
                const double f = sine * beside[i - 1], b = cosine * beside[i - 1], r = sqrt(f * f + g * g);
                beside[i] = r;
                if (r == 0) {
                    diagonal[i] -= shift;
                    break;
                }
                sine = f / r;
                cosine = g / r;
                g = diagonal[i] - shift;
                const double turn = (diagonal[i - 1] - g) * sine + 2 * cosine * b;
                shift = sine * turn;
                diagonal[i] = g + shift;
                g = cosine * turn - b;
                const double upper = first[i];
                first[i] = sine * first[i - 1] + cosine * upper;
                first[i - 1] = cosine * first[i - 1] - sine * upper;
            }
            beside[m] = 0;
            if (i == l) {
                diagonal[l] -= shift;
                beside[l] = g;
            }
        }
    }
}

/* How far the next polynomial is from enough on the line, p_{N+1}/p_N = (x + i height - a - before (p_{N-1}/p_N))/next:
   true where |p|**2 has grown to what is needed everywhere. `sizes` hold |p_N|**2, `ratios` p_{N+1}/p_N. */
static SYMMEM_MAYBE_UNUSED bool symmem_grown(double (*ratios)[2], double *sizes, const double *needed, double height, double a,
    double before, double next)
{
    bool enough = true;
    for (int j = 0; j < SYMMEM_LINE_POINTS; ++j) {
        const double size = ratios[j][0] * ratios[j][0] + ratios[j][1] * ratios[j][1];
        const double share = before == 0 ? 0 : before / size;
        const double x = 2.0 * j / (SYMMEM_LINE_POINTS - 1) - 1;
        ratios[j][0] = (x - a - share * ratios[j][0]) / next;
        ratios[j][1] = (height + share * ratios[j][1]) / next;
        const double grown = ratios[j][0] * ratios[j][0] + ratios[j][1] * ratios[j][1];
        sizes[j] = fmin(sizes[j] * grown, 1e250);
        enough = enough && sizes[j] >= needed[j];
    }
    return enough;
}

/* The rule of so many points: nodes in place of the first of them; their number, or 0 where it would have too many. */
static SYMMEM_MAYBE_UNUSED size_t symmem_gauss(struct symmem_past *past, double *y, double *w, size_t count)
{
    double *const q = past->basis[0], *const r = past->basis[1], *const x = past->basis[2];
    double diagonal[SYMMEM_MOST], beside[SYMMEM_MOST], first[SYMMEM_MOST] = {1};
    double ratios[SYMMEM_LINE_POINTS][2] = {{0}}, sizes[SYMMEM_LINE_POINTS], needed[SYMMEM_LINE_POINTS];
    double low = y[0], high = y[0], total = 0, mean = 0;
    for (size_t i = 0; i < count; ++i) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
        total += w[i];
        mean += w[i] * y[i];
    }
    const double middle = (low + high) / 2, half = (high - low) / 2;
    const double height = 0.45 * 3.14159265358979324 / half; /* nine tenths of the strip, where half is 1 */
    if (!isfinite(total) || !(half > 0)) {
        y[0] = middle;
        w[0] = total;
        return 1;
    }
    for (int j = 0; j < SYMMEM_LINE_POINTS; ++j) {
        const double place = middle + half * (2.0 * j / (SYMMEM_LINE_POINTS - 1) - 1);
        const double bits = past->growth * (3 + 1.4427 * fabs(place - mean / total));
        needed[j] = exp2(fmin(SYMMEM_RULE_BITS + bits, 800));
        sizes[j] = 1;
    }
    const size_t full = (count + SYMMEM_BESIDE - 1) / SYMMEM_BESIDE * SYMMEM_BESIDE;
    for (size_t i = 0; i < full; ++i) {
        q[i] = i < count ? sqrt(w[i] / total) : 0;
        r[i] = 0;
        x[i] = i < count ? (y[i] - middle) / half : 0;
    }
    size_t nodes = 0;
    bool enough = false;
    for (double before = 0; !enough && nodes < SYMMEM_MOST && nodes < count; ++nodes) {
        double parts[SYMMEM_BESIDE] = {0}, squares[SYMMEM_BESIDE] = {0};
        for (size_t i = 0; i < full; i += SYMMEM_BESIDE) { /* r is the vector before q, then x q less its part in both */
            for (size_t k = i; k < i + SYMMEM_BESIDE; ++k) {
                r[k] = x[k] * q[k] - before * r[k];
                parts[k - i] += r[k] * q[k];
            }
        }
        const double a = symmem_gathered(parts);
        for (size_t i = 0; i < full; i += SYMMEM_BESIDE) {
            for (size_t k = i; k < i + SYMMEM_BESIDE; ++k) {
                r[k] -= a * q[k];
                squares[k - i] += r[k] * r[k];
            }
        }
        const double next = sqrt(symmem_gathered(squares));
        diagonal[nodes] = a;
        beside[nodes] = next;
        enough = !(next > 0x1p-300) || symmem_grown(ratios, sizes, needed, height, a, before, next);
        for (size_t k = 0; k < full && !enough; ++k) {
            const double earlier = q[k];
            q[k] = r[k] / next;
            r[k] = earlier;
        }
        before = next;
    }
    if (!enough) {
        return 0;
    }
    symmem_diagonalise(diagonal, beside, first, nodes);
    for (size_t k = 0; k < nodes; ++k) {
        y[k] = middle + half * diagonal[k];
        w[k] = total * first[k] * first[k];
    }
    return nodes;
}

/* Points of one sign as few nodes, in place of the first of them; a long range is taken in two parts. */
static SYMMEM_MAYBE_UNUSED size_t symmem_shortened(struct symmem_past *past, double *y, double *w, size_t count)
{
    const size_t nodes = count > SYMMEM_SHORT ? symmem_gauss(past, y, w, count) : 0;
    if (nodes > 0 || count <= SYMMEM_MOST) {
        return nodes > 0 ? nodes : count;
    }
    double low = y[0], high = y[0];
    for (size_t i = 0; i < count; ++i) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    size_t split = 0;
    for (size_t i = 0; i < count; ++i) {
        if (y[i] < (low + high) / 2) {
            const double place = y[i], weight = w[i];
            y[i] = y[split];
            w[i] = w[split];
            y[split] = place;
            w[split++] = weight;
        }
    }
    const size_t left = symmem_shortened(past, y, w, split);
    memmove(y + left, y + split, (count - split) * sizeof *y);
    memmove(w + left, w + split, (count - split) * sizeof *w);
    return left + symmem_shortened(past, y + left, w + left, count - split);
}

/* The points behind the first ones by rules, one for each sign of their weights. */
static SYMMEM_MAYBE_UNUSED void symmem_shorten(struct symmem_past *past, size_t first)
{
    size_t at = first;
    const size_t end = past->count;
    double *const y = past->sorted[0], *const w = past->sorted[1];
    size_t positive = 0, negative = 0;
    for (size_t i = first; i < end; ++i) {
        const size_t place = past->w[i] < 0 ? SYMMEM_POINTS - ++negative : positive++;
        y[place] = past->y[i];
        w[place] = fabs(past->w[i]);
    }
    for (int part = 0; part < 2; ++part) {
        const size_t count = part == 0 ? positive : negative;
        memmove(y, part == 0 ? y : y + SYMMEM_POINTS - negative, count * sizeof *y);
        memmove(w, part == 0 ? w : w + SYMMEM_POINTS - negative, count * sizeof *w);
        const size_t nodes = symmem_shortened(past, y, w, count);
        for (size_t k = 0; k < nodes; ++k, ++at) {
            past->y[at] = y[k];
            past->w[at] = part == 0 ? w[k] : -w[k];
        }
    }
    past->count = at;
}

/* A step with its weight and its number. */
static SYMMEM_MAYBE_UNUSED void symmem_take(struct symmem_past *past, double weight, double number)
{
    if (past->count == past->kept + SYMMEM_STEPS || past->count == SYMMEM_POINTS) {
        symmem_shorten(past, past->kept);
        past->kept = past->count;
        if (past->kept > SYMMEM_POINTS - SYMMEM_STEPS) {
            symmem_shorten(past, 0);
            past->kept = past->count;
        }
    }
    if (past->count == SYMMEM_POINTS) { /* no weights are known that need so many nodes: rather NaN than a wrong sum */
        past->w[0] = NAN;
    } else if (weight != 0) {
        past->y[past->count] = log(fmin(fmax(number, DBL_MIN), DBL_MAX)) / past->sector;
        past->w[past->count++] = weight;
    }
}

/* All of them as rows. */
static SYMMEM_MAYBE_UNUSED void symmem_end(struct symmem_past *past)
{
    symmem_shorten(past, past->kept);
    if (past->kept > 0) {
        symmem_shorten(past, 0);
    }
    for (size_t k = 0; k < past->count; ++k) {
        past->rows[1 + 2 * k] = past->w[k];
        past->rows[2 + 2 * k] = exp(past->sector * past->y[k]);
    }
    past->rows[0] = (double)past->count;
}
