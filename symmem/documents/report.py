"""A Derivation as a list of titled sections: what is shown, in which order, in every format.

The terminal and LaTeX forms differ in spelling alone; a part that does not exist says why in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sympy import Add, Expr

from symmem.algebra.atoms import LR, STEP, THETA
from symmem.derivation.derivation import Derivation, MemorylessIteration
from symmem.derivation.modified_loss import ModifiedLoss
from symmem.derivation.quadratic import EIGENVALUE
from symmem.documents.decimals import decimal, power_digits, shown
from symmem.documents.words import Label, Words, found, marked, mathematics
from symmem.errors import DerivationError
from symmem.notation.latex import latex
from symmem.notation.symbols import superscript
from symmem.notation.text import text

At = int | Literal["n", "limit"]
"""The step at which the iteration is shown: a number, symbolic n (with the limit), or the limit alone."""

MOST_POWER_DIGITS = 50_000
"""Exact numbers of more digits than this are not computed."""


@dataclass(frozen=True)
class Equation:
    label: Label
    value: Expr


@dataclass(frozen=True)
class Section:
    """A title, an explanation in words, equations, and notes below them."""

    title: str
    lead: Words = ()
    equations: tuple[Equation, ...] = ()
    notes: tuple[Words, ...] = ()


def sections(derivation: Derivation, at: At, *, quadratic: bool = False) -> tuple[Section, ...]:
    """The sections of a report; the formulas are computed here, with long numbers rounded."""
    if at == "limit":
        derivation.limit  # noqa: B018  # who asks for the limit alone is told by an error that there is none
    parts = [_iteration(derivation, at)] if isinstance(at, int) else []
    if at == "n":
        parts.append(_attempt("Memoryless iteration", lambda d, _: _iteration(d, at), derivation))
    if not isinstance(at, int):
        parts += [_attempt(title, builder, derivation) for title, builder in _LIMIT_PARTS]
    if quadratic:
        parts.append(quadratic_section(derivation))
    return (*map(_readable, parts), _assumptions(derivation))


def iteration_at(derivation: Derivation, at: At) -> MemorylessIteration:
    """The iteration at symbolic n, in the limit, or at a step whose exact numbers can be computed."""
    if at == "limit":
        return derivation.limit
    if at == "n":
        return MemorylessIteration(derivation.F, derivation.M)
    optimizer = derivation.optimizer
    powers = [part for variable in optimizer.momentum for part in (variable.beta**STEP, variable.b)]
    most = (derivation.order + 1) * max(power_digits(part, at) for part in powers)
    if most > MOST_POWER_DIGITS:
        raise DerivationError(
            f"{optimizer.name}: step {at}: with numbers for the betas the result has exact numbers of about "
            f"{most} digits; take a smaller step, leave the betas symbolic, or ask for the limit"
        )
    return derivation.at(at)


def _readable(section: Section) -> Section:
    equations = tuple(Equation(equation.label, shown(equation.value)) for equation in section.equations)
    return Section(section.title, section.lead, equations, section.notes)


def _attempt(title: str, builder: Callable[[Derivation, str], Section], derivation: Derivation) -> Section:
    try:
        return builder(derivation, title)
    except DerivationError as error:
        return Section(title, found(f"There is none: {error}."))


def _iteration(derivation: Derivation, at: At) -> Section:
    iteration = iteration_at(derivation, at)
    labels = [
        Label(f"{letter}⁽{superscript(str(at))}⁾", f"{letter}^({at})", rf"\boldsymbol{{{letter}}}^{{({at})}}")
        for letter in "FM"
    ]
    title = "Memoryless iteration" + (f" at step n = {at}" if isinstance(at, int) else "")
    lead = marked("`theta <- theta - h [F + M]`, where `M` is the correction of memory.")
    return Section(title, lead, (Equation(labels[0], iteration.F), Equation(labels[1], iteration.M)))


def _limit(derivation: Derivation, title: str) -> Section:
    if derivation.order > 1:
        lead = marked(f"`theta <- theta - h [{_series('', 'F', range(derivation.order + 1))}]`")
        values = enumerate(derivation.coefficients)
        return Section(
            title, (*lead, "."), tuple(Equation(mathematics(f"F_{j}"), value) for j, value in values)
        )
    limit = derivation.limit
    labels = [Label(letter, letter, rf"\boldsymbol{{{letter}}}^{{(\infty)}}") for letter in "FM"]
    return Section(title, (), (Equation(labels[0], limit.F), Equation(labels[1], limit.M)))


def _modified_loss(derivation: Derivation, title: str) -> Section:
    if derivation.obstruction is not None:
        obstruction = derivation.obstruction
        terms = tuple(Equation(Label("term", "term", r"\text{term}"), term) for term in obstruction.terms)
        start = f" from `F_{obstruction.order}` on" if obstruction.order else ""
        return Section(title, marked(f"There is none{start}: {obstruction.reason}."), terms)
    loss = derivation.modified_loss
    assert loss is not None
    names = derivation.optimizer.symbols
    regime = () if loss.regime == "exact" else marked(f", in the limit `{loss.regime}`", names)
    lead = (*marked("The step is "), *_step(derivation, loss), *regime, ".")
    equations = (
        Equation(mathematics("L~"), loss.potential),
        Equation(Label("P", "P", "P"), loss.preconditioner),
    )
    notes = []
    if loss.rate is not None:
        sentence = (
            f"Off the zeros of the gradient's entries the difference of the two steps is `{loss.rate}`."
        )
        notes.append(marked(sentence, names))
    if LR not in loss.potential.free_symbols:
        notes.append(marked("Memory leaves the loss as it is, to this order."))
    return Section(title, lead, equations, tuple(notes))


def _step(derivation: Derivation, loss: ModifiedLoss) -> Words:
    """``theta <- theta - h P grad L~``, with the decay in it where there is one."""
    if loss.decay == 0:
        return marked("`theta <- theta - h P grad L~`")
    decay = shown(loss.decay * THETA)
    names, functions = derivation.optimizer.symbols, derivation.optimizer.function_symbols
    unicode, ascii_ = (
        text(decay, names=names, functions=functions, width=10**6, unicode=alphabet)
        for alphabet in (True, False)
    )
    step = mathematics("theta <- theta - h (P grad L~ +")
    written = latex(decay, names=names, functions=functions)
    return (Label(f"{step.unicode} {unicode})", f"{step.ascii} {ascii_})", f"{step.latex} {written})"),)


def _series(first: str, letter: str, powers: range) -> str:
    """``theta_0 + h d_1 + h^2 d_2``, in ASCII."""
    steps = {0: "", 1: "h "}
    terms = [f"{steps.get(j, f'h^{j} ')}{letter}_{j}" for j in powers]
    return " + ".join([first, *terms] if first else terms)


def _modified_equation(derivation: Derivation, title: str) -> Section:
    values = derivation.modified_equation
    equations = tuple(Equation(mathematics(f"G_{j}"), value) for j, value in enumerate(values))
    flow = _series("", "G", range(len(values)))
    lead = marked(f"`theta' = {flow}` is followed up to `O(h^{len(values)})`.")
    return Section(title, lead, equations, _gradient_flow(derivation))


def _gradient_flow(derivation: Derivation) -> tuple[Words, ...]:
    """Whether the modified equation of a method with an exact modified loss is a gradient flow too."""
    loss = derivation.modified_loss
    if loss is None or loss.regime != "exact":
        return ()
    flow = derivation.flow_loss
    if isinstance(flow, ModifiedLoss):
        return (marked("It is a gradient flow."),)
    return (marked(f"It is no gradient flow from `G_{flow.order}` on, in two or more dimensions."),)


def _start(derivation: Derivation, title: str) -> Section:
    if all(shift == 0 for shift in derivation.shift):
        return Section(title, marked("The limit form starts at `theta_0` itself: no gain depends on `n`."))
    equations = tuple(
        Equation(mathematics(f"d_{j}"), value) for j, value in enumerate(derivation.shift, start=1)
    )
    place = _series("theta_0", "d", range(1, len(equations) + 1))
    return Section(title, marked(f"The limit form starts at `{place}`, all taken at `theta_0`."), equations)


def _assumptions(derivation: Derivation) -> Section:
    names = derivation.optimizer.symbols
    # A warning quotes the declaration, where the names stand as they were typed.
    notes = tuple((str(a),) if a.warning else found(str(a), names) for a in derivation.assumptions)
    return Section("Assumptions", notes=notes)


def quadratic_section(derivation: Derivation) -> Section:
    """The iteration on a quadratic loss, mode by mode."""
    summed = derivation.quadratic
    equations = [Equation(Label("0", "0", "0"), summed.equation)]
    if summed.root is not None:
        equations.append(Equation(Label("μ", "mu", r"\mu"), summed.root))
    product = LR * EIGENVALUE
    series = Add(*(value * product**j for j, value in enumerate(summed.series)))
    flow = Add(*(EIGENVALUE * value * product**j for j, value in enumerate(summed.flow)))
    equations.append(Equation(Label("μ, series", "mu, series", r"\mu \text{ (series)}"), series))
    equations.append(Equation(Label("log(μ)/h", "log(mu)/h", r"\log(\mu)/h"), flow))
    lead = marked(
        "An eigenvalue `a` of the Hessian, and iterates that shrink by `mu` a step; the slow root is 1 at `h = 0`."
    )
    if summed.radius is None:
        return Section("Quadratic loss", lead, tuple(equations), (("The series ends.",),))
    at = ", ".join(f"{name} = {decimal(value)}" for name, value in summed.values)
    note = marked(f"The series converges for `|h a| < {summed.radius:.6g}`" + (f" at {at}." if at else "."))
    return Section("Quadratic loss", lead, tuple(equations), (note,))


_LIMIT_PARTS: tuple[tuple[str, Callable[[Derivation, str], Section]], ...] = (
    ("Limit of many steps", _limit),
    ("Modified loss", _modified_loss),
    ("Modified equation", _modified_equation),
    ("Start", _start),
)
