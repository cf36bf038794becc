"""Numbers that do not close, in every target: their digits against brute force over all past steps.

On the parabola at theta = 1, where gradients are exact, with decays up to 1 - 1e-8 (in 32 bits up to 1 - 1e-4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from compiled import few_passes
from compiled import module as built_module
from mpmath import mpf
from octave_probe import needs_octave
from octave_probe import run as run_octave
from octave_probe import settings as octave_settings
from probe import module
from sympy import Rational

import symmem
from symmem import Momentum, Optimizer
from symmem.checks.verify import as_theory_sees
from symmem.program.expansion import expansion_loses_digits
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss

NEAR, NEAR_SINGLE = 1 - 1e-8, 1 - 2.0**-13
BETA = {"default": 0.875, "range": "[0, 1)"}
LAG = "(2/(1 - b2) - 1 - 2*(n + 1)*b2**(n + 1)/(1 - b2**(n + 1)))"
THRESHOLD = Optimizer(
    "threshold",
    "m1*m2/sqrt(m1**2 + 1)",
    [Momentum("grad", "b1", "1 - b1"), Momentum("1", "0", f"where({LAG} > 4, sqrt({LAG} - 3)/{LAG}, 2)")],
    {"b1": BETA, "b2": BETA},
)
"""A closed form of the step inside a sum that does not close, and a difference that a condition keeps large."""
AVERAGE = "(1 - {0})/(1 - {0}**(n + 1))"
CUBES = Optimizer(
    "cubes",
    "m1**3/(m2 + 1)",
    [
        Momentum("grad", "b1", AVERAGE.format("b1")),
        Momentum("grad**2", "b2", AVERAGE.format("b2")),
    ],
    {"b1": BETA, "b2": BETA},
)
"""Numbers beside functions of the gradient in one sum, ``a + b/(grad**2 + 1)``."""
CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "threshold": (THRESHOLD, ("b1", "b2")),
    "cubes": (CUBES, ("b1", "b2")),
    **{name: (symmem.load(name), ("beta1", "beta2")) for name in ("radam", "adopt", "nadam", "adabelief")},
}
OTHERS = {name: {"eps": 0.5} for name in CASES if name not in ("threshold", "cubes")}
"""Parameters whose defaults would hide a lost digit."""
SHOWN = [
    "threshold",
    "cubes",
    "nadam",
    *(
        pytest.param(name, marks=pytest.mark.prove)
        for name in CASES
        if name in ("radam", "adopt", "adabelief")
    ),
]
STEPS = (0, 1, 2, 3, 9)
RATE = 1 / 128


def settings(name: str, near: float) -> Iterator[dict[str, float]]:
    optimizer, decays = CASES[name]
    for chosen in ((0.75, near), (near, near)):
        given = {**OTHERS.get(name, {}), **dict(zip(decays, chosen, strict=True))}
        yield {each.name: given.get(each.name, float(each.default)) for each in optimizer.parameters}


@cache
def truth(name: str, given: tuple[tuple[str, float], ...], n: int) -> mpf:
    exact = {key: Rational(value) for key, value in given}
    literal = Literal(as_theory_sees(CASES[name][0]), exact, quadratic_loss([[1]]))
    return bruteforce.correction(literal, [mpf(1)], n, Rational(RATE))[0]


def compared(name: str, near: float, value: Callable[[int, dict[str, float]], float], close: float) -> None:
    for given in settings(name, near):
        for n in STEPS:
            true = truth(name, tuple(given.items()), n)
            assert abs(value(n, given) - true) <= close * abs(true), (n, given)


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_double_precision(target: str, name: str) -> None:
    derived = symmem.derive(CASES[name][0])
    assert not expansion_loses_digits(derived)
    made = module(TARGETS[target].source(derived)).correction
    library: Any = torch if target == "torch" else np
    one = library.ones(1, dtype=library.float64)

    def value(n: int, given: dict[str, float]) -> float:
        return float(made(one, lambda x: x, lambda x, v: v, n=n, lr=RATE, **given)[0])

    compared(name, NEAR, value, 1e-13)


def test_jax_with_32_bits_and_a_traced_step() -> None:
    made = module(TARGETS["jax"].source(symmem.derive(THRESHOLD))).correction
    one = jnp.ones(1, jnp.float32)

    @jax.jit
    def traced(n: Any, given: dict[str, Any]) -> Any:
        return made(one, lambda x: x, lambda x, v: v, n=n, lr=RATE, **given)[0]

    compared("threshold", NEAR_SINGLE, lambda n, given: float(traced(jnp.int32(n), given)), 1e-5)


def test_c(tmp_path: Path) -> None:
    with few_passes():
        build([symmem.derive(THRESHOLD)], str(tmp_path / "built"))
    made = built_module(tmp_path / "built", "threshold").correction

    def value(n: int, given: dict[str, float]) -> float:
        return float(made(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=RATE, **given)[0])

    compared("threshold", NEAR, value, 1e-13)


@needs_octave
def test_octave(tmp_path: Path) -> None:
    (tmp_path / "symmem_threshold.m").write_text(TARGETS["octave"].source(symmem.derive(THRESHOLD)))
    script = ["made = symmem_threshold();"]
    for given in settings("threshold", NEAR):
        for n in STEPS:
            text = octave_settings({"n": n, "lr": RATE, **given})
            script.append(f"printf('%.17g\\n', made.correction(1, @(x) x, @(x, v) v{text}));")
    found = iter(run_octave(script, tmp_path).split())
    compared("threshold", NEAR, lambda n, given: float(next(found)), 1e-13)
