"""Numbers that are not rational in the parameters, in every place of a declaration, against brute force."""

from __future__ import annotations

import mpmath
import pytest
from truth import LR, THETA, literal_of, number_of

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.verification.bruteforce import correction, memoryless

PARAMETERS = {
    "beta": {"default": 0.5, "range": "[0, 1)"},
    "eps": {"default": 0.3, "range": "(0, inf)"},
}
VALUES = {"beta": "1/2", "eps": "3/10"}
MEMORY = {"beta": "beta", "b": "1 - beta"}
CASES = {
    "in a g": ("m1 + m2", {"g": "grad", **MEMORY}, {"g": "tan(eps)*grad", "beta": "1/3", "b": "1"}),
    "in two g": ("m1*m2", {"g": "eps + grad", **MEMORY}, {"g": "(2 + sqrt(eps))*(eps + grad)", **MEMORY}),
    "constants alone": ("m1 + m2 + m3", {"g": "grad", **MEMORY}, {"g": "eps", "beta": "1/3", "b": "1"},
                        {"g": "2 + sqrt(eps)", "beta": "beta", "b": "2"}),
    "a fourth root": ("m1 + eps*m2 + m3", {"g": "theta", **MEMORY}, {"g": "grad", "beta": "1/3", "b": "1"},
                      {"g": "grad", "beta": "0", "b": "sqrt(eps**(-1/2))"}),
    "roots of two degrees": ("m1*eps**(1/3) + sqrt(eps)*m2", {"g": "grad", **MEMORY},
                             {"g": "grad*eps**(-5/6)", "beta": "1/3", "b": "1"}),
}  # fmt: skip


def derived(case: str) -> tuple[Optimizer, Derivation]:
    phi, *momentum = CASES[case]
    optimizer = Optimizer("constants", phi, tuple(momentum), PARAMETERS)
    return optimizer, derive(optimizer)


@pytest.mark.parametrize("case", CASES)
def test_every_step_and_the_limit(case: str) -> None:
    optimizer, d = derived(case)
    literal = literal_of(optimizer, VALUES)
    for n, F, M in ((0, d.F, d.M), (3, d.F, d.M), (120, d.limit.F, d.limit.M)):
        pairs = ((F, memoryless(literal, THETA, n, 40)), (M, correction(literal, THETA, n, LR, 40)))
        for formula, true in pairs:
            found = number_of(formula, literal, n=n)
            assert all(abs(x - y) < mpmath.mpf(10) ** -30 for x, y in zip(found, true, strict=True))
