"""Loops as people have them: closures that call backward, steps without one, checkpoints, hooks, arguments."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict

from symmem import Momentum, Optimizer
from symmem.training import Memoryless, WithMemory, probe

X = torch.randn(24, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class Model(nn.Module):
    """With dropout, keyword inputs, and an output that has the loss in it, as transformers have it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.3), nn.Linear(6, 1)).double()

    def forward(self, inputs: torch.Tensor, *, labels: torch.Tensor) -> SimpleNamespace:
        out = self.layers(inputs)
        return SimpleNamespace(loss=(out - labels).square().mean(), logits=out)


def model() -> Model:
    torch.manual_seed(3)
    return Model()


def flat(net: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])


def closure(net: nn.Module) -> Callable[[], torch.Tensor]:
    return lambda: net(X, labels=X.sum(1, keepdim=True)).loss


MADE = {
    "memoryless": lambda p, **more: Memoryless("adamw", p, lr=0.01, eps=1e-3, **more),
    "with memory": lambda p, **more: WithMemory("adamw", p, lr=0.01, eps=1e-3, strength=-1, **more),
}
SECOND = {"second order": lambda p: Memoryless("adamw", p, lr=0.01, eps=1e-3, order=2)}


@pytest.mark.parametrize("hvp", ["central-difference", "forward-difference"])
@pytest.mark.parametrize("kind", MADE)
def test_a_closure_that_calls_backward(kind: str, hvp: str) -> None:
    """As Lightning has it: the gradients come from backward, the products from differences."""
    found = []
    for calls in (False, True):
        net = model()
        optimizer = MADE[kind](net.parameters(), hvp=hvp)

        def step(
            net: nn.Module = net, optimizer: torch.optim.Optimizer = optimizer, calls: bool = calls
        ) -> torch.Tensor:
            optimizer.zero_grad()
            loss = closure(net)()
            if calls:
                loss.backward()
            return loss

        for _ in range(4):
            optimizer.step(step)
        found.append(flat(net))
    assert torch.equal(*found)
    optimizer = MADE[kind](net.parameters())
    with pytest.raises(RuntimeError, match="must not call backward"):
        optimizer.step(step)


def micro_batches(net: nn.Module, optimizer: torch.optim.Optimizer, *, sets_to_none: bool = True) -> None:
    """A step as Lightning accumulates: all micro-batches but the last before step(), the last in its closure."""
    labels = X.sum(1, keepdim=True)
    optimizer.zero_grad(set_to_none=sets_to_none)
    (net(X[:16], labels=labels[:16]).loss * 2 / 3).backward()

    def last() -> torch.Tensor:
        loss: torch.Tensor = net(X[16:], labels=labels[16:]).loss / 3
        loss.backward()
        return loss

    optimizer.step(last)


def test_gradients_that_were_there_before_are_added_or_refused() -> None:
    """Without a product the step is that of torch.optim; a product would miss the losses of the other micro-batches."""
    found = []
    for make in (torch.optim.AdamW, lambda p, **more: WithMemory("adamw-torch", p, **more)):
        net = model().eval()
        optimizer = make(net.parameters(), lr=0.01)
        for _ in range(4):
            micro_batches(net, optimizer)
        found.append(flat(net))
    assert torch.allclose(*found, rtol=0, atol=1e-12)
    for make in MADE.values():
        net = model().eval()
        optimizer, start = make(net.parameters(), hvp="central-difference"), flat(net).clone()
        with pytest.raises(RuntimeError, match="add up all micro-batches inside"):
            micro_batches(net, optimizer)
        assert torch.equal(flat(net), start)
        assert not any(p._post_accumulate_grad_hooks for p in net.parameters())


@pytest.mark.parametrize("sets_to_none", [False, True])
def test_a_closure_that_clears_old_gradients_does_not_add(sets_to_none: bool) -> None:
    """Whatever stands in ``.grad`` before: the step is that of a fresh model, and ``.grad`` is as it was."""
    found = []
    for stale in (False, True):
        net = model().eval()
        optimizer = MADE["with memory"](net.parameters(), hvp="central-difference")
        if stale:
            for p in net.parameters():
                p.grad = torch.full_like(p, 7.0)

        def step(net: nn.Module = net, optimizer: torch.optim.Optimizer = optimizer) -> torch.Tensor:
            optimizer.zero_grad(set_to_none=sets_to_none)
            loss = closure(net)()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(step)
        found.append(flat(net))
        assert all((p.grad == 7).all() if stale else p.grad is None for p in net.parameters())
    assert torch.equal(*found)


