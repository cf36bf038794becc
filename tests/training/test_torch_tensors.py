"""Functions of whole tensors in the PyTorch optimizers: each parameter tensor by itself."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import group_truth
import mpmath
import pytest
import tensor_optimizers
import torch
from group_truth import CASES
from tensor_optimizers import LAYOUTS, OPTIMIZERS, VALUES

import symmem
from symmem.errors import DerivationError
from symmem.targets.torch.with_runtime import write_with_runtime
from symmem.training import Memoryless, WithMemory
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.ridges import Monomial, Ridge
from symmem.verification.straight import on_even_line

POINT = [float(x) for x in probe_point(6)]
STEPS = 4
ONE_VECTOR = ("global-clip", "novograd")
"""One joins tensors, the other is a cascade: Memoryless has all parameters as one vector; no WithMemory."""


def _profile(ridge: Ridge, x: torch.Tensor) -> torch.Tensor:
    if isinstance(ridge.profile, Monomial):
        return x**ridge.profile.degree / math.factorial(ridge.profile.degree)
    named = {"exponential": torch.exp, "sine": torch.sin, "log_cosh": lambda y: y.cosh().log()}
    return named[ridge.profile.__name__](x)


def parameters() -> list[torch.nn.Parameter]:
    entries = torch.tensor(POINT, dtype=torch.float64)
    return [torch.nn.Parameter(entries[:4].reshape(2, 2)), torch.nn.Parameter(entries[4:].reshape(1, 2))]


def loss(tensors: list[torch.nn.Parameter]) -> torch.Tensor:
    theta = torch.cat([tensor.reshape(-1) for tensor in tensors])
    rows = [torch.tensor([float(x) for x in r.inward], dtype=torch.float64) for r in coupled_loss(6).ridges]
    terms = [
        float(r.weight) * _profile(r, row @ theta)
        for r, row in zip(coupled_loss(6).ridges, rows, strict=True)
    ]
    return torch.stack(terms).sum()


def ran(make: Any) -> torch.Tensor:
    tensors = parameters()
    optimizer = make(tensors)
    for _ in range(STEPS):
        optimizer.step(lambda: loss(tensors))
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def numbers(name: str) -> dict[str, float]:
    fractions = {each: VALUES[each].split("/") for each in OPTIMIZERS[name].defaults}
    return {each: int(above) / int(below) for each, (above, below) in fractions.items()}


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name not in ONE_VECTOR])
def test_the_optimizer_as_it_runs_and_without_memory(name: str) -> None:
    optimizer, given = OPTIMIZERS[name], numbers(name)
    values = {each: VALUES[each] for each in optimizer.defaults}
    literal = Literal(optimizer, values, coupled_loss(6), layout=LAYOUTS[1])
    end = literal.run(probe_point(6), "1/1000", STEPS, 20)[-1]
    truth = torch.tensor([float(x) for x in end], dtype=torch.float64)
    own = ran(lambda tensors: WithMemory(optimizer, tensors, lr=1e-3, strength=0.0, **given))
    torch.testing.assert_close(own, truth, rtol=1e-12, atol=1e-13)
    # Without memory it stays O(h^2) close: a few 1e-6 of the way of some 1e-3.
    twin = ran(lambda tensors: Memoryless(optimizer, tensors, lr=1e-3, **given))
    plain = abs(torch.tensor(POINT, dtype=torch.float64) - truth).max()
    assert abs(twin - truth).max() < 1e-4 * plain


@pytest.mark.parametrize("case", ["one group", "two rates"])
def test_a_norm_of_the_whole_model_joins_tensors_and_groups(case: str) -> None:
    """Against the optimizer with its memory by numbers; the rates of the groups stand inside the norm's derivative."""
    groups, tensors = CASES[case], group_truth.parameters()
    group_truth.optimizer_of("global-clip", groups, tensors).step(group_truth.closure(tensors))
    assert group_truth.error(tensors, group_truth.moved("global-clip", groups)) < 1e-13


