"""The functions of vectors: the tensors of the loss, opaque functions with their derivatives, totals, finite sums.

The other half of the table beside :mod:`symmem.algebra.functions`.  Some of them are families, read from the name:
``D2L, D3L, ...`` and ``gradK, gradK_jvp, gradK_jvp2, ..., gradK_potential`` for any name that the language does not
know.
"""

from __future__ import annotations

from functools import cache

from sympy import Function, Integer, Max, Min, Product, Rational, Sum

from symmem.algebra.head import Head, Scope
from symmem.algebra.symbols import (
    CONTRACTION_NAME,
    POTENTIAL_NAME,
    Kind,
    derivative_name,
    name_and_directions,
)
from symmem.algebra.where import where

TOTAL = Function("total")
SLOT = Function("slot")
RATE = Function("rate")

VECTOR_HEADS = (
    Head("total", TOTAL, Kind.SCALAR, Scope.MODEL, linear_from=0, is_additive=True, degree=Integer(1)),
    Head("Sum", Sum, Kind.ENTRYWISE, Scope.ENTRY, linear_from=0, degree=Integer(1), operands=1, binds=True),
    # A constant vector to every rule of the algebra: the place of a direction.
    Head("slot", SLOT, Kind.TENSOR, Scope.ENTRY, degree=Integer(0), operands=0),
    # Numbers that depend on the step: they stand in b and in a rate, where nothing is differentiated.
    Head("min", Min, Kind.ENTRYWISE, Scope.ENTRY, degree=Integer(1)),
    Head("max", Max, Kind.ENTRYWISE, Scope.ENTRY, degree=Integer(1)),
    Head("where", where, Kind.SCALAR, Scope.ENTRY, operands=0),
    Head("prod", Product, Kind.SCALAR, Scope.ENTRY, operands=0),
    # The rate of a step, where it is left open.
    Head("rate", RATE, Kind.SCALAR, Scope.ENTRY),
)


def of_family(name: str) -> Head:
    """The record of an undefined function, from its name."""
    contraction = CONTRACTION_NAME.fullmatch(name)
    if contraction:
        return contraction_head(int(contraction.group(1)))
    potential = POTENTIAL_NAME.fullmatch(name)
    if potential:
        return potential_head(potential.group(1))
    return opaque_head(*name_and_directions(name))


@cache
def contraction_head(order: int) -> Head:
    """``D^order L [v_1, ..., v_(order-1)]``: linear and symmetric; along theta' = u it is ``D^(order+1) L [.., u]``."""
    return Head(
        f"D{order}L",
        Function(f"D{order}L"),
        Kind.TENSOR,
        Scope.MODEL,
        linear_from=0,
        raised=lambda: contraction_head(order + 1),
        moves_with_theta=True,
        degree=Integer(order - 1),
    )


@cache
def opaque_head(name: str, directions: int = 0, degree: Rational | None = None) -> Head:
    """An opaque vector function, or its derivative along so many directions; ``degree`` where one is declared."""
    full = derivative_name(name, directions)
    return Head(
        full,
        Function(full),
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=1,
        raised=lambda: opaque_head(name, directions + 1, degree),
        degree=degree,
    )


@cache
def potential_head(name: str) -> Head:
    """``K(x)`` of the opaque gradient ``name = grad K``: a scalar that changes by ``total(gradK(x) v)`` along v."""
    return Head(
        f"{name}_potential",
        Function(f"{name}_potential"),
        Kind.SCALAR,
        Scope.MODEL,
        gradient=lambda operands: Function(name)(*operands),
    )
