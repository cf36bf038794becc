/* Whether two vectors have no byte in common. */
static bool are_apart(const void *first, size_t first_bytes, const void *second, size_t second_bytes)
{
    const uintptr_t a = (uintptr_t)first, b = (uintptr_t)second;
    return a + first_bytes <= b || b + second_bytes <= a;
}

/* Vectors one after another, of `count` entries each, which have `size` bytes. */
struct symmem_stack {
    const void *start;
    size_t vectors, size;
    bool is_written;
};

/*
 * Whether one of two stacks is written over the other. Once the numbers are known, an entry of a result depends
 * on the same entries of the inputs alone, so that a result may be an input; where several vectors are read or
 * written one after another, or both are written, it may not.
 */
static bool collide(struct symmem_stack a, struct symmem_stack b, size_t count)
{
    if (a.vectors == 0 || b.vectors == 0 || !(a.is_written || b.is_written)) {
        return false;
    }
    const bool both = a.is_written && b.is_written;
    if (a.start == b.start && a.vectors == 1 && b.vectors == 1 && a.size == b.size && !both) {
        return false;
    }
    return !are_apart(a.start, a.vectors * count * a.size, b.start, b.vectors * count * b.size);
}

/* What is wrong with the vectors of a call. */
static int checked(const struct symmem_stack *stacks, size_t given, size_t count)
{
    size_t bytes = 0; /* of one entry of every vector */
    for (size_t k = 0; k < given; ++k) {
        bytes += stacks[k].vectors * stacks[k].size;
    }
    if (bytes > 0 && count > SIZE_MAX / 2 / bytes) {
        return SYMMEM_OUT_OF_RANGE;
    }
    if (count == 0) {
        return SYMMEM_OK; /* there is nothing to point to */
    }
    for (size_t k = 0; k < given; ++k) {
        if (stacks[k].vectors > 0 && stacks[k].start == NULL) {
            return SYMMEM_NULL_POINTER;
        }
        if (stacks[k].vectors > 0 && (uintptr_t)stacks[k].start % stacks[k].size != 0) {
            return SYMMEM_MISALIGNED;
        }
    }
    for (size_t k = 0; k < given; ++k) {
        for (size_t j = 0; j < k; ++j) {
            if (collide(stacks[k], stacks[j], count)) {
                return SYMMEM_OVERLAP;
            }
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
