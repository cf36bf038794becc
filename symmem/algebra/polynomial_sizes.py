"""How large a polynomial will be before FLINT makes it: FLINT ends the process where there is no memory for one."""

from __future__ import annotations

from math import comb, prod
from typing import Any

from symmem.errors import BudgetError
from symmem.work import affordable, checkpoint, ways

Polynomial = Any
"""A ``flint.fmpz_mpoly``: python-flint ships no types."""
SMALL = 4096
"""Terms, or bits, below which nothing has to be counted."""
MOST_DEGREE = 1_000_000
"""A greatest common divisor of sparse polynomials of a higher degree has no end, and cannot be interrupted."""
FASTER = 5000
"""Products of two terms in the time in which a greatest common divisor is done with one."""
STAGE = "the arithmetic of the coefficients"


def power(base: Polynomial, exponent: int) -> Polynomial:
    """``base**exponent`` for a whole number, refused where it has more words than any memory should hold.

    ``t`` terms to the power ``e`` are at most ``binomial(e + t - 1, t - 1)`` terms and at most those that its degrees
    allow; a coefficient has at most ``e log2(sum |c|)`` bits.  (x + 2)**10 has 11 terms of at most 16 bits.
    """
    terms = len(base)
    if exponent * max(map(int, base.degrees()), default=0) > MOST_DEGREE:
        raise BudgetError(f"powers above {MOST_DEGREE} are beyond any budget in {STAGE}; {ways()}")
    if not terms:
        return base**exponent
    most = _box(base.degrees(), exponent)
    if most > SMALL or exponent > SMALL:
        bits = exponent * sum(abs(int(value)) for value in base.coeffs()).bit_length()
        most = min(most, _choices(terms, exponent))
        affordable(STAGE, most * (1 + bits // 64))
        checkpoint(STAGE, most)
    return base**exponent


def product(left: Polynomial, right: Polynomial) -> Polynomial:
    """``left * right``, refused where it has more words than any memory should hold."""
    terms = len(left) * len(right)
    if terms > SMALL * SMALL:
        degrees = [one + other for one, other in zip(left.degrees(), right.degrees(), strict=True)]
        affordable(STAGE, min(terms, _box(degrees, 1)))
        checkpoint(STAGE, terms // FASTER)
    return left * right


def _choices(terms: int, exponent: int) -> int:
    """``binomial(e + t - 1, t - 1)``, or some number beyond any budget where it has many digits."""
    fewer = min(exponent, terms - 1)
    return comb(exponent + terms - 1, fewer) if fewer < 64 else 2**64


def _box(degrees: list[int], exponent: int) -> int:
    """The monomials with at most these degrees, each times the exponent."""
    return prod(int(degree) * exponent + 1 for degree in degrees)
