"""Proof by numbers of one declaration: formulas against brute force, orders of error, and the program that it is.

The result is a record; :mod:`symmem.checks.verify_text` writes it.  Programs of others run only where they are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from sympy import Rational
from sympy.core.function import AppliedUndef

from symmem.algebra.results import Missing
from symmem.checks.claims import POINTS, STEPS, Claim, claims, random_points
from symmem.checks.noise import STEPS as NOISY_STEPS
from symmem.checks.noise import noise_claims
from symmem.checks.open_functions import stand_in
from symmem.checks.orders import FIXED_TIME, MOST, MOST_STEPS, Errors, error_orders, memory_of
from symmem.declaration.implementation import Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.smoothing import smoothed
from symmem.derivation.derivation import Derivation, derive
from symmem.verification.agreement import Agreement, agreement
from symmem.verification.literal import Literal, fits
from symmem.verification.losses import coupled_loss
from symmem.verification.problem import SQUARES, matrix_problem
from symmem.verification.tensors import Layout
from symmem.verification.values import felt_values, gentle_values

DIMENSION = 3
MATRICES = ((2, 2), (1, 2))
"""Two tensors where something sees whole ones: what belongs to one is told from what belongs to all."""
ALL_SQUARE = ((3, 3), (2, 2))
"""For an update that has the shape of square matrices alone; a polar factor of 2x2 may be symmetric by chance."""
Told = Callable[[str], None]
"""What hears of every piece of work when it begins: a progress bar."""


@dataclass(frozen=True)
class Beside:
    """The declaration beside a program, at some values of the parameters."""

    implementation: Implementation
    values: Mapping[str, Rational]
    found: Agreement


@dataclass(frozen=True)
class Verification:
    """What numbers say about one declaration."""

    optimizer: Optimizer
    values: Mapping[str, Rational]
    claims: tuple[Claim, ...]
    orders: tuple[Errors, ...]
    missing: tuple[tuple[str, Missing], ...] = ()
    beside: tuple[Beside, ...] = ()
    unmeasured: str = ""
    """What no number here says, and why."""

    @property
    def holds(self) -> bool:
        """Whether every claim is true, as far as these numbers tell."""
        formulas = all(claim.holds for claim in self.claims) and all(each.holds for each in self.orders)
        return formulas and all(each.found.holds for each in self.beside)


def layout_of(*optimizers: Optimizer) -> Layout | None:
    """The shapes that are common to them: two tensors where one of them sees whole ones, square ones where need be."""
    if not any(map(sees_tensors, optimizers)):
        return None
    return ALL_SQUARE if needs_squares(*optimizers) else MATRICES


def needs_squares(*optimizers: Optimizer) -> bool:
    """Whether the update of one of them has not the shape of the parameters, where these are not square."""
    return any(sees_tensors(each) and not fits(each, MATRICES) for each in optimizers)


def literal_of(optimizer: Optimizer, values: Mapping[str, Rational], layout: Layout | None = None) -> Literal:
    """The optimizer as it runs on the common loss; an open function is a map that stands in for it."""
    dimension = dimension_of(layout)
    functions = {function.name: stand_in(function, dimension) for function in optimizer.functions}
    return Literal(optimizer, values, coupled_loss(dimension), functions, layout)


def as_theory_sees(optimizer: Optimizer) -> Optimizer:
    """The optimizer with its declared smooth formulas in the place of sign, abs, max, min and clip."""
    if not optimizer.smooth:
        return optimizer
    variables = tuple(replace(each, g=smoothed(each.g, optimizer.smooth)) for each in optimizer.momentum)
    return replace(optimizer, phi=smoothed(optimizer.phi, optimizer.smooth), momentum=variables, smooth=())


def sees_tensors(optimizer: Optimizer) -> bool:
    """Whether a function of a whole tensor or of the model stands in the declaration."""
    own = {*(function.name for function in optimizer.functions), "max", "min", "clip"}
    parts = (optimizer.phi, *(variable.g for variable in optimizer.momentum))
    return any(call.func.__name__ not in own for part in parts for call in part.atoms(AppliedUndef))


def dimension_of(layout: Layout | None) -> int:
    """How many entries the parameters have."""
    return DIMENSION if layout is None else sum(map(prod, layout))


def verify(
    optimizer: Optimizer,
    against: Implementation | None = None,
    *,
    orders: bool = True,
    told: Told = lambda _: None,
    noise: bool = False,
    seed: int = 0,
    points: int = POINTS,
    steps: tuple[int, ...] = STEPS,
) -> Verification:
    """Everything that numbers can say about a declaration; ``against`` runs that program beside it.

    ``noise``: also what mini-batches add, over all draws of three batches.
    """
    derivation, values = derive(optimizer), gentle_values(optimizer)
    literal = literal_of(as_theory_sees(optimizer), values, layout_of(optimizer))
    where = random_points(literal, dimension_of(literal.layout), points, seed)
    found = []
    for claim in claims(derivation, literal, where, steps):
        told("brute force")
        found.append(claim)
    measured = error_orders(derivation, literal, where[0], told) if orders else ()
    beside = _beside(optimizer, against, told) if against is not None else ()
    missing = list(_absent(derivation))
    for each in noise_claims(as_theory_sees(optimizer), values) if noise else ():
        told("mini-batches")
        if isinstance(each, Missing):
            missing.append(("the noise of mini-batches", each))
        else:
            found.append(each)
    unmeasured = _unmeasured(literal, measured) if measured else ""
    return Verification(optimizer, values, tuple(found), measured, tuple(missing), beside, unmeasured)


def _unmeasured(literal: Literal, measured: tuple[Errors, ...]) -> str:
    """Errors over a fixed time, where no run that is made with 25 digits is long enough to show their order."""
    if any(each.counted == FIXED_TIME for each in measured):
        return ""
    steps = memory_of(literal)
    if steps > MOST_STEPS:
        return (
            f"the errors over a fixed time: memory fades in {steps} steps, and a run has at most {MOST_STEPS} here; "
            "put in smaller decays, or leave them to symmem"
        )
    return (
        "the errors over a fixed time: a rate or a factor b(n) makes the update grow for longer than the runs that "
        "are made here; put in a shorter warm-up"
    )


def work_of(against: Implementation | None = None, *, orders: bool = True, noise: bool = False) -> int:
    """How many pieces of work ``verify`` tells of, at most."""
    return (
        2 * (len(STEPS) + 1) + (MOST if orders else 0) + (2 if against else 0) + 2 * len(NOISY_STEPS) * noise
    )


def _absent(derivation: Derivation) -> tuple[tuple[str, Missing], ...]:
    """What the derivation does not claim, with its reasons."""
    formulas = (("F", derivation.F), ("M", derivation.M), ("the limit of many steps", derivation.limit))
    parts = (*formulas, ("the straight-line history", derivation.straight))
    return tuple((name, part) for name, part in parts if isinstance(part, Missing))


def _beside(optimizer: Optimizer, against: Implementation, told: Told) -> tuple[Beside, ...]:
    """At the defaults, and at values at which every parameter is felt."""
    problem, found = matrix_problem(SQUARES) if against.square else matrix_problem(), []
    for values in (dict(optimizer.defaults), felt_values(optimizer)):
        told(against.name)
        found.append(Beside(against, values, agreement(optimizer, against, problem, values)))
        if not found[-1].found.holds:
            break
    return tuple(found)
