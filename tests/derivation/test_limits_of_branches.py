"""A maximum or minimum of parts without a limit: no limit, with the reason; every step n has its values."""

from __future__ import annotations

import mpmath
import pytest
from truth import LR, THETA, literal_of, number_of

from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.verification.bruteforce import correction, memoryless


@pytest.mark.parametrize("b", ["max((-1)**n, 0)", "2 + min((-1)**n, cos(n))"])
def test_no_limit_but_every_step(b: str) -> None:
    beta = {"beta": {"default": 0.5, "range": "[0, 1)"}}
    optimizer = Optimizer("flip", "m1", ({"g": "grad", "beta": "beta", "b": b},), beta)
    d, literal = derive(optimizer), literal_of(optimizer, {"beta": "1/2"})
    assert isinstance(d.limit, Missing)
    assert "has no known limit" in str(d.limit)
    for n in (0, 3, 4):
        pairs = ((d.F, memoryless(literal, THETA, n, 20)), (d.M, correction(literal, THETA, n, LR, 20)))
        for formula, true in pairs:
            found = number_of(formula, literal, n=n)
            assert all(abs(x - y) < mpmath.mpf(10) ** -18 for x, y in zip(found, true, strict=True))
