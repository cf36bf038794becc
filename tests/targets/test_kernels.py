"""The built kernels: their values, any length and alignment, threads, and entries that are not finite."""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import compiled
import mpmath
import numpy as np
import probe
import pytest
from compiled import KERNELS, built, formulas, module
from mpmath import mpf
from sympy import Expr, Symbol, expand_mul, lambdify
from sympy.core.function import AppliedUndef
from truth import LR, load

import symmem
from symmem.algebra.atoms import terms_of
from symmem.targets.c.build import build

TOLERANCE = {np.float64: 2e-13, np.float32: 5e-6}
PAIR = ("adamw", "rmsprop")
"""Built in every way: without and with a sum over past steps inside the loop."""
LENGTHS = (0, 1, 3, 7, 8, 9, 31, 32, 33, 257, 1000)
LARGE = 1_000_003
STATUS = {"ok": 0, "null": 1, "overlap": 2, "range": 3, "misaligned": 4, "unavailable": 5}

APART = """
name = "apart"
title = "Apart"
phi = "m1 / sqrt(m2 + eps) + m3"
[parameters]
beta1 = { default = 0.7, range = "[0, 1)" }
beta2 = { default = 0.8, range = "[0, 1)" }
eps = { default = 0.02, range = "(0, inf)" }
i = { default = 0.3, range = "[0, inf)" }
[[momentum]]
g = "grad"
beta = "beta1"
b = "1 - beta1"
[[momentum]]
g = "grad**2"
beta = "beta2"
b = "1 - beta2"
[[momentum]]
g = "theta"
beta = "0"
b = "i"
"""
"""Different decays without bias correction: at finite n two products with the Hessian, in the limit one."""

EXOTIC = """
name = "exotic"
title = "Exotic"
phi = "tanh(m1)*exp(-m2) + atan(m2)/3 + sin(m1)*cos(m3) + log(2 + m2) + m3*sign(m1) + abs(m1)**(4/3) + 22/7"
[parameters]
gamma = { default = 0.6, range = "[0, 1)" }
p1 = { default = 0.25, range = "(-inf, 3]" }
[[momentum]]
g = "grad*theta + p1"
beta = "gamma"
b = "(1 - gamma) / (1 - gamma**(n + 1))"
[[momentum]]
g = "grad**2"
beta = "gamma"
b = "(1 - gamma) / (1 - gamma**(n + 1))"
[[momentum]]
g = "theta**3"
beta = "0"
b = "1"
"""
"""Every function of the language, and names that C or the written code has a use for."""


@pytest.fixture(params=compiled.WAYS)
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    compiled.set_threads(2)
    yield
    compiled.set_threads(2)


def run(found: object, name: str, function: str, dtype: type, n: int | None) -> np.ndarray:
    rate = {} if function == "memoryless" else {"lr": float(LR)}
    given = probe.calls(name, 1, function)
    theta = probe.THETA64.astype(dtype)
    return getattr(found, function)(theta, *given, n=n, **rate, **probe.parameters(name))


@pytest.mark.parametrize("name", KERNELS)
def test_values(shared_folder: Path, name: str) -> None:
    assert_true(module(built(shared_folder, KERNELS, "quick"), name), name)


@pytest.mark.parametrize("name", PAIR)
def test_values_as_a_user_builds_them(shared_folder: Path, name: str) -> None:
    """With all passes of the compiler; for every entry under make prove."""
    assert_true(module(built(shared_folder, PAIR), name), name)


@pytest.mark.prove
@pytest.mark.parametrize("name", KERNELS)
def test_all_values_as_a_user_builds_them(shared_folder: Path, name: str) -> None:
    assert_true(module(built(shared_folder, KERNELS), name), name)


def assert_true(found: object, name: str) -> None:
    for n, dtype in itertools.product(probe.STEPS, TOLERANCE):
        exact = probe.truth(name, 1, n)
        for function in probe.functions(1):
            value = run(found, name, function, dtype, n)
            assert value.dtype == dtype
            assert exact[function].error(value) < TOLERANCE[dtype], (function, n, dtype)


@pytest.mark.parametrize("name", ["rmsprop", "signum", "lion"])
def test_sums_over_many_steps(shared_folder: Path, name: str) -> None:
    """Terms are left out where their weight is below 2^-60, and not before."""
    found = module(built(shared_folder, KERNELS, "quick"), name)
    for n, dtype in itertools.product((60, 300), TOLERANCE):
        exact = probe.truth(name, 1, n)
        for function in ("correction", "step", "straight"):
            assert exact[function].error(run(found, name, function, dtype, n)) < TOLERANCE[dtype], (
                function,
                n,
            )


