"""What follows from a derivation's assumptions, and what is not known: closeness to the optimizer, and its conditions.

Under the assumptions, for n <= T/h and h -> 0 (mathematics.md sections 2 and 6):

    the iteration of step n, from theta_0                           O(h^(P+1)) close, P = 1, 2
    the limit form from theta_0, F that does not depend on n         O(h^2) close
    the limit form from theta_0, gains that settle exponentially    O(h) close
    the limit form from theta_0 + h d_1 + ... + h^P d_P, P = 1, 2   O(h^(P+1)) close once the start has faded

"Once the start has faded" is n >= C log(1/h): before that the shift itself is seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from symmem.algebra.atoms import LR, STEP
from symmem.algebra.results import (
    Bound,
    Conclusion,
    Missing,
    Named,
    Part,
    Sentence,
    Start,
    Steps,
    Unknown,
    Whose,
)
from symmem.derivation.conditions.growth import growing, not_bounded
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.conditions.smoothness import smoothness
from symmem.derivation.gains import is_steady_step, unsettled
from symmem.derivation.scheduled import no_settled_rate, stopped
from symmem.method.method import Method

MOST_SHIFTS = 2
"""Shifts, and iterations at symbolic n, are known to this power of h."""
TIMES, CONSTANTS = ("T", "tau", "time"), ("C", "K", "const")
"""Letters for the time n h and for a constant: the first that no parameter of the method has."""


def conclusions(
    method: Method, order: int, finite: Expr | Missing, unshifted: Missing | None
) -> tuple[Conclusion, ...]:
    """How close the iterations stay; ``finite`` is M at step n, ``unshifted`` why there is no shift."""
    found: list[tuple[Part, ...]] = []
    is_bounded = next(growing(method), None) is None
    if not isinstance(finite, Missing) and not _is_singular(method, order) and is_bounded:
        words = (
            "the iteration of step ",
            STEP,
            " from the same ",
            Named("theta", 0),
            " is ",
            Bound(LR ** (order + 1)),
        )
        found.append((*words, " close for ", Steps(_free(TIMES, method))))
    if unshifted is None:
        found.append(_limit_form(method, order))
    condition = ("where no warning applies, ",) if smoothness(method, order).warnings else ()
    return tuple(Conclusion(Sentence.of(*condition, *words)) for words in found)


def _limit_form(method: Method, order: int) -> tuple[Part, ...]:
    """mathematics.md section 6: what the limit form costs, and the start that repairs it."""
    near = Bound(LR**2) if is_steady_step(method) else Bound(LR)
    same = ("the limit form from the same ", Named("theta", 0), " is ", near, " close")
    shifts = min(order, MOST_SHIFTS)
    if is_steady_step(method) and shifts == 1:
        return same
    close = (*same, "; from ", Start(shifts), " it is ", Bound(LR ** (shifts + 1)), " close")
    return (*close, " once the start has faded (", Steps(_free(CONSTANTS, method), late=True), ")")


def _free(letters: Sequence[str], method: Method) -> str:
    """The letter, or the one behind it where an author has it as a name or as a symbol."""
    taken = {word for each in method.parameters for word in (each.name, each.latex)}
    return next((letter for letter in letters if letter not in taken), f"{letters[-1]}_")


def unknown(method: Method, order: int, unshifted: Missing | None) -> tuple[Unknown, ...]:
    """The warnings, and the closeness that nothing proves."""
    found = list(smoothness(method, order).warnings)
    found += not_bounded(method)
    missing = (unsettled(method), no_settled_rate(method), stopped(method))
    if unshifted is not None and all(each is None for each in missing):
        which = "iteration of step n stays" if _is_singular(method, order) else "limit form comes"
        reason = (part for part in unshifted.reason.parts if not isinstance(part, Whose))
        words = (f"how close the {which} is not known: ", *reason)
        found.append(Unknown(Sentence.of(*words)))
    return tuple(dict.fromkeys(found))


def _is_singular(method: Method, order: int) -> bool:
    """Whether the gains settle where Phi is singular, so that nothing bounds the updates."""
    return unsettled(method) is None and singular_limit(method, order) is not None
