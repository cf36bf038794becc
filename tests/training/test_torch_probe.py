"""The probe of a running optimizer: its numbers against brute force on a small problem."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from group_truth import (
    EXTRAS,
    THETA,
    Group,
    closure,
    emitted,
    frozen,
    load,
    moved,
    opaque,
    parameters,
    runtime,
    spelled,
)
from sympy import Rational
from torch import nn
from truth import FIRST, shown_first, values_of

from symmem.training import WithMemory, probe
from symmem.training.runtime.probed import Probed


def test_a_checkpoint_with_a_probe_is_read_without_trust(tmp_path: Path) -> None:
    """As torch.load reads a file by default; and a copy is equal."""
    found = Probed(loss=0.25, correction_ratio=1.5, share_outside=0.0)
    torch.save({"probe": found, "step": 3}, tmp_path / "saved.pt")
    assert torch.load(tmp_path / "saved.pt", weights_only=True) == {"probe": found, "step": 3}
    assert copy.deepcopy(found) == found


TINY = {"eps": Rational(1, 10**24)}
PYTORCH = {
    "heavyball": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.8),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.8, nesterov=True),
    "rmsprop-torch": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.8, eps=1e-24),
    "adam-torch": lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.7, 0.85), eps=1e-24),
    "adamw-torch": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.7, 0.85), eps=1e-24, weight_decay=0.3),
}
"""With the values of GENTLE; eps is so small that R is exact."""


def past(optimizer: torch.optim.Optimizer, tensors: list[nn.Parameter], n: int) -> None:
    """n updates that do not move and losses of different sizes: the memory is not that of a constant history."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    for k in range(n):
        loss = (1 + 0.1 * k) * closure(tensors)()
        for p, g in zip(tensors, torch.autograd.grad(loss, tensors), strict=True):
            p.grad = g
        if hasattr(optimizer, "functions"):
            optimizer.step(lambda k=k: (1 + 0.1 * k) * closure(tensors)())
        else:
            optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
        group.pop("_rates", None)  # the steps count as steps with this rate


def with_memory(name: str, group: Group, tensors: list[nn.Parameter]) -> torch.optim.Optimizer:
    made = next(kind for key, kind in vars(runtime(name)).items() if key.endswith("WithMemoryCorrection"))
    table = spelled(name, group)
    table.pop("n")
    return made([{**table, "params": tensors}], strength=0.0, **opaque(name))


def probed(
    name: str, optimizer: torch.optim.Optimizer, tensors: list[nn.Parameter], **more: object
) -> dict[str, float]:
    return runtime(name).probe(nn.ParameterList(tensors), optimizer, closure(tensors), **more)


def update(optimizer: torch.optim.Optimizer, tensors: list[nn.Parameter]) -> torch.Tensor:
    """The step that the optimizer makes, by making it."""
    twins, other = copy.deepcopy((tensors, optimizer))
    for p, g in zip(twins, torch.autograd.grad(closure(twins)(), twins), strict=True):
        p.grad = g
    other.step(closure(twins)) if hasattr(other, "functions") else other.step()
    return (torch.cat(list(tensors)) - torch.cat(list(twins))).detach()


def difference(first: list[object], second: list[object]) -> torch.Tensor:
    """Of vectors with many digits, of which the last are rounding."""
    entries = [float(x - y) for x, y in zip(first, second, strict=True)]
    return torch.tensor([x if abs(x) > 1e-20 else 0.0 for x in entries], dtype=torch.float64)


def agree(found: dict[str, float], truth: dict[str, float], unit: float = 1e-9) -> None:
    for key, value in truth.items():
        assert found[key] == pytest.approx(value, rel=unit, abs=1e-15), key


def sizes(made: torch.Tensor, correction: torch.Tensor) -> dict[str, float]:
    size, change = float(made.norm()), float(correction.norm())
    return {
        "loss": float(closure(parameters())()),
        "update_norm": size,
        "correction_norm": change,
        "correction_ratio": change / size,
        "correction_cosine": float(made @ correction) / (size * change) if change else 0.0,
    }


@pytest.mark.parametrize("name", [*shown_first(FIRST), *EXTRAS])
def test_the_sizes(name: str) -> None:
    group, tensors = Group((0, 1, 2), n=4), parameters()
    optimizer = with_memory(name, group, tensors)
    past(optimizer, tensors, 4)
    correction = difference(frozen(name, [group]), moved(name, [group]))
    agree(probed(name, optimizer, tensors), sizes(update(optimizer, tensors), correction))


