"""Numbers of the C runtime with more range than a double: every function against mpmath; and no long double anywhere.

On machines where a long double is a double, and on another processor (aarch64, by an emulator), kernels are right
beyond 1e154, where a square no longer fits a double.
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mpmath
import probe
import pytest
from machine import needs
from mpmath import mpf

from symmem.targets.c.layout import c_files

ROOT = Path(__file__).resolve().parents[2]
ONE = (
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "tanh",
    "atan",
    "erf",
    "sinh",
    "cosh",
    "abs",
    "sign",
    "minus",
)
TWO = ("add", "sub", "mul", "div", "pow", "min", "max")
TRUTH: dict[str, Callable[..., mpf]] = {
    name: getattr(mpmath, name) for name in ONE if name not in ("abs", "minus")
}
TRUTH |= {"abs": abs, "minus": lambda x: -x, "add": lambda x, y: x + y, "sub": lambda x, y: x - y}
TRUTH |= {"mul": lambda x, y: x * y, "div": lambda x, y: x / y, "pow": mpmath.power, "min": min, "max": max}
VALUES = [
    (1.0, 0), (0.75, 0), (-0.625, 1), (0.9999999, 0), (0.5000001, 1), (0.7, 6), (-0.6, 9), (0.8, 1030), (-0.9, 1500),
    (0.6, -1400), (0.55, -20), (-0.7, -3000), (0.51, 2001),
]  # fmt: skip
"""part and exponent: near 1, within a double, beyond it on either side."""
BOUNDED = {"sin": 40, "cos": 40, "tan": 40, "exp": 30, "sinh": 30, "cosh": 30}
"""Up to this exponent the functions are asked for: a phase beyond it says nothing, and an exponent would not fit."""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[float, float]]:
    needs("cc")
    library = tmp_path_factory.mktemp("wide") / "wide.so"
    runtime, check = ROOT / "symmem/targets/c/runtime", ROOT / "tests/support/wide_check.c"
    flags = ("-std=c11", "-O2", "-shared", "-fPIC", f"-I{runtime}")
    subprocess.run(["cc", *flags, check, "-lm", "-o", library], check=True)
    function = ctypes.CDLL(str(library)).wide_call
    pair = ctypes.c_double * 2
    result = pair()

    def called(
        which: int, x: tuple[float, float], y: tuple[float, float] = (0.0, 0.0)
    ) -> tuple[float, float]:
        function(which, pair(*x), pair(*y), result)
        return result[0], result[1]

    return called


def value_of(number: tuple[float, float]) -> mpf:
    return mpf(number[0]) * mpf(2) ** int(number[1])


def assert_near(found: tuple[float, float], exact: mpf, room: float) -> None:
    assert found[0] == 0 or 0.5 <= abs(found[0]) < 1
    assert abs(value_of(found) - exact) <= mpf(2) ** -52 * room * abs(exact), (found, exact)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(call: Callable[..., tuple[float, float]], name: str) -> None:
    with mpmath.workdps(1200):
        for x in VALUES:
            if x[1] > BOUNDED.get(name, 9999) or (x[0] < 0 and name in ("sqrt", "log")):
                continue
            exact = mpmath.cos(value_of(x)) if name == "cos" else TRUTH[name](value_of(x))
            assert_near(call(ONE.index(name), x), exact, 8 if name not in ("sinh", "cosh", "exp") else 16)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(call: Callable[..., tuple[float, float]], name: str) -> None:
    with mpmath.workdps(60):
        for x, y in itertools.product(VALUES, VALUES):
            if name == "pow" and (x[0] < 0 or not -60 < y[1] < 10):
                continue
            with mpmath.workdps(2000 if name in ("add", "sub") else 60):
                exact = TRUTH[name](value_of(x), value_of(y))
            assert_near(call(100 + TWO.index(name), x, y), exact, 600 if name == "pow" and y[1] > 5 else 8)


def test_what_is_no_number(call: Callable[..., tuple[float, float]]) -> None:
    inf, nan, one = (float("inf"), 0.0), (float("nan"), 0.0), (1.0, 0.0)
    two = partial(lambda name, *given: call(100 + TWO.index(name), *given)[0])
    assert two("add", inf, one) == inf[0]
    assert two("div", one, (0.0, 0.0)) == inf[0]
    assert two("div", one, inf) == 0
    for name, x, y in (("sub", inf, inf), ("mul", (0.0, 0.0), inf), ("add", nan, one), ("div", inf, inf)):
        assert two(name, x, y) != two(name, x, y)
    assert call(ONE.index("sqrt"), inf)[0] == inf[0]
    assert call(ONE.index("sqrt"), (-0.5, 0.0))[0] != call(ONE.index("sqrt"), (-0.5, 0.0))[0]


PROGRAM = """
#include "symmem_adamw.h"
#include "symmem_nsgd_momentum.h"
#include <stdio.h>

