"""The Triton module: its kernels against the 50-digit probe set, on a stand-in and in Triton's own interpreter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import probe
import pytest
import torch
from hard_names import RATE, step_of
from mpmath import mpf
from triton_probe import GRADIENT, MACHINES, interpreted, products, tensor
from truth import EVERY, FIRST, LR, THETA, literal_of, load, number_of

import symmem
from symmem.algebra.results import Missing
from symmem.checks.verify import as_theory_sees
from symmem.errors import SymmemError
from symmem.targets.numpy.module import numpy_module
from symmem.targets.triton.module import triton_module

SHOWN = ("heavyball", "adamw", "rmsprop")
"""Numbers alone, two averages, and a sum over past steps."""
TOLERANCE = {torch.float64: 3e-13, torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}
"""Triton's interpreter cuts a float32 to a bfloat16 where a GPU rounds."""
SIZES = (0, 1, 1023, 1024, 1025)
"""Nothing, one entry, and beside the size of a block."""


def has_kernels(name: str) -> bool:
    """Whether it is entrywise; any other refusal is an error."""
    try:
        return bool(triton_module(probe.derivation(name, 1)))
    except SymmemError as error:
        if not re.search("entrywise functions alone|cannot call the function", str(error)):
            raise
        return False


def swept(names: tuple[str, ...]) -> list[Any]:
    """The stand-in on what is shown; under prove, Triton's interpreter on all of them."""
    rest = [pytest.param(name, "triton", marks=pytest.mark.prove) for name in names]
    return [*((name, "stand-in") for name in SHOWN), *rest]


@pytest.mark.parametrize(("name", "machine"), swept(tuple(name for name in FIRST if name != "lion-k")))
def test_values(name: str, machine: str) -> None:
    module, values = interpreted(probe.derivation(name, 1), machine), probe.parameters(name)
    for n in probe.STEPS:
        exact, given = probe.truth(name, 1, n), products(module, n, values)
        for kind, tolerance in TOLERANCE.items():
            grad, hv = tensor(GRADIENT, kind), [tensor(each, kind) for each in given]
            for function in probe.functions(1):
                theta = tensor(probe.THETA64, kind)
                early = function == "memoryless"
                more, rate = ((), {}) if early else ((hv,), {"lr": RATE})
                found = getattr(module, function)(theta, grad, *more, n=n, **rate, **values)
                assert found.dtype == kind
                assert (found is theta) == (function == "step")
                assert exact[function].error(found.double().numpy()) < tolerance, (function, n, kind)


def run_with_memory(name: str, machine: str) -> None:
    """Steps of the optimizer as it runs, then one with a part of its correction, against their definitions."""
    derivation, values = probe.derivation(name, 1), probe.parameters(name)
    module, literal = interpreted(derivation, machine), literal_of(load(name))
    theta = tensor(probe.THETA64)
    memory = module.initial_memory(theta)
    *trace, (last, move) = literal.trace(THETA, LR, 4)
    for n, (exact, _) in enumerate(trace):
        np.testing.assert_allclose(theta, [float(x) for x in exact], rtol=1e-11)
        gradient = tensor(probe.contraction(theta.numpy()))
        assert module.update(theta, gradient, memory, n=n, lr=RATE, **values) is theta
    np.testing.assert_allclose(theta, [float(x) for x in last], rtol=1e-11)
    point = theta.numpy().copy()
    gradient = tensor(probe.contraction(point))
    rate = mpf(LR.p) / LR.q * literal.rate(4)
    seen = literal_of(as_theory_sees(load(name)))
    added = {
        "corrected_update": lambda: number_of(derivation.M, literal, n=4, theta=last),
        "straight_update": lambda: number_of(derivation.straight - derivation.F, seen, n=4, theta=last),
    }
    for function, part in added.items():
        if not hasattr(module, function):
            assert function == "corrected_update" or isinstance(derivation.straight, Missing)
            continue
        directions = module.direction(theta, gradient, n=4, **values)
        hv = [tensor(probe.contraction(point, each.numpy())) for each in directions]
        moved, kept = theta.clone(), [each.clone() for each in memory]
        getattr(module, function)(moved, gradient, kept, hv, n=4, lr=RATE, strength=-0.5, **values)
        exact = [x - rate * (f - m / 2) for x, f, m in zip(last, move, part(), strict=True)]
        np.testing.assert_allclose(moved, [float(x) for x in exact], rtol=1e-11, err_msg=function)
        module.update(theta.clone(), gradient, again := [x.clone() for x in memory], n=4, lr=RATE, **values)
        for mine, other in zip(kept, again, strict=True):
            np.testing.assert_allclose(mine, other, rtol=4e-16)  # products may be taken in another order


