"""``emit --minibatch``: the noise of mini-batches in NumPy and PyTorch, against all draws and against 50 digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf
from sympy import Integer, Rational

import symmem
from symmem.checks.noise import three_batches
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.errors import SymmemError
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling
from symmem.targets.registry import TARGETS, Options
from symmem.verification.batches import NoisyOptimizer
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import probe_point

BATCHES, POINT = three_batches(), probe_point(2)
VALUES = {"beta": "3/5", "beta1": "2/5", "beta2": "7/10", "eps": "1/5", "weight_decay": "1/10"}


def module(name: str, target: str) -> SimpleNamespace:
    source = TARGETS[target].source(symmem.derive(name), Options(minibatch=True))
    found: dict[str, Any] = {"__name__": name}
    exec(compile(source, name, "exec"), found)  # what was emitted is what is tested
    return SimpleNamespace(**found)


def grads(theta: Any) -> np.ndarray:
    point = [mpf(float(x)) for x in theta]
    return np.array([[float(x) for x in BATCHES.gradient(i, point, mpf(1))] for i in range(BATCHES.count)])


def hvps(theta: Any, rows: Any) -> np.ndarray:
    """The Hessian of each batch on its row, by central differences of 50 digits."""
    with mpmath.workdps(50):
        point, t, found = [mpf(float(x)) for x in theta], mpf(10) ** -15, []
        for batch, row in enumerate(np.asarray(rows)):
            moved = [
                BATCHES.gradient(
                    batch, [x + s * t * mpf(float(v)) for x, v in zip(point, row, strict=True)], mpf(1)
                )
                for s in (1, -1)
            ]
            found.append([float((a - b) / (2 * t)) for a, b in zip(*moved, strict=True)])
    return np.array(found)


def parameters(name: str) -> dict[str, float]:
    given = {parameter.name: VALUES[parameter.name] for parameter in symmem.load(name).parameters}
    return {each: float(Integer(int(v.split("/")[0])) / int(v.split("/")[1])) for each, v in given.items()}


def values(function: Callable[..., Any], target: str, *given: Any, **more: Any) -> np.ndarray:
    point = [float(x) for x in POINT]
    theta = np.array(point) if target == "numpy" else torch.tensor(point, dtype=torch.float64)
    return np.asarray(function(theta, *given, **more))


@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["heavyball", "nesterov", "sgd-l2"])
def test_a_step_of_a_linear_method_is_the_mean_over_all_draws(name: str, target: str) -> None:
    emitted, exact = module(name, target), {p.name: VALUES[p.name] for p in symmem.load(name).parameters}
    truth = NoisyOptimizer(symmem.load(name), exact, BATCHES, digits=48)
    for batches in (None, BATCHES.count):
        expected = truth.second_order(truth.correction, POINT, 2, replacement=batches is None)
        more = {"n": 2, "batches": batches, **parameters(name)}
        found = values(emitted.noise_correction, target, grads, hvps, lr=0.5, **more)
        assert found == pytest.approx([float(x) / 2 for x in expected], rel=1e-9)
        assert not values(emitted.noise_memoryless, target, grads, **more).any()


@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["rmsprop", "lion", "adam", pytest.param("adamw", marks=pytest.mark.prove)])
def test_a_step_of_a_curved_method_is_the_mean_over_all_draws(name: str, target: str) -> None:
    emitted, exact = module(name, target), {p.name: VALUES[p.name] for p in symmem.load(name).parameters}
    truth = NoisyOptimizer(symmem.load(name), exact, BATCHES, digits=48)
    for batches in (None, BATCHES.count):
        frozen, memory = (
            truth.second_order(part, POINT, 2, replacement=batches is None)
            for part in (truth.frozen, truth.correction)
        )
        more = {"n": 2, "batches": batches, **parameters(name)}
        found = values(emitted.noise_correction, target, grads, hvps, lr=0.5, **more)
        assert found == pytest.approx([float(x) / 2 for x in memory], rel=1e-9)
        found = values(emitted.noise_memoryless, target, grads, **more)
        assert found == pytest.approx([float(x) for x in frozen], rel=1e-9)


@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["delayed-gd", "pid"])
def test_steps_of_delays_are_those_of_the_weights(name: str, target: str) -> None:
    """At n = 0, ..., 6: the sums over the weights of the step; and at a decay of 0."""
    emitted, own = module(name, target), [parameter.name for parameter in symmem.load(name).parameters]
    for beta in ("3/5", "0"):
        exact = {each: {"beta": beta, "integral": "2", "derivative": "1/3"}[each] for each in own}
        method = method_of(symmem.load(name).with_values(exact) if own else symmem.load(name))
        for n in (0, 1, 2, 6):
            formula = mean_over_batches(method, Sampling(), n)
            assert isinstance(formula, MeanOverBatches)
            variance, functions = BATCHES.averages(POINT)
            numbers, vectors = {"lr": "1/2", "batches": 9}, {"theta": POINT, "variance": variance}
            truth = evaluate(formula.memory, numbers, vectors, BATCHES.loss, functions)
            entries = truth if isinstance(truth, list) else [truth] * len(POINT)
            more = {"n": n, "batches": 9, **{each: float(Rational(value)) for each, value in exact.items()}}
            found = values(emitted.noise_correction, target, grads, hvps, lr=0.5, **more)
            assert found == pytest.approx([float(x) for x in entries], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize(("name", "batches"), [("adam", 7), ("adam", None), ("lion", 5), ("nesterov", 4)])
def test_the_limit_is_that_of_the_formula(name: str, batches: int | None, target: str) -> None:
    emitted = module(name, target)
    sampling = Sampling(None) if batches is None else Sampling(Integer(batches))
    formula = mean_over_batches(method_of(symmem.load(name)), sampling, "limit")
    assert isinstance(formula, MeanOverBatches)
    variance, functions = BATCHES.averages(POINT)
    exact = {**VALUES, "lr": "1/2"}
    more = {"batches": batches, **parameters(name)}
    memory = values(emitted.noise_correction, target, grads, hvps, lr=0.5, **more)
    frozen = values(emitted.noise_memoryless, target, grads, **more)
    for found, part in ((memory, formula.memory), (frozen, formula.frozen)):
        truth = evaluate(part, exact, {"theta": POINT, "variance": variance}, BATCHES.loss, functions)
        entries = truth if isinstance(truth, list) else [truth] * len(POINT)
        assert found == pytest.approx([float(x) for x in entries], rel=1e-9)


def test_per_sample_gradients_and_products_are_those_of_each_sample() -> None:
    """The loss ``sum_i sin(x_i theta_i) y``, with its derivatives by hand."""
    emitted = module("heavyball", "torch")
    x, y = (
        torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]]).double(),
        torch.tensor([1.0, -2.0, 0.5]).double(),
    )
    theta, rows = (
        torch.tensor([0.3, -0.7]).double(),
        torch.tensor([[1.0, 0.0], [2.0, 1.0], [-1.0, 4.0]]).double(),
    )
    gradient, product = emitted.per_sample(lambda p, s: (torch.sin(s[0] * p)).sum() * s[1], (x, y))
    assert torch.allclose(gradient(theta), x * torch.cos(x * theta) * y[:, None])
    assert torch.allclose(product(theta, rows), -(x**2) * torch.sin(x * theta) * y[:, None] * rows)


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_draws_that_do_not_exist_are_refused(target: str) -> None:
    emitted = module("heavyball", target)
    for more in ({"batches": 1}, {"batches": 3, "n": 3}):
        with pytest.raises(ValueError, match="too few"):
            values(emitted.noise_correction, target, grads, hvps, lr=0.1, **more)
    with pytest.raises(ValueError, match="without delays"):
        values(module("diffgrad", target).noise_correction, target, grads, hvps, lr=0.1, n=3)
    with pytest.raises(ValueError, match="rows"):
        values(emitted.noise_correction, target, lambda theta: grads(theta)[:, :1], hvps, lr=0.1)


def test_what_has_no_noise_in_code_says_so() -> None:
    with pytest.raises(SymmemError, match="numpy"):
        symmem.emit(symmem.derive("adam"), "octave", minibatch=True)
    with pytest.raises(SymmemError, match="joins entries"):
        symmem.emit(symmem.derive("lamb"), "numpy", minibatch=True)


def test_a_parameter_that_has_a_name_of_the_code(tmp_path: Path) -> None:
    head = 'name = "b"\ntitle = "B"\nphi = "m1"\n[parameters]\nhvps = 0.5\n'
    file = tmp_path / "b.toml"
    file.write_text(f'{head}[[momentum]]\ng = "grad"\nbeta = "hvps"\nb = 1\n', encoding="utf-8")
    with pytest.raises(SymmemError, match="rename"):
        symmem.emit(symmem.derive(file), "numpy", minibatch=True)
