"""The optimizer with its memory, as one routine: what it keeps before a step, its update, what it keeps after it.

    x <- A x + B g,      m = C(n) x,      update = Phi(m_1, ..., m_L)

for every momentum variable in turn, by the realisation of its kernel (mathematics.md section 9).  A memory that starts
with the first value of g, x = first g before the step n = 0, starts with zeros here, and ``A first`` is added to B at
n = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sympy import Add, Eq, Expr, S, Symbol

from symmem.algebra.atoms import GRAD, STEP, THETA
from symmem.algebra.reals import substituted
from symmem.algebra.where import where
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import gains
from symmem.method.method import Channel, Method
from symmem.method.reading import running_method
from symmem.program.blocks import Block, Names
from symmem.program.digits.stable_sums import stabilised
from symmem.program.lowering import step_of
from symmem.program.needed import needed
from symmem.program.program import Routine


@dataclass(frozen=True)
class Running:
    """``routine`` computes the update from the vectors ``before``, and on its way the vectors ``after``."""

    routine: Routine
    before: tuple[Symbol, ...]
    after: tuple[Symbol, ...]


def running_routine(optimizer: Optimizer) -> Running:
    """The optimizer as it runs: with the functions themselves where ``[smooth]`` gives the theory others."""
    return _Runner(running_method(optimizer)).finished(lambda update: update)


def running_step(optimizer: Optimizer, added: Expr = S.Zero, given: Iterable[Symbol] = ()) -> Running:
    """The same with its step, ``theta - lr rate (update + added)``; ``given`` are vectors in what is added."""
    method = running_method(optimizer)
    rate = stabilised(method.rate_at(STEP), method.numbers)
    return _Runner(method, given).finished(lambda update: step_of(update, added, rate))


def running_value(optimizer: Optimizer, formula: Expr) -> Running:
    """A formula of the momentum variables after the step; what it does not read is left out."""
    found = _Runner(replace(running_method(optimizer), phi=formula)).finished(lambda value: value)
    *earlier, last = found.routine.statements
    return Running(Routine(needed(earlier, last), found.routine.result), found.before, found.after)


class _Runner:
    """The routine under construction: one momentum variable after the other, as a g may read those above it."""

    def __init__(self, method: Method, given: Iterable[Symbol] = ()) -> None:
        self._method = method
        self._names = Names({THETA, GRAD, *given})
        self._block = Block(self._names)
        self._point: dict[Expr, Expr] = {}
        self._kept: dict[Expr, Expr] = {}
        self._before: list[Symbol] = []
        self._after: list[Symbol] = []

    def finished(self, result_of: Callable[[Expr], Expr]) -> Running:
        """All of it; the routine ends with ``result_of`` the update."""
        method = self._method
        for channel, gain in zip(method.channels, gains(method), strict=True):
            if channel.kernel.has_memory and channel.g.has(THETA, GRAD, *self._kept):
                self._remember(channel)
            else:
                self._point[channel.symbol] = gain * substituted(channel.g, self._point)
        result = self._block.finish(result_of(self._value(method.phi)))
        return Running(Routine(self._block.statements(), result), tuple(self._before), tuple(self._after))

    def _value(self, expression: Expr) -> Expr:
        """The expression of the momentum variables by what is kept; its numbers without cancellation.

        The names of what is kept come last: to the algebra they are no vectors.
        """
        found = stabilised(substituted(expression, self._point), self._method.numbers)
        return found.xreplace(self._kept)

    def _remember(self, channel: Channel) -> None:
        """The states of the channel take in g; its momentum variable is read from them."""
        block, names, real = self._block, self._names, channel.kernel.realisation()
        g = block.entrywise(self._value(channel.g))
        shapes = [names.shape(each) for each in g.free_symbols & names.vectors if names.has_own_shape(each)]
        before = [names.fresh_vector("past") for _ in real.B]
        if shapes:  # a matrix that is not like theta, such as grad grad^T
            names.shapes |= dict.fromkeys(before, shapes[0])
        after = []
        for row, unit in zip(real.A, real.B, strict=True):
            start = Add(*(a * first for a, first in zip(row, real.first, strict=True)))
            share = unit if start == 0 else unit + start * where(Eq(STEP, 0), S.One, S.Zero)
            moved = Add(share * g, *(a * x for a, x in zip(row, before, strict=True)))
            after.append(block.vector(moved))
        read = [(self._method.numbers.tidy(c), x) for c, x in zip(real.C, after, strict=True) if c != 0]
        share, kept = read[0]
        if len(read) > 1:
            share, kept = S.One, block.vector(Add(*(c * x for c, x in read)))
        self._point[channel.symbol], self._kept[channel.symbol] = share * channel.symbol, kept
        self._before += before
        self._after += after
