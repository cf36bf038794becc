"""``symmem list`` and ``symmem show``: what is declared."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h and symmem list need no SymPy

from __future__ import annotations

import click

from symmem.cli.options import NAME
from symmem.cli.streams import line_width, say


@click.command("list", short_help="The optimizers of the zoo.")
@click.option("--family", metavar="FAMILY", help="One family alone.")
def list_zoo(family: str | None) -> None:
    """The optimizers of the zoo: name, title, family, reference.

    One line each: a terminal cuts long references to its width, a pipe or a file gets them whole.
    """
    from symmem.declaration.catalogue import entries

    rows = [(row.name, row.title, row.family, row.reference) for row in entries(family)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    room = line_width()
    say("".join(_cut(line.rstrip(), room) + "\n" for line in lines))


def _cut(line: str, room: int | None) -> str:
    """One line of the terminal: it begins with the name, and what has no room in it is left off."""
    return line if room is None or len(line) <= room else line[: room - 3].rstrip() + "..."


@click.command(short_help="The declaration as TOML, to copy and change.")
@NAME
def show(name: str) -> None:
    """The declaration as TOML, to copy and change."""
    from symmem.declaration.loading import source_text

    text = source_text(name)
    # TOML is UTF-8, whatever the terminal: what is shown can be saved as it is.
    say(text if text.endswith("\n") else text + "\n", encoding="utf-8")
