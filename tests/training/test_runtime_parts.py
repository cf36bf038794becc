"""Parts of the runtime by themselves: tables of the past, shares of products, clipping, emitted modules, names."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from group_truth import EXTRAS, Group, closure, emitted, error, load, moved, opaque, parameters, tables
from sympy import Rational
from torch import nn

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.torch.module import torch_module
from symmem.targets.torch.with_runtime import write_with_runtime
from symmem.training import Memoryless, WithMemory
from symmem.training.loading import formulas_of
from symmem.training.runtime.clipping import Clipped
from symmem.training.runtime.groups import Part
from symmem.training.runtime.power_sums import power_sums
from symmem.training.runtime.processes import OneProcess
from symmem.training.runtime.remembered import planned, remembered

OTHER = {"beta1": Rational(1, 2), "beta2": Rational(9, 10), "eps": Rational(1, 30), "beta": Rational(3, 5)}
GROUPS = [Group((0,), n=7), Group((1, 2), lr=Rational(1, 40), n=2, values=OTHER, maximize=True)]


def part(n: float, **values: object) -> Part:
    group = {"params": [], "lr": 0.1, "n": n, "limit": False, "maximize": False, "eps": 1e-8}
    return Part(formulas_of(load("adamw")), {**group, "weight_decay": 0.0, "betas": (0.5, 0.9), **values})


@pytest.mark.parametrize(("own", "other"), [(3, 3), (2, 5), (5, 2), (1, 1)])
def test_weights_of_past_steps(own: int, other: int) -> None:
    """w(s) = sum_{k = n_j - s .. n_i} beta^k, summed, for F does not depend on the step."""
    first = max(0, other - own)
    truth = sum(0.5**k for s in range(first, other) for k in range(other - s, own + 1))
    assert remembered(0.5, own, part(other)) == [[pytest.approx(truth, rel=1e-14)]]


@pytest.mark.parametrize(("own", "other"), [(700, 700), (400, 900), (900, 400), (math.inf, 600)])
@pytest.mark.parametrize("decay", [0.0, 0.3, 0.99, 1 - 1e-6, 1 - 2.0**-53])
def test_weights_of_many_steps_keep_their_digits(own: float, other: float, decay: float) -> None:
    """The same in exact rationals, in closed form and with a rate that changed; a memory without end is cut."""
    beta = Fraction(decay)
    falls = [beta**k for k in range(1, 901)]
    truth = sum((min(k, other) * x for k, x in enumerate(falls, 1) if k <= own), Fraction())
    if math.isinf(own):
        truth += int(other) * falls[-1] * beta / (1 - beta)
    if decay:
        bound = 1e-14 if math.isfinite(own) or decay < 0.999 else 1e-13
        assert remembered(decay, own, part(other)) == [[pytest.approx(float(truth), rel=bound)]]
        if math.isfinite(own):
            listed = remembered(decay, own, part(other, _rates=[0.1, 0.1]))
            assert listed == [[pytest.approx(float(truth), rel=1e-9 if own > other else 1e-13)]]
    else:
        assert remembered(decay, own, part(other)) == []


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 64, 1000])
@pytest.mark.parametrize("decay", [0.0, 0.5, -0.7, 0.999, 1 - 2.0**-50])
def test_power_sums(decay: float, count: int) -> None:
    """``sum_k k^p beta^k`` in exact rationals."""
    falls = [(k, Fraction(decay) ** k) for k in range(1, count + 1)]
    truth = [float(sum((k**p * x for k, x in falls), Fraction())) for p in range(5)]
    assert power_sums(decay, count, 4) == pytest.approx(truth, rel=1e-15 if decay >= 0 else 1e-12)


def test_multiples_share_a_product() -> None:
    rows, shares = planned([part(4)], [part(4)])
    assert len(rows) == 1
    (_, first), (_, second) = shares[0]
    ((high,),), ((low,),) = (remembered(decay, 4, part(4)) for decay in (0.9, 0.5))
    assert second / first == pytest.approx(high / low, rel=1e-13)
    assert planned([part(0)], [part(0)]) == ([], [[None, None]])


def test_the_derivative_of_clipping() -> None:
    torch.manual_seed(0)
    g, v = torch.randn(2, 5, dtype=torch.float64)

    def clipped(x: torch.Tensor) -> torch.Tensor:
        return x * (0.3 / (x.norm() + 1e-6))

    found = Clipped([g], 0.3, OneProcess()).derivative([v])[0]
    truth = torch.func.jvp(clipped, (g,), (v,))[1]
    assert torch.allclose(found, truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1e-13, 1.0, 1e13, 1e30])
def test_a_length_is_the_norm_to_a_few_digits(size: float) -> None:
    """Also where the squares of its entries do not fit into the type; nothing and zeros have the length 0."""
    x = torch.full((300, 1000), size)
    assert OneProcess().length([x, None]) == pytest.approx(size * 300_000**0.5, rel=1e-3)
    assert OneProcess().length([None, torch.zeros(3)]) == 0


@pytest.mark.parametrize("hvp", ["double-backward", "central-difference"])
@pytest.mark.parametrize("name", ["adamw", "rmsprop", "lion-k", *EXTRAS])
def test_the_emitted_class(name: str, hvp: str) -> None:
    title = "".join(filter(str.isalnum, str(load(name).title)))
    tensors = parameters()
    optimizer = getattr(emitted(name), f"Memoryless{title}")(
        tables(name, GROUPS, tensors), **opaque(name), hvp=hvp, history="expansion"
    )
    optimizer.step(closure(tensors))
    assert error(tensors, moved(name, GROUPS)) < (1e-14 if hvp == "double-backward" else 1e-10)


def test_the_emitted_module_is_short() -> None:
    assert len(torch_module(symmem.derive(symmem.load("adamw"))).splitlines()) <= 450


def test_a_copy_needs_no_symmem(tmp_path: Path) -> None:
    write_with_runtime(symmem.derive(symmem.load("adamw")), str(tmp_path / "memory.py"))
    program = (
        "import sys; sys.modules['symmem'] = None\n"
        "import torch, memory\n"
        "p = torch.nn.Parameter(torch.ones(3))\n"
        "for kind in (memory.MemorylessAdamW, memory.AdamWWithMemory, memory.AdamWWithMemoryCorrection):\n"
        "    o = kind([p]); o.step(lambda: p.sin().sum()); print(float(o.step(lambda: p.sin().sum())))\n"
        "print(memory.probe(torch.nn.ParameterList([p]), o, lambda: p.sin().sum())['loss'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 4


def test_parameters_with_our_names() -> None:
    """``factor``, ``rates`` and ``max_norm`` are as good as any name; ours get an underscore in a constructor."""
    names = {"factor": "4/5", "max_norm": "1/3", "kernels": "1/7", "rates": "1/9"}
    momentum = [Momentum("grad", "factor", "1 - factor"), Momentum("theta", "0", "rates + kernels")]
    clashing = Optimizer("clashing", "m1 / sqrt(m1**2 + max_norm) + m2", momentum, names)
    plain = Optimizer(
        "plain",
        "m1 / sqrt(m1**2 + c) + m2",
        [Momentum("grad", "a", "1 - a"), Momentum("theta", "0", "d + b")],
        {"a": "4/5", "c": "1/3", "b": "1/7", "d": "1/9"},
    )
    for kind in (Memoryless, WithMemory):
        found = []
        for optimizer, given in ((clashing, {"max_norm_": 0.2}), (plain, {"c": 0.2})):
            p = nn.Parameter(torch.tensor([0.3, -0.4], dtype=torch.float64))
            made = kind(optimizer, [p], lr=0.1, max_norm=0.5, history="expansion", **given)
            for _ in range(3):
                made.step(lambda p=p: p.sin().square().sum())
            found.append(p.detach())
        assert torch.equal(*found)


def test_half_precision_is_computed_in_float32() -> None:
    """One rounding, of the result; a formula in bfloat16 would round at every operation."""
    slope = torch.randn(512, generator=torch.Generator().manual_seed(0)).bfloat16()
    p = nn.Parameter(torch.zeros_like(slope))
    made = Memoryless("adamw", [p], lr=0.3, betas=(0.5, 0.9), eps=1.0, weight_decay=0.0)
    made.step(lambda: torch.dot(p, slope))
    g = slope.double()
    exact = (-0.3 * g / (g * g + 1).sqrt()).bfloat16()
    assert (p.detach() != exact).sum() <= 2
