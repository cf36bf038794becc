"""Rows of a display of which one is too wide: the others stay on one line each."""

from __future__ import annotations

from sympy import Symbol

import symmem
from symmem.documents.paper.displays import Row, Writer
from symmem.notation.formula import Number
from symmem.notation.statement import Applied, Indexed, Letter


def test_a_wide_left_hand_side_breaks_no_other_row() -> None:
    writer = Writer.of(symmem.load("heavyball"))
    wide = Applied(Letter("F"), tuple(Indexed(Letter("F"), Number(k)) for k in range(12)))
    short = [Row(Indexed(Letter("F"), Number(k)), (Symbol("beta"),)) for k in range(3)]
    assert writer.piece(wide).width > 9
    lines = writer.display([Row(wide, (Symbol("beta"),)), *short]).count("\\\\") + 1
    assert lines == 1 + len(short)


def test_what_does_not_fit_beside_its_left_hand_side_stands_below_it() -> None:
    writer = Writer.of(symmem.load("heavyball"), width=30)
    wide = Applied(Letter("F"), tuple(Indexed(Letter("F"), Number(k)) for k in range(12)))
    right = Applied(Letter("F"), tuple(Indexed(Letter("F"), Number(k)) for k in range(9)))
    assert writer.display([Row(wide, (right,))]).count("\\\\") == 1
