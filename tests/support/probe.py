"""The probe set of the emitted code: one loss, one point, 50-digit values, and the scale of rounding errors.

Every target is held to the same numbers.  A correction changes sign, so that an error is measured against the sum
of the absolute values of its terms, not against the value.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from sympy import Expr, expand_mul
from truth import FUNCTIONS, LOSS, LR, THETA, literal_of, load, number_of, values_of

import symmem
from symmem.algebra.atoms import terms_of
from symmem.checks.verify import as_theory_sees
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.verification.ridges import Monomial, exponential, log_cosh, sine
from symmem.verification.straight import straight

STEPS = (0, 1, 5, None)
"""The steps at which the targets are compared; None is the limit."""
THETA64 = np.array([float(entry) for entry in THETA])


def profile_value(library: Any, profile: object, x: Any) -> Any:
    """A profile of the probe loss at x, in NumPy, PyTorch or JAX."""
    if isinstance(profile, Monomial):
        return x**profile.degree / math.factorial(profile.degree)
    return {
        exponential: lambda: library.exp(x),
        sine: lambda: library.sin(x),
        log_cosh: lambda: library.log(library.cosh(x)),
    }[profile]()


@dataclass(frozen=True)
class Truth:
    """A vector with 50 digits, and for every entry the sum of the absolute values of the terms."""

    value: np.ndarray
    scale: np.ndarray

    def error(self, found: np.ndarray) -> float:
        """The largest error of an entry, in units of the scale."""
        with mpmath.workdps(60):
            pairs = zip(np.asarray(found).tolist(), self.value, self.scale, strict=True)
            return float(max(abs(mpf(entry) - exact) / scale for entry, exact, scale in pairs))


@cache
def derivation(name: str, order: int) -> Derivation:
    return symmem.derive(load(name), order)


@cache
def truth(name: str, order: int, n: int | None) -> dict[str, Truth]:
    """The values that memoryless, correction and step must have; at order 1 also straight."""
    derived = derivation(name, order)
    update, change = (derived.F, derived.M) if n is not None else (derived.limit.F, derived.limit.M)
    first, second = _truth(name, update, n), _truth(name, change, n)
    rate = mpf(LR.p) / LR.q
    point = np.array(THETA, dtype=object)
    moved = Truth(
        point - rate * (first.value + second.value), abs(point) + rate * (first.scale + second.scale)
    )
    found = {"memoryless": first, "correction": second, "step": moved}
    if order == 1:
        found["straight"] = Truth(_straight(name, n), first.scale + second.scale)
    return found


def functions(order: int) -> tuple[str, ...]:
    """The functions of a step that every target has."""
    return ("memoryless", "correction", "step", *(["straight"] if order == 1 else []))


def _straight(name: str, n: int | None) -> np.ndarray:
    """At finite n the literal optimizer on lines, with the declared smooth functions: these are what a module has."""
    literal = literal_of(as_theory_sees(load(name)))
    with mpmath.workdps(60):
        if n is None:
            return np.array(number_of(derivation(name, 1).limit_straight, literal), dtype=object)
        return np.array(straight(literal, THETA, n, LR), dtype=object)


def _truth(name: str, formula: Expr, n: int | None) -> Truth:
    literal = literal_of(load(name))
    with mpmath.workdps(60):
        terms = [
            np.array(number_of(term, literal, n=n or 0), dtype=object)
            for term in terms_of(expand_mul(formula))
        ]
        value = sum(terms)
        scale = sum(abs(term) for term in terms)
        # Where a formula is zero for every loss there is nothing to compare with but zero itself.
        return Truth(value, np.array([entry if entry != 0 else mpf(1) for entry in scale], dtype=object))


def parameters(name: str) -> dict[str, float]:
    return parameters_of(load(name))


def parameters_of(optimizer: Optimizer) -> dict[str, float]:
    return {key: float(value) for key, value in values_of(optimizer).items()}


def contraction(theta: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
    """``D^(k+1) L [vectors]`` at theta, exact but for the last rounding; no vectors give the gradient."""
    return _rounded(LOSS.contraction(_exact(theta), *map(_exact, vectors)), theta)


def loss_value(theta: np.ndarray) -> float:
    with mpmath.workdps(50):
        return float(LOSS.value(_exact(theta)))


def opaque(name: str, order: int) -> list[Callable[..., np.ndarray]]:
    """``gradK, gradK_jvp, ...`` of an optimizer: one function serves all, by its number of arguments."""

    def serve(function: Callable[..., object]) -> Callable[..., np.ndarray]:
        return lambda x, *directions: _rounded(function(_exact(x), *map(_exact, directions)), x)

    functions = [serve(FUNCTIONS[function.name]) for function in load(name).functions]
    return [function for function in functions for _ in range(order + 1)]


def calls(name: str, order: int, function: str) -> list[Callable[..., np.ndarray]]:
    """The functions that the caller of an emitted function gives, in order."""
    higher = [] if function == "memoryless" else [contraction] * order
    return [contraction, *higher, *opaque(name, order)]


def module(source: str) -> types.ModuleType:
    """The emitted text as a module."""
    made = types.ModuleType("emitted")
    exec(compile(source, "emitted.py", "exec"), made.__dict__)
    return made


def _exact(values: np.ndarray) -> tuple[mpf, ...]:
    return tuple(mpf(float(entry)) for entry in np.ravel(values))


def _rounded(exact: object, like: np.ndarray) -> np.ndarray:
    return np.array([float(entry) for entry in exact], dtype=like.dtype).reshape(like.shape)
