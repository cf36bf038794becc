"""The past learning rates of a group, by themselves: units, and steps before the first that is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from symmem.training import Memoryless, WithMemory
from symmem.training.runtime.rates import PastRates, counted, past_rates, unit_of
from symmem.training.runtime.remembered import _weights


@pytest.mark.parametrize(
    ("group", "unit"),
    [
        ({"lr": 0.1}, 0.1),
        ({"lr": 0.0, "_rates": [0.2, 0.4, 0.0]}, 0.4),
        ({"lr": 0.0, "_rates": [[0.0], [1.0], [["key", 3.0]]]}, 1.0),
        ({"lr": 0.0}, 0.0),
        ({"lr": 0.3, "_rates": [0.2, 0.4, 0.3]}, 0.3),
    ],
)
def test_the_unit_is_the_present_rate_or_where_it_is_zero_a_past_one(group: dict, unit: float) -> None:
    assert unit_of(group) == unit


def test_rates_are_in_the_unit_and_the_first_known_stands_for_those_before() -> None:
    """Of the rates 0.2, 0.4, 0.1, the newest last: one step ago 0.1, three steps ago and before 0.2."""
    group = {"lr": 0.2, "_rates": [0.2, 0.4, 0.1]}
    found = past_rates(group, torch.tensor([1, 2, 3, 4, 50]))
    assert torch.equal(found, torch.tensor([0.1, 0.4, 0.2, 0.2, 0.2], dtype=torch.float64) / 0.2)


def test_one_rate_alone_is_one() -> None:
    assert past_rates({"lr": 0.2, "_rates": [0.2]}, torch.tensor([1, 5])) == 1.0
    assert past_rates({"lr": 0.0}, torch.tensor([1])) == 1.0


def test_what_is_written_is_read_again() -> None:
    for past in (
        PastRates((0.1,)),
        PastRates((0.1, 0.2)),
        PastRates((0.1,), (3.0, 4.0), {"0.9": (1.0, 2.0), "0.99": (5.0,)}),
    ):
        assert PastRates.of({"lr": 7.0, "_rates": past.written()}) == past


@pytest.mark.parametrize("decay", [0.5, -0.5, 0.9])
def test_a_step_counts_until_it_weighs_two_to_the_minus_sixty(decay: float) -> None:
    assert abs(decay) ** counted(decay, 10**6) >= 2.0**-60 > abs(decay) ** (counted(decay, 10**6) + 1)
    assert counted(decay, 3) == 3
    assert counted(0.0, 100) == 0


@pytest.mark.parametrize("decay", [0.5, -0.5, -0.3])
@pytest.mark.parametrize(("receiver", "sender"), [(4, 4), (7, 4), (3, 5)])
def test_the_weights_of_past_steps_are_their_definition(decay: float, receiver: int, sender: int) -> None:
    """``w(s) = sum_{k = n_j - s .. n_i} beta^k``, times the rate of the step in units of the present one."""
    rates = [0.1 * (s + 1) for s in range(sender)]
    group = {"lr": 0.2, "_rates": rates}
    ago, weights = _weights(decay, receiver, SimpleNamespace(n=sender, member=0, group=group))
    for back, weight in zip(ago.tolist(), weights.tolist(), strict=True):
        true = sum(decay**k for k in range(int(back), receiver + 1)) * rates[sender - int(back)] / 0.2
        assert weight == pytest.approx(true, rel=1e-13)
    assert len(ago) == min(receiver, sender)


def two_tensors() -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.tensor([x, 0.5 - x], dtype=torch.float64)) for x in (0.3, -0.4)]


def loss(parameters: list[torch.nn.Parameter]) -> torch.Tensor:
    x, y = parameters
    return (x + 2 * y).square().sum().exp() + (x * y).sum()


def test_the_past_of_a_group_that_has_stopped_is_still_seen() -> None:
    """A rate of 0 is the limit of small ones: the other group remembers the steps that were made before."""
    ends = []
    for stopped in (0.0, 1e-200):
        parameters = two_tensors()
        groups = [{"params": [parameters[0]]}, {"params": [parameters[1]], "lr": 0.02}]
        optimizer = Memoryless("adam", groups, lr=0.01, eps=1e-3, history="expansion")
        for step in range(4):
            if step == 3:
                optimizer.param_groups[1]["lr"] = stopped
            optimizer.step(lambda parameters=parameters: loss(parameters))
        ends.append(torch.cat([p.detach() for p in parameters]))
    torch.testing.assert_close(*ends, rtol=1e-14, atol=1e-14)


def test_the_rates_of_another_run_go_with_it() -> None:
    """A state of PyTorch's AdamW, loaded into an optimizer with a past of its own and into a fresh one."""
    made = two_tensors()
    theirs = torch.optim.AdamW(made, lr=0.01)
    for _ in range(2):
        theirs.zero_grad()
        loss(made).backward()
        theirs.step()
    ends = []
    for own_steps in (0, 3):
        parameters = two_tensors()
        optimizer = Memoryless("adamw", parameters, lr=0.5, eps=1e-3)
        for step in range(own_steps):
            optimizer.param_groups[0]["lr"] = 0.001 * (step + 1)
            optimizer.step(lambda parameters=parameters: loss(parameters))
        optimizer.load_state_dict(theirs.state_dict())
        with torch.no_grad():
            for p, q in zip(parameters, made, strict=True):
                p.copy_(q)
        optimizer.step(lambda parameters=parameters: loss(parameters))
        ends.append(torch.cat([p.detach() for p in parameters]))
    assert torch.equal(*ends)


