"""The Derivation: everything that symmem knows about one method, computed part by part on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sympy import Add, Expr, Integer

from symmem.algebra.atoms import LR, STEP
from symmem.algebra.finite_sums import written_out
from symmem.derivation.assumptions import Assumption, assumptions
from symmem.derivation.at_step import coefficients_at_step
from symmem.derivation.correction import finite_correction
from symmem.derivation.expansion import expansion
from symmem.derivation.gains import frozen_update, gains
from symmem.derivation.integrability import Obstruction
from symmem.derivation.modified_loss import ModifiedLoss, modified_flow_loss, modified_loss
from symmem.derivation.quadratic import Quadratic, quadratic
from symmem.derivation.second_order import second_coefficient, second_shift
from symmem.derivation.start import shift
from symmem.documents.notebook import html_view
from symmem.errors import DerivationError
from symmem.method.method import Declared, Method
from symmem.method.reading import method_of
from symmem.notation.latex import latex

LONGEST_WRITTEN_SUM = 8
"""A finite sum with at most so many terms is written out at a given step."""


@dataclass(frozen=True)
class MemorylessIteration:
    """``theta <- theta - h (F + M)``: the update on a constant history, and the correction, h included."""

    F: Expr
    M: Expr


@dataclass(frozen=True)
class Derivation:
    """The memoryless form of an optimizer: ``theta <- theta - h (F^(n) + M^(n))``, to the power ``order`` of h.

    F, M                 the iteration at step n, for symbolic n (n counts from 0)
    limit                the same for n -> infinity
    coefficients[j]      F_j of the limit: theta <- theta - h (F_0 + h F_1 + ...)
    modified_equation[j] G_j of theta' = G_0 + h G_1 + ...
    modified_loss        a potential with its preconditioner; None where ``obstruction`` says why not
    flow_loss            the loss whose gradient flow the modified equation is, or the obstruction
    shift[j]             d_{j+1}: the limit form starts at theta_0 + h d_1 + ...
    assumptions          what all of this rests on
    """

    method: Method
    order: int = 1

    @property
    def optimizer(self) -> Declared:
        """The declaration that the method was read from, for those who name it and print it."""
        return self.method.optimizer

    @cached_property
    def F(self) -> Expr:
        return frozen_update(self.method, gains(self.method))

    @cached_property
    def M(self) -> Expr:
        if self.order > 2:
            raise DerivationError(
                f"{self.method.name}: symbolic n is known to order 2, not {self.order}; "
                "ask for the limit (--limit) or for a step (--at-step N)"
            )
        first = finite_correction(self.method)
        return first if self.order == 1 else first + LR**2 * second_coefficient(self.method)

    @cached_property
    def limit(self) -> MemorylessIteration:
        memoryless, *rest = self.coefficients
        return MemorylessIteration(memoryless, _powers_of_h(rest))

    @cached_property
    def coefficients(self) -> tuple[Expr, ...]:
        series = expansion(self.method, self.order)
        return tuple(series.memoryless(j) for j in range(self.order + 1))

    @cached_property
    def modified_equation(self) -> tuple[Expr, ...]:
        series = expansion(self.method, self.order)
        return tuple(series.modified_equation(j) for j in range(self.order + 1))

    @cached_property
    def _loss_or_obstruction(self) -> ModifiedLoss | Obstruction:
        return modified_loss(self.method, self.order)

    @cached_property
    def flow_loss(self) -> ModifiedLoss | Obstruction:
        return modified_flow_loss(self.method, self.order)

    @property
    def modified_loss(self) -> ModifiedLoss | None:
        found = self._loss_or_obstruction
        return found if isinstance(found, ModifiedLoss) else None

    @property
    def obstruction(self) -> Obstruction | None:
        found = self._loss_or_obstruction
        return found if isinstance(found, Obstruction) else None

    @cached_property
    def shift(self) -> tuple[Expr, ...]:
        first = shift(self.method)
        return (first,) if self.order == 1 else (first, second_shift(self.method))

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        formulas = (self.F, finite_correction(self.method))
        return assumptions(self.method, self.order, not self.method.is_settled, formulas)

    @cached_property
    def quadratic(self) -> Quadratic:
        """The iteration on a quadratic loss, summed to all orders; for methods linear in the gradient."""
        return quadratic(self.method, self.order)

    def at(self, step: int) -> MemorylessIteration:
        """The iteration at the step n = ``step``, counted from 0; short finite sums are written out."""
        if step < 0:
            raise DerivationError(f"{self.method.name}: step {step}: steps count from 0")
        if self.order > 2:
            first, *rest = coefficients_at_step(self.method, self.order, step)
            return MemorylessIteration(first, _powers_of_h(rest))
        return MemorylessIteration(_at_step(self.F, step), _at_step(self.M, step))

    def _repr_latex_(self) -> str:
        """The memoryless iteration in the limit, for a notebook."""
        optimizer = self.optimizer
        functions = optimizer.function_symbols
        lines = [
            rf"\boldsymbol{{F}}_{{{j}}} &= {latex(value, names=optimizer.symbols, functions=functions)}"
            for j, value in enumerate(self.coefficients)
        ]
        return "$$\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$$"

    def _repr_html_(self) -> str:
        """The iteration at step n and in the limit, and the modified loss, for a notebook."""
        return html_view(self)


def derive(optimizer: Declared, order: int = 1) -> Derivation:
    """The derivation of an optimizer to the given order in h; its parts are computed on first use."""
    if order < 1:
        raise DerivationError(f"order {order}: the order is a power of h, 1 or more")
    return Derivation(method_of(optimizer), order)


def _powers_of_h(coefficients: Sequence[Expr]) -> Expr:
    return Add(*(LR**j * value for j, value in enumerate(coefficients, start=1)))


def _at_step(expression: Expr, step: int) -> Expr:
    placed = expression.xreplace({STEP: Integer(step)})
    return written_out(placed) if step <= LONGEST_WRITTEN_SUM else placed
