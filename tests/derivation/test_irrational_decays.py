"""Decays that are irrational numbers, or numbers to the power of a parameter: the same as parameters of that value."""

from __future__ import annotations

from pathlib import Path

import pytest
from sympy import Expr, Integer, Rational, sqrt

from symmem import derive, load
from symmem.derivation.noise.mean_over_batches import mean_over_batches
from symmem.errors import DerivationError
from symmem.method.sampling import Sampling

DECLARED = """
name = "odd"
phi = "m2"
[parameters]
{parameters}
eps = {{ default = 1e-3, range = "(0, inf)" }}
[[momentum]]
g = "grad**2"
beta = "{first}"
b = "1"
[[momentum]]
g = "grad/sqrt(m1 + eps)"
beta = "{second}"
b = "1"
"""
VALUES = {"p": sqrt(2) / 2, "w": 2 ** Rational(-3, 10), "a": Rational(3, 10), "batches": Integer(5)}


def variance(folder: Path, first: str, second: str, parameters: str) -> Expr:
    """Over the order of five batches, at numbers."""
    file = folder / "odd.toml"
    lines = "\n".join(f'{name} = {{ default = 0.7, range = "(0, 1)" }}' for name in parameters)
    file.write_text(DECLARED.format(first=first, second=second, parameters=lines), encoding="utf-8")
    found = mean_over_batches(derive(load(file)).method, Sampling(), "limit").epoch.variance
    return found.xreplace({x: VALUES.get(x.name, Rational(7, 5)) for x in found.free_symbols}).evalf(40)


@pytest.mark.parametrize(
    ("second", "parameters"), [("(1/2)**a", "a"), ("2**(-a)", "a"), ("w", "w")], ids=["half", "two", "w"]
)
def test_a_number_is_a_parameter_of_its_value(tmp_path: Path, second: str, parameters: str) -> None:
    """``sqrt(1/2)`` squared is 1/2, and ``(1/2)**a`` is ``2**(-a)``: no pole is left where two ratios are equal."""
    odd, plain = variance(tmp_path, "sqrt(1/2)", second, parameters), variance(tmp_path, "p", "w", "pw")
    assert abs(odd - plain) < 1e-35 * abs(plain)


def test_what_the_field_does_not_hold_is_refused(tmp_path: Path) -> None:
    """sqrt(2) sqrt(3) is sqrt(6) to SymPy: one line, and what to do."""
    with pytest.raises(DerivationError, match="a parameter of its own"):
        variance(tmp_path, "sqrt(1/2)", "sqrt(1/3)", "")
