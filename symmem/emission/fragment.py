"""A report as a LaTeX fragment: displayed equations with a sentence before each group."""

from __future__ import annotations

import re

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.emission.render import render
from symmem.emission.report import At, Section, sections
from symmem.notation.latex import latex_lines

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
}  # fmt: skip
_MATHEMATICS = {
    "theta_0 + h d_1": r"\boldsymbol{\theta}_0 + h \boldsymbol{d}_1",
    "theta <- theta - h [F + M]": r"\boldsymbol{\theta} \leftarrow \boldsymbol{\theta} - h [\boldsymbol{F} + \boldsymbol{M}]",
    "theta <- theta - h P grad L~ - h decay theta": r"\boldsymbol{\theta} \leftarrow \boldsymbol{\theta} - h P \nabla \tilde{\mathcal{L}} - h \, \text{decay} \, \boldsymbol{\theta}",
    "theta <- theta - h P grad L~": r"\boldsymbol{\theta} \leftarrow \boldsymbol{\theta} - h P \nabla \tilde{\mathcal{L}}",
    "theta' = G_0 + h G_1": r"\dot{\boldsymbol{\theta}} = \boldsymbol{G}_0 + h \boldsymbol{G}_1",
    "O(h^2)": "O(h^2)",
    "theta_0": r"\boldsymbol{\theta}_0",
    " -> ": r" \to ",
}  # fmt: skip


def latex_report(derivation: Derivation, at: At) -> str:
    """The derivation as a LaTeX fragment for amsmath."""
    parts = [_section(section, derivation) for section in sections(derivation, at)]
    title = escape(str(derivation.optimizer.title))
    return render("latex/derivation.tex.jinja", {"version": __version__, "title": title, "sections": parts})


def escape(words: str) -> str:
    """Words with LaTeX's special characters made harmless, and the mathematics of the reports in them."""
    pattern = "|".join(re.escape(key) for key in (*_MATHEMATICS, *_SPECIAL))

    def written(match: re.Match[str]) -> str:
        found = match.group()
        return f"${_MATHEMATICS[found]}$" if found in _MATHEMATICS else _SPECIAL[found]

    return re.sub(pattern, written, words)


def _section(section: Section, derivation: Derivation) -> dict[str, object]:
    optimizer = derivation.optimizer
    functions = {f.name: (f.latex, f.potential) for f in optimizer.functions}
    equations = [
        {
            "label": equation.label.latex,
            "lines": latex_lines(equation.value, names=optimizer.symbols, functions=functions),
        }
        for equation in section.equations
    ]
    return {
        "title": section.title,
        "lead": escape(section.lead),
        "equations": equations,
        "notes": [escape(note) for note in section.notes],
    }
