"""The emitted NumPy module on large arrays against ``sympy.lambdify(..., cse=True)`` of the same formulas.

Both compute AdamW's direction F and, from its Hessian-vector product, the correction M at a finite step; the
gradient and the product themselves are given, and cost neither side anything.
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
    names = emitted._correction.__code__.co_varnames[2 : emitted._correction.__code__.co_argcount]
    scalars = tuple(float(derivation.optimizer.defaults.get(name, RATE)) for name in names)
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
    name = f"NumPy correction, adamw, N = 1e7, {np.dtype(dtype)}: lambdify / emitted"
    return Row(name, subject, measure, Target(5, at_least=True))
