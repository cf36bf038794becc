"""Linear cascades, delays and long epochs on mini-batches: all orders, in exact rationals.

The weights are those of the declaration, written by hand; every mean is taken over all orders of the batches.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from sympy import Expr, Function, Integer, Rational, Symbol

import symmem
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling

HESSIANS = [Fraction(x) for x in ("3", "-1/2", "5/3", "2", "7/4", "-3/5", "1/3")]
SLOPES = [Fraction(x) for x in ("1", "2/3", "-5/2", "1/4", "3", "-1/7", "2")]
A, B = Fraction(3, 5), Fraction(1, 4)
Weight = Callable[[int, int], Fraction]


def mean_correction(weight: Weight, n: int) -> tuple[Fraction, Fraction, Fraction]:
    """``E M/h`` over all orders of n + 1 batches; Hessian times gradient of the mean; E Dxi xi."""
    count = n + 1
    total, orders = Fraction(0), list(permutations(range(count)))
    table = [[weight(s, j) for j in range(s + 1)] for s in range(n + 1)]
    for order in orders:
        updates = [sum(table[s][j] * SLOPES[order[s - j]] for j in range(s + 1)) for s in range(n)]
        total += sum(table[n][k] * HESSIANS[order[n - k]] * sum(updates[n - k :]) for k in range(1, n + 1))
    h, g = sum(HESSIANS[:count]) / count, sum(SLOPES[:count]) / count
    pairs = zip(HESSIANS[:count], SLOPES[:count], strict=True)
    return total / len(orders), h * g, sum((x - h) * (y - g) for x, y in pairs) / count


def number(expression: Expr, noisy: Fraction = Fraction(0), **values: int) -> Fraction:
    factor = Rational(2 * noisy.numerator, noisy.denominator)
    known = {"beta": Rational(3, 5), "beta1": Rational(3, 5), "beta2": Rational(1, 4), "lr": 1, **values}
    placed = expression.replace(Function("variance_gradient"), lambda w: factor * w)
    found = placed.xreplace({Symbol(name): Integer(0) + value for name, value in known.items()}).doit()
    return Fraction(int(found.p), int(found.q))


def full(weight: Weight, n: int) -> Fraction:
    """``sum_k c(n, k) sum_s gain(s)``: all pairs."""
    gains = [sum(weight(s, j) for j in range(s + 1)) for s in range(n)]
    return sum((weight(n, k) * sum(gains[n - k :]) for k in range(1, n + 1)), Fraction(0))


def average_of_average(folder: Path, first: str, second: str) -> symmem.Optimizer:
    names = "".join(f"{name} = 0.5\n" for name in {first: 0, second: 0})
    variables = "".join(
        f'[[momentum]]\ng = "{g}"\nbeta = "{beta}"\nb = "1 - {beta}"\n'
        for g, beta in (("grad", first), ("m1", second))
    )
    file = folder / "twice.toml"
    head = 'name = "twice"\ntitle = "Twice"\nphi = "m2"\n[parameters]\n'
    file.write_text(head + names + variables, encoding="utf-8")
    return symmem.load(file)


def composed(a: Fraction, b: Fraction) -> Weight:
    return lambda n, k: (1 - a) * (1 - b) * sum((a**i * b ** (k - i) for i in range(k + 1)), Fraction(0))


@pytest.mark.parametrize("decays", [("beta1", "beta2"), ("beta1", "beta1")])
def test_an_average_of_an_average_for_symbolic_n(decays: tuple[str, str], tmp_path: Path) -> None:
    weight = composed(A, B if decays[1] == "beta2" else A)
    found = mean_over_batches(method_of(average_of_average(tmp_path, *decays)), Sampling(), "n")
    assert isinstance(found, MeanOverBatches)
    assert found.pairs is not None
    for n in range(1, 6):
        truth, curved, noisy = mean_correction(weight, n)
        equal, different = (number(part, n=n) for part in (found.pairs.equal, found.pairs.different))
        assert truth == (equal + different) * curved + (equal - different / n) * noisy


GAINS = (Fraction(2), Fraction(1, 3))
AT_STEPS: dict[str, tuple[dict[str, str], Weight]] = {
    "delayed-gd": ({}, lambda n, k: Fraction(k == min(n, 4))),
    "optimistic-gd": (
        {"alpha": "2", "beta": "1/3"},
        lambda n, k: sum(GAINS) * (k == 0) - GAINS[1] * (k == min(n, 1)),
    ),
    "pid": (
        {"beta": "3/5", "integral": "2", "derivative": "1/3"},
        lambda n, k: (
            (k == 0) + 2 * A**k + (1 - A) / 3 * (A**k - (A ** (k - 1) if k else 0) - (A**n if k == n else 0))
        ),
    ),
}


@pytest.mark.parametrize("name", sorted(AT_STEPS))
def test_delays_at_a_step(name: str) -> None:
    values, weight = AT_STEPS[name]
    method = method_of(symmem.load(name).with_values(**values))
    for n in range(1, 4 if name == "pid" else 6):
        truth, curved, noisy = mean_correction(weight, n)
        found = mean_over_batches(method, Sampling(), n)
        assert isinstance(found, MeanOverBatches)
        assert truth == full(weight, n) * curved + number(found.memory, noisy, batches=n + 1)


def test_six_steps_of_heavy_ball() -> None:
    truth, curved, noisy = mean_correction(lambda _n, k: A**k, 6)
    found = mean_over_batches(method_of(symmem.load("heavyball")), Sampling(), "n")
    assert isinstance(found, MeanOverBatches)
    assert truth == full(lambda _n, k: A**k, 6) * curved + number(found.memory, noisy, n=6, batches=7)


@pytest.mark.parametrize("name", ["heavyball", "ema-momentum", "nesterov"])
def test_a_long_epoch_is_that_of_symbolic_n(name: str) -> None:
    """Added up for six batches; beyond some number N is put into the closed form."""
    method = method_of(symmem.load(name))
    closed, added, long = (
        mean_over_batches(method, sampling, "limit")
        for sampling in (Sampling(), Sampling(Integer(6)), Sampling(Integer(10**6)))
    )
    assert isinstance(closed, MeanOverBatches)
    assert closed.epoch is not None
    for part in ("variance", "shift"):
        form = getattr(closed.epoch, part)
        assert (form.xreplace({Symbol("batches"): Integer(6)}) - getattr(added.epoch, part)).simplify() == 0
        assert form.xreplace({Symbol("batches"): Integer(10**6)}) - getattr(long.epoch, part) == 0


def test_noise_in_the_modified_loss() -> None:
    """Heavy ball, each batch drawn anew: ``h beta/(2 (1-beta)(1+beta)) sum_i V_i`` (the paper, Section 5.2)."""
    found = mean_over_batches(method_of(symmem.load("heavyball")), Sampling(None), "limit")
    assert isinstance(found, MeanOverBatches)
    beta, total = Symbol("beta"), Function("total")(Symbol("variance"))
    assert (found.loss - Symbol("lr") * beta * total / (2 * (1 - beta) * (1 + beta))).simplify() == 0
    step = mean_over_batches(method_of(symmem.load("heavyball")), Sampling(None), "n")
    assert step.loss is None
    curved = mean_over_batches(method_of(symmem.load("adam")), Sampling(None), "limit")
    assert curved.loss is None
