"""``symmem compare``: optimizers side by side."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.limits import limited
from symmem.cli.options import FORMAT, NAMES, OUTPUT, TIMEOUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style


@click.command(short_help="Optimizers side by side.")
@NAMES
@FORMAT
@TIMEOUT
@OUTPUT
def compare(names: tuple[str, ...], form: str, timeout: float, output: str | None) -> None:
    """Optimizers side by side: correction, sign of the implicit regularisation, modified loss.

    All in the limit of many steps, to first order in h.
    """
    from symmem.declaration.loading import load
    from symmem.documents.public import compare as compared

    with limited(timeout), progress(f"comparing {len(names)} optimizers ..."):
        optimizers = [load(name) for name in names]
        side_by_side = compared(optimizers)
        if form == "json":
            content = side_by_side.to_json()
        else:
            content = side_by_side.to_latex() if form == "latex" else side_by_side.to_text(style(output))
    deliver(content, output)
