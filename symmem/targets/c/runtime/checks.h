/* Whether two vectors have no byte in common. */
static bool are_apart(const void *first, size_t first_bytes, const void *second, size_t second_bytes)
{
    const uintptr_t a = (uintptr_t)first, b = (uintptr_t)second;
    return a + first_bytes <= b || b + second_bytes <= a;
}

/* Vectors one after another, of `count` entries each. */
struct symmem_stack {
    const void *start;
    size_t vectors;
};

/*
 * What is wrong with the vectors: `inputs` are theta, grad and hv, of entries of `size` bytes. Once the
 * numbers are known, an entry of the result depends on the same entries of the inputs alone, so that the
 * result may be an input; where several vectors are read or written one after another, it may not.
 */
static int checked(const struct symmem_stack inputs[3], struct symmem_stack out, size_t count, size_t size)
{
    const size_t most = 1 + inputs[2].vectors + out.vectors;
    if (count > SIZE_MAX / 2 / size / most) {
        return SYMMEM_OUT_OF_RANGE;
    }
    if (count == 0) {
        return SYMMEM_OK; /* there is nothing to point to */
    }
    if (out.start == NULL && out.vectors > 0) {
        return SYMMEM_NULL_POINTER;
    }
    if ((uintptr_t)out.start % size != 0) {
        return SYMMEM_MISALIGNED;
    }
    for (size_t k = 0; k < 3; ++k) {
        const struct symmem_stack input = inputs[k];
        if (input.vectors > 0 && input.start == NULL) {
            return SYMMEM_NULL_POINTER;
        }
        if (input.vectors > 0 && (uintptr_t)input.start % size != 0) {
            return SYMMEM_MISALIGNED;
        }
        const bool same = input.start == out.start && input.vectors == 1 && out.vectors == 1;
        if (input.vectors > 0 && out.vectors > 0 && !same
            && !are_apart(input.start, input.vectors * count * size, out.start, out.vectors * count * size)) {
            return SYMMEM_OVERLAP;
        }
    }
    return SYMMEM_OK;
}

/* A status in words; `ranges` and `unavailable` are the optimizer's own. */
static const char *message(int status, const char *ranges, const char *unavailable)
{
    switch (status) {
    case SYMMEM_OK:
        return "done";
    case SYMMEM_NULL_POINTER:
        return "a vector or the parameters are NULL";
    case SYMMEM_OVERLAP:
        return "the result overlaps an input without being the same vector";
    case SYMMEM_OUT_OF_RANGE:
        return ranges;
    case SYMMEM_MISALIGNED:
        return "a vector does not start at a multiple of its element's size";
    case SYMMEM_UNAVAILABLE:
        return unavailable;
    default:
        return "an unknown status";
    }
}
