"""``symmem compare``: optimizers side by side."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import FORMAT, OUTPUT, TIMEOUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style
from symmem.cli.sweeps import EVERY, GRID, JOBS, RESULTS, check_options, rows_of
from symmem.errors import SymmemError


@click.command(short_help="Optimizers side by side.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE ...]")
@EVERY
@GRID
@JOBS
@RESULTS
@FORMAT
@TIMEOUT
@OUTPUT
def compare(  # noqa: PLR0917  # one argument for each option
    names: tuple[str, ...],
    every: bool,
    axes: tuple[str, ...],
    jobs: int,
    results: str | None,
    form: str,
    timeout: float,
    output: str | None,
) -> None:
    """Optimizers side by side: correction, sign of the implicit regularisation, modified loss.

    All in the limit of many steps, to first order in h. --all is the sign table of the whole zoo: which of them
    penalise large gradients, which reward them, at their default parameters or over a --grid.
    """
    if every == bool(names):
        raise SymmemError("name the optimizers to compare, or give --all")
    check_names(names, output)
    check_options(every, of_sweeps=("axes", "jobs", "results"), of_one=())
    if every:
        _compare_all(form, axes, jobs, results, output)
        return
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


def _compare_all(
    form: str, axes: tuple[str, ...], jobs: int, results: str | None, output: str | None
) -> None:
    import json

    from symmem.checks.rows import sign_row
    from symmem.checks.sweep_text import sign_text

    if form == "latex":
        raise SymmemError("--all is text or JSON; name optimizers for a LaTeX table")
    rows = rows_of(sign_row, "comparing", jobs, results, axes)
    deliver(json.dumps(rows, indent=1) + "\n" if form == "json" else sign_text(rows, style(output)), output)
