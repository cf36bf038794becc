/* Sums over all entries of vectors in half precision: cut as those of floats are, and each part again into pieces. */
struct half_sum {
    const double *numbers;
    const struct symmem_input *vectors;
    size_t given;
    adder_f32 *adder;
    symmem_formula *formula;
};

static symmem_wide part_of_halves(const void *work, bool again, size_t begin, size_t end)
{
    const struct half_sum *const sum = work;
    _Alignas(64) float copies[SYMMEM_VECTORS][SYMMEM_PIECE_ROW];
    symmem_kept total = {{0, 0}, {0, 0}};
    for (size_t at = begin, here; at < end; at += here) {
        struct terms_f32 terms = {.numbers = sum->numbers, .given = sum->given};
        here = end - at < SYMMEM_PIECE ? end - at : (size_t)SYMMEM_PIECE;
        for (size_t k = 0; k < sum->given; ++k) {
            terms.vectors[k] = widened(sum->vectors[k], at, here, copies[k], widen_f16);
        }
        total = symmem_keep(
            total, again ? added_again_f32(sum->formula, &terms, 0, here) : sum->adder(&terms, 0, here));
    }
    return symmem_whole(total);
}

static symmem_wide total_half(adder_f32 *base, adder_f32 *wide, symmem_formula *formula, const double *numbers,
    const struct symmem_input *vectors, size_t given, size_t count)
{
    const struct half_sum sum = {numbers, vectors, given, has_wide() ? wide : base, formula};
    return add_parts(part_of_halves, &sum, count);
}
#define total_bf16 total_half
#define total_f16 total_half
