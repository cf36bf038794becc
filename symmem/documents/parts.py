"""The parts of an Account, as frozen records."""

from __future__ import annotations

from enum import Enum, auto

from sympy import Expr

from symmem.algebra.results import Assumption, Missing, Sentence
from symmem.derivation.conditions.every_history import EveryHistory
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.past.steps import Steps
from symmem.derivation.scheduled import SlowLimit
from symmem.records import record


class Part(Enum):
    """What an account may hold."""

    ITERATION = auto()
    SCHEDULE = auto()
    LIMIT = auto()
    STRAIGHT = auto()
    LOSS = auto()
    GRADIENT_MAP = auto()
    SIGN = auto()
    EQUATION = auto()
    START = auto()
    QUADRATIC = auto()
    ASSUMPTIONS = auto()
    LEMMA = auto()


SETTLED = frozenset(
    (
        Part.SCHEDULE,
        Part.LIMIT,
        Part.STRAIGHT,
        Part.LOSS,
        Part.GRADIENT_MAP,
        Part.EQUATION,
        Part.START,
    )
)
"""What belongs to the limit of many steps."""


@record(frozen=True)
class Iteration:
    """``F^(n)`` and ``M^(n)`` at symbolic n, at a step, or in the limit; each may be missing by itself."""

    F: Expr | Missing
    M: Expr | Missing


@record(frozen=True)
class Limit:
    """``theta <- theta - h (F_0 + h F_1 + ...)``; M is ``h F_1 + ...``."""

    coefficients: tuple[Expr, ...]
    M: Expr

    @property
    def F(self) -> Expr:
        """``F_0``."""
        return self.coefficients[0]


@record(frozen=True)
class Schedule:
    """The learning rate at step n is ``h rate(n)``: its limit, and the limit of many steps with it as a symbol."""

    rate: Expr
    settled: Expr | Missing
    slow: SlowLimit | Missing


@record(frozen=True)
class StraightLine:
    """``F_straight`` at the step that is told, and for n -> infinity.

    ``is_expansion``: it is F + M itself, for Phi and the g_l are linear.  ``bound``: what is known of its size.
    """

    update: Expr | Missing
    limit: Expr | Missing
    is_expansion: bool
    keeps_bounds: bool
    bound: Sentence


@record(frozen=True)
class ModifiedEquation:
    """``theta' = G_0 + h G_1 + ...``.

    ``flow`` is the loss whose gradient flow it is, or what prevents that; None where the modified loss of the iteration
    is not exact, and the question does not arise.
    """

    coefficients: tuple[Expr, ...]
    flow: ModifiedLoss | Obstruction | None


@record(frozen=True)
class StartShift:
    """The limit form starts at ``theta_0 + h d_1 + ...``."""

    shifts: tuple[Expr, ...]

    @property
    def is_shifted(self) -> bool:
        """Whether the limit form starts elsewhere than at theta_0."""
        return any(shift != 0 for shift in self.shifts)


@record(frozen=True)
class Lemma:
    """For a paper: ``F^(n)``, the correction of first order, h included, and from order 2 on F_1^(n) and F_2^(n)."""

    F: Expr
    M: Expr
    coefficients: tuple[Expr, ...]
    steps: Steps
    histories: EveryHistory
    assumptions: tuple[Assumption, ...] = ()
    """What its steps divide by, and may be 0."""
