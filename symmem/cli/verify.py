"""``symmem verify``: proof by numbers of a declaration."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import sys

import click

from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import OUTPUT, TIMEOUT
from symmem.cli.progress import bar
from symmem.cli.streams import deliver, style
from symmem.cli.sweeps import EVERY, JOBS, RESULTS, check_options, rows_of
from symmem.errors import SymmemError


@click.command(short_help="Proof by numbers of a declaration.")
@click.argument("name", required=False, metavar="[NAME|FILE|-]")
@EVERY
@JOBS
@RESULTS
@click.option(
    "--against",
    metavar="PROGRAM",
    help="Run a program beside it: torch.optim.AdamW, optax.adam, file.py:Class.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="PARAMETER=NUMBER", help="Put a number in; repeatable."
)
@click.option(
    "--minibatch", is_flag=True, help="Also what the noise of mini-batches adds, over all draws of three."
)
@click.option("--plot", metavar="FILE", help="Draw the errors over h and over steps (png, pdf or svg).")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the random points.")
@TIMEOUT
@OUTPUT
def verify(  # noqa: PLR0917  # one argument for each option
    name: str | None,
    every: bool,
    jobs: int,
    results: str | None,
    against: str | None,
    settings: tuple[str, ...],
    minibatch: bool,
    plot: str | None,
    seed: int,
    timeout: float,
    output: str | None,
) -> None:
    """Proof by numbers: formulas against brute force at random points, and orders of error.

    --against also runs a program step by step beside the declaration, and says where they part. That program is run
    as it is: name only one that you trust. --all does this for the whole zoo. The exit code is 1 where a claim fails.
    """
    if every == (name is not None):
        raise SymmemError("name the optimizer to verify, or give --all")
    check_options(
        every, of_sweeps=("jobs", "results"), of_one=("against", "settings", "minibatch", "plot", "seed")
    )
    if name is None:
        _verify_all(jobs, results, output)
        return
    check_names((name,), output, plot)
    from symmem.checks.against import program_of
    from symmem.checks.picture import drawn, form_of
    from symmem.checks.verify import verify as verified
    from symmem.checks.verify import work_of
    from symmem.checks.verify_text import verification_text
    from symmem.cli.derive import settings_of
    from symmem.declaration.loading import load

    values, picture = settings_of(settings), None
    form = None if plot is None else form_of(plot)
    with limited(timeout):
        optimizer = load(name)
        optimizer = optimizer.with_values(values) if values else optimizer
        program = None if against is None else program_of(optimizer, against)
        with bar(f"verifying {optimizer.name}", work_of(program, noise=minibatch)) as told:
            found = verified(optimizer, program, noise=minibatch, told=told, seed=seed)
        if form is not None:
            picture = drawn(found, form)
    deliver(verification_text(found, style(output)), output, {plot: picture} if plot and picture else {})
    if not found.holds:
        sys.exit(1)


def _verify_all(jobs: int, results: str | None, output: str | None) -> None:
    from symmem.checks.rows import verify_row
    from symmem.checks.sweep_text import verify_text

    rows = rows_of(verify_row, "verifying", jobs, results)
    deliver(verify_text(rows, style(output)), output)
    if not all(row["holds"] for row in rows):
        sys.exit(1)
