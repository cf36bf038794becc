"""Rates and gains that are known to grow without bound: the theorem asks for updates that do not (section 2).

``b = n + 1`` and the rate ``(1 - n/100)**2``, which is meant for the first 100 steps alone.  What only may grow is an
assumption; of what does grow nothing is assumed, and how close the iteration of step n stays is not known.

``(-1)**n (n + 1)`` grows at the even steps and at the odd ones; one of the two is enough.  ``n**p`` may grow, and with
the default ``p = 1/2`` it does: then the optimizer as declared grows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Integer, Pow, Product, oo

from symmem.algebra.atoms import STEP
from symmem.algebra.limits import known_limit
from symmem.algebra.results import Part, Sentence, Unknown
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import gains, unsettled
from symmem.method.method import Method

_GROWS = "grows without bound"
_FAR, GROWTH = (Integer(100), Integer(10_000)), 1.5
"""A logarithm doubles between these steps."""


def growth(scalar: Expr, method: Method) -> str | None:
    """How the scalar, of either sign, is known to be unbounded: always, or at the default values; or None."""
    if STEP not in scalar.free_symbols:
        return None
    parts = list(_by_parity(scalar))
    if any(_is_infinite(part, method.numbers) for part in parts):
        return _GROWS
    at_defaults = [(part, part.xreplace(method.defaults)) for part in parts]
    return (
        f"{_GROWS} at the default values" if any(_may_grow(*pair, method) for pair in at_defaults) else None
    )


def _is_infinite(scalar: Expr, numbers: Scalars) -> bool:
    return STEP in scalar.free_symbols and known_limit(scalar, numbers) in (oo, -oo)


def _may_grow(scalar: Expr, at_defaults: Expr, method: Method) -> bool:
    """By the values at the defaults, or by ``1/scalar -> 0`` for most values of the parameters, and far steps at these.

    ``1/(n a)**2 -> 0``, but for ``a = 0``.
    """
    if _is_infinite(at_defaults, method.numbers):
        return True
    if scalar.has(Product) or known_limit(1 / scalar, method.numbers) != 0:
        return False
    near, far = (abs(at_defaults.subs(STEP, step).evalf()) for step in _FAR)
    return bool(near.is_number and far.is_number and far > GROWTH * near)


def _by_parity(scalar: Expr) -> Iterator[Expr]:
    """The scalar as it is at even steps, and as it is at odd ones, each without powers of negative numbers."""
    powers = [power for power in scalar.atoms(Pow) if power.base.is_negative and _is_whole(power.exp)]
    for step in (Integer(0), Integer(1)) if powers else ():
        signs = {power: (-1) ** power.exp.xreplace({STEP: step}) for power in powers}
        yield scalar.xreplace({power: sign * (-power.base) ** power.exp for power, sign in signs.items()})
    if not powers:
        yield scalar


def _is_whole(exponent: Expr) -> bool:
    """Whether it is ``a n + c`` with whole numbers a and c."""
    slope = exponent.coeff(STEP, 1)
    return bool(slope.is_Integer and slope != 0 and (exponent - slope * STEP).expand().is_Integer)


def growing(method: Method) -> Iterator[tuple[Part, ...]]:
    """The rate and the gains that grow, each with its name, and how."""
    if method.rate is not None:
        how = growth(method.rate.factor, method)
        if how is not None:
            yield "the rate ", method.rate.factor, f" {how}"
    if unsettled(method) is not None:
        for gain in gains(method):
            how = growth(gain, method)
            if how is not None:
                yield "the gain ", gain, f" {how}"


def not_bounded(method: Method) -> Iterator[Unknown]:
    """What is not known where something grows."""
    for words in growing(method):
        why = (*words, "; look at no more steps than those for which it is meant")
        yield Unknown(Sentence.of("how close the iteration of step n stays is not known: ", *why))
