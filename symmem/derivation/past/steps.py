"""The steps of the proof of the first-order correction, as formulas: what :mod:`.correction` does, held still.

The paper's equation (9) for a function of momentum variables, its Appendix C; mathematics.md section 2.

frozen update    F^(n) = Phi(gamma_1 g_1, ..., gamma_L g_L)
sensitivity      dF^(n)/dtheta_{n-k} [v] = sum_l shape_l(n, k) scale_l d_l Phi[Dg_l[v]]            k = 1, ..., n
histories        S_l = sum_{k=1..n} shape_l(n, k) sum_{s=n-k..n-1} F^(s), one for each shape
assembled        M^(n) / h = sum_l scale_l d_l Phi[Dg_l[S_l]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP, momentum_symbol
from symmem.algebra.directional import derivative
from symmem.algebra.families import SLOT
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect
from symmem.derivation.gains import Gains, at_frozen_point, gains, is_steady
from symmem.derivation.past.cascade import reads_constants, written_out
from symmem.derivation.past.history import past_sum
from symmem.derivation.past.paths import WAY, Path, paths
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record


@record(frozen=True)
class History:
    """``S``, written by a symbol of its own, for the momentum variables whose kernels have one shape."""

    symbol: Symbol
    shape: Kernel
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
    is_written_out: bool = False
    """Whether a g reads values that depend on the step: the correction is the recursion of :mod:`.cascade`.

    Then ``slot(s)`` in ``assembled`` is F^(s)(theta).
    """


def steps(method: Method) -> Steps:
    """The steps for symbolic n; a variable without memory takes no part after the first."""
    now = gains(method)
    free = len(now) + 1
    direction = momentum_symbol(free)
    if method.is_cascade and not reads_constants(method):
        # Every past step has its own slopes: no weights stand in front of one derivative.
        update = None if is_steady(method) else SLOT(STEP)
        assembled = group(written_out(method, update), method.numbers)
        return Steps(now, direction, S.Zero, (), assembled, is_written_out=True)
    by_shape: dict[Kernel, list[tuple[Channel, Path]]] = {}
    for channel in method.channels:
        for path in paths(method, channel):
            if path.kernel.has_memory and channel.symbol in method.phi.free_symbols:
                by_shape.setdefault(path.kernel.shape, []).append((channel, path))
    histories = tuple(
        History(momentum_symbol(free + number), shape, past_sum(method, shape))
        for number, shape in enumerate(by_shape, start=1)
    )
    slopes = [(history, _slope(method, by_shape[history.shape])) for history in histories]
    return Steps(
        now,
        direction,
        Add(*(_weighted(slope(direction), history.shape) for history, slope in slopes)),
        histories,
        Add(*(slope(history.symbol) for history, slope in slopes)),
    )


def written(held: Steps) -> Iterator[Expr]:
    """What a proof writes: the four formulas, with the weights of the sums in k and in s."""
    yield from (*held.gains, held.sensitivity, held.assembled)
    for each in held.histories:
        yield from (each.value, each.shape.weight(STEP, AGO), each.shape.tail(STEP, PAST))


def _slope(method: Method, members: Sequence[tuple[Channel, Path]]) -> Callable[[Expr], Expr]:
    """``v -> sum of scale d_l Phi[slope[v]]`` over paths, at the frozen point; mostly the slope is that of g_l."""

    def slope(vector: Expr) -> Expr:
        parts = []
        for channel, path in members:
            scale = method.numbers.tidy(path.kernel.scale(STEP))
            moved = scale * path.slope.xreplace({WAY: vector})
            parts.append(
                at_frozen_point(derivative(method.phi, {channel.symbol: moved}), method, gains(method))
            )
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