@pytest.mark.parametrize(("name", "power"), [("rmsprop", 1), ("signum", 2)])
@pytest.mark.parametrize(("n", "beta"), [(200, 0.9), (1000, 0.99), (2500, 0.999)])
def test_a_few_steps_stand_for_many(shared_folder: Path, name: str, power: int, n: int, beta: float) -> None:
    """``sum_s beta^(n-s) A F^(s)`` with ``A = 1 - beta^(s+1)``, step by step in 30 digits."""
    found = module(built(shared_folder, KERNELS, "quick"), name)
    grad = np.array([3e-9, -1e-4, 0.01, 0.7, -40.0, 1e6])
    exact = [mpf(0)] * len(grad)
    with mpmath.workdps(30):
        b, eps = mpf(beta), mpf(float(load(name).defaults["eps"]))
        for s in range(n):
            gain = 1 - b ** (s + 1)
            for k, g in enumerate(map(mpf, grad)):
                size = mpmath.sqrt(gain**power * g**2 + eps)
                exact[k] += b ** (n - s) * gain * gain ** (power - 1) * g / size
    value = found.direction(grad, grad, n=n, beta=beta)[0]
    np.testing.assert_allclose(value, [float(each) for each in exact], rtol=4e-15)
    single = found.direction(grad.astype(np.float32), grad.astype(np.float32), n=n, beta=beta)[0]
    np.testing.assert_allclose(single[1:], [float(each) for each in exact[1:]], rtol=5e-6)


@pytest.mark.parametrize("power", ["1/2", "3"])
def test_a_sum_of_a_steep_function(shared_folder: Path, power: str) -> None:
    """``m1/(m1^2 + eps)^3`` is taken at a few steps, the root by a rule; weights of 1e5 steps, and of 20."""
    beta, eps = {"default": 0.9, "range": "[0, 1)"}, {"default": 0.01, "range": "(0, inf)"}
    momentum = [symmem.Momentum("grad", "beta", "1 - beta")]
    name = f"steep{power[0]}"
    own = symmem.Optimizer(name, f"m1/(m1**2 + eps)**({power})", momentum, {"beta": beta, "eps": eps})
    with compiled.few_passes():
        found = module(build([symmem.derive(own)], str(shared_folder / name)), name)
    grad = np.array([3e-5, -1e-2, 0.7, -40.0])
    for n, decay in ((20, 0.9), (700, 0.99), (100_000, 0.9999)):
        s = np.arange(n).astype(np.longdouble)
        b, g = np.longdouble(decay), grad.astype(np.longdouble)[:, None]
        gain = -np.expm1((s + 1) * np.log(b))
        terms = b ** (n - s) * gain**2 * g / (gain**2 * g**2 + 0.01) ** (3 if power == "3" else 0.5)
        value = found.direction(grad, grad, n=n, beta=decay, eps=0.01)[0]
        np.testing.assert_allclose(value, terms.sum(axis=1).astype(float), rtol=2e-14)


def test_the_cost_of_a_sum_does_not_grow_with_the_step(shared_folder: Path) -> None:
    """RMSprop's past of 1000 and of 4000 steps, in processor time beside the limit: some twenty times at most."""
    found = module(built(shared_folder, KERNELS, "quick"), "rmsprop")
    grad = np.random.default_rng(2).normal(size=100_000)

    def cost(n: int | None) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            found.direction(grad, grad, n=n)
            times.append(time.process_time() - start)
        return min(times)

    compiled.set_threads(1)
    limit = cost(None)
    for n in (300, 1000, 100_000, 2**62):
        assert cost(n) < 60 * limit, n


def test_coefficients_beyond_the_range_of_a_float(shared_folder: Path) -> None:
    found = module(built(shared_folder, KERNELS, "quick"), "adamw")
    theta, hv = np.linspace(-1, 1, 200), np.linspace(2, 3, 200)
    grad = 1e-19 * np.linspace(-3, 3, 200)
    given = {"lr": 1e-3, "eps": 1e-38, "beta2": 0.99}
    exact = found.correction_from(theta, grad, hv[None], **given)
    vectors = [vector.astype(np.float32) for vector in (theta, grad, hv[None])]
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(found.correction_from(*vectors, **given), exact, rtol=1e-4)
    np.testing.assert_allclose(
        found.step_from(*vectors, **given), found.step_from(theta, grad, hv[None], **given), rtol=1e-4
    )


