"""Pairs of fractions of one root become one fraction, and the value stays."""

from __future__ import annotations

import pytest
from sympy import Abs, Add, Expr, Function, Mul, Pow, Rational, Symbol, expand, symbols
from truth import FIRST, load, values_of

import symmem
from symmem.algebra.atoms import GRAD, LR
from symmem.notation.merging import merged
from symmem.notation.writable import formula_of

c, d, eps, x, y = symbols("c d eps x y")
D2L = symmem.D2L
q = GRAD**2 + eps


def half(k: int) -> Rational:
    return Rational(k, 2)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (eps * q ** half(-3) - q ** half(-1), -(GRAD**2) * q ** half(-3)),
        (c * q ** half(-1) - c * eps * q ** half(-3), c * GRAD**2 * q ** half(-3)),
        (1 / (Abs(GRAD) + eps) - eps / (Abs(GRAD) + eps) ** 2, Abs(GRAD) / (Abs(GRAD) + eps) ** 2),
        (q ** half(-1) - GRAD**2 * q ** half(-3), eps * q ** half(-3)),
        (
            d * (c * GRAD**2 + eps) ** half(-1) - d * eps * (c * GRAD**2 + eps) ** half(-3) + x,
            d * c * GRAD**2 * (c * GRAD**2 + eps) ** half(-3) + x,
        ),
        ((x + y + eps) ** half(-1) - eps * (x + y + eps) ** half(-3), (x + y) * (x + y + eps) ** half(-3)),
        (
            LR * (q ** half(-1) - eps * q ** half(-3)) * D2L(GRAD),
            LR * GRAD**2 * q ** half(-3) * D2L(GRAD),
        ),
    ],
)
def test_a_pair_is_one_fraction(pair: Expr, expected: Expr) -> None:
    assert expand(merged(pair) - expected) == 0
    assert len(Add.make_args(merged(pair))) == len(Add.make_args(expected))


@pytest.mark.parametrize(
    "alone",
    [
        c * q ** half(-1) - d * eps * q ** half(-3),
        q ** half(-1) + eps * q ** half(-3),
        q ** half(-1) - eps * q ** half(-5),
        q ** half(1) - eps * q ** half(-1),
        1 / c - eps / c**2,
    ],
)
def test_what_is_no_pair_stays(alone: Expr) -> None:
    assert merged(alone) == alone


def test_a_formula_inside_a_function_or_a_sum_is_merged_too() -> None:
    inside = q ** half(-1) - eps * q ** half(-3)
    assert merged(D2L(inside)) == D2L(merged(inside))
    assert merged(Pow(inside, 2)) == Pow(merged(inside), 2)


@pytest.mark.parametrize("name", FIRST)
def test_no_value_changes(name: str) -> None:
    optimizer = load(name)
    d = symmem.derive(optimizer)
    numbers = {Symbol(key): value for key, value in values_of(optimizer).items()}
    numbers |= {GRAD: Rational(3, 7), D2L(GRAD): Rational(2, 3)}
    for whole in (d.limit.M, *d.modified_equation):
        difference = (merged(whole) - whole).xreplace(numbers)
        if not difference.free_symbols:
            assert abs(difference.evalf(30)) < 1e-20
    if name == "rmsprop":
        assert not any(
            isinstance(part, Add) and eps in Mul(*part.args).free_symbols
            for part in Mul.make_args(merged(d.limit.M))
        )


def test_what_stands_in_front_of_an_operator_joins_the_other_factors() -> None:
    """``eps D[eps v]`` has eps^2, ``h D[v/h]`` has no h: one factor for each base."""
    hessian = Function("D2L")
    for left, right in (
        (eps * hessian(eps * GRAD), eps**2 * hessian(GRAD)),
        (LR * hessian(GRAD / LR), hessian(GRAD)),
        (hessian(eps * GRAD) / eps**3, hessian(GRAD) / eps**2),
    ):
        assert formula_of(left, {}, {}) == formula_of(right, {}, {})
