"""The optimizer with its memory as functions: its running sums, its update from them, and the implicit regulariser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import LR
from symmem.derivation.groups.group_regulariser import Regulariser
from symmem.derivation.groups.parameter_groups import GroupForm
from symmem.derivation.groups.step_scalars import StepScalar
from symmem.derivation.loss.running_loss import RunningLoss
from symmem.derivation.running import RunningForm, RunningSum
from symmem.derivation.stability import Stability
from symmem.program.statements import Internal
from symmem.targets.torch.functions import FunctionWriter, Lines

RATES, RUNNING_SCALARS, RUNNING = "_running_rates", "_running_scalars", "_running"
STATE_NUMBERS = "_state_numbers"
PRECONDITIONER, SHIFT = "_frozen_preconditioner", "_shift_of_hessian"
FREE, FORCED = "_free_polynomial", "_forced_polynomial"
NOW, KEPT, DUAL = "_share_of_loss_now", "_share_of_last", "_dual_density"
STRENGTHS, DENSITY, SHARE_OF_LOSS = "_regulariser_strengths", "_regulariser_density", "_share_of_loss"


def taken_in(each: RunningSum) -> str:
    """The function of what a running sum takes in."""
    return f"_taken_in{each.position}"


def running_functions(form: RunningForm, numbers: Mapping[str, Expr], writer: FunctionWriter) -> list[Lines]:
    """``x <- decay x + unit g`` for each sum, and the update from the sums; in a chain a g takes all of them.

    The ``numbers`` are those that PyTorch's state has beside the sums, after n steps.
    """
    values = [each.value for each in form.sums]
    counted = [
        StepScalar(Internal(f"number{place}"), value, None)
        for place, value in enumerate(numbers.values(), start=1)
    ]
    read = (values, _names(form)) if form.is_chain else ()
    return [
        writer.at_step(RUNNING_SCALARS, form.scalars, ranges=False),
        writer.pairs(RATES, [(each.decay, each.unit) for each in form.sums]),
        *(writer.tensor(taken_in(each), each.g, *read) for each in form.sums),
        writer.tensor(RUNNING, form.update, values, _names(form)),
        *([writer.at_step(STATE_NUMBERS, counted, ranges=False)] if counted else []),
    ]


def regulariser_functions(found: Regulariser, form: GroupForm, writer: FunctionWriter) -> list[Lines]:
    """The strengths, the density of one past step, and its share of the loss."""
    past = [scalar.name for scalar in form.past_scalars]
    return [
        writer.numbers(STRENGTHS, found.strengths, [scalar.name for scalar in form.scalars]),
        writer.tensor(DENSITY, found.density, (), past, opaque=False),
        writer.number(SHARE_OF_LOSS, found.loss_share, past),
    ]


def stability_functions(found: Stability, form: RunningForm, writer: FunctionWriter) -> list[Lines]:
    """The frozen preconditioner from the running sums, and the polynomials of the recursion."""
    values = [each.value for each in form.sums]
    return [
        writer.tensor(PRECONDITIONER, form.placed(found.preconditioner), values, _names(form), opaque=False),
        writer.number(SHIFT, found.shift),
        writer.numbers(FREE, found.free, [LR]),
        writer.numbers(FORCED, found.forced, [LR]),
    ]


def running_loss_functions(found: RunningLoss, form: RunningForm, writer: FunctionWriter) -> list[Lines]:
    """The shares of the loss and of its previous value, and the density of what the last step takes away."""
    values = [each.value for each in form.sums]
    return [
        writer.number(NOW, found.now),
        writer.number(KEPT, found.kept, [LR]),
        writer.tensor(DUAL, form.placed(found.density), values, _names(form), opaque=False),
    ]


def _names(form: RunningForm) -> Sequence[Symbol]:
    return [scalar.name for scalar in form.scalars]
