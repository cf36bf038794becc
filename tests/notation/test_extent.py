r"""Pieces of LaTeX: text and extent are put together in one step, and brackets ask the extent alone."""

from __future__ import annotations

import pytest

from symmem.notation.declared_latex import declared
from symmem.notation.formula import Atom, BigSum, Formula, Fraction, Number, Power, Root, Sum, Term
from symmem.notation.latex_printer import LatexPrinter
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.piece import above, below, fraction, number, root, row, scripted, symbol
from symmem.notation.statement import Applied, Bracketed, Letter, times

X, ONE = symbol("x", 0.5), number(1)
_A, _B = Atom("a"), Atom("b")
_SUM = Sum((Term(False, _A), Term(True, _B)))


def test_scripts_stand_above_each_other() -> None:
    wide, narrow = above(symbol("nnn", 3.0)), below(ONE)
    both = scripted(scripted(X, narrow), wide)
    assert both.text == "x_{1}^{nnn}"
    assert both.width == scripted(X, wide).width > X.width
    assert both.extent.raised
    assert not scripted(X, narrow).extent.raised


def test_a_row_is_as_wide_as_its_parts_and_as_high_as_the_highest() -> None:
    over = fraction(X, ONE, 0)
    together = row(X, over, ONE)
    assert together.width == pytest.approx(X.width + over.width + ONE.width)
    assert together.extent.height == over.extent.height > X.extent.height
    assert together.extent.tall
    assert not row(X, ONE).extent.tall


def test_a_fraction_inside_a_fraction_is_small() -> None:
    assert fraction(X, ONE, 1).width < fraction(X, ONE, 0).width
    assert fraction(X, ONE, 1).extent.height < fraction(X, ONE, 0).extent.height
    assert root(X).width > X.width


def test_a_declared_symbol_is_a_piece_as_ours_are() -> None:
    r"""What is read from `\frac{1}{1}` and what is built for it are of one extent."""
    built = fraction(ONE, ONE, 0)
    assert declared(built.text, 0) == built
    assert declared("x", 2).width == declared("x", 0).width
    assert declared("a + b", 2).width < declared("a + b", 0).width
    assert declared(r"\hat{x}^{2}", 0).extent.raised
    assert declared(r"\hat{x}_{2}", 0).extent.script > 0


@pytest.mark.parametrize(
    ("body", "growing", "fixed"),
    [
        (_A, "[a]", "[a]"),
        (Applied(Letter("P"), (_A,)), r"\bigl[P(a)\bigr]", r"\bigl[P(a)\bigr]"),
        (Fraction(_A, _B), r"\left[ \frac{a}{b} \right]", r"\biggl[\frac{a}{b}\biggr]"),
        (Power(_SUM, Number(2)), r"\bigl[(a - b)^{2}\bigr]", r"\bigl[(a - b)^{2}\bigr]"),
        (
            times(_A, Bracketed(times(_A, _SUM))),
            r"\bigl[a \bigl[a (a - b)\bigr]\bigr]",
            r"\Bigl[a \bigl[a (a - b)\bigr]\Bigr]",
        ),
        (Root(_SUM), r"[\sqrt{a - b}]", r"[\sqrt{a - b}]"),
        (
            BigSum(_A, Number(1), _B, _A),
            r"\left[ \sum_{a = 1}^{b} a \right]",
            r"\biggl[\sum_{a = 1}^{b} a\biggr]",
        ),
    ],
)
def test_brackets_are_as_large_as_what_they_enclose(body: Formula, growing: str, fixed: str) -> None:
    speller = LatexSpeller({}, {})
    assert LatexPrinter(speller).line(Bracketed(body)).text == growing
    assert LatexPrinter(speller, fixed=True).line(Bracketed(body)).text == fixed


def test_a_name_may_stand_for_a_formula_in_which_it_is_itself() -> None:
    speller = LatexSpeller({"a": Applied(Letter("P"), (_A,))}, {})
    assert LatexPrinter(speller).line(Power(_A, Number(2))).text == "P(a)^{2}"
