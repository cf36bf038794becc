"""The steps at which a factor b has no real value, found exactly where that is a question about polynomials in n.

``1/(n - 5)`` has a pole at n = 5, ``sqrt(5 - n)`` is not real from n = 6 on, ``1/(n + 1)`` is defined at every step.
What is no rational function of n under a power or a logarithm is tried at the first steps alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Integer, Poly, Pow, Rational, S, Symbol, fraction, log, together

from symmem.algebra.atoms import STEP
from symmem.algebra.where import where
from symmem.declaration.substitution import substitute
from symmem.errors import DeclarationError

FIRST_STEPS = 3
TRIED_STEPS = 64
"""A polynomial is tried at so many first steps, and then far out, where its leading coefficient decides."""
MOST_DOUBLINGS = 64


def check_factor(b: Expr, defaults: Mapping[Symbol, Rational], field: str = "b") -> None:
    """Refuse a factor, or a rate, that has no real value at some step, at the default values of its parameters."""
    for step in range(FIRST_STEPS):
        try:
            substitute(b, {**defaults, STEP: Integer(step)})
        except DeclarationError as error:
            first = "" if step else " (n is 0 at the first update: where others write t, write n + 1)"
            raise DeclarationError(f"{field}: at n = {step} and the default values: {error}{first}") from None
    found = step_without_value(b, defaults)
    if found is not None:
        written = "" if b.free_symbols <= {STEP} else " at the default values"
        raise DeclarationError(
            f"{field}: has no real value at n = {found}{written}; n runs through 0, 1, 2, ...: keep denominators away "
            "from 0 and roots and logarithms above it"
        )


def step_without_value(b: Expr, defaults: Mapping[Symbol, Rational]) -> int | None:
    """A step n >= 0 at which b, at these values, divides by zero or is not real; None: none found."""
    # A branch may be there because of a pole: what a condition guards is tried at the first steps alone.
    guarded = {branch: Integer(1) for branch in b.atoms(where)}
    parts = b.xreplace(guarded).atoms(Pow, log)
    found = [
        _zero_or_negative(inner)
        for part in parts
        if STEP in part.args[0].free_symbols and not _is_exponential(part.args[0], defaults)
        for inner in part.xreplace(dict(defaults)).atoms(Pow, log)
        if STEP in inner.args[0].free_symbols
    ]
    return min((step for step in found if step is not None), default=None)


def _is_exponential(base: Expr, defaults: Mapping[Symbol, Rational]) -> bool:
    """Whether a power with the step above stays in it, as ``1 - beta**(n + 1)`` does but for beta = 0 or 1."""
    powers = [power for power in base.atoms(Pow) if STEP in power.exp.free_symbols]
    values = (power.base if power.base.is_Rational else defaults.get(power.base, S.One) for power in powers)
    return any(value not in (S.Zero, S.One) for value in values)


def _zero_or_negative(part: Expr) -> int | None:
    inner = part.args[0]
    exponent = part.exp if isinstance(part, Pow) else Rational(-1, 2)
    rational = isinstance(exponent, Rational) and inner.is_rational_function(STEP)
    if not rational or inner.free_symbols != {STEP}:
        return None
    above, below = (Poly(each, STEP) for each in fraction(together(inner)))
    if not (above.domain.is_QQ or above.domain.is_ZZ):
        return None
    steps = []
    if exponent < 0:
        steps += [int(root) for root in above.ground_roots() if root.is_Integer and root >= 0]
    if exponent.q % 2 == 0:
        negative = _first_negative(above * below)
        steps += [] if negative is None else [negative]
    return min(steps, default=None)


def _first_negative(polynomial: Poly) -> int | None:
    """A step at which the polynomial is below zero: among the first ones, or far out by its leading coefficient."""
    for step in range(TRIED_STEPS):
        if polynomial(step) < 0:
            return step
    if polynomial.LC() < 0 and polynomial.degree() > 0:
        for doubling in range(MOST_DOUBLINGS):
            if polynomial(TRIED_STEPS << doubling) < 0:
                return TRIED_STEPS << doubling
    return None
