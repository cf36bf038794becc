/* The parts into which a sum over all entries is cut: their length depends on that of the vectors alone. */
enum { SYMMEM_PARTS = 256, SYMMEM_SHORTEST_PART = 2048 };

static size_t part_length(size_t count)
{
    const size_t whole = count / SYMMEM_PARTS + 1, runs = (whole - 1) / SYMMEM_LONG_LANES + 1;
    return whole < SYMMEM_SHORTEST_PART ? (size_t)SYMMEM_SHORTEST_PART : runs * SYMMEM_LONG_LANES;
}

static symmem_wide sum_of(const symmem_wide *parts, ptrdiff_t used)
{
    symmem_kept all = {{0, 0}, {0, 0}};
    for (ptrdiff_t part = 0; part < used; ++part) {
        all = symmem_keep(all, parts[part]);
    }
    return symmem_whole(all);
}

/* Whether the sum is finite, and not so small that terms may have vanished. */
static bool is_settled(const symmem_wide *parts, ptrdiff_t used)
{
    const symmem_wide total = sum_of(parts, used);
    return isfinite(total.part) && total.exponent > -930 && total.part != 0;
}

static symmem_wide whole_of(const symmem_wide *parts, ptrdiff_t used)
{
    const symmem_wide total = sum_of(parts, used);
    return isfinite(total.part) ? total : symmem_of(NAN);
}

/* The sum of the terms from begin to end; `again`: with more range, which takes longer. */
typedef symmem_wide symmem_part(const void *terms, bool again, size_t begin, size_t end);

/* All parts, by as many threads as there are; taken again where the sum is not settled. */
static symmem_wide add_parts(symmem_part *added, const void *terms, size_t count)
{
    const size_t length = part_length(count);
    const ptrdiff_t used = (ptrdiff_t)((count - 1) / length + 1);
    symmem_wide parts[SYMMEM_PARTS];
    for (int again = 0; again < 2; ++again) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_shared(count))
#endif
        for (ptrdiff_t part = 0; part < used; ++part) {
            const size_t begin = (size_t)part * length, left = count - begin;
            parts[part] = added(terms, again == 1, begin, begin + (left < length ? left : length));
        }
        if (is_settled(parts, used)) {
            break;
        }
    }
    return whole_of(parts, used);
}
