"""From where on a linear recursion is unstable: where a root of ``free + x forced`` leaves the unit disc."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

ON_CIRCLE = 1e-6
"""So near to 1 the length of a root counts as 1; a crossing is then tried by the roots behind it."""


def threshold(free: Sequence[float], forced: Sequence[float]) -> float:
    """The least x >= 0 from which a root is outside; infinite where there is none.  Coefficients, highest power first.

    On the unit circle ``free(mu) forced(1/mu) = forced(mu) free(1/mu)``, for x is real: a polynomial whose roots are
    all the places where one can cross.  Gradient descent, ``mu - 1 + x``: 2.  Momentum: ``(2 + 2 beta)/(1 - beta)``.
    """
    size = max(len(free), len(forced))
    first, second = (torch.tensor([0.0] * (size - len(x)) + [float(y) for y in x], dtype=torch.float64)
                     for x in (free, forced))  # fmt: skip
    crossings = _product(first, second.flip(0)) - _product(second, first.flip(0))
    places = [complex(-1.0), *(mu for mu in _roots(crossings) if abs(abs(mu) - 1) < ON_CIRCLE)]
    found = [x for mu in places if (x := _strength(first, second, mu)) is not None]
    for x in sorted(found):
        if _reach(first + x * (1 + 1e-4) * second) > 1:
            # Where it is outside before already, it is so from 0 on.
            return x if _reach(first + x * (1 - 1e-4) * second) <= 1 + 1e-9 else 0.0
    return math.inf


def _strength(free: Tensor, forced: Tensor, mu: complex) -> float | None:
    """x with ``free(mu) + x forced(mu) = 0``, where that is a positive number."""
    above, below = _at(free, mu), _at(forced, mu)
    if abs(below) < 1e-12 * float(forced.abs().sum()):
        return None
    x = -above / below
    return x.real if x.real > 1e-9 and abs(x.imag) < 1e-5 * abs(x) else None


def _at(coefficients: Tensor, mu: complex) -> complex:
    total = complex(0.0)
    for c in coefficients.tolist():
        total = total * mu + c
    return total


def _reach(coefficients: Tensor) -> float:
    return max((abs(mu) for mu in _roots(coefficients)), default=0.0)


def _roots(coefficients: Tensor) -> list[complex]:
    """The eigenvalues of the companion matrix; leading coefficients that are rounding are left out."""
    size = float(coefficients.abs().max())
    kept = (coefficients.abs() > 1e-14 * size).nonzero().flatten()
    if size == 0 or not len(kept):
        return []
    monic = coefficients[int(kept[0]) :] / coefficients[int(kept[0])]
    degree = len(monic) - 1
    if degree == 0:
        return []
    companion = torch.diag(torch.ones(degree - 1, dtype=torch.float64), -1)
    companion[0] = -monic[1:]
    return [complex(mu) for mu in torch.linalg.eigvals(companion).tolist()]


def _product(first: Tensor, second: Tensor) -> Tensor:
    """Of two polynomials."""
    found = torch.zeros(len(first) + len(second) - 1, dtype=torch.float64)
    for k, c in enumerate(first.tolist()):
        found[k : k + len(second)] += c * second
    return found
