"""The numbers of the training runtime keep their digits: the first steps, decays up to 1 - 1e-8, equal ones too.

On the loss |theta|^2/2 at theta = 1 the update is a sum of coefficients; the truth is the closed form in 300 digits,
equal decays told apart by 1e-80.
"""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import torch
from mpmath import mpf
from sympy import Function, Symbol, lambdify

import symmem
from symmem.training import Memoryless

NEAR = 1 - 1e-8
RATE = 1 / 128
CASES = [
    ("adam", {"betas": (0.9, NEAR)}, {"beta1": 0.9, "beta2": NEAR}),
    ("adam", {"betas": (NEAR, NEAR)}, {"beta1": NEAR, "beta2": NEAR}),
    ("heavyball", {"momentum": NEAR}, {"beta": NEAR}),
]


def exact(name: str, history: str, n: int, values: dict[str, float]) -> mpf:
    derived = symmem.derive(name)
    formula: Any = derived.F + derived.M if history == "expansion" or n == 0 else derived.straight
    while formula.has(Function("D2L")):
        formula = formula.replace(Function("D2L"), lambda v: v)
    with mpmath.workdps(300):
        numbers = {parameter.name: float(parameter.default) for parameter in derived.optimizer.parameters}
        given = {key: mpf(value) for key, value in {**numbers, **values}.items()}
        if "beta2" in given:
            given["beta2"] *= 1 - mpf(10) ** -80
        given |= {"n": mpf(n), "lr": mpf(RATE), "grad": mpf(1), "theta": mpf(1)}
        return lambdify([Symbol(key) for key in given], formula, "mpmath")(*given.values())


@pytest.mark.parametrize("history", ["expansion", "straight"])
@pytest.mark.parametrize(("name", "arguments", "values"), CASES)
def test_the_first_steps(
    name: str, arguments: dict[str, Any], values: dict[str, float], history: str
) -> None:
    theta = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    optimizer = Memoryless(name, [theta], lr=RATE, history=history, **arguments)
    for n in range(4):
        with torch.no_grad():
            theta.fill_(1.0)
        optimizer.step(lambda: theta.square().sum() / 2)
        # theta near 1 is rounded by 1e-16, which is 1.4e-14 of an update of 1/128.
        found = (1 - theta.item()) / RATE
        assert abs(found - exact(name, history, n, values)) < 5e-14 * max(1, found), n
