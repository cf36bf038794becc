"""JAX counts steps in 32 bits: what multiplies them is no whole number, and does not overflow.

The truth is the gain of a constant history, added up in exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType

import jax
import jax.numpy as jnp
import probe
import pytest

import symmem
from symmem import Momentum, Optimizer


@pytest.fixture(autouse=True)
def in_32_bits() -> Iterator[None]:
    with jax.enable_x64(False):
        yield


def module_of(phi: str, beta: str, b: str) -> ModuleType:
    optimizer = Optimizer("whole", phi, [Momentum("grad", beta, b)], {})
    return probe.module(symmem.emit(symmem.derive(optimizer), "jax"))


@pytest.mark.parametrize("n", [3, 40_000, 60_000, 10**6])
def test_a_traced_step_is_squared(n: int) -> None:
    module = module_of("m1", "0", "1 - n**2/(n**2 + 7*n + 5)")
    truth = float(1 - Fraction(n * n, n * n + 7 * n + 5))
    one = jnp.ones(1)
    traced = jax.jit(lambda k: module.memoryless(one, lambda x: x, n=k))(jnp.int32(n))
    for found in (traced, module.memoryless(one, lambda x: x, n=n)):
        assert abs(float(found[0]) - truth) < 1e-6  # what is left of 1 in 32 bits


@pytest.mark.parametrize("n", [3, 14, 40])
def test_powers_of_the_index_of_a_sum(n: int) -> None:
    """M = lr Phi'(m) sum_s tail(n, s) F^(s) at theta = 1, where gradient and Hessian are 1."""
    module = module_of("m1/(m1**2 + 1)", "1/2", "(n + 2)**4/(n + 1)**4")
    half = Fraction(1, 2)

    def b(s: int) -> Fraction:
        return Fraction((s + 2) ** 4, (s + 1) ** 4)

    def gain(s: int) -> Fraction:
        return b(s) * sum(half**k for k in range(s + 1))

    seen = [sum(half**k for k in range(n - s, n + 1)) * gain(s) / (gain(s) ** 2 + 1) for s in range(n)]
    m = gain(n)
    truth = Fraction(1, 10) * (1 - m * m) / (m * m + 1) ** 2 * b(n) * sum(seen)
    found = module.correction(jnp.ones(1), lambda x: x, lambda x, v: v, n=n, lr=0.1)
    assert abs(float(found[0]) - float(truth)) < 1e-5 * abs(float(truth))
