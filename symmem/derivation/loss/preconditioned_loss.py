"""The modified loss of a method that is not linear in the gradient, term by term (mathematics.md section 5).

Each order of the iteration is divided by the preconditioner P of the update; what is left has to be a gradient.

    exactly               P^-1 F_j = grad L_j for every j, so that Ltilde = loss + h L_1 + ...
    as eps -> 0           the same for the limits of the F_j, where eps is a parameter that may be small

Example: AdamW has ``F_1 = c (grad^2 + eps)^(-1/2) D2L(grad/sqrt(grad^2 + eps)) + O(eps)``; its first term over P is
the gradient of ``c |grad|_1``, the others vanish with eps: a modified loss as eps -> 0, with the rate O(eps).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Add, Expr, Max, Min, Mul, Pow, S, Symbol, expand_mul, nan, oo, zoo

from symmem.algebra.atoms import LOSS, LR, THETA, is_scalar, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.gradients import expanded, gradient
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect, distribute
from symmem.algebra.potentials import potential
from symmem.algebra.reals import substituted
from symmem.algebra.results import EXACT, Named, Regime, Sentence
from symmem.algebra.scalars import Scalars
from symmem.algebra.where import where
from symmem.derivation.loss.preconditioner import preconditioner_of, without_decay
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.loss.witness import Witness, witness
from symmem.method.method import Method


def preconditioned_loss(method: Method, fields: list[Expr], letter: str) -> ModifiedLoss | Obstruction:
    """The loss of ``theta <- theta - h (fields[0] + h fields[1] + ...)``, exact or else in the limit of parameters.

    Where there is none, the obstruction is that of the highest order that was reached; it is a denial where the fields
    that reached it have a witness there.  A limit that is no gradient denies the exact loss too: a limit of gradients
    is one.  ``letter`` names the fields in a sentence.
    """
    verdict = _loss_of(fields, EXACT, method.numbers)
    if isinstance(verdict, ModifiedLoss):
        return verdict
    reached, place = fields, Sentence()
    for small in _small_parameters(method, fields):
        values = dict.fromkeys(small, S.Zero)
        limits = [group([substituted(field, values)], method.numbers) for field in fields]
        if any(limit.has(nan, zoo, oo) for limit in limits):
            continue
        regime = Regime(small, _rate(fields, small))
        settled = _loss_of(limits, regime, method.numbers)
        if isinstance(settled, ModifiedLoss):
            return settled
        if settled.order > verdict.order:
            verdict, reached, place = settled, limits, Sentence.of("also in the limit ", regime, ", ")
    seen = _witness(method, reached, verdict.order, letter)
    reason = verdict.reason.parts
    if seen is not None:
        reason = (
            Named(letter, verdict.order), " divided by it is no gradient; no potential was found for these terms of it",
        )  # fmt: skip
    return replace(verdict, reason=Sentence.of(*place.parts, *reason), witness=seen)


def _witness(method: Method, fields: list[Expr], order: int, letter: str) -> Witness | None:
    """A place at which the field of this order is no gradient, for the P of the update and any decay."""
    preconditioner, _ = preconditioner_of(fields[0], method.numbers)
    if preconditioner is None or not method.is_entrywise or order == 0:
        return None
    what = Sentence.of(Named(letter, order), "/", Named("P"))
    return witness(fields[order], preconditioner, method.defaults, what)


def _small_parameters(method: Method, fields: list[Expr]) -> Iterator[tuple[Symbol, ...]]:
    """The parameters that may come as near to zero as one likes, one by one and then together.

    Not the decays, and none that stands in an exponent or in a choice: a limit there changes the method, not its
    safeguard.  That a parameter is a safeguard is told by its range, ``(0, inf)``, or by its place.
    """
    occurring = frozenset(symbol for field in fields for symbol in field.free_symbols)
    others = [power.exp for field in fields for power in field.atoms(Pow)]
    others += [choice for field in fields for choice in field.atoms(Max, Min, where)]
    elsewhere = frozenset(symbol for other in others for symbol in other.free_symbols)
    allowed, guards = occurring - elsewhere - method.numbers.decays, _guards(method)
    found = [
        symbol
        for symbol, interval in method.ranges.items()
        if symbol in allowed and (symbol in guards or (interval.lower == 0 and interval.lower_open))
    ]
    yield from ((symbol,) for symbol in found)
    if len(found) > 1:
        yield tuple(found)


def _guards(method: Method) -> frozenset[Symbol]:
    """What is added to a variable under a root or below a line, above 0 by default: ``eps`` in ``m1/(sqrt(m2) + eps)``.

    Its range may let 0 in, as ``[0, inf)`` does, or may not be given.
    """
    near_zero = {
        symbol
        for symbol, interval in method.ranges.items()
        if interval.lower <= 0 < interval.upper and method.defaults[symbol].is_positive
    }
    parts = (method.phi, *(channel.g for channel in method.channels))
    powers = {power for part in parts for power in part.atoms(Pow)}
    sums = [power.base for power in powers if not (power.exp.is_Integer and power.exp.is_positive)]
    added = {term.as_coeff_Mul()[1] for sum_ in sums if isinstance(sum_, Add) for term in sum_.args}
    return frozenset(near_zero & {term.as_base_exp()[0] for term in added})


def _rate(fields: list[Expr], small: tuple[Symbol, ...]) -> Expr | None:
    """Their sum, where the step is differentiable in them at 0, off the zeros of grad: the rate is O(it)."""
    step = Add(*(LR**order * field for order, field in enumerate(fields)))
    at_zero = dict.fromkeys(small, S.Zero)
    slopes = [substituted(derivative(step, {symbol: S.One}), at_zero) for symbol in small]
    return None if any(slope.has(nan, zoo, oo) for slope in slopes) else Add(*small)


def _loss_of(fields: list[Expr], regime: Regime, scalars: Scalars) -> ModifiedLoss | Obstruction:
    """The loss that these fields, as they are, have with the preconditioner of the first."""
    preconditioner, decay = preconditioner_of(fields[0], scalars)
    if preconditioner is None:
        reason = "no scalar or diagonal factor, a function of the gradient, was found that turns it into the update"
        return Obstruction(Sentence.of(reason), terms_of(fields[0]), 0)
    if is_scalar(preconditioner):
        verdict = _with_scalar(fields, preconditioner, regime, scalars)
    else:
        verdict = _with_diagonal(fields, preconditioner, decay, regime, scalars)
    return _proved(verdict, fields, scalars) if isinstance(verdict, ModifiedLoss) else verdict


def _proved(loss: ModifiedLoss, fields: list[Expr], scalars: Scalars) -> ModifiedLoss | Obstruction:
    """The loss, if ``P grad Ltilde + decay theta`` is the step, order by order: a symbolic zero."""
    decays = (term * THETA for term in terms_of(loss.decay))
    step = loss.preconditioner * expanded(gradient(loss.potential)) + Add(*decays)
    claimed: dict[int, list[Expr]] = {}
    for term in terms_of(expanded(step)):
        order = _power_of_h(term)
        claimed.setdefault(order, []).append(term / LR**order)
    for order, field in enumerate(fields):
        rest = group([*claimed.get(order, ()), -expanded(field)], scalars, merge_products=False)
        if rest != 0:
            reason = "the loss that was found for these terms could not be proved"
            return Obstruction(Sentence.of(reason), terms_of(rest), order)
    return loss


def _power_of_h(term: Expr) -> int:
    return int(term.as_coeff_exponent(LR)[1])


def _with_scalar(
    fields: list[Expr], preconditioner: Expr, regime: Regime, scalars: Scalars
) -> ModifiedLoss | Obstruction:
    """A constant factor keeps gradients gradients, so that a decay goes into the loss."""
    base, rest = potential(distribute(collect(fields[0] / preconditioner, scalars)))
    if rest:
        return Obstruction(Sentence.of("no potential was found for these terms of the update"), rest, 0)
    whole = _added(base, scalars)
    for order, correction in enumerate(fields[1:], start=1):
        change = _change(correction, preconditioner, order, scalars)
        if isinstance(change, Obstruction):
            return change
        whole = whole + LR**order * change
    return ModifiedLoss(whole, preconditioner, regime)


def _with_diagonal(
    fields: list[Expr], preconditioner: Expr, decay: Expr, regime: Regime, scalars: Scalars
) -> ModifiedLoss | Obstruction:
    """A factor that depends on the gradient: what is a scalar times theta stays outside, as a decay."""
    whole: Expr = LOSS
    for order, field in enumerate(fields[1:], start=1):
        correction, more = without_decay(field)
        decay = decay + LR**order * more
        change = _change(correction, preconditioner, order, scalars)
        if isinstance(change, Obstruction):
            return change
        whole = whole + LR**order * change
    return ModifiedLoss(whole, preconditioner, regime, decay)


def _change(correction: Expr, preconditioner: Expr, order: int, scalars: Scalars) -> Expr | Obstruction:
    """The potential of one order of the iteration divided by the preconditioner, or the terms that have none."""
    parts, rest = potential(distribute(group([correction / preconditioner], scalars)))
    if not rest:
        return _added(parts, scalars)
    reason = "no potential was found for these terms divided by the preconditioner of the update"
    terms = tuple(collect(term * preconditioner, scalars) for term in rest)
    return Obstruction(Sentence.of(reason), terms, order)


def _added(parts: tuple[tuple[Expr, Expr], ...], scalars: Scalars) -> Expr:
    """``c_1 p_1 + c_2 p_2 + ...`` with the common factor in front, so that what cancels does."""
    if not parts:
        return S.Zero
    factors = [scalar for scalar, _ in parts]
    content = factors[0] if len(factors) == 1 else scalars.content(factors)
    inner = Add(*(scalars.ratio(scalar, content) * part for scalar, part in parts))
    return Mul(content, expand_mul(inner))
