"""The lemma of a paper: F^(n) and the coefficients of its correction, with short-hands for what comes back."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer
from symmem.documents.paper.consequences import MEMORYLESS, Values, memoryless_step
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.macros import SHORTHANDS
from symmem.documents.parts import Lemma
from symmem.documents.scheduled import front
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.shorthands import VARIABLE, Shorthand, abbreviated
from symmem.notation.statement import THETA, Applied, AtStep, Indexed, Letter, N, added, power_of_h, times

F, M = AtStep(Letter("F"), N), AtStep(Letter("M"), N)


def lemma(found: Lemma, optimizer: Optimizer, writer: Writer) -> Values:
    """The displays of the lemma, and of the definitions of its short-hands."""
    name = optimizer.name
    taken = " ".join(optimizer.symbols.values())
    letters = [letter for letter, definition in SHORTHANDS if definition not in taken]
    long = found.coefficients or (found.M,)
    short, shorthands = abbreviated(long, letters, lambda part: writer.piece(part).width)
    rows = [
        memoryless_step(added(Applied(F, (MEMORYLESS,)), Applied(M, (MEMORYLESS,))), front(optimizer)),
        Row(Applied(F, (THETA,)), (found.F,), f"eq:{name}-update"),
    ]
    if not found.coefficients:
        rows.append(Row(Applied(M, (THETA,)), (short[0],), f"eq:{name}-correction"))
    else:
        places = [coefficient(j) for j in range(1, len(short) + 1)]
        whole = added(*(times(power_of_h(j), place) for j, place in enumerate(places, start=1)))
        rows.append(Row(Applied(M, (THETA,)), (whole,)))
        for j, (place, value) in enumerate(zip(places, short, strict=True), start=1):
            rows.append(Row(place, (value,), f"eq:{name}-F{j}"))
    definitions = [
        Row(_short(shorthand, Atom(VARIABLE.name)), (shorthand.template,)) for shorthand in shorthands
    ]
    return {
        "formulas": _abbreviating(writer, shorthands).display(rows, end="," if shorthands else "."),
        "shorthands": writer.display(definitions) if definitions else "",
    }


def coefficient(order: int) -> Formula:
    """``F_order^(n)(theta)``."""
    return Applied(AtStep(Indexed(Letter("F"), Number(order)), N), (THETA,))


def _short(shorthand: Shorthand, argument: Formula) -> Formula:
    return Applied(Indexed(Letter(shorthand.letter), N), (argument,))


def _abbreviating(writer: Writer, shorthands: tuple[Shorthand, ...]) -> Writer:
    """A writer that knows what the symbols of the short-hands are: kappa_n(beta_1)."""
    return writer.naming(
        {
            symbol.name: _short(shorthand, Atom(parameter.name))
            for shorthand in shorthands
            for parameter, symbol in shorthand.uses
        }
    )
