"""Differences that are known to be large: ``u - c`` in a branch that is taken where ``u > k``.

RAdam's ``sqrt((rho - 4)(rho - 2)/rho)`` is taken for rho > 5.  With rho a sum of one sign, ``rho - 4`` loses no digit
to speak of: ``|rho| + 4 < 9 (rho - 4)``.  Multiplied out, it would be a difference of large numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Ge, Gt, Le, Lt, Rational
from sympy.logic.boolalg import And, Boolean

from symmem.algebra.scalars import Scalars
from symmem.records import record

MOST_LOSS = 16
"""So much larger may the terms be than their difference: four bits."""


@record(frozen=True)
class Above:
    """``number > least`` holds."""

    number: Expr
    least: Rational


def known_above(condition: Boolean) -> Iterator[Above]:
    """What a condition says of numbers that lie above a positive constant."""
    if isinstance(condition, And):
        for part in condition.args:
            yield from known_above(part)
    elif isinstance(condition, (Gt, Ge, Lt, Le)) and condition.lts.is_Rational and condition.lts > 0:
        yield Above(condition.gts, condition.lts)


def difference(number: Expr, known: tuple[Above, ...], numbers: Scalars) -> tuple[Expr, Rational] | None:
    """``(u, c)`` with ``number = u - c``, c >= 0, where it is known that this difference keeps its digits."""
    for each in known if isinstance(number, Add) else ():
        gap = numbers.tidy(each.number - number)
        if gap.is_Rational and gap >= 0 and each.least + gap <= MOST_LOSS * (each.least - gap):
            return each.number, gap
    return None
