"""Cascades and delays in code: what is emitted against 50 digits, at finite n and in the limit."""

from __future__ import annotations

from pathlib import Path

import compiled
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import probe
import pytest
import torch
from cascades import EVERY, adan, adopt, label, laprop, mars, optimistic, rmsprop_momentum
from octave_probe import matrix, needs_octave, run
from sympy import Expr

from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.program.products import lower_products
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS
from symmem.training.by_name import Memoryless
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.straight import on_even_line

LOSS, LR = coupled_loss(2), 0.01
THETA = np.array([float(x) for x in probe_point(2)])


def gradient(theta: np.ndarray) -> np.ndarray:
    return np.array([float(x) for x in LOSS.gradient(tuple(map(float, theta)))])


def product(theta: np.ndarray, v: np.ndarray) -> np.ndarray:
    found = LOSS.contraction(tuple(map(float, theta)), tuple(map(float, v)))
    return np.array([float(x) for x in found])


def true(expression: Expr, optimizer: Optimizer, n: int | None) -> np.ndarray:
    values = {**optimizer.defaults, "lr": "1/100", **({} if n is None else {"n": n})}
    found = evaluate(expression, values, {"theta": THETA}, LOSS, digits=20)
    return np.array([float(x) for x in found]) if isinstance(found, list) else np.full(2, float(found))