@pytest.mark.parametrize("kind", MADE)
def test_a_loop_without_a_closure(kind: str) -> None:
    """As the Trainer of transformers has it: forward, backward, step(); dropout sees the same random numbers."""
    found = []
    for watches in (False, True):
        net = model()
        optimizer = MADE[kind](net.parameters())
        if watches:
            optimizer.watch(net, loss=lambda output: output.loss)
        torch.manual_seed(5)
        for _ in range(4):
            if watches:
                net(X, labels=X.sum(1, keepdim=True)).loss.backward()
                with torch.no_grad():
                    net.eval()(X[:2], labels=X[:2, :1])  # an evaluation pass is not the one that is repeated
                net.train()
                optimizer.step()
                optimizer.zero_grad()
            else:
                optimizer.step(closure(net))
        found.append((flat(net), torch.rand(1)))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


@pytest.mark.parametrize("limit", [False, True])
@pytest.mark.parametrize("hvp", ["central-difference", "forward-difference", "forward-over-reverse"])
@pytest.mark.parametrize("kind", MADE)
def test_a_closure_that_draws_a_batch_is_refused(kind: str, hvp: str, limit: bool) -> None:
    """A second call would see another loss: said in the first step, before any parameter has changed."""
    batches = iter(X.split(5) * 3)
    net = model().eval()
    before = flat(net)
    optimizer = MADE[kind](net.parameters(), hvp=hvp, limit=limit)

    def closure() -> torch.Tensor:
        x = next(batches)
        return net(x, labels=x[:, 1:2]).loss

    with pytest.raises(RuntimeError, match="at the same point"):
        optimizer.step(closure)
    assert torch.equal(flat(net), before)


def test_a_loss_that_makes_a_pass_of_its_own() -> None:
    """Central differences evaluate the pass three times: that of the loop, not the one inside the loss."""
    found = []
    for watches in (False, True):
        net = model().eval()
        optimizer = MADE["memoryless"](net.parameters(), hvp="central-difference")

        def more(output: SimpleNamespace, net: nn.Module = net) -> torch.Tensor:
            return output.loss + net(X[:5] ** 2, labels=X[:5, :1]).loss

        if watches:
            optimizer.watch(net, loss=more)
        for _ in range(3):
            if watches:
                net(X, labels=X[:, 1:2])
                optimizer.step()
            else:
                optimizer.step(lambda net=net, more=more: more(net(X, labels=X[:, 1:2])))
        found.append(flat(net))
    assert torch.equal(*found)


def test_a_step_without_a_pass_or_a_watch_says_what_to_do() -> None:
    net = model()
    optimizer = Memoryless("adamw", net.parameters())
    with pytest.raises(ValueError, match="watch"):
        optimizer.step()
    optimizer.watch(net, loss=lambda output: output.loss)
    with pytest.raises(RuntimeError, match="no forward pass"):
        optimizer.step()


@pytest.mark.parametrize("kind", MADE)
def test_distributed_checkpoints(kind: str, tmp_path: Path) -> None:
    """Saved by one optimizer, loaded into a fresh one, which then goes on as the first would have."""
    net = model()
    optimizer = MADE[kind](net.parameters())
    for _ in range(3):
        optimizer.step(closure(net))
    dcp.save(
        {"optimizer": get_optimizer_state_dict(net, optimizer)},
        checkpoint_id=tmp_path / "saved",
        no_dist=True,
    )
    other = copy.deepcopy(net)
    fresh = MADE[kind](other.parameters())
    state = {"optimizer": get_optimizer_state_dict(other, fresh)}
    dcp.load(state, checkpoint_id=tmp_path / "saved", no_dist=True)
    set_optimizer_state_dict(other, fresh, state["optimizer"])
    assert fresh.param_groups[0]["lr"] == 0.01
    assert fresh.param_groups[0]["n"] == 3
    for chosen, made in ((net, optimizer), (other, fresh)):
        torch.manual_seed(9)
        made.step(closure(chosen))
    assert torch.equal(flat(net), flat(other))


