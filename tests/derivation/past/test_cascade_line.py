"""The straight-line history of cascades (mathematics.md section 10), against the literal optimizer on a line."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import numpy as np
import probe
import pytest
from cascades import (
    CASCADES,
    EVERY,
    adabelief,
    adan,
    adopt,
    average,
    beta,
    label,
    laprop,
    pid,
    rmsprop_momentum,
)
from mpmath import mpf
from sympy import Rational, Sum
from truth import LOSS, LR, THETA, literal_of, load, number_of

import symmem
from symmem.checks.verify import as_theory_sees
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.past.straight import is_expansion, keeps_bounds
from symmem.targets.numpy.module import numpy_module
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal, fits
from symmem.verification.losses import quadratic_loss
from symmem.verification.straight import on_even_line

VECTOR = ((len(THETA),),)
ZOO = [
    name for name in symmem.zoo() if fits(load(name), VECTOR) and symmem.derive(load(name)).method.is_cascade
]
"""Those that take a vector; NorMuon takes matrices, and its line after many steps is not held against numbers."""
EPS = {"default": 0.05, "range": "(0, inf)"}
BETAS = {"beta1": beta(0.4), "beta2": beta(0.6), "eps": EPS}


def deep() -> Optimizer:
    """A memory of a memory of a memory, none of which is linear: sums inside sums."""
    momentum = (
        average("abs(grad)", "beta2"),
        average("grad/(m1 + eps)", "beta1"),
        {"g": "m2*m1 + theta", "delay": 2},
        average("tanh(m2) - m3", "beta1"),
    )
    return Optimizer("deep", "m4 + m2**2", momentum, BETAS)


def numbers(*, debiased: bool) -> Optimizer:
    """Polynomials of what is read: their sums are sums of numbers, which need not close."""
    momentum = (
        average("grad", "beta1", debiased=debiased),
        average("(grad - m1)**2 + theta*m1", "beta2", debiased=debiased),
        {"g": "m2 - m1**2", "delay": 1},
    )
    return Optimizer("numbers", "m1/sqrt(m2**2 + eps) + m3", momentum, BETAS)


MADE = (deep(), numbers(debiased=True), numbers(debiased=False))
SETTLED = [o for o in (*CASCADES, *MADE) if symmem.derive(o).method.is_settled]


def distance(first: object, second: object) -> mpf:
    return max(abs(x - y) for x, y in zip(first, second, strict=True))


def stepping(velocity: Sequence[mpf]) -> list[mpf]:
    return [v * mpf(LR.p) / LR.q for v in velocity]


def gentle(optimizer: Optimizer) -> Literal:
    """Decays of at most 0.05, and an eps that is felt."""
    values = {
        p.name: min(p.default, Rational(1, 20)) for p in optimizer.parameters if str(p.range) == "[0, 1)"
    }
    felt = {p.name: Rational(1, 20) for p in optimizer.parameters if p.name in ("eps", "eps_root")}
    return literal_of(optimizer, {**values, **felt})


def linear(optimizer: Optimizer) -> bool:
    return is_expansion(symmem.derive(optimizer).method)


@pytest.mark.parametrize("optimizer", [*SETTLED, load("adan"), load("optimistic-adam")], ids=label)
def test_at_step_n_it_is_the_literal_optimizer_on_the_line(optimizer: Optimizer) -> None:
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    for n in (0, 1, 4):
        with mpmath.workdps(50):
            true = on_even_line(literal, THETA, stepping(literal.frozen(THETA, 1)[0]), n)
            assert distance(number_of(derivation.straight, literal, n=n), true) < mpf(10) ** -40, n


@pytest.mark.parametrize("optimizer", [*CASCADES, *MADE, *map(load, ZOO)], ids=label)
def test_the_limit_is_what_many_steps_settle_to(optimizer: Optimizer) -> None:
    """Every cascade has one: here decays are at most 0.05, and 9 steps behind all delays leave 1e-13."""
    derivation = symmem.derive(optimizer)
    if not linear(optimizer):
        assert keeps_bounds(derivation.method)
    # Where a smooth formula is declared for max (ADOPT, Grokfast), theory speaks of that one.
    literal = gentle(as_theory_sees(optimizer))
    steps = 9 + sum(variable.delay for variable in optimizer.momentum)
    formula = derivation.limit_straight
    formula = formula.replace(
        lambda part: isinstance(part, Sum), lambda part: Sum(part.function, (*part.limits[0][:2], steps))
    )
    with mpmath.workdps(25):
        velocity = number_of(derivation.limit.F, literal)
        true = on_even_line(literal, THETA, stepping(velocity), steps, 25)
        assert distance(number_of(formula, literal), true) < mpf(10) ** -9


@pytest.mark.parametrize("optimizer", [*SETTLED, load("adan"), load("optimistic-adam"), pid()], ids=label)
def test_it_differs_from_the_expansion_at_second_order(optimizer: Optimizer) -> None:
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    sizes = sizes_of(derivation.straight - derivation.F - derivation.M, literal)
    if linear(optimizer):
        assert max(sizes) < mpf(10) ** -40
    else:
        assert abs(mpmath.log(sizes[0] / sizes[1], 2) - 2) < 0.05


@pytest.mark.parametrize("optimizer", [*CASCADES, *map(load, ZOO)], ids=label)
def test_the_limit_differs_from_the_expansion_at_second_order(optimizer: Optimizer) -> None:
    """Or not at all; the terms of a sum over the whole past are added up to 20 steps, at decays of at most 0.05."""
    derivation = symmem.derive(optimizer)
    formula = (derivation.limit_straight - derivation.limit.F - derivation.limit.M).replace(
        lambda part: isinstance(part, Sum), lambda part: Sum(part.function, (*part.limits[0][:2], 20))
    )
    sizes = sizes_of(formula, gentle(optimizer))
    if linear(optimizer):
        assert max(sizes) < mpf(10) ** -40
    else:
        assert abs(mpmath.log(sizes[0] / sizes[1], 2) - 2) < 0.1


def sizes_of(difference: object, literal: Literal) -> list[mpf]:
    sizes = []
    for rate in (Rational(1, 2**12), Rational(1, 2**13)):
        scalars = {**literal.numbers, "n": 4, "lr": rate}
        found = evaluate(difference, scalars, {"theta": THETA}, LOSS, literal.functions)
        sizes.append(max(map(abs, found if isinstance(found, list) else [found])))
    return sizes


@pytest.mark.parametrize("optimizer", [adan(), laprop(), adabelief(), load("optimistic-adam")], ids=label)
def test_on_a_real_line_it_is_the_optimizer(optimizer: Optimizer) -> None:
    """A quadratic loss, and iterates that lie on a line: nothing is linearised."""
    derivation, plain = symmem.derive(optimizer), literal_of(optimizer)
    loss = quadratic_loss([[3, 1, 2], [1, -2, 1], [0, 1, 1]])
    literal = Literal(optimizer, plain.values, loss, plain.functions)
    along = literal.frozen(THETA, 1)[0]
    with mpmath.workdps(50):
        rate = mpf(LR.p) / LR.q
        line = [tuple(x + k * rate * v for x, v in zip(THETA, along, strict=True)) for k in range(8)]
        scalars = {**literal.numbers, "n": 7, "lr": LR}
        found = evaluate(derivation.straight, scalars, {"theta": THETA}, loss, literal.functions)
        assert distance(found, literal.direction(line)) < mpf(10) ** -12


@pytest.mark.parametrize("optimizer", [rmsprop_momentum(), adopt()], ids=label)
def test_steps_that_change_leave_no_line_at_step_n(optimizer: Optimizer) -> None:
    derivation = symmem.derive(optimizer)
    assert not derivation.straight
    assert "changes from step to step" in str(derivation.straight)
    assert derivation.limit_straight.has(symmem.D2L)


@pytest.mark.parametrize("optimizer", [o for o in EVERY if linear(o)], ids=label)
def test_a_linear_method_has_the_expansion_itself(optimizer: Optimizer) -> None:
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    with mpmath.workdps(50):
        for n in (1, 4):
            whole = number_of(derivation.F + derivation.M, literal, n=n)
            assert distance(number_of(derivation.straight, literal, n=n), whole) < mpf(10) ** -40


@pytest.mark.parametrize("name", ["rmsprop-momentum-optax", "laprop"])
def test_the_bound_of_the_optimizer_holds(name: str) -> None:
    """m1 >= (1 - beta) grad^2 at every step, so that no summand exceeds 1/sqrt(1 - beta), for any line."""
    module = probe.module(numpy_module(symmem.derive(load(name))))
    random = np.random.default_rng(0)
    grad, product = (random.standard_normal(5000) * 10.0 ** random.uniform(-6, 3, 5000) for _ in range(2))
    # A weight below 1 - beta at its own step makes the bound sharp enough to be missed.
    given, gain = (
        ({"beta": 0.95, "momentum": 0.5}, 2.0) if "momentum" in name else ({"beta1": 0.5, "beta2": 0.95}, 1.0)
    )
    found = module.straight(np.zeros(5000), lambda _: grad, lambda *_: product, lr=0.3, eps=1e-12, **given)
    bound = gain / np.sqrt(0.05)
    assert 0.9 * gain < np.abs(found).max() < bound * (1 + 1e-9)


def test_what_is_read_at_a_delay_keeps_its_digits() -> None:
    """The moments of the step before, for decays near 1."""
    derivation = symmem.derive(load("optimistic-adam"))
    module = probe.module(numpy_module(derivation))
    low = {"beta1": 0.99999, "beta2": 1 - 2.0**-24}
    theta = np.array([float(x) for x in THETA])
    gradient = np.array([float(x) for x in LOSS.gradient(tuple(theta))])
    hessian = np.array([[float(x) for x in LOSS.contraction(tuple(theta), unit)] for unit in np.eye(3)])
    for n in (1, 2, 9):
        values = {**derivation.optimizer.defaults, **low, "n": n, "lr": 0.01}
        true = np.array([float(x) for x in evaluate(derivation.straight, values, {"theta": theta}, LOSS)])
        found = module.straight(theta, lambda _: gradient, lambda _, v: hessian @ v, n=n, lr=0.01, **low)
        assert np.abs(found - true).max() < 1e-14 * np.abs(true).max()
