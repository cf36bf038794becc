"""The steps of the proof of the first-order correction, as formulas: what :mod:`.correction` does, held still.

The paper's equation (9) for a function of momentum variables, its Appendix C; mathematics.md section 2.

frozen update    F^(n) = Phi(gamma_1 g_1, ..., gamma_L g_L)
sensitivity      dF^(n)/dtheta_{n-k} [v] = sum_l shape_l(n, k) scale_l d_l Phi[Dg_l[v]]            k = 1, ..., n
histories        S_l = sum_{k=1..n} shape_l(n, k) sum_{s=n-k..n-1} F^(s), one for each shape
assembled        M^(n) / h = sum_l scale_l d_l Phi[Dg_l[S_l]]
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import AGO, STEP, momentum_symbol
from symmem.algebra.passes import collect
from symmem.derivation.correction import contributions
from symmem.derivation.gains import Gains, gains
from symmem.derivation.history import past_sum
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class History:
    """``S``, written by a symbol of its own, for the momentum variables whose kernels have one shape."""

    symbol: Symbol
    shape: Kernel
    members: tuple[int, ...]
    """The positions of the momentum variables, from 1."""
    value: Expr
    """The sum over the past: closed, or with the finite sums that stay."""


@record(frozen=True)
class Steps:
    """The four formulas of the proof, each ready to be displayed."""

    gains: Gains
    direction: Symbol
    """The symbol of the vector v; to the algebra it is a constant vector."""
    sensitivity: Expr
    histories: tuple[History, ...]
    assembled: Expr


def steps(method: Method) -> Steps:
    """The steps for symbolic n; a variable without memory takes no part after the first."""
    now = gains(method)
    free = len(now) + 1
    direction = momentum_symbol(free)
    by_shape: dict[Kernel, list[int]] = {}
    for position, channel in enumerate(method.channels, start=1):
        if channel.kernel.has_memory:
            by_shape.setdefault(channel.kernel.shape, []).append(position)
    histories = tuple(
        History(momentum_symbol(free + number), shape, tuple(members), past_sum(method, shape))
        for number, (shape, members) in enumerate(by_shape.items(), start=1)
    )
    slopes = [(history, _slope(method, history.members)) for history in histories]
    return Steps(
        now,
        direction,
        Add(*(_weighted(slope(direction), history.shape) for history, slope in slopes)),
        histories,
        Add(*(slope(history.symbol) for history, slope in slopes)),
    )


def _slope(method: Method, members: tuple[int, ...]) -> Callable[[Expr], Expr]:
    """``v -> sum of scale_l d_l Phi[Dg_l[v]]`` over the members, at the frozen point."""

    def slope(vector: Expr) -> Expr:
        moved = [vector if position in members else S.Zero for position in range(1, len(method.channels) + 1)]
        parts = contributions(method, tuple(moved))
        return collect(Add(*parts), method.numbers)

    return slope


def _weighted(expression: Expr, shape: Kernel) -> Expr:
    """``shape(n, k) expression``; equal bases join: ``x^k x^(-1) = x^(k-1)``, as the paper writes Lion."""
    exponents: dict[Expr, Expr] = {}
    rest = []
    for factor in Mul.make_args(shape.weight(STEP, AGO)):
        base, power = factor.as_base_exp()
        exponents[base] = exponents.get(base, S.Zero) + power
    for factor in Mul.make_args(expression):
        base, power = factor.as_base_exp()
        if base in exponents:
            exponents[base] = exponents[base] + power
        else:
            rest.append(factor)
    return Mul(*(base**power for base, power in exponents.items()), *rest)
