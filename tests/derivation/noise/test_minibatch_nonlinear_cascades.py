"""Cascades that are curved, on mini-batches: all orders at a step, and literal recursions after many steps.

After many steps the truth is a recursion written by hand for one parameter.  To second order noise enters by pairs of
steps, so that the mean over all draws is a sum over single noisy steps and over the history on which all are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Function, Integer, Rational, Symbol

import symmem
from symmem.checks.noise import three_batches
from symmem.derivation.noise.cascade_noise import SettledCascade
from symmem.derivation.noise.mean_over_batches import (
    MeanOverBatches,
    mean_over_batches,
    noise_in_mean,
    with_batches,
)
from symmem.method.merging import merged
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling
from symmem.verification.batches import Batches, NoisyOptimizer
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import probe_point

HEAD = """name = "{name}"
title = "Mine"
phi = "{phi}"
[parameters]
a = 0.25
b = 0.3
eps = 0.2
"""
VARIABLE = '[[momentum]]\ng = "{}"\n{}\n'
A, B, EPS = mpf(1) / 4, mpf(3) / 10, mpf(1) / 5
VALUES = {"a": Rational(1, 4), "b": Rational(3, 10), "eps": Rational(1, 5)}
BC = 'beta = "{0}"\nb = "(1 - {0})/(1 - {0}**(n + 1))"'
SUM = 'beta = "{0}"\nb = "1"'
Numbers = Sequence[mpf]


def average(values: Numbers, decay: mpf, *, corrected: bool) -> list[mpf]:
    """Every step's average; the sum where it is not corrected."""
    found, running = [], mpf(0)
    for n, value in enumerate(values):
        running = decay * running + value
        found.append(running * (1 - decay) / (1 - decay ** (n + 1)) if corrected else running)
    return found


def laprop(_: Numbers, g: Numbers) -> list[mpf]:
    squares = average([x * x for x in g], B, corrected=True)
    return average([x / mpmath.sqrt(s + EPS) for x, s in zip(g, squares, strict=True)], A, corrected=True)


def belief(_: Numbers, g: Numbers) -> list[mpf]:
    first = average(g, A, corrected=True)
    spread = average([(x - m) ** 2 for x, m in zip(g, first, strict=True)], B, corrected=True)
    return [m / mpmath.sqrt(s + EPS) for m, s in zip(first, spread, strict=True)]


def adan(_: Numbers, g: Numbers) -> list[mpf]:
    old = [g[max(n - 1, 0)] for n in range(len(g))]
    squares = average([(2 * x - y) ** 2 for x, y in zip(g, old, strict=True)], B, corrected=True)
    return [x / mpmath.sqrt(s + EPS) for x, s in zip(average(g, A, corrected=True), squares, strict=True)]


def tower(theta: Numbers, g: Numbers) -> list[mpf]:
    """Three memories, one of another, the second with the iterate and a decay below 0, the third curved again."""
    one = average([x * x * t for x, t in zip(g, theta, strict=True)], A, corrected=True)
    two = average([x * t / (1 + EPS + m) for x, t, m in zip(g, theta, one, strict=True)], -B, corrected=False)
    return average([m * m * x + t for m, x, t in zip(two, g, theta, strict=True)], B, corrected=True)


CASCADES: dict[str, tuple[str, list[tuple[str, str]], Callable[[Numbers, Numbers], list[mpf]]]] = {
    "laprop": ("m2", [("grad**2", BC.format("b")), ("grad/sqrt(m1 + eps)", BC.format("a"))], laprop),
    "belief": ("m1/sqrt(m2 + eps)", [("grad", BC.format("a")), ("(grad - m1)**2", BC.format("b"))], belief),
    "adan": (
        "m3/sqrt(m2 + eps)",
        [("grad", "delay = 1"), ("(2*grad - m1)**2", BC.format("b")), ("grad", BC.format("a"))],
        adan,
    ),
    "tower": (
        "m3",
        [
            ("grad**2*theta", BC.format("a")),
            ("grad*theta/(1 + eps + m1)", SUM.format("-b")),
            ("m2**2*grad + theta", BC.format("b")),
        ],
        tower,
    ),
}  # fmt: skip


