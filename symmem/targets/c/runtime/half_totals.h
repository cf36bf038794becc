/* Sums over all entries of vectors in half precision: cut as those of floats are, and each part again into pieces. */
static symmem_wide part_of_halves(adder_f32 *adder, symmem_formula *formula, const double *numbers,
    const struct symmem_input *vectors, size_t given, size_t begin, size_t end)
{
    _Alignas(64) float copies[SYMMEM_VECTORS][SYMMEM_PIECE_ROW];
    symmem_kept total = {{0, 0}, {0, 0}};
    for (size_t at = begin, here; at < end; at += here) {
        struct terms_f32 terms = {.numbers = numbers, .given = given};
        here = end - at < SYMMEM_PIECE ? end - at : (size_t)SYMMEM_PIECE;
        for (size_t k = 0; k < given; ++k) {
            terms.vectors[k] = widened(vectors[k], at, here, copies[k], widen_f16);
        }
        total = symmem_keep(total, adder != NULL ? adder(&terms, 0, here) : added_again_f32(formula, &terms, 0, here));
    }
    return symmem_whole(total);
}

static symmem_wide total_half(adder_f32 *base, adder_f32 *wide, symmem_formula *formula, const double *numbers,
    const struct symmem_input *vectors, size_t given, size_t count)
{
    const size_t length = part_length(count);
    const ptrdiff_t used = (ptrdiff_t)((count - 1) / length + 1);
    symmem_wide parts[SYMMEM_PARTS];
    for (int again = 0; again < 2; ++again) {
        adder_f32 *const adder = again ? NULL : has_wide() ? wide : base;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_shared(count))
#endif
        for (ptrdiff_t part = 0; part < used; ++part) {
            const size_t begin = (size_t)part * length, left = count - begin;
            const size_t end = begin + (left < length ? left : length);
            parts[part] = part_of_halves(adder, formula, numbers, vectors, given, begin, end);
        }
        if (is_settled(parts, used)) {
            break;
        }
    }
    return whole_of(parts, used);
}
#define total_bf16 total_half
#define total_f16 total_half