def test_coefficients_beyond_the_range_of_a_float_cost_a_double(shared_folder: Path) -> None:
    """Entries are then computed in double, and not one by one: in processor time, the best of several."""
    found = module(built(shared_folder, PAIR), "adamw")
    theta, grad, hv = np.random.default_rng(2).normal(size=(3, 200_000)).astype(np.float32)
    out = np.empty_like(theta)

    def cost(eps: float) -> float:
        times = []
        for _ in range(15):
            start = time.process_time()
            for _ in range(5):
                found.correction_from(theta, grad, hv[None], lr=0.1, eps=eps, out=out)
            times.append(time.process_time() - start)
        return min(times)

    compiled.set_threads(1)
    assert cost(1e-35) < 6 * cost(1e-8)
    exact = found.correction_from(
        *(each.astype(float) for each in (theta, grad, hv[None])), lr=0.1, eps=1e-35
    )
    cost(1e-35)
    np.testing.assert_allclose(out, exact, rtol=2e-7)


@pytest.mark.parametrize("text", [APART, EXOTIC], ids=["apart", "exotic"])
def test_values_of_a_declaration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    name = load(str(path)).name
    folder = tmp_path / "built"
    build([probe.derivation(str(path), 1)], str(folder))
    found = module(folder, name)
    for n, dtype in itertools.product((0, 1, 2, 5, None), TOLERANCE):
        exact = probe.truth(str(path), 1, n)
        for function in probe.functions(1):
            error = exact[function].error(run(found, str(path), function, dtype, n))
            assert error < TOLERANCE[dtype], (function, n, dtype)
    apart = name == "apart"
    assert [found._kernels.symbol("directions")(n) for n in (-1, 3)] == [1, 2 if apart else 1]


@pytest.fixture(scope="session")
def inputs() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    found = {name: random.normal(size=LARGE) for name in ("theta", "grad", "hv")}
    found["grad"][::7] *= 1e-5
    return found


def results(found: object, vectors: dict[str, np.ndarray], n: int | None) -> dict[str, np.ndarray]:
    """Every kernel on these vectors, theta changed in place by the last one."""
    theta, grad, hv = (vectors[name] for name in ("theta", "grad", "hv"))
    rate = {"n": n, "lr": 0.01}
    return {
        "memoryless": found.memoryless(theta, lambda _: grad, n=n),
        "direction": found.direction(theta, grad, n=n)[0],
        "correction": found.correction_from(theta, grad, hv[None], **rate),
        "step": found.step_from(theta, grad, hv[None], **rate, out=theta),
    }


def placed(values: np.ndarray, offset: int) -> np.ndarray:
    """A copy that starts ``offset`` elements after a line of the cache."""
    size = values.dtype.itemsize
    room = np.empty(values.nbytes + 256, dtype=np.uint8)
    start = -room.ctypes.data % 64 + offset * size
    made = room[start : start + values.nbytes].view(values.dtype)
    made[...] = values
    return made


