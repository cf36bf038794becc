"""The sign of the implicit regularisation: whether memory penalises the size of the gradient, or rewards it.

The modified loss is ``loss + h c R + ...`` with R a norm of the gradient: the sign is that of c (mathematics.md
section 5; for AdamW and Lion the paper, Section 4).
"""

from __future__ import annotations

from sympy import Expr, Mul

from symmem.algebra.atoms import GRAD, LR, TOTAL, moves_with_theta, terms_of
from symmem.algebra.norms import is_size
from symmem.algebra.signs import sign_of
from symmem.derivation.verdicts import ModifiedLoss
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
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
            sign = sign_of(scalar, method.ranges)
            return _at_defaults(scalar, method) if sign is None else Regularisation(sign.direction, True)
    return None


def _factor_of_norm(term: Expr) -> Expr | None:
    """c of ``c (norm + ...)``, the norm a total of non-negative entries that vanishes with the gradient alone."""
    factors = Mul.make_args(term)
    moving = [factor for factor in factors if moves_with_theta(factor)]
    if len(moving) != 1:
        return None
    for part in terms_of(moving[0]):
        number, rest = part.as_coeff_Mul()
        if rest.func == TOTAL and is_size(rest.args[0], GRAD):
            return Mul(number, *(factor for factor in factors if factor is not moving[0]))
    return None


def _at_defaults(scalar: Expr, method: Method) -> Regularisation:
    value = scalar.xreplace(method.defaults)
    return Regularisation(0 if value == 0 else 1 if value > 0 else -1, False)