def curved(x: torch.Tensor) -> torch.Tensor:
    return (x + 2 * x.flip(0)).square().sum().exp()


@pytest.mark.parametrize("made", [Memoryless, partial(WithMemory, strength=-1.0)])
@pytest.mark.parametrize("name", ["adam", "heavyball", "rmsprop"])
def test_a_step_without_a_gradient_is_none(name: str, made: Callable[..., Any]) -> None:
    """A group of which the loss sees nothing for some steps, as a head that is not used, is as if trained alone."""
    used = [t < 2 or t >= 40 for t in range(45)]
    rates = [0.01 * (1 - t / 60) for t in range(45)]
    x, y = two_tensors()
    (alone,) = two_tensors()[:1]
    both, single = (made(name, [{"params": [p]} for p in each], lr=0.01) for each in ([x, y], [alone]))
    for rate, is_used in zip(rates, used, strict=True):
        for group in (*both.param_groups, *single.param_groups):
            group["lr"] = rate
        both.step(lambda is_used=is_used: curved(x) + curved(y) if is_used else curved(y))
        if is_used:
            single.step(lambda: curved(alone))
    assert torch.allclose(x, alone, rtol=0, atol=1e-14)
    assert float((two_tensors()[0] - alone).abs().max()) > 0.01


PATTERNS = {
    "a pause": (lambda t: t < 6 or t >= 20, lambda t: t >= 3),
    "the oldest pauses": (lambda t: t < 20 or t >= 30, lambda t: t >= 15),
    "overtaken": (lambda t: t < 6 or t >= 30, lambda t: t >= 6),
    "one after the other": (lambda t: t % 3 == 0, lambda t: t % 3 != 0),
}
"""In which steps two tensors of one group are used."""


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", ["adam", "heavyball", "rmsprop"])
def test_tensors_of_a_group_have_pasts_of_their_own(name: str, pattern: str, frozen: bool) -> None:
    """Each is as if trained alone, with the rates of its own steps, without a gradient or frozen in the others."""
    both, alone = two_tensors(), two_tensors()
    joint = WithMemory(name, both, lr=0.01, strength=-1.0)
    single = [WithMemory(name, [p], lr=0.01, strength=-1.0) for p in alone]
    for t in range(40):
        rate = (0.0001 if name == "heavyball" else 0.01) * (1.1 + math.cos(t / 10))
        used = [is_used(t) for is_used in PATTERNS[pattern]]
        for group in (*joint.param_groups, *(each.param_groups[0] for each in single)):
            group["lr"] = rate
        for p, on in zip(both, used, strict=True):
            p.requires_grad_(on or not frozen)
        joint.step(lambda used=used: sum(curved(p) for p, on in zip(both, used, strict=True) if on))
        for p, each, on in zip(alone, single, used, strict=True):
            if on:
                each.step(lambda p=p: curved(p))
    torch.testing.assert_close(torch.stack(both), torch.stack(alone), rtol=0, atol=1e-13)


