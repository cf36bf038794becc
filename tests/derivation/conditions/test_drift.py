"""How far a part moves on the true past: against the sums themselves, on a line at which gradient and Hessian are 1."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import pytest
from mpmath import mpf
from sympy import Integer, Rational, sqrt, symbols
from truth import load

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.conditions.drift import drift
from symmem.derivation.conditions.small_steps import largest_step
from symmem.derivation.derivation import derive
from symmem.derivation.gains import frozen_update, limit_gains
from symmem.method.reading import method_of

SHORT = {
    "rmsprop-centred": {"beta": Rational(1, 2), "eps": Rational(1, 4)},
    "adabelief": {"beta1": Rational(1, 2), "beta2": Rational(3, 5), "eps": Rational(1, 4)},
    "adamod": {
        "beta1": Rational(1, 2),
        "beta2": Rational(2, 5),
        "beta3": Rational(3, 5),
        "eps": Rational(1, 4),
    },
}
PAST = 150
SMALL = mpf(10) ** -12


def average(beta: mpf, values: Callable[[int], mpf]) -> mpf:
    return (1 - beta) * mpmath.fsum(beta**k * values(k) for k in range(PAST))


def centred(values: dict[str, mpf], gradient: Callable[[int], mpf]) -> mpf:
    beta = values["beta"]
    return average(beta, lambda k: gradient(k) ** 2) - average(beta, gradient) ** 2


def belief(values: dict[str, mpf], gradient: Callable[[int], mpf]) -> mpf:
    one, two = values["beta1"], values["beta2"]
    return average(two, lambda k: (gradient(k) - average(one, lambda j: gradient(k + j))) ** 2)


def bounded(values: dict[str, mpf], gradient: Callable[[int], mpf]) -> mpf:
    def size(k: int) -> mpf:
        return 1 / (mpmath.sqrt(average(values["beta2"], lambda j: gradient(k + j) ** 2)) + values["eps"])

    return (size(0) - average(values["beta3"], size)) ** 2


m2, m3, m4 = symbols("m2 m3 m4")
PARTS = {
    "rmsprop-centred": (m2 - m3**2, centred),
    "adabelief": (m2, belief),
    "adamod": ((m3 / (SHORT["adamod"]["eps"] + sqrt(m2)) - m4) ** 2, bounded),
}


@pytest.mark.parametrize("name", SHORT)
def test_the_sums_move_so(name: str) -> None:
    optimizer = load(name).with_values({**load(name).defaults, **SHORT[name]})
    method, (part, truth) = derive(optimizer).method, PARTS[name]
    found = drift(method, part)
    assert found is not None
    moved, power = found
    one = {**dict.fromkeys(symbols("grad theta"), Integer(1)), **method.defaults}
    with mpmath.workdps(40):
        update = mpf(str(frozen_update(method, limit_gains(method)).xreplace(one).evalf(40)))
        values = {key: mpf(value.p) / value.q for key, value in SHORT[name].items()}
        true = truth(values, lambda k: 1 + k * SMALL * update)
        assert abs(true / (moved * SMALL**power) - 1) < 1e-8


def test_a_slow_memory_asks_for_smaller_steps() -> None:
    """AdaMod's own average of step sizes lags by 1/(1 - beta3): (h lag)^2 has to be small against delta."""
    largest = largest_step(method_of(load("adamod")))
    assert largest == pytest.approx(1e-2 / 9999, rel=0.02)


def test_a_function_of_a_tensor_has_no_unit() -> None:
    nuclear = Optimizer("whole", "m1/norm(m1)", ({"g": "grad", "beta": "1/2", "b": "1/2"},), {})
    assert drift(method_of(nuclear), nuclear.phi) is None
