"""The weights of a memory over a delay by one step, by a letter: written out they are sums of maxima and minima.

w(k) = c(n, k - 1) for 1 <= k < n,      w(n) = c(n, n - 1) + c(n, n)

with the weights c of the outer memory: at step 0 the delay looks at the first value, as it does at step 1.
"""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import AGO, STEP
from symmem.derivation.steps import Steps
from symmem.documents.paper.displays import Writer
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.kernel import Kernel
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import Applied, Indexed, Letter, N
from symmem.records import record

_LETTER = "w"


@record(frozen=True)
class Composed:
    """The weight of the sum ``number``: its formula, by which it is found, and its values before k = n and there."""

    number: int
    weight: Expr
    before: Expr
    last: Expr

    @property
    def symbol(self) -> Symbol:
        """Under a name that no parameter can have."""
        return Symbol(f"weight {self.number}")

    def at(self, age: Formula) -> Formula:
        """``w_number(age)``."""
        return Applied(Indexed(Letter(_LETTER), Number(self.number)), (age,))


def composed(held: Steps, writer: Writer) -> tuple[Composed, ...]:
    """Those that have a letter; none where an author has it."""
    if any(writer.inline(Symbol(name)) == _LETTER for name in writer.spelling.names):
        return ()
    pairs = ((number, values(each.shape)) for number, each in enumerate(held.histories, start=1))
    weights = (each.shape.weight(STEP, AGO) for each in held.histories)
    return tuple(
        Composed(number, weight, *pair) for (number, pair), weight in zip(pairs, weights, strict=True) if pair
    )


def values(shape: Kernel) -> tuple[Expr, Expr] | None:
    """``w(k)`` for k < n, and ``w(n)``; None for another memory."""
    if not isinstance(shape, Composition) or not isinstance(shape.outer, Geometric):
        return None
    inner, outer = shape.inner, shape.outer
    if not isinstance(inner, Delay) or inner != inner.shape or inner.steps != 1 or inner.starts_empty:
        return None
    return outer.weight(STEP, AGO - 1), outer.weight(STEP, STEP - 1) + outer.weight(STEP, STEP)


def naming_weights(found: tuple[Composed, ...], writer: Writer) -> Writer:
    """A writer that knows their letters."""
    return writer.naming({each.symbol.name: each.at(Atom(AGO.name)) for each in found})


def put_in(formula: Expr, found: tuple[Composed, ...]) -> Expr:
    """The formula with the letters in the place of the weights."""
    return formula.xreplace({each.weight: each.symbol for each in found})


def told(found: tuple[Composed, ...], writer: Writer) -> str:
    """A sentence that says what they are."""
    parts = [
        f"${writer.inline(each.at(Atom(AGO.name)))} = {writer.inline(each.before)}$ for $k < n$ and "
        f"${writer.inline(each.at(N))} = {writer.inline(each.last)}$"
        for each in found
    ]
    return (
        ""
        if not parts
        else f"Over a delay by one step they are, without the factors $b_\\ell$, {'; '.join(parts)}."
    )
