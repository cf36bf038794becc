"""Training on the straight-line history: groups against brute force, and that it trains."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from group_truth import (
    CASES,
    EXTRAS,
    SIZE,
    Group,
    closure,
    emitted,
    error,
    frozen,
    load,
    moved,
    on_lines,
    opaque,
    optimizer_of,
    parameters,
    tables,
)
from mpmath import mpf
from sympy import Rational
from truth import FIRST, shown_first

from symmem import Momentum, Optimizer
from symmem.training import Memoryless, WithMemory, probe

SHORT = {name: CASES[name] for name in ("one group", "two of everything", "one joined late", "one maximises")}
ABSOLUTE = Optimizer(
    "absolute",
    "m1/(m2 + 1/50)",
    [Momentum("grad", "beta", "1 - beta"), Momentum("abs(grad)", "delta", "1 - delta")],
    {"beta": "4/5", "delta": "7/10"},
)
EXTRAS["absolute"] = ABSOLUTE


@pytest.mark.parametrize("case", SHORT)
@pytest.mark.parametrize("name", [*shown_first(FIRST), *EXTRAS])
def test_groups_on_lines(name: str, case: str) -> None:
    tensors, groups = parameters(), CASES[case]
    optimizer_of(name, groups, tensors, history="straight").step(closure(tensors))
    assert error(tensors, on_lines(name, groups)) < 1e-14


@pytest.mark.parametrize("name", ["adamw", "rmsprop-torch", "lion", "lion-k", "two-decays", "absolute"])
def test_the_emitted_class_on_lines(name: str) -> None:
    made = getattr(emitted(name), f"Memoryless{''.join(filter(str.isalnum, str(load(name).title)))}")
    for groups in SHORT.values():
        for history, truth in (("straight", on_lines), ("expansion", moved)):
            tensors = parameters()
            optimizer = made(tables(name, groups, tensors), history=history, **opaque(name))
            optimizer.step(closure(tensors))
            assert error(tensors, truth(name, groups)) < 1e-13, history
    with pytest.raises(ValueError, match="history"):
        made(parameters(), history="curved", **opaque(name))


@pytest.mark.parametrize("strength", [-1.0, 0.5])
@pytest.mark.parametrize("name", ["adamw", "lion", "rmsprop"])
def test_what_is_added_to_the_optimizer_with_memory(name: str, strength: float) -> None:
    """From a state of n updates on a constant history: theta - lr (F + strength (F_straight - F))."""
    groups = [Group((0, 1, 2), n=4)]
    plain, line = frozen(name, groups), on_lines(name, groups)
    tensors = parameters()
    given = {key: value for key, value in tables(name, groups, tensors)[0].items() if key != "n"}
    optimizer = WithMemory(load(name), [given], strength=0.0)
    for _ in range(groups[0].n):
        optimizer.step(closure(tensors))
        for tensor, start in zip(tensors, parameters(), strict=True):
            tensor.data.copy_(start)
    optimizer.param_groups[0]["strength"] = strength
    optimizer.step(closure(tensors))
    truth = [p + mpf(strength) * (s - p) for p, s in zip(plain, line, strict=True)]
    assert error(tensors, truth) < 1e-14


def digits_like(make: Callable[[object], torch.optim.Optimizer], steps: int = 120) -> float:
    """Mini-batches of a small classification problem in float32; the loss of all data at the end."""
    torch.manual_seed(0)
    inputs, target = torch.randn(256, 16), torch.randint(0, 4, (256,))
    inputs += torch.nn.functional.one_hot(target, 16) * 2.0
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    optimizer = make(model.parameters())
    order = torch.Generator().manual_seed(1)
    for _ in range(steps):
        batch = torch.randint(0, 256, (32,), generator=order)
        optimizer.step(
            lambda batch=batch: torch.nn.functional.cross_entropy(model(inputs[batch]), target[batch])
        )
    with torch.no_grad():
        return float(torch.nn.functional.cross_entropy(model(inputs), target))


def test_it_trains_with_the_eps_of_pytorch() -> None:
    options = {"lr": 3e-3, "betas": (0.9, 0.999), "eps": 1e-8}
    plain = digits_like(lambda p: WithMemory("adamw-torch", p, strength=0, **options))
    assert plain < 0.8
    for strength in (-1, 1):
        assert (
            digits_like(lambda p, s=strength: WithMemory("adamw-torch", p, strength=s, **options))
            < plain + 0.3
        )
    assert digits_like(lambda p: Memoryless("adamw-torch", p, **options)) < 1.3
    wild = digits_like(lambda p: Memoryless("adamw-torch", p, history="expansion", **options))
    assert not wild < 1.5


def test_histories_are_named_and_checked() -> None:
    with pytest.raises(ValueError, match="straight, expansion"):
        Memoryless("adamw", parameters(), history="bent")
    with pytest.raises(ValueError, match="order 2 is an expansion"):
        Memoryless("adamw", parameters(), order=2, history="straight")
    assert Memoryless("adamw", parameters(), order=2).param_groups[0]["history"] == "expansion"
    assert WithMemory("adamw", parameters()).param_groups[0]["history"] == "straight"
    first, second = (Group((0,), n=3), Group((1, 2), n=3, lr=Rational(1, 30)))
    tensors = parameters()
    mixed = tables("adamw", [first, second], tensors)
    mixed[1]["history"] = "expansion"
    Memoryless("adamw", mixed).step(closure(tensors))
    truths = on_lines("adamw", [first, second])[:SIZE], moved("adamw", [first, second])[SIZE:]
    assert error(tensors, [*truths[0], *truths[1]]) < 1e-14


def test_an_expansion_that_was_not_asked_for_is_announced() -> None:
    with pytest.warns(UserWarning, match="no straight-line history at finite n"):
        found = Memoryless("laprop", parameters())
    assert found.param_groups[0]["history"] == "expansion"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Memoryless("laprop", parameters(), history="expansion")
        Memoryless("adamw", parameters(), order=2)
        Memoryless("adamw-torch", parameters())
    with pytest.raises(ValueError, match=r"LaProp has no straight-line history.*expansion"):
        Memoryless("laprop", parameters(), history="straight")


def test_the_probe_tells_both_sizes() -> None:
    groups = [Group((0, 1, 2), n=4)]
    tensors = parameters()
    given = {key: value for key, value in tables("adamw", groups, tensors)[0].items() if key != "n"}
    optimizer = WithMemory(load("adamw"), [given], strength=0.0)
    for _ in range(groups[0].n):
        optimizer.step(closure(tensors))
        for tensor, start in zip(tensors, parameters(), strict=True):
            tensor.data.copy_(start)
    seen = probe(torch.nn.ParameterList(tensors), optimizer, closure(tensors))
    plain = frozen("adamw", groups)
    for name, truth in (("straight_norm", on_lines), ("correction_norm", moved)):
        size = float(sum((x - y) ** 2 for x, y in zip(truth("adamw", groups), plain, strict=True))) ** 0.5
        assert abs(seen[name] - size) < 1e-12 * size
    assert 0 <= seen["share_outside"] <= 1
    assert abs(seen["memory_time"] - given["lr"] / (1 - given["betas"][1])) < 1e-12


def test_refusals_say_what_is_wrong() -> None:
    for betas in ((0.9,), (0.9, 0.95, 0.99), 0.9):
        with pytest.raises(ValueError, match="takes 2 betas"):
            Memoryless("adamw-torch", parameters(), betas=betas)
    for lr in ("1e-3", float("nan"), float("inf"), -1.0):
        with pytest.raises(ValueError, match="is not a finite number from 0 on"):
            Memoryless("adamw-torch", parameters(), lr=lr)
    with pytest.raises(ValueError, match="limit=True"):
        WithMemory("laprop", parameters())
    with pytest.raises(ValueError, match="order 1 has no max_norm; leave it out"):
        Memoryless("laprop", parameters(), history="expansion", max_norm=1.0)
    with pytest.raises(ValueError, match="a parameter group has 'weight_decy'; known are lr, betas"):
        Memoryless("adamw-torch", [{"params": parameters(), "weight_decy": 0.1}])


def test_a_negative_decay_has_no_line() -> None:
    """Its weights of the past may add up to 0; with the expansion it trains."""
    signed = {"beta": {"default": 0.5, "range": "(-1, 1)"}}
    optimizer = Optimizer("signed", "tanh(m1)", [Momentum("grad", "beta", "1 - beta")], signed)
    tensors = [torch.nn.Parameter(torch.tensor([0.5, -0.3]))]
    for cls in (Memoryless, WithMemory):
        cls(optimizer, tensors, lr=0.01, beta=0.5, history="straight")
        cls(optimizer, tensors, lr=0.01, beta=-0.5, history="expansion")
        with pytest.raises(ValueError, match="negative decay"):
            cls(optimizer, tensors, lr=0.01, beta=-0.5, history="straight")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert cls(optimizer, tensors, lr=0.01, beta=0.5).param_groups[0]["history"] == "straight"


@pytest.mark.parametrize("name", ["pnm", "adapnm"])
def test_the_default_of_a_negative_decay_is_the_expansion(name: str) -> None:
    """Nobody asked for a line: it is said that the expansion is taken, and the step is that of the expansion."""
    found = []
    for history in (None, "expansion"):
        for cls, more in ((Memoryless, {}), (WithMemory, {"strength": -1.0})):
            tensor = torch.nn.Parameter(torch.tensor([0.5, -0.3], dtype=torch.float64))
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                optimizer = cls(name, [tensor], lr=0.01, history=history, **more)
            assert [("negative decay" in str(each.message)) for each in told] == [True] * (history is None)
            for _ in range(4):
                optimizer.step(lambda tensor=tensor: (tensor**4).sum())
            found.append(tensor.detach())
    assert torch.equal(torch.stack(found[:2]), torch.stack(found[2:]))
