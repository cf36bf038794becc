"""The modified loss: the memoryless step as a preconditioned gradient step on a changed loss.

    theta <- theta - h P grad Ltilde - h decay theta,      Ltilde = loss + h (...),     P a scalar or a diagonal

Methods linear in the gradient are settled at every order by their trees.  For the others the terms that prevent a
potential are named; where it exists as a small parameter goes to zero, the loss of that limit is given, with the
rate at which the difference vanishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Add, Expr, Mul, S, Symbol, expand_mul, nan, oo, zoo

from symmem.algebra.atoms import GRAD, LOSS, LR, THETA, Kind, is_scalar, kind, split_scalar, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect, distribute
from symmem.algebra.potentials import potential
from symmem.algebra.reals import substituted
from symmem.algebra.scalars import Scalars
from symmem.derivation.expansion import Expansion, Numbers, Term, expansion
from symmem.derivation.integrability import Obstruction, gradient_gain, potential_of_order
from symmem.method.method import Method

EXACT = "exact"


@dataclass(frozen=True)
class ModifiedLoss:
    """``theta <- theta - h P grad(potential) - h decay theta`` is the memoryless step to the order in h.

    ``regime`` is "exact", or the limit in which this holds, such as "eps -> 0"; ``rate`` is then the order in
    that parameter, such as "O(eps)", of the difference between the two steps where no entry of grad is 0.
    """

    potential: Expr
    preconditioner: Expr
    regime: str = EXACT
    decay: Expr = S.Zero
    rate: str | None = None


def modified_loss(method: Method, order: int) -> ModifiedLoss | Obstruction:
    """The modified loss of the memoryless iteration to the given power of h, or what prevents it."""
    gain = gradient_gain(method)
    series = expansion(method, order)
    if gain is not None:
        return _by_trees(series, order, gain, lambda term: term.step)
    return _by_terms(method, [series.memoryless(j) for j in range(order + 1)])


def modified_flow_loss(method: Method, order: int) -> ModifiedLoss | Obstruction:
    """The loss whose gradient flow ``theta' = -P grad Lhat`` is the modified equation, or what prevents it."""
    gain = gradient_gain(method)
    series = expansion(method, order)
    if gain is not None:
        return _by_trees(series, order, gain, lambda term: tuple((x, -share) for x, share in term.flow))
    return _by_terms(method, [-series.modified_equation(j) for j in range(order + 1)])


def _by_trees(
    series: Expansion, order: int, gain: Expr, numbers: Callable[[Term], Numbers]
) -> ModifiedLoss | Obstruction:
    parts: list[Expr] = [LOSS]
    for j in range(1, order + 1):
        found = potential_of_order(series, j, [numbers(term) for term in series.terms[j]], gain)
        if isinstance(found, Obstruction):
            return found
        parts.append(LR**j * found)
    return ModifiedLoss(Add(*parts), gain)


def _by_terms(method: Method, fields: list[Expr]) -> ModifiedLoss | Obstruction:
    scalars = method.numbers
    exact = _attempt(fields, EXACT, scalars)
    if isinstance(exact, ModifiedLoss):
        return exact
    occurring = frozenset(symbol for field in fields for symbol in field.free_symbols)
    for parameter in method.parameters:
        small = Symbol(parameter.name)
        may_vanish = parameter.range.lower == 0 and parameter.range.lower_open and small not in scalars.decays
        if not (may_vanish and small in occurring):
            continue
        limits = [_at_zero(field, small, scalars) for field in fields]
        if any(limit.has(nan, zoo, oo) for limit in limits):
            continue
        settled = _attempt(limits, f"{small} -> 0", scalars, _rate(fields, small))
        if isinstance(settled, ModifiedLoss):
            return settled
        if settled.order > exact.order:
            exact = replace(settled, reason=f"also in the limit {small} -> 0, {settled.reason}")
    return exact


def _attempt(
    fields: list[Expr], regime: str, scalars: Scalars, rate: str | None = None
) -> ModifiedLoss | Obstruction:
    update, *corrections = fields
    preconditioner, decay = preconditioner_of(update, scalars)
    if preconditioner is None:
        return Obstruction(
            "the update is not the gradient times a scalar or a diagonal factor", terms_of(update), 0
        )
    whole: Expr = LOSS
    if is_scalar(preconditioner):
        # A constant factor keeps gradients gradients, so the decay can go into the loss.
        base, rest = potential(distribute(collect(update / preconditioner, scalars)))
        if rest:
            return Obstruction("no potential was found for these terms of the update", rest, 0)
        whole, decay = _added(base, scalars), S.Zero
    for order, correction in enumerate(corrections, start=1):
        if not is_scalar(preconditioner):
            correction, more_decay = _without_decay(correction)
            decay = decay + LR**order * more_decay
        change, more = potential(distribute(group([correction / preconditioner], scalars)))
        if more:
            terms = tuple(collect(term * preconditioner, scalars) for term in more)
            reason = "divided by the preconditioner of the update, these terms are no gradient"
            if order > 1:
                reason = "no potential was found for these terms divided by the preconditioner of the update"
            return Obstruction(reason, terms, order)
        whole = whole + LR**order * _added(change, scalars)
    return ModifiedLoss(whole, preconditioner, regime, decay, rate)


def _added(parts: tuple[tuple[Expr, Expr], ...], scalars: Scalars) -> Expr:
    """``c_1 p_1 + c_2 p_2 + ...`` with the common factor in front, so that what cancels does."""
    if not parts:
        return S.Zero
    factors = [scalar for scalar, _ in parts]
    content = factors[0] if len(factors) == 1 else scalars.content(factors)
    inner = Add(*(scalars.ratio(scalar, content) * part for scalar, part in parts))
    return Mul(content, expand_mul(inner))


def preconditioner_of(update: Expr, scalars: Scalars) -> tuple[Expr | None, Expr]:
    """``(P, decay)`` with ``update = P grad + decay theta``; P is None where there is no diagonal one."""
    rest, decay = _without_decay(update)
    forced = [term for term in terms_of(rest) if GRAD in term.free_symbols]
    factor = collect(Add(*(term / GRAD for term in forced)), scalars)
    if not forced or kind(factor) is Kind.TENSOR or THETA in factor.free_symbols:
        return None, S.Zero
    if len(forced) < len(terms_of(rest)) and not is_scalar(factor):
        return None, S.Zero
    return factor, decay


def _without_decay(field: Expr) -> tuple[Expr, Expr]:
    """``(rest, decay)`` with ``field = rest + decay theta``."""
    decay: list[Expr] = []
    rest: list[Expr] = []
    for term in terms_of(distribute(field)):
        scalar, vector = split_scalar(term)
        if vector == THETA:
            decay.append(scalar)
        else:
            rest.append(term)
    return Add(*rest), Add(*decay)


def _at_zero(expression: Expr, small: Symbol, scalars: Scalars) -> Expr:
    return group([substituted(expression, {small: S.Zero})], scalars)


def _rate(fields: list[Expr], small: Symbol) -> str | None:
    """``O(small)`` where the step is differentiable in the small parameter at 0, off the zeros of grad."""
    step = Add(*(LR**order * field for order, field in enumerate(fields)))
    slope = substituted(derivative(step, {small: S.One}), {small: S.Zero})
    return None if slope.has(nan, zoo, oo) else f"O({small})"
