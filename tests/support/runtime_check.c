/*
 * The fixed code of the C target, compiled as it stands, in the order in which it is copied into a source file;
 * and its functions against what they say. The pass is result = scale * x / sqrt(y).
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    SYMMEM_OK = 0, SYMMEM_NULL_POINTER, SYMMEM_OVERLAP, SYMMEM_OUT_OF_RANGE, SYMMEM_MISALIGNED, SYMMEM_UNAVAILABLE
};

#define SYMMEM_VECTORS 2
#define SYMMEM_NUMBERS 1
#define SYMMEM_PLAIN 1
#define SYMMEM_MOST_NODES 1
#define SYMMEM_TOLERANCE_BITS 60

#include "machine.h"

#include "wide.h"

#include "extended.h"

#include "roots.h"

#include "type_f64.h"

#include "loops.h"

#include "type_f32.h"

#include "loops.h"

#include "passes.h"

#include "checks.h"

static int failures = 0;
#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(++failures, printf("line %d: %s\n", __LINE__, #condition)))

static SYMMEM_INLINE void ratio_block_f64(const double *numbers, const double *const *vectors,
    double *restrict result, size_t lanes, symmem_root *root)
{
    double roots[SYMMEM_LONG_LANES];
    memcpy(roots, vectors[1], lanes * sizeof *roots);
    root(roots, lanes);
    for (size_t i = 0; i < lanes; ++i) {
        result[i] = numbers[0] * vectors[0][i] * roots[i];
    }
}

static SYMMEM_INLINE void ratio_block_f32(const double *numbers, const float *const *vectors,
    float *restrict result, size_t lanes, symmem_root *root)
{
    (void)root;
    for (size_t i = 0; i < lanes; ++i) {
        result[i] = (float)numbers[0] * vectors[0][i] * symmem_rsqrtf(vectors[1][i]);
    }
}

static symmem_wide ratio_extended(const double *numbers, const symmem_wide *vectors)
{
    return symmem_div(symmem_mul(symmem_of(numbers[0]), vectors[0]), symmem_sqrtw(vectors[1]));
}

SYMMEM_RUNNERS(ratio, f64, 2, SYMMEM_LANES_f64, 1)
SYMMEM_RUNNERS(ratio, f32, 2, SYMMEM_LANES_f32, 1)

static bool is_near(double value, double exact, double error)
{
    return fabs(value - exact) <= error * fabs(exact);
}

static void check_functions(void)
{
    EXPECT(symmem_sign(-3) == -1 && symmem_signf(2) == 1 && symmem_sign(0) == 0);
    EXPECT(is_near(symmem_rsqrt(4), 0.5, 0) && isnan(symmem_rsqrt(INFINITY)) && isnan(symmem_rsqrtf(INFINITY)));
    EXPECT(symmem_reciprocal(8) == 0.125 && isnan(symmem_reciprocal(INFINITY)) && isinf(symmem_reciprocalf(0)));
    EXPECT(symmem_oldest(0, 100, 0.5) == 40); /* 0.5^60 is the last that counts */
    EXPECT(symmem_oldest(50, 100, 0.5) == 50 && symmem_oldest(0, 100, 0) == 100);
}

/* From 2^-300 to 2^246. What is no longer a float from below may be not finite: the loops compute it again. */
static SYMMEM_INLINE void check_roots(symmem_root *root, bool wide)
{
    double x[48];
    for (int count = 1; count <= 40; ++count) {
        for (int i = 0; i < count; ++i) {
            x[i] = ldexp(1 + i / 41.0, 14 * i - 300);
        }
        root(x, (size_t)count);
        for (int i = 0; i < count; ++i) {
            const double y = ldexp(1 + i / 41.0, 14 * i - 300);
            EXPECT(is_near(x[i], 1 / sqrt(y), 0x1p-50) || (wide && y < FLT_MIN && !isfinite(x[i])));
        }
    }
}

static void check_base_roots(void)
{
    check_roots(root_base, false);
}

SYMMEM_WIDE static void check_wide_roots(void)
{
    check_roots(root_wide, true);
}

static double at(const double *number, double x, double y)
{
    const symmem_wide vectors[] = {symmem_of(x), symmem_of(y)};
    return symmem_narrow(extended(ratio_extended, number, vectors, 2));
}

