"""The exact numbers of one method: the field that its gains, weights and coefficients are computed in."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Mul, Rational, Symbol

from symmem.algebra.exponential import exponential_field
from symmem.algebra.scalars import Scalars
from symmem.declaration.interval import Interval
from symmem.declaration.records import Parameter
from symmem.method.kernel import Kernel


def scalars_of(parameters: Iterable[Parameter], kernels: Iterable[Kernel], phi: Expr) -> Scalars:
    """The scalars in which the method's gains, weights and coefficients are computed."""
    ranges = {Symbol(parameter.name): parameter.range for parameter in parameters}
    expressions: list[Expr] = list(ranges)
    bases: list[Expr] = []
    for kernel in kernels:
        expressions += kernel.expressions
        bases += kernel.decays
    expressions.append(phi)
    field = exponential_field(expressions)
    known = {symbol for symbol, interval in ranges.items() if _within_unit(interval)}
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
