"""The emitted NumPy module on large arrays against ``sympy.lambdify(..., cse=True)`` of the same formulas.

Both compute AdamW's direction F and, from its Hessian-vector product, the correction M at a finite step; the
gradient and the product themselves are given, and cost neither side anything.  ``_by_hand`` is what NumPy can do: the
same two formulas as a person would write them for blocks, every pass with its ``out``, nothing checked.
"""

from __future__ import annotations

import types

import numpy as np
from measure import Row, Target, seconds, side_by_side
from sympy import Symbol, lambdify

import symmem
from symmem.algebra.atoms import GRAD, LR, STEP, THETA, contraction
from symmem.targets.numpy.module import numpy_module

SIZE = 10_000_000
RATE, AT = 1e-3, 100


def adamw_correction_float64() -> Row:
    return _row(np.float64)


def adamw_correction_float32() -> Row:
    return _row(np.float32)


def adamw_formula_float64() -> Row:
    """The correction alone, its Hessian-vector product given: one formula, one pass on either side."""
    derivation = symmem.derive(symmem.load("adamw"))
    emitted = types.ModuleType("emitted")
    exec(compile(numpy_module(derivation), "emitted.py", "exec"), emitted.__dict__)
    g, product = np.random.default_rng(0).normal(size=(2, SIZE))
    out = np.empty_like(g)
    names = emitted._correction.__code__.co_varnames
    numbers = names[2 : names.index("out")]
    scalars = tuple(float(derivation.optimizer.defaults.get(name, RATE)) for name in numbers)
    hv = Symbol("hv")
    values = {name: float(value) for name, value in derivation.optimizer.defaults.items()}
    change = derivation.M.xreplace({contraction(derivation.F): hv})
    formula = lambdify([GRAD, hv, LR, STEP, *map(Symbol, values)], change, "numpy", cse=True)
    subject, measure = side_by_side(
        lambda: seconds(lambda: emitted._entrywise(emitted._correction, g, (g, product), scalars, out)),
        lambda: seconds(lambda: formula(g, product, RATE, AT, *values.values())),
    )
    name = "NumPy, adamw's M alone, N = 1e7, float64: lambdify / emitted"
    return Row(name, subject, measure, Target(5, at_least=True))


def _row(dtype: type) -> Row:
    derivation = symmem.derive(symmem.load("adamw"))
    emitted = types.ModuleType("emitted")
    exec(compile(numpy_module(derivation), "emitted.py", "exec"), emitted.__dict__)
    theta, g, product = np.random.default_rng(0).normal(size=(3, SIZE)).astype(dtype)
    out = np.empty_like(theta)

    def ours() -> None:
        emitted.correction(theta, lambda _: g, lambda _, __: product, n=AT, lr=RATE, out=out)

    hv = Symbol("hv")
    values = {name: float(value) for name, value in derivation.optimizer.defaults.items()}
    names = [Symbol(name) for name in values]
    change = derivation.M.xreplace({contraction(derivation.F): hv})
    direction = lambdify([THETA, GRAD, *names], derivation.F, "numpy", cse=True)
    correction = lambdify([GRAD, hv, LR, STEP, *names], change, "numpy", cse=True)

    def lambdified() -> np.ndarray:
        direction(theta, g, *values.values())
        return correction(g, product, RATE, AT, *values.values())

    ours()
    scale = np.abs(out).max()
    if not np.allclose(out, lambdified(), rtol=0, atol=1e-4 * scale):
        raise ArithmeticError("the two sides of the benchmark differ")
    subject, measure = side_by_side(lambda: seconds(ours), lambda: seconds(lambdified), rounds=9)
    by_hand, _ = side_by_side(lambda: seconds(lambda: _by_hand(theta, g, product, out)), lambda: 0.0)
    name = f"NumPy correction, adamw, N = 1e7, {np.dtype(dtype)}: lambdify / emitted"
    note = f"blocked by hand {measure / by_hand:.2f}"
    return Row(name, subject, measure, Target(5, at_least=True), note)


def _by_hand(theta: np.ndarray, g: np.ndarray, product: np.ndarray, out: np.ndarray) -> None:
    block = 2**17 // theta.itemsize
    direction, a, b = np.empty_like(theta), *np.empty((2, block), theta.dtype)
    for start in range(0, theta.size, block):
        part = slice(start, start + block)
        x, y = a[: g[part].size], b[: g[part].size]
        np.sqrt(np.add(np.multiply(g[part], g[part], x), 1e-8, x), x)
        np.add(np.divide(g[part], x, x), np.multiply(theta[part], 0.01, y), direction[part])
    for start in range(0, theta.size, block):
        part = slice(start, start + block)
        x, y = a[: g[part].size], b[: g[part].size]
        np.divide(1.0, np.add(np.multiply(g[part], g[part], x), 1e-8, x), x)
        np.add(np.multiply(x, 1e-8, y), 1e-3, y)
        np.multiply(np.multiply(np.sqrt(x, x), y, y), product[part], out[part])
