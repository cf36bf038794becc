"""Potentials: scalars whose gradient is a given vector field, found term by term (mathematics.md section 5).

grad sum_i a(d_i L) = D2L(f(grad)) with a' = f entrywise,     grad(grad . theta - loss) = D2L(theta),
grad loss = grad,                                             grad sum_i a(theta_i) = f(theta)
"""

from __future__ import annotations

from sympy import Add, Expr, S

from symmem.algebra.antiderivatives import antiderivative
from symmem.algebra.atoms import (
    GRAD,
    LOSS,
    THETA,
    Kind,
    is_contraction,
    kind,
    moves_with_theta,
    split_scalar,
    terms_of,
    total,
)
from symmem.algebra.directional import derivative
from symmem.algebra.every import every


def potential(field: Expr) -> tuple[tuple[tuple[Expr, Expr], ...], tuple[Expr, ...]]:
    """``((c_1, p_1), ...), rest``: potentials with constant factors, and the terms for which none was found.

    ``grad (c_1 p_1 + ...) + rest = field``.

    >>> from symmem.algebra.atoms import contraction
    >>> potential(GRAD + contraction(GRAD))
    (((1, loss), (1, total(grad**2)/2)), ())
    """
    found, rest = [], []
    for term in terms_of(field) if field != 0 else ():
        scalar, vector = split_scalar(term)
        # A scalar that moves with theta is no constant factor.
        parts = None if moves_with_theta(scalar) else _of_vector(vector)
        if parts is None:
            rest.append(term)
        else:
            found.append((scalar, parts[0]))
            if parts[1] != 0:
                rest.append(scalar * parts[1])
    left = Add(*rest)
    return tuple(found), () if left == 0 else terms_of(left)


def _of_vector(vector: Expr) -> tuple[Expr, Expr] | None:
    """``(p, rest)`` with ``grad p + rest = vector``, or None."""
    if vector == GRAD:
        return LOSS, S.Zero
    if kind(vector) is not Kind.TENSOR and GRAD not in vector.free_symbols:
        inner = antiderivative(vector, THETA)
        return None if inner is None else (total(inner), S.Zero)
    if is_contraction(vector) and len(vector.args) == 1:
        parts = every(_of_hessian_product(term) for term in terms_of(vector.args[0]))
        if parts is not None:
            return Add(*(part for part, _ in parts)), Add(*(rest for _, rest in parts))
    return None


def _of_hessian_product(direction: Expr) -> tuple[Expr, Expr] | None:
    """``(p, rest)`` for ``D2L(direction)``, one term of a direction.

    ``D2L(f(theta)) = grad(grad . f(theta)) - grad f'(theta)``, whose last part may cancel against another term.
    """
    scalar, vector = split_scalar(direction)
    if vector == THETA:
        return scalar * (total(GRAD * THETA) - LOSS), S.Zero
    if kind(vector) is Kind.TENSOR:
        return None
    if GRAD not in vector.free_symbols:
        return scalar * total(GRAD * vector), -scalar * GRAD * derivative(vector, {THETA: S.One})
    inner = antiderivative(vector, GRAD) if THETA not in vector.free_symbols else None
    return None if inner is None else (scalar * total(inner), S.Zero)
