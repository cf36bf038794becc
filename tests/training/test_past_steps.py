"""Past steps as few numbers: sums of past rates that go on by themselves, and rules for sums that do not close."""

from __future__ import annotations

import math

import pytest
import torch
from group_truth import load
from torch import Tensor

from symmem.training import Memoryless, WithMemory
from symmem.training.loading import formulas_of
from symmem.training.runtime.groups import Part
from symmem.training.runtime.remembered import planned, remembered

SHARE = {"adamw": lambda _s: 1.0, "heavyball": lambda s: (1 - 0.9 ** (s + 1)) / 0.1}
"""What F of a past step has before the gradient."""


def closure(tensors: list[torch.nn.Parameter]) -> Tensor:
    return torch.stack([(p.square() * (k + 1)).sum() + p.sin().sum() for k, p in enumerate(tensors)]).sum()


def tensors() -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.tensor([x, -0.5], dtype=torch.float64)) for x in (0.3, 0.7)]


def rate(step: int) -> float:
    """A warm-up, then a decay that ends at 0."""
    return 0.01 * min((step + 1) / 5, max(0.0, 1 - step / 60))


def literal(decay: float, receiver: int, rates: list[float], shares: list[float]) -> float:
    """sum_s (sum_{k = n_j - s .. n_i} beta^k) lr(s) x(s), by its definition."""
    n = len(rates)
    return sum(sum(decay**k for k in range(n - s, receiver + 1)) * rates[s] * shares[s] for s in range(n))


@pytest.mark.parametrize("name", ["adamw", "heavyball"])
@pytest.mark.parametrize("kind", ["memoryless", "with memory", "a target"])
def test_sums_of_past_rates_are_numbers_that_go_on(name: str, kind: str) -> None:
    """Against the sum itself at every step; what is kept does not grow."""
    given = tensors()
    target = {"target": {"beta2": 0.5}} if kind == "a target" and name == "adamw" else {}
    made = (
        Memoryless(name, given, lr=1.0) if kind == "memoryless" else WithMemory(name, given, lr=1.0, **target)
    )
    (group,), rates = made.param_groups, []
    for step in range(70):
        group["lr"] = rate(step)
        made.step(lambda: closure(given))
        rates.append(rate(step))
        part = Part(formulas_of(load(name)), {**group, "lr": 2.0, "n": step + 1})
        if step not in (1, 2, 20, 69):
            continue
        newest, _, sums = group["_rates"]
        assert len(newest) == 1
        assert len(sums) == (1 if name == "heavyball" else 4 if target else 2)
        for place, decay in enumerate(part.decays):
            (row,) = remembered(decay, step + 1, part, f"0.{place}")
            truth = literal(decay, step + 1, rates, [SHARE[name](s) for s in range(step + 1)])
            assert 2.0 * math.prod(row) == pytest.approx(truth, rel=1e-13)
    if target:
        assert dict(sums)["0.1t"] == pytest.approx(literal(0.5, 70, rates, [1.0] * 70), rel=1e-13)


def test_groups_of_different_age() -> None:
    """One that joins late asks for the newest rates of the other one by one; it weighs its own sums by more."""
    given = tensors()
    made = Memoryless("adamw", [{"params": given[:1], "lr": 1.0}])
    rates: list[list[float]] = [[], []]
    for step in range(40):
        if step == 25:
            made.add_param_group({"params": given[1:]})
        for k, group in enumerate(made.param_groups):
            group["lr"] = rate(step) * (k + 1)
            rates[k].append(group["lr"])
        made.step(lambda: closure(given))
    parts = [
        Part(formulas_of(load("adamw")), {**group, "lr": 1.0}, k) for k, group in enumerate(made.param_groups)
    ]
    assert [len(group["_rates"][0]) for group in made.param_groups] == [15, 1]
    for receiver in parts:
        for sender in parts:
            (found,) = remembered(0.999, receiver.n, sender, f"{receiver.place}.1")[0]
            seen = rates[sender.place][-int(min(receiver.n, sender.n)) :]
            truth = literal(0.999, int(receiver.n), seen, [1.0] * len(seen))
            assert found == pytest.approx(truth, rel=1e-13)


def entries(name: str, n: int) -> tuple[Tensor, int, Tensor]:
    """The displacement of a few entries from the planned rows, how many F it takes, and the exact sum over the past."""
    formulas = formulas_of(load(name))
    arguments = {each.name: each.default for each in formulas.arguments}
    part = Part(formulas, {"params": [], "lr": 1.0, "n": n, "limit": False, "maximize": False, **arguments})
    theta, g = torch.zeros(7, dtype=torch.float64), torch.logspace(-6, 1, 7, dtype=torch.float64)
    memory = formulas.memory
    assert memory is not None
    assert memory.past_scalars is not None
    ((table,),), _ = planned([part], [part])
    found = sum(w * memory.past(theta, g, *scalars, *part.values) for w, *scalars in table)
    (decay,) = part.decays
    truth = torch.zeros_like(g)
    for s in range(n):
        weight = decay ** (n - s) * (1 - decay ** (s + 1)) / (1 - decay)
        scalars = [float(x) for x in memory.past_scalars(torch.tensor([float(s)]).double(), *part.values)]
        truth += weight * memory.past(theta, g, *scalars, *part.values)
    return found, len(table), truth


@pytest.mark.parametrize("name", ["lion", "rmsprop-torch", "rmsprop"])
def test_a_sum_that_does_not_close_costs_few_evaluations(name: str) -> None:
    """To the stated tolerance the sum over all past steps, at a cost that does not grow with them."""
    counts = []
    for n in (5, 40, 600, 3000):
        found, count, truth = entries(name, n)
        torch.testing.assert_close(found, truth, rtol=1e-8 if n > 5 else 1e-14, atol=0)
        counts.append(count)
    assert counts[0] == 5
    assert max(counts) <= 65
    assert counts[-1] <= counts[-2] + 18


def test_rates_that_change_stand_in_such_a_sum() -> None:
    """RMSprop under a schedule: one row for each step at first, few of them later."""
    given = tensors()
    made = Memoryless("rmsprop-torch", given, lr=1.0)
    (group,), rates = made.param_groups, []
    for step in range(60):
        group["lr"] = rate(step)
        rates.append(rate(step))
        made.step(lambda: closure(given))
    part = Part(formulas_of(load("rmsprop-torch")), {**group, "lr": 1.0})
    memory = part.formulas.memory
    assert memory is not None
    table = remembered(0.99, 60, part)
    assert len(table) < 40
    theta, g = torch.zeros(5, dtype=torch.float64), torch.logspace(-4, 1, 5, dtype=torch.float64)
    found = sum(w * memory.past(theta, g, x, *part.values) for w, x in table)
    truth = torch.zeros_like(g)
    for s in range(60):
        weight = 0.99 ** (60 - s) * (1 - 0.99 ** (s + 1)) / 0.01 * rates[s]
        truth += weight * g / ((1 - 0.99 ** (s + 1)) ** 0.5 * g.abs() + 1e-8)
    torch.testing.assert_close(found, truth, rtol=1e-8, atol=0)
