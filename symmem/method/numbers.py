"""The exact numbers of one optimizer: the field that its gains, weights and coefficients are computed in."""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr, Mul, Rational, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.exponential import exponential_field
from symmem.algebra.scalars import Scalars
from symmem.declaration.interval import Interval
from symmem.declaration.optimizer import Optimizer


@lru_cache(maxsize=256)
def scalars_of(optimizer: Optimizer) -> Scalars:
    """The scalars in which the optimizer's gains, weights and coefficients are computed."""
    expressions: list[Expr] = [Symbol(parameter.name) for parameter in optimizer.parameters]
    bases: list[Expr] = []
    for variable in optimizer.momentum:
        expressions += [variable.b, variable.b.xreplace({STEP: PAST})]
        if variable.beta != 0:
            expressions.append(variable.beta**STEP)
            bases.append(variable.beta)
    expressions.append(optimizer.phi)
    field = exponential_field(expressions)
    known = {Symbol(p.name) for p in optimizer.parameters if _within_unit(p.range)}
    vanishing = {base for base in field.bases if base in known or base in bases or _is_fraction(base)}
    vanishing |= {
        factor for base in bases for factor in Mul.make_args(base) if _is_fraction(factor) or factor in known
    }
    return Scalars(field, frozenset(vanishing))


def _within_unit(interval: Interval) -> bool:
    """Whether the range lies in [0, 1)."""
    return bool(interval.lower >= 0) and bool(
        interval.upper < 1 or (interval.upper == 1 and interval.upper_open)
    )


def _is_fraction(base: Expr) -> bool:
    return isinstance(base, Rational) and 0 <= base < 1
