"""Schedulers of PyTorch: the rates that they gave to past steps stand inside M, against brute force."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from group_truth import Group, closure, emitted, error, load, moved, optimizer_of, parameters, spelled
from sympy import Rational
from torch.optim import lr_scheduler

from symmem.training import Memoryless, WithMemory

Make = Callable[[torch.optim.Optimizer], lr_scheduler.LRScheduler]
SCHEDULERS: dict[str, Make] = {
    "one cycle": lambda optimizer: lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.05, total_steps=12, cycle_momentum=False
    ),
    "cosine": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, T_max=7),
    "warm-up": lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 4)),
}
STEPS = 7
"""Then CosineAnnealing has reached 0."""


def scheduled(optimizer: torch.optim.Optimizer, kind: str) -> list[list[float]]:
    """The rates of the groups at each of STEPS steps, and now; theta stands still, so that truth is a formula of it."""
    scheduler = SCHEDULERS[kind](optimizer)
    rates = []
    tensors = [p for group in optimizer.param_groups for p in group["params"]]
    start = [p.detach().clone() for p in tensors]
    for _ in range(STEPS):
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.step(closure(tensors))  # type: ignore[arg-type]
        with torch.no_grad():
            for p, before in zip(tensors, start, strict=True):
                p.copy_(before)
        scheduler.step()
    return [*rates, [float(group["lr"]) for group in optimizer.param_groups]]


def truth(name: str, groups: list[Group], rates: list[list[float]]) -> list[object]:
    """After STEPS steps that did not move theta."""
    known = [
        replace(group, n=STEPS, lr=Rational(rates[-1][k]), rates=tuple(row[k] for row in rates[:-1]))
        for k, group in enumerate(groups)
    ]
    return moved(name, known)


@pytest.mark.parametrize("kind", SCHEDULERS)
@pytest.mark.parametrize("name", ["adamw", "heavyball", "two-decays", "rooted"])
def test_past_rates_enter_the_correction(name: str, kind: str) -> None:
    """Constant gains, shares that add up, two decays, and a row for each step."""
    groups, tensors = [Group((0, 1, 2), lr=Rational(1, 50))], parameters()
    optimizer = optimizer_of(name, groups, tensors, history="expansion")
    rates = scheduled(optimizer, kind)
    optimizer.step(closure(tensors))  # type: ignore[arg-type]
    assert error(tensors, truth(name, groups, rates)) < 1e-14


@pytest.mark.parametrize("name", ["adamw", "heavyball"])
def test_groups_whose_rates_move_apart(name: str) -> None:
    """One group is annealed, the other is not: they need products of their own."""
    groups = [Group((0, 2), lr=Rational(1, 50)), Group((1,), lr=Rational(1, 30))]
    tensors = parameters()
    optimizer = optimizer_of(name, groups, tensors, history="expansion")
    rates = []
    for n in range(STEPS):
        optimizer.param_groups[0]["lr"] = 0.02 * (1 - n / 10)
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.step(closure(tensors))  # type: ignore[arg-type]
        with torch.no_grad():
            for p, before in zip(tensors, parameters(), strict=True):
                p.copy_(before)
    rates.append(rates[-1])
    optimizer.step(closure(tensors))  # type: ignore[arg-type]
    assert error(tensors, truth(name, groups, rates)) < 1e-14


@pytest.mark.parametrize("kind", SCHEDULERS)
@pytest.mark.parametrize("name", ["adamw", "heavyball"])
def test_the_emitted_class_does_the_same(name: str, kind: str) -> None:
    group, tensors = Group((0, 1, 2), lr=Rational(1, 50)), parameters()
    title = load(name).title
    given = {key: value for key, value in spelled(name, group).items() if key not in ("n", "maximize")}
    optimizer = getattr(emitted(name), f"Memoryless{title}")(tensors, history="expansion", **given)
    rates = scheduled(optimizer, kind)
    optimizer.step(closure(tensors))
    assert error(tensors, truth(name, [group], rates)) < 1e-14


def test_a_rate_that_does_not_change_is_kept_as_one_number() -> None:
    tensors = parameters()
    optimizer = optimizer_of("adamw", [Group((0, 1, 2))], tensors)
    for _ in range(5):
        optimizer.step(closure(tensors))  # type: ignore[arg-type]
    assert optimizer.param_groups[0]["_rates"] == [float(Group((0,)).lr)]


def test_the_past_rates_are_bounded_and_saved() -> None:
    """They are sums: a number for each memory, and the last rate; a checkpoint has them."""
    tensors = parameters()
    optimizer = optimizer_of(
        "adamw", [Group((0, 1, 2), values={"beta1": Rational(1, 2), "beta2": Rational(1, 2)})], tensors
    )
    for n in range(70):
        optimizer.param_groups[0]["lr"] = 1e-3 / (n + 1)
        optimizer.step(closure(tensors))  # type: ignore[arg-type]
    newest, total, sums = optimizer.param_groups[0]["_rates"]
    assert newest == [1e-3 / 70]
    assert len(total) == 1
    assert [len(each) for each in sums] == [2, 2]
    again = [torch.nn.Parameter(p.detach().clone()) for p in tensors]
    other = optimizer_of("adamw", [Group((0, 1, 2))], again)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step(closure(tensors))  # type: ignore[arg-type]
    other.step(closure(again))  # type: ignore[arg-type]
    assert all(torch.equal(a, b) for a, b in zip(tensors, again, strict=True))


def told(optimizer: torch.optim.Optimizer, changes: list[dict[str, object]]) -> list[str]:
    """What is warned of in a step after each change of the first group."""
    tensors = [p for group in optimizer.param_groups for p in group["params"]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for change in changes:
            optimizer.param_groups[0].update(change)
            optimizer.step(closure(tensors))  # type: ignore[arg-type]
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_a_decay_that_changes_is_told_once(made: Any) -> None:
    """The formulas have one decay for all the past, as a one-cycle schedule with its default cycle_momentum has not."""
    more = {"strength": -1} if made is WithMemory else {}
    optimizer = made("adamw", parameters(), lr=1e-3, **more)
    changes = [{"betas": (0.95, 0.999)}, {"lr": 1e-2}, {"betas": (0.9, 0.99)}, {"weight_decay": 0.0}]
    (words,) = told(optimizer, changes)
    assert "AdamW: beta1, beta2 changed between two steps" in words


def test_what_was_loaded_has_not_changed() -> None:
    first = WithMemory("adamw", parameters(), betas=(0.8, 0.9), strength=-1)
    assert not told(first, [{}, {}])
    second = WithMemory("adamw", parameters(), strength=-1)
    assert not told(second, [{}])
    second.load_state_dict(first.state_dict())
    assert not told(second, [{}, {"lr": 0.1}])
    assert len(told(second, [{"betas": (0.8, 0.99)}])) == 1


def test_without_a_correction_nothing_is_told() -> None:
    plain = WithMemory("adamw", parameters(), strength=0)
    assert not told(plain, [{}, {"betas": (0.8, 0.9)}])
    assert len(told(plain, [{"strength": 1}, {"weight_decay": 0.1}])) == 1
    assert not told(Memoryless("gd", parameters()), [{}, {"lr": 0.1}])
