"""A Derivation in a notebook, as HTML: the iteration at step n and in the limit, and the modified loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sympy import Expr

from symmem.errors import DerivationError
from symmem.notation import html
from symmem.notation.latex import latex

if TYPE_CHECKING:
    from symmem.derivation.derivation import Derivation

Equations = list[tuple[str, Expr]]


def html_view(derivation: Derivation) -> str:
    """The parts one below the other; one that does not exist says why."""
    parts = [_part(derivation, *part) for part in _PARTS]
    note = f"theta <- theta - h [F + M], to the power {derivation.order} of h"
    return html.page(str(derivation.optimizer.title), note, parts)


def _part(
    derivation: Derivation, caption: str, equations: Callable[[Derivation], tuple[str, Equations]]
) -> str:
    names, functions = derivation.optimizer.symbols, derivation.optimizer.function_symbols
    try:
        remark, rows = equations(derivation)
    except DerivationError as error:
        return html.sentence(f"{caption}: there is none: {error}")
    written = [(left, latex(right, names=names, functions=functions)) for left, right in rows]
    return html.display(caption + remark, written)


def _step(derivation: Derivation) -> tuple[str, Equations]:
    return "", [(r"\boldsymbol{F}^{(n)}", derivation.F), (r"\boldsymbol{M}^{(n)}", derivation.M)]


def _limit(derivation: Derivation) -> tuple[str, Equations]:
    """F_0, F_1, ...: F = F_0 and M = h F_1 + h^2 F_2 + ..."""
    return "", [(rf"\boldsymbol{{F}}_{{{j}}}", value) for j, value in enumerate(derivation.coefficients)]


def _modified_loss(derivation: Derivation) -> tuple[str, Equations]:
    loss, obstruction = derivation.modified_loss, derivation.obstruction
    if loss is None:
        raise DerivationError(str(obstruction.reason) if obstruction else "unknown")
    rows = [(r"\tilde{\mathcal{L}}", loss.potential), ("P", loss.preconditioner)]
    if loss.decay != 0:
        rows.append((r"\text{decay}", loss.decay))
    return "" if loss.regime == "exact" else f", in the limit {loss.regime}", rows


_PARTS: tuple[tuple[str, Callable[[Derivation], tuple[str, Equations]]], ...] = (
    ("Memoryless iteration at step n", _step),
    ("Limit of many steps", _limit),
    ("Modified loss: theta <- theta - h P grad L~ - h decay theta", _modified_loss),
)
