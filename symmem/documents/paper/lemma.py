"""The lemma of a paper: F^(n) and the coefficients of its correction, with short-hands for what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sympy import Expr, Symbol

from symmem.algebra.atoms import LR
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.past.steps import Steps
from symmem.documents.account import Account
from symmem.documents.paper.blocks import MOST_LINES, Numbering, defining, height, in_blocks, marked, spelled
from symmem.documents.paper.consequences import MEMORYLESS, Values, memoryless_step
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.histories import definitions, naming_histories
from symmem.documents.parts import Lemma
from symmem.documents.scheduled import front
from symmem.notation.blocks import Block
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.shorthands import VARIABLE, Shorthand, abbreviated
from symmem.notation.statement import THETA, Applied, AtStep, Indexed, Letter, N, added, power_of_h, times
from symmem.notation.writable import Writable
from symmem.records import record

F, M = AtStep(Letter("F"), N), AtStep(Letter("M"), N)
Letters = Sequence[tuple[str, str]]
"""Pairs (name, LaTeX): the letters that are free for short-hands."""


@record(frozen=True)
class Short:
    """F^(n), and M^(n) or, from order 2 on, its coefficients, with short-hands in them."""

    F: Expr
    corrections: tuple[Expr, ...]
    is_series: bool
    """Whether the corrections are the coefficients F_1, F_2, and not M itself."""
    shorthands: tuple[Shorthand, ...] = ()
    steps: Steps | None = None
    """Those whose sums S_1, S_2, ... stand in the correction, where it is written by them."""
    blocks: tuple[Block, ...] = ()
    numbering: Numbering = Numbering()


def shortened(
    account: Account,
    writer: Writer,
    letters: Letters,
    known: Mapping[Expr, str] | None = None,
    numbering: Numbering | None = None,
) -> Short:
    """The formulas of the lemma; a template that is ``known`` in the paper keeps its letter.

    ``numbering`` counts the blocks of the paper; without it there are none.
    """
    found = account.lemma
    assert found is not None, "a paper is written from an account with its PARTS"
    taken = " ".join(account.optimizer.symbols.values())
    free = [letter for letter, definition in letters if definition not in taken]
    closed = _Measured.of(
        _abbreviated(found, found.coefficients or (found.M,), free, writer, known or {}), writer
    )
    held = found.steps
    best = closed
    if closed.lines > MOST_LINES and held.histories:
        naming = naming_histories(held, writer)
        through = _abbreviated(found, (LR * held.assembled,), free, naming, known or {})
        best = min(closed, _Measured.of(replace(through, steps=held), writer), key=lambda each: each.lines)
    if best.lines > MOST_LINES and numbering is not None:
        best = _in_blocks(found, best, writer, numbering)
    return best.short


@record(frozen=True)
class _Measured:
    """A form of the lemma with the lines of its correction, which are counted once."""

    short: Short
    lines: int

    @classmethod
    def of(cls, short: Short, writer: Writer) -> _Measured:
        """A series is written as it is, and counts for nothing."""
        if short.is_series:
            return cls(short, 0)
        naming = _abbreviating(writer, short.shorthands)
        naming = naming if short.steps is None else naming_histories(short.steps, naming)
        return cls(short, height(short.corrections[0], (), naming))


def _abbreviated(
    found: Lemma, formulas: tuple[Expr, ...], free: Sequence[str], writer: Writer, known: Mapping[Expr, str]
) -> Short:
    """The formulas with short-hands for functions of a parameter."""
    short, shorthands = abbreviated(formulas, free, lambda part: writer.piece(part).width)
    table: dict[Symbol, Symbol] = {}
    renamed: list[Shorthand] = []
    fresh = iter(free)
    for each in shorthands:
        letter = known.get(each.template) or next(fresh)
        uses = tuple((parameter, Symbol(f"{letter}_{parameter.name}")) for parameter, _ in each.uses)
        table |= {old: new for (_, old), (_, new) in zip(each.uses, uses, strict=True)}
        renamed.append(Shorthand(letter, each.template, uses))
    corrections = tuple(expression.xreplace(table) for expression in short)
    return Short(found.F, corrections, bool(found.coefficients), tuple(renamed))


def _in_blocks(found: Lemma, best: _Measured, writer: Writer, numbering: Numbering) -> _Measured:
    """The correction in blocks: by its sums over the history or its past updates, where it has such a form."""
    held, through = found.steps, best.short.steps
    by_steps = held.is_written_out or through is not None
    formula = marked(LR * held.assembled, held) if by_steps else found.M
    blocks = in_blocks((formula, found.F), writer)
    short = Short(blocks.beside[0], (blocks.formula,), False, (), through, blocks.blocks, numbering)
    return min(
        best, _Measured(short, height(blocks.formula, blocks.blocks, writer)), key=lambda each: each.lines
    )


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
        series = added(*(times(power_of_h(j), place) for j, place in enumerate(places, start=1)))
        rows.append(Row(Applied(M, (THETA,)), (series,)))
        for j, (place, value) in enumerate(zip(places, found.corrections, strict=True), start=1):
            rows.append(Row(place, (value,), f"eq:{name}-F{j}"))
    defined = [
        Row(_short(shorthand, Atom(VARIABLE.name)), (shorthand.template,)) for shorthand in found.shorthands
    ]
    naming = _abbreviating(writer, found.shorthands)
    if found.steps is not None:
        defined += definitions(found.steps, writer, optimizer.schedule is not None)
        naming = naming_histories(found.steps, naming)
    whole = (found.F, *found.corrections, *(block.template for block in found.blocks))
    naming, table = spelled(whole, found.blocks, found.numbering, naming)
    defined += defining(found.blocks, found.numbering, table)
    rows = [replace(row, rights=tuple(_placed(right, table) for right in row.rights)) for row in rows]
    return {
        "formulas": naming.display(rows),
        "defines": naming.display(defined, end="") if defined else "",
        "through_sums": found.steps is not None,
    }


def _placed(right: Writable, table: Mapping[Expr, Symbol]) -> Writable:
    return right.xreplace(table) if isinstance(right, Expr) else right


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
