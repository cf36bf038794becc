"""Short-hands: the formula with its short-hands put back is the formula, and it is shorter."""

from __future__ import annotations

import pytest
from sympy import Rational, Symbol, symbols
from truth import FIRST, load, values_of

from symmem.derivation.orders.second_order import second_coefficient
from symmem.derivation.past.correction import finite_correction
from symmem.method.reading import method_of
from symmem.notation.latex import piece
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.shorthands import VARIABLE, abbreviated

LETTERS = ["a", "b", "c", "d", "e"]
n, x, y = symbols("n x y")


def size(expression) -> float:
    return piece(expression, LatexSpeller({}, {"gradK": ("K", "K")})).width


def put_back(expression, shorthands):
    table = {
        symbol: shorthand.template.xreplace({VARIABLE: parameter})
        for shorthand in shorthands
        for parameter, symbol in shorthand.uses
    }
    return expression.xreplace(table)


@pytest.mark.parametrize("name", FIRST)
def test_nothing_changes_its_value(name: str) -> None:
    optimizer = load(name)
    formulas = [finite_correction(method_of(optimizer)), second_coefficient(method_of(optimizer))]
    short, shorthands = abbreviated(formulas, LETTERS, size)
    numbers = {Symbol(p): value for p, value in values_of(optimizer).items()} | {n: Rational(3)}
    for before, after in zip(formulas, short, strict=True):
        difference = (put_back(after, shorthands) - before).xreplace(numbers)
        assert difference.expand() == 0
    if shorthands:
        assert sum(map(size, short)) + sum(size(s.template) for s in shorthands) < sum(map(size, formulas))


def test_adamw_has_the_kappa_of_its_lemma() -> None:
    (short,), (kappa,) = abbreviated([finite_correction(method_of(load("adamw")))], LETTERS, size)
    printed = VARIABLE / (1 - VARIABLE) - (n + 1) * VARIABLE ** (n + 1) / (1 - VARIABLE ** (n + 1))
    assert kappa.template == printed
    assert {parameter.name for parameter, _ in kappa.uses} == {"beta1", "beta2"}
    assert not short.has(n)


def test_a_factor_and_a_sign_stay_in_front() -> None:
    def kappa(z):
        return z / (1 - z) - (n + 1) * z ** (n + 1) / (1 - z ** (n + 1))

    given = [
        3 * kappa(x) * y,
        (x * x / (1 - x) - (n + 1) * x ** (n + 2) / (1 - x ** (n + 1))) * y,
        -kappa(y) + kappa(x),
    ]
    short, shorthands = abbreviated(given, ["a"], size)
    assert len(shorthands) == 1
    a_x, a_y = Symbol("a_x"), Symbol("a_y")
    assert list(short) == [3 * a_x * y, x * a_x * y, a_x - a_y]


def test_what_comes_once_keeps_its_form() -> None:
    formula = finite_correction(method_of(load("heavyball")))
    assert abbreviated([formula], LETTERS, size) == ((formula,), ())