@pytest.mark.parametrize("name", ["global-clip", "nsgd", "muon", "muon-shipped", "lars"])
def test_second_order(name: str) -> None:
    """The error falls from h^2 to h^3, and the emitted class is that of the runtime."""
    optimizer, given = OPTIMIZERS[name], numbers(name)
    values = {each: VALUES[each] for each in optimizer.defaults}
    literal = Literal(optimizer, values, coupled_loss(6), layout=LAYOUTS[1])
    end = literal.run(probe_point(6), "1/10000", STEPS, 20)[-1]
    truth = torch.tensor([float(x) for x in end], dtype=torch.float64)
    asked = {"lr": 1e-4, "history": "expansion", **given}
    first = ran(lambda tensors: Memoryless(optimizer, tensors, **asked))
    second = ran(lambda tensors: Memoryless(optimizer, tensors, order=2, **asked))
    assert abs(second - truth).max() < 0.02 * abs(first - truth).max() + 1e-15
    space: dict[str, Any] = {}
    exec(compile(symmem.emit(symmem.derive(optimizer, 2), "torch"), f"{name}.py", "exec"), space)
    (made,) = [value for key, value in space.items() if key.startswith("Memoryless")]
    own = ran(lambda tensors: made(tensors, lr=1e-4, **given))
    torch.testing.assert_close(own, second, rtol=1e-13, atol=1e-15)


def test_what_one_vector_cannot_do_is_refused() -> None:
    with pytest.raises(DerivationError, match=r"whole model joins the parameter groups.*take Memoryless"):
        WithMemory(OPTIMIZERS["global-clip"], parameters())
    both = r"whole model joins the parameter groups, and .* need geometric memory.*take Memoryless"
    with pytest.raises(DerivationError, match=both):
        WithMemory("avagrad", parameters())
    with pytest.raises(
        DerivationError, match=r"matrices of other shapes come from .*matmul, transpose; take order 1"
    ):
        symmem.emit(symmem.derive(OPTIMIZERS["shampoo"], 2), "torch")
    rank_one = torch.nn.Parameter(torch.outer(torch.arange(1.0, 3.0), torch.arange(1.0, 4.0)))
    before = rank_one.detach().clone()
    with pytest.raises(ValueError, match=r"parameter 0, shape \(2, 3\): .*rank-deficient"):
        Memoryless("muon", [rank_one], order=2, limit=True).step(lambda: (rank_one**2).sum() / 2)
    assert torch.equal(rank_one.detach(), before)


def test_a_cascade_of_tensor_functions_on_one_vector() -> None:
    """NovoGrad reads a momentum variable that is a number of each tensor."""
    optimizer, given = OPTIMIZERS["novograd"], numbers("novograd")
    literal = Literal(optimizer, {each: VALUES[each] for each in given}, coupled_loss(6), layout=LAYOUTS[1])
    truth = [float(x) for x in literal.run(probe_point(6), "1/1000", STEPS, 20)[-1]]
    own = ran(lambda tensors: Memoryless(optimizer, tensors, lr=1e-3, history="expansion", **given))
    assert abs(own - torch.tensor(truth, dtype=torch.float64)).max() < 1e-7


def test_means_over_rows_in_a_cascade() -> None:
    """NorMuon divides by means over the rows of a matrix: products of other shapes, in a memory that is like theta."""
    mean = "matmul(matmul((m1/norm(m1))**2, transpose(m2)), m2)/dot(m2, m2)"
    variables = [("grad", "beta1", "1 - beta1"), ("1", "0", "1"), (mean, "beta2", "1 - beta2")]
    rows = tensor_optimizers.made("rows", "m1/sqrt(m3 + eps)", variables, ("beta1", "beta2", "eps"))
    given = {"beta1": 0.4, "beta2": 0.5, "eps": 0.1}
    literal = Literal(
        rows, {"beta1": "2/5", "beta2": "1/2", "eps": "1/10"}, coupled_loss(6), layout=LAYOUTS[1]
    )
    truth = literal.run(probe_point(6), "1/1000", STEPS, 20)[-1]
    own = ran(lambda tensors: WithMemory(rows, tensors, lr=1e-3, limit=True, **given))
    expected = torch.tensor([float(x) for x in truth], dtype=torch.float64)
    torch.testing.assert_close(own, expected, rtol=1e-12, atol=1e-13)
    tensors = parameters()
    Memoryless(rows, tensors, lr=0.01, limit=True, **given).step(lambda: loss(tensors))
    with mpmath.workdps(30):
        step = [v / 100 for v in literal.frozen(POINT, 80, 30)[-1]]
        moved = on_even_line(literal, POINT, step, 80, 30)
    found = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    line = torch.tensor([x - float(v) / 100 for x, v in zip(POINT, moved, strict=True)], dtype=torch.float64)
    torch.testing.assert_close(found, line, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["nsgd", "muon", "adam-mini", "shampoo"])
