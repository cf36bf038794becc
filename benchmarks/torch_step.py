"""One step of the emitted MemorylessAdamW against one gradient and one Hessian-vector product, by the same method.

An MLP of 3 million parameters, batch 512, float32.  Memory is the peak of the process beyond what it had before,
measured by the system in a process of its own, where freed tensors go back to it at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import torch
from measure import Row, Target, seconds, side_by_side
from torch import nn
from torch.autograd import forward_ad

import symmem
from symmem.targets.c.build import build
from symmem.training import Memoryless


def double_backward_time() -> Row:
    return _time("double-backward", _double_backward)


def double_backward_memory() -> Row:
    return _memory("double-backward")


def forward_over_reverse_memory() -> Row:
    return _memory("forward-over-reverse")


def forward_over_reverse_time() -> Row:
    return _time("forward-over-reverse", _forward_over_reverse)


def central_difference_time() -> Row:
    return _time("central-difference", _central_difference)


def double_backward_by_kernels_time() -> Row:
    return _time("double-backward", _double_backward, by_kernels=True)


def forward_over_reverse_by_kernels_time() -> Row:
    return _time("forward-over-reverse", _forward_over_reverse, by_kernels=True)


def _time(method: str, product: Callable[[], object], *, by_kernels: bool = False) -> Row:
    step = _step(method, built() if by_kernels else None)
    found = side_by_side(lambda: seconds(step), lambda: seconds(product), rounds=25)
    target = Target(1.10 if method == "central-difference" else 1.05)
    words = ", built kernels" if by_kernels else ""
    return Row(f"MemorylessAdamW.step / gradient and product, {method}{words}", *found, target)


def _memory(method: str) -> Row:
    found = [float(_child(role, method)) for role in ("step", "product")]
    return Row(f"the same, peak memory, {method}", *found, Target(1.05), unit="GB")


def _child(role: str, method: str) -> str:
    """This module as a program: it prints the peak of one action."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-W", "ignore", __file__, role, method]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@cache
def _data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(512, 784, generator=generator), torch.randint(10, (512,), generator=generator)


WIDTHS = {
    0.1: (64, 256, 256, 64, 10),
    3.0: (784, 1024, 1024, 1024, 10),
    20.0: (784, 2560, 2560, 2560, 2048, 10),
}
"""Of the networks, by millions of parameters."""


@cache
def network(millions: float = 3.0) -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(0)
    widths = WIDTHS[millions]
    layers: list[nn.Module] = []
    for inner, outer in pairwise(widths):
        layers += [nn.Linear(inner, outer), nn.Tanh()]
    model = nn.Sequential(*layers[:-1])
    x, y = _data()
    x = x[:, : widths[0]].contiguous()
    return model, lambda: nn.functional.cross_entropy(model(x), y)


@cache
def built() -> str:
    """The path of AdamW's compiled kernels."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    build([symmem.derive("adamw")], f"{folder}/kernels")
    return f"{folder}/kernels/python/symmem_adamw.py"


def _step(method: str, kernels: str | None = None) -> Callable[[], object]:
    model, closure = network()
    optimizer = Memoryless("adamw", model.parameters(), lr=1e-6, hvp=method, kernels=kernels)
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
    x, y = _data()
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


PRODUCTS = {
    "double-backward": _double_backward,
    "forward-over-reverse": _forward_over_reverse,
    "central-difference": _central_difference,
}


def _peak(action: Callable[[], object]) -> float:
    """The most gigabytes that the action held beyond what the process had before."""
    action()
    gc.collect()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
        handle.write("5")  # the peak starts anew
    before = _status("VmRSS")
    action()
    return (_status("VmHWM") - before) / 2**20


def _status(key: str) -> int:
    with open("/proc/self/status", encoding="ascii") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith(key))


if __name__ == "__main__":
    print(_peak(_step(sys.argv[2]) if sys.argv[1] == "step" else PRODUCTS[sys.argv[2]]))
