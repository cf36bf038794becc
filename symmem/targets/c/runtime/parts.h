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
