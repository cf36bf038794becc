"""An Account as a LaTeX fragment: displayed equations with a sentence before each group."""

from __future__ import annotations

from symmem import __version__
from symmem.documents.account import Account
from symmem.documents.latex_spelling import LatexSpelling
from symmem.documents.paper.escaping import escape
from symmem.documents.prose import Prose
from symmem.documents.section import Section
from symmem.documents.sections import sections
from symmem.notation.latex import TEXT_WIDTH
from symmem.notation.piece import EQUALS
from symmem.output.rendering import render


def latex_fragment(account: Account, width: float = TEXT_WIDTH) -> str:
    """The account for amsmath, without macros of ours, in a text so wide, in ems."""
    spelling = LatexSpelling.of(account.optimizer)
    parts = [_section(section, spelling, width) for section in sections(account)]
    title = escape(str(account.optimizer.title))
    return render("latex/derivation.tex.jinja", {"version": __version__, "title": title, "sections": parts})


def _sentence(prose: Prose, spelling: LatexSpelling) -> str:
    return "".join(escape(part) if isinstance(part, str) else f"${spelling.latex(part)}$" for part in prose)


def _section(section: Section, spelling: LatexSpelling, width: float) -> dict[str, object]:
    labels = [spelling.piece(equation.label) for equation in section.equations]
    room = width - max((label.width for label in labels), default=0)
    equations = [
        {"label": label.text, "lines": spelling.lines(equation.value, room, start=EQUALS)}
        for label, equation in zip(labels, section.equations, strict=True)
    ]
    return {
        "title": escape(section.title),
        "lead": _sentence(section.lead, spelling),
        "equations": equations,
        "notes": [_sentence(note, spelling) for note in section.notes],
    }
