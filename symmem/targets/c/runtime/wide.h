/*
 * Numbers with the digits of a double and all the range that a formula can ask for: part * 2**exponent, with
 * 1/2 <= |part| < 1; zero, infinity and NaN are the part alone. Nothing here asks for a long double, which on
 * some machines is a double.
 */
typedef struct {
    double part, exponent;
} symmem_wide;

static SYMMEM_SELDOM symmem_wide symmem_scaled(double part, double exponent)
{
    int moved = 0;
    symmem_wide result = {part, 0};
    if (part != 0 && isfinite(part)) {
        result.part = frexp(part, &moved);
        result.exponent = exponent + moved;
    }
    return result;
}

static SYMMEM_SELDOM symmem_wide symmem_of(double x)
{
    return symmem_scaled(x, 0);
}

/* The nearest double. */
static SYMMEM_SELDOM double symmem_narrow(symmem_wide x)
{
    return ldexp(x.part, (int)fmax(-3000, fmin(x.exponent, 3000)));
}

static SYMMEM_SELDOM symmem_wide symmem_minus(symmem_wide x)
{
    return (symmem_wide){-x.part, x.exponent};
}

static SYMMEM_SELDOM symmem_wide symmem_abs(symmem_wide x)
{
    return (symmem_wide){fabs(x.part), x.exponent};
}

static SYMMEM_SELDOM symmem_wide symmem_signw(symmem_wide x)
{
    return symmem_of(x.part > 0 ? 1.0 : x.part < 0 ? -1.0 : x.part);
}

static SYMMEM_SELDOM symmem_wide symmem_add(symmem_wide x, symmem_wide y)
{
    if (x.part == 0 || y.part == 0 || !isfinite(x.part) || !isfinite(y.part)) {
        return x.part == 0 ? y : y.part == 0 ? x : symmem_of(x.part + y.part);
    }
    const symmem_wide large = x.exponent < y.exponent ? y : x, small = x.exponent < y.exponent ? x : y;
    const double apart = fmax(small.exponent - large.exponent, -1100);
    return symmem_scaled(large.part + ldexp(small.part, (int)apart), large.exponent);
}

static SYMMEM_SELDOM symmem_wide symmem_sub(symmem_wide x, symmem_wide y)
{
    return symmem_add(x, symmem_minus(y));
}

static SYMMEM_SELDOM symmem_wide symmem_mul(symmem_wide x, symmem_wide y)
{
    return symmem_scaled(x.part * y.part, x.exponent + y.exponent);
}

static SYMMEM_SELDOM symmem_wide symmem_div(symmem_wide x, symmem_wide y)
{
    return symmem_scaled(x.part / y.part, x.exponent - y.exponent);
}

static SYMMEM_SELDOM bool symmem_less(symmem_wide x, symmem_wide y)
{
    return symmem_sub(x, y).part < 0;
}

static SYMMEM_SELDOM symmem_wide symmem_minw(symmem_wide x, symmem_wide y)
{
    return isnan(x.part) || symmem_less(y, x) ? y : x;
}

static SYMMEM_SELDOM symmem_wide symmem_maxw(symmem_wide x, symmem_wide y)
{
    return isnan(x.part) || symmem_less(x, y) ? y : x;
}

static SYMMEM_SELDOM symmem_wide symmem_sqrtw(symmem_wide x)
{
    const bool odd = fmod(x.exponent, 2) != 0;
    return symmem_scaled(sqrt(odd ? 2 * x.part : x.part), (x.exponent - (odd ? 1 : 0)) / 2);
}

/* exp(x) = 2**k exp(x - k log 2), the log in two parts. */
static SYMMEM_SELDOM symmem_wide symmem_expw(symmem_wide x)
{
    const double value = symmem_narrow(x);
    if (!(fabs(value) < 1e12)) {
        return symmem_of(exp(value));
    }
    const double whole = nearbyint(value * 1.4426950408889634), rest = fma(-whole, 0x1.62e42fefa39efp-1, value);
    return symmem_scaled(exp(fma(-whole, 0x1.abc9e3b39803fp-56, rest)), whole);
}

static SYMMEM_SELDOM symmem_wide symmem_logw(symmem_wide x)
{
    const bool low = x.part > 0 && x.part < 0.70710678118654752; /* so that numbers near 1 have the exponent 0 */
    const double part = log(low ? 2 * x.part : x.part), exponent = x.exponent - (low ? 1 : 0);
    return symmem_of(isfinite(part) ? part + exponent * 0.69314718055994531 : part);
}

/* x**y: 2**(exponent y) has a whole part, which is exact, and a rest. */
static SYMMEM_SELDOM symmem_wide symmem_poww(symmem_wide x, symmem_wide y)
{
    const double power = symmem_narrow(y);
    if (x.part == 0 || !isfinite(x.part) || !(fabs(power) < 1e12)) {
        return symmem_of(pow(symmem_narrow(x), power));
    }
    const double product = x.exponent * power, whole = nearbyint(product);
    const double rest = product - whole + fma(x.exponent, power, -product);
    if (fabs(power) < 900) {
        return symmem_scaled(pow(x.part, power) * exp2(rest), whole);
    }
    const double sign = pow(x.part < 0 ? -1 : 1, power), bits = log2(fabs(x.part)) * power, near = nearbyint(bits);
    return symmem_scaled(sign * exp2(bits - near + rest), whole + near);
}

/* Functions that are `small` where x is tiny: there a double may have lost it. */
#define SYMMEM_FUNCTION(name, small)                                                                       \
    static SYMMEM_SELDOM symmem_wide symmem_##name##w(symmem_wide x)                                 \
    {                                                                                                      \
        return x.exponent < -500 ? (small) : symmem_of(name(symmem_narrow(x)));                            \
    }
SYMMEM_FUNCTION(sin, x)
SYMMEM_FUNCTION(cos, symmem_of(1))
SYMMEM_FUNCTION(tan, x)
SYMMEM_FUNCTION(tanh, x)
SYMMEM_FUNCTION(atan, x)
SYMMEM_FUNCTION(erf, symmem_mul(x, symmem_of(1.1283791670955126)))

static SYMMEM_SELDOM symmem_wide symmem_coshw(symmem_wide x)
{
    const symmem_wide up = symmem_expw(x), down = symmem_expw(symmem_minus(x));
    return symmem_mul(symmem_of(0.5), symmem_add(up, down));
}

static SYMMEM_SELDOM symmem_wide symmem_sinhw(symmem_wide x)
{
    const symmem_wide up = symmem_expw(x), down = symmem_expw(symmem_minus(x));
    const symmem_wide half = symmem_mul(symmem_of(0.5), symmem_sub(up, down));
    return x.exponent < -500 ? x : x.exponent < 2 ? symmem_of(sinh(symmem_narrow(x))) : half;
}

/* A sum with what its additions round away. */
typedef struct {
    symmem_wide sum, rest;
} symmem_kept;

static SYMMEM_SELDOM symmem_kept symmem_keep(symmem_kept total, symmem_wide term)
{
    const symmem_wide next = symmem_add(total.sum, term), back = symmem_sub(next, total.sum);
    const symmem_wide lost = symmem_add(symmem_sub(total.sum, symmem_sub(next, back)), symmem_sub(term, back));
    return (symmem_kept){next, symmem_add(total.rest, lost)};
}

static SYMMEM_SELDOM symmem_wide symmem_whole(symmem_kept total)
{
    return isfinite(total.sum.part) ? symmem_add(total.sum, total.rest) : total.sum;
}
