"""Sums inside sums over the past, put together from terms that add: the same rational numbers as the closed forms."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import prod

import pytest
from sympy import Expr, Function, Integer, Rational, Symbol

from symmem import Momentum, Optimizer
from symmem.algebra.atoms import LR
from symmem.derivation.nested_sums import nested_sums
from symmem.derivation.orders.second_order import second_coefficient
from symmem.derivation.past.correction import finite_correction
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.reading import method_of
from symmem.program.digits.decay_functions import Complete, Whole
from symmem.program.digits.nested_sums import computed

BETA = {"default": 0.9, "range": "[0, 1)"}
VALUES = {Symbol("b1"): Rational(1, 2), Symbol("b2"): Rational(1, 3), Symbol("b3"): Rational(1, 5)}
CASES = {
    "one vector": ("m1 + m2", [("grad", "b1", "1"), ("grad", "b2", "1 - b2")]),
    "two vectors": ("m1 - 2*m2", [("grad**2", "b1", "1"), ("grad + theta", "b2", "1 - b2")]),
    "without memory": ("m1 + m2 + m3", [("grad", "b1", "b2"), ("grad", "b2", "1"), ("theta", "0", "1")]),
    "three decays": ("m1 + m2 + m3", [("grad", "b1", "1"), ("grad", "b2", "1"), ("grad", "b3", "1")]),
    "inside one another": ("m2", [("grad", "b1", "2"), ("m1", "b2", "1 - b2")]),
    "one decay, twice": ("m2", [("grad", "b1", "1"), ("m1", "b1", "1")]),
    "three inside one another": ("m3", [("grad", "b1", "1"), ("m1", "b2", "1"), ("m2", "b3", "1 - b3")]),
}
DEEP = "three inside one another"


def number(expression: Expr, n: int) -> Expr:
    """At numbers for the vectors and decays, with numbers for the derivatives of the loss too."""
    found = expression.xreplace({Symbol("n"): Integer(n), **VALUES}).doit()
    found = found.replace(Complete, lambda *given: complete(Complete(*given))).replace(Whole, lambda x: x)
    found = found.replace(Function("D3L"), lambda u, v: Rational(7, 3) * u * v)
    while found.has(Function("D2L")):
        found = found.replace(Function("D2L"), lambda v: Rational(5, 2) * v)
    return found.xreplace(
        {Symbol("grad"): Rational(3, 2), Symbol("theta"): Rational(4, 3), LR: Rational(1, 7)}
    )


def complete(given: Complete) -> Expr:
    """``h_m``, by its definition."""
    nodes, order = [prod(row) for row in given.rows], int(given.args[0])
    products = combinations_with_replacement(nodes, order) if order >= 0 else ()
    return sum((prod(each, start=Integer(1)) for each in products), Integer(0))


def method_of_case(case: str) -> Method:
    phi, momentum = CASES[case]
    used = {name for name in ("b1", "b2", "b3") if any(name in each[1] for each in momentum)}
    parameters = dict.fromkeys(sorted(used), BETA)
    return method_of(Optimizer("sums", phi, [Momentum(*each) for each in momentum], parameters))


def equal(closed: Expr, made: Expr) -> None:
    assert made.has(Complete)
    for n in (0, 1, 3):
        value = number(closed, n)
        assert value == number(made, n)
        assert value != 0 or n == 0


@pytest.mark.parametrize("case", [case for case in CASES if "inside" not in case])
def test_they_are_the_second_coefficient(case: str) -> None:
    method = method_of_case(case)
    nested = nested_sums(merged(method), 2)
    assert nested is not None
    equal(LR**2 * second_coefficient(method), computed(nested))


@pytest.mark.parametrize("case", ["two vectors", "inside one another", DEEP])
def test_they_are_the_first_coefficient(case: str) -> None:
    method = method_of_case(case)
    nested = nested_sums(merged(method), 1)
    assert nested is not None
    equal(finite_correction(method), computed(nested))


@pytest.mark.parametrize(
    ("phi", "b"),
    [("m1*m2", "1"), ("m1 + m2", "(1 - b1)/(1 - b1**(n + 1))")],
    ids=["not linear", "a factor that moves"],
)
def test_elsewhere_there_are_none(phi: str, b: str) -> None:
    momentum = [Momentum("grad", "b1", b), Momentum("grad**2", "b2", "1")]
    assert (
        nested_sums(merged(method_of(Optimizer("none", phi, momentum, {"b1": BETA, "b2": BETA}))), 2) is None
    )
