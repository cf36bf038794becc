"""An optimizer as a function of its past: Phi in terms of sums over the past, the same names for the same sums.

    m_l = b_l(n) sum_k beta_l^k g_l(theta_{n-k}),   g_l = sum_j c_j(parameters) monomial_j
        = b_l(n) sum_j c_j X(beta_l, monomial_j),   X(beta, u) = sum_k beta^k u_{n-k}

Two optimizers whose updates are the same function of the X are the same, whatever the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sympy import Add, Dummy, Expr, Mul, S, Symbol, expand

from symmem.algebra.atoms import GRAD, STEP, THETA, momentum_symbol
from symmem.algebra.intervals import NONNEGATIVE
from symmem.algebra.ranges import bounds
from symmem.checks.zero import Normal
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Momentum


@dataclass(frozen=True)
class PastSum:
    """A sum over the past of one quantity, or its value some steps ago."""

    decay: Expr
    delay: int
    empty: bool
    quantity: Expr


@dataclass
class PastSums:
    """The sums over the past of all optimizers of one comparison, each with its symbol."""

    normal: Normal
    known: list[tuple[PastSum, Symbol]] = field(default_factory=list)

    def symbol(self, memory: PastSum) -> Symbol:
        """The symbol of an equal memory, or a new one."""
        for other, symbol in self.known:
            if self._equal(memory, other):
                return symbol
        found = Dummy("X")
        ranges = self.normal.ranges
        if bounds(memory.decay, ranges).is_nonnegative and bounds(memory.quantity, ranges).is_nonnegative:
            ranges[found] = NONNEGATIVE
        self.known.append((memory, found))
        return found

    def _equal(self, left: PastSum, right: PastSum) -> bool:
        if (left.delay, left.empty) != (right.delay, right.empty):
            return False
        zero = self.normal.is_zero
        return zero(left.decay - right.decay) and zero(left.quantity - right.quantity)


def update_of(optimizer: Optimizer, memories: PastSums, values: Mapping[Symbol, Expr]) -> Expr:
    """``rate(n) Phi`` in terms of the past, with these expressions in the place of parameters."""
    seen: dict[Symbol, Expr] = {}
    for position, variable in enumerate(optimizer.momentum, start=1):
        g = variable.g.xreplace(dict(values)).xreplace(seen)
        seen[momentum_symbol(position)] = _value(variable, g, memories, values)
    rate = S.One if optimizer.schedule is None else optimizer.schedule
    return (rate * optimizer.phi).xreplace(dict(values)).xreplace(seen)


def _value(variable: Momentum, g: Expr, memories: PastSums, values: Mapping[Symbol, Expr]) -> Expr:
    factor, decay = (part.xreplace(dict(values)) for part in (variable.b, variable.beta))
    if variable.delay == 0 and memories.normal.is_zero(decay):
        return factor * g

    def remembered(quantity: Expr) -> Expr:
        empty = variable.delay > 0 and variable.starts_empty
        return memories.symbol(PastSum(decay, variable.delay, empty, quantity))

    return factor * _linear(g, remembered, memories)


def _linear(g: Expr, remembered: Callable[[Expr], Expr], memories: PastSums) -> Expr:
    """The memory is linear: a scalar factor of a term of g stands in front of it."""
    terms = []
    for term in Add.make_args(expand(g)):
        scalars = [part for part in Mul.make_args(term) if _is_constant(part, memories)]
        rest = Mul(*(part for part in Mul.make_args(term) if not _is_constant(part, memories)))
        terms.append(Mul(*scalars) * remembered(rest))
    return Add(*terms)


def _is_constant(part: Expr, memories: PastSums) -> bool:
    """Whether a factor is the same at every step and every entry."""
    varying = {GRAD, THETA, STEP, *(symbol for _, symbol in memories.known)}
    return varying.isdisjoint(part.free_symbols)
