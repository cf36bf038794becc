"""Delays on mini-batches for symbolic n and symbolic N: all orders of the batches, in exact rationals.

The weights are those of the declarations, written by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from sympy import Expr, Integer, Rational, Symbol

import symmem
from symmem.algebra.symbols import BATCHES
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling

HESSIANS = [Fraction(x) for x in ("3", "-1/2", "5/3", "2", "7/4", "-3/5", "1/3")]
SLOPES = [Fraction(x) for x in ("1", "2/3", "-5/2", "1/4", "3", "-1/7", "2")]
A, C = Fraction(3, 5), Fraction(1, 3)
Weight = Callable[[int, int], Fraction]


def geometric(n: int, k: int) -> Fraction:  # noqa: ARG001
    return A**k if k >= 0 else Fraction(0)


def delayed(d: int, n: int, k: int, *, empty: bool = False) -> Fraction:
    return Fraction(k == (d if empty else min(n, d)))


def composed(outer: Weight, inner: Weight) -> Weight:
    """``sum_r c1(n, n-r) c2(r, r-p)``, p the step that both look at in the end."""
    return lambda n, k: sum((outer(n, n - r) * inner(r, r - n + k) for r in range(n - k, n + 1)), Fraction(0))


def declared(folder: Path, phi: str, *variables: str) -> symmem.Optimizer:
    file = folder / "own.toml"
    body = "".join(f"[[momentum]]\n{each}\n" for each in variables)
    used = "".join(
        f"{name} = 0.5\n" for name, sign in (("beta", '"beta"'), ("c", "c*")) if sign in phi + body
    )
    file.write_text(
        f'name = "own"\ntitle = "Own"\nphi = "{phi}"\n[parameters]\n{used}{body}', encoding="utf-8"
    )
    return symmem.load(file)


AVERAGE = 'g = "{g}"\nbeta = "beta"\nb = 1'
DELAY = 'g = "{g}"\ndelay = {d}'
OWN: dict[str, tuple[tuple[str, ...], Weight]] = {
    "a memory of a delay": (
        ("m2", DELAY.format(g="grad", d=2), AVERAGE.format(g="m1")),
        composed(geometric, lambda n, k: delayed(2, n, k)),
    ),
    "a delay of a memory": (
        ("m2", AVERAGE.format(g="grad"), DELAY.format(g="m1", d=3)),
        composed(lambda n, k: delayed(3, n, k), geometric),
    ),
    "a delay that starts empty beside a memory": (
        ("m1 + c*m2", AVERAGE.format(g="grad"), DELAY.format(g="grad", d=2) + "\nstart = 0"),
        lambda n, k: geometric(n, k) + C * delayed(2, n, k, empty=True),
    ),
    "a delay of a delay": (
        ("m1 + c*m2", DELAY.format(g="grad", d=1), DELAY.format(g="m1", d=2)),
        lambda n, k: delayed(1, n, k) + C * delayed(3, n, k),
    ),
}
ZOO: dict[str, Weight] = {
    "delayed-gd": lambda n, k: delayed(4, n, k),
    "optimistic-gd": lambda n, k: (2 + A) * (k == 0) - A * delayed(1, n, k),
    "adams-bashforth": lambda n, k: Fraction(3, 2) * (k == 0) - delayed(1, n, k) / 2,
    "pid": lambda n, k: (
        (k == 0)
        + C * geometric(n, k)
        + 7 * (1 - A) * (geometric(n, k) - composed(geometric, lambda r, j: delayed(1, r, j))(n, k))
    ),
}
CASES = [*OWN, *ZOO]


def of_case(case: str, folder: Path) -> tuple[symmem.Optimizer, Weight]:
    return (declared(folder, *OWN[case][0]), OWN[case][1]) if case in OWN else (symmem.load(case), ZOO[case])


def exact(expression: Expr, n: int = 0, count: int = 0, beta: Fraction = A) -> Fraction:
    values = {"beta": beta, "alpha": 2, "c": C, "integral": C, "derivative": 7, "lr": 1, "variance": 1}
    known = {Symbol(name): Rational(Fraction(value)) for name, value in values.items()}
    found = expression.xreplace({**known, Symbol("n"): Integer(n), BATCHES: Integer(count)}).doit()
    return Fraction(int(found.p), int(found.q))


def covariance(count: int) -> tuple[Fraction, Fraction, Fraction]:
    """Hessian times gradient of the mean, E Dxi xi, and E xi^2, in one dimension."""
    h, g = sum(HESSIANS[:count]) / count, sum(SLOPES[:count]) / count
    pairs = [(x - h, y - g) for x, y in zip(HESSIANS[:count], SLOPES[:count], strict=True)]
    return h * g, sum(x * y for x, y in pairs) / count, sum(y * y for _, y in pairs) / count


def mean_correction(weight: Weight, n: int) -> Fraction:
    table = [[weight(s, j) for j in range(s + 1)] for s in range(n + 1)]
    total, orders = Fraction(0), list(permutations(range(n + 1)))
    for order in orders:
        updates = [sum(table[s][j] * SLOPES[order[s - j]] for j in range(s + 1)) for s in range(n)]
        total += sum(table[n][k] * HESSIANS[order[n - k]] * sum(updates[n - k :]) for k in range(1, n + 1))
    return total / len(orders)


FAR = [4, pytest.param(6, marks=pytest.mark.prove)]


@pytest.mark.parametrize("last", FAR)
@pytest.mark.parametrize("case", CASES)
def test_every_step_is_the_mean_over_all_orders(case: str, last: int, tmp_path: Path) -> None:
    optimizer, weight = of_case(case, tmp_path)
    found = mean_over_batches(method_of(optimizer), Sampling(), "n")
    assert isinstance(found, MeanOverBatches)
    assert found.pairs is not None
    assert exact(found.pairs.equal) == exact(found.pairs.different) == 0
    for n in range(1, last + 1):
        full, noisy, _ = covariance(n + 1)
        equal, different = exact(found.pairs.equal, n), exact(found.pairs.different, n)
        assert mean_correction(weight, n) == (equal + different) * full + (equal - different / n) * noisy
        assert exact(found.pairs.weight, n, n + 1) == equal - different / n


@pytest.mark.parametrize("case", CASES)
def test_late_steps_are_the_sums_over_the_weights(case: str, tmp_path: Path) -> None:
    """``C_eq`` and ``C_neq`` from their definition, after the first steps and at a decay of 0."""
    optimizer, weight = of_case(case, tmp_path)
    found = mean_over_batches(method_of(optimizer), Sampling(None), "n")
    assert isinstance(found, MeanOverBatches)
    assert found.pairs is not None
    for n in (9, 14):
        table = [[weight(s, j) for j in range(s + 1)] for s in range(n + 1)]
        equal = sum(table[n][n - s + j] * table[s][j] for s in range(n) for j in range(s + 1))
        every = sum(sum(table[n][n - s :]) * sum(table[s]) for s in range(n))
        assert exact(found.pairs.equal, n) == equal
        assert exact(found.pairs.different, n) == every - equal
    for n in range(5):
        near = exact(found.pairs.equal, n, beta=Fraction(1, 10**9))
        assert abs(exact(found.pairs.equal, n, beta=Fraction(0)) - near) < Fraction(1, 10**6)


@pytest.mark.parametrize("last", FAR)
@pytest.mark.parametrize("case", CASES)
def test_an_epoch_of_any_number_of_batches(case: str, last: int, tmp_path: Path) -> None:
    """Variance of the end point and shift of its mean, over all orders of 2, 3, ... batches."""
    optimizer, weight = of_case(case, tmp_path)
    around = mean_over_batches(method_of(optimizer), Sampling(), "limit").epoch
    for count in range(2, last + 1):
        full, noisy, variance = covariance(count)
        table = [[weight(s, j) for j in range(s + 1)] for s in range(count)]
        ends, second = [], Fraction(0)
        for order in permutations(range(count)):
            first = [-sum(table[s][j] * SLOPES[order[s - j]] for j in range(s + 1)) for s in range(count)]
            ends.append(sum(first))
            ways = [sum(first[:s]) for s in range(count)]
            second -= sum(
                table[s][j] * HESSIANS[order[s - j]] * ways[s - j] for s in range(count) for j in range(s + 1)
            )
        mean = sum(ends) / len(ends)
        spread = sum((end - mean) ** 2 for end in ends) / len(ends)
        assert spread == exact(around.variance, count=count) * variance
        gains = [sum(row) for row in table]
        every = sum(table[s][j] * sum(gains[: s - j]) for s in range(count) for j in range(s + 1))
        assert second / len(ends) == every * full - exact(around.shift, count=count) * noisy
