"""GNU Octave as a guest of the tests: scripts that are run, and the probe loss at the probe point."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import probe
import pytest

from symmem.verification.ridges import mixing

OCTAVE = shutil.which("octave-cli")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="octave-cli is not installed: tools/install.sh")


def run(script: Iterable[str], folder: Path) -> str:
    """What the lines print, run beside the files in the folder."""
    (folder / "driver.m").write_text("\n".join(script))
    command = [str(OCTAVE), "--quiet", "--norc", "driver.m"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def matrix(rows: Iterable[Iterable[object]]) -> str:
    return "[" + "; ".join(" ".join(repr(float(entry)) for entry in row) for row in rows) + "]"


def probe_functions() -> list[str]:
    """The probe loss at the probe point: its gradient, Hessian and third derivative are constants there."""
    units = np.eye(3)
    gradient = probe.contraction(probe.THETA64)
    hessian = [probe.contraction(probe.THETA64, unit) for unit in units]
    third = [[probe.contraction(probe.THETA64, u, v) for v in units] for u in units]
    lines = [f"theta = {matrix([probe.THETA64])}';", f"G = {matrix([gradient])}';", f"H = {matrix(hessian)};"]
    lines += [f"T{k} = {matrix(rows)};" for k, rows in enumerate(third, start=1)]
    return [
        *lines,
        "grad = @(x) G;",
        "hvp = @(x, v) H * double(v);",
        "d3 = @(x, u, v) (double(u(1))*T1 + double(u(2))*T2 + double(u(3))*T3)' * double(v);",
        f"loss = @(x) {probe.loss_value(probe.THETA64)!r};",
        f"A = {matrix(mixing(4, 3))};",
        "gradK = @(x) A' * (tanh(A*double(x)) + cos(A*double(x)));",
        "slope = @(y) 1 - tanh(y).^2 - sin(y);",
        "bend = @(y) -2*tanh(y).*(1 - tanh(y).^2) - cos(y);",
        "gradK_jvp = @(x, v) A' * (slope(A*double(x)) .* (A*double(v)));",
        "gradK_jvp2 = @(x, u, v) A' * (bend(A*double(x)) .* (A*double(u)) .* (A*double(v)));",
    ]


def settings(values: dict[str, float]) -> str:
    """Name-value pairs, behind the positional arguments."""
    return "".join(f", '{key}', {value!r}" for key, value in values.items())
