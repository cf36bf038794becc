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
#define SYMMEM_WRITTEN 2
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

#include "half_bits.h"

#include "half.h"

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

static symmem_formula *const ratio_formulas[] = {ratio_extended};
SYMMEM_RUNNERS(ratio, f64, 2, 1, SYMMEM_LANES_f64, 1)
SYMMEM_RUNNERS(ratio, f32, 2, 1, SYMMEM_LANES_f32, 1)

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
    EXPECT(symmem_oldest(50, 100, 0.5) == 50 && symmem_oldest(0, 100, 0) == 99);
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
        launch_##suffix(runner, runner, exact, exact, &number, 1, vectors, 2, (type *const[]){out}, 1, 39999);              \
        for (size_t i = 0; i < 39999; ++i) {                                                                \
            const double truth = number * (double)x[i] / sqrt((double)y[i]);                                   \
            EXPECT(i == 33 ? isinf(out[i]) : i == 20011 ? isnan(out[i]) : is_near(out[i], truth, error));   \
        }                                                                                                   \
        EXPECT(out[39999] == 0);                                                                            \
    }

CHECK_LOOPS(double, f64, 0x1p-50)
CHECK_LOOPS(float, f32, 0x1p-21)

/* Half precision of IEEE 754 by its definition. */
static double value_of_f16(uint16_t half)
{
    const int exponent = half >> 10 & 31, part = half & 1023;
    const double size = exponent == 0 ? ldexp(part, -24) : ldexp(1024 + part, exponent - 25);
    const double value = exponent < 31 ? size : part == 0 ? INFINITY : NAN;
    return half & 0x8000 ? -value : value;
}

/* Every half by itself, and between it and the next one: the middle goes to the even one, all else to the nearer. */
static void check_halves(void)
{
    static uint16_t halves[65536], back[65536];
    static float wide[65536];
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const uint16_t half = (uint16_t)bits;
        const double exact = value_of_f16(half);
        const float brain = from_bf16(half);
        halves[bits] = half;
        EXPECT(isnan(exact) ? isnan(from_f16(half)) : from_f16(half) == exact);
        EXPECT(isnan(exact) ? isnan(from_f16(to_f16(from_f16(half)))) : to_f16(from_f16(half)) == half);
        EXPECT(isnan(brain) ? isnan(from_bf16(to_bf16(brain))) : to_bf16(brain) == half);
        if ((bits & 0x7fff) < 0x7c00) {
            const double beyond = bits & 0x8000 ? -65536 : 65536;
            const double next = isinf(value_of_f16((uint16_t)(half + 1))) ? beyond : value_of_f16((uint16_t)(half + 1));
            const float middle = (float)((exact + next) / 2);
            const uint16_t even = (uint16_t)(half + (half & 1));
            EXPECT(to_f16(middle) == even && to_f16(nextafterf(middle, (float)exact)) == half);
            EXPECT(to_f16(nextafterf(middle, (float)(2 * next))) == (uint16_t)(half + 1));
        }
        if ((bits & 0x7fff) < 0x7f80) {
            const uint32_t middle = bits << 16 | 0x8000;
            EXPECT(to_bf16(float_of(middle)) == (uint16_t)(half + (half & 1)));
            EXPECT(to_bf16(float_of(middle - 1)) == half && to_bf16(float_of(middle + 1)) == (uint16_t)(half + 1));
        }
    }
    widen_f16(wide, halves, 65536);
    narrow_f16(back, wide, 65536);
    for (size_t i = 0; i < 65536; ++i) {
        EXPECT(isnan(wide[i]) ? isnan(from_f16(back[i])) : back[i] == halves[i]);
    }
}

