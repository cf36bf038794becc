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
