/* Two optimizers from one library; one step of each in float, with the limit coefficients (n < 0). */
#include <math.h>
#include <stdio.h>

#include <symmem_adamw.h>
#include <symmem_lion.h>

/* One step at theta = 1 on L = theta^2 / 2: grad = 1, Hessian 1. */
static int close_to(const char *name, float found, double expected)
{
    printf("%s: theta = %.7f, expected %.7f\n", name, (double)found, expected);
    return fabs(found - expected) < 1e-6;
}

int main(void)
{
    struct symmem_adamw_params adamw = SYMMEM_ADAMW_PARAMS_INIT;
    struct symmem_lion_params lion = SYMMEM_LION_PARAMS_INIT;
    const float grad = 1;
    float theta, v;
    int good = 1;

    /* F = 1/sqrt(1 + eps) + weight_decay; M = lr (b1/(1-b1) - b2/(1-b2) + eps ...) / sqrt(1 + eps) F */
    theta = 1;
    good &= symmem_adamw_direction_f32(&theta, &grad, &v, 1, -1, &adamw) == SYMMEM_OK;
    good &= symmem_adamw_step_f32(&theta, &grad, &v, 1, -1, 1e-4, &adamw) == SYMMEM_OK;
    const double f = 1 / sqrt(1 + 1e-8) + 0.01, r = 1 / sqrt(1 + 1e-8);
    good &= close_to("adamw", theta, 1 - 1e-4 * (f + 1e-4 * (9 - 999 + 999 * 1e-8 * r * r) * r * f));

    /* M = lr beta1 eps / (1 - beta2) / (1 + eps)^(3/2) F */
    theta = 1;
    good &= symmem_lion_direction_f32(&theta, &grad, &v, 1, -1, &lion) == SYMMEM_OK;
    good &= symmem_lion_step_f32(&theta, &grad, &v, 1, -1, 1e-2, &lion) == SYMMEM_OK;
    const double s = 1 / sqrt(1 + 1e-6) + 0.01;
    good &= close_to("lion", theta, 1 - 1e-2 * (s + 1e-2 * 0.9 * 1e-6 / 0.01 / pow(1 + 1e-6, 1.5) * s));
    return good ? 0 : 1;
}
