r"""The blocks of a long correction, as a paper writes them: u_1^(n) for vectors, varphi_1^(n) for numbers.

:mod:`symmem.notation.blocks` finds them; here they get their letters, and rows that define them before the lemma.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, Integer, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import STEP, momentum_symbol
from symmem.algebra.families import SLOT
from symmem.derivation.past.steps import Steps
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.histories import history_letter
from symmem.documents.paper.macros import BLOCKS
from symmem.notation.block_places import uses
from symmem.notation.blocks import Block, Blocks, blocked
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import THETA, Applied, AtStep, Indexed, Letter
from symmem.records import record

MOST_LINES = 6
"""A correction that takes more lines is written by the sums over the history, and in blocks."""
VECTOR, NUMBER = "u", "varphi"
_FIRST = 1000
"""Momentum variables from this one on are letters: to the algebra all of them are vectors."""


@record(frozen=True)
class Numbering:
    """How many blocks of each kind the paper has before this method."""

    vectors: int = 0
    numbers: int = 0

    def behind(self, blocks: Sequence[Block]) -> Numbering:
        """The numbering of the next method."""
        vectors = sum(block.is_vector for block in blocks)
        return Numbering(self.vectors + vectors, self.numbers + len(blocks) - vectors)

    def left(self, block: Block, step: Formula) -> Formula:
        """``u_3^(step)``; a block that depends on no step has none."""
        letter, before = (VECTOR, self.vectors) if block.is_vector else (NUMBER, self.numbers)
        base = Indexed(Letter(letter), Number(before + block.number))
        return AtStep(base, step) if block.has_step else base


def first_numbering(taken: str) -> Numbering | None:
    """From one on; None where an author's own symbols have the letters."""
    return None if any(macro.definition in taken for macro in BLOCKS) else Numbering()


def marked(formula: Expr, held: Steps) -> Expr:
    """The formula with its sums over the history marked as of step n."""
    return formula.xreplace({h.symbol: _mark(k) for k, h in enumerate(held.histories)})


def in_blocks(formulas: Sequence[Expr], writer: Writer) -> Blocks:
    """The formulas in the same blocks, for the width of the page: the first, and those beside it."""

    def size(part: Expr) -> float:
        naming, table = spelled((part,), (), Numbering(), writer)
        return naming.piece(part.xreplace(table)).width

    first, *beside = formulas
    return blocked(first, size, lambda part: height(part, (), writer) > MOST_LINES, writer.width - 7, beside)


def height(formula: Expr, blocks: Sequence[Block], writer: Writer) -> int:
    """The lines of a correction."""
    naming, table = spelled((formula,), blocks, Numbering(), writer)
    value = formula.xreplace(table)
    left = Applied(AtStep(Letter("M"), Atom(STEP.name)), (THETA,))
    return len(naming.lines(Row(left, (value,)), value, writer.width - 7))


def spelled(
    formulas: Sequence[Expr], blocks: Sequence[Block], numbering: Numbering, writer: Writer
) -> tuple[Writer, Mapping[Expr, Symbol]]:
    """A symbol for each use of a block, a past update or a sum over the history, and a writer that knows them."""
    known = {block.key: block for block in blocks}
    table: dict[Expr, Symbol] = {}
    names: dict[str, Formula] = {}
    for use in dict.fromkeys(use for formula in formulas for use in uses(formula)):
        block = Block.of(use)
        block = known.get(block.key, block)
        # A name that no parameter can have.
        number = Symbol(f"block {len(table)}")
        symbol = momentum_symbol(_FIRST + len(table)) if block.is_vector else number
        table[use] = symbol
        names[symbol.name] = _letter(use, block, numbering)
    return writer.naming(names), table


def defining(blocks: Sequence[Block], numbering: Numbering, table: Mapping[Expr, Symbol]) -> list[Row]:
    """A row for each block, at step n."""
    step = Atom(STEP.name)
    return [Row(numbering.left(block, step), (block.template.xreplace(table),)) for block in blocks]


def _letter(use: AppliedUndef, block: Block, numbering: Numbering) -> Formula:
    if use.func == SLOT:
        if len(use.args) > 1:
            return history_letter(int(use.args[1]) + 1)
        return Applied(AtStep(Letter("F"), Atom(str(use.args[0]))), (THETA,))
    return numbering.left(block, Atom(str(use.args[1])) if len(use.args) > 1 else Atom(STEP.name))


def _mark(position: int) -> Expr:
    return SLOT(STEP, Integer(position))