def test_the_emitted_class_is_that_of_the_runtime(name: str) -> None:
    space: dict[str, Any] = {}
    exec(compile(symmem.emit(symmem.derive(OPTIMIZERS[name]), "torch"), f"{name}.py", "exec"), space)
    (made,) = [value for key, value in space.items() if key.startswith("Memoryless")]
    given = numbers(name)
    own = ran(lambda tensors: made(tensors, lr=1e-3, **given))
    expected = ran(lambda tensors: Memoryless(OPTIMIZERS[name], tensors, lr=1e-3, **given))
    torch.testing.assert_close(own, expected, rtol=1e-12, atol=1e-14)


def test_smoothed_functions_are_exact_in_the_update_that_runs() -> None:
    """Lion's sign, a clip and a max: the base update of WithMemory is the optimizer itself."""
    optimizer = symmem.Optimizer(
        name="kinks", phi="sign(m1) + max(m1, m2) + clip(m1, -c, c)",
        momentum=[{"g": "grad", "beta": "beta", "b": "1 - beta"}, {"g": "theta", "beta": "0", "b": "1"}],
        parameters={"beta": 0.5, "c": 0.3, "delta": {"default": 0.1, "range": "(0, inf)"}},
        smooth={
            "sign": "x/sqrt(x**2 + delta)",
            "max": "(x + y + sqrt((x - y)**2 + delta))/2",
            "clip": "(lo + hi)/2 + (hi - lo)/2*tanh((2*x - lo - hi)/(hi - lo))",
        },
    )  # fmt: skip
    literal = Literal(optimizer, {}, coupled_loss(6))
    end = literal.run(probe_point(6), "1/1000", STEPS, 20)[-1]
    truth = torch.tensor([float(x) for x in end], dtype=torch.float64)
    own = ran(lambda tensors: WithMemory(optimizer, tensors, lr=1e-3, strength=0.0))
    torch.testing.assert_close(own, truth, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["muon", "scion", "spectral-descent", "shampoo-ema"])
@pytest.mark.parametrize("cls", [Memoryless, WithMemory])
def test_a_matrix_without_full_rank_is_refused_before_any_parameter_changes(name: str, cls: Any) -> None:
    """The gradient of the last layer of a classifier: its rows add up to zero; a matrix before it has full rank."""
    torch.manual_seed(0)
    free = torch.nn.Parameter(torch.randn(3, 3))
    model = torch.nn.Sequential(torch.nn.Linear(6, 12, bias=False), torch.nn.Linear(12, 4, bias=False))
    inputs, classes = torch.randn(32, 6), torch.arange(32) % 4
    parameters = [free, *model.parameters()]
    before = [p.detach().clone() for p in parameters]
    optimizer = cls(name, parameters, lr=1e-2)
    with pytest.raises(ValueError, match=r"parameter [12] of its group, shape .*rank-deficient.*full rank"):
        optimizer.step(
            lambda: torch.nn.functional.cross_entropy(model(inputs), classes) + free.square().sum().square()
        )
    for p, old in zip(parameters, before, strict=True):
        assert torch.equal(p.detach(), old)


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_emitted_functions_refuse_a_matrix_without_full_rank(target: str) -> None:
    space: dict[str, Any] = {}
    exec(compile(symmem.emit(symmem.derive("muon"), target), "muon.py", "exec"), space)
    theta = torch.ones(2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"rank-deficient.*full rank; muon-torch does not"):
        space["memoryless"](theta if target == "torch" else theta.numpy(), lambda x: x, n=0)


def test_who_serves_matrices_in_a_cascade_is_named() -> None:
    with pytest.raises(
        DerivationError, match=r"take the straight-line history with limit=True, or numpy or jax"
    ):
        Memoryless("normuon", parameters())
    with pytest.raises(DerivationError, match=r"take --runtime, or numpy or jax"):
        symmem.emit(symmem.derive("normuon"), "torch")


def test_the_runtime_beside_a_module_serves_matrices_in_a_cascade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_with_runtime(symmem.derive("normuon"), str(tmp_path / "with_normuon.py"))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("with_normuon")
    for mine, ours in ((module.MemorylessNorMuon, Memoryless), (module.NorMuonWithMemory, WithMemory)):
        own = ran(lambda tensors, make=mine: make(tensors, lr=1e-3, limit=True))
        expected = ran(lambda tensors, make=ours: make("normuon", tensors, lr=1e-3, limit=True))
        torch.testing.assert_close(own, expected, rtol=1e-13, atol=1e-15)
