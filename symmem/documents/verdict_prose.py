"""Verdicts in words: found, denied with a witness, or not found; terminal, notebook, paper and comparison say the same.

"There is none" stands only where it was shown; "None was found" is a different sentence (mathematics.md section 12).
"""

from __future__ import annotations

from math import ceil, floor, log10

from symmem.algebra.atoms import LR, is_scalar
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.loss.witness import Witness
from symmem.documents.prose import Prose
from symmem.notation.decimals import number_formula
from symmem.notation.formula import Atom, Decimal, Formula, Number, negated
from symmem.notation.statement import Equality, Grouped, Indexed, Letter

DIGITS = 4
"""So many digits of a witness are shown, and more where two numbers would look alike; data have them all."""


def obstruction_prose(found: Obstruction, letter: str = "F") -> Prose:
    """Whether there is none or none was found, from which order on, and why."""
    start: Prose = (" from ", Indexed(Letter(letter), Number(found.order)), " on") if found.order else ()
    if found.is_denial:
        return (
            "There is none",
            *start,
            ", for the ",
            Letter("P"),
            " of the update: ",
            *found.reason.parts,
            ".",
        )
    return ("None was found", *start, ": ", *found.reason.parts, ".")


def map_obstruction_prose(found: Obstruction) -> Prose:
    """The same for the loss inside a gradient map."""
    start = "There is none from " if found.is_denial else "None was found from "
    return (start, LR**found.order, " on: ", *found.reason.parts, ".")


def witness_prose(witness: Witness) -> Prose:
    """A place where the Jacobian is not symmetric, with the loss that docs/mathematics.md has."""
    return ("Witness: for the loss of mathematics.md section 12 at ", *witness_place(witness))


def witness_place(witness: Witness) -> Prose:
    """The place, from its point on, and what stands at (i, j) and at (j, i)."""
    i, j = (entry + 1 for entry in witness.entries)
    point = [part for x in witness.point for part in (", ", _short(float(x)))][1:]
    values = [part for name, x in witness.values for part in (", ", Equality(Atom(name), number_formula(x)))]
    largest = max(map(abs, witness.jacobian))
    digits = max(DIGITS, min(12, 2 + ceil(log10(largest / abs(witness.gap)))))
    less: Prose = ()
    if witness.decay != 0:
        less = (" less ", _short(witness.decay), " ", Atom("theta"), "/", Letter("P"))
    return (
        Atom("theta"), " = (", *point, ")", *values,
        ", the entries ", Grouped((Number(i), Number(j))), " and ", Grouped((Number(j), Number(i))),
        " of the Jacobian of ", *witness.what.parts, *less, " are ", _short(witness.jacobian[0], digits), " and ",
        _short(witness.jacobian[1], digits), "; they differ by ", _short(witness.gap), ".",
    )  # fmt: skip


def flow_prose(found: ModifiedLoss | Obstruction) -> Prose:
    """What kind of flow the modified equation is; a factor that is no scalar makes it a preconditioned one."""
    if isinstance(found, ModifiedLoss):
        regime: Prose = () if found.regime.is_exact else (", in the limit ", found.regime)
        if is_scalar(found.preconditioner):
            return ("It is a gradient flow", *regime, ".")
        decay = "" if found.decay == 0 else " with a decay"
        return (f"It is a preconditioned gradient flow{decay}", *regime, ".")
    order = Indexed(Letter("G"), Number(found.order))
    if found.proved:
        return ("It is no gradient flow from ", order, " on, in two or more dimensions.")
    if found.is_denial:
        return ("It is no gradient flow with the ", Letter("P"), " of the update from ", order, " on.")
    return ("No loss was found, from ", order, " on, whose preconditioned gradient flow it is.")


def _short(value: float, digits: int = DIGITS) -> Formula:
    """The number to so many digits; very large and very small ones with a power of ten."""
    size = abs(value)
    exponent = floor(log10(size)) if size else 0
    if -DIGITS < exponent < digits:
        formula = Decimal(f"{size:.{digits - 1 - exponent}f}")
    else:
        formula = Decimal(f"{size / 10.0**exponent:.{digits - 1}f}", exponent)
    return negated(formula) if value < 0 else formula