def declared(name: str, folder: Path) -> symmem.Optimizer:
    phi, variables, _ = CASCADES[name]
    file = folder / f"{name}.toml"
    text = HEAD.format(name=name, phi=phi) + "".join(VARIABLE.format(*each) for each in variables)
    file.write_text(text, encoding="utf-8")
    return symmem.load(file)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize(
    ("name", "step"),
    [
        *((name, 1) for name in CASCADES),
        *(pytest.param(name, 2, marks=pytest.mark.prove) for name in CASCADES),
    ],
)
def test_all_orders_at_a_step(name: str, step: int, replacement: bool, tmp_path: Path) -> None:
    optimizer, batches, point = declared(name, tmp_path), three_batches(), probe_point(2)
    truth = NoisyOptimizer(optimizer, VALUES, batches, 48)
    found = mean_over_batches(method_of(optimizer), Sampling(None) if replacement else Sampling(), step)
    assert isinstance(found, MeanOverBatches)
    for formula, value in ((found.frozen, truth.frozen), (found.memory, truth.correction)):
        expected = truth.second_order(value, point, step, replacement=replacement)
        with mpmath.workdps(48):
            variance, functions = batches.averages(point)
            numbers = {**VALUES, "lr": 1, "batches": 3}
            vectors = {"theta": point, "variance": variance}
            got = evaluate(formula, numbers, vectors, batches.loss, functions)
            for x, y in zip(got, expected, strict=True):
                assert abs(x - y) < mpf(10) ** -12 * max(map(abs, expected))


@pytest.mark.prove
@pytest.mark.parametrize("name", ["laprop", "adan"])
def test_all_orders_of_four_batches_at_the_third_step(name: str, tmp_path: Path) -> None:
    """Without replacement, two of the four alike; the formula has the numbers put in."""
    optimizer, three, point = declared(name, tmp_path), three_batches(), probe_point(2)
    batches = Batches(three.loss, (*three.noise, three.noise[0]))
    truth = NoisyOptimizer(optimizer, VALUES, batches, 48)
    found = noise_in_mean(method_of(optimizer.with_values(**VALUES)), Sampling(Integer(4)), 3)
    assert isinstance(found, MeanOverBatches)
    for formula, value in ((found.frozen, truth.frozen), (found.memory, truth.correction)):
        expected = truth.second_order(value, point, 3, replacement=False)
        with mpmath.workdps(48):
            variance, functions = batches.averages(point)
            vectors = {"theta": point, "variance": variance}
            got = evaluate(formula, {"lr": 1}, vectors, batches.loss, functions)
            for x, y in zip(got, expected, strict=True):
                assert abs(x - y) < mpf(10) ** -12 * max(map(abs, expected))


THETA, SPREAD, CHANGE = mpf("0.7"), mpf("0.4"), mpf("0.9")
"""The noise of a batch is ``t zeta (SPREAD + CHANGE (theta - THETA))``, zeta of variance 1."""


def noisy(run: Callable[[Numbers, Numbers], list[mpf]], zeta: Numbers, t: mpf) -> tuple[mpf, mpf]:
    """``F^(n)`` and ``M^(n)/h`` on the loss theta^2/2 + theta^4/4, the batch of step s having the noise zeta_s."""
    n, tau = len(zeta) - 1, mpf(10) ** -14

    def updates(points: Numbers) -> list[mpf]:
        noise = [t * z * (SPREAD + CHANGE * (x - THETA)) for x, z in zip(points, zeta, strict=True)]
        return run(points, [x + x**3 + e for x, e in zip(points, noise, strict=True)])

    still = updates([THETA] * (n + 1))
    ways = [mpmath.fsum(still[s:n]) for s in range(n + 1)]
    moved = [updates([THETA + sign * tau * way for way in ways])[-1] for sign in (1, -1)]
    return still[-1], (moved[0] - moved[1]) / (2 * tau)


def second_order(run: Callable[[Numbers, Numbers], list[mpf]], n: int) -> list[tuple[mpf, mpf]]:
    """The coefficients of t^2 in the means of F and of M: of pairs of equal steps, and of all pairs."""
    t = mpf(10) ** -9
    zero = noisy(run, [mpf(0)] * (n + 1), t)

    def curve(zeta: Numbers) -> list[mpf]:
        up, down = noisy(run, zeta, t), noisy(run, zeta, -t)
        return [(x + y - 2 * z) / (2 * t * t) for x, y, z in zip(up, down, zero, strict=True)]

    single = [curve([mpf(s == p) for s in range(n + 1)]) for p in range(n + 1)]
    equal = map(mpmath.fsum, zip(*single, strict=True))
    return list(zip(equal, curve([mpf(1)] * (n + 1)), strict=True))


