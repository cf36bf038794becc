/*
 * Every kernel of one optimizer on buffers of exactly the size they need, for the sanitizers: a read or a
 * write outside is caught. OPTIMIZER is its name in C; check_<name>() returns how many checks failed.
 * JOINS is 1 where the update has a norm: then NaN is everywhere.
 */
#include <math.h>
#include <stdlib.h>

#define JOIN2(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN2(a, b, c)
#define NAME(function) JOIN(symmem_, OPTIMIZER, function)

static size_t bad = 0;

#define CHECK(type, suffix)                                                                                     \
    static void check_##suffix(size_t count, size_t offset, int64_t n)                                          \
    {                                                                                                           \
        const size_t size = (count + offset) * sizeof(type);                                                    \
        struct NAME(_params) params;                                                                            \
        NAME(_params_init)(&params);                                                                            \
        const size_t products = NAME(_directions)(n) > 0 ? NAME(_directions)(n) : 1;                            \
        type *rooms[4] = {malloc(size + 1), malloc(size + 1), malloc(products * size + 1), malloc(products * size + 1)}; \
        type *theta = rooms[0] + offset, *grad = rooms[1] + offset;                                             \
        type *v = rooms[2] + offset, *out = rooms[3] + offset;                                                  \
        for (size_t i = 0; i < count; ++i) {                                                                    \
            theta[i] = (type)(i % 13) - 6;                                                                      \
            grad[i] = i % 17 == 5 ? (type)INFINITY : i % 19 == 3 ? (type)NAN : (type)(i % 7) - 3;               \
        }                                                                                                       \
        bad += NAME(_memoryless_##suffix)(theta, grad, out, count, n, &params) != SYMMEM_OK;                    \
        bad += NAME(_direction_##suffix)(theta, grad, v, count, n, &params) != SYMMEM_OK;                       \
        bad += NAME(_correction_##suffix)(theta, grad, v, out, count, n, 0.1, &params) != SYMMEM_OK;            \
        bad += NAME(_step_##suffix)(theta, grad, v, count, n, 0.1, &params) != SYMMEM_OK;                       \
        for (size_t i = 0; i < count; ++i) {                                                                    \
            bad += (JOINS ? count > 3 : i % 19 == 3 && i % 17 != 5) != (isnan(theta[i]) != 0);                  \
        }                                                                                                       \
        for (int k = 0; k < 4; ++k) {                                                                           \
            free(rooms[k]);                                                                                     \
        }                                                                                                       \
    }

CHECK(double, f64)
CHECK(float, f32)

size_t JOIN(check_, OPTIMIZER, )(void);

size_t JOIN(check_, OPTIMIZER, )(void)
{
    const size_t lengths[] = {0, 1, 3, 7, 8, 9, 31, 32, 33, 300, 20000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
        /* Long vectors are there for the threads' chunks: two alignments show them. */
        for (size_t offset = 0; offset < 16; offset += lengths[k] > 1000 ? 9 : 1) {
            for (int64_t n = -1; n < 4; n += 4) {
                check_f64(lengths[k], offset % 8, n);
                check_f32(lengths[k], offset, n);
            }
        }
    }
    return bad;
}
