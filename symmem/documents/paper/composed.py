"""The weights of a memory over a delay of d steps, by a letter: written out they are sums of maxima and minima.

w(k) = c(n, k - d) for d <= k < n,      w(k) = 0 for k < min(d, n),      w(n) = sum_{r = 0..min(d, n)} c(n, n - r)

with the weights c of the outer memory: up to step d the delay looks at the first value.
"""

from __future__ import annotations

from sympy import Expr, Max, Min, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.derivation.past.steps import Steps
from symmem.documents.paper.displays import Writer
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.kernel import Kernel
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import Applied, Indexed, Letter, N, difference
from symmem.records import record

_LETTER = "w"
_PAST = Atom(PAST.name)


@record(frozen=True)
class Composed:
    """The weight of the sum ``number``: its formula, by which it is found; its values from k = delay on, and at n."""

    number: int
    weight: Expr
    delay: int
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
    found = ((number, values(each.shape)) for number, each in enumerate(held.histories, start=1))
    weights = (each.shape.weight(STEP, AGO) for each in held.histories)
    return tuple(
        Composed(number, weight, *known)
        for (number, known), weight in zip(found, weights, strict=True)
        if known
    )


def values(shape: Kernel) -> tuple[int, Expr, Expr] | None:
    """The delay d, ``w(k)`` for d <= k < n, and ``w(n)`` for n > 0; None for another memory."""
    if not isinstance(shape, Composition) or not isinstance(shape.outer, Geometric):
        return None
    inner, outer = shape.inner, shape.outer
    if not isinstance(inner, Delay) or inner != inner.shape or inner.starts_empty:
        return None
    last = outer.tail(STEP, Min(inner.steps, STEP))
    if inner.steps == 1:
        last = outer.weight(STEP, STEP - 1) + outer.weight(STEP, STEP)
    return inner.steps, outer.weight(STEP, AGO - inner.steps), last


def naming_weights(found: tuple[Composed, ...], writer: Writer) -> Writer:
    """A writer that knows their letters."""
    return writer.naming({each.symbol.name: each.at(Atom(AGO.name)) for each in found})


def put_in(formula: Expr, found: tuple[Composed, ...]) -> Expr:
    """The formula with the letters in the place of the weights."""
    return formula.xreplace({each.weight: each.symbol for each in found})


def told(found: tuple[Composed, ...], writer: Writer) -> str:
    """A sentence that says what they are."""
    if not found:
        return ""
    parts = "; ".join(_told(each, writer) for each in found)
    delays = {each.delay for each in found}
    over = "by one step" if delays == {1} else "of some steps"
    return f"Over a delay {over} they are, without the factors $b_\\ell$, {parts}."


def _told(each: Composed, writer: Writer) -> str:
    letter, delay = writer.inline(each.at(Atom(AGO.name))), each.delay
    between = rf"${letter} = {writer.inline(each.before)}$ for ${delay} \leq k < n$"
    first = rf", ${letter} = 0$ for $k < \min({delay}, n)$," if delay > 1 else ""
    return f"{between}{first} and ${writer.inline(each.at(N))} = {writer.inline(each.last)}$"


def decays_of(shape: Kernel, found: tuple[Composed, ...], writer: Writer) -> list[str]:
    """What the weight of step s at step n decays like: by its letter where it has one; nothing of delays alone."""
    weight, ago = shape.weight(STEP, AGO), STEP - PAST
    named = next((each.at(difference(N, _PAST)) for each in found if each.weight == weight), None)
    if named is not None:
        return [writer.in_text(named)]
    if weight.has(Min, Max):  # seen through a delay: later, and like the powers
        return [writer.in_text(decay**ago) for decay in shape.decays]
    return [writer.in_text(shape.weight(STEP, ago))]