def test_a_group_that_is_thawed_knows_what_the_others_did() -> None:
    """Heavy ball by hand: S = sum_s sum_{k = n_j - s .. n_i} beta^k lr_j(s) F(s), F(s) = g sum_{k <= s} beta^k."""
    beta, rates = 0.9, [1e-7 if t < 38 else 1e-3 for t in range(42)]
    x, y = (torch.nn.Parameter(torch.ones(1, dtype=torch.float64)) for _ in range(2))
    groups = [{"params": [x]}, {"params": [y]}]
    optimizer = WithMemory("heavyball", groups, lr=1e-3, momentum=beta, strength=-1.0)

    def memory(g: float, own: int, past: list[float]) -> float:
        count = len(past)
        return sum(
            sum(beta**k for k in range(count - s, own + 1)) * past[s] * g * sum(beta**k for k in range(s + 1))
            for s in range(max(0, count - own), count)
        )

    of_x, of_y, momentum = list[float](), list[float](), 0.0
    for t, rate in enumerate(rates):
        x.requires_grad_(t < 3 or t >= 40)
        for group in optimizer.param_groups:
            group["lr"] = rate
        before, slopes = x.item(), (x.item() + 0.9 * y.item() + 1, y.item() + 0.9 * x.item())
        optimizer.step(lambda: 0.5 * (x * x + y * y + 1.8 * x * y).sum() + x.sum())
        if x.requires_grad:
            momentum = beta * momentum + slopes[0]
            truth = memory(slopes[0], len(of_x), of_x) + 0.9 * memory(slopes[1], len(of_x), of_y)
            assert (x.item() - before) / rate + momentum == pytest.approx(
                truth, abs=1e-8 if t < 38 else 1e-11
            )
            of_x.append(rate)
        of_y.append(rate)


APART = {"rmsprop-torch": ({"alpha": 0.5}, {"alpha": 0.6})}
"""Values of two groups, where a table of one has steps that weigh nothing beside others."""


@pytest.mark.parametrize("name", ["adan", "optimistic-adam", "delayed-gd", "adam", "rmsprop", "lion", *APART])
@pytest.mark.parametrize("made", [Memoryless, partial(WithMemory, strength=-1.0)])
@pytest.mark.parametrize("still", [range(1), range(4, 9), range(2, 60), range(45, 70)])
def test_steps_of_rate_zero_are_the_limit_of_small_ones(
    still: range, made: Callable[..., Any], name: str
) -> None:
    """Two groups, whose memories ask for rows of the same weights: warm-up from 0, a pause, a long one."""
    ends = []
    for zero in (0.0, 1e-200):
        parameters = two_tensors()
        values = APART.get(name, ({}, {}))
        groups = [{"params": [p], **each} for p, each in zip(parameters, values, strict=True)]
        optimizer = made(name, groups, lr=2e-4)
        for t in range(still.stop + 3):
            for group in optimizer.param_groups:
                group["lr"] = zero if t in still else 2e-4 * (1 + t / 100)
            optimizer.step(lambda parameters=parameters: loss(parameters))
        ends.append(torch.cat([p.detach() for p in parameters]))
    torch.testing.assert_close(*ends, rtol=1e-12, atol=1e-12)
