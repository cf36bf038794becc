"""Branches, products and rates in every target: steps of scheduled optimizers against 50 digits."""

from __future__ import annotations

import types
from pathlib import Path

import numpy as np
import probe
import pytest
from compiled import few_passes, module
from octave_probe import needs_octave, probe_functions, run
from scheduled import OPTIMIZERS, ball
from truth import LR, literal_of, number_of

from symmem import Momentum, Optimizer
from symmem.derivation.derivation import derive
from symmem.targets.c.build import build
from symmem.targets.jax.module import jax_module
from symmem.targets.numpy.module import numpy_module
from symmem.targets.registry import TARGETS

STEPS = (0, 1, 5, 11)
RATE = float(LR)
THETA = probe.THETA64


def expected(name: str, n: int) -> np.ndarray:
    """``theta - lr rate(n) (F + M)``."""
    d, true = derive(OPTIMIZERS[name]), literal_of(OPTIMIZERS[name], {})
    parts = [np.array([float(x) for x in number_of(each, true, n=n)]) for each in (d.F, d.M)]
    return THETA - RATE * float(true.rate(n)) * sum(parts)


def gradient(theta: np.ndarray) -> np.ndarray:
    return probe.contraction(np.asarray(theta, float))


def product(theta: np.ndarray, v: np.ndarray) -> np.ndarray:
    return probe.contraction(np.asarray(theta, float), np.asarray(v, float))


def executed(text: str) -> types.ModuleType:
    found = types.ModuleType("emitted")
    exec(compile(text, "emitted", "exec"), found.__dict__)
    return found


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_numpy(name: str) -> None:
    found = executed(numpy_module(derive(OPTIMIZERS[name])))
    for n in STEPS:
        step = found.step(THETA, gradient, product, n=n, lr=RATE)
        assert np.abs(step - expected(name, n)).max() < 1e-13


def test_the_limit_of_a_step_has_the_settled_rate() -> None:
    """Of a decay in steps, which ends at 1/10."""
    optimizer = OPTIMIZERS["step decay"]
    derivation, true = derive(optimizer), literal_of(optimizer, {})
    parts = [number_of(each, true) for each in (derivation.limit.F, derivation.limit.M)]
    update = sum(np.array([float(x) for x in part]) for part in parts)
    step = executed(numpy_module(derivation)).step(THETA, gradient, product, lr=RATE)
    assert np.abs(step - (THETA - RATE / 10 * update)).max() < 1e-13


@pytest.mark.parametrize("name", ["linear warm-up", "step decay", "nadam", "radam"])
def test_jax_with_a_step_that_is_traced(name: str) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        found = executed(jax_module(derive(OPTIMIZERS[name])))
        G, H = gradient(THETA), np.stack([product(THETA, unit) for unit in np.eye(3)])

        def step(n: object) -> object:
            return found.step(THETA, lambda _: G, lambda _, v: H @ v, n=n, lr=RATE)

        traced = jax.jit(step)
        for n in STEPS:
            assert np.abs(np.asarray(traced(n)) - expected(name, n)).max() < 1e-13
        assert np.abs(np.asarray(step(5)) - expected(name, 5)).max() < 1e-13


def test_c(tmp_path: Path) -> None:
    names = ["cosine", "nadam", "radam"]
    with few_passes():
        build([derive(OPTIMIZERS[name]) for name in names], str(tmp_path / "kernels"))
    for name in names:
        found = module(tmp_path / "kernels", OPTIMIZERS[name].name)
        for n in STEPS:
            step = found.step(THETA.copy(), gradient, product, n=n, lr=RATE)
            assert np.abs(step - expected(name, n)).max() < 1e-13


@needs_octave
def test_octave(tmp_path: Path) -> None:
    names, script = ["linear warm-up", "step decay", "nadam", "radam"], probe_functions()
    for k, name in enumerate(names):
        (tmp_path / f"scheduled_{k}.m").write_text(TARGETS["octave"].source(derive(OPTIMIZERS[name])))
        script.append(f"made = scheduled_{k}();")
        script += [
            f"printf('%.17g ', made.step(theta, grad, hvp, 'n', {n}, 'lr', {RATE!r})); printf('\\n');"
            for n in STEPS
        ]
    rows = iter(run(script, tmp_path).splitlines())
    for name in names:
        for n in STEPS:
            assert np.abs(np.array(next(rows).split(), float) - expected(name, n)).max() < 1e-13


def test_what_is_not_taken_is_not_computed() -> None:
    """A pole in a branch that the condition keeps away from."""
    found = executed(numpy_module(derive(ball("where(n > 2, 1/(n - 2), 1)"))))
    assert np.isfinite(found.step(THETA, gradient, product, n=2, lr=RATE)).all()


def test_without_a_limit_of_the_rate_none_is_a_value_error() -> None:
    found = executed(numpy_module(derive(OPTIMIZERS["linear decay"])))
    with pytest.raises(ValueError, match="has no known limit"):
        found.step(THETA, gradient, product, lr=RATE)


def test_past_rates_where_a_sum_over_the_past_stays() -> None:
    """A memory of signs of a memory: with one rate at every step the sums of past rates give the correction."""
    momentum = [Momentum("grad", "slow", "1 - slow"), Momentum("sign(m1)", "-fast", "2 + sin(n)")]
    derived = derive(Optimizer("signs", "m1 + m2", momentum, {"slow": 0.75, "fast": 0.5}))
    made, plain = probe.module(jax_module(derived)), probe.module(numpy_module(derived))
    given, past = {"slow": 0.75, "fast": 0.5}, (0.0, 0.0)
    for n in range(6):
        exact = plain.correction(THETA, gradient, product, n=n, lr=RATE, **given)
        found = made._rated_correction(past, THETA, gradient, product, n=n, **given)
        np.testing.assert_allclose(
            found, exact, rtol=1e-5, atol=1e-12
        )  # numbers of 32 bits where no test asks for 64
        past = made._next_rates(past, RATE, n=n, **given)
