"""The conditions (C1) to (C3) of the theorem, checked for one method: the first words of the proof of its lemma."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Abs, Expr, Symbol

from symmem.algebra.atoms import AGO, momentum_symbol
from symmem.algebra.intervals import Interval
from symmem.algebra.ranges import bounds
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.conditions.every_history import EveryHistory
from symmem.documents.paper.displays import Writer
from symmem.notation.formula import Number
from symmem.notation.statement import Indexed, Letter


def conditions(
    optimizer: Optimizer, found: EveryHistory, writer: Writer, *, warned: bool
) -> dict[str, Sequence[str]]:
    """The sentences of (C1), (C2) and (C3)."""
    return {
        "smooth": _smooth(found, writer, warned),
        "bounded": "the gradient and the iterates are" if found.reads_theta else "the gradient is",
        "faded": _faded(optimizer, writer),
    }


def _smooth(found: EveryHistory, writer: Writer, warned: bool) -> list[str]:
    """Why what is divided by, or stands under a root, keeps away from zero."""
    told: list[str] = []
    read = {symbol for inner in found.away for symbol in inner.free_symbols}
    signed = [place for place in found.nonnegative if momentum_symbol(place) in read]
    if signed:
        values = _listed([f"${_letter('g', place, writer)}$" for place in signed])
        variables = _listed([f"${_letter('m', place, writer)} \\geq 0$" for place in signed])
        told.append(
            f"The weights, and the values of {values}, are not negative, so that {variables} on every history."
        )
    if found.away:
        told.append(f"Roots and quotients are those of {_which(found.away, writer)} nowhere zero.")
    if found.near and not warned:
        supposed = "not zero at the frozen point; that this holds along the iterations is supposed here"
        told.append(f"Roots and quotients are those of {_which(found.near, writer)} {supposed}.")
    return told


def _which(inner: Sequence[Expr], writer: Writer) -> str:
    verb = "is" if len(inner) == 1 else "are"
    return f"{_listed([writer.in_text(each) for each in inner])}, which {verb}"


def _faded(optimizer: Optimizer, writer: Writer) -> list[str]:
    """The weight of the value from k steps ago in each momentum variable."""
    ranges: dict[Expr, Interval] = {
        Symbol(parameter.name): parameter.range for parameter in optimizer.parameters
    }
    fading: dict[Expr, list[str]] = {}
    delays, present = [], []
    for place, variable in enumerate(optimizer.momentum, start=1):
        letter = f"${_letter('m', place, writer)}$"
        if variable.delay:
            delays.append(letter)
        elif variable.beta == 0:
            present.append(letter)
        else:
            size = variable.beta if bounds(variable.beta, ranges).is_nonnegative else Abs(variable.beta)
            fading.setdefault(size, []).append(letter)
    told = []
    if fading:
        each = [f"${writer.inline(size**AGO)}$ in {_listed(letters)}" for size, letters in fading.items()]
        told.append(
            f"The value from $k$ steps ago has at most the weight, up to a constant, {_listed(each)}."
        )
    if delays:
        told.append(f"In {_listed(delays)} there is one value, of a fixed age.")
    if present and (fading or delays):
        told.append(f"In {_listed(present)} there is the present alone.")
    return told


def _letter(name: str, place: int, writer: Writer) -> str:
    return writer.inline(Indexed(Letter(name), Number(place)))


def _listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
