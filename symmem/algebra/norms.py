"""The norms of a vector, recognised by structure alone; the one place where this is done.

    total(v**2)                 |v|^2                                            gradient in v: 2 v
    total(sqrt(v**2 + eps))     |v|_{1,eps} = sum_i sqrt(v_i^2 + eps)            v / sqrt(v^2 + eps)
    total(|v|)                  |v|_1                                            sign(v), v / |v|

With v = grad L the chain rule gives D2L(f'(grad L)) = grad of sum_i f(d_i L) (mathematics.md section 5), so that a
direction has a named norm when its antiderivative has.  No expression is simplified here: what is not held in one of
these forms has no short name.
"""

from __future__ import annotations

from sympy import Abs, Add, Expr, Integer, Pow, S, Symbol

from symmem.algebra.antiderivatives import antiderivative
from symmem.algebra.atoms import GRAD, Kind, is_scalar, kind, split_scalar
from symmem.records import record


@record(frozen=True)
class NormShape:
    """``norm(vector)^power``, the norm by its index: () Euclid's, (1,), or (1, eps)."""

    vector: Expr
    index: tuple[Expr, ...]
    power: int = 1


def total_shape(summand: Expr) -> NormShape | None:
    """The norm that ``total(summand)`` is, or None."""
    if isinstance(summand, Abs) and kind(summand.args[0]) is not Kind.SCALAR:
        return NormShape(summand.args[0], (S.One,))
    if isinstance(summand, Pow) and summand.exp == 2 and not isinstance(summand.base, (Add, Abs)):
        return NormShape(summand.base, (), 2)
    smoothed = smoothed_absolute(summand)
    if smoothed is not None and _has_a_name(smoothed[1]):
        return NormShape(smoothed[0], (S.One, smoothed[1]))
    return None


def gradient_shape(direction: Expr) -> tuple[Expr, NormShape] | None:
    """``(c, shape)`` with ``D2L(direction) = c * nabla shape(grad L)``, or None."""
    if GRAD not in direction.free_symbols or kind(direction) is not Kind.ENTRYWISE:
        return None
    inner = antiderivative(direction, GRAD)
    scalar, summand = (S.One, S.Zero) if inner is None else split_scalar(inner)
    shape = total_shape(summand)
    return None if shape is None or shape.vector != GRAD else (scalar, shape)


def smoothed_absolute(entry: Expr) -> tuple[Expr, Expr] | None:
    """``(v, offset)`` of ``sqrt(v**2 + offset)``, the offset a scalar; None for all else."""
    if not (isinstance(entry, Pow) and entry.exp == S.Half and isinstance(entry.base, Add)):
        return None
    vectors = [term for term in entry.base.args if not is_scalar(term)]
    if len(vectors) != 1 or not (isinstance(vectors[0], Pow) and vectors[0].exp == 2):
        return None
    return vectors[0].base, entry.base - vectors[0]


def is_size(entry: Expr, vector: Expr) -> bool:
    """Whether ``total(entry)`` is least where the vector is 0: ``|v|``, an even power of v, ``sqrt(v^2 + eps)``."""
    if entry == Abs(vector):
        return True
    base, exponent = entry.as_base_exp()
    if base == vector:
        return isinstance(exponent, Integer) and bool(exponent > 0) and bool(exponent % 2 == 0)
    smoothed = smoothed_absolute(entry)
    return smoothed is not None and smoothed[0] == vector


def _has_a_name(offset: Expr) -> bool:
    return isinstance(offset, Symbol) or bool(offset.is_Rational and offset.is_positive)
