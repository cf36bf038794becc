"""The emitted modules as texts and as guests in a program: form, imports, arrays, errors, cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import probe
import pytest
from truth import FIRST, LR, SHOWN

import symmem
from symmem.targets.numpy.module import numpy_module
from symmem.targets.registry import TARGETS

PYTHON_TARGETS = ("numpy", "torch", "jax")
RUFF = Path(sys.executable).with_name("ruff")
RATE = float(LR)


@cache
def emitted(name: str, order: int = 1) -> ModuleType:
    return probe.module(numpy_module(probe.derivation(name, order)))


def run(name: str, theta: np.ndarray, function: str = "step", order: int = 1, **more: object) -> np.ndarray:
    rate = {} if function == "memoryless" else {"lr": RATE}
    given = probe.calls(name, order, function)
    return getattr(emitted(name, order), function)(
        theta, *given, **rate, **{**probe.parameters(name), **more}
    )


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (1, FIRST),
        (2, SHOWN),
        (3, ("gd", "heavyball", "signum", "lion-k")),
        pytest.param(2, FIRST, marks=pytest.mark.prove),
    ],
)
def test_a_formatter_and_a_linter_find_nothing_to_do(
    order: int, names: tuple[str, ...], tmp_path: Path
) -> None:
    for name in names:
        for target in PYTHON_TARGETS:
            (tmp_path / f"{name}_{target}.py").write_text(
                TARGETS[target].source(probe.derivation(name, order))
            )
    for width in ("88", "110"):
        check = [RUFF, "format", "--isolated", "--check", "--diff", "--line-length", width, tmp_path]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[:2000]
    check = [
        RUFF,
        "check",
        "--isolated",
        "--select",
        "F,E4,E7,E9,W,B,I",
        "--output-format",
        "concise",
        tmp_path,
    ]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:2000]


@pytest.mark.parametrize(
    ("target", "allowed"),
    [("numpy", {"numpy"}), ("torch", {"torch"}), ("jax", {"jax", "numpy", "optax"})],
)
def test_modules_stand_by_themselves(target: str, allowed: set[str]) -> None:
    for name in ("adamw", "rmsprop", "lion-k"):
        tree = ast.parse(TARGETS[target].source(probe.derivation(name, 1)))
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
        assert imported - sys.stdlib_module_names <= allowed


def counted(calls: Counter[str], name: str, function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def count(*arguments: np.ndarray) -> np.ndarray:
        calls[name] += 1
        return function(*arguments)

    return count


COSTS = {
    ("gd", 1): {},
    ("heavyball", 1): {"grad": 1, "hvp": 1},
    ("adamw", 1): {"grad": 1, "hvp": 1},
    ("nadamw", 1): {"grad": 1, "hvp": 1},
    ("lion", 1): {"grad": 1, "hvp": 1},
    ("rmsprop", 1): {"grad": 1, "hvp": 1},
    ("heavyball", 2): {"grad": 1, "hvp": 2, "d3": 1},
    ("lion-bc", 2): {"grad": 1, "hvp": 2, "d3": 1},
    ("adamw", 2): {"grad": 1, "hvp": 3, "d3": 1},
    ("nadamw", 2): {"grad": 1, "hvp": 3, "d3": 1},
}


@pytest.mark.parametrize("n", [7, None])
@pytest.mark.parametrize(("name", "order"), COSTS)
def test_contractions_are_as_few_as_the_formula_needs(name: str, order: int, n: int | None) -> None:
    calls: Counter[str] = Counter()
    names = ["grad", "hvp", "d3"][: order + 1]
    given = [counted(calls, each, probe.contraction) for each in names]
    emitted(name, order).correction(probe.THETA64, *given, n=n, lr=RATE, **probe.parameters(name))
    assert calls == COSTS[name, order]


@pytest.mark.parametrize("name", ["adamw", "rmsprop", "lion-k", "gd"])
def test_any_shape(name: str) -> None:
    flat = run(name, probe.THETA64, n=5)
    for shape in ((3, 1), (1, 3, 1)):
        found = run(name, probe.THETA64.reshape(shape), n=5)
        assert found.shape == shape
        np.testing.assert_array_equal(found.ravel(), flat)


def large(seed: int, size: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype(dtype)


def cube(theta: np.ndarray) -> np.ndarray:
    """The gradient of sum x^4/4; the Hessian is diagonal."""
    return theta**3


def cube_hvp(theta: np.ndarray, v: np.ndarray) -> np.ndarray:
    return 3 * theta**2 * v


@pytest.mark.parametrize("name", ["adamw", "heavyball", "signum"])
def test_blocks_do_not_change_a_value(name: str) -> None:
    """Many entries, cut into blocks, against the same entries a few at a time; also views and columns."""
    step = emitted(name).step
    theta = large(1, 3 * emitted(name).BLOCK + 5)
    pieces = [step(part, cube, cube_hvp, n=3, lr=0.1) for part in np.array_split(theta, 11)]
    whole = step(theta, cube, cube_hvp, n=3, lr=0.1)
    np.testing.assert_array_equal(whole, np.concatenate(pieces))
    strided = np.repeat(theta, 2)[::2]
    np.testing.assert_array_equal(step(strided, cube, cube_hvp, n=3, lr=0.1), whole)
    columns = np.asfortranarray(theta[:-5].reshape(3, -1))
    np.testing.assert_array_equal(step(columns, cube, cube_hvp, n=3, lr=0.1).ravel(), whole[:-5])


@pytest.mark.parametrize("size", [10, 100_000])
def test_out_is_written_also_when_it_is_theta_or_overlaps_it(size: int) -> None:
    step = emitted("adamw").step
    memory = large(2, size + 1)
    expected = step(memory[1:].copy(), cube, cube_hvp, lr=0.1)
    out = np.empty(size)
    assert step(memory[1:], cube, cube_hvp, lr=0.1, out=out) is out
    np.testing.assert_array_equal(out, expected)
    shifted = memory.copy()
    step(shifted[1:], cube, cube_hvp, lr=0.1, out=shifted[:-1])
    np.testing.assert_array_equal(shifted[:-1], expected)
    theta = memory[1:].copy()
    assert step(theta, cube, cube_hvp, lr=0.1, out=theta) is theta
    np.testing.assert_array_equal(theta, expected)


def test_no_warning_where_the_value_is_finite() -> None:
    """A zero gradient, weights of zero and the first step; warnings are errors in this suite's value tests too."""
    with np.errstate(all="raise"):
        for name in ("adamw", "rmsprop", "rmsprop-torch", "lion", "adamw-torch"):
            for n in (0, 3, None):
                found = emitted(name).step(np.zeros(4), cube, cube_hvp, n=n, lr=0.1)
                np.testing.assert_array_equal(found, np.zeros(4))


