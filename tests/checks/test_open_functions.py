"""Maps that stand in for open functions have what is declared of these; the checks that use them judge by it."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Rational, Symbol

from symmem import derive
from symmem.checks.open_functions import stand_in
from symmem.checks.same import Verdict, same
from symmem.checks.verify import verify
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import VectorFunction
from symmem.verification.vectors import distance, relative_error, vector

DEGREES = [Rational(0), Rational(1), Rational(3), Rational(-1, 2)]
POINT = ("3/8", "-5/8", "9/16")
DIRECTIONS = (("1/4", "1/2", "-3/4"), ("-1/8", "7/8", "1/2"), ("5/8", "1/8", "3/8"))


def opened(phi: str, b: str, *, decay: str = "a", **declared: object) -> Optimizer:
    return Optimizer(
        "opened", phi, [{"g": "grad", "beta": decay, "b": b}],
        {decay: {"default": 0.5, "range": "[0, 1)"}}, functions={"f": declared},
    )  # fmt: skip


@pytest.mark.parametrize("potential", [None, "K"])
@pytest.mark.parametrize("degree", DEGREES, ids=str)
def test_a_stand_in_has_the_degree_and_its_derivatives(degree: Rational, potential: str | None) -> None:
    with mpmath.workdps(60):
        found = stand_in(VectorFunction("f", potential=potential, degree=degree), 3)
        point, directions = vector(POINT), [vector(each) for each in DIRECTIONS]
        factor = mpf(7) / 3
        scaled = found([factor * x for x in point])
        size = factor ** (mpf(int(degree.p)) / int(degree.q))
        assert distance(scaled, [size * x for x in found(point)]) < mpf(10) ** -50
        for count in range(3):
            fixed, last = directions[:count], directions[count]
            slope = [
                mpmath.diff(
                    lambda t, i=i, f=fixed, v=last: found(_moved(point, t, v), *f)[i], 0, h=mpf(10) ** -20
                )
                for i in range(3)
            ]
            truth = found(point, *fixed, last)
            assert relative_error(truth, slope) < mpf(10) ** -15
            assert max(map(abs, truth)) > 0.003
        if potential:
            slopes = [
                mpmath.diff(lambda t, v=v: found.potential(_moved(point, t, v)), 0, h=mpf(10) ** -20)
                for v in (vector([int(i == j) for j in range(3)]) for i in range(3))
            ]
            assert relative_error(found(point), slopes) < mpf(10) ** -15
        else:
            units = [vector([int(i == j) for j in range(3)]) for i in range(2)]
            assert abs(found(point, units[0])[1] - found(point, units[1])[0]) > 0.01


def _moved(point: tuple[mpf, ...], amount: mpf, direction: tuple[mpf, ...]) -> tuple[mpf, ...]:
    return tuple(x + amount * v for x, v in zip(point, direction, strict=True))


@pytest.mark.parametrize("declared", [{"degree": 0}, {"degree": 3}, {"degree": 0, "potential": "K"}], ids=str)
def test_what_is_derived_of_a_degree_is_not_called_wrong(declared: dict[str, object]) -> None:
    """The map that stood in had no degree: 14 of 16 true claims were called wrong."""
    found = verify(opened("f(m1)", "1", **declared), orders=False)
    assert found.claims
    assert all(claim.holds for claim in found.claims)


def test_functions_with_a_degree_are_compared_as_such() -> None:
    """A witness was a run of a function that has not the declared degree."""
    summed, averaged = (opened("f(m1)", b, degree=0) for b in ("1", "1 - a"))
    assert same(summed, averaged).verdict is Verdict.IDENTICAL
    cubed = same(*(opened("f(m1)", b, degree=3) for b in ("1", "1 - a")))
    assert cubed.verdict is Verdict.RESCALED
    assert (cubed.scale - 1 / (1 - Symbol("a")) ** 3).cancel() == 0
    assert same(summed, opened("f(m1)", "1 - a")).verdict is Verdict.IDENTICAL  # f is one function
    assert same(opened("f(m1)", "1"), opened("f(m1)", "1 - a")).verdict is Verdict.DIFFERENT
    assert same(summed, opened("f(-m1)", "1", degree=0)).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("degree", DEGREES, ids=str)
def test_the_degree_is_told_as_an_assumption(degree: Rational) -> None:
    """F and M hold for functions of that degree alone, so the degree is among what they rest on."""
    told = [each.sentence.parts for each in derive(opened("f(m1)", "1", degree=degree)).assumptions]
    assert any(Symbol("f") in parts and degree in parts for parts in told)


@pytest.mark.parametrize(
    ("degree", "is_rough"), [(0, True), (1, True), (2, True), (Rational(5, 2), False), (3, False)]
)
def test_a_homogeneous_function_need_not_be_smooth_at_0(degree: Rational, is_rough: bool) -> None:
    """Its second derivative has the degree less two: continuous at 0 for sure where that is above 0."""
    found = derive(opened("f(m1)", "1", degree=degree))
    assert any(each.warning for each in found.unknown) == is_rough
    assert any("at the frozen point" in str(each) for each in found.assumptions) != is_rough
