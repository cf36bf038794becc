"""The literal optimizer with memory, straight from its definition: the truth the formulas approximate.

``theta_{n+1} = theta_n - lr rate(n) F^(n)(theta_n, ..., theta_0)``, ``F^(n) = Phi(m_1, ..., m_L)``,
``m_l = b_l(n) sum_{k=0..n} beta_l^k g_l(theta_{n-k})``; n counts from 0, and 0^0 = 1.  A delay of d steps is
``m_l = b_l(n) g_l(theta_{n-d})``, before the start the first value, or 0.  g_l may read the variables above it, as they
were at the step that it looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import mpmath
from mpmath import mpf
from sympy import Expr

from symmem.declaration.optimizer import Momentum, Optimizer
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
            past: list[list[Vector]] = [[] for _ in machine.betas]
            momenta: dict[str, Vector] = {}
            for n, theta in enumerate(reversed(history)):
                momenta = machine.moments(past, vector(theta), n, last=n == len(history) - 1)
            return machine.phi(momenta)

    def frozen(self, theta: Sequence[Number], count: int, digits: int = 50) -> list[Vector]:
        """``F^(0)(theta), ..., F^(count-1)(theta)``: the directions on the history that stays at theta."""
        with mpmath.workdps(digits):
            machine, point = _Machine.of(self, digits), vector(theta)
            states, directions = machine.empty(), []
            for n in range(count):
                states, momenta = machine.remember(states, point, n)
                directions.append(machine.phi(momenta))
            return directions

    def trace(
        self, theta0: Sequence[Number], lr: Number, steps: int, digits: int = 50
    ) -> list[tuple[Vector, Vector]]:
        """``(theta_n, F^(n)(theta_n, ..., theta_0))`` for n = 0, ..., steps.

        The sums are carried along, ``sum <- beta sum + g``, so that a step costs the same at every n.
        """
        with mpmath.workdps(digits):
            machine, theta = _Machine.of(self, digits), vector(theta0)
            states, found = machine.empty(), []
            for n in range(steps + 1):
                states, momenta = machine.remember(states, theta, n)
                move = machine.phi(momenta)
                found.append((theta, move))
                rate = real(lr) * self.rate(n, digits)
                theta = tuple(x - rate * f for x, f in zip(theta, move, strict=True))
                if not max(abs(x) for x in theta) < RUNAWAY:
                    way = "put in other values of the parameters"
                    raise VerificationError(f"the run diverges at step {n} with lr = {lr}: {way}")
            return found

    def rate(self, n: int, digits: int = 50) -> mpf:
        """The factor of the learning rate at step n; 1 where there is no schedule."""
        if self.optimizer.schedule is None:
            return mpf(1)
        found: mpf = evaluate(self.optimizer.schedule, {**self.numbers, "n": n}, {}, digits=digits)
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
        layouts = {} if literal.layout is None else layouts_of(literal.optimizer, literal.layout)
        return cls(literal, numbers, tuple(betas), digits, layouts)

    @property
    def variables(self) -> list[tuple[str, Momentum, mpf]]:
        """Each momentum variable with its name and its decay."""
        declared = self.literal.optimizer.momentum
        return [
            (f"m{k}", momentum, beta)
            for k, (momentum, beta) in enumerate(zip(declared, self.betas, strict=True), start=1)
        ]

    def moments(
        self, past: Sequence[list[Vector]], theta: Vector, n: int, *, last: bool
    ) -> dict[str, Vector]:
        """``m_1, ..., m_L`` at step n from the definition: every sum over the past anew.

        ``past`` are the values of each g at the steps before, and gets those of this one; before the ``last`` step only
        what another variable reads is computed.
        """
        points = {"theta": theta, "grad": self.literal.loss.gradient(theta)}
        read = {symbol.name for _, momentum, _ in self.variables for symbol in momentum.g.free_symbols}
        momenta: dict[str, Vector] = {}
        for (name, momentum, beta), values in zip(self.variables, past, strict=True):
            values.append(self._vector(momentum.g, self.numbers, {**points, **momenta}))
            if not last and name not in read:
                continue
            if momentum.delay:
                total = _delayed(values, momentum)
            else:
                terms = [[power(beta, mpf(k)) * x for x in value] for k, value in enumerate(reversed(values))]
                total = tuple(mpmath.fsum(column) for column in zip(*terms, strict=True))
            momenta[name] = self._scaled(momentum, total, n)
        return momenta

    def empty(self) -> list[list[Vector]]:
        """Before the first step: no sum, and no value that a delay keeps."""
        return [[] for _ in self.betas]

    def remember(
        self, states: Sequence[list[Vector]], theta: Vector, n: int
    ) -> tuple[list[list[Vector]], dict[str, Vector]]:
        """The states after step n, and ``m_1, ..., m_L``.

        ``sum_{k=0..n} beta^k g_{n-k} = beta sum_{k=0..n-1} beta^k g_{n-1-k} + g_n``, also for beta = 0; a delay keeps
        its last values.
        """
        points = {"theta": theta, "grad": self.literal.loss.gradient(theta)}
        after: list[list[Vector]] = []
        momenta: dict[str, Vector] = {}
        for (name, momentum, beta), state in zip(self.variables, states, strict=True):
            value = self._vector(momentum.g, self.numbers, {**points, **momenta})
            if momentum.delay:
                kept = [*state, value] if state else [_before(value, momentum)] * momentum.delay + [value]
                after.append(kept[-momentum.delay - 1 :])
                total = after[-1][0]
            else:
                total = tuple(beta * x + y for x, y in zip(state[0], value, strict=True)) if state else value
                after.append([total])
            momenta[name] = self._scaled(momentum, total, n)
        return after, momenta

    def phi(self, momenta: Mapping[str, Vector]) -> Vector:
        """``Phi(m_1, ..., m_L)``."""
        return self._vector(self.literal.optimizer.phi, self.numbers, momenta)

    def _scaled(self, momentum: Momentum, total: Vector, n: int) -> Vector:
        factor = evaluate(momentum.b, {**self.numbers, "n": mpf(n)}, {}, digits=self.digits)
        return tuple(factor * x for x in total)

    def _vector(self, expression: Expr, numbers: Mapping[str, mpf], vectors: Mapping[str, Vector]) -> Vector:
        functions, layouts = self.literal.functions, self.layouts
        found = evaluate(expression, numbers, vectors, None, functions, layouts=layouts, digits=self.digits)
        dimension = len(next(iter(vectors.values())))
        return spread(tuple(found) if isinstance(found, list) else found, dimension)


def layouts_of(optimizer: Optimizer, layout: Layout) -> Layouts:
    """The shapes of theta and the gradient, and of every momentum variable: those of its g.

    An update that has not the shapes of theta is an error.
    """
    found: dict[str, Layout] = {"theta": layout, "grad": layout}
    for position, momentum in enumerate(optimizer.momentum, start=1):
        found[f"m{position}"] = layout_of(momentum.g, found) or layout
    update = layout_of(optimizer.phi, found) or layout
    if update != layout:
        raise VerificationError(
            f"{optimizer.name}: its update has the shapes {update}, the parameters have {layout}"
        )
    return found


def fits(optimizer: Optimizer, layout: Layout) -> bool:
    """Whether tensors of these shapes get an update of their own shapes."""
    try:
        layouts_of(optimizer, layout)
    except VerificationError:
        return False
    return True


def _delayed(values: Sequence[Vector], momentum: Momentum) -> Vector:
    """The value ``delay`` steps before the last one."""
    place = len(values) - 1 - momentum.delay
    return values[place] if place >= 0 else _before(values[0], momentum)


def _before(first: Vector, momentum: Momentum) -> Vector:
    """What a delay is before the start, where g has begun with ``first``."""
    return (mpf(0),) * len(first) if momentum.start == 0 else first
