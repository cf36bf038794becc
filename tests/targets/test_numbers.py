"""The numbers of every target keep their digits: small n, decays up to 1 - 1e-8, equal and nearly equal decays.

The truth is the closed form in 600 digits at the very numbers that the function is given; equal decays are told apart
by 1e-120.  On the loss |theta|^2/2 at theta = 1 a correction is a sum of coefficients; for methods linear in the
gradient all terms of their sums over the past are positive, so that the error is measured against the value itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import torch
from compiled import module as built_module
from mpmath import mpf
from probe import module
from sympy import Function, Rational, Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS

BETA = {"default": 0.9, "range": "[0, 1)"}
AVERAGE = "(1 - {0})/(1 - {0}**(n + 1))"
METHODS = {
    "heavy-ball": Optimizer("heavy-ball", "m1", [Momentum("grad", "b1", "1")], {"b1": BETA}),
    "average": Optimizer("average", "m1", [Momentum("grad", "b1", "1 - b1")], {"b1": BETA}),
    "debiased": Optimizer("debiased", "m1", [Momentum("grad", "b1", AVERAGE.format("b1"))], {"b1": BETA}),
    "two-sums": Optimizer(
        "two-sums",
        "m1 + m2",
        [Momentum("grad", "b1", "1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "nested-gain": Optimizer(
        "nested-gain",
        "m1 + m2",
        [Momentum("grad", "b1", AVERAGE.format("b1")), Momentum("grad", "b2", "1")],
        {"b1": BETA, "b2": BETA},
    ),
    "two-averages": Optimizer(
        "two-averages",
        "m1 + m2",
        [Momentum("grad", "b1", "1 - b1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "lookahead": Optimizer(
        "lookahead",
        "m1 + m2",
        [Momentum("grad", "b1", "b1"), Momentum("grad", "0", "1")],
        {"b1": BETA},
    ),
    "difference": Optimizer(
        "difference",
        "m1 - m2",
        [Momentum("grad", "b1", "1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
}
SIZES = {"difference": "two-sums"}
"""The method whose M adds the absolute values of the terms, where some are negative."""
NEAR = 1 - 1e-8
DECAYS = [
    (0.0, 0.0), (0.3, 0.5), (0.9, 0.9), (0.9, 0.999), (0.999, 0.999 * (1 + 1e-13)), (NEAR, NEAR),
    (NEAR, 1 - 1.0000001e-8), (0.5, NEAR),
]  # fmt: skip
CLOSE = 1e-13
TINY = 1e-90  # what 600 digits leave of a zero
CASES = [
    (name, order) for name in METHODS for order in (1, 2) if order == 1 or len(METHODS[name].parameters) == 1
]
STEPS = [0, 1, 2, 3, 17, 1000, 10**6, 3 * 10**8]
DIGITS = 600


@cache
def formula(name: str, order: int) -> Callable[..., mpf]:
    """M at theta = grad = 1, with the identity for the Hessian and no further derivatives, and lr = 1."""
    found = symmem.derive(METHODS[name], order).M
    found = found.replace(Function("D3L"), lambda *_: Rational(0))
    while found.has(Function("D2L")):
        found = found.replace(Function("D2L"), lambda v: v)
    plain = found.xreplace({Symbol("grad"): Rational(1), Symbol("lr"): Rational(1)})
    return lambdify([Symbol("n"), Symbol("b1"), Symbol("b2")], plain, "mpmath")


@cache
def truth(name: str, order: int, n: int, b1: float, b2: float) -> mpf:
    with mpmath.workdps(DIGITS):
        apart = mpf(10) ** -120
        first = mpf(b1) if b1 else apart  # a power of zero is a limit too
        second = mpf(b2) * (1 - apart) if b2 else 2 * apart
        return +formula(name, order)(mpf(n), first, second)


def literal(name: str, n: int, b1: float, b2: float) -> mpf:
    """``sum_l sum_{k=1..n} c_l(n, k) sum_{s=n-k..n-1} F^(s)``, term by term."""
    signs = [1, -1 if name == "difference" else 1]
    at = {"b1": mpf(b1), "b2": mpf(b2)}

    def kernel(position: int, step: int, ago: int) -> mpf:
        momentum = METHODS[name].momentum[position]
        values = {Symbol(symbol): value for symbol, value in at.items()}
        decay = mpf(momentum.beta.xreplace(values))
        return signs[position] * mpf(momentum.b.xreplace({**values, Symbol("n"): step})) * decay**ago

    span = range(len(METHODS[name].momentum))
    updates = [sum(kernel(m, s, k) for m in span for k in range(s + 1)) for s in range(n)]
    return sum((kernel(m, n, k) * sum(updates[n - k :]) for m in span for k in range(1, n + 1)), mpf(0))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_the_truth_is_the_defining_sum(name: str, n: int) -> None:
    with mpmath.workdps(60):
        assert abs(literal(name, n, 0.75, 0.875) - truth(name, 1, n, 0.75, 0.875)) < mpf(10) ** -12


def decays(name: str, b1: Any, b2: Any) -> dict[str, Any]:
    return {"b1": b1, "b2": b2} if len(METHODS[name].parameters) == 2 else {"b1": b1}


@cache
def emitted(name: str, order: int, target: str) -> ModuleType:
    return module(TARGETS[target].source(symmem.derive(METHODS[name], order)))


def in_python(target: str) -> Callable[..., float]:
    """The correction of a Python module at theta = 1."""
    library: Any = torch if target == "torch" else np
    one = library.ones(1, dtype=library.float64)

    def value(name: str, order: int, n: int, b1: float, b2: float) -> float:
        higher = [lambda theta, u, v: 0 * u] * (order - 1)
        given = emitted(name, order, target).correction
        found = given(
            one, lambda theta: theta, lambda theta, v: v, *higher, n=n, lr=1.0, **decays(name, b1, b2)
        )
        return float(found[0])

    return value


@pytest.mark.parametrize(("name", "order"), CASES)
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_double_precision(target: str, name: str, order: int) -> None:
    value = in_python(target)
    for n in STEPS:
        for b1, b2 in DECAYS:
            exact = truth(name, order, n, b1, b2)
            found = value(name, order, n, b1, b2)
            if n == 0:
                assert found == 0
            size = truth(SIZES.get(name, name), order, n, b1, b2)
            assert abs(found - exact) <= CLOSE * abs(size) + TINY, (n, b1, b2, found, float(exact))


@pytest.mark.parametrize("name", METHODS)
def test_jax_with_a_traced_step(name: str) -> None:
    """In 32-bit arithmetic, with n and the decays traced: 1e-5, for decays up to 1 - 1e-4."""
    given = emitted(name, 1, "jax").correction

    def value(n: Any, b1: Any, b2: Any) -> Any:
        one = jnp.ones(1, jnp.float32)
        return given(one, lambda theta: theta, lambda theta, v: v, n=n, lr=1.0, **decays(name, b1, b2))[0]

    compiled = jax.jit(value)
    for n in (0, 1, 2, 3, 17, 1000, 10**5):
        for pair in [(0.0, 0.0), (0.3, 0.5), (0.9, 0.9), (0.9, 0.999), (1 - 1e-4, 1 - 1e-4), (0.5, 1 - 1e-4)]:
            b1, b2 = (np.float32(b) for b in pair)
            exact = truth(name, 1, n, float(b1), float(b2))
            found = float(compiled(jnp.int32(n), b1, b2))
            size = truth(SIZES.get(name, name), 1, n, float(b1), float(b2))
            assert abs(found - exact) <= 1e-5 * abs(size) + TINY, (n, pair, found, float(exact))


def test_c(tmp_path: Path) -> None:
    folder = tmp_path / "built"
    build([symmem.derive(optimizer) for optimizer in METHODS.values()], str(folder))
    one = np.ones(1)
    for name in METHODS:
        given = built_module(folder, name).correction
        for n in STEPS:
            for b1, b2 in DECAYS:
                exact = truth(name, 1, n, b1, b2)
                found = given(
                    one, lambda theta: theta, lambda theta, v: v, n=n, lr=1.0, **decays(name, b1, b2)
                )
                size = truth(SIZES.get(name, name), 1, n, b1, b2)
                assert abs(float(found[0]) - exact) <= CLOSE * abs(size) + TINY, (name, n, b1, b2)