#if SYMMEM_HAS_WIDE
SYMMEM_F16C static SYMMEM_APART void check_wide_halves(void)
{
    static uint16_t halves[65539], back[65539];
    static float wide[65539];
    for (size_t i = 0; i < 65539; ++i) {
        halves[i] = (uint16_t)i;
    }
    widen_f16_wide(wide, halves, 65539);
    for (size_t i = 0; i < 65539; ++i) {
        EXPECT(isnan(wide[i]) ? isnan(from_f16(halves[i])) : wide[i] == from_f16(halves[i]));
        wide[i] *= 1 + (float)(i % 9) * 0x1p-13f;
    }
    narrow_f16_wide(back, wide, 65539);
    for (size_t i = 0; i < 65539; ++i) {
        EXPECT(isnan(wide[i]) ? isnan(from_f16(back[i])) : back[i] == to_f16(wide[i]));
    }
}
#endif

/* The pass over halves, of every length about a piece: as in float, then rounded. */
static void check_half_loops(void)
{
    static uint16_t x[40000], y[40000], out[40000];
    const double number = 3;
    for (size_t i = 0; i < 40000; ++i) {
        x[i] = to_bf16((float)(i % 101) - 50);
        y[i] = to_f16((float)(i % 7 + 1));
    }
    for (size_t count = 1; count < 40000; count += count < 1100 ? 173 : 38000) {
        const struct symmem_input vectors[] = {{x, SYMMEM_BF16}, {y, SYMMEM_F16}};
        const struct symmem_output outs[] = {{out, SYMMEM_F16}};
        memset(out, 0, sizeof out);
        launch_half(ratio_base_f32, ratio_wide_f32, ratio_base_f64, ratio_wide_f64, &number, 1, vectors, 2, outs, 1, count);
        for (size_t i = 0; i < 40000; ++i) {
            const double truth = i < count ? number * from_bf16(x[i]) / sqrt(from_f16(y[i])) : 0;
            EXPECT(fabs(from_f16(out[i]) - truth) <= fabs(truth) * (0x1p-11 + 0x1p-21));
        }
    }
}

static void check_arguments(void)
{
    double room[40];
    const struct symmem_stack good[] = {{room, 1, 8, false}, {room + 8, 1, 8, false}, {room + 16, 2, 8, false}};
#define CALL(...) checked((const struct symmem_stack[]){good[0], good[1], good[2], __VA_ARGS__}, 4, 8)
    EXPECT(CALL({room + 32, 1, 8, true}) == SYMMEM_OK && CALL({room, 1, 8, true}) == SYMMEM_OK);
    EXPECT(CALL({room + 1, 1, 8, true}) == SYMMEM_OVERLAP && CALL({room + 16, 1, 8, true}) == SYMMEM_OVERLAP);
    EXPECT(CALL({room + 1, 1, 8, false}) == SYMMEM_OK); /* what is read may overlap */
    EXPECT(CALL({NULL, 1, 8, true}) == SYMMEM_NULL_POINTER && CALL({NULL, 1, 8, false}) == SYMMEM_NULL_POINTER);
    EXPECT(CALL({NULL, 0, 8, true}) == SYMMEM_OK);
    EXPECT(CALL({(char *)room + 4, 1, 8, true}) == SYMMEM_MISALIGNED);
    EXPECT(CALL({(char *)room + 260, 1, 4, true}) == SYMMEM_OK); /* of a smaller type */
    const struct symmem_stack twice[] = {{room, 1, 8, true}, {room, 1, 8, true}};
    EXPECT(checked(twice, 2, 8) == SYMMEM_OVERLAP && checked(twice, 2, 0) == SYMMEM_OK);
    const struct symmem_stack short_and_long[] = {{room, 1, 2, true}, {(char *)room + 16, 2, 4, true}};
    EXPECT(checked(short_and_long, 2, 8) == SYMMEM_OK && checked(short_and_long, 2, 9) == SYMMEM_OVERLAP);
    EXPECT(checked(good, 3, SIZE_MAX / 16) == SYMMEM_OUT_OF_RANGE);
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
    check_halves();
    check_half_loops();
#if SYMMEM_HAS_WIDE
    if (has_f16c()) {
        check_wide_halves();
    }
#endif
    check_arguments();
    printf("%d failures\n", failures);
    return failures != 0;
}
