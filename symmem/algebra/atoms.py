"""The atoms of every formula, how they are built, and their kinds; every room above imports them from here.

Vectors of R^d with entrywise products are a commutative algebra, so ordinary SymPy expressions model
entrywise formulas: one symbol for theta, one for the gradient (mathematics.md section 3).

    theta, grad, m1, m2, ...        vectors, multiplied and mapped entry by entry
    D2L(v), D3L(u, v), ...          the loss's derivative tensors contracted with vectors: a vector
    gradK(x), gradK_jvp(x, v), ...  an opaque vector function and its derivative along v: a vector
    total(x)                        the sum of the entries of x: a scalar
    dot(x, y), polar(x), ...        functions of a whole parameter tensor: see :mod:`symmem.algebra.tensor_heads`
    slot(0), slot(1), ...           a constant vector, the place of a direction
    everything else                 scalars: parameters, lr, n, s, loss

What each function is stands in :mod:`symmem.algebra.heads`.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Add, Expr, Integer
from sympy.core.function import AppliedUndef

from symmem.algebra.families import SLOT, TOTAL, contraction_head, opaque_head
from symmem.algebra.heads import HEADS
from symmem.algebra.symbols import (
    AGO,
    CONTRACTION_NAME,
    GRAD,
    LOSS,
    LR,
    MOMENTUM_NAME,
    PAST,
    POTENTIAL_NAME,
    STEP,
    THETA,
    Kind,
    momentum_symbol,
    name_and_directions,
)
from symmem.algebra.tensor_heads import SUM_TENSORS

__all__ = [
    "AGO",
    "CONTRACTION_NAME",
    "GRAD",
    "LOSS",
    "LR",
    "MOMENTUM_NAME",
    "PAST",
    "STEP",
    "THETA",
    "TOTAL",
    "Kind",
    "contraction",
    "contraction_order",
    "is_constant",
    "is_contraction",
    "is_scalar",
    "kind",
    "momentum_symbol",
    "moves_with_theta",
    "opaque_derivative",
    "opaque_parts",
    "over_tensors",
    "slot",
    "split_scalar",
    "terms_of",
    "total",
]


def kind(expression: Expr) -> Kind:
    """SCALAR, ENTRYWISE (entry i depends on the entries i of theta and grad), or TENSOR (mixes entries)."""
    return HEADS.kind(expression)


def is_scalar(expression: Expr) -> bool:
    """Whether the expression is one number, not a vector."""
    return HEADS.kind(expression) is Kind.SCALAR


@lru_cache(maxsize=4096)
def moves_with_theta(scalar: Expr) -> bool:
    """Whether a scalar is no constant: the loss, or a total of something."""
    return LOSS in scalar.free_symbols or bool(scalar.has(TOTAL, SUM_TENSORS))


def is_constant(expression: Expr) -> bool:
    """A scalar that is one number for all theta: not the loss, not a total such as the norm of the whole gradient."""
    return is_scalar(expression) and not moves_with_theta(expression)


def split_scalar(expression: Expr) -> tuple[Expr, Expr]:
    """``(c, v)`` with ``expression = c * v``, c the product of the scalar factors."""
    return HEADS.split_scalar(expression)


def contraction(*vectors: Expr) -> Expr:
    """``D^(k+1) L [v_1, ..., v_k]``: a vector, symmetric, linear over scalars (not over vectors)."""
    return HEADS.applied(contraction_head(len(vectors) + 1), vectors) if vectors else GRAD


def total(vector: Expr) -> Expr:
    """The sum of the entries of a vector: a scalar, linear over scalars."""
    return HEADS.applied(HEADS.by_name["total"], (vector,))


def over_tensors(uniform: Expr) -> Expr:
    """The sum over the parameter tensors of one number for each."""
    return HEADS.applied(HEADS.by_name["sum_tensors"], (uniform,))


def slot(position: int) -> Expr:
    """A constant vector to every rule of the algebra: the place of the direction with this position."""
    return SLOT(Integer(position))


def opaque_derivative(name: str, point: Expr, *directions: Expr) -> Expr:
    """The derivative of the opaque function ``name`` at ``point`` along the directions."""
    return HEADS.applied(opaque_head(name, len(directions)), (point, *directions))


def opaque_parts(atom: AppliedUndef) -> tuple[str, Expr, tuple[Expr, ...]]:
    """``(name, point, directions)`` of an opaque function or of its derivative."""
    return name_and_directions(atom.func.__name__)[0], atom.args[0], atom.args[1:]


def potential_parts(atom: Expr) -> tuple[str, Expr] | None:
    """``(name, point)`` of ``name_potential(point)``, the scalar whose gradient an opaque function is; else None."""
    match = POTENTIAL_NAME.fullmatch(atom.func.__name__)
    return (match.group(1), atom.args[0]) if match and atom.args else None


def is_contraction(expression: Expr) -> bool:
    """Whether it is ``DkL(...)``: a tensor whose point is theta itself."""
    head = HEADS.of(expression)
    return head is not None and head.moves_with_theta


def contraction_order(expression: Expr) -> int:
    """The k of ``DkL(...)``; 0 for all else."""
    return len(expression.args) + 1 if is_contraction(expression) else 0


def terms_of(expression: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; anything else is its only term."""
    return Add.make_args(expression)
