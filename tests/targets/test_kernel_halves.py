"""Built kernels on half precision, computed in float32: against 50-digit values, rounded; on every machine."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import probe
import pytest
import torch
from compiled import KERNELS, built, module
from machine import needs
from mpmath import mpf
from sympy import Expr, Symbol, expand_mul, lambdify
from sympy.core.function import AppliedUndef
from truth import load

from symmem.algebra.atoms import terms_of

ROOT = Path(__file__).resolve().parents[2]
RATE = 0.03125
KINDS: dict[str, tuple[Any, float]] = {
    "bfloat16": (ml_dtypes.bfloat16, 2.0**-8),
    "float16": (np.float16, 2.0**-11),
}
"""The type, and half a unit in the last place of 1."""
NAMES = ("heavyball", "adamw", "lion", "rmsprop")


def exact(formula: Expr, name: str, *vectors: np.ndarray) -> tuple[list[mpf], list[mpf]]:
    """The limit form with 50 digits, entry by entry, and the sum of the absolute values of its terms."""
    entrywise = formula.xreplace(dict.fromkeys(formula.atoms(AppliedUndef), Symbol("hv")))
    numbers = {key: mpf(float(value)) for key, value in load(name).defaults.items()}
    symbols = [Symbol(each) for each in ("theta", "grad", "hv", "lr", *numbers)]
    terms = [lambdify(symbols, term, "mpmath") for term in terms_of(expand_mul(entrywise))]
    found, scales = [], []
    with mpmath.workdps(50):
        for row in zip(*(map(mpf, each.astype(float).tolist()) for each in vectors), strict=True):
            values = [mpf(term(*row, mpf(RATE), *numbers.values())) for term in terms]
            found.append(sum(values))
            scales.append(sum(map(abs, values)))
    return found, scales


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_rounded_values(shared_folder: Path, name: str, kind: str) -> None:
    """Nearer than half a unit in the last place, but for what float32 rounds on the way."""
    found = module(built(shared_folder, KERNELS, "quick"), name)
    (dtype, unit), random = KINDS[kind], np.random.default_rng(4)
    theta, grad, hv = (random.normal(size=60).astype(dtype) for _ in range(3))
    derivation, rate = probe.derivation(name, 1), Symbol("lr")
    update, change = derivation.limit.F, derivation.limit.M
    products = hv[None][: found._kernels.products[1]]
    for value, formula in (
        (found.memoryless(theta, lambda _: grad), update),
        (found.correction_from(theta, grad, products, lr=RATE), change),
        (found.step_from(theta, grad, products, lr=RATE), Symbol("theta") - rate * (update + change)),
    ):
        assert value.dtype == dtype
        truth, scale = exact(formula, name, theta, grad, hv)
        for entry, true, size in zip(value.astype(float).tolist(), truth, scale, strict=True):
            room = unit * abs(float(true)) * (1 + 2 * unit) + 2e-6 * float(size) + 2.0**-25
            assert abs(entry - float(true)) <= room, (formula, entry, true)


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_and_arrays_agree(shared_folder: Path, kind: str) -> None:
    """Bit for bit, at lengths about that of a piece, with threads, out of place and in place."""
    found, (dtype, _) = module(built(shared_folder, KERNELS, "quick"), "adamw"), KINDS[kind]
    random = np.random.default_rng(5)
    for size in (1, 511, 513, 40_000):
        theta, grad, hv = (random.normal(size=size).astype(dtype) for _ in range(3))
        expected = found.step_from(theta, grad, hv[None], n=3, lr=RATE)
        whole = [
            torch.from_numpy(each.view(np.int16)).view(getattr(torch, kind)) for each in (theta, grad, hv)
        ]
        stepped = found.step_from(whole[0].clone(), whole[1], whole[2][None], n=3, lr=RATE)
        assert stepped.view(torch.int16).numpy().tobytes() == expected.tobytes()
        single = [each.astype(np.float32) for each in (theta, grad, hv[None])]
        rounded = found.step_from(*single, n=3, lr=RATE).astype(dtype)
        assert rounded.tobytes() == expected.tobytes()
        assert found.step_from(theta, grad, hv[None], n=3, lr=RATE, out=theta) is theta
        assert theta.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_all_entries(shared_folder: Path, kind: str) -> None:
    """A norm, beside that of the same values in float64; its square is far beyond half precision."""
    library = ("nsgd-momentum", "adam-mini", "lamb")
    found, (dtype, unit) = module(built(shared_folder, library), "nsgd-momentum"), KINDS[kind]
    for scale in (1.0, 200.0):
        theta = (scale * np.random.default_rng(6).normal(size=70_001)).astype(dtype)
        value = found.memoryless(theta, lambda x: x)
        whole = found.memoryless(theta.astype(float), lambda x: x)
        np.testing.assert_allclose(value.astype(float), whole, rtol=unit * 1.01, atol=2.0**-25)


def test_the_fixed_code_on_another_machine(tmp_path: Path) -> None:
    """aarch64 converts by itself: every half, and the middle between each and the next."""
    needs("aarch64-linux-gnu-gcc", "qemu-aarch64")
    check, runtime = ROOT / "tests/support/runtime_check.c", ROOT / "symmem/targets/c/runtime"
    flags = ("-static", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-ffp-contract=off")
    made = ["aarch64-linux-gnu-gcc", *flags, f"-I{runtime}", check, "-lm", "-o", "check"]
    subprocess.run(made, cwd=tmp_path, check=True)
    done = subprocess.run(
        ["qemu-aarch64", "./check"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout == "0 failures\n"
