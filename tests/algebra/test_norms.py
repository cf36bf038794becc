"""Norms are recognised where they are norms: by the numbers of the sum, and of its gradient by differences."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Abs, Expr, Function, Rational, S, lambdify, sign, sqrt, symbols, tanh

from symmem.algebra.norms import NormShape, gradient_shape, is_size, smoothed_absolute, total_shape

theta, grad, eps, delta, m1 = symbols("theta grad eps delta m1")
D2L = Function("D2L")
VECTOR = [mpf("0.7"), mpf("-1.3"), mpf("0.2")]
EPS = mpf("0.05")


def norm(shape: NormShape, vector: list[mpf]) -> mpf:
    """Written out from the index, for the gradient's entries."""
    offset = 0 if len(shape.index) < 2 else {eps: EPS}.get(shape.index[1], shape.index[1])
    if shape.index == ():
        return mpmath.sqrt(sum(x * x for x in vector)) ** shape.power
    return sum(mpmath.sqrt(x * x + mpf(str(offset))) for x in vector) ** shape.power


@pytest.mark.parametrize("summand", [grad**2, Abs(grad), sqrt(grad**2 + eps), sqrt(grad**2 + 3)], ids=str)
def test_total_is_the_norm_that_is_named(summand: Expr) -> None:
    shape = total_shape(summand)
    assert shape is not None
    assert shape.vector == grad
    entry = lambdify([grad, eps], summand, "mpmath")
    assert abs(sum(entry(x, EPS) for x in VECTOR) - norm(shape, VECTOR)) < 1e-14


@pytest.mark.parametrize(
    "direction",
    [grad, sign(grad), grad / Abs(grad), grad / sqrt(grad**2 + eps), grad / sqrt(grad**2 + 2)],
    ids=str,
)
def test_direction_is_the_gradient_of_the_norm(direction: Expr) -> None:
    """``c nabla norm(v) = direction(v)`` entry by entry, the gradient by central differences."""
    found = gradient_shape(direction)
    assert found is not None
    scalar, shape = found
    entry = lambdify([grad, eps], direction, "mpmath")
    with mpmath.workdps(60):
        step = mpf(10) ** -20
        for position, x in enumerate(VECTOR):
            sides = [
                norm(shape, [y + way * step * (position == other) for other, y in enumerate(VECTOR)])
                for way in (1, -1)
            ]
            slope = mpf(scalar.p) / scalar.q * (sides[0] - sides[1]) / (2 * step)
            assert abs(slope - entry(x, EPS)) < 1e-15


@pytest.mark.parametrize(
    "direction",
    [
        theta,
        grad**3,
        D2L(grad),
        theta * grad,
        tanh(grad),
        grad + theta,
        grad / sqrt(grad**2 + eps * delta),
        m1,
    ],
    ids=str,
)
def test_other_directions_have_no_name(direction: Expr) -> None:
    assert gradient_shape(direction) is None


@pytest.mark.parametrize(
    "summand",
    [grad**3, grad * theta, Abs(eps), sqrt(grad**4 + eps), sqrt(grad**2 + eps + delta), grad**2 + eps],
)
def test_other_sums_have_no_name(summand: Expr) -> None:
    assert total_shape(summand) is None


def test_parts_of_the_smoothed_absolute_value() -> None:
    assert smoothed_absolute(sqrt(grad**2 + eps + delta)) == (grad, eps + delta)
    assert smoothed_absolute(sqrt(grad**2 + theta**2)) is None
    assert smoothed_absolute((grad**2 + eps) ** Rational(3, 2)) is None


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (Abs(grad), True),
        (grad**2, True),
        (grad**6, True),
        (sqrt(grad**2 + eps**2 + delta), True),
        (grad, False),
        (grad**3, False),
        (grad**-2, False),
        (Abs(theta), False),
        (theta**2, False),
        (sqrt(theta**2 + eps), False),
        (S.One, False),
    ],
    ids=str,
)
def test_sizes_of_the_gradient(entry: Expr, expected: bool) -> None:
    assert is_size(entry, grad) is expected
