"""The Account: the results of one derivation, in the order in which a person reads them.

Made once from a Derivation; terminal, notebook, paper, JSON and comparison render this record and ask nothing else.  A
part holds expressions and sentences; a result that does not exist is a ``Missing`` that says why; a part that was not
asked for is None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, TypeVar

from sympy import Expr

from symmem.algebra.atoms import LR, STEP
from symmem.algebra.results import Assumption, Missing, Sentence
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.correction import finite_correction
from symmem.derivation.derivation import Derivation, MemorylessIteration
from symmem.derivation.quadratic import Quadratic
from symmem.derivation.regularisation_sign import Regularisation, regularisation
from symmem.derivation.second_order import second_coefficient
from symmem.derivation.steps import Steps, steps
from symmem.derivation.verdicts import ModifiedLoss, Obstruction
from symmem.errors import DerivationError
from symmem.notation.decimals import power_digits

At = int | Literal["n", "limit"]
"""The step at which the iteration is told: a number, symbolic n (with the limit), or the limit alone."""

MOST_POWER_DIGITS = 50_000
"""Exact numbers of more digits than this are not computed."""
FINITE_ORDER = 2
"""Symbolic n is known to this power of h; the limit to every power."""

Result = TypeVar("Result")


class Part(Enum):
    """What an account may hold."""

    ITERATION = auto()
    LIMIT = auto()
    LOSS = auto()
    SIGN = auto()
    EQUATION = auto()
    START = auto()
    QUADRATIC = auto()
    ASSUMPTIONS = auto()
    LEMMA = auto()


SETTLED = frozenset((Part.LIMIT, Part.LOSS, Part.EQUATION, Part.START))
"""What belongs to the limit of many steps."""


@dataclass(frozen=True)
class Iteration:
    """``F^(n)`` and ``M^(n)`` at symbolic n, at a step, or in the limit; each may be missing by itself."""

    F: Expr | Missing
    M: Expr | Missing


@dataclass(frozen=True)
class Limit:
    """``theta <- theta - h (F_0 + h F_1 + ...)``; M is ``h F_1 + ...``."""

    coefficients: tuple[Expr, ...]
    M: Expr

    @property
    def F(self) -> Expr:
        return self.coefficients[0]


@dataclass(frozen=True)
class ModifiedEquation:
    """``theta' = G_0 + h G_1 + ...``.

    ``flow`` is the loss whose gradient flow it is, or what prevents that; None where the modified loss of the iteration
    is not exact, and the question does not arise.
    """

    coefficients: tuple[Expr, ...]
    flow: ModifiedLoss | Obstruction | None


@dataclass(frozen=True)
class StartShift:
    """The limit form starts at ``theta_0 + h d_1 + ...``."""

    shifts: tuple[Expr, ...]

    @property
    def is_shifted(self) -> bool:
        return any(shift != 0 for shift in self.shifts)


@dataclass(frozen=True)
class Lemma:
    """For a paper: ``F^(n)``, the correction of first order, h included, and from order 2 on F_1^(n) and F_2^(n)."""

    F: Expr
    M: Expr
    coefficients: tuple[Expr, ...]
    steps: Steps


@dataclass(frozen=True)
class Account:
    """What is told about one optimizer to one order in h, in this order."""

    optimizer: Optimizer
    order: int
    at: At
    iteration: Iteration | None = None
    limit: Limit | Missing | None = None
    modified_loss: ModifiedLoss | Obstruction | Missing | None = None
    sign: Regularisation | None = None
    modified_equation: ModifiedEquation | Missing | None = None
    start: StartShift | Missing | None = None
    quadratic: Quadratic | None = None
    assumptions: tuple[Assumption, ...] = ()
    lemma: Lemma | None = None


def account_of(
    derivation: Derivation, at: At = "n", *, quadratic: bool = False, parts: Collection[Part] | None = None
) -> Account:
    """The account of a derivation; ``parts`` are those that a reader at this step is told, or as given.

    What is asked for by name and does not exist is an error: a step, the limit alone, the quadratic loss.
    """
    asked = set(_told_at(at) if parts is None else parts) | ({Part.QUADRATIC} if quadratic else set())

    def when(part: Part, read: Callable[[], Result]) -> Result | None:
        return read() if part in asked else None

    loss = when(Part.LOSS, lambda: _result(lambda: _loss(derivation)))
    return Account(
        derivation.optimizer,
        derivation.order,
        at,
        iteration=when(Part.ITERATION, lambda: _iteration(derivation, at)),
        limit=when(
            Part.LIMIT, lambda: _limit(derivation) if at == "limit" else _result(lambda: _limit(derivation))
        ),
        modified_loss=loss,
        sign=when(Part.SIGN, lambda: _sign(derivation)),
        modified_equation=when(Part.EQUATION, lambda: _result(lambda: _equation(derivation, loss))),
        start=when(Part.START, lambda: _result(lambda: StartShift(derivation.shift))),
        quadratic=when(Part.QUADRATIC, lambda: derivation.quadratic),
        assumptions=when(Part.ASSUMPTIONS, lambda: derivation.assumptions) or (),
        lemma=when(Part.LEMMA, lambda: _lemma(derivation)),
    )


def _told_at(at: At) -> frozenset[Part]:
    if isinstance(at, int):
        return frozenset((Part.ITERATION, Part.ASSUMPTIONS))
    return SETTLED | {Part.ASSUMPTIONS} | ({Part.ITERATION} if at == "n" else set())


def _result(read: Callable[[], Result]) -> Result | Missing:
    try:
        return read()
    except DerivationError as error:
        return Missing(Sentence.of(str(error)))


def _iteration(derivation: Derivation, at: At) -> Iteration:
    if at == "n":
        return Iteration(_result(lambda: derivation.F), _result(lambda: derivation.M))
    found = derivation.limit if at == "limit" else _at_step(derivation, at)
    return Iteration(found.F, found.M)


def _at_step(derivation: Derivation, step: int) -> MemorylessIteration:
    """The iteration at a step whose exact numbers can be computed."""
    optimizer = derivation.optimizer
    powers = [part for variable in optimizer.momentum for part in (variable.beta**STEP, variable.b)]
    most = (derivation.order + 1) * max(power_digits(part, step) for part in powers)
    if most > MOST_POWER_DIGITS:
        raise DerivationError(
            f"{optimizer.name}: step {step}: with numbers for the betas the result has exact numbers of about "
            f"{most} digits; take a smaller step, leave the betas symbolic, or ask for the limit"
        )
    return derivation.at(step)


def _limit(derivation: Derivation) -> Limit:
    return Limit(derivation.coefficients, derivation.limit.M)


def _loss(derivation: Derivation) -> ModifiedLoss | Obstruction:
    found = derivation.modified_loss or derivation.obstruction
    assert found is not None
    return found


def _sign(derivation: Derivation) -> Regularisation | None:
    found = _result(lambda: derivation.modified_loss)
    return None if isinstance(found, Missing) else regularisation(derivation.method, found)


def _equation(derivation: Derivation, loss: ModifiedLoss | Obstruction | Missing | None) -> ModifiedEquation:
    exact = isinstance(loss, ModifiedLoss) and loss.regime.is_exact
    flow = derivation.flow_loss if exact else None
    return ModifiedEquation(derivation.modified_equation, flow)


def _lemma(derivation: Derivation) -> Lemma:
    method = derivation.method
    first = finite_correction(method)
    coefficients = () if derivation.order == 1 else (first / LR, second_coefficient(method))
    return Lemma(derivation.F, first, coefficients, steps(method))
