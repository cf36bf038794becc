"""The momentum on the slow manifold, for memory that is not geometric (mathematics.md section 11).

There the mean m of past gradients is a function of theta, ``m = m_0 + h m_1 + ...``, which the steps of the method fix:

    map(m_0 + h m_1 + ...) = F_0 + h F_1 + ... - decay theta,    so that   m_0 = grad,   map'(grad) m_1 = F_1,   ...

A loss S with ``m = grad S`` exists only if every m_j is a gradient.  Nesterov's method, ``map(x) = x/(1 - beta)``: m_2
is a multiple of F_2, whose two trees ``D2L(D2L(grad))`` and ``D3L(grad, grad)/2`` have different coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import factorial

from sympy import Add, Expr, Mul, S, nan, oo, zoo

from symmem.algebra.atoms import GRAD, LR
from symmem.algebra.directional import derivative
from symmem.algebra.results import Named, Sentence
from symmem.derivation.loss.gradient_map import GradientMap
from symmem.derivation.loss.verdicts import Obstruction
from symmem.derivation.loss.witness import witness
from symmem.derivation.orders.expansion import expansion
from symmem.method.method import Method


def beyond_geometric_memory(method: Method, found: GradientMap, order: int) -> Obstruction:
    """A denial at the first order from the second on that has a witness; else none was found."""
    nothing = Obstruction(Sentence.of("beyond first order it is known for geometric memory alone"), (), 2)
    if not method.is_entrywise:
        return nothing
    series = expansion(method, order)
    momentum = slow_momentum(found.map, [series.memoryless(j) for j in range(order + 1)])
    for j, part in enumerate(momentum[2:], start=2):
        what = Named("m", j)
        seen = witness(part, S.One, method.defaults, Sentence.of(what))
        if seen is not None:
            reason = Sentence.of(
                "on the slow manifold the mean of past gradients is ", Named("m", 0), " + ", LR, " ", Named("m", 1),
                " + ..., and ", what, " is no gradient",
            )  # fmt: skip
            return Obstruction(reason, (), j, seen)
    return nothing


def slow_momentum(field: Expr, steps: Sequence[Expr]) -> list[Expr]:
    """``m_0, m_1, ...`` for an entrywise map and ``steps = F_0, F_1, ...``; none where the map has no slope."""
    slopes = [field]
    for _ in steps[1:]:
        slopes.append(derivative(slopes[-1], {GRAD: S.One}))
    if slopes[1:] and (slopes[1] == 0 or slopes[1].has(nan, zoo, oo)):
        return []
    parts: list[Expr] = [GRAD]
    for power in range(1, len(steps)):
        rest = [
            slopes[count] / factorial(count) * Mul(*(parts[j] for j in chosen))
            for count in range(2, power + 1)
            for chosen in _compositions(power, count)
        ]
        parts.append((steps[power] - Add(*rest)) / slopes[1])
    return parts


def _compositions(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """All sequences of so many positive numbers with this sum."""
    if count == 1:
        yield (total,)
        return
    for first in range(1, total - count + 2):
        for rest in _compositions(total - first, count - 1):
            yield (first, *rest)
