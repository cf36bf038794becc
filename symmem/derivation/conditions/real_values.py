"""Where an update has real values: roots, powers and logarithms of what is below 0 have none.

``sqrt(-1 - m1**2)`` has none at any gradient: there is no update, and a reason.  ``sqrt(m1)``, ``log(m1)`` and
``m1**(1/3)`` have one where the entry of m1 is not below 0, and that is said; ``sign(m1)*abs(m1)**(1/3)`` has one
everywhere, and so has ``sqrt(m2)`` where m2 averages squares.

A number in the update, as ``sqrt(c) m1`` has, is real by an assumption on c, or by the ranges; at the default values it
has to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from sympy import Expr, Integer, Pow, Rational, Symbol, preorder_traversal
from sympy import log as logarithm

from symmem.algebra.atoms import GRAD, STEP, THETA, is_scalar, moves_with_theta
from symmem.algebra.intervals import Interval
from symmem.algebra.ranges import bounds
from symmem.algebra.signs import at_values
from symmem.derivation.gains import Gains, at_frozen_point
from symmem.method.method import Method

_ENTRIES = tuple(Rational(sign * size, 1000) for size in (1, 700, 3000, 100_000) for sign in (1, -1))
"""Entries of a gradient, of parameters: small and large, of both signs."""


_STEPS = tuple(map(Integer, (0, 1, 2, 10, 1000)))


def root_argument(part: Expr, defaults: Mapping[Symbol, Expr]) -> Expr | None:
    """What must not be below 0 for ``part`` to be real: the base of a power that is not whole, or of a logarithm.

    ``x**p`` with the default ``p = 2`` is real.
    """
    if isinstance(part, Pow):
        exponent = part.exp.xreplace(dict(defaults))
        is_whole = all(isinstance(exponent.xreplace({STEP: step}), Integer) for step in _STEPS)
        return None if is_whole or part.base.is_positive else part.base
    return part.args[0] if isinstance(part, logarithm) else None


def falls_below_zero(inner: Expr, method: Method, values: Gains) -> bool:
    """Whether it is seen below 0 on a constant history, entry by entry: a witness at the default values."""
    frozen = at_frozen_point(inner, method, values).xreplace(dict(method.defaults))
    places = product(
        _ENTRIES,
        _ENTRIES if frozen.has(THETA) else _ENTRIES[:1],
        _STEPS if frozen.has(STEP) else _STEPS[:1],
    )
    for gradient, parameter, step in places:
        at = frozen.xreplace({GRAD: gradient, THETA: parameter, STEP: step})
        if at.is_number and at.is_negative:
            return True
    return False


def never_real(expression: Expr, method: Method, values: Gains) -> Iterator[tuple[Expr, str]]:
    """The parts that have no real value on any constant history but where their argument is 0, and for which values.

    The ranges of the parameters say so, or their defaults do: then the optimizer as declared has no update.
    """
    defaults = at_values(method.defaults)
    for part, inner in _roots(expression, method):
        frozen = at_frozen_point(inner, method, values)
        at_defaults = bounds(frozen, defaults).upper
        if _is_number(inner):
            where = [" at the default values"] if at_defaults < 0 else []
        else:
            everywhere = ((bounds(frozen, method.ranges).upper, ""), (at_defaults, " at the default values"))
            where = [words for upper, words in everywhere if upper <= 0]
        if frozen != 0 and where:
            yield part, where[0]


def real_where(expression: Expr, method: Method) -> Iterator[tuple[Expr, str]]:
    """The numbers that have to be not below 0, or above it, where the ranges do not say that they are."""
    for part, inner in _roots(expression, method):
        if _is_number(inner) and STEP not in inner.free_symbols:
            interval: Interval = bounds(inner, method.ranges)
            if isinstance(part, logarithm):
                if not interval.is_positive:
                    yield inner, " is above 0"
            elif not interval.is_nonnegative:
                yield inner, " is not below 0"


def _roots(expression: Expr, method: Method) -> Iterator[tuple[Expr, Expr]]:
    """Roots, powers and logarithms, each with what must not be below 0."""
    for part in preorder_traversal(expression):
        inner = root_argument(part, method.defaults) if isinstance(part, Expr) else None
        if inner is not None:
            yield part, inner


def _is_number(inner: Expr) -> bool:
    return is_scalar(inner) and not moves_with_theta(inner)
