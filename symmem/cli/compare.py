"""``symmem compare``: optimizers side by side."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.options import FORMAT, NAMES, OUTPUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style


@click.command(short_help="Optimizers side by side.")
@NAMES
@FORMAT
@OUTPUT
def compare(names: tuple[str, ...], form: str, output: str | None) -> None:
    """Optimizers side by side: correction, sign of the implicit regularisation, modified loss.

    All in the limit of many steps, to first order in h.
    """
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive
    from symmem.documents.comparison import as_latex, as_record, as_text, compared

    entries = compared([derive(load(name)) for name in names])
    with progress(f"comparing {len(names)} optimizers ..."):
        if form == "json":
            import json

            content = json.dumps(as_record(entries), indent=2) + "\n"
        else:
            content = as_latex(entries) if form == "latex" else as_text(entries, style(output))
    deliver(content, output)
