"""Pairs of steps with one batch, for memories that do not change with the step: delays, memories of memories too.

With the weights ``c(n, k) = c(k) + [k = n] s(n)`` of :mod:`symmem.method.steady`, s what the start adds, let
``T(i) = sum_{k<i} c(k)``, ``S(n) = sum_{r<n} s(r)``.  The batch of step p > 0 has had the weight ``T(n-p)`` in all
updates before step n, that of step 0 ``T(n) + S(n)``.  So (mathematics.md sections 7 and 13)

    C_eq          = sum_{0<i<n} c(i) T(i) + (c(n) + s(n)) (T(n) + S(n)),
    C_eq + C_neq  = sum_{r<n} (T(n+1) - T(n-r) + s(n)) gain(r),                 gain(r) = T(r+1) + s(r),
    sum_j a a'    = sum_{0<i<N} T(i) T'(i) + (T(N) + S(N)) (T'(N) + S'(N)),     a(j) of an epoch of N batches,
    (N - 1) D     = sum_{j<N} T(N-j) sum_{r<j} gain(r).

Gradients of four steps ago have ``C_eq = 5 min(4, n) - 4 min(5, n)``: n for n <= 4, where all look at the first batch.
"""

from __future__ import annotations

from symmem.method.eventual import Eventual
from symmem.method.steady import SteadyWeights


def equal_pairs(weights: SteadyWeights) -> Eventual:
    """``C_eq`` by n."""
    newest = weights.weight + weights.start
    return (weights.weight * weights.total).before() + newest * weights.had


def all_pairs(weights: SteadyWeights) -> Eventual:
    """``C_eq + C_neq`` by n."""
    gain = weights.gain
    whole = (weights.weight.until() + weights.start) * gain.before()
    return whole + weights.total.convolved(gain).times(-1)


def common_weight(left: SteadyWeights, right: SteadyWeights) -> Eventual:
    """``sum_j a(j) a'(j)`` by N."""
    return (left.total * right.total).before() + left.had * right.had


def whole_weight(weights: SteadyWeights) -> Eventual:
    """``sum_j a(j)`` by N."""
    return weights.total.before() + weights.had


def moved_weight(weights: SteadyWeights) -> Eventual:
    """``(N - 1) D`` by N."""
    return weights.total.convolved(weights.gain.before())
