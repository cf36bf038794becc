"""The straight-line history (mathematics.md section 10): its value, its order, its bounds, and where there is none."""

from __future__ import annotations

import mpmath
import numpy as np
import probe
import pytest
from mpmath import mpf
from sympy import Rational, Sum
from truth import EVERY, FIRST, LOSS, LR, THETA, literal_of, load, number_of

import symmem
from symmem.checks import verify
from symmem.checks.claims import random_points, value_of
from symmem.checks.verify import as_theory_sees, dimension_of, layout_of
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.toml import read_toml
from symmem.derivation.derivation import Derivation
from symmem.derivation.past.straight import keeps_bounds, remembering
from symmem.targets.numpy.module import numpy_module
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss
from symmem.verification.straight import straight, velocity
from symmem.verification.values import gentle_values

DECLARED = """
name = "made"
title = "Made"
phi = "{phi}"

[parameters]
beta = {{ default = 0.8, range = "[0, 1)" }}
decay = {{ default = 0.6, range = "[0, 1)" }}
eps = {{ default = 0.02, range = "(0, inf)" }}

[[momentum]]
g = "{first}"
beta = "beta"
b = "{b}"

[[momentum]]
g = "{second}"
beta = "decay"
b = "{c}"
"""
BIASED, UNBIASED = "1 - {0}", "(1 - {0})/(1 - {0}**(n + 1))"


def made(phi: str, first: str, second: str, b: str = BIASED) -> Optimizer:
    factors = {"b": b.format("beta"), "c": b.format("decay")}
    return read_toml(DECLARED.format(phi=phi, first=first, second=second, **factors), "made")


UNUSUAL = {
    "cubic": made("m1/sqrt(m2 + eps)", "grad**3 + theta**2*grad", "grad**2 + theta**4"),
    "absolute": made("m1/(m2 + eps)", "grad", "abs(grad)"),
    "absolute, unbiased": made("m1/(m2 + eps)", "grad", "abs(grad)", UNBIASED),
    "squashed": made("m1 + eps*m2", "tanh(3*grad)", "theta/sqrt(grad**2 + eps)"),
    "two lines": made("m1/sqrt(m2 + eps)", "grad", "grad**2"),
    "a memory of theta": made("m1 + eps*m2", "grad", "theta**2"),
}


def loaded(name: str) -> tuple[Derivation, Literal]:
    optimizer = UNUSUAL.get(name) or load(name)
    return symmem.derive(optimizer), literal_of(optimizer)


def distance(first: object, second: object) -> mpf:
    return max(abs(x - y) for x, y in zip(first, second, strict=True))


@pytest.mark.parametrize("name", [*FIRST, *UNUSUAL])
def test_it_is_the_literal_optimizer_on_lines(name: str) -> None:
    derivation, literal = loaded(name)
    for n in (1, 5):
        with mpmath.workdps(50):
            found = number_of(derivation.straight, literal, n=n)
            assert distance(found, straight(literal, THETA, n, LR)) < mpf(10) ** -40, n


@pytest.mark.parametrize("name", [*FIRST, *UNUSUAL])
def test_the_limit_is_what_many_steps_settle_to(name: str) -> None:
    derivation, literal = loaded(name)
    steps, formula = 150, derivation.limit_straight
    with mpmath.workdps(30):
        if formula.has(Sum):
            formula = formula.replace(
                lambda part: isinstance(part, Sum),
                lambda part: Sum(part.function, (*part.limits[0][:2], steps)),
            )
        far = straight(literal, THETA, steps, LR, 30)
        assert distance(number_of(formula, literal), far) < mpf(10) ** -6


@pytest.mark.parametrize("name", [*FIRST, *UNUSUAL])
def test_it_differs_from_the_expansion_at_second_order(name: str) -> None:
    derivation, literal = loaded(name)
    difference = derivation.straight - derivation.F - derivation.M
    sizes = []
    for rate in (Rational(1, 2**12), Rational(1, 2**13)):
        scalars = {**literal.numbers, "n": 4, "lr": rate}
        found = evaluate(difference, scalars, {"theta": THETA}, LOSS, literal.functions)
        sizes.append(max(map(abs, found if isinstance(found, list) else [found])))
    if derivation.method.is_linear and all(
        channel.g.is_Symbol or channel.g.is_Mul for channel in derivation.method.channels
    ):
        assert max(sizes) < mpf(10) ** -45
    else:
        assert abs(mpmath.log(sizes[0] / sizes[1], 2) - 2) < 0.05


@pytest.mark.parametrize("name", [name for name in FIRST if keeps_bounds(symmem.derive(load(name)).method)])
def test_on_a_real_line_it_is_the_optimizer(name: str) -> None:
    """A quadratic loss, and iterates that lie on a line: no memory is linearised."""
    optimizer = load(name)
    derivation = symmem.derive(optimizer)
    plain = literal_of(optimizer)
    literal = Literal(
        optimizer, plain.values, quadratic_loss([[3, 1, 2], [1, -2, 1], [0, 1, 1]]), plain.functions
    )
    places = [derivation.method.channels.index(each) + 1 for each in remembering(derivation.method)]
    for n in (1, 7):
        along = velocity(literal, THETA, (places or [1])[0], n, 50)
        with mpmath.workdps(50):
            rate = mpf(LR.p) / LR.q
            line = [tuple(x + k * rate * v for x, v in zip(THETA, along, strict=True)) for k in range(n + 1)]
            scalars = {**literal.numbers, "n": n, "lr": LR}
            found = evaluate(derivation.straight, scalars, {"theta": THETA}, literal.loss, literal.functions)
            assert distance(found, literal.direction(line)) < mpf(10) ** -12