@pytest.mark.parametrize("name", PYTORCH)
def test_an_optimizer_of_pytorch(name: str) -> None:
    """All numbers; grad R = M / P, with P from F = P grad + decay theta, all by brute force."""
    # PyTorch's SGD does not count: its memory is taken in the limit.
    n = 90 if name in ("heavyball", "nesterov") else 5
    group, tensors = Group((0, 1, 2), n=n, values=TINY), parameters()
    optimizer = PYTORCH[name](tensors)
    past(optimizer, tensors, 5)
    plain = frozen(name, [group])
    correction, forced = difference(plain, moved(name, [group])), difference(list(THETA), plain) / 0.01
    theta = torch.cat(list(tensors)).detach()
    grad = torch.cat(torch.autograd.grad(closure(tensors)(), tensors))
    if "adamw" in name:
        forced -= 0.3 * theta
    slope = correction / 0.01 / (forced / grad)
    made = update(optimizer, tensors)
    found = probed(name, optimizer, tensors)
    truth = {
        **sizes(made, correction),
        "regulariser_gradient_norm": float(slope.norm()),
        "regulariser_change": -float(slope @ made),
        "regulariser_sign": {"heavyball": 1.0, "nesterov": 1.0}.get(name, -1.0),
    }
    agree(found, truth, 1e-7)
    assert found["regulariser"] * found["regulariser_sign"] > 0
    assert found["regulariser_change"] == pytest.approx(change_of_value(name, optimizer, tensors), rel=1e-5)


def change_of_value(name: str, optimizer: torch.optim.Optimizer, tensors: list[nn.Parameter]) -> float:
    """-grad R . U as a difference of R: it depends on the parameters and the number of updates alone."""
    made, values = update(optimizer, tensors), []
    for ahead in (1e-4, -1e-4):
        moved_by = [ahead * part for part in made.split([p.numel() for p in tensors])]
        with torch.no_grad():
            for p, v in zip(tensors, moved_by, strict=True):
                p.sub_(v)
        values.append(probed(name, optimizer, tensors)["regulariser"])
        with torch.no_grad():
            for p, v in zip(tensors, moved_by, strict=True):
                p.add_(v)
    return (values[0] - values[1]) / 2e-4


@pytest.mark.parametrize("name", shown_first(name for name in FIRST if name != "lion-k"))
def test_many_steps_have_the_modified_loss(name: str) -> None:
    """In the limit L + R is ``modified_loss``."""
    tensors, group = parameters(), Group((0, 1, 2), values=TINY)
    optimizer = with_memory(name, group, tensors)
    optimizer.param_groups[0]["limit"] = True
    past(optimizer, tensors, 2)
    theta = torch.cat(list(tensors)).detach().requires_grad_()

    def loss(point: torch.Tensor) -> torch.Tensor:
        return closure(point.split(3))()

    values = {key: float(TINY.get(key, value)) for key, value in values_of(load(name)).items()}
    slope = torch.autograd.grad(loss(theta), theta, create_graph=True)[0]
    modified = emitted(name).modified_loss(theta, loss, lambda _: slope, lr=0.01, **values)
    found = probed(name, optimizer, tensors)
    assert found["regulariser"] == pytest.approx(float(modified - loss(theta)), rel=1e-7, abs=1e-15)
    gradient = torch.autograd.grad(modified - loss(theta), theta)[0]
    assert found["regulariser_gradient_norm"] == pytest.approx(float(gradient.norm()), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("other", [{"lr": 0.003}, {"weight_decay": 0.0}, {"lr": 0.003, "weight_decay": 0.1}])
def test_groups_that_differ_in_rate_and_decay(other: dict[str, float]) -> None:
    tensors = parameters()
    options = {"lr": 0.01, "betas": (0.7, 0.85), "eps": 1e-24, "weight_decay": 0.3}
    optimizer = torch.optim.AdamW([{"params": tensors[:1], **other}, {"params": tensors[1:]}], **options)
    past(optimizer, tensors, 4)
    found = probed("adamw-torch", optimizer, tensors)
    assert found["regulariser_change"] == pytest.approx(
        change_of_value("adamw-torch", optimizer, tensors), rel=1e-5
    )
    second = {**options, **other}
    rate, decay = Rational(str(second["lr"])), Rational(str(second["weight_decay"]))
    groups = [
        Group((0,), lr=rate, n=4, values={**TINY, "weight_decay": decay}),
        Group((1, 2), n=4, values=TINY),
    ]
    truth = sizes(
        update(optimizer, tensors), difference(frozen("adamw-torch", groups), moved("adamw-torch", groups))
    )
    agree(found, truth, 1e-7)


def test_groups_with_different_memory_have_no_regulariser() -> None:
    tensors = parameters()
    optimizer = torch.optim.Adam(
        [{"params": tensors[:1], "betas": (0.5, 0.6)}, {"params": tensors[1:]}], lr=0.01
    )
    past(optimizer, tensors, 3)
    found = probed("adam-torch", optimizer, tensors)
    assert [key for key, value in found.items() if math.isnan(value)] == [
        key for key in found if "regulariser" in key
    ]
    assert found["correction_norm"] > 0


def test_maximising_is_minimising_the_opposite() -> None:
    found = []
    for sign in (1, -1):
        tensors = parameters()
        optimizer = torch.optim.AdamW(tensors, lr=0.01, maximize=sign < 0)

        def loss(tensors: list[nn.Parameter] = tensors, sign: int = sign) -> torch.Tensor:
            return sign * closure(tensors)()

        for _ in range(3):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
        found.append(runtime("adamw-torch").probe(nn.ParameterList(tensors), optimizer, loss))
    assert found[1].pop("loss") == -found[0].pop("loss")
    agree(found[1], found[0])


def trained() -> tuple[nn.Module, torch.optim.Optimizer, Callable[[], torch.Tensor]]:
    torch.manual_seed(0)
    layers = (nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.5), nn.Linear(6, 2))
    model = nn.Sequential(*layers).double()
    unused = nn.Parameter(torch.ones(3, dtype=torch.float64))
    frozen_part = nn.Parameter(torch.ones(3, dtype=torch.float64), requires_grad=False)
    groups = [{"params": [unused, frozen_part], "betas": (0.1, 0.2)}, {"params": model.parameters()}]
    optimizer = torch.optim.AdamW(groups)
    x = torch.randn(8, 4, dtype=torch.float64)

    def loss() -> torch.Tensor:
        return model(x).square().sum()

    for _ in range(3):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return model, optimizer, loss


