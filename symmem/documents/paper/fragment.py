"""A report as a LaTeX fragment: displayed equations with a sentence before each group."""

from __future__ import annotations

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.documents.decimals import in_latex
from symmem.documents.paper.escaping import escape
from symmem.documents.report import At, Section, sections
from symmem.documents.words import Words
from symmem.notation.latex import TEXT_WIDTH, latex_lines
from symmem.notation.tex_size import EQUALS, width
from symmem.output.rendering import render


def latex_report(derivation: Derivation, at: At, *, quadratic: bool = False) -> str:
    """The derivation as a LaTeX fragment for amsmath."""
    parts = [_section(section, derivation) for section in sections(derivation, at, quadratic=quadratic)]
    title = escape(str(derivation.optimizer.title))
    return render("latex/derivation.tex.jinja", {"version": __version__, "title": title, "sections": parts})


def _sentence(words: Words) -> str:
    return "".join(escape(part) if isinstance(part, str) else f"${in_latex(part.latex)}$" for part in words)


def _section(section: Section, derivation: Derivation) -> dict[str, object]:
    names, functions = derivation.optimizer.symbols, derivation.optimizer.function_symbols
    labels = [f"{equation.label.latex} =" for equation in section.equations]
    room = TEXT_WIDTH - max(map(width, labels), default=0) + EQUALS
    equations = [
        {
            "label": equation.label.latex,
            "lines": [
                in_latex(line)
                for line in latex_lines(
                    equation.value, names=names, functions=functions, ems=room, start=EQUALS
                )
            ],
        }
        for equation in section.equations
    ]
    return {
        "title": escape(section.title),
        "lead": _sentence(section.lead),
        "equations": equations,
        "notes": [_sentence(note) for note in section.notes],
    }
