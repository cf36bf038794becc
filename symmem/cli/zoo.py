"""``symmem list`` and ``symmem show``: what is declared."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h and symmem list need no SymPy

from __future__ import annotations

import click

from symmem.cli.options import NAME
from symmem.cli.streams import say


@click.command("list", short_help="The optimizers of the zoo.")
def list_zoo() -> None:
    """The optimizers of the zoo: name, title, reference."""
    from symmem.declaration.catalogue import entries

    rows = entries()
    widths = [max(len(row.name) for row in rows), max(len(row.title) for row in rows)]
    lines = (f"{row.name:<{widths[0]}}  {row.title:<{widths[1]}}  {row.reference}".rstrip() for row in rows)
    say("\n".join(lines) + "\n")


@click.command(short_help="The declaration as TOML, to copy and change.")
@NAME
def show(name: str) -> None:
    """The declaration as TOML, to copy and change."""
    from symmem.declaration.loading import source_text

    text = source_text(name)
    # TOML is UTF-8, whatever the terminal: what is shown can be saved as it is.
    say(text if text.endswith("\n") else text + "\n", encoding="utf-8")
