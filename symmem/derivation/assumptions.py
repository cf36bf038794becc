"""What a derivation rests on, and where it does not hold: one sentence each, with its mathematics as data."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Pow, Symbol

from symmem.algebra.atoms import LR, is_scalar
from symmem.algebra.intervals import DECAYS, Interval
from symmem.algebra.results import Assumption, Bound, Named, Sentence, Start
from symmem.algebra.signs import is_nonzero
from symmem.derivation.smoothness import smoothness, times
from symmem.method.method import Method

__all__ = ["Assumption", "assumptions"]


def assumptions(
    method: Method, order: int, shifted: bool, formulas: tuple[Expr, ...]
) -> tuple[Assumption, ...]:
    """What the results to the given order in h rest on; ``formulas`` are searched for poles at equal decays."""
    loss = f"the loss is {order + 2} times continuously differentiable, with bounded derivatives"
    found = [
        *_decays(method),
        *_distinct_decays(method, formulas),
        Assumption(Sentence.of(loss)),
        *smoothness(method, order),
        *(
            Assumption(Sentence.of(Symbol(f.name), f" is {times(order)} differentiable"))
            for f in method.functions
        ),
        *_start(shifted),
    ]
    return tuple(dict.fromkeys(found))


def _decays(method: Method) -> Iterator[Assumption]:
    """The sums over the past converge where every decay lies in its range."""
    for decay, interval in _ranges_of_decays(method).items():
        yield Assumption(Sentence.of(decay, " lies in ", interval))


def _ranges_of_decays(method: Method) -> dict[Expr, Interval]:
    decays = dict.fromkeys(decay for channel in method.channels for decay in channel.kernel.decays)
    return {decay: method.ranges.get(decay, DECAYS) for decay in decays if decay.free_symbols}


def _distinct_decays(method: Method, formulas: tuple[Expr, ...]) -> Iterator[Assumption]:
    """A closed form may have ``1/(beta1 - beta2)``: its value where that is zero is a limit.

    ``1/(1 - beta1 beta2)`` is no such pole: the ranges of the decays keep it away from zero.
    """
    ranges = {**method.ranges, **_ranges_of_decays(method)}
    for formula in formulas:
        for part in formula.atoms(Pow):
            pole = part.base
            below = isinstance(pole, Add) and part.exp.is_Rational and part.exp < 0 and is_scalar(pole)
            if below and not is_nonzero(pole, ranges):
                yield Assumption(
                    Sentence.of(pole, " is not 0 (where it is, derive again with those values set)")
                )


def _start(shifted: bool) -> list[Assumption]:
    """mathematics.md section 6: what the limit form costs, and the start that repairs it."""
    if not shifted:
        return []
    near, nearer = Bound(LR), Bound(LR**2)
    same = ("the limit form from the same ", Named("theta", 0), " is ", near, " close; from ")
    return [Assumption(Sentence.of(*same, Start(1), " it is ", nearer, " close"))]
