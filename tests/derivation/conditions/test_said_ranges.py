"""What the limit rests on is said: the ranges by which a factor settles; and letters that no parameter has."""

from __future__ import annotations

import pytest
from sympy import Integer, Rational

import symmem
from symmem.algebra.atoms import GRAD, STEP

UNIT = {"default": 0.5, "range": "[0, 1)"}


def one(factor: str, **parameters: dict[str, object]) -> symmem.Optimizer:
    momentum = [symmem.Momentum("grad", "beta", factor)]
    return symmem.Optimizer(name="one", phi="m1", momentum=momentum, parameters={"beta": UNIT, **parameters})


@pytest.mark.parametrize(
    ("factor", "name", "interval"),
    [
        ("1 + gamma**(n**2)", "gamma", "[0, 1)"),
        ("1 + gamma**n", "gamma", "(-1, 1)"),
        ("1 + exp(-c*n)", "c", "(0, inf)"),
    ],
)
def test_the_range_by_which_a_factor_settles(factor: str, name: str, interval: str) -> None:
    """It is said once, and inside of it F at a late step is the limit."""
    derivation = symmem.derive(one(factor, **{name: {"default": 0.5, "range": interval}}))
    said = [str(each.sentence) for each in derivation.assumptions]
    assert said.count(f"{name} lies in {interval}") == 1
    defaults = derivation.method.defaults | {GRAD: Rational(1)}
    late, limit = (each.xreplace(defaults) for each in (derivation.F, derivation.limit.F))
    assert abs((late.xreplace({STEP: Integer(200)}) - limit).evalf(30)) < Rational(1, 10**12)


def test_a_range_that_no_limit_needs_is_not_said() -> None:
    derivation = symmem.derive(one("c*(1 - beta)", c={"default": 0.5, "range": "(0, inf)"}))
    assert not any(str(each.sentence).startswith("c lies") for each in derivation.assumptions)


@pytest.mark.parametrize("taken", [("T", "C"), ("T", "tau", "C", "K")])
def test_letters_of_the_conclusions_are_no_parameters(taken: tuple[str, ...]) -> None:
    names = {name: {"default": 0.5, "range": "(0, inf)"} for name in taken}
    optimizer = one("*".join(taken), **names)
    said = " ".join(str(each.sentence) for each in symmem.derive(optimizer).conclusions)
    plain = " ".join(str(each.sentence) for each in symmem.derive(one("1")).conclusions)
    assert "T/h" in plain
    assert "C log" in plain
    words = said.replace("/h", " ").replace("(", " ").replace(")", " ").split()
    assert not set(words) & set(taken)
