"""The Derivation: everything that symmem knows about one method, computed part by part on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from sympy import Add, Expr, Integer, Sum

from symmem.algebra.atoms import LR, STEP
from symmem.algebra.finite_sums import written_out
from symmem.algebra.results import Advice, Assumption, Conclusion, Missing, Sentence, Unknown, Whose
from symmem.derivation.assumptions import assumptions
from symmem.derivation.conclusions import conclusions, unknown
from symmem.derivation.conditions.singular import guarded, singular_limit, singular_step
from symmem.derivation.gains import frozen_update, gains, settled_rate
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss, gradient_map_loss
from symmem.derivation.loss.modified_loss import Verdict, finite_loss, modified_flow_loss, modified_loss
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.marked_sums import MarkedSums, marked_sums
from symmem.derivation.orders.at_step import coefficients_at_step
from symmem.derivation.orders.expansion import expansion
from symmem.derivation.orders.second_order import second_coefficient, second_shift
from symmem.derivation.past.correction import finite_correction
from symmem.derivation.past.straight import straight_limit, straight_update, without_line
from symmem.derivation.quadratic import Quadratic, quadratic
from symmem.derivation.scheduled import SlowLimit, at_rate, no_settled_rate, slow_limit, stopped
from symmem.derivation.shown import shown_formulas
from symmem.derivation.start import shift, unsummable
from symmem.errors import check_whole
from symmem.method.merging import merged
from symmem.method.method import Declared, Method
from symmem.method.reading import method_of
from symmem.records import record

LONGEST_WRITTEN_SUM = 8
"""A finite sum with at most so many terms is written out at a given step."""


@record(frozen=True)
class MemorylessIteration:
    """``theta <- theta - h rate(n) (F + M)``: the update on a constant history, and the correction, h included."""

    F: Expr
    M: Expr


@record(frozen=True)
class Derivation:
    """The memoryless form of an optimizer: ``theta <- theta - h (F^(n) + M^(n))``, to the power ``order`` of h.

    Under a schedule h is ``h rate(n)`` there; past rates stand inside M.

    Each is a result, or a ``Missing`` that says why there is none.

    F, M                 the iteration at step n, for symbolic n (n counts from 0)
    limit                the same for n -> infinity
    straight             F_straight: the update on the straight-line history; limit_straight for n -> infinity
    coefficients[j]      F_j of the limit: theta <- theta - h (F_0 + h F_1 + ...)
    modified_equation[j] G_j of theta' = G_0 + h G_1 + ...
    modified_loss        a potential with its preconditioner; None where ``obstruction`` says why not
    gradient_map_loss    the exact loss inside the gradient map of a momentum method; None where there is none
    flow_loss            the loss whose gradient flow the modified equation is, or the obstruction
    shift[j]             d_{j+1}: the limit form starts at theta_0 + h d_1 + ...
    assumptions          what all of this rests on
    conclusions          what follows: how close the iterations stay to the optimizer
    unknown              what is not known, and warnings: where an assumption is known to fail
    """

    method: Method
    order: int = 1

    @property
    def optimizer(self) -> Declared:
        """The declaration that the method was read from, for those who name it and print it."""
        return self.method.optimizer

    @cached_property
    def F(self) -> Expr | Missing:
        """``F^(n)(theta) = Phi(gbar)``: the update on a constant history (mathematics.md section 1)."""
        missing = singular_step(self.method, self.order)
        return frozen_update(self.method, gains(self.method)) if missing is None else missing

    @cached_property
    def M(self) -> Expr | Missing:
        """``M^(n)(theta)``, h included: the paper's equation (9), then the second order (sections 2 and 4)."""
        if isinstance(self.F, Missing):
            return self.F
        if self.order > 2:
            reason = f"symbolic n is known to order 2, not {self.order}"
            return Missing(Sentence.of(Whose(self.method.name), reason), (Advice.LIMIT, Advice.STEP))
        if self.order == 2 and merged(self.method).is_cascade:
            reason = "a g reads momentum variables: symbolic n is known to order 1, not 2"
            return Missing(Sentence.of(Whose(self.method.name), reason), (Advice.LIMIT, Advice.STEP))
        first = finite_correction(self.method)
        whole = first if self.order == 1 else first + LR**2 * second_coefficient(self.method)
        return guarded(Whose(self.method.name), "M at step n", [whole], whole)

    @cached_property
    def marked(self) -> MarkedSums | Missing:
        """M with its sums over the past told apart, for those who compute it in floating point."""
        return self.M if isinstance(self.M, Missing) else marked_sums(self.method, self.order)

    @cached_property
    def limit(self) -> MemorylessIteration | Missing:
        """F and M for n -> infinity."""
        if isinstance(self.coefficients, Missing):
            return self.coefficients
        memoryless, *rest = self.coefficients
        return MemorylessIteration(memoryless, _powers_of_h(rest))

    @cached_property
    def straight(self) -> Expr | Missing:
        """``F_straight`` at symbolic n: Phi on the straight-line history (mathematics.md section 10); of order 1."""
        missing = self.F if isinstance(self.F, Missing) else without_line(self.method)
        if missing is not None:
            return missing
        found = straight_update(self.method)
        return guarded(Whose(self.method.name), "the straight-line history at step n", [found], found)

    def straight_at(self, step: int) -> Expr | Missing:
        """``F_straight`` at the step n = ``step``; at the first there is no past, and it is F."""
        found = self.straight
        if isinstance(found, Missing) or step > 0:
            return found if isinstance(found, Missing) else _at_step(found, step)
        return _at_step(self.F, step)

    @cached_property
    def limit_straight(self) -> Expr | Missing:
        """The same for n -> infinity."""
        singular = singular_limit(self.method, 1)
        missing = no_settled_rate(self.method) if singular is None else singular
        if missing is not None:
            return missing
        found = straight_limit(self.method)
        return guarded(Whose(self.method.name), "the straight-line history", [found], found)

    @cached_property
    def coefficients(self) -> tuple[Expr, ...] | Missing:
        """``F_0, ..., F_order`` of the limit (mathematics.md section 4)."""
        missing = self._no_limit
        if missing is not None:
            return missing
        series, rate = expansion(self.method, self.order), self._rate
        found = tuple(rate**j * series.memoryless(j) for j in range(self.order + 1))
        return guarded(Whose(self.method.name), "the limit of many steps", found, found)

    @property
    def _rate(self) -> Expr:
        """The settled rate; asked where it exists."""
        return settled_rate(self.method)

    @cached_property
    def slow_limit(self) -> SlowLimit | Missing | None:
        """Under a schedule: the limit with the rate as a symbol that changes slowly; None where there is none."""
        return slow_limit(self.method)

    @cached_property
    def modified_equation(self) -> tuple[Expr, ...] | Missing:
        """``G_0, ..., G_order`` of ``theta' = G_0 + h G_1 + ...`` (mathematics.md section 4)."""
        if isinstance(self.coefficients, Missing):
            return self.coefficients
        series, rate = expansion(self.method, self.order), self._rate
        found = tuple(rate ** (j + 1) * series.modified_equation(j) for j in range(self.order + 1))
        return guarded(Whose(self.method.name), "the modified equation", found, found)

    @cached_property
    def _verdict(self) -> Verdict:
        if self._no_loss is not None:
            return self._no_loss
        return finite_loss(self.method, at_rate(modified_loss(self.method, self.order), self._rate))

    @cached_property
    def flow_loss(self) -> Verdict:
        """The loss whose gradient flow the modified equation is, or the obstruction."""
        if self._no_loss is not None:
            return self._no_loss
        found = at_rate(modified_flow_loss(self.method, self.order), self._rate)
        if isinstance(found, ModifiedLoss) and self._rate != 1:
            found = replace(found, preconditioner=self._rate * found.preconditioner)
        return finite_loss(self.method, found)

    @property
    def modified_loss(self) -> ModifiedLoss | Missing | None:
        """The modified loss (mathematics.md section 5); None where there is an obstruction."""
        return None if isinstance(self._verdict, Obstruction) else self._verdict

    @property
    def obstruction(self) -> Obstruction | Missing | None:
        """The terms that prevent a modified loss; None where there is one."""
        return None if isinstance(self._verdict, ModifiedLoss) else self._verdict

    @cached_property
    def gradient_map_verdict(self) -> GradientMapLoss | Obstruction | Missing:
        """The loss inside the gradient map; an obstruction, as there; or why the method is no gradient map."""
        missing = stopped(self.method) if self._no_limit is None else self._no_limit
        if missing is not None:
            return missing
        return at_rate(gradient_map_loss(self.method, self.order), self._rate)

    @property
    def gradient_map_loss(self) -> GradientMapLoss | None:
        """``theta <- (1 - h decay) theta - h grad K(grad S)``: S (mathematics.md section 11); None if there is none."""
        found = self.gradient_map_verdict
        return found if isinstance(found, GradientMapLoss) else None

    @cached_property
    def shift(self) -> tuple[Expr, ...] | Missing:
        """``d_1, ..., d_order``, at most two: where the limit form starts (mathematics.md section 6)."""
        if self._unshifted is not None:
            return self._unshifted
        first = shift(self.method)
        found = (first,) if self.order == 1 else (first, second_shift(self.method))
        return guarded(Whose(self.method.name), "the start", found, found)

    @cached_property
    def _unshifted(self) -> Missing | None:
        """Why there is no shift."""
        missing = stopped(self.method) if self._no_limit is None else self._no_limit
        if missing is None and self.order > 1 and isinstance(self.F, Expr) and self.F.has(Sum):
            reason = "on a constant history a g reads values that depend on the step: "
            missing = Missing(
                Sentence.of(Whose(self.method.name), reason + "the start is known to order 1"),
                (Advice.LOWER_ORDER,),
            )
        return unsummable(self.method) if missing is None else missing

    @cached_property
    def _no_limit(self) -> Missing | None:
        """Why there is no limit of many steps: a singular one, or a rate that does not settle."""
        singular = singular_limit(self.method, self.order)
        return no_settled_rate(self.method) if singular is None else singular

    @cached_property
    def _no_loss(self) -> Missing | None:
        """Why there is no modified loss of the limit: no limit, or a rate that leaves nothing moving."""
        return self.coefficients if isinstance(self.coefficients, Missing) else stopped(self.method)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the results rest on."""
        finite = () if isinstance(self.F, Missing) else (self.F, finite_correction(self.method), self.M)
        series = (self.coefficients, self.shift)  # the G_j have the poles of the F_j
        losses = (self.modified_loss, self.gradient_map_loss)
        formulas = shown_formulas((*finite, self.slow_limit, *series, *losses))
        return assumptions(self.method, self.order, tuple(formulas))

    @cached_property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """What follows from the assumptions: how close the iterations stay to the optimizer."""
        return conclusions(self.method, self.order, self.M, self._unshifted)

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """What is not known, and the warnings: where an assumption is known to fail."""
        return unknown(self.method, self.order, self._unshifted)

    @cached_property
    def quadratic(self) -> Quadratic | Missing:
        """The iteration on a quadratic loss, summed to all orders; for methods linear in the gradient."""
        missing = no_settled_rate(self.method)
        if missing is None and self._rate != 1:
            words = "the quadratic loss is known for a rate that settles at 1"
            missing = Missing(Sentence.of(Whose(self.method.name), words))
        return quadratic(self.method, self.order) if missing is None else missing

    def at(self, step: int) -> MemorylessIteration | Missing:
        """The iteration at the step n = ``step``, counted from 0; short finite sums are written out."""
        check_whole(step, 0, f"{self.method.name}: step {step!r}: steps count from 0")
        if isinstance(self.F, Missing):
            return self.F
        if isinstance(self.M, Missing):
            found = coefficients_at_step(self.method, self.order, step)
            if isinstance(found, Missing):
                return found
            first, *rest = found
            pair = first, _powers_of_h(rest)
        else:
            pair = _at_step(self.F, step), _at_step(self.M, step)
        return guarded(Whose(self.method.name), f"step {step}", pair, MemorylessIteration(*pair))


def derive(optimizer: Declared, order: int = 1) -> Derivation:
    """The derivation of an optimizer to the given order in h; its parts are computed on first use."""
    check_whole(order, 1, f"order {order!r}: the order is a power of h, 1 or more")
    return Derivation(method_of(optimizer), order)


def _powers_of_h(coefficients: Sequence[Expr]) -> Expr:
    return Add(*(LR**j * value for j, value in enumerate(coefficients, start=1)))


def _at_step(expression: Expr, step: int) -> Expr:
    placed = expression.xreplace({STEP: Integer(step)})
    return written_out(placed) if step <= LONGEST_WRITTEN_SUM else placed
