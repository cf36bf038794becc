"""The modified loss (mathematics.md sections 5 and 12): the memoryless step as a preconditioned step on a changed loss.

    theta <- theta - h P grad Ltilde - h decay theta,      Ltilde = loss + h (...),     P a scalar or a diagonal

The routes, in this order: coupled decay is put into the loss; methods linear in the gradient are settled at every order
by their trees; a linear map of one memory with decay by the Hopf-Lax series; all others term by term, exactly or in the
limit of small parameters.  A claim is a symbolic zero; a denial has a witness; else none was found.
Example: heavy ball, ``F_1 = beta/(1-beta)^3 H g``, has ``Ltilde = loss + h beta/(2 (1-beta)^2) |g|^2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import Add, Expr, S

from symmem.algebra.atoms import GRAD, LOSS, LR, is_constant
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect
from symmem.algebra.results import Advice, Missing, Sentence, Whose
from symmem.derivation.conditions.singular import guarded
from symmem.derivation.gains import unsettled
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss, gradient_map_loss
from symmem.derivation.loss.integrability import gradient_gain, potential_of_order
from symmem.derivation.loss.preconditioned_loss import preconditioned_loss
from symmem.derivation.loss.scalar_writing import gathered
from symmem.derivation.loss.shifted_loss import in_terms_of_the_loss, plain_method
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.loss.witness import witness
from symmem.derivation.orders.expansion import Expansion, Numbers, TreeTerm, expansion
from symmem.method.method import Method

__all__ = ["ModifiedLoss", "Obstruction", "Verdict", "finite_loss", "modified_flow_loss", "modified_loss"]

Verdict = ModifiedLoss | Obstruction | Missing
"""A loss; what prevents it; or, where the method has no limit for many steps, why there is nothing to ask about."""


def finite_loss(method: Method, verdict: Verdict) -> Verdict:
    """The verdict, where all of its formulas have a value."""
    if isinstance(verdict, Missing):
        return verdict
    if isinstance(verdict, Obstruction):
        parts: tuple[Expr, ...] = verdict.terms
    else:
        parts = (verdict.potential, verdict.preconditioner, verdict.decay)
    return guarded(Whose(method.name), "the modified loss", parts, verdict)


def modified_loss(method: Method, order: int) -> Verdict:
    """The modified loss of the memoryless iteration to the given power of h, or what prevents it."""

    def settled(plain: Method, series: Expansion, gain: Expr | None) -> Verdict:
        if gain is not None:
            return _by_trees(series, order, gain, lambda term: term.step)
        return _by_linear_map(plain, order) or preconditioned_loss(
            plain, [series.memoryless(j) for j in range(order + 1)], "F"
        )

    return _settled(method, order, settled)


def modified_flow_loss(method: Method, order: int) -> Verdict:
    """The loss whose gradient flow ``theta' = -P grad Lhat`` is the modified equation, or what prevents it."""

    def settled(plain: Method, series: Expansion, gain: Expr | None) -> Verdict:
        if gain is not None:
            return _by_trees(series, order, gain, lambda term: tuple((x, -share) for x, share in term.flow))
        return preconditioned_loss(plain, [-series.modified_equation(j) for j in range(order + 1)], "G")

    return _settled(method, order, settled)


def _settled(
    method: Method, order: int, settled: Callable[[Method, Expansion, Expr | None], Verdict]
) -> Verdict:
    """The verdict where there is a limit of many steps: on the plain method, if the decay can go into the loss."""
    missing = unsettled(method)
    if missing is not None:
        return missing
    plain = plain_method(method)
    if plain is not None:
        return _with_decay_inside(_settled(plain[0], order, settled), plain[1], method)
    series = expansion(method, order)
    if series.memoryless(0) == 0:
        words = "after many steps the update is 0 whatever the loss is, and follows none"
        return Missing(Sentence.of(Whose(method.name), words), (Advice.STEP,))
    return settled(method, series, gradient_gain(method))


def _with_decay_inside(verdict: Verdict, decay: Expr, method: Method) -> Verdict:
    """A verdict on the loss with the decay in it, in terms of the loss itself."""
    if isinstance(verdict, ModifiedLoss):
        return replace(
            verdict,
            potential=gathered(in_terms_of_the_loss(verdict.potential, decay), method.numbers),
            preconditioner=collect(in_terms_of_the_loss(verdict.preconditioner, decay), method.numbers),
        )
    if isinstance(verdict, Obstruction):
        terms = tuple(collect(in_terms_of_the_loss(term, decay), method.numbers) for term in verdict.terms)
        seen = verdict.witness
        if seen is not None:
            what = Sentence.of(*seen.what.parts, ", on the loss with the decay in it")
            seen = replace(seen, what=what)
        return replace(verdict, terms=terms, witness=seen)
    return verdict


def _by_trees(
    series: Expansion, order: int, gain: Expr, numbers: Callable[[TreeTerm], Numbers]
) -> ModifiedLoss | Obstruction:
    parts: list[Expr] = [LOSS]
    for j in range(1, order + 1):
        found = potential_of_order(series, j, [numbers(term) for term in series.terms[j]], gain)
        if isinstance(found, Obstruction):
            what = Sentence.of("the sum of these terms")
            seen = witness(Add(*found.terms), S.One, series.method.defaults, what)
            return replace(found, witness=seen)
        parts.append(LR**j * found)
    return ModifiedLoss(Add(*parts), gain)


def _by_linear_map(method: Method, order: int) -> ModifiedLoss | None:
    """Momentum with decoupled decay: the gradient map is a scalar P, and its loss is this one (section 11)."""
    found = gradient_map_loss(method, order)
    if not isinstance(found, GradientMapLoss):
        return None
    slope = slope_in(found.map.map, GRAD)
    if not is_constant(slope) or collect(found.map.map - slope * GRAD, method.numbers) != 0:
        return None
    return ModifiedLoss(found.potential, slope, decay=found.map.decay)
