"""The declaration above an account, as lines of a terminal: the update, the momentum variables, the parameters."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer
from symmem.documents.columns import table, wrapped
from symmem.documents.program_named import program_sentences
from symmem.documents.scheduled import rate
from symmem.documents.text_writer import TextWriter
from symmem.documents.update import MEMORY, PHI, momenta, notes, remembered, step
from symmem.notation.decimals import decimal, shown
from symmem.notation.declared_latex import unicode_of
from symmem.notation.statement import Letter, N
from symmem.notation.writable import Writable


def declaration_lines(optimizer: Optimizer, writer: TextWriter) -> list[str]:
    """The optimizer as it was declared: Phi, its momentum variables, its parameters."""
    reference = f" ({optimizer.reference})" if optimizer.reference else ""
    lines = writer.heading(f"{optimizer.title}{reference}")
    lines += writer.prose((step(optimizer),), "    ", "      ")
    if optimizer.schedule is not None:
        lines += writer.formula(shown(optimizer.schedule), f"    {writer.flat(rate(N))} = ")
    lines += writer.formula(shown(optimizer.phi), f"    {writer.flat(PHI)} = ")
    lines += writer.prose((MEMORY, ", with"), "    ", "      ")
    lines += _variables(optimizer, writer)
    for note in notes(optimizer):
        lines += writer.prose(note, "      ", "        ")
    lines += _legend(optimizer, writer)
    for sentence in program_sentences(optimizer):
        lines += writer.prose(sentence, "    ", "      ")
    return lines


def _variables(optimizer: Optimizer, writer: TextWriter) -> list[str]:
    """The momentum variables as a table, or one below the other where the table is too wide."""
    names = [writer.flat(momentum) for momentum in momenta(optimizer)]
    heads = ["g", writer.flat(Letter("beta")), "b"]
    values: list[list[Writable]] = [[shown(m.g), remembered(m), shown(m.b)] for m in optimizer.momentum]
    cells = [[name, *map(writer.flat, row)] for name, row in zip(names, values, strict=True)]
    rows = table([["", *heads], *cells], "      ")
    if max(map(len, rows)) <= writer.style.width:
        return rows
    lines = []
    for name, row in zip(names, values, strict=True):
        leads = [name, *[" " * len(name)] * (len(heads) - 1)]
        for lead, head, value in zip(leads, heads, row, strict=True):
            lines += writer.formula(value, f"      {lead}  {head:<{len(heads[1])}} = ")
    return lines


def _legend(optimizer: Optimizer, writer: TextWriter) -> list[str]:
    """The parameters and the opaque functions: symbol, name, what it may be."""
    rows = [(p.latex, p.name, f"in {p.range}, default {decimal(p.default)}") for p in optimizer.parameters]
    rows += [("", name, f"set to {decimal(value)}") for name, value in optimizer.values]
    for function in optimizer.functions:
        kind = f"the gradient of {function.potential}" if function.potential else "a vector function"
        rows.append((function.latex, function.name, f"{kind}, not specified"))
    symbols = [(unicode_of(latex) or "") if writer.style.unicode else "" for latex, _, _ in rows]
    cells = [[symbol, *row[1:]] for symbol, row in zip(symbols, rows, strict=True)]
    lines: list[str] = []
    for row in table(cells if any(symbols) else [cell[1:] for cell in cells], "    ") if cells else []:
        wide = len(row) > writer.style.width
        lines += wrapped(row, writer.style.width, "", " " * 8) if wide else [row]
    return lines
