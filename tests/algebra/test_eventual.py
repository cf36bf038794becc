"""Limits of branches, extremes and products: proved by signs, or not claimed."""

from __future__ import annotations

from functools import partial

import pytest
from sympy import Expr, Rational, Symbol

from symmem.algebra.limits import known_limit, scalar_limit
from symmem.algebra.results import Missing
from symmem.algebra.settling import settles
from symmem.declaration.parser import parse
from symmem.declaration.records import Parameter
from symmem.method.geometric import Geometric
from symmem.method.numbers import scalars_of

PARAMETERS = [
    Parameter("w", Rational(100), range="(0, inf)"),
    Parameter("beta", Rational(9, 10), range="[0, 1)"),
    Parameter("psi", Rational(1, 250), range="(0, inf)"),
    Parameter("free", Rational(3)),
]
NUMBERS = scalars_of(PARAMETERS, [Geometric(Symbol("beta"))], ())
RANGES = {Symbol(p.name): p.range for p in PARAMETERS}
KNOWN = [
    ("min(1, (n + 1)/w)", "1", True),
    ("max(0, 1 - n/w)", "0", True),
    ("where(n < w, (1 + cos(pi*n/w))/2, 0.1)", "1/10", True),
    ("where(n < 4, 1, where(n < 9, 0.5, beta))", "beta", True),
    ("min((n + 1)*w**(-1.5), 1/sqrt(n + 1))", "0", False),
    ("max(beta, 1/2 + beta**n)", "Max(1/2, beta)", False),
    ("prod(beta*(1 - 0.96**(i*psi)/2), i, 1, n + 2)", "0", True),
    ("1/(1 - prod(beta*(1 - 0.96**(i*psi)/2), i, 1, n))", "1", True),
    ("where(n*beta**n < 1 or n < 3, 2, 3)", "2", True),
]
UNKNOWN = [
    "min(1, (n + 1)/free)",
    "where(n < free*n, 1, 2)",
    "(1 + cos(pi*n/w))/2",
    "prod(1 - 1/(i + 1)**2, i, 1, n)",
    "where(sin(n) < 0, 1, 2)",
]


def read(text: str) -> Expr:
    return parse(text, of_the_step=True)


@pytest.mark.parametrize(("text", "limit", "fast"), KNOWN)
def test_what_is_known(text: str, limit: str, fast: bool) -> None:
    assert str(scalar_limit(read(text), NUMBERS)) == limit
    assert settles(read(text), Symbol("n"), RANGES, partial(known_limit, scalars=NUMBERS)) == fast


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_known_is_not_claimed(text: str) -> None:
    found = scalar_limit(read(text), NUMBERS)
    assert isinstance(found, Missing)
    assert "grows" not in str(found)
