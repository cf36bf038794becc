"""Potentials: scalars whose gradient is a given vector field.

grad sum_i a(d_i L) = D2L(f(grad)) with a' = f entrywise,     grad(grad . theta - loss) = D2L(theta),
grad loss = grad,                                             grad sum_i a(theta_i) = f(theta)
"""

from __future__ import annotations

from sympy import Abs, Add, Expr, Integer, Mul, Pow, S, Symbol, cos, cosh, exp, log, sign, sin, sinh, tanh

from symmem.algebra.atoms import (
    GRAD,
    LOSS,
    THETA,
    TOTAL,
    Kind,
    is_contraction,
    kind,
    split_scalar,
    terms_of,
    total,
)
from symmem.algebra.directional import derivative

_BY_FUNCTION = {
    exp: exp,
    sin: lambda x: -cos(x),
    cos: sin,
    sinh: cosh,
    cosh: sinh,
    tanh: lambda x: log(cosh(x)),
}


def potential(field: Expr) -> tuple[tuple[tuple[Expr, Expr], ...], tuple[Expr, ...]]:
    """``((c_1, p_1), ...), rest``: potentials with constant factors, and the terms for which none was found.

    ``grad (c_1 p_1 + ...) + rest = field``.
    """
    found, rest = [], []
    for term in terms_of(field) if field != 0 else ():
        scalar, vector = split_scalar(term)
        # A scalar that moves with theta is no constant factor.
        moving = scalar.has(TOTAL) or LOSS in scalar.free_symbols
        parts = None if moving else _of_vector(vector)
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
        parts = [_of_hessian_product(term) for term in terms_of(vector.args[0])]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return Add(*(part for part, _ in known)), Add(*(rest for _, rest in known))
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


def antiderivative(function: Expr, variable: Symbol) -> Expr | None:
    """An expression ``a`` with ``da/dx = function`` for one real variable x, or None where no rule finds one."""
    parts = [_antiderivative_of_term(term, variable) for term in terms_of(function)]
    return None if any(part is None for part in parts) else Add(*parts)


def _antiderivative_of_term(term: Expr, x: Symbol) -> Expr | None:
    constant, rest = term.as_independent(x, as_Add=False)
    if rest == 1:
        return constant * x
    if rest in (sign(x), x / Abs(x)):
        return constant * Abs(x)
    base, exponent = rest.as_base_exp()
    if base == x and x not in exponent.free_symbols:
        return constant * (log(Abs(x)) if exponent == -1 else x ** (exponent + 1) / (exponent + 1))
    if rest.func in _BY_FUNCTION:
        slope = derivative(rest.args[0], {x: S.One})
        if x not in slope.free_symbols:
            return constant * _BY_FUNCTION[rest.func](rest.args[0]) / slope
        return None
    return _by_substitution(constant, rest, x)


def _by_substitution(constant: Expr, rest: Expr, x: Symbol) -> Expr | None:
    """``c u' u^q`` for a factor ``u^q``; and ``x / (|x| + c) = d/dx (|x| - c log(|x| + c))``."""
    for factor in Mul.make_args(rest):
        base, exponent = factor.as_base_exp()
        if x in exponent.free_symbols or not isinstance(base, Add):
            continue
        shift = base - Abs(x)
        if exponent == -1 and rest == x * factor and x not in shift.free_symbols:
            return constant * (Abs(x) - shift * log(base))
        ratio = Mul(rest, Pow(factor, Integer(-1)), Pow(derivative(base, {x: S.One}), Integer(-1)))
        if x not in ratio.free_symbols:
            return (
                constant
                * ratio
                * (log(Abs(base)) if exponent == -1 else base ** (exponent + 1) / (exponent + 1))
            )
    return None
