"""The modified loss: the memoryless step as a preconditioned gradient step on a changed loss.

    theta <- theta - h P grad Ltilde - h decay theta,      Ltilde = loss + h (...),     P a scalar or a diagonal

Where the correction is no gradient, the terms that prevent it are named; where it becomes one as a small
parameter goes to zero, the loss of that limit is given, with the rate at which the difference vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Add, Expr, Mul, S, Symbol, expand_mul, nan, oo, zoo

from symmem.algebra.atoms import GRAD, LOSS, LR, THETA, Kind, is_scalar, kind, split_scalar, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.potentials import potential
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.correction import limit_coefficient
from symmem.derivation.gains import frozen_update, limit_gains
from symmem.derivation.grouping import group
from symmem.derivation.passes import collect, distribute
from symmem.derivation.scalars import Scalars, scalars_of

EXACT = "exact"


@dataclass(frozen=True)
class ModifiedLoss:
    """``theta <- theta - h P grad(potential) - h decay theta`` is the memoryless step to first order in h.

    ``regime`` is "exact", or the limit in which this holds, such as "eps -> 0"; ``rate`` is then the order in
    that parameter, such as "O(eps)", of the difference between the two steps where no entry of grad is 0.
    """

    potential: Expr
    preconditioner: Expr
    regime: str = EXACT
    decay: Expr = S.Zero
    rate: str | None = None


@dataclass(frozen=True)
class Obstruction:
    """Why there is no modified loss: the terms that are no gradient, at which order in h, and the reason."""

    reason: str
    terms: tuple[Expr, ...]
    order: int = 1


def modified_loss(optimizer: Optimizer) -> ModifiedLoss | Obstruction:
    """The modified loss to first order in h, or what prevents it."""
    scalars = scalars_of(optimizer)
    update = frozen_update(optimizer, limit_gains(optimizer))
    correction = limit_coefficient(optimizer)
    exact = _attempt(update, correction, EXACT, scalars)
    if isinstance(exact, ModifiedLoss):
        return exact
    for parameter in optimizer.parameters:
        small = Symbol(parameter.name)
        if not (parameter.range.lower == 0 and parameter.range.lower_open):
            continue
        if small not in update.free_symbols | correction.free_symbols:
            continue
        limits = [_at_zero(part, small, scalars) for part in (update, correction)]
        if any(part.has(nan, zoo, oo) for part in limits):
            continue
        settled = _attempt(limits[0], limits[1], f"{small} -> 0", scalars, _rate(update, correction, small, scalars))
        if isinstance(settled, ModifiedLoss):
            return settled
    return exact


def _attempt(
    update: Expr, correction: Expr, regime: str, scalars: Scalars, rate: str | None = None
) -> ModifiedLoss | Obstruction:
    preconditioner, decay = _preconditioner(update, scalars)
    if preconditioner is None:
        return Obstruction("the update is not the gradient times a scalar or a diagonal factor", terms_of(update), 0)
    if is_scalar(preconditioner):
        # A constant factor keeps gradients gradients, so the decay can go into the loss.
        base, rest = potential(distribute(collect(update / preconditioner, scalars)))
        decay = S.Zero
    else:
        base, rest = ((S.One, LOSS),), ()
    change, more = potential(distribute(group([correction / preconditioner], scalars)))
    if rest or more:
        terms = tuple(collect(term * preconditioner, scalars) for term in (*rest, *more))
        return Obstruction("divided by the preconditioner of the update, these terms are no gradient", terms)
    whole = _added(base, scalars) + LR * _added(change, scalars)
    return ModifiedLoss(whole, preconditioner, regime, decay, rate)


def _added(parts: tuple[tuple[Expr, Expr], ...], scalars: Scalars) -> Expr:
    """``c_1 p_1 + c_2 p_2 + ...`` with the common factor in front, so that what cancels does."""
    if not parts:
        return S.Zero
    factors = [scalar for scalar, _ in parts]
    content = factors[0] if len(factors) == 1 else scalars.content(factors)
    inner = Add(*(scalars.ratio(scalar, content) * part for scalar, part in parts))
    return Mul(content, expand_mul(inner))


def _preconditioner(update: Expr, scalars: Scalars) -> tuple[Expr | None, Expr]:
    """``(P, decay)`` with ``update = P grad + decay theta``; P is None where there is no diagonal one."""
    decay, rest = [], []
    for term in terms_of(distribute(update)):
        scalar, vector = split_scalar(term)
        (decay if vector == THETA else rest).append(scalar if vector == THETA else term)
    factor = collect(Add(*(term / GRAD for term in rest)), scalars)
    if not rest or kind(factor) is Kind.TENSOR or THETA in factor.free_symbols:
        return None, S.Zero
    return factor, Add(*decay)


def _at_zero(expression: Expr, small: Symbol, scalars: Scalars) -> Expr:
    return group([expression.xreplace({small: S.Zero})], scalars)


def _rate(update: Expr, correction: Expr, small: Symbol, scalars: Scalars) -> str | None:
    """``O(small)`` where the step is differentiable in the small parameter at 0, off the zeros of grad."""
    slope = derivative(update + LR * correction, {small: S.One})
    at_zero = Mul(slope.xreplace({small: S.Zero}))
    return None if at_zero.has(nan, zoo, oo) else f"O({small})"
