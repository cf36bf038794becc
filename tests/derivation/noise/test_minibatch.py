"""Mini-batches: every formula against the mean over all orders in which the batches can come."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Integer, Product, Rational, Symbol

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.algebra.symbols import BATCHES
from symmem.derivation.noise.epoch import Epoch
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling
from symmem.verification.batches import Batches, NoisyOptimizer
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point, ridge_loss
from symmem.verification.ridges import Monomial, exponential, mixing, sine
from symmem.verification.vectors import relative_error

ROWS = mixing(6, 2, twist=5)
BATCHES_OF_TEST = Batches(
    coupled_loss(2),
    (
        ridge_loss([(mpf(3) / 4, sine, ROWS[0]), (mpf(1) / 2, Monomial(2), ROWS[1])]),
        ridge_loss([(mpf(5) / 8, exponential, ROWS[2]), (mpf(-1) / 2, sine, ROWS[3])]),
    ),
)
POINT = probe_point(2)
VALUES = {"eps": "1/5", "beta": "3/5", "beta1": "2/5", "beta2": "7/10", "weight_decay": "1/10", "nu": "3/4"}


def noise(name: str, at: int | str, sampling: Sampling) -> MeanOverBatches:
    found = mean_over_batches(method_of(symmem.load(name)), sampling, at)
    assert isinstance(found, MeanOverBatches), str(found)
    return found


def number(expression: Expr, values: dict[str, str]) -> list[mpf]:
    variance, functions = BATCHES_OF_TEST.averages(POINT)
    numbers = {**values, "lr": 1, "batches": BATCHES_OF_TEST.count}
    vectors = {"theta": POINT, "variance": variance}
    found = evaluate(expression, numbers, vectors, BATCHES_OF_TEST.loss, functions)
    return found if isinstance(found, list) else [found] * len(POINT)


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("adamw", False),
        ("adam", True),
        ("rmsprop", False),
        ("lion", False),
        ("adam-l2", False),
        ("signum", True),
        ("nesterov", False),
        ("sgd-l2", True),
    ],
)
def test_second_order_in_the_noise_is_that_of_all_draws(name: str, replacement: bool) -> None:
    optimizer = symmem.load(name)
    values = {parameter.name: VALUES[parameter.name] for parameter in optimizer.parameters}
    truth = NoisyOptimizer(optimizer, values, BATCHES_OF_TEST, digits=48)
    found = noise(name, 2, Sampling(None) if replacement else Sampling())
    with mpmath.workdps(50):
        memory = truth.second_order(truth.correction, POINT, 2, replacement=replacement)
        assert relative_error(number(found.memory, values), memory) < 1e-13
        frozen = truth.second_order(truth.frozen, POINT, 2, replacement=replacement)
        if found.frozen == 0:
            assert max(map(abs, frozen)) < 1e-25
        else:
            assert relative_error(number(found.frozen, values), frozen) < 1e-13


@pytest.mark.parametrize("name", ["heavyball", "adam", "lion", "aggmo", "optimistic-gd"])
def test_the_limit_is_where_the_steps_go(name: str) -> None:
    optimizer = symmem.load(name)
    chosen = {"beta": "1/5", "beta1": "1/6", "beta2": "1/7", "eps": "1/5"}
    settled = optimizer.with_values(**{p.name: chosen.get(p.name, "1/8") for p in optimizer.parameters})
    method = method_of(settled)
    limit, *steps = (mean_over_batches(method, Sampling(), at) for at in ("limit", 5, 9))
    with mpmath.workdps(40):
        end = number(limit.memory, {})
        early, late = (relative_error(number(step.memory, {}), end) for step in steps)
    assert late < 1e-4
    assert late <= early / 30


LINEAR = {
    "heavyball": lambda n, k, beta: beta**k,
    "ema-momentum": lambda n, k, beta: (1 - beta) * beta**k,
    "nesterov": lambda n, k, beta: beta ** (k + 1) + (k == 0),
    "ema-momentum-debiased": lambda n, k, beta: (1 - beta) * beta**k / (1 - beta ** (n + 1)),
    "gd": lambda n, k, beta: Fraction(k == 0),
}
HESSIANS = [Fraction(3), Fraction(-1, 2), Fraction(5, 3), Fraction(2), Fraction(7, 4), Fraction(-3, 5)]
SLOPES = [Fraction(1), Fraction(2, 3), Fraction(-5, 2), Fraction(1, 4), Fraction(3), Fraction(-1, 7)]
BETA = Fraction(3, 5)


def covariance(count: int) -> tuple[Fraction, Fraction, Fraction]:
    """Of one-dimensional batches at the point 0: ``Hessian times gradient`` of the mean, E Dxi xi, and E xi^2."""
    hessians, slopes = HESSIANS[:count], SLOPES[:count]
    mean_h, mean_g = sum(hessians) / count, sum(slopes) / count
    pairs = [(h - mean_h, g - mean_g) for h, g in zip(hessians, slopes, strict=True)]
    return mean_h * mean_g, sum(h * g for h, g in pairs) / count, sum(g * g for _, g in pairs) / count


def exact(expression: Expr, count: int, n: int = 0) -> Fraction:
    values = {Symbol("beta"): Rational(3, 5), BATCHES: Integer(count), Symbol("n"): Integer(n)}
    found = expression.xreplace(values)
    if found.has(Product):  # of which SymPy makes gamma functions
        return Fraction(mpmath.nstr(evaluate(found, {}, {}), 48)).limit_denominator(10**20)
    found = found.doit()
    return Fraction(int(found.p), int(found.q))


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_linear_methods_over_all_orders_in_rationals(name: str) -> None:
    """``E M/h = (C_eq + C_neq) H g + (C_eq - C_neq/(N-1)) E Dxi xi`` (the paper's appendix on mini-batches)."""
    weight = LINEAR[name]
    for n in range(1, 6):
        count = n + 1
        full, noisy, _ = covariance(count)
        total = Fraction(0)
        orders = list(permutations(range(count)))
        for order in orders:
            updates = [sum(weight(s, j, BETA) * SLOPES[order[s - j]] for j in range(s + 1)) for s in range(n)]
            total += sum(
                weight(n, k, BETA) * HESSIANS[order[n - k]] * sum(updates[n - k :]) for k in range(1, n + 1)
            )
        pairs = noise(name, "n", Sampling()).pairs
        assert pairs is not None
        equal, different = exact(pairs.equal, count, n), exact(pairs.different, count, n)
        assert total / len(orders) == (equal + different) * full + (equal - different / (count - 1)) * noisy


def check_an_epoch(around: Epoch, weight: Callable[[int, int, Fraction], Fraction]) -> None:
    """Six batches: the variance of the end point over 720 orders, and the noise in its mean at order h^2."""
    count = 6
    full, noisy, variance = covariance(count)
    ends, second = [], Fraction(0)
    for order in permutations(range(count)):
        first = [-sum(weight(s, j, BETA) * SLOPES[order[s - j]] for j in range(s + 1)) for s in range(count)]
        ends.append(sum(first))
        ways = [sum(first[:s]) for s in range(count)]  # theta_s / h at order h
        second -= sum(
            weight(s, j, BETA) * HESSIANS[order[s - j]] * ways[s - j]
            for s in range(count)
            for j in range(s + 1)
        )
    mean = sum(ends) / len(ends)
    measured = sum((end - mean) ** 2 for end in ends) / len(ends)
    per_variance = around.variance.xreplace({Symbol("variance"): Integer(1), Symbol("lr"): Integer(1)})
    assert measured == exact(per_variance, count) * variance
    gains = [sum(weight(s, j, BETA) for j in range(s + 1)) for s in range(count)]
    every = sum(weight(s, j, BETA) * sum(gains[: s - j]) for s in range(count) for j in range(s + 1))
    assert second / len(ends) == every * full - exact(around.shift, count) * noisy


@pytest.mark.parametrize("name", sorted(LINEAR))
@pytest.mark.parametrize("symbolic", [True, False])
def test_an_epoch_over_all_orders_in_rationals(name: str, symbolic: bool) -> None:
    around = noise(name, "limit", Sampling() if symbolic else Sampling(Integer(6))).epoch
    assert around is not None
    check_an_epoch(around, LINEAR[name])


@pytest.mark.parametrize("batches", [BATCHES, Integer(6)])
def test_an_epoch_whose_factors_have_no_known_limit(batches: Expr) -> None:
    """At a step, and over an epoch, nothing asks for one."""
    factor = "prod(1 - 1/(i + 2)**2, i, 0, n)"
    parameters = {"beta": {"default": Rational(3, 5), "range": "[0, 1)"}}
    method = method_of(Optimizer("product", "m1", [Momentum("grad", "beta", factor)], parameters))
    assert isinstance(mean_over_batches(method, Sampling(batches), "limit"), Missing)
    found = mean_over_batches(method, Sampling(batches), 2)
    assert isinstance(found, MeanOverBatches)
    assert found.epoch is not None
    check_an_epoch(found.epoch, lambda n, k, beta: beta**k * Fraction(n + 3, 2 * n + 4))


def test_gradient_descent_without_replacement_has_the_loss_of_smith_and_others() -> None:
    """``L + h/4 sum_i V_i``: the mean of N steps differs by ``h^2 N/2 E Dxi xi``, E Dxi xi = grad sum_i V_i / 2."""
    around = noise("gd", "limit", Sampling()).epoch
    assert around is not None
    assert (around.shift - BATCHES / 2).expand() == 0
    assert around.variance == 0


@pytest.mark.parametrize(
    ("name", "word"),
    [("lamb", "joins entries"), ("sgd-warmup", "constant learning rate")],
)
def test_what_is_not_known_says_why(name: str, word: str) -> None:
    found = mean_over_batches(method_of(symmem.load(name)), Sampling(), "limit")
    assert not found
    assert word in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--batches", "3"], "add --minibatch"),
        (["--minibatch", "--batches", "3", "--replacement"], "exclude each other"),
        (["--minibatch", "--batches", "3", "--at-step", "3"], "an epoch has 3"),
        (["--minibatch", "--batches", "1"], "--batches"),
    ],
)
def test_the_command_refuses_draws_that_do_not_exist(options: list[str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "symmem", "derive", "heavyball", *options],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert not done.stdout


def test_an_epoch_of_adam_keeps_its_sums_for_any_number_of_batches() -> None:
    """``-h sum_s (w1 m1 + w2 m2)`` of six batches in all orders, the preconditioner frozen at ``eps = grad^2``."""
    around = noise("adam", "limit", Sampling()).epoch
    assert around is not None
    decays, g = (Fraction(2, 5), Fraction(7, 10)), Fraction(3)
    # Phi = m1/sqrt(m2 + eps): over 1/sqrt(18), d1 Phi = 1 and d2 Phi 2 grad = -grad/(2 18) 2 grad.
    slopes = (Fraction(1), -g / 36 * 2 * g)
    noises = [x - sum(SLOPES[:6]) / 6 for x in SLOPES[:6]]
    ends = []
    for order in permutations(range(6)):
        moved = Fraction(0)
        for decay, slope in zip(decays, slopes, strict=True):
            for s in range(6):
                held = sum(decay**j * noises[order[s - j]] for j in range(s + 1))
                moved += slope * held * (1 - decay) / (1 - decay ** (s + 1))
        ends.append(moved)
    mean = sum(ends) / len(ends)
    measured = sum((end - mean) ** 2 for end in ends) / len(ends)
    known = {"beta1": Rational(2, 5), "beta2": Rational(7, 10), "eps": 9, "grad": 3, "lr": 1, "batches": 6}
    placed = around.variance.xreplace({Symbol(name): Integer(0) + value for name, value in known.items()})
    variance = sum(x * x for x in noises) / 6
    found = placed.xreplace({Symbol("variance"): Rational(variance.numerator, variance.denominator)}).doit()
    assert Fraction(int((18 * found).p), int((18 * found).q)) == measured
