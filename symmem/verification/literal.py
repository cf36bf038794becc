"""The literal optimizer with memory, straight from its definition: the truth the formulas approximate.

``theta_{n+1} = theta_n - lr F^(n)(theta_n, ..., theta_0)``, ``F^(n) = Phi(m_1, ..., m_L)``,
``m_l = b_l(n) sum_{k=0..n} beta_l^k g_l(theta_{n-k})``; n counts from 0, and 0^0 = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import mpmath
from mpmath import mpf
from sympy import Expr

from symmem.declaration.optimizer import Optimizer
from symmem.verification.arithmetic import power, spread
from symmem.verification.evaluation import VectorMap, evaluate
from symmem.verification.losses import Loss
from symmem.verification.tensors import Layout, Layouts, layout_of
from symmem.verification.vectors import Number, Vector, VerificationError, real, vector

RUNAWAY = 10**9
"""An iterate this large ends the run: beyond it an exponential in the loss would take all memory."""


@dataclass(frozen=True)
class Literal:
    """An optimizer with numbers for its parameters (the declared defaults where ``values`` has none),
    a loss, and a callable ``f(x, *directions)`` for each opaque function that it declares."""

    optimizer: Optimizer
    values: Mapping[str, Number]
    loss: Loss
    functions: Mapping[str, VectorMap] = field(default_factory=dict)
    layout: Layout | None = None
    """The shapes of the parameter tensors that theta holds one after another; None: it is one tensor."""

    def __post_init__(self) -> None:
        parameters = {parameter.name for parameter in self.optimizer.parameters}
        unknown = sorted(set(self.values) - parameters)
        if unknown:
            raise VerificationError(f"{self.optimizer.name} has no parameter {', '.join(unknown)}")
        missing = [f.name for f in self.optimizer.functions if f.name not in self.functions]
        if missing:
            raise VerificationError(f"{self.optimizer.name} needs a callable for {', '.join(missing)}")

    @property
    def numbers(self) -> dict[str, Number]:
        """All parameters by name, as given: they are rounded where they are used."""
        return {p.name: self.values.get(p.name, p.default) for p in self.optimizer.parameters}

    def direction(self, history: Sequence[Sequence[Number]], digits: int = 50) -> Vector:
        """``F^(n)(history)``, the history newest first: (theta_n, ..., theta_0).  Term by term, O(n)."""
        with mpmath.workdps(digits):
            machine = _Machine.of(self, digits)
            seen = [machine.seen(vector(theta)) for theta in history]
            sums = []
            for position, beta in enumerate(machine.betas):
                terms = [[power(beta, mpf(k)) * x for x in point[position]] for k, point in enumerate(seen)]
                sums.append(tuple(mpmath.fsum(column) for column in zip(*terms, strict=True)))
            return machine.phi(sums, len(seen) - 1)

    def frozen(self, theta: Sequence[Number], count: int, digits: int = 50) -> list[Vector]:
        """``F^(0)(theta), ..., F^(count-1)(theta)``: the directions on the history that stays at theta."""
        with mpmath.workdps(digits):
            machine = _Machine.of(self, digits)
            seen = machine.seen(vector(theta))
            sums, directions = machine.empty(len(theta)), []
            for n in range(count):
                sums = machine.remember(sums, seen)
                directions.append(machine.phi(sums, n))
            return directions

    def trace(
        self, theta0: Sequence[Number], lr: Number, steps: int, digits: int = 50
    ) -> list[tuple[Vector, Vector]]:
        """``(theta_n, F^(n)(theta_n, ..., theta_0))`` for n = 0, ..., steps.

        The sums are carried along, ``sum <- beta sum + g``, so that a step costs the same at every n.
        """
        with mpmath.workdps(digits):
            machine, theta, rate = _Machine.of(self, digits), vector(theta0), real(lr)
            sums, found = machine.empty(len(theta)), []
            for n in range(steps + 1):
                sums = machine.remember(sums, machine.seen(theta))
                move = machine.phi(sums, n)
                found.append((theta, move))
                theta = tuple(x - rate * f for x, f in zip(theta, move, strict=True))
                if not max(abs(x) for x in theta) < RUNAWAY:
                    raise VerificationError(f"the run diverges at step {n}: take a smaller lr than {lr}")
            return found

    def run(self, theta0: Sequence[Number], lr: Number, steps: int, digits: int = 50) -> list[Vector]:
        """The iterates theta_0, ..., theta_steps."""
        return [theta for theta, _ in self.trace(theta0, lr, steps, digits)]


@dataclass(frozen=True)
class _Machine:
    """A literal optimizer with its parameters rounded once, at the working precision."""

    literal: Literal
    numbers: Mapping[str, mpf]
    betas: tuple[mpf, ...]
    digits: int
    layouts: Layouts

    @classmethod
    def of(cls, literal: Literal, digits: int) -> _Machine:
        numbers = {name: real(number) for name, number in literal.numbers.items()}
        betas = [
            evaluate(momentum.beta, numbers, {}, digits=digits) for momentum in literal.optimizer.momentum
        ]
        return cls(literal, numbers, tuple(betas), digits, _layouts(literal))

    def seen(self, theta: Vector) -> list[Vector]:
        """``g_l(theta)`` for every momentum variable."""
        points = {"theta": theta, "grad": self.literal.loss.gradient(theta)}
        return [
            self._vector(momentum.g, self.numbers, points) for momentum in self.literal.optimizer.momentum
        ]

    def empty(self, dimension: int) -> list[Vector]:
        """Zeros: of the size of theta, but for a variable that is a matrix of another shape."""
        sizes = [self.layouts.get(f"m{k}") for k in range(1, len(self.betas) + 1)]
        return [(mpf(0),) * (dimension if size is None else sum(map(prod, size))) for size in sizes]

    def remember(self, sums: Sequence[Vector], seen: Sequence[Vector]) -> list[Vector]:
        """``sum_{k=0..n} beta^k g_{n-k} = beta sum_{k=0..n-1} beta^k g_{n-1-k} + g_n``, also for beta = 0."""
        return [
            tuple(beta * old + new for old, new in zip(past, now, strict=True))
            for beta, past, now in zip(self.betas, sums, seen, strict=True)
        ]

    def phi(self, sums: Sequence[Vector], n: int) -> Vector:
        """``Phi(b_1(n) sum_1, ..., b_L(n) sum_L)``."""
        momenta, numbers = {}, {**self.numbers, "n": mpf(n)}
        for position, (momentum, total) in enumerate(
            zip(self.literal.optimizer.momentum, sums, strict=True), start=1
        ):
            factor = evaluate(momentum.b, numbers, {}, digits=self.digits)
            momenta[f"m{position}"] = tuple(factor * x for x in total)
        return self._vector(self.literal.optimizer.phi, self.numbers, momenta)

    def _vector(self, expression: Expr, numbers: Mapping[str, mpf], vectors: Mapping[str, Vector]) -> Vector:
        functions, layouts = self.literal.functions, self.layouts
        found = evaluate(expression, numbers, vectors, None, functions, layouts=layouts, digits=self.digits)
        dimension = len(next(iter(vectors.values())))
        return spread(tuple(found) if isinstance(found, list) else found, dimension)


def _layouts(literal: Literal) -> Layouts:
    """The shapes of theta and the gradient, and of every momentum variable: those of its g."""
    if literal.layout is None:
        return {}
    found: dict[str, Layout] = {"theta": literal.layout, "grad": literal.layout}
    for position, momentum in enumerate(literal.optimizer.momentum, start=1):
        found[f"m{position}"] = layout_of(momentum.g, found) or literal.layout
    return found
