"""The derivatives of a cascade's update on a constant history, in what single steps saw (mathematics.md section 7).

Let the gradient of step s be ``grad + e [leaf, s] + d noise_s``, where the noise of a :data:`Direction` is 1 at one
step, or at all.  Every momentum variable at every step then has the derivatives

    f_e, f_d, f_dd, f_ed, f_edd        at e = d = 0,

by the chain rule, entry by entry, step after step; each has its own frozen point.  LaProp: ``m2`` at step 1 has in the
gradient of step 0 a slope by ``grad/sqrt(m1)`` of step 0, and by m1 as it is at step 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from itertools import product

from sympy import Add, Expr, Integer, Mul, S, Symbol

from symmem.algebra.atoms import GRAD
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.method.method import Method
from symmem.records import record
from symmem.work import checkpoint

Direction = int | None
"""The step that has noise; None: all have the same."""
Leaf = tuple[Symbol, int]
"""The gradient or the iterate of a step."""
E, D, DD, ED, EDD = "e", "d", "dd", "ed", "edd"
_SPLIT: dict[str, tuple[tuple[int, tuple[str, ...]], ...]] = {
    E: ((1, (E,)),),
    D: ((1, (D,)),),
    DD: ((1, (DD,)), (1, (D, D))),
    ED: ((1, (ED,)), (1, (E, D))),
    EDD: ((1, (EDD,)), (1, (E, DD)), (2, (ED, D)), (1, (E, D, D))),
}
"""The chain rule: a derivative of a function is a sum over products of those of its inputs, so many times each."""


class UpdateJets:
    """The derivatives of one method, each found once."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._found: dict[tuple[object, ...], Expr] = {}

    def frozen(self, step: int) -> Expr:
        """``F^(step)``."""
        return self._slope(self._method.phi, (), step)

    def update(self, which: str, step: int, direction: Direction, leaf: Leaf | None = None) -> Expr:
        """A derivative of ``F^(step)``."""
        return self._collected(self._chain(which, self._method.phi, _Seen(step, direction, leaf)))

    def _variable(self, which: str, place: int, seen: _Seen) -> Expr:
        """Of a momentum variable: its weights times what its g has, at every step up to this."""

        def make() -> Expr:
            g = self._method.channels[place].g
            return self._remembered(place, seen.step, lambda s: self._chain(which, g, replace(seen, step=s)))

        return self._once((which, place, seen), make)

    def _chain(self, which: str, function: Expr, seen: _Seen) -> Expr:
        """Of a function of what stands at a step."""
        terms = []
        for count, parts in _SPLIT[which]:
            for choice in product(*(self._moving(part, function, seen) for part in parts)):
                slope = self._slope(function, tuple(symbol for symbol, _ in choice), seen.step)
                if slope != 0:
                    terms.append(count * Mul(slope, *(rate for _, rate in choice)))
        return Add(*terms)

    def _moving(self, which: str, function: Expr, seen: _Seen) -> list[tuple[Symbol, Expr]]:
        """The inputs of the function whose derivative is not 0."""
        inputs = function.free_symbols
        found = [(symbol, S.One) for symbol in seen.moved(which) if symbol in inputs]
        for place, channel in enumerate(self._method.channels):
            rate = self._variable(which, place, seen) if channel.symbol in inputs else S.Zero
            if rate != 0:
                found.append((channel.symbol, rate))
        return found

    def _slope(self, function: Expr, symbols: tuple[Symbol, ...], step: int) -> Expr:
        """A partial derivative of a function, at the frozen point of a step."""
        ordered = tuple(sorted(symbols, key=str))

        def make() -> Expr:
            slope = reduce(slope_in, ordered, function)
            return self._collected(substituted(slope, self._point(step))) if slope != 0 else S.Zero

        return self._once((function, ordered, step), make)

    def _point(self, step: int) -> dict[Expr, Expr]:
        """Every momentum variable on the constant history."""
        return {
            channel.symbol: self._frozen_variable(place, step)
            for place, channel in enumerate(self._method.channels)
        }

    def _frozen_variable(self, place: int, step: int) -> Expr:
        return self._once(("value", place, step), partial(self._value, place, step))

    def _value(self, place: int, step: int) -> Expr:
        channel = self._method.channels[place]
        read = self._method.read_by(channel)

        def seen(s: int) -> Expr:
            values = {self._method.channels[q].symbol: self._frozen_variable(q, s) for q in read}
            return substituted(channel.g, values)

        return self._remembered(place, step, seen)

    def _remembered(self, place: int, step: int, value: Callable[[int], Expr]) -> Expr:
        return self._collected(Add(*(self._weight(place, step, s) * value(s) for s in range(step + 1))))

    def _weight(self, place: int, step: int, s: int) -> Expr:
        kernel = self._method.channels[place].kernel
        return self._once(("weight", place, step, s), lambda: kernel.weight(Integer(step), Integer(step - s)))

    def _collected(self, expression: Expr) -> Expr:
        return collect(expression, self._method.numbers) if expression != 0 else S.Zero

    def _once(self, key: tuple[object, ...], make: Callable[[], Expr]) -> Expr:
        if key not in self._found:
            checkpoint("the noise of a cascade")
            self._found[key] = make()
        return self._found[key]


@record(frozen=True)
class _Seen:
    """The step at which a derivative is asked for, and what moves."""

    step: int
    direction: Direction
    leaf: Leaf | None

    def moved(self, which: str) -> tuple[Symbol, ...]:
        """The leaf, or the gradient that noise moves, where it is of this step."""
        if which == E and self.leaf is not None and self.leaf[1] == self.step:
            return (self.leaf[0],)
        return (GRAD,) if which == D and self.direction in (None, self.step) else ()
