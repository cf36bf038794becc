"""How two optimizers differ: the difference of F and of M, in closed form, and its size at the defaults.

After many steps where that is different; else at step n, for there alone they can part.  Parameters with the same name
are one; the size is taken at a fixed point of a fixed loss, at the defaults of the first optimizer, where the second
has the parameter too.  Where the two have different defaults, the size with each at its own is told beside it.  Under
a schedule F and M stand here with the rate of the step in front.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mpmath
from mpmath import mpf
from sympy import Expr, Rational, S

from symmem.algebra.atoms import STEP
from symmem.algebra.passes import collect
from symmem.algebra.results import Missing
from symmem.algebra.scalar_forms import is_same
from symmem.checks.claims import value_of
from symmem.checks.runs import Parting
from symmem.checks.verify import dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.derivation.gains import settled_rate
from symmem.verification.losses import probe_point
from symmem.verification.vectors import VerificationError, distance

RATE = Rational(1, 1000)
DIGITS = 30
ROUNDING = 1e-12
NOTHING = mpf(10) ** -20
"""A number that is smaller is 0 but for rounding: M at the first step is."""
STEPS = (0, 1, 10, 100)
"""At which the size is told of what differs in the first steps."""


@dataclass(frozen=True)
class Size:
    """``|left - right| / |left|`` in the largest entry; ``why`` says why there is no number.

    ``of_second``: where left is 0 and right is not, ``|right|`` is below.
    """

    number: float | None
    why: str = ""
    of_second: bool = False


@dataclass(frozen=True)
class Part:
    """The difference of F, or of M, and its size relative to the first: shared defaults, then each at its own.

    ``formula`` is a Missing where one of the two has none.  ``sizes`` has one for each of the steps, or the one of the
    limit; ``own`` is None where the defaults agree.
    """

    formula: Expr | Missing
    sizes: tuple[Size, ...] = ()
    own: Size | None = None

    @property
    def size(self) -> float | None:
        """The number of the limit."""
        return self.sizes[0].number if self.sizes else None

    @property
    def is_felt(self) -> bool:
        """Whether there is a difference, in numbers too."""
        return self.formula != 0 and any(
            each.number is not None and each.number > ROUNDING for each in self.sizes
        )


@dataclass(frozen=True)
class Difference:
    """The witness, and the differences where both have a limit; ``missing`` says why where one has none.

    ``at_step``: F and M at step n, where no difference is left in the limit, or there is none, or a rate moves.
    """

    witness: Parting | None
    F: Part | None = None
    M: Part | None = None
    missing: Missing | None = None
    is_proof: bool = False
    """Whether the limits differ in numbers: then so do the optimizers, whether short runs part or not."""
    at_step: tuple[Part, Part] | None = None

    @property
    def has_one_limit(self) -> bool:
        """Whether F and M of the limit are the same, by a symbolic zero."""
        return all(part is not None and part.formula == 0 for part in (self.F, self.M))


def difference(first: Optimizer, second: Optimizer, witness: Parting | None) -> Difference:
    """F and M, first minus second."""
    pair = _Pair(first, second, derive(first), derive(second))
    missing = next((each.limit for each in (pair.ours, pair.theirs) if isinstance(each.limit, Missing)), None)
    if missing is not None:
        return Difference(witness, missing=missing, at_step=pair.at_step())
    update, change = pair.in_the_limit()
    felt = update.is_felt or change.is_felt
    # A smooth formula stands for the exact one in the limit alone: that two of them differ says nothing of the runs.
    proves = felt and not (first.smooth or second.smooth)
    # A rate that ends at 0 makes every limit 0: the steps before tell more.
    scheduled = first.schedule is not None or second.schedule is not None
    early = None if felt and not scheduled else pair.at_step(own=False)
    return Difference(witness, update, change, is_proof=proves, at_step=early)


def different_defaults(first: Optimizer, second: Optimizer) -> dict[str, tuple[Rational, Rational]]:
    """The parameters that both have, with different defaults."""
    ours, theirs = first.defaults, second.defaults
    return {
        name: (ours[name], theirs[name]) for name in ours if name in theirs and ours[name] != theirs[name]
    }


@dataclass(frozen=True)
class _Pair:
    """Two optimizers and what is derived of them."""

    first: Optimizer
    second: Optimizer
    ours: Derivation
    theirs: Derivation

    def in_the_limit(self) -> tuple[Part, Part]:
        left, right = self.ours.limit, self.theirs.limit
        assert not isinstance(left, Missing)
        assert not isinstance(right, Missing)
        rates = settled_rate(self.ours.method), settled_rate(self.theirs.method)
        return self._part((left.F, right.F), rates, (0,)), self._part((left.M, right.M), rates, (0,))

    def at_step(self, *, own: bool = True) -> tuple[Part, Part]:
        ours, theirs = self.ours, self.theirs
        rates = ours.method.rate_at(STEP), theirs.method.rate_at(STEP)
        return self._part((ours.F, theirs.F), rates, STEPS, own), self._part(
            (ours.M, theirs.M), rates, STEPS, own
        )

    def _part(
        self,
        sides: tuple[Expr | Missing, Expr | Missing],
        rates: tuple[Expr, Expr],
        steps: tuple[int, ...],
        own: bool = True,
    ) -> Part:
        """``rate_1 x_1 - rate_2 x_2``: under a schedule the step is ``h rate (F + M)``."""
        left, right = sides
        if isinstance(left, Missing) or isinstance(right, Missing):
            return Part(left if isinstance(left, Missing) else right)
        left, right = rates[0] * left, rates[1] * right
        formula = collect(left - right, self.ours.method.numbers)
        shared = self.second.defaults | {
            name: value for name, value in self.first.defaults.items() if name in self.second.defaults
        }
        sizes = tuple(self._size(left, right, shared, step) for step in steps)
        # Partial fractions and one fraction are equal without being spelled alike.
        unfelt = all(each.number is not None and each.number <= ROUNDING for each in sizes)
        if formula != 0 and unfelt and is_same(left, right):
            formula = S.Zero
        if not (own and different_defaults(self.first, self.second)):
            return Part(formula, sizes)
        return Part(formula, sizes, self._size(left, right, self.second.defaults, steps[-1]))

    def _size(self, left: Expr, right: Expr, values: Mapping[str, Rational], step: int) -> Size:
        """With these values in the second optimizer."""
        layout = layout_of(self.first, self.second)
        point = probe_point(dimension_of(layout))
        sides = ((left, self.first, self.first.defaults), (right, self.second, values))
        try:
            with mpmath.workdps(DIGITS):
                ours, theirs = (
                    value_of(formula, literal_of(optimizer, numbers, layout), point, n=step, lr=RATE)
                    for formula, optimizer, numbers in sides
                )
                scales = [max(abs(entry) for entry in side) for side in (ours, theirs)]
                below = next((position for position, scale in enumerate(scales) if scale > NOTHING), None)
                if below is None:
                    return Size(0.0)
                return Size(float(distance(ours, theirs) / scales[below]), of_second=below == 1)
        except VerificationError as error:
            return Size(None, str(error))
