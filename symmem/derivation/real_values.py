"""Where an update has real values: roots, powers and logarithms of what is below 0 have none.

``sqrt(-1 - m1**2)`` has none at any gradient: there is no update, and a reason.  ``sqrt(m1)``, ``log(m1)`` and
``m1**(1/3)`` have one where the entry of m1 is not below 0, and that is said; ``sign(m1)*abs(m1)**(1/3)`` has one
everywhere, and so has ``sqrt(m2)`` where m2 averages squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy import Expr, Integer, Pow, Rational, preorder_traversal
from sympy import log as logarithm

from symmem.algebra.atoms import GRAD, STEP, THETA, is_scalar, moves_with_theta
from symmem.algebra.ranges import bounds
from symmem.algebra.signs import at_values
from symmem.derivation.gains import Gains, at_frozen_point
from symmem.method.method import Method

_ENTRIES = tuple(Rational(sign * size, 1000) for size in (1, 700, 3000, 100_000) for sign in (1, -1))
"""Entries of a gradient, of parameters: small and large, of both signs."""


def root_argument(part: Expr) -> Expr | None:
    """What must not be below 0 for ``part`` to be real: the base of a power that is not whole, or of a logarithm."""
    if isinstance(part, Pow):
        return None if isinstance(part.exp, Integer) or part.base.is_positive else part.base
    return part.args[0] if isinstance(part, logarithm) else None


def falls_below_zero(inner: Expr, method: Method, values: Gains) -> bool:
    """Whether it is seen below 0 on a constant history, entry by entry: a witness at the default values."""
    frozen = at_frozen_point(inner, method, values).xreplace(dict(method.defaults))
    places = product(
        _ENTRIES, _ENTRIES if frozen.has(THETA) else _ENTRIES[:1], range(3 if frozen.has(STEP) else 1)
    )
    for gradient, parameter, step in places:
        at = frozen.xreplace({GRAD: gradient, THETA: parameter, STEP: Integer(step)})
        if at.is_number and at.is_negative:
            return True
    return False


def never_real(expression: Expr, method: Method, values: Gains) -> Iterator[tuple[Expr, str]]:
    """The parts that have no real value on any constant history but where their argument is 0, and for which values.

    The ranges of the parameters say so, or their defaults do: then the optimizer as declared has no update.
    """
    everywhere = ((method.ranges, ""), (at_values(method.defaults), " at the default values"))
    for part in preorder_traversal(expression):
        inner = root_argument(part) if isinstance(part, Expr) else None
        if inner is None or (is_scalar(inner) and not moves_with_theta(inner)):
            continue
        frozen = at_frozen_point(inner, method, values)
        where = [words for ranges, words in everywhere if bounds(frozen, ranges).upper <= 0]
        if frozen != 0 and where:
            yield part, where[0]