def test_float32_and_integers() -> None:
    single = emitted("adamw").step(np.ones(3, np.float32), cube, cube_hvp, lr=0.1)
    assert single.dtype == np.float32
    whole = emitted("adamw").step(np.ones(3, int), cube, cube_hvp, lr=0.1)
    np.testing.assert_array_equal(whole, emitted("adamw").step(np.ones(3), cube, cube_hvp, lr=0.1))


def test_a_sum_that_stays_stops_at_the_stated_tolerance() -> None:
    """The whole sum over 3000 steps, added up here, against the emitted one; and what that costs."""
    n, beta, eps = 3000, 0.9, 0.02
    theta = np.array([0.3, -0.7, 1.1])
    calls: Counter[str] = Counter()
    found = emitted("rmsprop").correction(theta, cube, cube_hvp, n=n, lr=0.1, beta=beta, eps=eps)
    g = cube(theta)
    direction = sum(
        beta ** (n - s) * (1 - beta ** (s + 1)) * g / np.sqrt(eps + g * g * (1 - beta ** (s + 1)))
        for s in range(n)
    )
    exact = -0.1 * g * g * cube_hvp(theta, direction) / (eps + g * g * (1 - beta ** (n + 1))) ** 1.5
    np.testing.assert_allclose(found, exact, rtol=1e-13)
    soft = counted(calls, "gradK", np.tanh)
    emitted("lion-k").correction(
        theta, cube, cube_hvp, soft, lambda x, v: v / np.cosh(x) ** 2, n=n, lr=0.1, beta2=0.9
    )
    assert 350 < calls["gradK"] < 450  # 60 log(2) / log(1/0.9) = 395 terms, not 3000