@pytest.mark.parametrize("name", ["adam", "adamw", "signum", "lion-bc"])
def test_the_bound_of_the_optimizer_holds(name: str) -> None:
    """|m1| <= B sqrt(m2), B^2 = sum_k c_1(k)^2/c_2(k), for any history (Cauchy and Schwarz); a smoothed sign has 1."""
    module = probe.module(numpy_module(symmem.derive(load(name))))
    random = np.random.default_rng(0)
    grad, product = (random.standard_normal(20000) * 10.0 ** random.uniform(-8, 3, 20000) for _ in range(2))
    betas = {"beta1": 0.9, "beta2": 0.95} if "adam" in name else {}
    more = {} if name in ("adam", "signum") else {"weight_decay": 0.0}
    for n in (0, 1, 3, 30):
        found = module.straight(
            np.zeros(20000), lambda _: grad, lambda *_: product, n=n, lr=0.3, eps=1e-12, **betas, **more
        )
        weights = [[beta**k for k in range(n + 1)] for beta in betas.values()] or [[1.0]] * 2
        first, second = (np.array(row) / sum(row) for row in weights)
        bound = np.sqrt(np.sum(first**2 / second))
        assert np.abs(found).max() < bound * (1 + 1e-9), n
        assert np.abs(found).max() > 0.9, n


def test_two_lines_may_exceed_the_bound_and_it_is_said() -> None:
    derivation = symmem.derive(UNUSUAL["two lines"])
    assert not keeps_bounds(derivation.method)
    assert "can be exceeded" in str(derivation)
    assert "every bound" in str(symmem.derive(load("adamw")))


@pytest.mark.prove
@pytest.mark.parametrize("name", [name for name in EVERY if name not in FIRST])
def test_every_entry_of_the_zoo_differs_from_the_expansion_at_second_order(name: str) -> None:
    """Or not at all; some cascades have a line in the limit alone."""
    derivation = symmem.derive(load(name))
    if derivation.method.is_cascade and not derivation.straight:
        assert "changes from step to step" in str(derivation.straight)
        return  # its limit is in test_cascade_line.py
    seen, layout = as_theory_sees(load(name)), layout_of(load(name))
    literal = verify.literal_of(seen, gentle_values(seen), layout)
    point = random_points(literal, dimension_of(layout), 1)[0]
    difference = derivation.straight - derivation.F - derivation.M
    first, second = (
        max(map(abs, value_of(difference, literal, point, n=4, lr=Rational(1, 2**k)))) for k in (14, 15)
    )
    assert first < mpf(10) ** -25 or abs(mpmath.log(first / second, 2) - 2) < 0.05


def test_a_memory_that_weighs_the_past_by_nothing_has_no_line() -> None:
    text = DECLARED.format(
        phi="m1/(m2 + eps)", first="grad**2", second="grad**2", b="1 - beta", c="1 - decay"
    )
    unsigned = symmem.derive(read_toml(text.replace("[0, 1)", "(-1, 1)"), "made"))
    assert not unsigned.straight
    assert "negative decay" in str(unsigned.straight)
    assert unsigned.limit_straight.has(symmem.D2L)
    # A g that is linear needs no quotient.
    text = DECLARED.format(phi="m1/(m2**2 + eps)", first="grad", second="grad", b="1 - beta", c="1 - decay")
    assert symmem.derive(read_toml(text.replace("[0, 1)", "(-1, 1)"), "made")).straight.has(symmem.D2L)


@pytest.mark.parametrize("rate", ["1/2", "(n + 2)/(2*n + 3)"])
def test_under_a_schedule_it_is_the_expansion_to_first_order(rate: str) -> None:
    """The past steps had their rates, and so had the line: in the limit h is h/2."""
    factors = {"b": UNBIASED.format("beta"), "c": UNBIASED.format("decay")}
    text = DECLARED.format(phi="m1/sqrt(m2 + eps)", first="grad", second="grad**2", **factors)
    optimizer = read_toml(f'{text}\n[schedule]\nrate = "{rate}"\n', "made")
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    limit = derivation.limit
    finite = derivation.straight - derivation.F - derivation.M
    for difference in (finite, derivation.limit_straight - limit.F - limit.M):
        sizes = []
        for step in (Rational(1, 2**12), Rational(1, 2**13)):
            scalars = {**literal.numbers, "n": 4, "lr": step}
            found = evaluate(difference, scalars, {"theta": THETA}, LOSS, literal.functions)
            sizes.append(max(map(abs, found)))
        assert abs(mpmath.log(sizes[0] / sizes[1], 2) - 2) < 0.05
