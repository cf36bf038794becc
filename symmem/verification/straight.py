"""The straight-line history from its meaning alone: the literal optimizer fed with gradients on lines.

    theta_{n-k} = theta + k lr V_l,     grad_{n-k} = grad + k lr H V_l        (mathematics.md section 10)

with ``V_l = sum_{k=1..n} beta_l^k sum_{s=n-k..n-1} F^(s) / sum_{k=1..n} k beta_l^k``, term by term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
from mpmath import mpf

from symmem.verification.arithmetic import power, spread
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import Loss
from symmem.verification.vectors import Number, Vector, real, vector


@dataclass(frozen=True)
class Linearised(Loss):
    """A loss whose gradient is linear: that of another loss and its Hessian at one point."""

    point: Vector

    def contraction(self, theta: Sequence[mpf], *vectors: Sequence[mpf]) -> Vector:
        """``grad + H (theta - point)``; one vector: ``H v``; more: zero."""
        true = Loss(self.ridges)
        if vectors:
            return true.contraction(self.point, *vectors) if len(vectors) == 1 else (mpf(0),) * len(theta)
        away = tuple(x - p for x, p in zip(theta, self.point, strict=True))
        change = true.contraction(self.point, away)
        return tuple(g + d for g, d in zip(true.gradient(self.point), change, strict=True))


def straight(literal: Literal, theta: Sequence[Number], n: int, lr: Number, digits: int = 50) -> Vector:
    """``Phi(m_1, ..., m_L)``, each momentum variable on the line that its own memory sees."""
    with mpmath.workdps(digits):
        point, rate = vector(theta), real(lr)
        loss = Linearised(literal.loss.ridges, point)
        numbers = {name: real(number) for name, number in literal.numbers.items()}
        momenta = {}
        for position, momentum in enumerate(literal.optimizer.momentum, start=1):
            along = velocity(literal, point, position, n, digits)
            beta = evaluate(momentum.beta, numbers, {}, digits=digits)
            total = (mpf(0),) * len(point)
            for k in range(n + 1):
                place = tuple(x + k * rate * v for x, v in zip(point, along, strict=True))
                seen = {"theta": place, "grad": loss.gradient(place)}
                value = evaluate(momentum.g, numbers, seen, None, literal.functions, digits=digits)
                total = tuple(
                    x + power(beta, mpf(k)) * y for x, y in zip(total, _spread(value, point), strict=True)
                )
            factor = evaluate(momentum.b, {**numbers, "n": mpf(n)}, {}, digits=digits)
            momenta[f"m{position}"] = tuple(factor * x for x in total)
        phi = literal.optimizer.phi
        return _spread(evaluate(phi, numbers, momenta, None, literal.functions, digits=digits), point)


def on_even_line(
    literal: Literal, theta: Sequence[Number], step: Sequence[Number], n: int, digits: int = 50
) -> Vector:
    """The literal optimizer, also a cascade, after the n + 1 points ``theta + k step``, k = n, ..., 0."""
    with mpmath.workdps(digits):
        point, move = vector(theta), vector(step)
        linear = replace(literal, loss=Linearised(literal.loss.ridges, point))
        line = [tuple(x + k * v for x, v in zip(point, move, strict=True)) for k in range(n + 1)]
        return linear.direction(line, digits)


def _spread(found: Any, like: Vector) -> Vector:
    return spread(tuple(found) if isinstance(found, list) else found, len(like))


def velocity(literal: Literal, theta: Vector, position: int, n: int, digits: int) -> Vector:
    """``V_l`` of the momentum variable with this position, from 1; zero where nothing of the past is weighed."""
    numbers = {name: real(number) for name, number in literal.numbers.items()}
    beta = evaluate(literal.optimizer.momentum[position - 1].beta, numbers, {}, digits=digits)
    past, zero = literal.frozen(theta, n, digits), (mpf(0),) * len(theta)
    way, total, weight = zero, zero, mpf(0)
    for k in range(1, n + 1):
        way = tuple(x + f for x, f in zip(way, past[n - k], strict=True))
        total = tuple(x + power(beta, mpf(k)) * v for x, v in zip(total, way, strict=True))
        weight += k * power(beta, mpf(k))
    return tuple(x / weight for x in total) if weight else zero
