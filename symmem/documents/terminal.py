"""A report as text for a terminal: Unicode or ASCII, wrapped to a width, with the declaration above."""

from __future__ import annotations

import textwrap
import unicodedata
from dataclasses import dataclass

from sympy import Expr, Symbol

from symmem.algebra.atoms import MOMENTUM_NAME, terms_of
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.documents.decimals import decimal, shown
from symmem.documents.report import At, Section, sections
from symmem.documents.words import Label, Words, mathematics
from symmem.notation.symbols import unicode_of
from symmem.notation.text import text

_NO_BREAK = "\N{NO-BREAK SPACE}"
_PLAIN = str.maketrans({"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})


@dataclass(frozen=True)
class Style:
    """What the terminal can show."""

    width: int = 80
    unicode: bool = True
    colour: bool = False


def terminal_report(derivation: Derivation, at: At, style: Style, *, quadratic: bool = False) -> str:
    """The derivation as text: declaration, formulas, assumptions."""
    writer = _Writer(derivation, style)
    parts = sections(derivation, at, quadratic=quadratic)
    blocks = [writer.declaration(), *(writer.section(section) for section in parts)]
    return "\n\n".join(blocks) + "\n"


def section_lines(derivation: Derivation, section: Section, style: Style) -> list[str]:
    """One section of the report, as lines."""
    return _Writer(derivation, style).section(section).split("\n")


@dataclass(frozen=True)
class _Writer:
    derivation: Derivation
    style: Style

    def section(self, section: Section) -> str:
        lines = self._heading(section.title)
        lines += self._prose(section.lead, "  ", "  ")
        labels = [self._spell(equation.label) for equation in section.equations]
        width = max(map(columns, labels), default=0)
        for label, equation in zip(labels, section.equations, strict=True):
            lines.append(self._formula(equation.value, f"    {filled(label, width)} = "))
        for note in section.notes:
            lines += self._prose(note, "  - ", "    ")
        return "\n".join(lines)

    def declaration(self) -> str:
        optimizer = self.derivation.optimizer
        reference = f" ({optimizer.reference})" if optimizer.reference else ""
        variables = ", ".join(f"m_{position}" for position in range(1, len(optimizer.momentum) + 1))
        step = mathematics(f"theta_n+1 = theta_n - h Phi({variables})")
        step = Label(
            step.unicode.replace("ₙ+1", "ₙ₊₁"), step.ascii.replace("n+1", "{n+1}").replace("m_", "m"), ""
        )
        memory = Label("m = b Σₖ₌₀ⁿ βᵏ g(θₙ₋ₖ)", "m = b sum_{k=0}^n beta^k g(theta_{n-k})", "")
        lines = self._heading(f"{optimizer.title}{reference}")
        lines += self._prose((step,), "    ", "      ")
        lines += self._phi()
        lines += self._prose((memory, ", with"), "    ", "      ")
        lines += self._variables()
        lines += self._legend()
        return "\n".join(lines)

    def _phi(self) -> list[str]:
        """Phi with its terms in the order of the momentum variables, a positive one first."""
        head = "    Φ = " if self.style.unicode else "    Phi = "
        minus = "−" if self.style.unicode else "-"
        phi = shown(self.derivation.optimizer.phi)
        terms = [self._flat(term) for term in sorted(terms_of(phi), key=_first_variable)]
        leader = next((term for term in terms if not term.startswith(minus)), terms[0])
        terms.remove(leader)
        signed = [f"{minus} {t.removeprefix(minus)}" if t.startswith(minus) else f"+ {t}" for t in terms]
        line = head + " ".join([leader, *signed])
        return [line] if len(line) <= self.style.width else self._formula(phi, head).split("\n")

    def _variables(self) -> list[str]:
        """The momentum variables as a table, or one below the other where the table is too wide."""
        momentum = self.derivation.optimizer.momentum
        names = [self._name(f"m{position}") for position in range(1, len(momentum) + 1)]
        heads = ["", "g", "β" if self.style.unicode else "beta", "b"]
        cells = [[self._flat(shown(part)) for part in (v.g, v.beta, v.b)] for v in momentum]
        rows = _table([heads, *([name, *row] for name, row in zip(names, cells, strict=True))], "      ")
        if max(map(len, rows)) <= self.style.width:
            return rows
        lines = []
        for name, variable in zip(names, momentum, strict=True):
            lead = name
            for head, part in zip(heads[1:], (variable.g, variable.beta, variable.b), strict=True):
                lines.append(
                    self._formula(shown(part), f"      {lead:<{len(name)}}  {head:<{len(heads[2])}} = ")
                )
                lead = ""
        return lines

    def _legend(self) -> list[str]:
        """The parameters and the opaque functions: symbol, name, what it may be."""
        optimizer = self.derivation.optimizer
        rows = [
            (p.latex, p.name, f"in {p.range}, default {decimal(p.default)}") for p in optimizer.parameters
        ]
        rows += [("", name, f"set to {decimal(value)}") for name, value in optimizer.values]
        for function in optimizer.functions:
            kind = f"the gradient of {function.potential}" if function.potential else "a vector function"
            rows.append((function.latex, function.name, f"{kind}, not specified"))
        symbols = [(unicode_of(latex) or "") if self.style.unicode else "" for latex, _, _ in rows]
        cells = [[symbol, name, words] for symbol, (_, name, words) in zip(symbols, rows, strict=True)]
        lines: list[str] = []
        for row in _table(cells if any(symbols) else [row[1:] for row in cells], "    "):
            wide = len(row) > self.style.width
            lines += textwrap.wrap(row, self.style.width, subsequent_indent=" " * 8) if wide else [row]
        return lines

    def _spell(self, label: Label) -> str:
        return label.unicode if self.style.unicode else label.ascii

    def _name(self, momentum: str) -> str:
        return text(Symbol(momentum), names={}, unicode=self.style.unicode)

    def _heading(self, title: str) -> list[str]:
        lines = self._prose((title,), "", "  ")
        return [f"\x1b[1m{line}\x1b[0m" for line in lines] if self.style.colour else lines

    def _prose(self, words: Words, first: str, later: str) -> list[str]:
        """Words wrapped to the width, but for formulas, which stay whole where they fit."""
        parts = []
        for part in words:
            if isinstance(part, str):
                parts.append(part if self.style.unicode else in_ascii(part))
                continue
            formula = self._spell(part)
            fits = len(later) + len(formula) < self.style.width
            parts.append(formula.replace(" ", _NO_BREAK) if fits else formula)
        lines = textwrap.wrap("".join(parts), self.style.width, initial_indent=first, subsequent_indent=later)
        return [line.replace(_NO_BREAK, " ") for line in lines]

    def _formula(self, value: Expr, prefix: str) -> str:
        return formula_behind(prefix, value, self.derivation.optimizer, self.style)

    def _flat(self, value: Expr) -> str:
        return self._text(value, 10**6)

    def _text(self, value: Expr, width: int) -> str:
        optimizer = self.derivation.optimizer
        return text(
            value,
            names=optimizer.symbols,
            functions=optimizer.function_symbols,
            width=width,
            unicode=self.style.unicode,
        )


def formula_behind(prefix: str, value: Expr, optimizer: Optimizer, style: Style) -> str:
    """The formula behind a prefix; a combining character takes no column, so spaces stand in for it."""
    room = columns(prefix)
    lines = text(
        value,
        names=optimizer.symbols,
        functions=optimizer.function_symbols,
        width=style.width,
        unicode=style.unicode,
        prefix=" " * room,
    )
    return prefix + lines[room:]


def _first_variable(term: Expr) -> int:
    found = [MOMENTUM_NAME.fullmatch(symbol.name) for symbol in term.free_symbols]
    return min((int(match.group(1)) for match in found if match), default=0)


def columns(words: str) -> int:
    """How many columns of a terminal the words take."""
    return sum(not unicodedata.combining(character) for character in words)


def filled(words: str, size: int) -> str:
    return words + " " * (size - columns(words))


def _table(rows: list[list[str]], indent: str) -> list[str]:
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [indent + "  ".join(map(filled, row, widths)).rstrip() for row in rows]


def in_ascii(words: str) -> str:
    """Letters without their accents; what has no ASCII form is written by its number."""
    flat = unicodedata.normalize("NFKD", words.translate(_PLAIN))
    bare = "".join(character for character in flat if not unicodedata.combining(character))
    return bare.encode("ascii", "backslashreplace").decode("ascii")
