"""The start and the closeness, against the optimizer as it runs: the order in h of what is left at a fixed time.

The loss of one parameter has derivatives of every order up to four; the optimizer is a recursion of its own here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Sum, Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer

BETA = {"default": 0.5, "range": "[0, 1)"}
VALUES = {"b1": mpf(1) / 2, "b2": mpf(1) / 3, "c": mpf(3) / 4}
START, TIME = mpf(7) / 10, mpf(3) / 10


def slope(theta: mpf) -> mpf:
    return theta + mpf(3) / 10 * theta**2 + theta**3 / 5


def warmed(step: int, gradients: list[mpf]) -> mpf:
    """``m2 - c m1`` with a factor ``min(1, (n+1)/3)``, a constant that is remembered, under a rate 1 - c^(n+1)."""
    first = sum(VALUES["b2"] ** (step - r) * g for r, g in enumerate(gradients))
    second = sum(VALUES["b2"] ** r for r in range(step + 1))
    return (1 - VALUES["c"] ** (step + 1)) * (second - VALUES["c"] * min(mpf(1), mpf(step + 1) / 3) * first)


def settling(step: int, gradients: list[mpf]) -> mpf:
    """``m1/sqrt(m2^2 + c)``, m1 with the factor exp(-n) + 1 and m2 the average of m1."""
    sums = [sum(VALUES["b1"] ** (s - r) * gradients[r] for r in range(s + 1)) for s in range(step + 1)]
    seen = [(mpmath.exp(-s) + 1) * value for s, value in enumerate(sums)]
    second = (1 - VALUES["b2"]) * sum(VALUES["b2"] ** (step - s) * value for s, value in enumerate(seen))
    return seen[-1] / mpmath.sqrt(second**2 + VALUES["c"])


CASES: dict[str, tuple[Callable[[int, list[mpf]], mpf], int, Optimizer]] = {
    "warmed": (
        warmed,
        2,
        Optimizer(
            "warmed",
            "m2 - c*m1",
            [Momentum("grad", "b2", "min(1, (n + 1)/3)"), Momentum("1", "b2", "1")],
            {"b2": BETA, "c": BETA},
            schedule="1 - c**(n + 1)",
        ),
    ),
    "settling": (
        settling,
        1,
        Optimizer(
            "settling",
            "m1/sqrt(m2**2 + c)",
            [Momentum("grad", "b1", "exp(-n) + 1"), Momentum("m1", "b2", "1 - b2")],
            {"b1": BETA, "b2": BETA, "c": {"default": 0.75, "range": "(0, inf)"}},
        ),
    ),
}


def numbers(expression: Expr) -> Callable[[mpf, mpf], mpf]:
    """The formula as a function of theta and h; a sum over all steps ends where nothing is left of it."""
    sums = {each: each.func(each.function, (*each.limits[0][:2], 110)) for each in expression.atoms(Sum)}
    now: list[mpf] = [START]
    heads: dict[str, Any] = {
        "D2L": lambda v: (1 + mpf(3) / 5 * now[0] + mpf(3) / 5 * now[0] ** 2) * v,
        "D3L": lambda u, v: (mpf(3) / 5 + mpf(6) / 5 * now[0]) * u * v,
    }
    names = [Symbol(each) for each in ("theta", "grad", "lr", *VALUES)]
    made = lambdify(names, expression.xreplace(sums), [heads, "mpmath"])

    def value(theta: mpf, rate: mpf) -> mpf:
        now[0] = theta
        return made(theta, slope(theta), rate, *VALUES.values())

    return value


@pytest.mark.parametrize("name", ["settling", pytest.param("warmed", marks=pytest.mark.prove)])
def test_the_limit_form_from_its_start_has_the_order_that_is_said(name: str) -> None:
    update, order, optimizer = CASES[name]
    derived = symmem.derive(optimizer, order)
    assert isinstance(derived.shift, tuple)
    step, shifts = numbers(derived.limit.F + derived.limit.M), [numbers(each) for each in derived.shift]
    errors = []
    with mpmath.workdps(30):
        for rate in (mpf(1) / 100, mpf(1) / 200):
            theta, gradients = START, []
            start = START + sum(rate ** (j + 1) * each(START, rate) for j, each in enumerate(shifts))
            same = START
            for n in range(int(TIME / rate)):
                gradients.append(slope(theta))
                theta -= rate * update(n, gradients)
                start, same = (each - rate * step(each, rate) for each in (start, same))
            errors.append((abs(start - theta), abs(same - theta)))
    fitted = [float(mpmath.log(a / b, 2)) for a, b in zip(*errors, strict=True)]
    assert fitted[0] == pytest.approx(order + 1, abs=0.2)
    assert fitted[1] == pytest.approx(1, abs=0.2)
