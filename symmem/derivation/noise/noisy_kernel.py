"""Methods linear in the gradient on mini-batches: one kernel holds all that noise does (mathematics.md sections 7, 13).

    F^(n) = sum_k c(n, k) g^(n-k)(theta_{n-k}) + what has no noise,
    C_eq = sum_{s<n} sum_j c(n, n-s+j) c(s, j),      C_eq + C_neq = sum_{s<n} tail(n, s) gain(s),
    E M noise = h (C_eq + rho C_neq) E Dxi[xi],      E Dxi[xi] = grad sum_i V_i / 2,      rho = -1/(N - 1), or 0

in the paper's names.  For symbolic n the sums close where the weights do not change with the step, as
:mod:`.steady_noise` has them, and for some that do, such as one geometric memory with bias correction.
"""

from __future__ import annotations

from sympy import Add, Expr, S, Sum

from symmem.algebra.atoms import GRAD, PAST, STEP, is_constant
from symmem.algebra.directional import slope_in
from symmem.algebra.scalars import Scalars
from symmem.derivation.past.history import sum_scalar
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.kernel_sum import kernel_sum
from symmem.method.method import Method


def noisy_kernel(method: Method) -> Kernel | None:
    """``c(n, k)``: how the noise of k steps ago moves the update; None where the method is not linear in it."""
    if not method.is_linear or method.is_cascade:
        return None
    kernels = []
    for channel in method.channels:
        slope = slope_in(method.phi, channel.symbol) * slope_in(channel.g, GRAD)
        if not is_constant(slope):
            return None
        if slope != 0:
            kernels.append(channel.kernel.scaled(method.numbers.tidy(slope)))
    return kernel_sum(kernels, method.numbers)


def earlier_overlap_at_step(kernel: Kernel, scalars: Scalars) -> Expr | None:
    """``C_eq = sum_{s<n} X(n, s)`` for symbolic n, part by part of a kernel whose factors may depend on the step."""
    found = []
    for newer in kernel.summands:
        for older in kernel.summands:
            overlap = _overlap(newer, older)
            if overlap is None:
                return None
            found.append(sum_scalar(overlap, scalars))
    total = Add(*found)
    return None if total.has(Sum) else total


def _overlap(newer: Kernel, older: Kernel) -> Expr | None:
    """``X(n, s) = sum_{j=0..s} c(n, n-s+j) c'(s, j)`` for s < n; ``b b' a^(n-s) sum_j (a a')^j`` for geometric ones."""
    if isinstance(newer, Instant):
        return S.Zero
    if not isinstance(newer, Geometric):
        return None
    ahead = newer.weight(STEP, STEP - PAST)
    if isinstance(older, Instant):
        return ahead * older.scale(PAST)
    if not isinstance(older, Geometric):
        return None
    both = newer.decay * older.decay
    return ahead * older.scale(PAST) * (1 - (newer.decay * older.decay) ** (PAST + 1)) / (1 - both)
