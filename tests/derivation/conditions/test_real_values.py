"""An update that is no real number is refused, or where it is none is said: NumPy on a constant history decides."""

from __future__ import annotations

import numpy
import pytest

import symmem
from symmem import Momentum, Optimizer
from symmem.errors import SymmemError

SAID = "has no real value"
LOWER = {
    "sqrt": numpy.emath.sqrt,
    "log": numpy.emath.log,
    "abs": numpy.abs,
    "sign": numpy.sign,
    "dot": lambda x, y: numpy.sum(x * y),
}


def values(phi: str, beta: float) -> numpy.ndarray:
    """Phi at m1 = an average of gradients of either sign, small and large, and m2 of their squares."""
    m1 = numpy.array([-3.0, -0.7, -1e-3, 1e-3, 0.7, 3.0], dtype=complex)
    names = {"m1": m1, "m2": m1**2, "beta": beta, "__builtins__": {}}
    found = eval(phi, {**LOWER, **names})  # the text is ours, from the list below
    return numpy.broadcast_to(numpy.asarray(found, dtype=complex), m1.shape)


@pytest.mark.parametrize(
    "phi",
    [
        "m1*sqrt(-1 - m2)", "m1*log(-abs(m1))", "m1*(-1 - m1**4)**0.3", "m1/sqrt(1 - 4*beta - m2)",
        "m1*log(-dot(m1, m1))",
        "sqrt(m1)", "m1**(1/3)", "m1**1.7", "m1*log(m1)", "m1*(m2 - 1)**0.5", "m1/(m1**3 + 1)**0.5", "(m1**3)**1.5",
        "m1/sqrt(m2 + 1)", "sign(m1)*abs(m1)**(1/3)", "m1*sqrt(m2)", "m1*log(m2 + 2)", "m1*(m1**2 + 1)**0.3", "m1**3",
        "m1*sqrt(dot(m1, m1))", "m1*abs(m1)**beta",
    ],
)  # fmt: skip
def test_what_is_said_of_real_values(phi: str) -> None:
    real = numpy.abs(values(phi, 0.9).imag) < 1e-12
    average = (Momentum("grad", "beta", "1 - beta"), Momentum("grad**2", "beta", "1 - beta"))
    declared = Optimizer("declared", phi, average if "m2" in phi else average[:1], {"beta": "0.9"})
    derived = symmem.derive(declared)
    if not real.any():
        with pytest.raises(SymmemError, match=SAID):
            _ = derived.F.free_symbols
        return
    told = [item for item in derived.unknown if SAID in str(item)]
    assert bool(told) == (not real.all())
    assert all(item.warning for item in told)


NUMBERS = {
    "sqrt(c)*m1": "c is not below 0",
    "log(1 + c)*m1": "c + 1 is above 0",
    "m1/(c - 1)**0.5": "c - 1 is not below 0",
    "m1*c**p": "",
    "m1*sqrt(abs(c))": "",
    "m1*(-1 - m2)**p": "",
    "m1*m2**(c/2)": "",
}
"""Updates with roots of a parameter, and what is assumed of it; p is 2."""


@pytest.mark.parametrize("phi", NUMBERS)
@pytest.mark.parametrize("c", [-2.0, -0.5, 0.5, 3.0])
def test_what_is_assumed_of_a_number_in_a_root(phi: str, c: float) -> None:
    found = eval(phi, {**LOWER, "m1": 0.7 + 0j, "m2": 0.5 + 0j, "c": c + 0j, "p": 2, "__builtins__": {}})
    is_real = abs(complex(found).imag) < 1e-12
    average = (Momentum("grad", "beta", "1 - beta"), Momentum("grad**2", "beta", "1 - beta"))
    names = {"beta": "0.5", "c": c, "p": "2"}
    used = {name: value for name, value in names.items() if name in phi or name == "beta"}
    derived = symmem.derive(Optimizer("declared", phi, average if "m2" in phi else average[:1], used))
    told = [str(item) for item in derived.assumptions if "below 0" in str(item) or "above 0" in str(item)]
    assert told == ([NUMBERS[phi]] if NUMBERS[phi] else [])
    if is_real:
        assert not derived.F.has(symmem.lr)
    else:
        with pytest.raises(SymmemError, match=f"{SAID}.*at the default values"):
            _ = derived.F.free_symbols


def test_a_number_in_a_root_of_g_and_a_root_that_fails_late() -> None:
    """``sqrt(c) grad`` for c = -1/2 is no gradient; a gain that is below 0 from n = 6 on is seen."""
    memory = Momentum("grad*sqrt(c)", "beta", "1")
    with pytest.raises(SymmemError, match=SAID):
        _ = symmem.derive(Optimizer("g", "m1", (memory,), {"beta": "0.5", "c": -0.5})).F.free_symbols
    rows = (Momentum("grad", "beta", "1 - beta"), Momentum("1", "0", "5 - n"))
    late = symmem.derive(Optimizer("late", "m1*sqrt(m2)", rows, {"beta": "0.5"}))
    assert any(SAID in str(item) for item in late.unknown)
