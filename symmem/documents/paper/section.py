r"""A Derivation as a section of a paper: example, table, lemma, proof, limit, modified loss and equation, start.

Every formula is the engine's and is written by :mod:`.displays`; the words stand in ``templates/latex``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import Expr, Mul, Sum

from symmem import __version__
from symmem.algebra.atoms import AGO, LR, STEP
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.derivation.correction import finite_correction
from symmem.derivation.derivation import Derivation
from symmem.derivation.second_order import second_coefficient
from symmem.documents.paper.bibliography import MEMORY_PAPER, bibitems, bibtex, works_of
from symmem.documents.paper.consequences import limit, modified_equation, modified_loss, sentence, start
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.macros import FILE, MACROS, PAPER, SHORTHANDS
from symmem.documents.paper.proof import proof
from symmem.errors import DerivationError
from symmem.notation.latex import TEXT_WIDTH
from symmem.notation.shorthands import VARIABLE, abbreviated
from symmem.notation.tex_size import width
from symmem.output.rendering import render

FINITE_ORDER = 2
"""Symbolic n is known to this power of h; the limit to every power."""


MOST_ARGUMENTS = 5
"""More momentum variables than this are not all written as arguments."""


def paper_section(derivation: Derivation) -> str:
    r"""The section, to be \input; its macros are ``macros_file()``, its works ``paper_bibliography``."""
    return render("latex/section.tex.jinja", _section(derivation))


def standalone(derivation: Derivation) -> str:
    """A document with the section, its macros and its bibliography in it."""
    works = (*works_of(derivation.optimizer), MEMORY_PAPER)
    values = {
        "title": typeset(str(derivation.optimizer.title)),
        "macros": macros_file(),
        "file": FILE,
        "section": paper_section(derivation),
        "works": bibitems(works),
    }
    return render("latex/standalone.tex.jinja", values)


def macros_file() -> str:
    values = {"version": __version__, "file": FILE, "macros": [macro.line for macro in MACROS]}
    return render("latex/macros.tex.jinja", values)


def paper_bibliography(derivation: Derivation) -> str:
    return bibtex((*works_of(derivation.optimizer), MEMORY_PAPER))


def _section(derivation: Derivation) -> dict[str, object]:
    optimizer = derivation.optimizer
    writer = Writer(optimizer.symbols, optimizer.function_symbols)
    works = ",".join(work.key for work in works_of(optimizer))
    finite = min(derivation.order, FINITE_ORDER)
    return {
        "version": __version__,
        "name": optimizer.name,
        "title": typeset(str(optimizer.title)),
        "works": works,
        "paper": MEMORY_PAPER.key,
        "file": FILE,
        "order": derivation.order,
        "finite_order": finite,
        "example": _example(optimizer, writer),
        "parameters": _parameters(optimizer),
        "functions": _functions(optimizer),
        "table": _table(optimizer, writer),
        "update": writer.inline(optimizer.phi),
        "assumptions": [sentence(str(assumption), optimizer) for assumption in derivation.assumptions],
        **_lemma(derivation, writer, finite),
        "proof": proof(optimizer, writer, finite),
        "limit": _attempt(limit, derivation, writer),
        "modified_loss": _attempt(modified_loss, derivation, writer),
        "modified_equation": _attempt(modified_equation, derivation, writer),
        "start": _attempt(start, derivation, writer),
    }


def _attempt(
    builder: Callable[[Derivation, Writer], dict[str, object]], derivation: Derivation, writer: Writer
) -> dict[str, object]:
    """A part of the section; where there is none, the reason."""
    try:
        return {"reason": "", **builder(derivation, writer)}
    except DerivationError as error:
        return {"reason": sentence(str(error), derivation.optimizer)}


def _example(optimizer: Optimizer, writer: Writer) -> str:
    """Phi and the momentum variables, as the paper writes its examples."""
    count = len(optimizer.momentum)
    step = rf"\btheta^{{(n)}} - \lr \update({_momenta(count, '^{(n + 1)}')})"
    rows = [
        Row(r"\btheta^{(n + 1)}", (step,)),
        Row(rf"\update({_momenta(count)})", (optimizer.phi,)),
    ]
    for position, variable in enumerate(optimizer.momentum, start=1):
        value, moment = _momentum(variable)
        at = replace(PAPER, theta=rf"\btheta^{{({moment})}}")
        rows.append(Row(rf"\mom_{{{position}}}^{{(n + 1)}}", (value,), macros=at, arguments=True))
    return writer.display(rows)


def _momenta(count: int, step: str = "") -> str:
    """The momentum variables in a row; of many, the first and the last."""
    shown = [rf"\mom_{{{k}}}{step}" for k in range(1, count + 1)]
    return ", ".join(shown if count <= MOST_ARGUMENTS else [shown[0], r"\ldots", shown[-1]])


def _momentum(variable: Momentum) -> tuple[Expr, str]:
    """``b sum_k beta^k g`` with the index of the iterate at which g is taken; ``0^0 = 1``."""
    if variable.beta == 0:
        return variable.b * variable.g, "n"
    number, rest = variable.g.as_coeff_Mul()
    return Mul(number, variable.b, Sum(variable.beta**AGO * rest, (AGO, 0, STEP))), "n - k"


def _parameters(optimizer: Optimizer) -> list[dict[str, str]]:
    listed = []
    for parameter in optimizer.parameters:
        interval = str(parameter.range).replace("-inf", r"-\infty").replace("inf)", r"\infty)")
        listed.append({"symbol": parameter.latex, "range": interval, "name": typeset(parameter.name)})
    return listed


def _functions(optimizer: Optimizer) -> list[dict[str, str]]:
    kinds = {True: "the gradient of a potential", False: "a vector function"}
    return [{"symbol": f.latex, "kind": kinds[f.potential is not None]} for f in optimizer.functions]


def _table(optimizer: Optimizer, writer: Writer) -> list[list[str]]:
    """The cells of the table: number, g, beta, b; a cell that is too wide is broken into lines."""
    share = TEXT_WIDTH / 2 - 5
    rows = []
    for position, variable in enumerate(optimizer.momentum, start=1):
        cells = [str(position)]
        for part in (variable.g, variable.beta, variable.b):
            inline = writer.inline(part)
            if width(inline) > share:
                lines = writer.lines(Row("", (part,)), part, share)
                inline = r"\begin{aligned} & " + r" \\ & ".join(lines) + r" \end{aligned}"
            cells.append(inline)
        rows.append(cells)
    return rows


def _lemma(derivation: Derivation, writer: Writer, order: int) -> dict[str, object]:
    """F^(n), the coefficients of the correction, and the short-hands in them with their definitions."""
    optimizer = derivation.optimizer
    coefficients = (
        [finite_correction(derivation.method)] if order == 1 else [finite_correction(derivation.method) / LR]
    )
    coefficients += [second_coefficient(derivation.method)] if order == 2 else []
    taken = " ".join(optimizer.symbols.values())
    letters = [name for name, definition in SHORTHANDS if definition not in taken]
    short, shorthands = abbreviated(coefficients, letters, lambda part: width(writer.inline(part)))
    names = dict(writer.names)
    for shorthand in shorthands:
        for parameter, symbol in shorthand.uses:
            names[symbol.name] = rf"\{shorthand.letter}_{{n}}({writer.inline(parameter)})"
    definitions = [
        Row(rf"\{shorthand.letter}_{{n}}({VARIABLE})", (shorthand.template,)) for shorthand in shorthands
    ]
    abbreviating = Writer(names, writer.functions)
    name = optimizer.name
    step = r"\bF^{(n)}(\memless^{(n)}) + \bM^{(n)}(\memless^{(n)})"
    rows = [
        Row(r"\memless^{(n + 1)}", (rf"\memless^{{(n)}} - \lr \bigl[ {step} \bigr]",)),
        Row(r"\bF^{(n)}(\btheta)", (derivation.F,), f"eq:{name}-update"),
    ]
    if order == 1:
        rows.append(Row(r"\bM^{(n)}(\btheta)", (short[0],), f"eq:{name}-correction"))
    else:
        rows.append(
            Row(r"\bM^{(n)}(\btheta)", (r"\lr \bF_{1}^{(n)}(\btheta) + \lr^{2} \bF_{2}^{(n)}(\btheta)",))
        )
        for j, value in enumerate(short, start=1):
            rows.append(Row(rf"\bF_{{{j}}}^{{(n)}}(\btheta)", (value,), f"eq:{name}-F{j}"))
    return {
        "formulas": abbreviating.display(rows, end="," if shorthands else "."),
        "shorthands": writer.display(definitions) if definitions else "",
    }
