"""The formulas in the parts of a derivation, as a person reads them: each may have poles of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from sympy import Expr

from symmem.algebra.results import Missing
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.derivation.scheduled import SlowLimit

Part: TypeAlias = Expr | tuple[Expr, ...] | SlowLimit | ModifiedLoss | GradientMapLoss | Missing | None


def shown_formulas(parts: Iterable[Part]) -> Iterator[Expr]:
    """One after the other; of what is missing there are none."""
    for part in parts:
        if isinstance(part, Expr):
            yield part
        elif isinstance(part, tuple):
            yield from part
        elif isinstance(part, SlowLimit):
            yield from shown_formulas((part.F, part.M, part.leading))
        elif isinstance(part, ModifiedLoss | GradientMapLoss):
            yield part.potential
