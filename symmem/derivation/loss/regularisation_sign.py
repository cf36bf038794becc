"""The sign of the implicit regularisation: whether memory penalises the size of the gradient, or rewards it.

The modified loss is ``loss + h c R + ...`` with R a norm of the gradient: the sign is that of c (mathematics.md
section 5; for AdamW and Lion the paper, Section 4).  Under a slow rate h is ``h rate(n)``, and rate(n) > 0.
"""

from __future__ import annotations

from sympy import Abs, Expr, Mul, Rational, S

from symmem.algebra.atoms import GRAD, LR, STEP, THETA, TOTAL, moves_with_theta, terms_of, total
from symmem.algebra.families import RATE
from symmem.algebra.norms import is_size
from symmem.algebra.signs import Sign, sign_of
from symmem.algebra.tensor_heads import DOT, NUCLEAR, SUM_TENSORS
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class Regularisation:
    """1: large gradients are penalised; -1: rewarded; 0: memory leaves the loss as it is.

    ``everywhere``: for all parameters in their ranges, or at the declared defaults alone.  ``factor`` is c, or 0, and
    ``norm`` is R.
    """

    sign: int
    everywhere: bool
    factor: Expr = S.Zero
    norm: Expr = S.Zero


def regularisation(method: Method, loss: ModifiedLoss | None) -> Regularisation | None:
    """The sign to first order in h; None where there is no modified loss, or no norm of the gradient in it."""
    if loss is None:
        return None
    per_rate = loss.potential.xreplace({RATE(STEP): S.One})
    change = [term for term in terms_of(per_rate) if LR in term.free_symbols]
    if not change:
        return Regularisation(0, True)
    for term in change:
        found = _factor_of_norm(term, method)
        if found is None or found[0].as_independent(LR)[1] != LR:
            continue
        scalar, norm = found[0] / LR, found[1]
        sign = sign_of(scalar, method.ranges)
        direction = _direction_at_defaults(scalar, method) if sign is None else sign.direction
        return Regularisation(direction, sign is not None, scalar, norm)
    return None


def _factor_of_norm(term: Expr, method: Method) -> tuple[Expr, Expr] | None:
    """c and R of ``c (R + ...)``, where R vanishes, or is least, with the gradient alone."""
    scalars, moving = _split(term)
    if len(moving) != 1:
        return None
    factors: dict[Expr, Expr] = {}
    for part in terms_of(moving[0]):
        inner, norms = _split(part)
        if len(norms) == 1 and _is_norm(norms[0], method):
            factors[norms[0]] = factors.get(norms[0], S.Zero) + Mul(*inner)
    if len(factors) != 1:
        return None
    ((norm, factor),) = factors.items()
    return method.numbers.tidy(Mul(*scalars) * factor / LR) * LR, norm


def _split(term: Expr) -> tuple[list[Expr], list[Expr]]:
    """The factors that are scalars, and those that move with theta."""
    factors = Mul.make_args(term)
    moving = [factor for factor in factors if moves_with_theta(factor)]
    return [factor for factor in factors if factor not in moving], moving


def _is_norm(size: Expr, method: Method) -> bool:
    """A total of non-negative entries, or a sum over tensors of their norms, smoothed or not."""
    if size.func == TOTAL:
        entry = size.args[0]
        base, exponent = entry.as_base_exp()
        if (
            isinstance(base, Abs)
            and _is_gradient(base.args[0])
            and sign_of(exponent, method.ranges) is Sign.POSITIVE
        ):
            return True
        return is_size(entry, GRAD)
    if size.func == SUM_TENSORS:
        return size.args[0] == NUCLEAR(GRAD) or _is_root_of_square(size.args[0], DOT(GRAD, GRAD))
    return _is_root_of_square(size, total(GRAD**2))


def _is_gradient(vector: Expr) -> bool:
    """``grad``, or ``grad + c theta``: the gradient of the loss with its penalty c |theta|^2/2."""
    penalty = (vector - GRAD).as_independent(THETA)
    return vector == GRAD or (penalty[1] == THETA and not moves_with_theta(penalty[0]))


def _is_root_of_square(size: Expr, square: Expr) -> bool:
    """``sqrt(square)``, or ``sqrt(c + square)`` with a scalar c."""
    base, exponent = size.as_base_exp()
    return exponent == Rational(1, 2) and not moves_with_theta(base - square)


def _direction_at_defaults(scalar: Expr, method: Method) -> int:
    value = scalar.xreplace(method.defaults)
    return 0 if value == 0 else 1 if value > 0 else -1
