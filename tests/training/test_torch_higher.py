"""The runtime optimizers of order 2 and 3, with rates that differ, against the expansion of the true optimizer."""

from __future__ import annotations

import pytest
import torch
from group_truth import Group, closure, error, moved_to_order, optimizer_of, parameters, runtime
from sympy import Rational
from truth import FIRST, shown_first

from symmem.training import Memoryless

RATES = [Group((0, 2), n=3), Group((1,), lr=Rational(1, 30), n=3)]


@pytest.mark.parametrize("name", shown_first(FIRST))
def test_step_of_order_two(name: str) -> None:
    tensors = parameters()
    optimizer_of(name, RATES, tensors, order=2).step(closure(tensors))
    assert error(tensors, moved_to_order(name, RATES, 2)) < 1e-13


def test_the_rates_are_seen() -> None:
    """With one rate for both groups the result is another one: the test above is not blind."""
    tensors = parameters()
    same = [RATES[0], Group((1,), n=3)]
    optimizer_of("adamw", same, tensors, order=2).step(closure(tensors))
    assert error(tensors, moved_to_order("adamw", RATES, 2)) > 1e-5


def test_limit_of_order_three() -> None:
    tensors, small = parameters(), {"beta": Rational(1, 10)}
    groups = [Group((0, 2), n=16, values=small), Group((1,), lr=Rational(1, 30), n=16, values=small)]
    optimizer_of("heavyball", groups, tensors, order=3, limit=True).step(closure(tensors))
    assert error(tensors, moved_to_order("heavyball", groups, 3)) < 1e-12


def test_what_order_two_refuses() -> None:
    tensors = parameters()
    with pytest.raises(ValueError, match="may differ in lr alone, not in momentum"):
        optimizer_of(
            "heavyball", [RATES[0], Group((1,), n=3, values={"beta": Rational(1, 5)})], tensors, order=2
        ).step(closure(tensors))
    with pytest.raises(ValueError, match="double-backward"):
        optimizer_of("heavyball", RATES, tensors, order=2, hvp="central-difference")
    with pytest.raises(ValueError, match="use limit=True"):
        optimizer_of("heavyball", RATES, tensors, order=3)


def test_maximize_and_unused_parameters() -> None:
    kind = runtime("adamw", 2).MemorylessAdamW
    tensors, twins, unused = (
        parameters(),
        parameters(),
        torch.nn.Parameter(torch.ones(2, dtype=torch.float64)),
    )
    down, up = kind([*tensors, unused], eps=1e-2), kind(twins, eps=1e-2, maximize=True)
    for _ in range(3):
        down.step(closure(tensors))
        up.step(lambda: -closure(twins)())
    assert all(torch.equal(a, b) for a, b in zip(tensors, twins, strict=True))
    assert unused.tolist() == [1.0, 1.0]


def test_what_no_formula_reads_may_differ_between_groups() -> None:
    """Schedulers and frameworks write into groups: the highest rate of a cycle, names of parameters."""
    made = []
    for is_named in (False, True):
        tensors = parameters()
        groups = [{"params": tensors[:1], "lr": 0.001}, {"params": tensors[1:], "lr": 0.002}]
        if is_named:
            groups = [{**group, "name": f"group {k}"} for k, group in enumerate(groups)]
        optimizer = Memoryless("heavyball", groups, lr=0.001, order=2)
        if is_named:
            for group in optimizer.param_groups:
                group["max_lr"] = 10 * group["lr"]
        for _ in range(3):
            optimizer.step(closure(tensors))
        made.append(tensors)
    assert all(torch.equal(a, b) for a, b in zip(*made, strict=True))
    assert not torch.equal(made[0][0], parameters()[0])
