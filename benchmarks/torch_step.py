"""One step of the emitted MemorylessAdamW against one gradient and one Hessian-vector product, by the same method.

An MLP of 3 million parameters, batch 512, float32.  Memory is what the kernel has seen of the process at its peak,
beyond what it had before: for the step and for the gradient and product alike.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import cache

import torch
from measure import Row, Target, seconds, side_by_side
from torch import nn
from torch.autograd import forward_ad

import symmem
from symmem.emission.torch_module import torch_module


def double_backward_time() -> Row:
    return _time("double-backward", _double_backward)


def double_backward_memory() -> Row:
    return _memory("double-backward", _double_backward)


def forward_over_reverse_time() -> Row:
    return _time("forward-over-reverse", _forward_over_reverse)


def central_difference_time() -> Row:
    return _time("central-difference", _central_difference)


def _time(method: str, product: Callable[[], object]) -> Row:
    step = _step(method)
    found = side_by_side(lambda: seconds(step), lambda: seconds(product), rounds=25)
    return Row(f"MemorylessAdamW.step / gradient and product, {method}", *found, Target(1.10))


def _memory(method: str, product: Callable[[], object]) -> Row:
    step = _step(method)
    found = side_by_side(lambda: _peak(step), lambda: _peak(product), rounds=7)
    return Row(f"the same, peak memory in GB, {method}", *found, Target(1.10))


@cache
def network() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(0)
    widths = (784, 1024, 1024, 1024, 10)
    layers: list[nn.Module] = []
    for inner, outer in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(inner, outer), nn.Tanh()]
    model = nn.Sequential(*layers[:-1])
    x, y = torch.randn(512, 784), torch.randint(10, (512,))
    return model, lambda: nn.functional.cross_entropy(model(x), y)


@cache
def adamw_module() -> types.ModuleType:
    made = types.ModuleType("emitted_adamw")
    sys.modules[made.__name__] = made
    exec(compile(torch_module(symmem.derive(symmem.load("adamw"))), made.__name__, "exec"), made.__dict__)
    return made


def _step(method: str) -> Callable[[], object]:
    model, closure = network()
    optimizer = adamw_module().MemorylessAdamW(model.parameters(), lr=1e-6, hvp=method)
    for _ in range(3):
        optimizer.step(closure)
    return lambda: optimizer.step(closure)


def _double_backward() -> object:
    model, closure = network()
    parameters = list(model.parameters())
    first = torch.autograd.grad(closure(), parameters, create_graph=True)
    direction = [g.detach().sign() for g in first]
    return first, torch.autograd.grad(first, parameters, direction)


def _forward_over_reverse() -> object:
    """``torch.func`` would do the same: the gradient, then the gradient of dual numbers."""
    model, closure = network()
    names, parameters = zip(*model.named_parameters(), strict=True)
    first = torch.autograd.grad(closure(), parameters)
    x, y = closure.__closure__[1].cell_contents, closure.__closure__[2].cell_contents
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(p, g.sign()) for p, g in zip(parameters, first, strict=True)]
        out = torch.func.functional_call(model, dict(zip(names, duals, strict=True)), (x,))
        found = torch.autograd.grad(nn.functional.cross_entropy(out, y), duals)
        return first, [forward_ad.unpack_dual(g).tangent for g in found]


def _central_difference() -> object:
    model, closure = network()
    parameters = list(model.parameters())
    first = torch.autograd.grad(closure(), parameters)
    start = [p.detach().clone() for p in parameters]
    found = []
    for shift in (1e-3, -1e-3):
        with torch.no_grad():
            for p, s, g in zip(parameters, start, first, strict=True):
                p.copy_(s).add_(g.sign(), alpha=shift)
        found.append(torch.autograd.grad(closure(), parameters))
    with torch.no_grad():
        for p, s in zip(parameters, start, strict=True):
            p.copy_(s)
    return first, [(a - b) / 2e-3 for a, b in zip(*found, strict=True)]


def _peak(action: Callable[[], object]) -> float:
    """The most gigabytes that the action held beyond what the process had before."""
    action()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
        handle.write("5")  # the peak starts anew
    before = _status("VmRSS")
    action()
    return (_status("VmHWM") - before) / 2**20


def _status(key: str) -> int:
    with open("/proc/self/status", encoding="ascii") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith(key))