int main(void)
{{
    struct symmem_adamw_params first = SYMMEM_ADAMW_PARAMS_INIT;
    struct symmem_nsgd_momentum_params second = SYMMEM_NSGD_MOMENTUM_PARAMS_INIT;
    const double theta[] = {{1, 2, 3}}, grad[] = {{{grad}}}, hv[] = {{{hv}}};
    double out[3];
    symmem_adamw_correction_f64(theta, grad, hv, out, 3, -1, 0.5, &first);
    printf("%.17g %.17g %.17g\\n", out[0], out[1], out[2]);
    symmem_nsgd_momentum_correction_f64(theta, grad, hv, out, 3, -1, 0.5, &second);
    printf("%.17g %.17g %.17g\\n", out[0], out[1], out[2]);
    return 0;
}}
"""
GRAD, HV = (1.5e200, -2.5e170, 3e-160), (2.0e200, 1.0e150, -3e199)
COMPILERS = {
    "a long double is a double": (("cc", "-mlong-double-64"), ()),
    "aarch64": (("aarch64-linux-gnu-gcc", "-static"), ("qemu-aarch64",)),
}


def adamw_correction() -> list[mpf]:
    """``h hv r (beta1/(1 - beta1) - beta2/(1 - beta2) (1 - eps r^2))``, ``r = (g^2 + eps)^(-1/2)``: the paper's."""
    beta1, beta2, eps = mpf(0.9), mpf(0.999), mpf(1e-8)
    found = []
    for g, hv in zip(map(mpf, GRAD), map(mpf, HV), strict=True):
        r = (g**2 + eps) ** mpf(-0.5)
        found.append(mpf(0.5) * hv * r * (beta1 / (1 - beta1) - beta2 / (1 - beta2) * (1 - eps * r**2)))
    return found


def nsgd_correction() -> list[mpf]:
    """``h beta/(1 - beta) (H d - d (d . H d))/|g|`` with the direction ``d = g/|g|``, hv = H d."""
    g, hv, beta = [mpf(x) for x in GRAD], [mpf(x) for x in HV], mpf(0.9)
    size = mpmath.sqrt(sum(x * x for x in g))
    direction = [x / size for x in g]
    along = sum(d * h for d, h in zip(direction, hv, strict=True))
    return [mpf(0.5) * beta / (1 - beta) * (h - d * along) / size for d, h in zip(direction, hv, strict=True)]


@pytest.mark.parametrize("machine", COMPILERS)
def test_kernels_beyond_the_range_of_a_square(tmp_path: Path, machine: str) -> None:
    compiler, runner = COMPILERS[machine]
    needs(compiler[0], *runner)
    files = [c_files(probe.derivation(name, 1)) for name in ("adamw", "nsgd-momentum")]
    for each in files:
        (tmp_path / each.header_name).write_text(each.header)
        (tmp_path / each.source_name).write_text(each.source)
        assert "long double" not in each.source.partition("Nothing here asks")[2].partition("\n")[2]
    text = PROGRAM.format(grad=", ".join(map(repr, GRAD)), hv=", ".join(map(repr, HV)))
    (tmp_path / "main.c").write_text(text)
    sources = [each.source_name for each in files]
    flags = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")
    subprocess.run([*compiler, *flags, *sources, "main.c", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([*runner, "./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    first, second = ([float(word) for word in line.split()] for line in done.stdout.splitlines())
    with mpmath.workdps(50):
        for found, exact in ((first, adamw_correction()), (second, nsgd_correction())):
            largest = float(max(map(abs, exact)))  # the first entry of the second is a difference
            for value, truth in zip(found, exact, strict=True):
                assert value == pytest.approx(float(truth), rel=1e-14, abs=1e-14 * largest)