def test_tensor_hooks_are_honoured_or_refused() -> None:
    """A hook that halves the gradient: differences of halved gradients are the halved product."""
    net, halved = model().eval(), model().eval()
    for p in halved.parameters():
        p.register_hook(lambda g: g / 2)
    optimizer = Memoryless("adamw", halved.parameters())
    with pytest.raises(RuntimeError, match="tensor hook"):
        optimizer.step(closure(halved))
    halved.load_state_dict(net.state_dict())
    plain = Memoryless("adamw", net.parameters(), lr=0.01, eps=1e-3, hvp="central-difference")
    hooked = Memoryless("adamw", halved.parameters(), lr=0.01, eps=1e-3, hvp="central-difference")
    for _ in range(3):
        plain.step(lambda: closure(net)() / 2)
        hooked.step(closure(halved))
    assert torch.allclose(flat(net), flat(halved), rtol=0, atol=1e-9)


def through_a_module(net: Model, hook: Callable[..., Any]) -> Callable[[], torch.Tensor]:
    net.layers[3].register_full_backward_hook(lambda _module, inputs, _outputs: tuple(map(hook, inputs)))
    return closure(net)


def through_an_activation(net: Model, hook: Callable[..., Any]) -> Callable[[], torch.Tensor]:
    def evaluated() -> torch.Tensor:
        hidden = net.layers[:3](X)
        hidden.register_hook(hook)
        loss: torch.Tensor = (net.layers[3](hidden) - X.sum(1, keepdim=True)).square().mean()
        return loss

    return evaluated


@pytest.mark.parametrize("hooked", [through_a_module, through_an_activation])
@pytest.mark.parametrize("kind", MADE)
def test_hooks_inside_a_model_are_honoured_or_refused(
    kind: str, hooked: Callable[..., Callable[[], torch.Tensor]]
) -> None:
    """A hook that turns a gradient round: by differences the step is that of the field which it makes."""
    net = model().eval()
    optimizer, start = MADE[kind](net.parameters()), flat(net).clone()
    with pytest.raises(RuntimeError, match="hook"):
        optimizer.step(hooked(net, torch.neg))
    assert torch.equal(flat(net), start)

    found = []
    for by_hand in (False, True):
        net = model().eval()
        hvp = partial(derivative, net) if by_hand else "central-difference"
        optimizer, loss = MADE[kind](net.parameters(), hvp=hvp), hooked(net, torch.neg)
        for _ in range(3):
            optimizer.step(loss)
        found.append(flat(net))
    assert torch.allclose(*found, rtol=0, atol=1e-9)


def on_a_parameter(net: Model, hook: Callable[..., Any]) -> Callable[[], torch.Tensor]:
    net.layers[0].weight.register_hook(hook)
    return closure(net)


def a_probe(net: Model, loss: Callable[[], torch.Tensor]) -> None:
    probe(net, torch.optim.AdamW(net.parameters()), loss, iterations=2)


def a_probe_of_noise(net: Model, loss: Callable[[], torch.Tensor]) -> None:
    """The rest of the probe by differences: the products of noise are second derivatives."""
    known = {"hvp": "central-difference", "iterations": 0}
    probe(net, torch.optim.AdamW(net.parameters()), closure(net), batches=[loss, loss], **known)


def a_step_of_second_order(net: Model, loss: Callable[[], torch.Tensor]) -> None:
    SECOND["second order"](net.parameters()).step(loss)


@pytest.mark.parametrize("hooked", [on_a_parameter, through_a_module, through_an_activation])
@pytest.mark.parametrize("work", [a_probe, a_probe_of_noise, a_step_of_second_order])
def test_hooks_are_refused_wherever_a_gradient_is_differentiated(
    work: Callable[..., None], hooked: Callable[..., Callable[[], torch.Tensor]]
) -> None:
    net = model().eval()
    loss, start = hooked(net, torch.neg), flat(net).clone()
    with pytest.raises(RuntimeError, match="hook"):
        work(net, loss)
    assert torch.equal(flat(net), start)
    other = model().eval()
    work(other, closure(other))


@pytest.mark.parametrize("hvp", ["central-difference", "forward-difference", "forward-over-reverse"])
def test_a_probe_sees_that_a_closure_draws_its_own_batch(hvp: str) -> None:
    net = model().eval()

    def drawn() -> torch.Tensor:
        nonlocal seen
        seen += 1
        return net(X + seen, labels=X.sum(1, keepdim=True)).loss

    seen = 0
    with pytest.raises(RuntimeError, match="at the same point"):
        probe(net, torch.optim.AdamW(net.parameters()), drawn, hvp=hvp)


