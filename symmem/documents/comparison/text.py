"""A comparison as text in the width of a terminal: name, sign, formulas, one optimizer below the other."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.documents.columns import Style, columns, filled, wrapped
from symmem.documents.comparison.entry import DEPENDS, RATED, SENSE, Compared
from symmem.documents.text_writer import TextWriter
from symmem.notation.glyphs import ASCII, UNICODE


def comparison_text(entries: Sequence[Compared], style: Style) -> str:
    """The comparison for a terminal."""
    minus = (UNICODE if style.unicode else ASCII).minus
    names = [style.plain(entry.title) for entry in entries]
    first = max(map(columns, (*names, "optimizer"))) + 2
    indent = first + 6
    lines = [filled("optimizer", first) + filled("sign", 6) + "correction and modified loss"]
    lines.append(("─" if style.unicode else "-") * style.width)
    for name, entry in zip(names, entries, strict=True):
        body = "\n".join(_cell(entry, indent, style))
        lines.append(filled(name, first) + filled(_mark(entry, minus), 6) + body[indent:])
    lines.append("")
    signs = f"+: large gradients are penalised; {minus}: they are rewarded; 0: the loss stays"
    lines += wrapped(f"sign  {signs}", style.width, "", " " * 6)
    if any(entry.inside is not None for entry in entries):
        writer = TextWriter.of(entries[0].account.optimizer, style)
        lines += writer.prose(SENSE, "", " " * 6)
    if any(entry.depends for entry in entries):
        lines += wrapped(f"*     {DEPENDS}", style.width, "", " " * 6)
    if any(entry.is_rated for entry in entries):
        lines += wrapped(RATED, style.width, "", " " * 6)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _mark(entry: Compared, minus: str) -> str:
    """The sign, with a star where it depends on the parameters."""
    if entry.sign is None:
        return ""
    return (minus, "0", "+")[entry.sign + 1] + ("*" if entry.depends else "")


def _cell(entry: Compared, indent: int, style: Style) -> list[str]:
    writer, blank = TextWriter.of(entry.account.optimizer, style), " " * indent
    labels = [writer.flat(left) for left, _ in entry.formulas]
    width = max(map(columns, labels), default=0)
    lines: list[str] = []
    for label, (_, value) in zip(labels, entry.formulas, strict=True):
        lines += writer.formula(value, f"{blank}{filled(label, width)} = ")
    return lines + writer.prose(entry.note, blank, blank)
