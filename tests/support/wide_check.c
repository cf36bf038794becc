/* The functions of wide numbers by their position in a list, for a caller that cannot see what is static. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"

#include "wide.h"

void wide_call(int which, const double x[2], const double y[2], double result[2]);

void wide_call(int which, const double x[2], const double y[2], double result[2])
{
    static symmem_wide (*const one[])(symmem_wide) = {symmem_sqrtw, symmem_expw, symmem_logw, symmem_sinw,
        symmem_cosw, symmem_tanw, symmem_tanhw, symmem_atanw, symmem_erfw, symmem_sinhw, symmem_coshw, symmem_abs,
        symmem_signw, symmem_minus};
    static symmem_wide (*const two[])(symmem_wide, symmem_wide) = {symmem_add, symmem_sub, symmem_mul, symmem_div,
        symmem_poww, symmem_minw, symmem_maxw};
    const symmem_wide first = symmem_scaled(x[0], x[1]), second = symmem_scaled(y[0], y[1]);
    const symmem_wide found = which < 100 ? one[which](first) : two[which - 100](first, second);
    result[0] = found.part;
    result[1] = found.exponent;
}