@pytest.mark.parametrize("around", [False, True])
def test_a_forward_difference_under_autocast_is_refused(around: bool) -> None:
    net = nn.Linear(4, 1)

    def halved() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return net(X.float()).square().mean().float()

    made = [kind(net.parameters(), hvp="forward-difference").step for kind in MADE.values()]
    made.append(lambda loss: probe(net, torch.optim.AdamW(net.parameters()), loss, hvp="forward-difference"))
    for work in made:
        with (
            torch.autocast("cpu", torch.bfloat16, enabled=around),
            pytest.raises(RuntimeError, match="autocast"),
        ):
            work(halved if not around else lambda: net(X.float()).square().mean().float())


@pytest.mark.parametrize("kind", [*MADE, *SECOND])
def test_weight_norm_has_no_second_derivative_in_pytorch(kind: str) -> None:
    """Its double backward is not the derivative of its gradient, which this shows; by differences training goes on."""
    net = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).double()
    points = list(net.parameters())
    loss = lambda: net(X).pow(3).sum()  # noqa: E731
    directions = [torch.ones_like(p) for p in points]
    gradient = torch.autograd.grad(loss(), points, create_graph=True)
    told = torch.autograd.grad(gradient, points, directions)
    ends = []
    for t in (1e-5, -2e-5):
        with torch.no_grad():
            torch._foreach_add_(points, directions, alpha=t)
        ends.append(torch.autograd.grad(loss(), points))
    true = [(ahead - behind) / 2e-5 for ahead, behind in zip(*ends, strict=True)]
    assert max(float((a - b).abs().max()) for a, b in zip(told, true, strict=True)) > 1
    with pytest.raises(RuntimeError, match="weight_norm"):
        {**MADE, **SECOND}[kind](net.parameters()).step(loss)
    if kind in MADE:
        MADE[kind](net.parameters(), hvp="central-difference").step(loss)


def derivative(net: Model, points: list[torch.Tensor], v: list[torch.Tensor]) -> list[torch.Tensor]:
    """Along v, of the gradient whose part for the first layer is turned round; by autograd on a loss without hooks."""
    with torch.enable_grad():
        out = nn.functional.linear(net.layers[:3](X), net.layers[3].weight, net.layers[3].bias)
        loss = (out - X.sum(1, keepdim=True)).square().mean()
        gradient = torch.autograd.grad(loss, points, create_graph=True)
        signed = [-gradient[0], -gradient[1], gradient[2], gradient[3]]
        u = [torch.zeros_like(each, requires_grad=True) for each in signed]
        transposed = torch.autograd.grad(signed, points, u, create_graph=True)
    return list(torch.autograd.grad(transposed, u, v))


def test_second_derivatives_are_tried_again_by_a_run_that_goes_on() -> None:
    """A fresh object with a loaded state: its first correction is steps away, and no parameter may change before."""
    net = model().eval()
    first = MADE["with memory"](net.parameters(), every=10)
    for _ in range(2):
        first.step(closure(net))
    again = MADE["with memory"](net.parameters(), every=10)
    again.load_state_dict(first.state_dict())
    start = flat(net).clone()
    with pytest.raises(RuntimeError, match="twice"):
        again.step(lambda: Once.apply(net.layers(X)).square().mean())
    assert torch.equal(flat(net), start)


def test_arguments_as_pytorch_has_them() -> None:
    net = model()
    made = WithMemory("adamw-torch", net.parameters(), betas=(0.8, 0.9), foreach=True, fused=None)
    assert made.param_groups[0]["betas"] == (0.8, 0.9)
    apart = Optimizer(
        "apart",
        "m1/sqrt(m2 + 1)",
        [Momentum("grad", "beta1", "1 - beta1"), Momentum("grad**2", "beta2", "1 - beta2")],
        {"beta1": "9/10", "beta2": "99/100"},
    )
    mine = Memoryless(apart, net.parameters(), betas=(0.5, 0.6))
    assert (mine.param_groups[0]["beta1"], mine.param_groups[0]["beta2"]) == (0.5, 0.6)
    with pytest.raises(TypeError, match="betas"):
        Memoryless(apart, net.parameters(), betas=(0.5, 0.6, 0.7))


