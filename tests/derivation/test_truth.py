"""Every derived formula against brute force (mathematics.md section 2), which shares no code with the derivation."""

from __future__ import annotations

from functools import cache

import mpmath
import pytest
from sympy import Rational
from truth import FIRST, LR, THETA, literal_of, load, number_of

import symmem
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.vectors import distance

STEPS = (0, 1, 2, 5, 17, 60)
EXACT = 1e-20


@cache
def derived(name: str) -> Derivation:
    return symmem.derive(load(name))


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("name", FIRST)
def test_finite_n(name: str, n: int) -> None:
    literal = literal_of(load(name))
    assert (
        distance(number_of(derived(name).F, literal, n=n), bruteforce.memoryless(literal, THETA, n)) < EXACT
    )
    truth = bruteforce.correction(literal, THETA, n, LR)
    assert distance(number_of(derived(name).M, literal, n=n), truth) < EXACT


@pytest.mark.parametrize("name", FIRST)
def test_at_a_given_step(name: str) -> None:
    literal = literal_of(load(name))
    for n in (0, 3, 20):
        iteration = derived(name).at(n)
        assert distance(number_of(iteration.F, literal), bruteforce.memoryless(literal, THETA, n)) < EXACT
        assert distance(number_of(iteration.M, literal), bruteforce.correction(literal, THETA, n, LR)) < EXACT


@pytest.mark.parametrize("name", FIRST)
def test_limit(name: str) -> None:
    """After 400 steps with betas of at most 0.85 the transients are below 1e-25."""
    literal = literal_of(load(name))
    n, limit = 400, derived(name).limit
    assert distance(number_of(limit.F, literal), bruteforce.memoryless(literal, THETA, n)) < EXACT
    truth = bruteforce.correction(literal, THETA, n, LR, digits=30)
    assert distance(number_of(limit.M, literal), truth) < EXACT
    assert derived(name).coefficients[0] == limit.F


@pytest.mark.parametrize("name", FIRST)
def test_values_may_be_put_in_before_or_after(name: str) -> None:
    optimizer = load(name)
    literal = literal_of(optimizer)
    early = symmem.derive(optimizer.with_values(literal.numbers))
    for n in (0, 1, 7):
        late = derived(name).M
        assert distance(number_of(early.M, literal, n=n), number_of(late, literal, n=n)) < EXACT


@pytest.mark.parametrize("name", ["heavyball", "ema-momentum", "nesterov", "adamw", "signum"])
def test_no_memory_at_beta_zero(name: str) -> None:
    """At beta = 0 nothing is remembered: the correction of the closed form vanishes, at n = 0 too."""
    optimizer = load(name)
    zero = {p.name: Rational(0) for p in optimizer.parameters if p.name.startswith("beta")}
    literal = literal_of(optimizer, zero)
    for n in (1, 5):
        assert distance(number_of(derived(name).M, literal, n=n), [0, 0, 0]) < EXACT


@pytest.mark.parametrize("name", FIRST)
def test_start(name: str) -> None:
    """d_1 against the sum of F - F^(s), term by term, until the terms vanish."""
    literal = literal_of(load(name))
    with mpmath.workdps(60):
        steps = literal.frozen(THETA, 500)
        truth = [sum(steps[-1][i] - step[i] for step in steps) for i in range(len(THETA))]
    assert distance(number_of(derived(name).shift[0], literal), truth) < EXACT
