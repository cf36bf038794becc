"""``symmem same``: are two optimizers the same?"""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import OUTPUT, TIMEOUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style


@click.command(short_help="Are two optimizers the same?")
@click.argument("first", metavar="NAME|FILE")
@click.argument("second", metavar="NAME|FILE")
@TIMEOUT
@OUTPUT
def same(first: str, second: str, timeout: float, output: str | None) -> None:
    """Identical, identical up to lr or to names of parameters, or the difference in closed form.

    Identical is a claim on the optimizers, for every loss and every past, by a symbolic zero; different comes with two
    runs that part, or with limits of many steps that differ.
    """
    check_names((first, second), output)
    from symmem.checks.same import same as compared
    from symmem.checks.same_text import same_text
    from symmem.declaration.loading import load

    with limited(timeout), progress(f"comparing {first} and {second} ..."):
        content = same_text(compared(load(first), load(second)), style(output))
    deliver(content, output)
