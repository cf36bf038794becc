/*
 * AdamW without memory on a small quadratic loss, by the kernels that `symmem build adamw` made.
 *
 *     L(theta) = 1/2 sum_i a_i theta_i^2,     grad = a theta,     Hessian times v = a v
 *
 * The step with the correction of memory is compared with AdamW itself: it stays closer than the step
 * without the correction.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <symmem_adamw.h>

enum { COUNT = 5, STEPS = 60 };

static const double curvature[COUNT] = {0.5, 0.8, 1.0, 1.5, 2.5};

static void check(int status)
{
    if (status != SYMMEM_OK) {
        fprintf(stderr, "symmem: %s\n", symmem_adamw_message(status));
        exit(1);
    }
}

static void multiply(const double *vector, double *product)
{
    for (int i = 0; i < COUNT; ++i) {
        product[i] = curvature[i] * vector[i];
    }
}

/* AdamW with its memory, as it is defined. */
static void train_adamw(double *theta, double lr, const struct symmem_adamw_params *p)
{
    double m[COUNT] = {0}, v[COUNT] = {0}, grad[COUNT];
    for (int n = 0; n < STEPS; ++n) {
        multiply(theta, grad);
        for (int i = 0; i < COUNT; ++i) {
            m[i] = p->beta1 * m[i] + (1 - p->beta1) * grad[i];
            v[i] = p->beta2 * v[i] + (1 - p->beta2) * grad[i] * grad[i];
            const double first = m[i] / (1 - pow(p->beta1, n + 1)), second = v[i] / (1 - pow(p->beta2, n + 1));
            theta[i] -= lr * (first / sqrt(second + p->eps) + p->weight_decay * theta[i]);
        }
    }
}

static void train_memoryless(double *theta, double lr, int corrected, const struct symmem_adamw_params *p)
{
    double grad[COUNT], v[COUNT], hv[COUNT] = {0};
    for (int n = 0; n < STEPS; ++n) {
        multiply(theta, grad);
        if (corrected) {
            check(symmem_adamw_direction_f64(theta, grad, v, COUNT, n, p));
            multiply(v, hv);
        }
        check(symmem_adamw_step_f64(theta, grad, hv, COUNT, n, lr, p));
    }
}

static double distance(const double *a, const double *b)
{
    double largest = 0;
    for (int i = 0; i < COUNT; ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

int main(void)
{
    struct symmem_adamw_params params = SYMMEM_ADAMW_PARAMS_INIT;
    params.beta2 = 0.95;
    params.eps = 1e-2;
    const double lr = 5e-3;
    double truth[COUNT], corrected[COUNT], plain[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        truth[i] = corrected[i] = plain[i] = 1.0 + 0.3 * i;
    }
    train_adamw(truth, lr, &params);
    train_memoryless(corrected, lr, 1, &params);
    train_memoryless(plain, lr, 0, &params);
    const double with = distance(truth, corrected), without = distance(truth, plain);
    printf("%s by symmem %s\n", symmem_adamw_name(), symmem_adamw_version());
    printf("after %d steps the memoryless iteration is off by %.1e, without the correction by %.1e\n", STEPS, with,
        without);
    return with < 0.1 * without ? 0 : 1;
}
