"""Random declarations: what is said of their modified loss holds by numbers, with a loss of third derivatives.

A loss that is claimed makes the step, ``P grad Ltilde + decay theta = F + M`` with a gradient by differences, exactly
or at the stated rate; a denial stands where no decay makes ``F_1/P`` symmetric; every other answer claims nothing.
"""

from __future__ import annotations

import random
import re

import mpmath
import pytest
from differences import DIGITS, jacobian, value
from sympy import Expr, Rational, S, Symbol
from truth import THETA, literal_of

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.errors import SymmemError
from symmem.verification.error_orders import fit_order
from symmem.verification.literal import Literal
from symmem.verification.vectors import distance

PARAMETERS = {
    "beta": {"default": Rational(4, 5), "range": "[0, 1)"},
    "gamma": {"default": Rational(3, 5), "range": "[0, 1)"},
    "eps": {"default": Rational(1, 50), "range": "(0, inf)"},
    "delta": {"default": Rational(1, 30), "range": "(0, inf)"},
    "wd": {"default": Rational(3, 10), "range": "[0, inf)"},
    "q": {"default": Rational(1, 3), "range": "(0, 1]"},
    "c": {"default": Rational(7, 5)},
}
SEEN = "grad grad grad**2 grad+wd*theta -grad abs(grad) grad**3 sign(grad) sign(grad)*abs(grad)**q theta tanh(grad)"
DECAYS = ["0", "beta", "beta", "gamma", "beta**2", "1 - beta", "9/10"]
FACTORS = ["1", "1 - {b}", "(1 - {b})/(1 - ({b})**(n + 1))", "c"]
ONE = (
    "m1;sign(m1);m1**3;sign(m1)*sqrt(abs(m1));sign(m1)*abs(m1)**q;m1/sqrt(m1**2 + eps);m1/(abs(m1) + eps);"
    "m1*abs(m1);atan(m1/eps);m1 + c*sign(m1);m1 + m1**3;log(1 + abs(m1))*sign(m1);m1/(1 + abs(m1));m1/norm(m1)"
)
TWO = (
    "m1/sqrt(m2 + eps);m1/(sqrt(m2) + eps);m1/(sqrt(m2 + eps) + delta);m1 - c*m2;m1/(m2 + eps)**q;m1*m2;"
    "atan(m1/sqrt(m2 + eps));sign(m1) + m2;m1 + sign(m2);m1/sqrt(m2 + eps) + c*m1;sign(m1 + m2);"
    "m1/sqrt(m2 + eps*abs(m1));m1*m2/(m2 + eps);m1*exp(-eps*m2);m1*abs(m2)**q;sign(m1)*m2"
)


def declaration(seed: int) -> Optimizer | None:
    """One that can be read; None where the pieces do not fit."""
    draw = random.Random(seed)
    count = draw.choice([1, 2, 2])
    momentum = []
    for place in range(count):
        seen = draw.choice(SEEN.split()) if place == 0 or draw.random() < 0.4 else "grad**2"
        beta = draw.choice(DECAYS)
        momentum.append((seen, beta, draw.choice(FACTORS).format(b=f"({beta})")))
    phi = draw.choice((ONE if count == 1 else TWO).split(";"))
    words = set(re.findall("[a-z]+", f"{phi} {momentum}"))
    parameters = {name: each for name, each in PARAMETERS.items() if name in words}
    try:
        return Optimizer("random", phi, [Momentum(*each) for each in momentum], parameters)
    except SymmemError:
        return None


def gap(derivation: Derivation, literal: Literal, **numbers: Rational) -> mpmath.mpf:
    """How far the step of the claimed loss is from that of the iteration."""
    found = derivation.modified_loss
    assert found is not None
    slope = jacobian(found.potential, literal, **numbers)[0]
    factor, decay = (value(part, literal, **numbers) for part in (found.preconditioner, found.decay))
    truth = value(derivation.limit.F + derivation.limit.M, literal, **numbers)
    with mpmath.workdps(DIGITS):
        return distance(
            [p * g + d * x for p, g, d, x in zip(factor, slope, decay, THETA, strict=True)], truth
        )


def is_symmetric(field: Expr, factor: Expr, literal: Literal) -> bool:
    """Whether ``(field - a theta)/factor`` has a symmetric Jacobian for some number a."""
    own, decay = (jacobian(part / factor, literal) for part in (field, Symbol("theta")))
    pairs = [(0, 1), (0, 2), (1, 2)]
    with mpmath.workdps(DIGITS):
        gaps = [(own[i][j] - own[j][i], decay[i][j] - decay[j][i]) for i, j in pairs]
        if all(abs(b) < 1e-20 for _, b in gaps):
            return max(abs(a) for a, _ in gaps) < 1e-20
        minors = [abs(a * d - b * c) for (a, b), (c, d) in (gaps[:2], gaps[::2], gaps[1:])]
        return max(minors) < 1e-30


def check(optimizer: Optimizer, order: int) -> None:
    try:
        derivation = symmem.derive(optimizer, order)
        missing = isinstance(derivation.limit, Missing) or isinstance(derivation.modified_loss, Missing)
    except SymmemError:
        return
    if missing:
        return
    literal, found = literal_of(optimizer), derivation.modified_loss
    if found is None:
        obstruction = derivation.obstruction
        assert obstruction is not None
        if obstruction.is_denial and obstruction.order == 1:
            first, plain = derivation.coefficients[1], derivation.coefficients[0]
            decay = plain.expand().coeff(Symbol("theta")) if plain.has(Symbol("theta")) else S.Zero
            if not decay.has(Symbol("grad")):
                factor = (plain - decay * Symbol("theta")) / Symbol("grad")
                assert not is_symmetric(first, factor, literal)
    elif str(found.regime) == "exact":
        assert gap(derivation, literal) < 1e-20
    else:
        names = [symbol.name for symbol in found.regime.small]
        sizes = [Rational(1, 10**k) for k in (6, 8, 10)]
        gaps = [gap(derivation, literal, **dict.fromkeys(names, size)) for size in sizes]
        assert gaps[-1] < 1e-2
        assert found.rate is None or gaps[-1] < 1e-40 or fit_order(sizes, gaps).slope > 0.97


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(s, marks=pytest.mark.prove) for s in range(12, 44))]
)
def test_what_is_said_of_the_loss_holds(seed: int) -> None:
    optimizer = declaration(seed)
    if optimizer is not None:
        check(optimizer, 1 + seed % 4 // 3)


@pytest.mark.parametrize(
    "phi", ["sign(m1)*sqrt(abs(m1))", "m1*abs(m1)", "sign(m1)*abs(m1)**q", "-m1*abs(-m1)"]
)
@pytest.mark.parametrize("factor", ["1", "1 + beta**n"])
def test_a_power_of_a_sum_has_a_loss(phi: str, factor: str) -> None:
    """The gain 1/(1 - beta) leaves the absolute value, whatever its factor b was."""
    names = ("beta", "q") if "**q" in phi else ("beta",)
    parameters = {name: PARAMETERS[name] for name in names}
    derivation = symmem.derive(Optimizer("power", phi, [Momentum("grad", "beta", factor)], parameters))
    assert str(derivation.modified_loss.regime) == "exact"
    assert gap(derivation, literal_of(derivation.optimizer)) < 1e-20