def number(formula: Expr, batches: int) -> mpf:
    """A formula for one parameter: the functions of vectors are factors."""
    hessian, change = 1 + 3 * THETA**2, 2 * SPREAD * CHANGE
    factors = {
        "D2L": hessian,
        "noisy_hessian": hessian * SPREAD**2,
        "variance_along": change,
        "variance_gradient": change,
    }
    for name, factor in factors.items():
        value = Symbol(f"factor_{name}")
        formula = formula.replace(Function(name), lambda v, value=value: value * v)
        formula = formula.xreplace({value: Rational(str(factor))})
    known = {"theta": "0.7", "grad": str(THETA + THETA**3), "variance": str(SPREAD**2), "lr": "1"}
    known |= {name: str(value) for name, value in VALUES.items()}
    placed = {Symbol(name): Rational(value) for name, value in known.items()}
    return mpf(str(formula.xreplace({**placed, Symbol("batches"): Integer(batches)}).evalf(30)))


@pytest.mark.parametrize(
    "name", ["laprop", "belief", *(pytest.param(name, marks=pytest.mark.prove) for name in ("adan", "tower"))]
)
def test_many_steps(name: str, tmp_path: Path) -> None:
    """From 10^30 batches every draw is new: the limit with replacement."""
    found = noise_in_mean(method_of(declared(name, tmp_path)), Sampling(), "limit")
    assert isinstance(found, MeanOverBatches)
    with mpmath.workdps(50):
        truth = second_order(CASCADES[name][2], 24)
        for batches in (30, 10**30):
            rho = mpf(-1) / (batches - 1)
            for formula, (equal, whole) in zip((found.frozen, found.memory), truth, strict=True):
                expected = (1 - rho) * equal + rho * whole
                assert abs(number(formula, batches) - expected) < mpf(10) ** -8 * abs(expected)


def mean_over_orders(run: Callable[[Numbers, Numbers], list[mpf]], n: int) -> list[mpf]:
    """The coefficients of t^2 in the means of F and of M over every order of n + 1 batches, one after another."""
    t = mpf(10) ** -9
    raw = [mpf(3 * k * k % 7) + mpf(k) / 3 for k in range(n + 1)]
    middle = mpmath.fsum(raw) / len(raw)
    spread = mpmath.sqrt(mpmath.fsum((x - middle) ** 2 for x in raw) / len(raw))
    orders = list(permutations((x - middle) / spread for x in raw))
    runs = [noisy(run, order, sign * t) for order in orders for sign in (1, -1)]
    zero = noisy(run, [mpf(0)] * (n + 1), t)
    means = [mpmath.fsum(each) / len(runs) for each in zip(*runs, strict=True)]
    return [(mean - still) / t**2 for mean, still in zip(means, zero, strict=True)]


@pytest.mark.prove
@pytest.mark.parametrize("step", [4, 5])
@pytest.mark.parametrize("name", CASCADES)
def test_every_order_of_an_epoch_at_its_last_step(name: str, step: int, tmp_path: Path) -> None:
    """120 and 720 orders; the formula has the numbers put in."""
    optimizer = declared(name, tmp_path).with_values(**VALUES)
    found = noise_in_mean(method_of(optimizer), Sampling(Integer(step + 1)), step)
    assert isinstance(found, MeanOverBatches)
    with mpmath.workdps(50):
        truth = mean_over_orders(CASCADES[name][2], step)
        for formula, expected in zip((found.frozen, found.memory), truth, strict=True):
            assert abs(number(formula, step + 1) - expected) < mpf(10) ** -12 * abs(expected)


@pytest.mark.parametrize("name", ["adam", "lion"])
def test_what_reads_nothing_is_a_cascade_too(name: str) -> None:
    """The trees of a cascade give what the sums of five kinds give."""
    method, sampling = method_of(symmem.load(name)), Sampling()
    known = noise_in_mean(method, sampling, "limit")
    assert isinstance(known, MeanOverBatches)
    found = SettledCascade(with_batches(merged(method), sampling), sampling)
    rows = ((found.frozen, known.frozen), (Symbol("lr") * found.memory(), known.memory))
    for one, other in rows:
        numbers = [_factors(each) for each in (one, other)]
        symbols = sorted(numbers[0].free_symbols | numbers[1].free_symbols, key=str)
        point = {symbol: Rational(place + 2, place + 7) for place, symbol in enumerate(symbols)}
        first, second = (each.xreplace(point).evalf(30) for each in numbers)
        assert abs(first - second) < 1e-20
        assert abs(second) > 1e-6


def _factors(formula: Expr) -> Expr:
    """The functions of vectors as different factors."""
    for head, factor in (("D2L", 3), ("noisy_hessian", 5), ("variance_along", 7), ("variance_gradient", 11)):
        formula = formula.replace(Function(head), lambda v, factor=factor: factor * v)
    return formula