def test_the_state_goes_to_pytorch_and_back() -> None:
    net = model().eval()
    mine = WithMemory("adamw-torch", net.parameters(), lr=0.01, strength=0.0)
    for _ in range(3):
        mine.step(closure(net))
    other = copy.deepcopy(net)
    theirs = torch.optim.AdamW(other.parameters(), lr=0.5)
    theirs.load_state_dict(copy.deepcopy(mine.state_dict()))
    closure(other)().backward()
    theirs.step()
    mine.step(closure(net))
    assert torch.allclose(flat(net), flat(other), rtol=0, atol=1e-12)
    back = WithMemory("adamw-torch", other.parameters(), lr=0.9, strength=0.0)
    back.load_state_dict(theirs.state_dict())
    assert back.param_groups[0]["lr"] == 0.01
    assert float(back.state[next(other.parameters())]["step"]) == 4


class Once(torch.autograd.Function):
    """Differentiable once."""

    @staticmethod
    def forward(_ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(_ctx: object, g: torch.Tensor) -> torch.Tensor:
        return g * 2


@pytest.mark.parametrize("kind", MADE)
def test_second_derivatives_are_tried_before_a_parameter_changes(kind: str) -> None:
    net = model().eval()
    start = flat(net).clone()
    optimizer = MADE[kind](net.parameters())
    with pytest.raises(RuntimeError, match="twice"):
        optimizer.step(lambda: Once.apply(net.layers(X)).square().mean())
    assert torch.equal(flat(net), start)


@pytest.mark.parametrize("hvp", ["double-backward", "central-difference", "forward-over-reverse"])
@pytest.mark.parametrize("kind", MADE)
def test_buffers_and_autocast_are_those_of_the_loop(kind: str, hvp: str) -> None:
    """The averages of batch normalisation take in each batch once, also one that the module puts in anew."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(3)
            self.layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
            self.register_buffer("passes", torch.zeros(()))
            self.seen: list[torch.dtype] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.passes = self.passes + 1
            out = self.layers(x)
            self.seen.append(out.dtype)
            return out

    x = X.float()[:, :3]
    net, alone = Net(), Net()
    optimizer = MADE[kind](net.parameters(), hvp=hvp)
    optimizer.watch(net, loss=lambda output: output.float().square().mean())
    for _ in range(3):
        alone.load_state_dict(net.state_dict())
        with torch.autocast("cpu", torch.bfloat16):
            alone(x)
            loss = net(x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for name, buffer in alone.named_buffers():
            assert torch.equal(buffer, net.get_buffer(name)), name
    assert int(net.passes) == 3
    assert len(net.seen) > 3
    assert {*net.seen} == {torch.bfloat16}


@pytest.mark.parametrize("kind", [*MADE, *SECOND])
@pytest.mark.parametrize("loop", ["plain", "clips", "accumulates", "scales", "no backward"])
def test_a_gradient_of_the_loop_that_is_not_seen_is_said(kind: str, loop: str) -> None:
    """Once, and only where ``.grad`` is another one than that of the pass that is repeated."""
    net = model().eval()
    optimizer = {**MADE, **SECOND}[kind](net.parameters())
    optimizer.watch(net, loss=lambda output: output.loss)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            optimizer.zero_grad()
            if loop == "accumulates":
                net(X[:5], labels=X[:5, 1:2]).loss.backward()
            loss = net(X, labels=X[:, 1:2]).loss
            if loop != "no backward":
                (2 * loss if loop == "scales" else loss).backward()
            if loop == "clips":
                nn.utils.clip_grad_norm_(net.parameters(), 0.01)
            optimizer.step()
    words = [str(each.message) for each in told if "watch:" in str(each.message)]
    assert len(words) == (loop in ("clips", "accumulates", "scales"))
    if loop == "scales":
        assert ".grad is 1 of its size away" in words[0]


@pytest.mark.parametrize("kind", MADE)
def test_a_compiled_loop_makes_the_same_steps(kind: str) -> None:
    """torch.compile leaves the step as it is, and compiles what is around it."""
    found = []
    for compiled in (False, True):
        net = model().eval()
        optimizer = MADE[kind](net.parameters())

        def step(optimizer: torch.optim.Optimizer = optimizer, net: nn.Module = net) -> torch.Tensor:
            return 2 * optimizer.step(lambda: net(X, labels=X[:, 1:2]).loss)

        run = torch.compile(step, backend="eager") if compiled else step
        losses = [float(run()) for _ in range(3)]
        found.append((losses, flat(net)))
    assert found[0][0] == found[1][0]
    assert torch.equal(found[0][1], found[1][1])
