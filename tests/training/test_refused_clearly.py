"""What a loop gets wrong is refused in one line that names it, before any parameter changes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from symmem import Momentum, Optimizer
from symmem.training import Memoryless, WithMemory, probe

POINT = torch.tensor([0.5, -0.25], dtype=torch.float64)


def optimizer(**settings: Any) -> tuple[torch.nn.Parameter, WithMemory]:
    parameter = torch.nn.Parameter(POINT.clone())
    return parameter, WithMemory("adamw-torch", [parameter], strength=-1, lr=0.1, eps=1e-3, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": 0.95}, 'target = 0.95 gives no names; write target={"beta2": 0.95}'),
        ({"target": {"beta2": "0.95"}}, "target: beta2 = '0.95' is not a finite number"),
        ({"target": {"betas": 0.95}}, "betas = 0.95: the optimizer takes 2 betas"),
        ({"limit": "no"}, "limit = 'no' is neither True nor False"),
        ({"maximize": "no"}, "maximize = 'no' is neither True nor False"),
        ({"max_norm": "1"}, "max_norm = '1' is not positive"),
        ({"weight_decay": "much"}, "weight_decay = 'much' is not a number"),
    ],
)
def test_a_setting_that_is_no_number(settings: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        optimizer(**settings)
    assert str(refused.value) == words


def test_a_strength_that_is_text() -> None:
    with pytest.raises(ValueError, match=r"^strength = '-1' is not a finite number$"):
        WithMemory("adamw-torch", [torch.nn.Parameter(POINT.clone())], strength="-1")  # type: ignore[arg-type]


def test_a_loss_of_many_numbers() -> None:
    parameter, mine = optimizer()
    with pytest.raises(RuntimeError, match=r"one number, and the closure returned the shape \(2,\)"):
        mine.step(lambda: parameter**4)
    assert torch.equal(parameter, POINT)


def test_nothing_to_train() -> None:
    parameter, mine = optimizer()
    parameter.requires_grad_(False)
    with pytest.raises(RuntimeError, match="no parameter of the optimizer requires a gradient"):
        mine.step(lambda: parameter.pow(4).sum() + 1)


def test_hooks_after_backward_are_refused_or_honoured() -> None:
    """autograd.grad accumulates no .grad, so that such a hook would be left out without a word."""
    parameter, mine = optimizer()
    parameter.register_post_accumulate_grad_hook(_without_gradient)
    with pytest.raises(RuntimeError, match="post-accumulate-grad hook"):
        mine.step(lambda: parameter.pow(4).sum() + 1)
    assert torch.equal(parameter, POINT)
    parameter, mine = optimizer(hvp="central-difference", weight_decay=0.0)
    parameter.register_post_accumulate_grad_hook(_without_gradient)

    def closure() -> torch.Tensor:
        mine.zero_grad()
        loss = (parameter**4).sum()
        loss.backward()
        return loss

    mine.step(closure)
    assert torch.equal(parameter, POINT)


def _without_gradient(parameter: torch.Tensor) -> None:
    assert parameter.grad is not None
    parameter.grad.zero_()


def test_a_target_by_betas() -> None:
    found = []
    for target in ({"beta2": 0.95}, {"betas": (0.9, 0.95)}):
        parameter, mine = optimizer(target=target)
        for _ in range(4):
            mine.step(lambda parameter=parameter: (parameter**4).sum())  # type: ignore[misc]
        found.append(parameter.detach())
    assert torch.equal(*found)


@pytest.mark.parametrize("hvp", ["double-backward", "central-difference"])
def test_a_loss_of_another_model(hvp: Any) -> None:
    """The optimizer of one model, the closure of another: nothing but the decay was left of it, without a word."""
    other = torch.nn.Parameter(POINT.clone())
    parameter, mine = optimizer(hvp=hvp)
    for each in (mine, Memoryless("adamw-torch", [parameter], lr=0.1, hvp=hvp)):
        with pytest.raises(RuntimeError, match="depends on no parameter of the optimizer"):
            each.step(lambda: other.pow(4).sum() + 1)
        assert torch.equal(parameter, POINT)


def test_a_probe_of_another_model() -> None:
    model, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    trained = torch.optim.AdamW(model.parameters())
    with pytest.raises(ValueError, match="no parameter of this model"):
        probe(other, trained, lambda: model(torch.ones(1, 2)).square().sum())
    with pytest.raises(RuntimeError, match="depends on no parameter of the optimizer"):
        probe(model, trained, lambda: other(torch.ones(1, 2)).square().sum())


def test_a_watched_loss_that_is_no_function() -> None:
    _, mine = optimizer()
    with pytest.raises(TypeError, match="loss = 3 is not a function"):
        mine.watch(torch.nn.Linear(2, 1), loss=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Memoryless, WithMemory])
def test_an_update_without_a_value_at_zero_is_announced(kind: Any) -> None:
    """It makes nan of an entry that never had a gradient, and nothing else; what has an eps has no such warning."""
    bare = Optimizer(
        "bare",
        "m1/sqrt(m2)",
        [Momentum("grad", "beta", "1 - beta"), Momentum("grad**2", "beta", "1 - beta")],
        {"beta": "9/10"},
    )
    for name in ("adam-atan2", bare):
        parameter = torch.nn.Parameter(POINT.clone())
        with pytest.warns(UserWarning, match="has no finite value where the gradient has always been 0"):
            mine = kind(name, [parameter])
        for _ in range(2):  # without memory the first step is sign(g)
            mine.step(lambda parameter=parameter: parameter[0] ** 4)
        assert parameter.isnan().tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("adamw-torch", "rmsprop-torch", "lion", "heavyball", "nadam-torch"):
            kind(name, [torch.nn.Parameter(POINT.clone())])


def test_what_stands_in_the_wrong_place() -> None:
    """One line says what was expected, where Python would name an attribute that is missing."""
    _, mine = optimizer()
    with pytest.raises(TypeError, match=r"watch: int is no torch\.nn\.Module"):
        mine.watch(3, loss=lambda output: output)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="step takes a closure that returns the loss, and not a Tensor"):
        mine.step(torch.ones(1))  # type: ignore[arg-type]
    for wrong in (torch.optim.AdamW, torch.optim.SGD([torch.ones(1)]), None, [torch.ones(1)]):
        with pytest.raises(TypeError, match="no name of the zoo"):
            WithMemory(wrong, [torch.ones(1)])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no process group of torch"):
        WithMemory("adamw", [torch.ones(1)], process_group=3)
    for iterations in (-1, 2.5):
        with pytest.raises(ValueError, match="counts products, from 0 on"):
            probe(torch.nn.Linear(2, 1), mine, lambda: torch.ones(1), iterations=iterations)  # type: ignore[arg-type]


def _not_called() -> torch.Tensor:
    raise AssertionError("the closure was called")


LATER: list[tuple[str, Any, str]] = [
    ("lr", -1.0, "lr = -1.0 is not a finite number from 0 on"),
    ("lr", float("nan"), "lr = nan is not"),
    ("lr", torch.tensor(-1.0), "is not a finite number from 0 on"),
    ("lr", "0.1", "lr = '0.1' is not"),
    ("lr", None, "lr = None is not"),
    ("betas", (0.9, 2), "beta2 = 2.0 is outside"),
    ("betas", (0.9,), "takes 2 betas"),
    ("eps", float("nan"), "eps = nan is outside"),
    ("weight_decay", float("inf"), "weight_decay = inf is outside"),
    ("history", "curved", "history = 'curved'"),
    ("maximize", "no", "maximize = 'no'"),
    ("strength", "x", "strength = 'x' is not"),
    ("every", 0, "every = 0"),
    ("target", {"beta2": 2}, "beta2 = 2 is outside"),
]


WITH_MEMORY = ("strength", "every", "target")


@pytest.mark.parametrize(
    ("kind", "name", "value", "words"),
    [(WithMemory, *row) for row in LATER]
    + [(Memoryless, *row) for row in LATER if row[0] not in WITH_MEMORY],
)
def test_a_value_that_is_written_later(kind: Any, name: str, value: Any, words: str) -> None:
    """It is refused before the closure is called; with a good value the optimizer goes on."""
    parameter = torch.nn.Parameter(POINT.clone())
    mine = kind("adamw-torch", [parameter], lr=0.1)
    (group,) = mine.param_groups
    mine.step(lambda: parameter.pow(4).sum() + 1)
    before, kept, n = parameter.detach().clone(), group[name], group["n"]
    for _ in range(2):
        group[name] = value
        with pytest.raises(ValueError, match=words):
            mine.step(_not_called)
        assert torch.equal(parameter, before)
        assert group["n"] == n
        group[name] = kept
    mine.step(lambda: parameter.pow(4).sum() + 1)
    assert not torch.equal(parameter, before)


def test_a_value_that_changes_in_its_place() -> None:
    """A rate that is a tensor, and the dictionary of a target."""
    parameter = torch.nn.Parameter(POINT.clone())
    rate = torch.tensor(0.1)
    mine = WithMemory("adamw-torch", [parameter], lr=rate, target={"beta2": 0.95})  # type: ignore[arg-type]
    mine.step(lambda: parameter.pow(4).sum() + 1)
    (group,) = mine.param_groups
    group["target"]["beta2"] = 2
    with pytest.raises(ValueError, match="beta2 = 2 is outside"):
        mine.step(_not_called)
    group["target"]["beta2"] = 0.95
    rate.fill_(float("inf"))
    with pytest.raises(ValueError, match="not a finite number"):
        mine.step(_not_called)
