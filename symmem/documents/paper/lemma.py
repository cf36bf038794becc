"""The lemma of a paper: F^(n) and the coefficients of its correction, with short-hands for what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import LR
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.steps import Steps
from symmem.documents.account import Account
from symmem.documents.paper.consequences import MEMORYLESS, Values, memoryless_step
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.histories import definitions, naming_histories
from symmem.documents.parts import Lemma
from symmem.documents.scheduled import front
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.shorthands import VARIABLE, Shorthand, abbreviated
from symmem.notation.statement import THETA, Applied, AtStep, Indexed, Letter, N, added, power_of_h, times
from symmem.records import record

F, M = AtStep(Letter("F"), N), AtStep(Letter("M"), N)
MOST_LINES = 6
"""A correction that takes more lines is written by the sums over the history."""
Letters = Sequence[tuple[str, str]]
"""Pairs (name, LaTeX): the letters that are free for short-hands."""


@record(frozen=True)
class Short:
    """F^(n), and M^(n) or, from order 2 on, its coefficients, with short-hands in them."""

    F: Expr
    corrections: tuple[Expr, ...]
    is_series: bool
    """Whether the corrections are the coefficients F_1, F_2, and not M itself."""
    shorthands: tuple[Shorthand, ...]
    steps: Steps | None = None
    """Those whose sums S_1, S_2, ... stand in the correction, where it is written by them."""


def shortened(
    account: Account, writer: Writer, letters: Letters, known: Mapping[Expr, str] | None = None
) -> Short:
    """The formulas of the lemma; a template that is ``known`` in the paper keeps its letter."""
    found = account.lemma
    assert found is not None, "a paper is written from an account with its PARTS"
    taken = " ".join(account.optimizer.symbols.values())
    free = [letter for letter, definition in letters if definition not in taken]
    short, shorthands = abbreviated(
        found.coefficients or (found.M,), free, lambda part: writer.piece(part).width
    )
    by_sums = _by_sums(found, short, shorthands, writer)
    if by_sums:
        naming = naming_histories(found.steps, writer)
        short, shorthands = abbreviated(
            (LR * found.steps.assembled,), free, lambda part: naming.piece(part).width
        )
    table: dict[Symbol, Symbol] = {}
    renamed: list[Shorthand] = []
    fresh = iter(free)
    for each in shorthands:
        letter = (known or {}).get(each.template) or next(fresh)
        uses = tuple((parameter, Symbol(f"{letter}_{parameter.name}")) for parameter, _ in each.uses)
        table |= {old: new for (_, old), (_, new) in zip(each.uses, uses, strict=True)}
        renamed.append(Shorthand(letter, each.template, uses))
    corrections = tuple(expression.xreplace(table) for expression in short)
    held = found.steps if by_sums else None
    return Short(found.F, corrections, bool(found.coefficients), tuple(renamed), held)


def _by_sums(
    found: Lemma, short: tuple[Expr, ...], shorthands: tuple[Shorthand, ...], writer: Writer
) -> bool:
    """Whether M is longer than a person reads, and shorter by the sums over the history."""
    held = found.steps
    if found.coefficients or not held.histories or held.is_written_out:
        return False
    lines = _height(_abbreviating(writer, shorthands), short[0])
    return lines > MOST_LINES and _height(naming_histories(held, writer), LR * held.assembled) < lines


def _height(writer: Writer, value: Expr) -> int:
    """The lines of a correction."""
    return len(writer.lines(Row(Applied(M, (THETA,)), (value,)), value, writer.width - 7))


def lemma(found: Short, optimizer: Optimizer, writer: Writer) -> Values:
    """The displays of the lemma, and before it of the definitions of its short-hands."""
    name = optimizer.name
    rows = [
        memoryless_step(added(Applied(F, (MEMORYLESS,)), Applied(M, (MEMORYLESS,))), front(optimizer)),
        Row(Applied(F, (THETA,)), (found.F,), f"eq:{name}-update"),
    ]
    if not found.is_series:
        rows.append(Row(Applied(M, (THETA,)), found.corrections, f"eq:{name}-correction"))
    else:
        places = [coefficient(j) for j in range(1, len(found.corrections) + 1)]
        whole = added(*(times(power_of_h(j), place) for j, place in enumerate(places, start=1)))
        rows.append(Row(Applied(M, (THETA,)), (whole,)))
        for j, (place, value) in enumerate(zip(places, found.corrections, strict=True), start=1):
            rows.append(Row(place, (value,), f"eq:{name}-F{j}"))
    defined = [
        Row(_short(shorthand, Atom(VARIABLE.name)), (shorthand.template,)) for shorthand in found.shorthands
    ]
    naming = _abbreviating(writer, found.shorthands)
    if found.steps is not None:
        defined += definitions(found.steps, writer, optimizer.schedule is not None)
        naming = naming_histories(found.steps, naming)
    return {
        "formulas": naming.display(rows),
        "defines": writer.display(defined, end="") if defined else "",
        "through_sums": found.steps is not None,
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
