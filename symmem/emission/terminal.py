"""A report as text for a terminal: Unicode or ASCII, wrapped to a width, with the declaration above."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from sympy import Expr

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.emission.report import At, Equation, Section, sections
from symmem.notation.symbols import unicode_of
from symmem.notation.text import text

_WORDS = {
    "theta_0": "θ₀", "theta": "θ", "<-": "←", "->": "→", "L~": "L̃", "grad": "∇", " - ": " − ",
    "G_0": "G₀", "G_1": "G₁", "d_1": "d₁", "h^2": "h²",
}  # fmt: skip


@dataclass(frozen=True)
class Style:
    """What the terminal can show."""

    width: int = 80
    unicode: bool = True
    colour: bool = False


def terminal_report(derivation: Derivation, at: At, style: Style) -> str:
    """The derivation as text: declaration, formulas, assumptions."""
    writer = _Writer(derivation.optimizer, style)
    blocks = [writer.declaration(), *(writer.section(section) for section in sections(derivation, at))]
    return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class _Writer:
    optimizer: Optimizer
    style: Style

    def section(self, section: Section) -> str:
        lines = [self._heading(section.title)]
        if section.lead:
            lines += self._prose(section.lead, "  ", "  ")
        width = max((len(self._label(equation)) for equation in section.equations), default=0)
        for equation in section.equations:
            lines.append(self._formula(equation.value, f"    {self._label(equation):<{width}} = "))
        for note in section.notes:
            lines += self._prose(note, "  - ", "    ", plain=True)
        return "\n".join(lines)

    def declaration(self) -> str:
        optimizer = self.optimizer
        reference = f" ({optimizer.reference})" if optimizer.reference else ""
        count = len(optimizer.momentum)
        variables = ", ".join(self._formula_flat(f"m{position}") for position in range(1, count + 1))
        lines = [self._heading(f"{optimizer.title}{reference}")]
        step = "θₙ₊₁ = θₙ − h Φ({})" if self.style.unicode else "theta_{{n+1}} = theta_n - h Phi({})"
        lines += textwrap.wrap(step.format(variables), self.style.width, initial_indent="    ", subsequent_indent="      ")
        lines.append(self._formula(optimizer.phi, "    Φ = " if self.style.unicode else "    Phi = "))
        memory = "m = b Σₖ₌₀ⁿ βᵏ g(θₙ₋ₖ)" if self.style.unicode else "m = b sum_{k=0}^n beta^k g(theta_{n-k})"
        lines.append(f"    {memory}, with")
        lines += self._variables()
        lines += self._prose(self._parameters(), "    ", "      ", plain=True)
        return "\n".join(line for line in lines if line)

    def _variables(self) -> list[str]:
        rows = [
            [self._formula_flat(f"m{position}"), *map(self._flat, (variable.g, variable.beta, variable.b))]
            for position, variable in enumerate(self.optimizer.momentum, start=1)
        ]
        heads = ["", "g", "β" if self.style.unicode else "beta", "b"]
        widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(4)]
        table = []
        for row in [heads, *rows]:
            cells = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
            table += textwrap.wrap(cells, self.style.width, initial_indent="      ", subsequent_indent=" " * 12,
                                   drop_whitespace=True, replace_whitespace=False) if len(cells) + 6 > self.style.width else ["      " + cells]  # fmt: skip
        return table

    def _parameters(self) -> str:
        given = [f"{name} = {_decimal(value)}" for name, value in self.optimizer.values]
        free = []
        for parameter in self.optimizer.parameters:
            symbol = unicode_of(parameter.latex) if self.style.unicode else None
            shown = f"{symbol} is {parameter.name}" if symbol and symbol != parameter.name else parameter.name
            free.append(f"{shown} in {parameter.range}")
        parts = [", ".join(free), "set: " + ", ".join(given) if given else ""]
        return "; ".join(part for part in parts if part)

    def _label(self, equation: Equation) -> str:
        return equation.label.unicode if self.style.unicode else equation.label.ascii

    def _heading(self, title: str) -> str:
        if not self.style.unicode:
            title = title.encode("ascii", "replace").decode("ascii")
        return f"\x1b[1m{title}\x1b[0m" if self.style.colour else title

    def _prose(self, words: str, first: str, later: str, *, plain: bool = False) -> list[str]:
        """Words wrapped to the width; the mathematics in them in Unicode, unless they quote a declaration."""
        if self.style.unicode and not plain:
            for plain_form, symbol in _WORDS.items():
                words = words.replace(plain_form, symbol)
        if not self.style.unicode:
            words = words.encode("ascii", "replace").decode("ascii")
        return textwrap.wrap(words, self.style.width, initial_indent=first, subsequent_indent=later)

    def _formula(self, value: Expr, prefix: str) -> str:
        return text(
            value,
            names=self.optimizer.symbols,
            functions={f.name: (f.latex, f.potential) for f in self.optimizer.functions},
            width=self.style.width,
            unicode=self.style.unicode,
            prefix=prefix,
        )

    def _flat(self, value: Expr) -> str:
        functions = {f.name: (f.latex, f.potential) for f in self.optimizer.functions}
        return text(value, names=self.optimizer.symbols, functions=functions, width=10**6, unicode=self.style.unicode)

    def _formula_flat(self, name: str) -> str:
        if not self.style.unicode:
            return name
        return name.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _decimal(value: Expr) -> str:
    """A number as a person types it, where that is exact; else as a fraction."""
    shown = f"{float(value):g}"
    return shown if value == value.__class__(shown) else str(value)
