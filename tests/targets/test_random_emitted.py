"""Property test: random declarations as emitted code, against brute force on the literal optimizer.

What a text-book optimizer has not stands side by side here: numbers of a whole tensor beside sums over the past,
absolute values of averages, memory of memory, delays that start empty, factors with branches, a schedule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import jax_probe
import numpy as np
import probe
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from truth import LOSS, LR, THETA

import symmem
from symmem.declaration.optimizer import Optimizer
from symmem.errors import SymmemError
from symmem.targets.registry import TARGETS
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.vectors import Vector

MAKERS: dict[str, Callable[..., Any]] = {"numpy": np.asarray, "torch": torch.as_tensor, "jax": jnp.asarray}
PARAMETERS = {"p": (0.625, "(0, 1)"), "q": (0.25, "(0, 1)"), "c": (1.375, "(0, inf)")}
DECAYS = ["0", "1/2", "p", "q", "p*q", "1 - p", "-q"]
FACTORS = ["1", "1 - {b}", "(1 - {b})/(1 - ({b})**(n + 1))", "1 + q**n", "(n + 2)/(n + 1)"]
FACTORS += ["where(n < 2, c, 1)", "max(p, 1 - q**n)", "sqrt(1 - p**(n + 2))"]
FIRST = ["grad", "theta", "grad**2", "grad*theta", "abs(grad)*grad", "erf(grad/c)", "1", "grad/norm(grad)"]
FIRST += ["grad*dot(grad, theta)"]
READING = ["tanh({x})", "grad - {x}", "grad*{x}", "grad/sqrt({x}**2 + c)", "grad*norm({x})", "{x} + theta"]
TERMS = ["{x}", "{x}*dot({y}, {z})", "{x}*abs({y})", "{x}*exp(-{x}**2)", "{x}*norm({y})", "{x}/({y}**2 + c)"]
TERMS += ["{x}*global_norm({y})", "{x} - {y}/2", "tanh({x})*mean({y}*{z})", "{x}/(sqrt({y}**2) + c)"]
RATES = [None, None, None, "1/(1 + q*n)", "where(n < 2, p, 1)"]


@st.composite
def optimizers(draw: st.DrawFn, most: int, reading: list[str]) -> Optimizer:
    """An update that reads every variable; with ``reading``, variables that read the first."""
    count = draw(st.integers(1, most))
    variables: list[dict[str, object]] = []
    for position in range(count):
        g = draw(st.sampled_from([*FIRST, *(reading if position else [])])).format(x=f"m{position}")
        if draw(st.integers(0, 4)) == 0:
            start = draw(st.sampled_from(["first", 0]))
            variables.append({"g": g, "delay": draw(st.integers(1, 2)), "start": start})
        else:
            decay = draw(st.sampled_from(DECAYS))
            factor = draw(st.sampled_from(FACTORS)).format(b=f"({decay})")
            variables.append({"g": g, "beta": decay, "b": factor})
    names = [f"m{place + 1}" for place in range(count)]
    drawn = st.sampled_from(names)
    terms = [draw(st.sampled_from(TERMS)).format(x=x, y=draw(drawn), z=draw(drawn)) for x in names]
    rate = draw(st.sampled_from(RATES))
    return declared(" + ".join(terms), variables, rate)


def declared(phi: str, variables: Sequence[Mapping[str, object]], rate: str | None = None) -> Optimizer:
    """With the parameters that it reads."""
    texts = " ".join([phi, rate or "", *(str(value) for each in variables for value in each.values())])
    read = [name for name in PARAMETERS if re.search(rf"\b{name}\b", texts)]
    parameters = {name: {"default": PARAMETERS[name][0], "range": PARAMETERS[name][1]} for name in read}
    return Optimizer("random", phi, variables, parameters, schedule=rate)


def truth(optimizer: Optimizer, n: int, order: int) -> tuple[Vector, Vector]:
    """F and M by brute force."""
    literal = Literal(optimizer, {}, LOSS, layout=((3,),))
    if order == 1:
        update = bruteforce.memoryless(literal, THETA, n, 20)
        return update, bruteforce.correction(literal, THETA, n, LR, 20)
    update, *higher = bruteforce.expansion(literal, THETA, n, order, 20)
    rate = mpf(LR.p) / LR.q
    powers = [tuple(rate**j * x for x in each) for j, each in enumerate(higher, start=1)]
    return update, tuple(map(sum, zip(*powers, strict=True)))


def served(target: str) -> Callable[..., Any]:
    """The gradient and its derivatives along vectors of the target."""
    if target == "jax":
        return jax_probe.contraction
    made = MAKERS[target]
    return lambda *given: made(probe.contraction(*map(np.asarray, given)))


def holds(optimizer: Optimizer, order: int, steps: tuple[int, ...], *targets: str) -> None:
    """Every module that is written has the values of brute force at these steps; refusals are no values."""
    derivation = symmem.derive(optimizer, order)
    for target in targets or ("numpy", "torch"):
        try:
            module = probe.module(TARGETS[target].source(derivation))
        except SymmemError:
            continue
        along = [served(target)] * (order + 1)
        for n in steps:
            theta = MAKERS[target](np.array([float(x) for x in THETA]))
            try:
                found = [module.memoryless(theta, along[0], n=n)]
                found.append(module.correction(theta, *along, n=n, lr=float(LR)))
            except ValueError as refusal:
                assert str(refusal).startswith("random:")  # noqa: PT017  # what symbolic n has not
                continue
            for value, exact in zip(found, truth(optimizer, n, order), strict=True):
                expected = np.array([float(x) for x in exact])
                scale = max(abs(expected).max(), 1e-6)
                np.testing.assert_allclose(np.asarray(value), expected, rtol=0, atol=1e-7 * scale)


QUICK = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


@given(optimizers(3, READING), st.sampled_from([(0, 2), (1,), (3,)]))
@QUICK
def test_order_one(optimizer: Optimizer, steps: tuple[int, ...]) -> None:
    holds(optimizer, 1, steps)


@given(optimizers(2, []), st.sampled_from([0, 1, 2]))
@QUICK
def test_order_two(optimizer: Optimizer, n: int) -> None:
    holds(optimizer, 2, (n,))


ABSOLUTE = {
    "a number of a tensor": declared(
        "m1/(abs(m2) + c)",
        [{"g": "grad", "beta": "p", "b": "1"}, {"g": "global_dot(grad, theta)", "beta": "q", "b": "1"}],
    ),
    "a sum in the limit": declared(
        "m2*abs(m1)",
        [
            {"g": "grad*abs(grad)", "beta": "1 - p", "b": "max(p, 1 - q**n)"},
            {"g": "1", "beta": "0", "b": "1"},
        ],
    ),
    "a sum of sums": declared(
        "m2 + sign(m1)*sqrt(abs(m3) + c)",
        [
            {"g": "p*grad", "beta": "0", "b": "(n + 2)/(n + 1)"},
            {"g": "grad*norm(m1)", "beta": "p", "b": "(1 - p)/(1 - p**(n + 1))"},
            {"g": "grad*norm(m2)", "beta": "1/2", "b": "(1/2)/(1 - (1/2)**(n + 1))"},
        ],
    ),
}


@pytest.mark.parametrize("name", ABSOLUTE)
def test_absolute_values(name: str) -> None:
    """SymPy takes symbols for complex: rebuilt, the absolute value of a sum had conjugates, which no target has."""
    holds(ABSOLUTE[name], 1, (1, 3))


def test_whole_numbers_in_loops() -> None:
    """With a decay of 1/4 a loop has 4**(s - n), which JAX takes for a whole number, that is 0; so had it 2**40."""
    squares: dict[str, object] = {"g": "(grad - m1)**2", "beta": "1/4", "b": "1 + 1/2**n"}
    holds(declared("m2", [{"g": "grad", "beta": "p", "b": "1"}, squares]), 1, (0, 3, 40), "jax")
