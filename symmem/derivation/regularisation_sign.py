"""The sign of the implicit regularisation: whether memory penalises the size of the gradient, or rewards it.

The modified loss is ``loss + h c R + ...`` with R a norm of the gradient: the sign is that of c.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Add, Expr, Mul, Pow, Rational, Symbol

from symmem.algebra.atoms import GRAD, LOSS, LR, TOTAL, terms_of
from symmem.derivation.modified_loss import ModifiedLoss
from symmem.method.method import Method


@dataclass(frozen=True)
class Regularisation:
    """1: large gradients are penalised; -1: rewarded; 0: memory leaves the loss as it is.

    ``everywhere``: for all parameters in their ranges, or at the declared defaults alone.
    """

    sign: int
    everywhere: bool


def regularisation(method: Method, loss: ModifiedLoss | None) -> Regularisation | None:
    """The sign to first order in h; None where there is no modified loss, or no norm of the gradient in it."""
    if loss is None:
        return None
    change = [term for term in terms_of(loss.potential) if LR in term.free_symbols]
    if not change:
        return Regularisation(0, True)
    for term in change:
        factor = _factor_of_norm(term)
        if factor is not None and factor.as_independent(LR)[1] == LR:
            scalar = factor / LR
            sign = _sign(scalar, method)
            return Regularisation(sign, True) if sign else _at_defaults(scalar, method)
    return None


def _factor_of_norm(term: Expr) -> Expr | None:
    """c of ``c (norm + ...)``, the norm a total of non-negative entries that vanishes with the gradient alone."""
    factors = Mul.make_args(term)
    moving = [factor for factor in factors if factor.has(TOTAL) or LOSS in factor.free_symbols]
    if len(moving) != 1:
        return None
    for part in terms_of(moving[0]):
        number, rest = part.as_coeff_Mul()
        if rest.func == TOTAL and _is_size(rest.args[0]):
            return Mul(number, *(factor for factor in factors if factor is not moving[0]))
    return None


def _is_size(entry: Expr) -> bool:
    """Whether an entry is ``|grad|``, an even power of grad, or ``sqrt(grad^2 + eps)``."""
    base, exponent = entry.as_base_exp()
    if base == GRAD:
        return bool(exponent.is_Integer and exponent % 2 == 0 and exponent > 0)
    if exponent == Rational(1, 2) and isinstance(base, Add):
        return GRAD**2 in base.args and all(
            not (part.free_symbols & {GRAD}) for part in base.args if part != GRAD**2
        )
    return entry.func.__name__ == "Abs" and entry.args == (GRAD,)


def _sign(scalar: Expr, method: Method) -> int:
    """1 or -1 where every factor keeps its sign in the ranges of the parameters, else 0."""
    total = 1
    for factor in Mul.make_args(scalar):
        base, exponent = factor.as_base_exp()
        sign = _sign_of_base(base, method)
        total *= sign if exponent.is_Integer and exponent % 2 else abs(sign) if exponent.is_Rational else 0
    return total


def _sign_of_base(base: Expr, method: Method) -> int:
    if base.is_Rational:
        return 1 if base > 0 else -1
    ranges = method.ranges
    if isinstance(base, Symbol):
        return 1 if base in ranges and ranges[base].lower >= 0 else 0
    if isinstance(base, Pow):
        return _sign(base, method)
    if not isinstance(base, Add):
        return 0
    signs = {_sign(term, method) for term in base.args}
    if len(signs) == 1:
        return signs.pop()
    constant, rest = base.as_coeff_Add()
    number, power = rest.as_coeff_Mul()
    below_one = all(
        symbol in ranges and ranges[symbol].lower >= 0 and ranges[symbol].upper <= 1
        for symbol in power.free_symbols
    )
    decays = not isinstance(rest, Add) and all(f.as_base_exp()[1].is_positive for f in Mul.make_args(power))
    return 1 if decays and below_one and constant >= -number > 0 else 0


def _at_defaults(scalar: Expr, method: Method) -> Regularisation:
    value = scalar.xreplace(method.defaults)
    return Regularisation(0 if value == 0 else 1 if value > 0 else -1, False)
