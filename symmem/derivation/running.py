"""The method with its memory, as it runs: one running sum for each momentum variable that remembers.

    x_l <- A_l x_l + B_l g_l(theta, grad),      m_l = C_l(n) x_l

by the realisation of its kernel (mathematics.md section 9).  A delay of d steps keeps the last d values of g, and
``m_l = b(n) x_l`` is the oldest.  In a cascade g_l reads the sums above it as they are after this step.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, STEP, THETA, momentum_symbol
from symmem.algebra.limits import scalar_limit
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, present
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.derivation import Derivation
from symmem.derivation.gains import gains
from symmem.derivation.groups.step_scalars import StepScalar, free_name
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record


@record(frozen=True)
class RunningSum:
    """``x <- decay x + unit g`` for the momentum variable with this position; ``value`` stands for x.

    With a ``delay`` it is the value of g so many steps ago, before the start the first one, or 0 where it starts empty.
    """

    position: int
    value: Symbol
    decay: Expr
    unit: Expr
    g: Expr
    delay: int = 0
    starts_empty: bool = False


@record(frozen=True)
class RunningForm:
    """``theta <- theta - lr update``; the update is a function of theta, grad, the sums and the ``scalars``."""

    sums: tuple[RunningSum, ...]
    update: Expr
    scalars: tuple[StepScalar, ...]
    is_chain: bool = False
    """Whether a g reads sums, or a value is kept for some steps."""
    point: tuple[tuple[Expr, Expr], ...] = ()
    """The channels, by what they are as it runs."""

    def placed(self, expression: Expr) -> Expr:
        """A function of the channels as one of theta, grad, the sums and the scalars."""
        names = {momentum_symbol(each.position): each.value for each in self.sums}
        return substituted(expression, dict(self.point)).xreplace(names)


def running_form(method: Method) -> RunningForm:
    """The method as it runs."""
    field = method.numbers
    sums: list[RunningSum] = []
    scalars: list[StepScalar] = []
    point: dict[Expr, Expr] = {}
    settles = singular_limit(method, 1) is None

    def named(stem: str, at_step: Expr) -> Expr:
        if STEP not in at_step.free_symbols:
            return at_step
        limit = present(scalar_limit(at_step, field)) if settles else None
        scalars.append(StepScalar(free_name(stem, method), at_step, limit))
        return scalars[-1].name

    for position, (channel, gain) in enumerate(zip(method.channels, gains(method), strict=True), start=1):
        seen = substituted(channel.g, point)
        if not remembers(channel, method):
            point[channel.symbol] = named(f"gain{position}", gain) * seen
            continue
        each = _running_sum(position, free_name(f"x{position}", method), seen, channel.kernel)
        sums.append(each)
        point[channel.symbol] = named(f"share{position}", field.tidy(_share(channel.kernel))) * channel.symbol
    # The names of the sums come last: to the algebra they are no vectors.
    names = {momentum_symbol(each.position): each.value for each in sums}
    update = substituted(method.phi, point).xreplace(names)
    placed = tuple(replace(each, g=each.g.xreplace(names)) for each in sums)
    chain = method.is_cascade or any(each.delay for each in sums)
    return RunningForm(placed, update, tuple(scalars), chain, tuple(point.items()))


def _running_sum(position: int, value: Symbol, g: Expr, kernel: Kernel) -> RunningSum:
    real = kernel.realisation()
    return RunningSum(position, value, real.A[0][0], real.B[0], g, real.delay, real.first[0] == 0)


def _share(kernel: Kernel) -> Expr:
    """What stands before x in m."""
    return kernel.realisation().C[-1]  # of a delay the oldest value counts


def remembers(channel: Channel, method: Method) -> bool:
    """Whether the channel has a memory, and something that moves to remember."""
    moves = channel.g.has(THETA, GRAD) or bool(method.read_by(channel))
    return channel.kernel.has_memory and moves


def frozen_parameters(derivation: Derivation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters on which F^(n) depends, and those on which its limit depends."""

    def used(update: Expr) -> tuple[str, ...]:
        names = {symbol.name for symbol in update.free_symbols}
        return tuple(p.name for p in derivation.method.parameters if p.name in names)

    settled = derivation.limit
    return used(derivation.F), used(derivation.F if isinstance(settled, Missing) else settled.F)
