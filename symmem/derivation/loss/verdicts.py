"""The answers to "is this step a gradient step?": a modified loss, or what stands against it, shown or not."""

from __future__ import annotations

from sympy import Abs, Expr, Pow, S, ordered

from symmem.algebra.atoms import is_scalar
from symmem.algebra.results import EXACT, Bound, Regime, Sentence
from symmem.algebra.symbols import GRAD, THETA
from symmem.derivation.loss.witness import Witness
from symmem.records import record


@record(frozen=True)
class ModifiedLoss:
    """``theta <- theta - h P grad(potential) - h decay theta`` is the memoryless step to the order in h.

    ``regime`` says where: exactly, or in the limit of small parameters, such as eps -> 0, with the order in them of
    the difference between the two steps where no entry of ``rough_at`` is 0 (mathematics.md section 5).
    """

    potential: Expr
    preconditioner: Expr
    regime: Regime = EXACT
    decay: Expr = S.Zero

    @property
    def rate(self) -> Bound | None:
        """``O(eps)``: how fast the difference vanishes in the limit; None where it is exact, or not known."""
        return self.regime.bound

    @property
    def rough_at(self) -> tuple[Expr, ...]:
        """The vectors whose zeros the rate leaves out: grad, or those of |x| and 1/x where theta is in them."""
        behind = self.preconditioner
        found = {each.args[0] for part in (behind, self.potential) for each in part.atoms(Abs)}
        found |= {
            each.base for each in behind.atoms(Pow) if not each.exp.is_positive and not each.base.has(Abs)
        }
        vectors = {each for each in found if each == GRAD or (each.has(THETA) and not is_scalar(each))}
        return tuple(ordered(vectors)) or (GRAD,)


@record(frozen=True)
class Obstruction:
    """No potential: the terms that stand against it, at which order in h, and the reason.

    With a ``witness``, or ``proved`` by trees, it is a denial: there is none, for the P of the update.  Else none was
    found.
    """

    reason: Sentence
    terms: tuple[Expr, ...]
    order: int = 1
    witness: Witness | None = None
    proved: bool = False

    @property
    def is_denial(self) -> bool:
        """Whether it was shown that there is none."""
        return self.proved or self.witness is not None
