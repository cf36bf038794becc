"""The weights of a memory over delays of d steps, by a letter: written out they are sums of maxima and minima.

w(k) = c(k - d) for d <= k < n,      w(k) = 0 for k < min(d, n),      w(n) = gain(n) - sum_{j < n - d} c(j)

with the weights c of the memory without its delays: up to step d a delay looks at the first value, which has the rest.
"""

from __future__ import annotations

from functools import reduce

from sympy import Expr, Max, Min, Sum, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import write
from symmem.derivation.past.steps import Steps
from symmem.documents.paper.displays import Row, Writer
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
    if not isinstance(shape, Composition):
        return None
    delays = [each for each in shape.factors if isinstance(each, Delay)]
    others: list[Kernel] = [each for each in shape.factors if isinstance(each, Geometric)]
    known = len(delays) + len(others) == len(shape.factors) and delays and others
    if not known or any(each != each.shape or each.starts_empty for each in delays):
        return None
    rest = reduce(Composition, others)
    before, steps = rest.weight(STEP, AGO), sum(each.steps for each in delays)
    last = _last(shape, rest, steps)
    if last is None or before.has(Sum) or STEP in before.free_symbols:
        return None
    return steps, before.xreplace({AGO: AGO - steps}), last


def _last(shape: Composition, rest: Kernel, delay: int) -> Expr | None:
    """What the weights of the first ``N = max(0, n - delay)`` ages leave of the gain; None where that is not closed."""
    seen = Max(0, STEP - delay)
    left = shape.gain(STEP).xreplace({seen: PAST}) - rest.gain(PAST - 1)
    if left.has(Max, Min, Sum):
        return None
    if delay == 1:  # n is N + 1
        left = left.xreplace({STEP: PAST + 1})
    field = exponential_field([left], (STEP, PAST))
    element = field.read(left)
    return (
        None if element is None else write(field, element).xreplace({PAST: STEP - 1 if delay == 1 else seen})
    )


def naming_weights(found: tuple[Composed, ...], writer: Writer) -> Writer:
    """A writer that knows their letters."""
    return writer.naming({each.symbol.name: each.at(Atom(AGO.name)) for each in found})


def put_in(formula: Expr, found: tuple[Composed, ...]) -> Expr:
    """The formula with the letters in the place of the weights."""
    return formula.xreplace({each.weight: each.symbol for each in found})


def told(found: tuple[Composed, ...], writer: Writer) -> str:
    """A sentence that says what they are, with a display."""
    if not found:
        return ""
    rows = [row for each in found for row in _rows(each)]
    where = ", ".join(_where(delay, found, writer) for delay in sorted({each.delay for each in found}))
    words = rf"Over delays they are, without the factor $b_\ell^{{(n + 1)}}$ of $c_\ell$, {where},"
    return f"{words}\n{writer.display(rows)}"


def _rows(each: Composed) -> tuple[Row, Row]:
    return Row(each.at(Atom(AGO.name)), (each.before,)), Row(each.at(N), (each.last,))


def _where(delay: int, found: tuple[Composed, ...], writer: Writer) -> str:
    """The ages of which the first row speaks, of those that are over so many steps."""
    letters = [writer.inline(each.at(Atom(AGO.name))) for each in found if each.delay == delay]
    before = rf" and 0 for $k < \min({delay}, n)$" if delay > 1 else ""
    return rf"{' and '.join(f'${letter}$' for letter in letters)} for ${delay} \leq k < n${before}"


def decays_of(shape: Kernel, found: tuple[Composed, ...], writer: Writer) -> list[str]:
    """What the weight of step s at step n decays like: by its letter where it has one; nothing of delays alone."""
    weight, ago = shape.weight(STEP, AGO), STEP - PAST
    named = next((each.at(difference(N, _PAST)) for each in found if each.weight == weight), None)
    if named is not None:
        return [writer.in_text(named)]
    if weight.has(Min, Max):  # seen through a delay: later, and like the powers
        return [writer.in_text(decay**ago) for decay in shape.decays]
    return [writer.in_text(shape.weight(STEP, ago))]
