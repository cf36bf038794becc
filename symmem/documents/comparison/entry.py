"""One optimizer in a comparison, read from its Account: the limit of many steps, to first order in h."""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.families import RATE
from symmem.algebra.results import Missing
from symmem.algebra.scalar_forms import is_same
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.documents.account import Account
from symmem.documents.parts import Limit, Part
from symmem.documents.prose import Prose, missing_prose
from symmem.notation.decimals import shown
from symmem.notation.formula import Formula
from symmem.notation.statement import Letter
from symmem.records import record

PARTS = frozenset((Part.LIMIT, Part.LOSS, Part.GRADIENT_MAP, Part.SIGN))
"""What a comparison tells."""
INSIDE = Letter("map loss")
SENSE: Prose = (INSIDE, " stands inside the gradient map of the update, ", Letter("modified loss"), " behind a factor ",
                Letter("P"), "; the sign is that of ", Letter("modified loss"))  # fmt: skip
"""Said below a comparison in which both losses stand."""
RATED = (
    "rate(n) > 0: the learning rate of step n is h rate(n); M and the losses hold where the rate changes little while "
    "memory fades"
)
"""Said below a comparison with a schedule in it."""
DEPENDS = "at the default parameters; at others it may be another"


@record(frozen=True)
class Compared:
    """One optimizer of a comparison: what is shown of its account."""

    account: Account

    @property
    def title(self) -> str:
        """The name of the optimizer for people."""
        return str(self.account.optimizer.title)

    @property
    def correction(self) -> Expr | None:
        """M in the limit of many steps; None where there is none."""
        return self.account.limit.M if isinstance(self.account.limit, Limit) else None

    @property
    def loss(self) -> Expr | None:
        """The potential of the modified loss; None where there is none."""
        loss = self.account.modified_loss
        return loss.potential if isinstance(loss, ModifiedLoss) else None

    @property
    def inside(self) -> Expr | None:
        """The modified loss inside the gradient map, where there is one that is not the modified loss itself."""
        found = self.account.gradient_map_loss
        if not isinstance(found, GradientMapLoss):
            return None
        same = self.loss is not None and is_same(self.loss, found.potential)
        return None if same else found.potential

    @property
    def sign(self) -> int | None:
        """1: large gradients are penalised; -1: they are rewarded; 0: the loss stays; None: not known."""
        return None if self.account.sign is None else self.account.sign.sign

    @property
    def depends(self) -> bool:
        """Whether the sign is that at the default parameters alone."""
        return self.account.sign is not None and not self.account.sign.everywhere

    @property
    def is_rated(self) -> bool:
        """Whether h is ``h rate(n)``: a schedule whose rate does not settle at 1."""
        return self.correction is not None and self.correction.has(RATE)

    @property
    def note(self) -> Prose:
        """The limit in which the modified loss holds, or why there is none."""
        loss = self.account.modified_loss
        if isinstance(loss, ModifiedLoss):
            which: Prose = (Letter("modified loss"), " as ") if self.inside is not None else ("as ",)
            return () if loss.regime.is_exact else (*which, loss.regime)
        if isinstance(loss, Obstruction):
            known = "no modified loss: " if loss.is_denial else "no modified loss was found: "
            return (known, *loss.reason.parts)
        return ("no modified loss: ", *missing_prose(loss)) if isinstance(loss, Missing) else ()

    @property
    def formulas(self) -> tuple[tuple[Formula, Expr], ...]:
        """Left-hand side and right-hand side."""
        parts = ((Letter("M"), self.correction), (Letter("modified loss"), self.loss), (INSIDE, self.inside))
        return tuple((left, shown(value)) for left, value in parts if value is not None)