def assert_near(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.max(np.abs(found - expected)) <= 2e-12 * max(np.max(np.abs(expected)), 1e-3)


@pytest.mark.parametrize("optimizer", EVERY, ids=label)
def test_numpy_and_torch_have_the_values(optimizer: Optimizer) -> None:
    derivation = derive(optimizer)
    numpy = probe.module(TARGETS["numpy"].source(derivation))
    tensors = probe.module(TARGETS["torch"].source(derivation))
    for n in (None, 0, 1, 4):
        pair = derivation.limit if n is None else derivation
        update, memory = (true(part, optimizer, n) for part in (pair.F, pair.M))
        assert_near(numpy.memoryless(THETA, gradient, n=n), update)
        assert_near(numpy.correction(THETA, gradient, product, n=n, lr=LR), memory)
        found = tensors.step(
            torch.from_numpy(THETA),
            lambda x: torch.from_numpy(gradient(x.numpy())),
            lambda x, v: torch.from_numpy(product(x.numpy(), v.numpy())),
            n=n,
            lr=LR,
        )
        assert_near(found.numpy(), THETA - LR * (update + memory))


@pytest.mark.parametrize("optimizer", [adan(), rmsprop_momentum(), optimistic()], ids=label)
def test_the_optimizer_of_pytorch_makes_these_steps(optimizer: Optimizer) -> None:
    """Installed and emitted, in two groups that differ in their rate."""
    numpy = probe.module(TARGETS["numpy"].source(derive(optimizer)))
    emitted = probe.module(TARGETS["torch"].source(derive(optimizer)))
    name = next(each for each in dir(emitted) if each.startswith("Memoryless"))
    for make in (
        lambda groups: Memoryless(optimizer, groups, lr=LR, history="expansion"),
        lambda groups: getattr(emitted, name)(groups, lr=LR),
    ):
        x = torch.nn.Parameter(torch.tensor([0.3, -0.7], dtype=torch.float64))

        def closure(x: torch.Tensor = x) -> torch.Tensor:
            return torch.sin(x[0] * x[1]) + (x**4).sum() / 4 + x[0] * x[1] ** 2

        found, theta = make([x]), x.detach().numpy().copy()

        def grad(at: np.ndarray) -> np.ndarray:
            point = torch.tensor(at, requires_grad=True)
            return torch.autograd.grad(closure(point), point)[0].numpy()

        def hvp(at: np.ndarray, v: np.ndarray) -> np.ndarray:
            return torch.autograd.functional.hvp(closure, torch.tensor(at), torch.tensor(v))[1].numpy()

        for n in range(4):
            found.step(closure)
            theta = numpy.step(theta, grad, hvp, n=n, lr=LR)
        assert_near(x.detach().numpy(), theta)


def test_a_sum_with_a_product_for_every_step_is_not_for_the_kernels() -> None:
    """C cannot call back from inside a sum; its limit is there."""
    program = lower_products(derive(adopt()))
    assert "every past step would need a Hessian-vector product" in str(program["correction"].finite)
    assert program["correction"].limit


@pytest.mark.parametrize("target", ["numpy", "torch", "jax", "octave"])
def test_beyond_order_one_there_is_no_function_of_the_line(target: str) -> None:
    assert "def straight(" not in TARGETS[target].source(derive(rmsprop_momentum(), 2))
    assert "straight" in TARGETS[target].source(derive(rmsprop_momentum()))


LINES = (adan(), laprop(), mars(), rmsprop_momentum(), adopt())
"""The first three at finite n too; the sums over the past of two of these are taken, the others' close."""


def steps(optimizer: Optimizer) -> list[int | None]:
    return [None] if isinstance(derive(optimizer).straight, Missing) else [None, 0, 3]


def on_line(optimizer: Optimizer, n: int | None) -> np.ndarray:
    """The literal optimizer on a line; 70 steps are many at a decay of 0.6."""
    literal = Literal(optimizer, {}, LOSS)
    with mpmath.workdps(30):
        velocity = literal.frozen(THETA, 70 if n is None else n + 1, 30)[-1]
        step = [v / 100 for v in velocity]
        found = on_even_line(literal, THETA, step, 70 if n is None else n, 30)
    return np.array([float(x) for x in found])


@pytest.mark.parametrize("optimizer", [adan(), adopt()], ids=label)
def test_python_has_the_straight_line(optimizer: Optimizer) -> None:
    jax.config.update("jax_enable_x64", True)
    g = gradient(THETA)
    hessian = np.array([product(THETA, unit) for unit in np.eye(2)])
    derivation = derive(optimizer)
    made = {
        "numpy": (np.asarray, np.asarray),
        "torch": (torch.as_tensor, lambda x: x.numpy()),
        "jax": (jnp.asarray, np.asarray),
    }
    for target, (there, back) in made.items():
        module, h, at = probe.module(TARGETS[target].source(derivation)), there(hessian), there(g)
        for n in steps(optimizer):
            found = module.straight(there(THETA), lambda _, at=at: at, lambda _, v, h=h: h @ v, n=n, lr=LR)
            assert_near(back(found), on_line(optimizer, n))


def test_c_has_the_straight_line(tmp_path: Path) -> None:
    names = {optimizer.name: optimizer for optimizer in LINES}
    with compiled.few_passes():
        build([derive(optimizer) for optimizer in LINES], str(tmp_path / "kernels"))
    g = gradient(THETA)
    hessian = np.array([product(THETA, unit) for unit in np.eye(2)])
    for name, optimizer in names.items():
        module = compiled.module(tmp_path / "kernels", name)
        for n in steps(optimizer):
            found = module.straight(THETA, lambda _: g, lambda _, v: hessian @ v, n=n, lr=LR)
            assert_near(found, on_line(optimizer, n))


@needs_octave
def test_octave_has_the_straight_line(tmp_path: Path) -> None:
    hessian = np.array([product(THETA, unit) for unit in np.eye(2)])
    script = [f"theta = {matrix([THETA])}';", f"G = {matrix([gradient(THETA)])}';", f"H = {matrix(hessian)};"]
    for optimizer in LINES:
        name = f"made_{optimizer.name.replace('-', '_')}"
        text = TARGETS["octave"].source(derive(optimizer))
        (tmp_path / f"{name}.m").write_text(text.replace(f"symmem_{optimizer.name.replace('-', '_')}", name))
        script.append(f"made = {name}();")
        for n in steps(optimizer):
            step = "" if n is None else f", 'n', {n}"
            script.append(f"v = made.straight(theta, @(x) G, @(x, v) H * v{step}, 'lr', {LR});")
            script.append("printf('%.17g ', v); printf('\\n');")
    rows = iter(run(script, tmp_path).splitlines())
    for optimizer in LINES:
        for n in steps(optimizer):
            assert_near(np.array([float(x) for x in next(rows).split()]), on_line(optimizer, n))
