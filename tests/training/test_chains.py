"""Cascades and delays in PyTorch: the optimizer as it runs, and on its line, against the literal one in many digits."""

from __future__ import annotations

import copy

import mpmath
import numpy as np
import pytest
import torch
from cascades import adabelief, adan, adopt, delayed, laprop, mars, optimistic, pid, rmsprop_momentum
from truth import load

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.training.by_name import Memoryless, WithMemory, probe
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.straight import on_even_line

LOSS, START, LR = coupled_loss(2), probe_point(2), 0.01
SETTLED = (adan(), laprop(), mars(), adabelief())
"""With a line at finite n."""
UNSETTLED = (rmsprop_momentum(), adopt(), laprop(debiased=False))
LINEAR = (optimistic(), optimistic(start=0), pid(), delayed(), delayed(3))


class Probed(torch.autograd.Function):
    """The probe loss with derivatives from 30 digits, twice."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.zeros((), dtype=x.dtype)

    @staticmethod
    def backward(ctx, weight):
        (x,) = ctx.saved_tensors
        return weight * Slope.apply(x)


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return tensor(LOSS.gradient(x.tolist()))

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return tensor(LOSS.contraction(x.tolist(), v.tolist()))


def tensor(values) -> torch.Tensor:
    return torch.tensor([float(x) for x in values], dtype=torch.float64)


def parameter() -> torch.nn.Parameter:
    return torch.nn.Parameter(tensor(START))


def array(values) -> np.ndarray:
    return np.array([float(x) for x in values])


def near(found: torch.Tensor, expected, tolerance: float = 1e-13) -> None:
    assert np.abs(found.detach().numpy() - array(expected)).max() < tolerance


@pytest.mark.parametrize("optimizer", [*SETTLED, *UNSETTLED, *LINEAR, load("novograd")], ids=lambda o: o.name)
def test_without_strength_it_is_the_optimizer(optimizer: Optimizer) -> None:
    x = parameter()
    made = WithMemory(optimizer, [x], lr=LR, limit=True)
    expected = Literal(optimizer, {}, LOSS).run(START, "1/100", 7, 30)
    for step in range(7):
        near(x, expected[step])
        made.step(lambda: Probed.apply(x))
    near(x, expected[7])


@pytest.mark.parametrize("optimizer", [adan(), delayed(3), adopt()], ids=lambda o: o.name)
def test_a_state_that_was_saved_goes_on(optimizer: Optimizer) -> None:
    expected = Literal(optimizer, {}, LOSS).run(START, "1/100", 6, 30)
    x = parameter()
    made = WithMemory(optimizer, [x], lr=LR, limit=True)
    for _ in range(2):
        made.step(lambda: Probed.apply(x))
    y = torch.nn.Parameter(x.detach().clone())
    again = WithMemory(optimizer, [y], lr=LR, limit=True)
    again.load_state_dict(copy.deepcopy(made.state_dict()))
    for _ in range(4):
        again.step(lambda: Probed.apply(y))
    near(y, expected[6])


@pytest.mark.parametrize("optimizer", [*SETTLED, load("optimistic-adam"), delayed()], ids=lambda o: o.name)
def test_memoryless_steps_are_those_of_the_line(optimizer: Optimizer) -> None:
    x = parameter()
    made = Memoryless(optimizer, [x], lr=LR)
    literal = Literal(optimizer, {}, LOSS)
    for n in range(4):
        at = x.tolist()
        with mpmath.workdps(30):
            step = [v / 100 for v in literal.frozen(at, 1, 30)[0]]
            moved = on_even_line(literal, at, step, n, 30)
        made.step(lambda: Probed.apply(x))
        near(x, array(at) - LR * array(moved), 1e-12)


@pytest.mark.parametrize("optimizer", [*UNSETTLED, *SETTLED, load("novograd")], ids=lambda o: o.name)
def test_in_the_limit_every_cascade_has_its_line(optimizer: Optimizer) -> None:
    x = parameter()
    low = {"beta1": 0.4, "beta2": 0.5} if optimizer.name == "novograd" else {}
    Memoryless(optimizer, [x], lr=LR, limit=True, **low).step(lambda: Probed.apply(x))
    literal = Literal(optimizer, low, LOSS)
    with mpmath.workdps(30):
        step = [v / 100 for v in literal.frozen(START, 80, 30)[-1]]
        moved = on_even_line(literal, START, step, 80, 30)
    near(x, array(START) - LR * array(moved), 1e-12)


@pytest.mark.parametrize("optimizer", [adan(), laprop()], ids=lambda o: o.name)
def test_the_expansion_is_the_slope_of_the_line(optimizer: Optimizer) -> None:
    x, derivation = parameter(), derive(optimizer)
    made = Memoryless(optimizer, [x], lr=LR, history="expansion")
    for n in range(3):
        at = x.tolist()
        values = {**optimizer.defaults, "lr": "1/100", "n": n}
        whole = evaluate(derivation.F + derivation.M, values, {"theta": at}, LOSS, digits=25)
        made.step(lambda: Probed.apply(x))
        near(x, array(at) - LR * array(whole), 1e-12)


def test_strength_adds_the_line_and_groups_have_their_rates() -> None:
    """Two groups with different rates: each moves on the line with its own, inside one product."""
    optimizer = adan()
    first, second = (torch.nn.Parameter(tensor([value])) for value in START)
    rates = (0.01, 0.002)
    groups = [{"params": [p], "lr": rate} for p, rate in zip((first, second), rates, strict=True)]
    made = WithMemory(optimizer, groups, strength=0.5)
    plain = Literal(optimizer, {}, LOSS)
    history = [list(map(float, START))]
    for n in range(3):
        at = history[0]
        with mpmath.workdps(30):
            frozen = plain.frozen(at, 1, 30)[0]
            step = [v * rate for v, rate in zip(frozen, rates, strict=True)]
            moved = on_even_line(plain, at, step, n, 30)
            own = plain.direction(history, 30)
        made.step(lambda: Probed.apply(torch.cat([first, second])))
        whole = array(own) + 0.5 * (array(moved) - array(frozen))
        expected = array(at) - np.array(rates) * whole
        assert np.abs(np.array([first.item(), second.item()]) - expected).max() < 1e-12, n
        history.insert(0, [first.item(), second.item()])


def test_the_probe_knows_cascades() -> None:
    optimizer, x = laprop(), parameter()
    model = torch.nn.ParameterList([x])
    made = WithMemory(optimizer, [x], lr=LR)
    for _ in range(3):
        made.step(lambda: Probed.apply(x))
    at, derivation = x.tolist(), derive(optimizer)
    values = {**optimizer.defaults, "lr": "1/100", "n": 3}
    found = probe(model, made, lambda: Probed.apply(x))
    for key, formula in (
        ("correction_norm", derivation.M),
        ("straight_norm", derivation.straight - derivation.F),
    ):
        true = array(evaluate(formula, values, {"theta": at}, LOSS, digits=25))
        assert abs(found[key] / (LR * np.linalg.norm(true)) - 1) < 1e-9
    assert x.tolist() == at


def test_without_a_line_at_finite_n_it_says_so() -> None:
    with pytest.raises(ValueError, match="limit=True"):
        WithMemory(rmsprop_momentum(), [parameter()], lr=LR, strength=1.0)
    with pytest.warns(UserWarning, match="straight-line"):
        made = Memoryless(rmsprop_momentum(), [parameter()], lr=LR)
    assert made.param_groups[0]["history"] == "expansion"


@pytest.mark.parametrize("name", ["nadam-torch", "radam"])
def test_branches_and_products_in_b(name: str) -> None:
    """Their numbers are made step by step: the optimizer as it runs, and on its lines at every n."""
    optimizer, derivation, x = load(name), derive(load(name)), parameter()
    expected = Literal(optimizer, {}, LOSS).run(START, "1/100", 9, 30)
    running = WithMemory(optimizer, [x], lr=LR)
    for _ in range(9):
        running.step(lambda: Probed.apply(x))
    near(x, expected[9])
    y = parameter()
    made = Memoryless(optimizer, [y], lr=LR)
    for n in range(8):
        at, values = y.tolist(), {**optimizer.defaults, "lr": "1/100", "n": n}
        moved = evaluate(derivation.straight_at(n), values, {"theta": at}, LOSS, digits=25)
        made.step(lambda: Probed.apply(y))
        near(y, array(at) - LR * array(moved), 1e-12)