static void check_limits(void)
{
    const double two = 2;
    EXPECT(isinf(at(&two, INFINITY, 4)) && at(&two, -INFINITY, 4) < 0);
    EXPECT(at(&two, 3, INFINITY) == 0);
    EXPECT(isnan(at(&two, INFINITY, INFINITY))); /* x / sqrt(y): the path decides */
    EXPECT(isnan(at(&two, NAN, 1)));
    EXPECT(at(&two, 3, 16) == 1.5);
}

#define CHECK_LOOPS(type, suffix, error)                                                                    \
    static void check_loops_##suffix(runner_##suffix *runner, runner_f64 *exact, double number, double large)\
    {                                                                                                       \
        static type x[40000], y[40000], out[40000];                                                         \
        for (size_t i = 0; i < 40000; ++i) {                                                                \
            x[i] = (type)large * ((type)(i % 101) - 50);                                                                  \
            y[i] = (type)(i % 7 + 1);                                                                       \
        }                                                                                                   \
        x[33] = (type)INFINITY, y[20011] = (type)NAN;                                                       \
        const type *const vectors[] = {x, y};                                                               \
        launch_##suffix(runner, runner, exact, exact, &number, 1, vectors, 2, out, 39999);                                 \
        for (size_t i = 0; i < 39999; ++i) {                                                                \
            const double truth = number * (double)x[i] / sqrt((double)y[i]);                                   \
            EXPECT(i == 33 ? isinf(out[i]) : i == 20011 ? isnan(out[i]) : is_near(out[i], truth, error));   \
        }                                                                                                   \
        EXPECT(out[39999] == 0);                                                                            \
    }

CHECK_LOOPS(double, f64, 0x1p-50)
CHECK_LOOPS(float, f32, 0x1p-21)

static void check_arguments(void)
{
    double room[40];
    const struct symmem_stack good[] = {{room, 1}, {room + 8, 1}, {room + 16, 2}};
    const struct symmem_stack missing[] = {{room, 1}, {NULL, 1}, {NULL, 0}};
    const struct symmem_stack crooked[] = {{room, 1}, {(char *)room + 1, 1}, {NULL, 0}};
    const struct symmem_stack apart = {room + 32, 1}, same = {room, 1}, shifted = {room + 1, 1};
    const struct symmem_stack stacked = {room + 16, 1}, nowhere = {NULL, 1}, uneven = {(char *)room + 4, 1};
    EXPECT(checked(good, apart, 8, 8) == SYMMEM_OK && checked(good, same, 8, 8) == SYMMEM_OK);
    EXPECT(checked(good, shifted, 8, 8) == SYMMEM_OVERLAP && checked(good, stacked, 8, 8) == SYMMEM_OVERLAP);
    EXPECT(checked(missing, apart, 8, 8) == SYMMEM_NULL_POINTER && checked(missing, apart, 0, 8) == SYMMEM_OK);
    EXPECT(checked(good, nowhere, 8, 8) == SYMMEM_NULL_POINTER && checked(good, uneven, 8, 8) == SYMMEM_MISALIGNED);
    EXPECT(checked(crooked, apart, 8, 8) == SYMMEM_MISALIGNED);
    EXPECT(checked(good, apart, SIZE_MAX / 16, 8) == SYMMEM_OUT_OF_RANGE);
    EXPECT(strcmp(message(SYMMEM_OUT_OF_RANGE, "eps", "limit"), "eps") == 0);
    EXPECT(strcmp(message(SYMMEM_UNAVAILABLE, "eps", "limit"), "limit") == 0);
    EXPECT(strcmp(message(-1, "eps", "limit"), "an unknown status") == 0);
}

int main(void)
{
    check_functions();
    check_base_roots();
    check_limits();
    check_loops_f64(ratio_base_f64, ratio_base_f64, 2, 1);
    check_loops_f32(ratio_base_f32, ratio_base_f64, 2, 1);
    check_loops_f32(ratio_base_f32, ratio_base_f64, 0x1p-140, 0x1p115f); /* a coefficient that no float holds */
    if (has_wide()) {
        check_wide_roots();
        check_loops_f64(ratio_wide_f64, ratio_wide_f64, 2, 1);
        check_loops_f32(ratio_wide_f32, ratio_wide_f64, 2, 1);
        check_loops_f32(ratio_wide_f32, ratio_wide_f64, 0x1p-140, 0x1p115f);
    }
    check_arguments();
    printf("%d failures\n", failures);
    return failures != 0;
}
