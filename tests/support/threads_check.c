/*
 * Two threads of the program call a kernel at once, which has threads of its own: for the thread sanitizer.
 * Without arguments each thread has vectors of its own and the results are the same; with one they share a
 * short vector that both write, which the sanitizer has to see: nothing there makes one wait for the other.
 */
#include "symmem_adamw.h"
#include "symmem_nsgd_momentum.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 40000 };
static double theta[2][COUNT], grad[COUNT], hv[COUNT];
static int failures[2];
static size_t used = COUNT;

static void *run(void *place)
{
    struct symmem_adamw_params first = SYMMEM_ADAMW_PARAMS_INIT;
    struct symmem_nsgd_momentum_params second = SYMMEM_NSGD_MOMENTUM_PARAMS_INIT;
    double *mine = place;
    for (int n = -1; n < 2; ++n) {
        const int status = symmem_adamw_step_f64(mine, grad, hv, used, n, 0.01, &first);
        failures[mine == theta[1]] += status + symmem_nsgd_momentum_step_f64(mine, grad, hv, used, n, 0.01, &second);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < COUNT; ++i) {
        theta[0][i] = theta[1][i] = i % 7;
        grad[i] = i % 5 - 2.0;
        hv[i] = i % 3;
    }
    used = count == 1 ? COUNT : 100;
    pthread_t other;
    pthread_create(&other, NULL, run, theta[count == 1]);
    run(theta[0]);
    pthread_join(other, NULL);
    const int equal = count > 1 || memcmp(theta[0], theta[1], sizeof theta[0]) == 0;
    puts(equal && failures[0] + failures[1] == 0 ? "equal" : "different");
    return 0;
}
