"""The optimizer on mini-batches, by enumeration: every order in which the batches can come, each from the definition.

Batch i has the loss ``L + t psi_i`` with ``sum_i psi_i = 0``; t scales the noise.  The mean over all orders of

    M^(n) = d/dtau F^(n)(theta, theta + tau h v_1, ..., theta + tau h v_n) at tau = 0,  v_k = sum_{s=n-k..n-1} F^(s)

where every gradient is that of the batch of its step, needs no formula; its coefficient of t^2 is what noise adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import mpmath
from mpmath import mpf

from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.verification.evaluation import VectorMap, evaluate
from symmem.verification.losses import Loss
from symmem.verification.vectors import Number, Vector, real, vector


@dataclass(frozen=True)
class Batches:
    """A loss and the noise ``psi_i`` of its batches, which add up to 0."""

    loss: Loss
    noise: tuple[Loss, ...]

    def gradient(self, batch: int, theta: Vector, size: mpf) -> Vector:
        """``grad (L + size psi_batch)``."""
        pair = zip(self.loss.gradient(theta), self._noise(batch, theta), strict=True)
        return tuple(g + size * x for g, x in pair)

    def _noise(self, batch: int, theta: Vector, *directions: Vector) -> Vector:
        """``xi_i``, or its derivatives; the last batch has what the others leave."""
        if batch < len(self.noise):
            return self.noise[batch].contraction(theta, *directions)
        rest = [each.contraction(theta, *directions) for each in self.noise]
        return tuple(-mpmath.fsum(column) for column in zip(*rest, strict=True))

    @property
    def count(self) -> int:
        """How many batches there are."""
        return len(self.noise) + 1

    def averages(self, theta: Sequence[Number]) -> tuple[Vector, dict[str, VectorMap]]:
        """The variance of a batch's gradient, and the functions of vectors that the formulas name, as plain means."""
        point = vector(theta)

        def mean(values: Callable[[int], Vector]) -> Vector:
            rows = [values(batch) for batch in range(self.count)]
            return tuple(mpmath.fsum(column) / self.count for column in zip(*rows, strict=True))

        def times(*vectors: Vector) -> Vector:
            return tuple(mpmath.fprod(entries) for entries in zip(*vectors, strict=True))

        def noise(batch: int, *directions: Vector) -> Vector:
            return self._noise(batch, point, *directions)

        def twice(values: Vector) -> Vector:
            return tuple(2 * x for x in values)

        functions: dict[str, VectorMap] = {
            "variance_along": lambda v: twice(mean(lambda i: times(noise(i), noise(i, v)))),
            "variance_gradient": lambda w: twice(mean(lambda i: noise(i, times(w, noise(i))))),
            "noisy_hessian": lambda w: mean(
                lambda i: times(noise(i), self.loss.contraction(point, times(w, noise(i))))
            ),
        }
        return mean(lambda i: times(noise(i), noise(i))), functions


@dataclass(frozen=True)
class NoisyOptimizer:
    """An optimizer with numbers for its parameters, on batches."""

    optimizer: Optimizer
    values: Mapping[str, Number]
    batches: Batches
    digits: int = 60

    def orders(self, n: int, *, replacement: bool) -> Iterable[tuple[int, ...]]:
        """The batches of the steps 0, ..., n: all the ways in which they can be drawn, each equally likely."""
        labels = range(self.batches.count)
        return product(labels, repeat=n + 1) if replacement else permutations(labels, n + 1)

    def direction(self, points: Sequence[Vector], labels: Sequence[int], size: mpf) -> Vector:
        """``F^(n)`` on the iterates theta_0, ..., theta_n, each with the gradient of its batch.

        Step after step: a g may read the variables above it, as they are at its step.
        """
        numbers = {p.name: real(self.values.get(p.name, p.default)) for p in self.optimizer.parameters}
        past: list[list[Vector]] = [[] for _ in self.optimizer.momentum]
        momenta: dict[str, Vector] = {}
        for s, (theta, label) in enumerate(zip(points, labels, strict=True)):
            momenta = {}
            seen = {"theta": theta, "grad": self.batches.gradient(label, theta, size)}
            for place, (momentum, values) in enumerate(zip(self.optimizer.momentum, past, strict=True), 1):
                found = evaluate(momentum.g, numbers, {**seen, **momenta}, digits=self.digits)
                values.append(self._vector(found, theta))
                factor = evaluate(momentum.b, {**numbers, "n": mpf(s)}, {}, digits=self.digits)
                momenta[f"m{place}"] = tuple(factor * x for x in self._remembered(momentum, values, numbers))
        return self._vector(evaluate(self.optimizer.phi, numbers, momenta, digits=self.digits), points[0])

    def _remembered(self, momentum: Momentum, values: Sequence[Vector], numbers: Mapping[str, mpf]) -> Vector:
        """``sum_k beta^k g^(n-k)``, 0^0 = 1; or the value some steps ago, before the start the first one or 0."""
        if momentum.delay:
            place = len(values) - 1 - momentum.delay
            first = tuple(mpf(0) for _ in values[0]) if momentum.starts_empty else values[0]
            return values[place] if place >= 0 else first
        beta = evaluate(momentum.beta, numbers, {}, digits=self.digits)
        weights = [mpf(1) if k == 0 else beta**k for k in range(len(values))]
        columns = zip(*reversed(values), strict=True)
        return tuple(mpmath.fsum(w * x for w, x in zip(weights, column, strict=True)) for column in columns)

    @staticmethod
    def _vector(value: list[mpf] | mpf, like: Vector) -> Vector:
        return tuple(value) if isinstance(value, list) else (value,) * len(like)

    def correction(self, theta: Vector, labels: Sequence[int], size: mpf) -> Vector:
        """``M^(n) / h`` for one order of the batches, by a central difference."""
        n, tau = len(labels) - 1, mpf(10) ** (-self.digits // 3)
        updates = [self.direction([theta] * (s + 1), labels[: s + 1], size) for s in range(n)]
        ways = [tuple(mpmath.fsum(c) for c in zip(*updates[s:], strict=True)) for s in range(n)]

        def moved(by: mpf) -> Vector:
            past = [tuple(x + by * v for x, v in zip(theta, way, strict=True)) for way in ways]
            return self.direction([*past, theta], labels, size)

        return tuple((up - down) / (2 * tau) for up, down in zip(moved(tau), moved(-tau), strict=True))

    def frozen(self, theta: Vector, labels: Sequence[int], size: mpf) -> Vector:
        """``F^(n)`` on the constant history, for one order of the batches."""
        return self.direction([theta] * len(labels), labels, size)

    def second_order(
        self,
        value: Callable[[Vector, Sequence[int], mpf], Vector],
        theta: Sequence[Number],
        n: int,
        *,
        replacement: bool,
    ) -> Vector:
        """The coefficient of t^2 in the mean of ``value`` over all orders."""
        with mpmath.workdps(self.digits):
            point, t = vector(theta), mpf(10) ** (-self.digits // 6)
            found = []
            for size in (t, mpf(0), -t):
                rows = [value(point, labels, size) for labels in self.orders(n, replacement=replacement)]
                found.append([mpmath.fsum(column) / len(rows) for column in zip(*rows, strict=True)])
            return tuple((a - 2 * b + c) / (2 * t * t) for a, b, c in zip(*found, strict=True))
