/*
 * AdamW without memory, to order 1 in the learning rate. Made by symmem 0.1.0 from the optimizer
 * adamw (Loshchilov and Hutter 2019). Do not edit: emit it again.
 *
 * The iteration without memory is theta <- theta - lr (F + M):
 *
 *     struct symmem_adamw_params params = SYMMEM_ADAMW_PARAMS_INIT;
 *     symmem_adamw_direction_f64(theta, grad, v, count, n, &params);
 *     ... hv = Hessian of the loss at theta, times v: yours ...
 *     symmem_adamw_step_f64(theta, grad, hv, count, n, lr, &params);
 *
 * theta, grad, hv and out have `count` entries, of any alignment that their type has. n counts the
 * steps from 0; n < 0 is the limit n -> infinity. Entries are treated by themselves: the result does
 * not depend on the number of threads, NaN stays at its place, and an infinite entry gives the limit
 * of the formula. Nothing is allocated and nothing is kept between calls.
 *
 * Every function returns SYMMEM_OK or says what is wrong, and then has written nothing.
 */
#ifndef SYMMEM_ADAMW_H
#define SYMMEM_ADAMW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SYMMEM_STATUS
#define SYMMEM_STATUS
enum symmem_status {
    SYMMEM_OK = 0,
    SYMMEM_NULL_POINTER = 1, /* a vector or the parameters are NULL */
    SYMMEM_OVERLAP = 2,      /* the result overlaps an input without being the same vector */
    SYMMEM_OUT_OF_RANGE = 3, /* a parameter, lr or count */
    SYMMEM_MISALIGNED = 4,   /* a vector does not start at a multiple of its element's size */
    SYMMEM_UNAVAILABLE = 5   /* the formula does not exist for this n */
};
#endif

struct symmem_adamw_params {
    double beta1; /* in [0, 1) */
    double beta2; /* in [0, 1) */
    double eps; /* in (0, inf) */
    double weight_decay; /* in [0, inf) */
};

/* The defaults: as an initialiser, and as a function for other languages. */
#define SYMMEM_ADAMW_PARAMS_INIT {0.9, 0.999, 1e-08, 0.01}
void symmem_adamw_params_init(struct symmem_adamw_params *params);

const char *symmem_adamw_name(void);    /* "adamw" */
const char *symmem_adamw_version(void); /* of the symmem that wrote this file */
const char *symmem_adamw_message(int status);

/*
 * How many Hessian-vector products a step needs: `direction` writes so many vectors, one after another,
 * and `hv` holds their products in the same order.
 */
size_t symmem_adamw_directions(int64_t n);

/* F: the update on a constant history. */
int symmem_adamw_memoryless_f64(const double *theta, const double *grad, double *out,
    size_t count, int64_t n, const struct symmem_adamw_params *params);

/* The vectors whose products with the Hessian the other functions need. */
int symmem_adamw_direction_f64(const double *theta, const double *grad, double *out,
    size_t count, int64_t n, const struct symmem_adamw_params *params);

/* M = lr F_1: what memory adds to the update. `out` may be one of the inputs. */
int symmem_adamw_correction_f64(const double *theta, const double *grad,
    const double *hv, double *out, size_t count, int64_t n, double lr,
    const struct symmem_adamw_params *params);

/* theta <- theta - lr (F + M), in place and in one pass. */
int symmem_adamw_step_f64(double *theta, const double *grad, const double *hv,
    size_t count, int64_t n, double lr, const struct symmem_adamw_params *params);

/* F: the update on a constant history. */
int symmem_adamw_memoryless_f32(const float *theta, const float *grad, float *out,
    size_t count, int64_t n, const struct symmem_adamw_params *params);

/* The vectors whose products with the Hessian the other functions need. */
int symmem_adamw_direction_f32(const float *theta, const float *grad, float *out,
    size_t count, int64_t n, const struct symmem_adamw_params *params);

/* M = lr F_1: what memory adds to the update. `out` may be one of the inputs. */
int symmem_adamw_correction_f32(const float *theta, const float *grad,
    const float *hv, float *out, size_t count, int64_t n, double lr,
    const struct symmem_adamw_params *params);

/* theta <- theta - lr (F + M), in place and in one pass. */
int symmem_adamw_step_f32(float *theta, const float *grad, const float *hv,
    size_t count, int64_t n, double lr, const struct symmem_adamw_params *params);

#ifdef __cplusplus
}
#endif

#endif