@pytest.mark.parametrize("name", ["adamw", "rmsprop"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_any_length_and_alignment(
    shared_folder: Path,
    inputs: dict[str, np.ndarray],
    variant: str,
    name: str,
    dtype: type,
) -> None:
    """Every entry has the same bits wherever it stands: at any place of a vector, at any address."""
    found = module(built(shared_folder, PAIR, variant), name)
    exact_module = formulas(found)
    n = 5
    vectors = {key: value[: max(LENGTHS)].astype(dtype) for key, value in inputs.items()}
    theta, grad, hv = (
        vectors["theta"].astype(float),
        vectors["grad"].astype(float),
        vectors["hv"].astype(float),
    )
    reference = results(found, {key: value.copy() for key, value in vectors.items()}, n)
    close = {"rtol": 2e-5, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-10}
    exact = exact_module.correction(theta, lambda _: grad, lambda _theta, _v: hv, n=n, lr=0.01)
    np.testing.assert_allclose(reference["correction"], exact, **close)
    for offset in range(64 // np.dtype(dtype).itemsize):
        for length in LENGTHS:
            cut = {
                key: placed(value[:length], (offset * (k + 1)) % 16)
                for k, (key, value) in enumerate(vectors.items())
            }
            for key, value in results(found, cut, n).items():
                assert value.tobytes() == reference[key][:length].tobytes(), (key, offset, length)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_any_number_of_threads(
    shared_folder: Path,
    inputs: dict[str, np.ndarray],
    variant: str,
    dtype: type,
) -> None:
    found = module(built(shared_folder, PAIR, variant), "adamw")
    made = []
    for threads in (1, 2, 3):
        compiled.set_threads(threads)
        vectors = {key: placed(value.astype(dtype), 1) for key, value in inputs.items()}
        made.append({key: value.tobytes() for key, value in results(found, vectors, None).items()})
    assert made[0] == made[1] == made[2]
    start = {key: value[-5:].astype(dtype) for key, value in inputs.items()}
    for key, value in results(found, start, None).items():
        assert made[0][key][-value.nbytes :] == value.tobytes(), key


def test_every_instruction_set_agrees(shared_folder: Path, inputs: dict[str, np.ndarray]) -> None:
    """In float the same bits; in double the last bits may differ: wide registers take another root."""
    for dtype, unit in ((np.float32, 0.0), (np.float64, 2.0**-52)):
        made = []
        for variant in compiled.WAYS:
            found = module(built(shared_folder, PAIR, variant), "adamw")
            vectors = {key: value[:5000].astype(dtype) for key, value in inputs.items()}
            made.append(results(found, vectors, 3))
        first = made[0]
        # The correction has two terms that may cancel; each is of this size.
        change = 2 * np.abs(vectors["hv"]) / np.sqrt(vectors["grad"] ** 2 + 1e-8)
        room = {"memoryless": 4.0, "direction": 4.0, "correction": change, "step": 0.01 * change + 4.0}
        for key, value in first.items():
            for other in made[1:]:
                assert (np.abs(other[key] - value) <= unit * room[key]).all(), (key, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", KERNELS)
def test_entries_that_are_not_finite(shared_folder: Path, name: str, dtype: type) -> None:
    """NaN stays at its place, infinity gives the limit of the formula, and large entries do not overflow on the way."""
    found = module(built(shared_folder, KERNELS, "quick"), name)
    large = float(np.finfo(dtype).max) ** 0.75
    special = [np.nan, np.inf, -np.inf, large, -large, 1e30, -1e-25, 0.0, 0.5, -3.0]
    ordinary = {"theta": 0.7, "grad": -0.4, "hv": 1.3}
    rows = [ordinary | {key: value} for key in ordinary for value in special]
    copies = 11  # enough to fill runs of entries, at every place in them
    vectors = {key: np.tile(np.array([row[key] for row in rows], dtype=dtype), copies) for key in ordinary}
    derivation = probe.derivation(name, 1)
    parameters = {key: mpf(float(value)) for key, value in load(name).defaults.items()}
    formulas = limit_formulas(derivation.limit.F, derivation.limit.M)
    products = found._kernels.symbol("directions")(-1)
    theta, grad, hv = vectors["theta"], vectors["grad"], vectors["hv"]
    values = {
        "memoryless": found.memoryless(theta, lambda _: grad),
        "correction": found.correction_from(theta, grad, hv[None][:products], lr=0.01),
        "step": found.step_from(theta, grad, hv[None][:products], lr=0.01),
    }
    for function, formula in formulas.items():
        assert len({part.tobytes() for part in values[function].reshape(copies, -1)}) == 1
        for position, row in enumerate(rows):
            row = {key: float(vector[position]) for key, vector in vectors.items()}
            expected, scale = at_infinity(formula, row, parameters)
            value = float(values[function][position])
            with np.errstate(over="ignore"):
                rounded = float(dtype(expected))
            if np.isfinite(rounded):
                room = 40 * float(np.finfo(dtype).eps) * scale + 4 * float(np.finfo(dtype).tiny)
                assert abs(value - expected) <= room, (function, row, value, expected)
            else:
                assert np.array_equal(value, rounded, equal_nan=True), (function, row, value, expected)


def limit_formulas(update: Expr, correction: Expr) -> dict[str, Expr]:
    """The formulas with the product of the Hessian as a symbol."""
    theta, lr = Symbol("theta"), Symbol("lr")
    atoms = correction.atoms(AppliedUndef)
    entrywise = correction.xreplace(dict.fromkeys(atoms, Symbol("hv")))
    return {"memoryless": update, "correction": entrywise, "step": theta - lr * (update + entrywise)}


@cache
def compiled_terms(formula: Expr, names: tuple[Symbol, ...]) -> list[Callable[..., mpf]]:
    return [lambdify(names, term, "mpmath") for term in terms_of(expand_mul(formula))]


def at_infinity(formula: Expr, row: dict[str, float], parameters: dict[str, mpf]) -> tuple[float, float]:
    """The value and the sum of the absolute values of the terms, with 80 digits and no bound on exponents.

    An infinite entry is a very large one, then a larger one.
    """
    used = {key: value for key, value in row.items() if Symbol(key) in formula.free_symbols}
    if any(np.isnan(value) for value in used.values()):
        return float("nan"), 0.0
    names = [Symbol(name) for name in (*row, *parameters, "lr")]
    functions = compiled_terms(formula, tuple(names))

    def terms(stand_in: mpf) -> list[mpf]:
        entries = [mpmath.sign(mpf(x)) * stand_in if np.isinf(x) else mpf(x) for x in row.values()]
        return [mpf(function(*entries, *parameters.values(), mpf(0.01))) for function in functions]

    with mpmath.workdps(80):
        first, found = terms(mpf(10) ** 5000), terms(mpf(10) ** 9000)
        before, after = sum(first), sum(found)
        if abs(after) > 1e100 * abs(before):
            return float(mpmath.sign(after)) * float("inf"), 0.0
        scale = sum(map(abs, found))
        return (0.0 if abs(after) < 1e-100 * abs(before) else float(after)), float(min(scale, mpf(1e300)))


def call(found: object, function: str, *arguments: object) -> int:
    """A function of the library, without the care of the Python module."""
    return found._kernels.symbol(function)(*arguments)


def test_return_codes(shared_folder: Path) -> None:
    found = module(built(shared_folder, KERNELS, "quick"), "adamw")
    params = found._kernels.params()
    call(found, "params_init", ctypes.byref(params))
    assert [params.beta1, params.beta2, params.eps, params.weight_decay] == [0.9, 0.999, 1e-8, 0.01]
    room = np.arange(64, dtype=np.float64)
    out = np.full(16, 7.0)
    start, end, size = room.ctypes.data, out.ctypes.data, 8
    theta, grad, hv = start, start + 8 * size, start + 16 * size

    def correction(*vectors: int | None, count: int = 8, lr: float = 0.1, given: object = None) -> int:
        return call(found, "correction_f64", *vectors, count, -1, lr, given or ctypes.byref(params))

    def step(*vectors: int | None, count: int = 8) -> int:
        return call(found, "step_f64", *vectors, count, -1, 0.1, ctypes.byref(params))

    assert call(found, "name") == b"adamw"
    for position in range(4):
        vectors = [theta, grad, hv, end]
        vectors[position] = None
        assert correction(*vectors) == STATUS["null"]
        vectors[position] = [theta, grad, hv, end][position] + 1
        assert correction(*vectors) == STATUS["misaligned"]
    assert call(found, "correction_f64", theta, grad, hv, end, 8, -1, 0.1, None) == STATUS["null"]
    assert correction(theta, grad, hv, hv + size) == STATUS["overlap"]
    assert correction(theta, grad, hv, grad - size) == STATUS["overlap"]
    assert step(theta, theta + size, hv) == STATUS["overlap"]
    for lr in (np.nan, np.inf):
        assert correction(theta, grad, hv, end, lr=lr) == STATUS["range"]
    assert correction(theta, grad, hv, end, count=2**62) == STATUS["range"]
    for field, value in (
        ("beta1", 1.0),
        ("beta2", -0.1),
        ("eps", 0.0),
        ("weight_decay", np.inf),
        ("eps", np.nan),
    ):
        bad = found._kernels.params(0.9, 0.999, 1e-8, 0.01)
        setattr(bad, field, value)
        assert correction(theta, grad, hv, end, given=ctypes.byref(bad)) == STATUS["range"], field
    assert (out == 7.0).all()
    assert (room == np.arange(64)).all()
    assert correction(None, None, None, None, count=0) == STATUS["ok"]
    expected = found.correction_from(room[:8], room[8:16], room[None, 16:24], lr=0.1)
    assert correction(theta, grad, hv, grad) == STATUS["ok"]  # the result may be an input
    assert room[8:16].tobytes() == expected.tobytes()
    assert (room[16:] == np.arange(16, 64)).all()
    assert b"beta1 in [0, 1)" in call(found, "message", STATUS["range"])


def test_a_form_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """A factor b that grows has no limit; finite n is there all the same."""
    path = tmp_path / "growing.toml"
    text = APART.replace('"apart"', '"growing"').replace('b = "1 - beta1"', 'b = "n + 1"')
    path.write_text(text)
    build([probe.derivation(str(path), 1)], str(tmp_path / "built"))
    found = module(tmp_path / "built", "growing")
    with pytest.raises(ValueError, match="no known limit") as caught:
        found.memoryless(np.ones(3), np.sin)
    assert str(caught.value).count("growing") == 1
    assert np.isfinite(found.memoryless(np.ones(3), np.sin, n=2)).all()