@pytest.mark.parametrize("hvp", ["double-backward", "forward-over-reverse", "central-difference"])
def test_nothing_is_changed(hvp: str) -> None:
    model, optimizer, loss = trained()

    def everything() -> list[object]:
        tensors = [*model.state_dict().values(), *(p.grad for p in model.parameters())]
        return [*tensors, torch.get_rng_state(), optimizer.state_dict()]

    before = copy.deepcopy(everything())
    found = runtime("adamw-torch").probe(model, optimizer, loss, hvp=hvp)
    assert all(math.isfinite(value) and isinstance(value, float) for value in found.values())
    torch.testing.assert_close(everything(), before, rtol=0, atol=0)


def test_one_product() -> None:
    model, optimizer, loss = trained()
    count = []

    def hvp(points: list[torch.Tensor], directions: list[torch.Tensor]) -> list[torch.Tensor]:
        count.append(len(points))
        return directions

    probe = runtime("adamw-torch").probe
    probe(model, torch.optim.AdamW(model.parameters()), loss, hvp=hvp, iterations=0)
    assert count == []  # nothing is remembered yet
    optimizer.param_groups.pop(0)
    probe(model, optimizer, loss, hvp=hvp, iterations=0)
    assert count == [6]
    probe(model, optimizer, loss, hvp=hvp, iterations=3)
    assert count == [6] * 5  # and one for each iteration


def test_another_optimizer_is_refused() -> None:
    model, _, loss = trained()
    for optimizer, words in (
        (torch.optim.Adam(model.parameters(), amsgrad=True), "amsgrad = True"),
        (torch.optim.SGD(model.parameters(), momentum=0.9), "no betas, eps|momentum = 0.9"),
    ):
        with pytest.raises(ValueError, match=words):
            runtime("adam-torch").probe(model, optimizer, loss)


def test_a_range_that_is_left_is_a_warning_once() -> None:
    """A large step with a long memory leaves it, a small one does not; the line of text has the number."""
    found = {}
    for rate in (10.0, 1e-6):
        tensors = parameters()
        optimizer = torch.optim.AdamW(tensors, lr=rate, betas=(0.7, 0.999))
        past(optimizer, tensors, 40)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found[rate] = [probed("adamw-torch", optimizer, tensors) for _ in range(2)][-1]
        numbers = found[rate]
        outside = numbers["correction_ratio"] > 1 or numbers["share_outside"] > 0.5
        assert len([w for w in caught if "first order" in str(w.message)]) == outside
        assert f"{numbers['correction_ratio']:.3g} of the update" in str(numbers)
    assert found[10.0]["correction_ratio"] > 1 > found[1e-6]["correction_ratio"]


def test_what_is_known_after_many_steps_alone_is_probed_with_the_limit() -> None:
    """The advice can be followed: the state of PyTorch's optimizer goes into one that was made with limit=True."""
    torch.manual_seed(0)
    model, x = nn.Linear(3, 1).double(), torch.randn(5, 3, dtype=torch.float64)

    def closure() -> torch.Tensor:
        return (model(x) ** 2).mean()

    present = torch.optim.RMSprop(model.parameters(), lr=1e-6, momentum=0.5)
    for _ in range(2):
        present.zero_grad()
        closure().backward()
        present.step()
    with pytest.raises(ValueError, match="limit=True"):
        probe(model, present, closure, iterations=0)
    late = WithMemory("rmsprop-momentum", model.parameters(), lr=1e-6, momentum=0.5, limit=True)
    late.load_state_dict(present.state_dict())
    found = probe(model, late, closure, iterations=0)
    assert found["update_norm"] > 0
    assert 0 < found["straight_norm"] < found["update_norm"]
