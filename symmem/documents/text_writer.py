"""Sentences, headings and formulas as lines of a terminal, for one optimizer; below terminal.py and comparison."""

from __future__ import annotations

from sympy import Expr

from symmem.declaration.optimizer import Optimizer
from symmem.documents.columns import Style, columns, filled, unbroken, wrapped
from symmem.documents.prose import Prose
from symmem.documents.section import Section
from symmem.documents.spelling import Spelling
from symmem.notation.writable import Writable
from symmem.records import record


@record(frozen=True)
class TextWriter:
    """Writes in one style what one spelling says."""

    spelling: Spelling
    style: Style

    @classmethod
    def of(cls, optimizer: Optimizer, style: Style) -> TextWriter:
        """The writer that spells this optimizer's symbols."""
        return cls(Spelling.of(optimizer), style)

    def section(self, section: Section) -> list[str]:
        """Title, lead, equations with their signs in one column, notes."""
        lines = self.heading(section.title)
        lines += self.prose(section.lead, "  ", "  ")
        labels = [self.flat(equation.label) for equation in section.equations]
        width = max(map(columns, labels), default=0)
        for label, equation in zip(labels, section.equations, strict=True):
            lines += self.formula(equation.value, f"    {filled(label, width)} = ")
        for note in section.notes:
            lines += self.prose(note, "  - ", "    ")
        return lines

    def heading(self, title: str) -> list[str]:
        """A title, bold where there are colours."""
        lines = self.prose((title,), "", "  ")
        return [f"\x1b[1m{line}\x1b[0m" for line in lines] if self.style.colour else lines

    def prose(self, prose: Prose, first: str, later: str) -> list[str]:
        """The sentence wrapped to the width, but for formulas, which stay whole where they fit."""
        parts = []
        for part in prose:
            if isinstance(part, str):
                parts.append(self.style.plain(part))
                continue
            formula = self.flat(part)
            parts.append(unbroken(formula) if len(later) + len(formula) < self.style.width else formula)
        return wrapped("".join(parts), self.style.width, first, later)

    def formula(self, value: Expr, prefix: str) -> list[str]:
        """The formula behind a prefix; a combining character takes no column, so spaces stand in for it."""
        room = columns(prefix)
        lines = self.spelling.text(
            value, unicode=self.style.unicode, width=self.style.width, prefix=" " * room
        )
        return (prefix + lines[room:]).split("\n")

    def flat(self, written: Writable) -> str:
        """On one line."""
        return self.spelling.text(written, unicode=self.style.unicode)
