"""What follows from a lemma, with letters for what its long formulas have in common.

F_1, the straight line, the terms that are no gradient, G_1 and d_1 share their blocks: a block is defined where it is
first read, has one letter in the whole section, and is numbered behind those of the lemma (:mod:`.blocks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum

from sympy import Expr

from symmem.derivation.loss.verdicts import Obstruction
from symmem.documents.account import Account
from symmem.documents.paper.blocks import MOST_LINES, Numbering, defining, height, in_blocks, spelled
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.parts import Limit, ModifiedEquation, StartShift
from symmem.documents.straight_line import straight_section
from symmem.notation.block_places import uses
from symmem.notation.blocks import Block, Key, key_of
from symmem.notation.writable import Writable
from symmem.records import record


class Place(Enum):
    """Where long formulas stand, in the order of the section."""

    LIMIT = "limit"
    STRAIGHT = "straight"
    LOSS = "loss"
    FLOW = "flow"
    START = "start"
    NOISE = "noise"

    def cited(self, name: str) -> str:
        """In the section of a method; what defines a block for a later place is one of the first four."""
        word, kind = ("Remark", "rem") if self is Place.STRAIGHT else ("Corollary", "cor")
        word = "Remark" if self is Place.LOSS else word
        return rf"{word}~\ref{{{kind}:{name}-{self.value}}}"


Formulas = Mapping[Place, Sequence[Expr]]


@record(frozen=True)
class Settled:
    """The long formulas in their blocks, and the blocks that each place reads."""

    written: Mapping[Expr, Expr] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    read: Mapping[Place, frozenset[Key]] = field(default_factory=dict)
    numbering: Numbering = Numbering()

    @property
    def behind(self) -> Numbering:
        """The numbering of what comes next."""
        return self.numbering.behind(self.blocks)

    def home(self, key: Key) -> Place:
        """The place that defines a block: the first that reads it."""
        return next(place for place in Place if key in self.read.get(place, ()))

    def values(self, place: Place, rows: Sequence[Row], name: str, writer: Writer) -> dict[str, object]:
        """The rows, the definitions of the blocks that are new in them, and where the others are found."""
        homes = {self.home(key) for key in self.read.get(place, ())} - {place}
        return {
            "defines": self.definitions(place, (), writer),
            "reads": " and ".join(each.cited(name) for each in Place if each in homes),
            "display": self.display(rows, writer),
        }

    def definitions(self, place: Place, before: Sequence[Row], writer: Writer) -> str:
        """A row for each new block, behind the rows of what it reads; empty where no block is new."""
        new = [block for block in self.blocks if self.home(block.key) is place]
        if not new:
            return ""
        naming, table = spelled([block.template for block in new], self.blocks, self.numbering, writer)
        return naming.display([*before, *defining(new, self.numbering, table)])

    def display(self, rows: Sequence[Row], writer: Writer) -> str:
        """The rows, with blocks where they are long."""
        found = [self.written[right] for row in rows for right in row.rights if right in self.written]
        naming, table = spelled(found, self.blocks, self.numbering, writer)

        def placed(right: Writable) -> Writable:
            return self.written[right].xreplace(table) if right in self.written else right

        return naming.display([replace(row, rights=tuple(map(placed, row.rights))) for row in rows])


def settled(account: Account, writer: Writer, numbering: Numbering | None) -> Settled:
    """What follows from the lemma; without a numbering there are no blocks."""
    return in_places(_formulas(account), writer, numbering)


def settled_noise(account: Account, writer: Writer, numbering: Numbering | None) -> Settled:
    """What mini-batches add."""
    found, later = account.noise, account.settled_noise
    formulas = [] if found is None else [found.frozen, found.memory]
    formulas += [] if later is None else [later.memory]
    return in_places({Place.NOISE: formulas}, writer, numbering)


def in_places(formulas: Formulas, writer: Writer, numbering: Numbering | None) -> Settled:
    """The formulas that are longer than a person reads, all in the same blocks."""
    if numbering is None:
        return Settled()
    long = [
        each for place in Place for each in formulas.get(place, ()) if height(each, (), writer) > MOST_LINES
    ]
    long = list(dict.fromkeys(long))
    if not long:
        return Settled(numbering=numbering)
    found = in_blocks(long, writer)
    written = dict(zip(long, (found.formula, *found.beside), strict=True))
    read = {
        place: frozenset().union(*(_reads(written[each], found.blocks) for each in values if each in written))
        for place, values in formulas.items()
    }
    return Settled(written, found.blocks, read, numbering)


def _reads(formula: Expr, blocks: Sequence[Block]) -> frozenset[Key]:
    """The blocks of a formula, and those that they read."""
    templates = {block.key: block.template for block in blocks}
    own = {key_of(use) for use in uses(formula)}
    return frozenset(own).union(*(_reads(templates[key], blocks) for key in own))


def _formulas(account: Account) -> Formulas:
    """By their places, as they are displayed there."""
    limit, line, equation = account.limit, straight_section(account), account.modified_equation
    return {
        Place.LIMIT: limit.coefficients if isinstance(limit, Limit) else (),
        Place.STRAIGHT: () if line is None else [each.value for each in line.equations],
        Place.LOSS: account.modified_loss.terms if isinstance(account.modified_loss, Obstruction) else (),
        Place.FLOW: equation.coefficients if isinstance(equation, ModifiedEquation) else (),
        Place.START: account.start.shifts if isinstance(account.start, StartShift) else (),
    }
