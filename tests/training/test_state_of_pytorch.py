"""Every entry that is one of PyTorch's optimizers: its arguments, its state both ways, and the probe that knows it."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from truth import load

import symmem
from symmem.training import WithMemory, probe
from symmem.training.loading import formulas_of


def is_pytorch(name: str) -> bool:
    """Whether it is that program, argument by argument, from the first step on and for every tensor."""
    named = load(name).implementation
    if named is None or not str(named.name).startswith("torch.optim.") or named.said or not named.arguments:
        return False
    if load(name).schedule is not None:  # its schedule has parameters of its own
        return False
    return all(str(x) in load(name).defaults for _, value in named.arguments for x in tuple_of(value))


def tuple_of(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


NAMES = [name for name in symmem.zoo() if is_pytorch(name)]


def arguments(name: str) -> dict[str, object]:
    """PyTorch's arguments, with values that are not the defaults."""
    optimizer = load(name)
    assert optimizer.implementation is not None
    found: dict[str, object] = {}
    for key, value in optimizer.implementation.arguments:
        numbers = tuple(0.875 * float(optimizer.defaults[str(x)]) for x in tuple_of(value))
        found[key] = numbers if isinstance(value, tuple) else numbers[0]
    return found


def theirs(name: str, model: nn.Module, **more: object) -> torch.optim.Optimizer:
    named = load(name).implementation
    assert named is not None
    kind = getattr(torch.optim, str(named.name).removeprefix("torch.optim."))
    made: torch.optim.Optimizer = kind(model.parameters(), lr=0.01, **{**dict(named.options), **more})
    return made


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()


def loss(model: nn.Module) -> torch.Tensor:
    x = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(8, 3)
    found: torch.Tensor = (model(x) - x.sum(1, keepdim=True)).square().mean()
    return found


def run(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        if isinstance(optimizer, WithMemory):
            optimizer.step(lambda: loss(model))
            continue
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()


def apart(one: nn.Module, other: nn.Module) -> float:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return max(float((p - q).detach().abs().max()) for p, q in pairs)


def test_these_are_many() -> None:
    assert {"adamw-torch", "adam-l2", "sgd-l2", "nadam-torch", "radam", "rmsprop-momentum"} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_state_and_arguments_go_both_ways(name: str) -> None:
    """PyTorch's values and state are taken over, and given back; PyTorch's NAdam has its product in float32."""
    first = network()
    optimizer = theirs(name, first, **arguments(name))
    run(first, optimizer, 4)
    second = copy.deepcopy(first)
    ours = WithMemory(name, second.parameters(), lr=0.5, strength=0.0, limit=True)
    ours.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(first, optimizer, 4)
    run(second, ours, 4)
    assert apart(first, second) < 1e-8
    assert apart(first, network()) > 1e-3
    same = WithMemory(name, second.parameters(), lr=0.01, limit=True, **arguments(name))
    assert same.formulas.values(same.param_groups[0]) == ours.formulas.values(ours.param_groups[0])

    third = copy.deepcopy(second)
    back = theirs(name, third, **arguments(name))
    back.load_state_dict(copy.deepcopy(ours.state_dict()))
    run(third, back, 4)
    run(second, ours, 4)
    assert apart(second, third) < 1e-8


@pytest.mark.parametrize(
    "name", [name for name in NAMES if (spelled := load(name).torch) and spelled.numbers]
)
def test_numbers_beside_the_sums_are_pytorchs(name: str) -> None:
    """Tensor by tensor: one that joins later has made fewer steps; they are in no state that is loaded here."""
    first = network()
    optimizer = theirs(name, first, **arguments(name))
    ours = WithMemory(
        name, (second := copy.deepcopy(first)).parameters(), lr=0.01, limit=True, **arguments(name)
    )
    first[2].requires_grad_(False)
    second[2].requires_grad_(False)
    for steps in (3, 2):
        run(first, optimizer, steps)
        run(second, ours, steps)
        first[2].requires_grad_()
        second[2].requires_grad_()
    wanted, found = (each.state_dict()["state"] for each in (optimizer, ours))
    for key, entry in wanted.items():
        assert entry.keys() == found[key].keys()
        for number in load(name).torch.numbers:
            torch.testing.assert_close(found[key][number], entry[number], rtol=1e-6, atol=0)
    assert len({float(entry["step"]) for entry in wanted.values()}) == 2
    ours.load_state_dict(ours.state_dict())
    assert not any(number in entry for entry in ours.state.values() for number in load(name).torch.numbers)


@pytest.mark.filterwarnings("ignore:the first order in lr says nothing")
@pytest.mark.parametrize("name", NAMES)
def test_the_probe_knows_it_by_its_options(name: str) -> None:
    """Groups without decay beside groups with it are of one optimizer."""
    model = network()
    optimizer = theirs(name, model, **arguments(name))
    if optimizer.defaults.get("weight_decay"):
        optimizer.param_groups[0]["params"] = list(model[0].parameters())
        optimizer.add_param_group({"params": list(model[2].parameters()), "weight_decay": 0.0})
    run(model, optimizer, 3)
    if not formulas_of(load(name)).has_finite:
        with pytest.raises(ValueError, match=name):
            probe(model, optimizer, lambda: loss(model))
        return
    known, told = (
        probe(model, optimizer, lambda: loss(model), iterations=0, **more) for more in ({}, {"name": name})
    )
    assert known == told
    assert known["correction_norm"] > 0


def test_an_option_that_no_entry_has_is_named() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9, dampening=0.25)
    with pytest.raises(ValueError, match=r"dampening = 0\.25 is not that of HeavyBall.* name="):
        probe(model, optimizer, lambda: loss(model))
