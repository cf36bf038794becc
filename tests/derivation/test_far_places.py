"""Inputs that fuzzing found, each for its class: beyond floats, beyond any run, a root in two spellings."""

from __future__ import annotations

from math import exp

import mpmath
import pytest
from sympy import Max, Min, Rational, Symbol

import symmem
from symmem.algebra.probe import Probe, Ridges
from symmem.declaration.toml import read_toml


def declared(phi: str, variables: list[tuple[str, str, str]], parameters: str) -> symmem.Optimizer:
    rows = "".join(f'[[momentum]]\ng = "{g}"\nbeta = "{beta}"\nb = "{b}"\n' for g, beta, b in variables)
    return read_toml(f'name = "far"\nphi = "{phi}"\n[parameters]\n{parameters}\n{rows}')


def test_a_witness_beyond_floats_is_none() -> None:
    found = symmem.derive(declared("sinh(cos(exp(m1)))", [("grad**2", "beta", "exp(-n) + 1")], "beta = 0.99"))
    assert "nan" not in str(found)
    witness = getattr(found.obstruction, "witness", None)
    assert witness is None or all(map(mpmath.isfinite, (*witness.jacobian, witness.gap)))


@pytest.mark.parametrize("b", ["min(eps, pi)", "max(eps, 1/3)"])
def test_a_number_that_is_chosen_has_a_value_at_a_probe(b: str) -> None:
    assert str(
        symmem.derive(declared("m1/sqrt(m1**2 + eps)", [("grad", "beta", b)], "beta = -0.5\neps = 1e-8"))
    )
    x = Symbol("x")
    probe = Probe(Ridges(()), (mpmath.mpf(1),), {x: Rational(2)}, {})
    assert (probe.value(Min(x, 3)), probe.value(Max(x, 3))) == (2, 3)


def test_a_factor_that_vanishes_after_any_run_costs_nothing() -> None:
    variables = [("grad", "-beta", "1 - beta"), ("grad", "-beta", "n - 1e39")]
    found = symmem.derive(declared("m1 + 2*m2", variables, "beta = 0"))
    at = found.at(3).F.xreplace({Symbol("beta"): Rational(0)})
    assert at == symmem.grad * (1 + 2 * (3 - 10**39))


def test_a_root_in_two_spellings_between_memories() -> None:
    """0.9**(1/3) is 30**(2/3)/10, and no number of the field of the decays; F at n = 1, added up by hand."""
    variables = [("0.9**(1/3)*grad", "beta", "1 - beta"), ("grad + m1", "beta*beta2", "exp(-n) + 1")]
    found = symmem.derive(declared("m2", variables, "beta = -0.5\nbeta2 = 0.99"))
    beta, beta2, c = -0.5, 0.99, 0.9 ** (1 / 3)
    seen = [1 + c * (1 - beta ** (r + 1)) for r in range(2)]  # grad + m1 at the steps 0 and 1
    expected = (exp(-1) + 1) * (seen[1] + beta * beta2 * seen[0])
    values = {Symbol("beta"): beta, Symbol("beta2"): beta2, symmem.grad: 1}
    assert abs(float(found.at(1).F.subs(values)) - expected) < 1e-12