BAD = [
    ({"n": -1}, "n = -1"),
    ({"n": 1.5}, "n = 1.5"),
    ({"n": 2**53 + 1}, r"n = 9007199254740993: steps count from 0 to 2\*\*53"),
    ({"n": float("inf")}, "n = inf: .*n=None is the limit"),
    ({"n": float("nan")}, "n = nan: "),
    ({"n": "3"}, "n = '3': "),
    ({"beta1": 1.0}, "beta1 = 1.0 is outside"),
    ({"beta2": float("nan")}, "beta2 = nan is outside"),
    ({"eps": 0.0}, "eps = 0.0 is outside"),
    ({"eps": float("inf")}, r"eps = inf is outside \(0, inf\)"),
    ({"weight_decay": float("inf")}, r"weight_decay = inf is outside \[0, inf\)"),
    ({"out": np.zeros(2)}, "out is not like theta"),
]


@pytest.mark.parametrize(("settings", "words"), BAD)
def test_bad_values_are_named(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        emitted("adamw").step(np.ones(3), cube, cube_hvp, lr=0.1, **settings)


def test_results_of_another_shape_and_complex_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="returned"):
        emitted("adamw").step(np.ones(3), lambda theta: np.ones(2), cube_hvp, lr=0.1)
    with pytest.raises(TypeError, match="complex"):
        emitted("adamw").step(np.ones(3, complex), cube, cube_hvp, lr=0.1)


def test_a_finite_step_beyond_the_known_order_is_refused() -> None:
    module = emitted("heavyball", 3)
    given = [probe.contraction] * 4
    with pytest.raises(ValueError, match="order 2"):
        module.correction(probe.THETA64, *given, n=3, lr=RATE)
    assert probe.truth("heavyball", 3, None)["correction"].error(
        module.correction(probe.THETA64, *given, lr=RATE, **probe.parameters("heavyball"))
    ) < 1e-13  # fmt: skip
    # The update itself exists at every step.
    np.testing.assert_allclose(module.memoryless(np.ones(2), cube, n=0), np.ones(2))


def test_parameters_may_have_any_allowed_name() -> None:
    """Names that the emitted code would itself have chosen."""
    optimizer = symmem.Optimizer(
        name="odd",
        phi="v1*m1/sqrt(m2 + c1) + x2*x1*p1*t1*h1*tanh(m1)",
        momentum=[
            symmem.Momentum("grad", "k1", "(1 - k1)/(1 - k1**(n + 1))"),
            symmem.Momentum("grad**2", "beta", "(1 - beta)/(1 - beta**(n + 1))"),
        ],
        parameters={
            **dict.fromkeys(("v1", "x2", "x1", "p1", "t1", "h1", "k1", "beta"), 0.5),
            "c1": {"default": 0.1, "range": "(0, inf)"},
        },
    )
    derivation = symmem.derive(optimizer)
    module = probe.module(numpy_module(derivation))
    literal = probe.literal_of(optimizer)
    for n in (0, 4):
        exact = probe.number_of(derivation.M, literal, n=n)
        found = module.correction(
            probe.THETA64,
            probe.contraction,
            probe.contraction,
            n=n,
            lr=RATE,
            **probe.parameters_of(optimizer),
        )
        np.testing.assert_allclose(found, [float(entry) for entry in exact], rtol=1e-11)