@pytest.mark.parametrize(
    ("name", "machine"), [(name, "stand-in") for name in ("adamw", "delayed-gd", "nadam", "rmsprop")]
)
def test_the_optimizer_with_its_memory(name: str, machine: str) -> None:
    run_with_memory(name, machine)


@pytest.mark.prove
@pytest.mark.parametrize("machine", ["stand-in", "triton"])
@pytest.mark.parametrize("name", EVERY)
def test_every_optimizer_with_its_memory(name: str, machine: str) -> None:
    if has_kernels(name):
        run_with_memory(name, machine)


def vectors(generator: torch.Generator, kind: torch.dtype) -> list[torch.Tensor]:
    """Of all sizes; one not contiguous, one that begins in the middle of 16 bytes, one number."""

    def entries(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(kind)

    return [*(entries(size) for size in SIZES), entries(7, 5).T, entries(18)[1:], entries()]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_many_tensors_in_one_launch(kind: torch.dtype, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = interpreted(probe.derivation("adamw", 1), machine)
    formulas = probe.module(numpy_module(probe.derivation("adamw", 1)))
    generator = torch.Generator().manual_seed(1)
    theta, grad, hv = (vectors(generator, kind) for _ in range(3))
    launched, launch = [], module._launch
    monkeypatch.setattr(module, "_launch", lambda *given: [launched.append(given), launch(*given)])
    expected = []
    for x, g, h in zip(theta, grad, hv, strict=True):
        slopes = [each.double().numpy() for each in (g, h)]
        given = (lambda _, g=slopes[0]: g, lambda _, v, h=slopes[1]: h)
        expected.append(formulas.step(x.double().numpy(), *given, n=3, lr=RATE))
    versions = [each._version for each in theta]
    assert module.step(theta, grad, [hv], n=3, lr=RATE) is theta
    assert len(launched) == 1
    rtol = 1e-14 if kind == torch.float64 else 8e-3
    for found, exact, version in zip(theta, expected, versions, strict=True):
        np.testing.assert_allclose(found.double(), exact, rtol=rtol, atol=1e-15)
        assert found._version > version


@pytest.mark.parametrize("machine", MACHINES)
def test_a_view_that_is_to_be_negated(machine: str) -> None:
    """Its memory holds the other sign."""
    module = interpreted(probe.derivation("adamw", 1), machine)
    view = torch._neg_view(torch.tensor([2.0, -4.0], dtype=torch.float64))
    theta, plain = torch.zeros(2, dtype=torch.float64), torch.tensor([-2.0, 4.0], dtype=torch.float64)
    found = module.memoryless(theta, view, n=3)
    np.testing.assert_array_equal(found, module.memoryless(theta, plain, n=3))


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_kept_in_float32_beside_half_precision(machine: str) -> None:
    """The sums take in what half precision would lose: after 40 equal gradients m is as close as float32 is."""
    module = interpreted(probe.derivation("adamw", 1), machine)
    theta, grad = [torch.ones(3, dtype=torch.bfloat16)], [torch.full((3,), 0.37, dtype=torch.bfloat16)]
    memory = module.initial_memory(theta)
    for n in range(40):
        module.update(theta, grad, memory, n=n, lr=1e-4)
    exact = float(grad[0][0]) * (1 - 0.9**40)
    assert memory[0][0].dtype == torch.float32
    np.testing.assert_allclose(memory[0][0], [exact] * 3, rtol=1e-6)


LANGUAGE = (
    "m1/sqrt(m1**2 + 1) + tanh(m2) + sinh(m2/2) + cosh(m2) + tan(m2/9) + atan(3*m2) + erf(m2) + exp(-m2**2) "
    "+ log(m2**2 + 1) + sin(m2) + cos(m2) + abs(m2)**(5/3) + (m2 + 2)**7/99 + sign(m2)"
)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_function_of_the_language(machine: str) -> None:
    optimizer = symmem.Optimizer(
        name="wordy",
        phi=LANGUAGE,
        momentum=[
            symmem.Momentum("grad", "1/2", "(1/2)/(1 - (1/2)**(n + 1))"),
            symmem.Momentum("grad", "0", "1"),
        ],
    )
    derivation = symmem.derive(optimizer)
    module = interpreted(derivation, machine)
    for n in (2, None):
        hv = [tensor(each) for each in products(module, n, {})]
        found = module.step(tensor(probe.THETA64), tensor(GRADIENT), hv, n=n, lr=RATE)
        np.testing.assert_allclose(found, step_of(derivation, n), rtol=1e-14)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("function", "tolerance"), [("tanh", 4e-16), ("sinh", 8e-16), ("atan", 4e-16)])
def test_functions_that_triton_does_not_have(function: str, tolerance: float, machine: str) -> None:
    """Small and large, of both signs; relative to the value."""
    phi = f"{function}(m1)"
    derivation = symmem.derive(
        symmem.Optimizer(name="one", phi=phi, momentum=[symmem.Momentum("grad", "0", "1")])
    )
    sizes = np.array([1e-30, 1e-9, 0.01, 0.3, 0.999, 1.0, 1.001, 2.5, 19.0, 300.0])
    points = np.concatenate([-sizes, [0.0], sizes])
    found = interpreted(derivation, machine).memoryless(tensor(points), tensor(points))
    exact = {"tanh": np.tanh, "sinh": np.sinh, "atan": np.arctan}[function](points)
    np.testing.assert_allclose(found, exact, rtol=tolerance)


def adamw() -> Any:
    return interpreted(probe.derivation("adamw", 1), "stand-in")


X, HALF = torch.ones(3), torch.ones(3, dtype=torch.bfloat16)
REFUSED = [
    (lambda: adamw().memoryless(X, X, n=-1), "n = -1: steps count from 0"),
    (lambda: adamw().memoryless(X, X, beta1=1), r"beta1 = 1 is outside \[0, 1\)"),
    (
        lambda: adamw().memoryless(X, X, weight_decay=float("inf")),
        r"weight_decay = inf is outside \[0, inf\)",
    ),
    (lambda: adamw().step(X, X, [X], lr=float("nan")), "not finite"),
    (lambda: adamw().step(X, X, X, lr=1), "hv is a tensor, not a list of 1"),
    (lambda: adamw().step(X, X, [X, X], lr=1), "hv is 2 vectors, not a list of 1"),
    (lambda: adamw().step(X, torch.ones(4), [X], lr=1), "shapes of grad are not those of theta"),
    (lambda: adamw().step([X, X], [X, X], [[X, X]], lr=1), "share memory"),
    (lambda: adamw().memoryless([X, HALF], [X, X]), "theta is of torch.bfloat16, torch.float32; give one"),
    (lambda: adamw().memoryless(X.int(), X), "theta is of torch.int32"),
    (lambda: adamw().memoryless(X, X.to("meta")), "grad and theta are on cpu, meta"),
    (lambda: adamw().memoryless(X, X.to_sparse()), "grad is sparse"),
    (lambda: adamw().update(X, X, [X], n=0, lr=1), "past is 1 vectors, not a list of 2"),
    (lambda: adamw().update(X, X, [X, X], n=None, lr=1), "give n, counted from 0"),
    (lambda: triton_module(symmem.derive(load("adamw"), 2)), "has order 1, not 2"),
    (lambda: triton_module(symmem.derive(load("lion-k"))), "cannot call the function gradK"),
    (lambda: triton_module(symmem.derive(load("ngd"))), "entrywise functions alone; take torch"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError, SymmemError), match=words):
        call()
    assert torch.equal(X, torch.ones(3))


def test_a_cpu_without_the_interpreter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = adamw()
    monkeypatch.setattr(module.triton.knobs.runtime, "interpret", False)
    with pytest.raises(ValueError, match="TRITON_INTERPRET=1"):
        module.memoryless(X, X)


def test_the_fastest_block_is_chosen_on_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module, seen = adamw(), []
    times = {(1024, 4): 3.0, (512, 2): 2.5, (2048, 8): 1.0, (4096, 8): 2.0}

    def do_bench(run: Any) -> float:
        run()
        return times[seen[-1][:2]]

    monkeypatch.setattr(
        module.triton, "testing", type("", (), {"do_bench": staticmethod(do_bench)}), raising=False
    )
    monkeypatch.setattr(module, "SCRATCH", 64)
    kinds = (torch.float32, torch.float64)
    chosen = module._fastest(lambda *given: seen.append(given), kinds, torch.device("cpu"))
    assert chosen == (2048, 8)
    assert {each[:2] for each in seen} == set(module.CONFIGURATIONS) == set(times)
    assert all(len(places) == 2 and sizes == (64,) for _, _, places, sizes in seen)


def test_a_formatter_and_a_linter_find_nothing_to_do(tmp_path: Path) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for name in (*SHOWN, "lion", "gd"):
        (tmp_path / f"{name}.py").write_text(triton_module(probe.derivation(name, 1)))
    checks = [["format", "--check", "--diff", "--line-length", width] for width in ("88", "110")]
    for check in (*checks, ["check", "--select", "F,E4,E7,E9,W,B,I"]):
        done = subprocess.run(
            [ruff, *check, "--isolated", tmp_path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[:2000]


@pytest.mark.prove
def test_no_module_of_the_zoo_calls_what_it_does_not_have(tmp_path: Path) -> None:
    for name in filter(has_kernels, EVERY):
        (tmp_path / f"{name}.py").write_text(triton_module(probe.derivation(name, 1)))
    check = [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select", "F", tmp_path]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:2000]
