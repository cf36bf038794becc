"""The exact numbers of one method: the field that its gains, weights and coefficients are computed in."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Mul, Symbol, exp

from symmem.algebra.exponential import exponential_field
from symmem.algebra.limits import exponential_slope
from symmem.algebra.ranges import bounds
from symmem.algebra.scalars import Scalars
from symmem.algebra.signs import is_positive
from symmem.declaration.records import Parameter, VectorFunction
from symmem.method.kernel import Kernel


def scalars_of(
    parameters: Iterable[Parameter],
    kernels: Iterable[Kernel],
    others: Iterable[Expr],
    functions: Iterable[VectorFunction] = (),
) -> Scalars:
    """The scalars in which gains, weights and coefficients are computed; ``others``: Phi, the g's, a rate."""
    ranges = {Symbol(parameter.name): parameter.range for parameter in parameters}
    expressions: list[Expr] = list(ranges)
    bases: list[Expr] = []
    for kernel in kernels:
        expressions += kernel.expressions
        bases += kernel.decays
    expressions += others
    field = exponential_field(expressions)
    factors = [factor for base in bases for factor in Mul.make_args(base)]
    vanishing = {base for base in (*field.bases, *factors) if bounds(base, ranges).is_within_unit}
    slopes = {exponential_slope(part) for each in expressions for part in each.atoms(exp)}
    vanishing |= {exp(slope) for slope in slopes if slope is not None and is_positive(-slope, ranges)}
    vanishing |= {1 / base for base in field.bases if bounds(1 / base, ranges).is_within_unit}
    vanishing |= set(bases)  # by assumption, where their ranges do not tell it
    degrees = tuple((each.name, each.degree) for each in functions if each.degree is not None)
    return Scalars(field, frozenset(vanishing), tuple(ranges.items()), degrees)
