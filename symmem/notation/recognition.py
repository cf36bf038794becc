"""The norms that have a name, recognised by structure alone; used by structure.py.

    v                        = grad of |v|^2 / 2          with respect to v
    v / sqrt(v^2 + eps)      = grad of |v|_{1,eps}        |v|_{1,eps} = sum_i sqrt(v_i^2 + eps)
    sign(v), v / |v|         = grad of |v|_1

With v = grad L the chain rule gives D2L(f'(grad L)) = grad of f(grad L).  No expression is simplified here:
what is not held in one of these forms has no short name.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Abs, Add, Expr, Mul, Pow, Rational, S, Symbol, sign

from symmem.algebra.atoms import GRAD, Kind, is_scalar, kind


@dataclass(frozen=True)
class NormShape:
    """`norm(vector)^power`, the norm by its index: () Euclid's, (1,), or (1, eps)."""

    vector: Expr
    index: tuple[Expr, ...]
    power: int = 1


def _offset(base: Expr, vector: Expr) -> Expr | None:
    """eps, if the base is `vector**2 + eps` with a symbol or a positive number."""
    if not isinstance(base, Add) or len(base.args) != 2:
        return None
    rest = [term for term in base.args if term != vector**2]
    if len(rest) != 1:
        return None
    offset = rest[0]
    named = (isinstance(offset, Symbol) and is_scalar(offset)) or (offset.is_Rational and offset.is_positive)
    return offset if named else None


def gradient_shape(direction: Expr) -> tuple[Expr, NormShape] | None:
    """`(c, shape)` with `D2L(direction) = c * nabla shape(grad L)`, or None."""
    if direction == GRAD:
        return Rational(1, 2), NormShape(GRAD, (), 2)
    if direction == sign(GRAD) or direction == GRAD / Abs(GRAD):
        return S.One, NormShape(GRAD, (S.One,))
    if isinstance(direction, Mul) and len(direction.args) == 2 and GRAD in direction.args:
        other = direction.args[1] if direction.args[0] == GRAD else direction.args[0]
        if isinstance(other, Pow) and other.exp == Rational(-1, 2):
            offset = _offset(other.base, GRAD)
            if offset is not None:
                return S.One, NormShape(GRAD, (S.One, offset))
    return None


def total_shape(summand: Expr) -> NormShape | None:
    """The norm that `total(summand)` is, or None."""
    if isinstance(summand, Abs) and kind(summand.args[0]) is not Kind.SCALAR:
        return NormShape(summand.args[0], (S.One,))
    if isinstance(summand, Pow) and summand.exp == 2 and not isinstance(summand.base, (Add, Abs)):
        return NormShape(summand.base, (), 2)
    if isinstance(summand, Pow) and summand.exp == Rational(1, 2) and isinstance(summand.base, Add):
        for term in summand.base.args:
            if isinstance(term, Pow) and term.exp == 2 and not is_scalar(term):
                offset = _offset(summand.base, term.base)
                if offset is not None:
                    return NormShape(term.base, (S.One, offset))
    return None
