"""A Derivation as a list of titled sections: what is shown, in which order, in every format.

The terminal and LaTeX forms differ in spelling alone; a part that does not exist says why in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sympy import Expr

from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError

At = int | Literal["n", "limit"]
"""The step at which the iteration is shown: a number, symbolic n (with the limit), or the limit alone."""


@dataclass(frozen=True)
class Label:
    """The left-hand side of an equation, in each alphabet."""

    unicode: str
    ascii: str
    latex: str


@dataclass(frozen=True)
class Equation:
    label: Label
    value: Expr


@dataclass(frozen=True)
class Section:
    """A title, an explanation in words, equations, and notes below them."""

    title: str
    lead: str = ""
    equations: tuple[Equation, ...] = ()
    notes: tuple[str, ...] = ()


def sections(derivation: Derivation, at: At) -> tuple[Section, ...]:
    """The sections of a report; the formulas are computed here."""
    if at == "limit":
        derivation.limit  # noqa: B018  # who asks for the limit alone is told by an error that there is none
    builders: list[Callable[[Derivation], Section]] = []
    if at != "limit":
        builders.append(lambda d: _iteration(d, at))
    if not isinstance(at, int):
        builders += [_limit, _modified_loss, _modified_equation, _start]
    return (*(_attempt(builder, derivation) for builder in builders), _assumptions(derivation))


def _attempt(builder: Callable[[Derivation], Section], derivation: Derivation) -> Section:
    try:
        return builder(derivation)
    except DerivationError as error:
        if builder not in _TITLES:
            raise
        return Section(_TITLES[builder], notes=(f"There is none: {error}.",))


def _iteration(derivation: Derivation, at: At) -> Section:
    if isinstance(at, int):
        iteration = derivation.at(at)
        title, shown = f"Memoryless iteration at step n = {at}", str(at)
        return Section(title, _STEP, _pair(iteration.F, iteration.M, shown, shown))
    return Section("Memoryless iteration", _STEP, _pair(derivation.F, derivation.M, "n", "ⁿ"))


_STEP = "theta <- theta - h [F + M], where M is the correction of memory."


def _pair(update: Expr, correction: Expr, step: str, raised: str) -> tuple[Equation, Equation]:
    if raised.isdecimal():
        raised = raised.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

    def label(letter: str) -> Label:
        return Label(f"{letter}⁽{raised}⁾", f"{letter}^({step})", rf"\boldsymbol{{{letter}}}^{{({step})}}")

    return Equation(label("F"), update), Equation(label("M"), correction)


def _limit(derivation: Derivation) -> Section:
    limit = derivation.limit
    labels = (Label(f"{x}", f"{x}", rf"\boldsymbol{{{x}}}^{{(\infty)}}") for x in "FM")
    pairs = zip(labels, (limit.F, limit.M), strict=True)
    return Section("Limit of many steps", "", tuple(Equation(label, value) for label, value in pairs))


def _modified_loss(derivation: Derivation) -> Section:
    title = _TITLES[_modified_loss]
    if derivation.obstruction is not None:
        obstruction = derivation.obstruction
        terms = tuple(Equation(Label("term", "term", r"\text{term}"), term) for term in obstruction.terms)
        return Section(title, f"There is none: {obstruction.reason}.", terms)
    found = derivation.modified_loss
    assert found is not None
    decay = " - h decay theta" if found.decay != 0 else ""
    lead = f"The step is theta <- theta - h P grad L~{decay}"
    lead += "." if found.regime == "exact" else f", in the limit {found.regime}."
    equations = [
        Equation(Label("L̃", "L~", r"\tilde{\mathcal{L}}"), found.potential),
        Equation(Label("P", "P", "P"), found.preconditioner),
    ]
    if found.decay != 0:
        equations.append(Equation(Label("decay", "decay", r"\text{decay}"), found.decay))
    notes = []
    if found.rate is not None:
        notes.append(f"Off the zeros of the gradient's entries the difference of the two steps is {found.rate}.")
    if not found.potential.free_symbols & {s for s in derivation.limit.M.free_symbols if s.name == "lr"}:
        notes.append("Memory leaves the loss as it is, to this order.")
    return Section(title, lead, tuple(equations), tuple(notes))


def _modified_equation(derivation: Derivation) -> Section:
    equations = tuple(
        Equation(Label(f"G{'₀₁₂₃₄₅₆₇₈₉'[j]}", f"G_{j}", rf"\boldsymbol{{G}}_{{{j}}}"), value)
        for j, value in enumerate(derivation.modified_equation)
    )
    return Section(_TITLES[_modified_equation], "theta' = G_0 + h G_1 is followed up to O(h^2).", equations)


def _start(derivation: Derivation) -> Section:
    if all(shift == 0 for shift in derivation.shift):
        return Section(_TITLES[_start], "The limit form starts at theta_0 itself: no gain depends on n.")
    equations = tuple(
        Equation(Label(f"d{'₁₂₃'[j]}", f"d_{j + 1}", rf"\boldsymbol{{d}}_{{{j + 1}}}"), value)
        for j, value in enumerate(derivation.shift)
    )
    return Section(_TITLES[_start], "The limit form starts at theta_0 + h d_1, all taken at theta_0.", equations)


def _assumptions(derivation: Derivation) -> Section:
    return Section("Assumptions", notes=tuple(str(item) for item in derivation.assumptions))


_TITLES: dict[Callable[[Derivation], Section], str] = {
    _limit: "Limit of many steps",
    _modified_loss: "Modified loss",
    _modified_equation: "Modified equation",
    _start: "Start",
}
