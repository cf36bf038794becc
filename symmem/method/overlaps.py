"""What kernels have in common at shifted lags: sums over pairs of steps that noise leaves (mathematics.md section 7).

    X_qr(i) = sum_{j>=0} c_q(i+j) c_r(j),   tail_l(i) = sum_{k>=i} c_l(k),        in the limit of many steps

From the recursion of a kernel, ``c(k) = C A^k B``, every sum over i or k is a geometric series of matrices, whatever
the kernel.  For two geometric ones, ``c_l = b a^k`` and ``c_r = b' a'^k``: ``X_lr(i) = b b' a^i/(1 - a a')``.
"""

from __future__ import annotations

from sympy import Expr

from symmem.method.kernel import Kernel
from symmem.method.recursions import Recursions, State, joined

_BOTH, _NEWER, _AHEAD = (True, True), (True, False), (True, True, False)
"""Who makes a step: two kernels; the first of them; the first two of three, while the value of the third stays."""


def lagged_overlap(left: Kernel, right: Kernel) -> Expr:
    """``sum_k k c(k) c'(k)``."""
    both = _recursions(left, right)
    inner = both.summed(joined(both.fed(0), both.fed(1)), _BOTH)
    return both.read(both.step(both.summed(inner, _BOTH), _BOTH))


def earlier_overlap(left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=1} X(i) = sum_{i>=1} sum_j c(i+j) c'(j)``: a value, and the updates after it that have seen it."""
    both = _recursions(left, right)
    return both.read(both.step(both.summed(_meeting(both, 0), _NEWER), _NEWER))


def weighted_overlap(tail: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=1} tail(i) X(i)``."""
    three = _recursions(tail, left, right)
    state = joined(three.summed(three.fed(0), (True,)), _meeting(three, 1))
    return three.read(three.step(three.summed(state, _AHEAD), _AHEAD))


def newer_overlap(tail: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} tail(i+1) X(i)``."""
    three = _recursions(tail, left, right)
    older = three.step(three.summed(three.fed(0), (True,)), (True,))
    return three.read(three.summed(joined(older, _meeting(three, 1)), _AHEAD))


def branch_overlap(branch: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} c(i) X(i)``, c that of the branch."""
    three = _recursions(branch, left, right)
    return three.read(three.summed(joined(three.fed(0), _meeting(three, 1)), _AHEAD))


def lagged_branch_overlap(branch: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} i c(i) X(i)``."""
    three = _recursions(branch, left, right)
    inner = three.summed(joined(three.fed(0), _meeting(three, 1)), _AHEAD)
    return three.read(three.step(three.summed(inner, _AHEAD), _AHEAD))


def _recursions(*kernels: Kernel) -> Recursions:
    return Recursions(*(kernel.limit_realisation() for kernel in kernels))


def _meeting(recursions: Recursions, first: int) -> State:
    """``sum_j A^j B x A'^j B'`` of two recursions: both states, of one value j steps ago."""
    fed = joined(recursions.fed(first), recursions.fed(first + 1))
    return recursions.summed(fed, _BOTH, first)
