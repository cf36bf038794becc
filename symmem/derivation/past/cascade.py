"""First order at step n for a cascade, in which a g reads momentum variables (mathematics.md section 9).

    delta_l(r) = sum_{j=0..r} c_l(r, j) ( D_theta g_l[D_{n-r+j}] + sum_q D_{m_q} g_l[delta_q(r-j)] ),     r <= n
    D_i = sum_{s=n-i..n-1} rate(s) F^(s),           M^(n) = h sum_l d_l Phi[delta_l(n)]

with derivatives of g_l at the frozen point of step r - j, of Phi at that of step n.  Where nothing that is read
depends on the step, the sums are those of :mod:`.paths`; else they are written out, and every past step has its own
product with the Hessian.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, S, Sum, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.directional import along, derivative
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.derivation.gains import at_frozen_point, frozen_point, frozen_update, gains
from symmem.derivation.past.history import past_sum, sum_over_past
from symmem.derivation.past.paths import WAY, paths
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method

NOW = Symbol("q0")
"""The present step, where n is that at which a kernel is asked."""


def cascade_contributions(method: Method) -> tuple[Expr, ...]:
    """``d_l Phi[delta_l(n)]`` over h, in parts."""
    if not reads_constants(method):
        return written_out(method)
    return along_paths(method, tuple(past_sum(method, shape) for shape in shapes_of_paths(method)))


def shapes_of_paths(method: Method) -> tuple[Kernel, ...]:
    """What the past is seen through on each path from theta to Phi, where nothing that is read moves."""
    return tuple(
        path.kernel.remembered.shape for channel in method.channels for path in paths(method, channel)
    )


def reads_constants(method: Method) -> bool:
    """Whether no value that a g reads depends on the step, on a constant history."""
    point = frozen_point(method, gains(method))
    read = {method.channels[place].symbol for channel in method.channels for place in method.read_by(channel)}
    return all(STEP not in point[symbol].free_symbols for symbol in read)


def along_paths(method: Method, sums: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The parts, with the sums over the past of :func:`shapes_of_paths`."""
    parts, given = [], iter(sums)
    for channel in method.channels:
        for path in paths(method, channel):
            kernel, way = path.kernel.remembered, next(given)
            if way == 0:
                continue
            scale = method.numbers.tidy(kernel.scale(STEP))
            change = derivative(method.phi, {channel.symbol: scale * path.slope})
            placed = at_frozen_point(change, method, gains(method))
            if placed != 0:
                parts.append(collect(placed.xreplace({WAY: way}), method.numbers))
    return tuple(parts)


def written_out(method: Method, update: Expr | None = None) -> tuple[Expr, ...]:
    """The sums of every past step; ``update`` stands for F^(n), whose value is put in where none is given."""
    past = _Past(method, update)
    parts = []
    for channel in method.channels:
        if channel.symbol not in method.phi.free_symbols:
            continue
        moved = past.deviation(channel, STEP, 1)
        if moved != 0:
            change = derivative(method.phi, {channel.symbol: moved})
            parts.append(substituted(change, past.point).xreplace({NOW: STEP}))
    return tuple(parts)


class _Past:
    """The deviations of one method at every step up to n, as explicit sums."""

    def __init__(self, method: Method, update: Expr | None) -> None:
        self._method = method
        self.point = frozen_point(method, gains(method))
        self._stands = update
        found = frozen_update(method, gains(method)) if update is None else update
        self._update = method.rate_at(STEP) * found

    def deviation(self, channel: Channel, step: Expr, depth: int) -> Expr:
        """``delta_l(step)``; ``depth`` counts the sums around it, whose indices are others."""
        if not self._method.read_by(channel):
            return self._together([channel], step)
        own, reads = derivative(channel.g, along(WAY)), self._alike(channel)

        def seen(r: Expr) -> Expr:
            moved = [own.xreplace({WAY: self._way(r)})]
            for first, *others in reads:
                leads = self._method.read_by(first)
                below = self.deviation(first, r, depth + 1) if leads else self._together([first, *others], r)
                moved.append(derivative(channel.g, {first.symbol: below}) if below != 0 else S.Zero)
            return self._at(Add(*moved), r)

        return channel.kernel.looked(seen, step, Symbol(f"q{depth}"))

    def _alike(self, channel: Channel) -> list[list[Channel]]:
        """What g reads: together those that it sees by their sum alone, and that take in the same vector.

        ``g = sign(m1 + m2)``, both variables of the gradient: one derivative along the sum of their deviations.
        """
        found: dict[tuple[Expr, Expr], list[Channel]] = {}
        for place in self._method.read_by(channel):
            read = self._method.channels[place]
            taken_in = read.symbol if self._method.read_by(read) else read.g
            slope = derivative(channel.g, {read.symbol: WAY})
            found.setdefault((slope, taken_in), []).append(read)
        return list(found.values())

    def _together(self, alike: Sequence[Channel], step: Expr) -> Expr:
        """The sum of the deviations of variables of one g that reads none.

        One product with the Hessian: the weighted sum of the past is taken first.
        """
        own = derivative(alike[0].g, along(WAY))
        return own.xreplace({WAY: Add(*(self._weighted(each, step) for each in alike))})

    def _at(self, expression: Expr, step: Expr) -> Expr:
        """The expression at the frozen point of that step."""
        point = {symbol: value.xreplace({STEP: step}) for symbol, value in self.point.items()}
        return collect(substituted(expression, point), self._method.numbers)

    def _way(self, step: Expr) -> Expr:
        """``sum_{s=step..n-1} rate(s) F^(s)``: from theta_n back to the iterate of that step."""
        if step == STEP:
            return S.Zero
        if STEP not in self._update.free_symbols:
            return (NOW - step) * self._update
        return Sum(self._update.xreplace({STEP: PAST}), (PAST, step, NOW - 1))

    def _weighted(self, channel: Channel, step: Expr) -> Expr:
        """``sum_r c(step, step-r) way(r) = gain(step) way(step) + sum_{s<step} tail(step, s) F^(s)``."""
        kernel = channel.kernel
        if step == STEP:
            return kernel.remembered.scale(STEP) * self._sum(kernel.remembered.shape)
        update, gain = self._update.xreplace({STEP: PAST}), kernel.gain(step)
        *spans, (tail, since, last) = kernel.spans(step, PAST)
        if (tail, last) != (
            gain,
            step - 1,
        ):  # else the way goes on: a delay has seen nothing of the last steps
            spans, since = [*spans, (tail, since, last)], step
        sums = (Sum(part * update, (PAST, first, end)) for part, first, end in spans if part != 0)
        return Add(gain * self._way(since), *sums)

    def _sum(self, shape: Kernel) -> Expr:
        """``sum_{s<n} tail(n, s) rate(s) F^(s)``."""
        if self._stands is None or not shape.has_memory:
            return past_sum(self._method, shape)
        return sum_over_past(self._update.xreplace({STEP: PAST}), shape, self._method.numbers)
