"""Accounts and declarations in a notebook, as HTML and as LaTeX; the notebook's MathJax sets the formulas."""

from __future__ import annotations

from typing import Any

from sympy import Expr

from symmem.algebra.atoms import GRAD, LOSS, LR, THETA
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.tex import latex_of_name
from symmem.documents.account import Account
from symmem.documents.latex_spelling import LatexSpelling
from symmem.documents.parts import Limit, Part
from symmem.documents.prose import Prose
from symmem.documents.scheduled import rate
from symmem.documents.section import Section
from symmem.documents.sections import coefficients_section, iteration_section, stated_sections
from symmem.documents.update import MEMORY, PHI, momenta, notes, remembered, step
from symmem.documents.verdict_sections import gradient_map_section, loss_section
from symmem.notation import html
from symmem.notation.decimals import shown
from symmem.notation.formula import Atom, Number
from symmem.notation.latex import latex
from symmem.notation.statement import Indexed, Iterate, Letter, N, difference
from symmem.notation.writable import Writable

PARTS = frozenset((Part.ITERATION, Part.LIMIT, Part.LOSS, Part.GRADIENT_MAP, Part.ASSUMPTIONS))
"""What a notebook shows."""
LETTERS = {"eps": r"\varepsilon", "weight_decay": r"\lambda"}
"""Letters that parameters have throughout the zoo, for an expression that does not know its optimizer."""


def account_html(account: Account) -> str:
    """The iteration at step n and in the limit, modified losses, and the three lists; what is missing says why."""
    spelling = LatexSpelling.of(account.optimizer)
    parts = (
        iteration_section(account),
        coefficients_section(account),
        loss_section(account),
        gradient_map_section(account),
        *stated_sections(account),
    )
    told = [_section(part, spelling) for part in parts if part is not None]
    return html.page(str(account.optimizer.title), f"to the power {account.order} of h", told)


def account_latex(account: Account) -> str:
    """The memoryless iteration in the limit."""
    spelling = LatexSpelling.of(account.optimizer)
    values = account.limit.coefficients if isinstance(account.limit, Limit) else ()
    labels = (spelling.latex(Indexed(Letter("F"), Number(j))) for j in range(len(values)))
    return _aligned(
        [f"{label} &= {spelling.latex(shown(value))}" for label, value in zip(labels, values, strict=True)]
    )


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext symmem``: an expression by itself, such as ``d.limit.M``, is shown as a paper has it."""
    shell.display_formatter.formatters["text/latex"].for_type(Expr, expression_latex)


def expression_latex(expression: Expr) -> str:
    """An expression in the letters of the theory; SymPy's own LaTeX where none of them is in it."""
    if not expression.free_symbols & {GRAD, THETA, LOSS, LR}:
        return str(expression._repr_latex_())
    given = sorted(symbol.name for symbol in expression.free_symbols - {GRAD, THETA, LOSS, LR})
    names = {name: LETTERS.get(name) or latex_of_name(name) for name in given}
    return rf"$\displaystyle {latex(shown(expression), names=names)}$"


def optimizer_html(optimizer: Optimizer) -> str:
    """Phi and the table of the momentum variables."""
    spelling = LatexSpelling.of(optimizer)

    def cell(written: Writable) -> html.Words:
        return [html.Mathematics(spelling.latex(written))]

    rows = [
        [cell(name), cell(shown(variable.g)), cell(remembered(variable)), cell(shown(variable.b))]
        for name, variable in zip(momenta(optimizer), optimizer.momentum, strict=True)
    ]
    update = step(optimizer)
    scheduled = [] if optimizer.schedule is None else [(rate(N), optimizer.schedule)]
    equations = [(update.left, update.right), *scheduled, (PHI, shown(optimizer.phi))]
    written = [(spelling.latex(left), spelling.latex(right)) for left, right in equations]
    heads = [MEMORY, Letter("g"), Letter("beta"), Letter("b")]
    parts = [html.display(written), html.table([cell(head) for head in heads], rows)]
    parts += [html.sentence(_written(note, spelling)) for note in notes(optimizer)]
    return html.page(str(optimizer.title), optimizer.reference, parts)


def optimizer_latex(optimizer: Optimizer) -> str:
    """Phi and the momentum variables."""
    spelling = LatexSpelling.of(optimizer)
    lines = [rf"{spelling.latex(PHI)} &= {spelling.latex(shown(optimizer.phi))}"]
    if optimizer.schedule is not None:
        lines.insert(0, rf"{spelling.latex(rate(N))} &= {spelling.latex(optimizer.schedule)}")
    for name, m in zip(momenta(optimizer), optimizer.momentum, strict=True):
        summed = m.beta != 0
        kernel = rf"\sum_{{k=0}}^{{n}} ({spelling.latex(m.beta)})^{{k}} " if summed else ""
        ago = Atom("k") if summed else Number(m.delay)
        past = spelling.latex(Iterate(difference(N, ago) if summed or m.delay else N))
        value = rf"{spelling.latex(m.b)} \, {kernel}\Bigl[ {spelling.latex(m.g)} \Bigr]_{{{past}}}"
        lines.append(f"{spelling.latex(name)} &= {value}")
    return _aligned(lines)


def _section(section: Section, spelling: LatexSpelling) -> str:
    equations = [
        (spelling.latex(equation.label), spelling.latex(equation.value)) for equation in section.equations
    ]
    caption = html.caption(section.title, _written(section.lead, spelling))
    notes = [_written(note, spelling) for note in section.notes]
    if not equations and not section.lead:
        return caption + html.items(notes)
    return caption + (html.display(equations) if equations else "") + "".join(map(html.sentence, notes))


def _written(prose: Prose, spelling: LatexSpelling) -> html.Words:
    return [part if isinstance(part, str) else html.Mathematics(spelling.latex(part)) for part in prose]


def _aligned(lines: list[str]) -> str:
    return "$$\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$$"
