"""``symmem emit``: one optimizer as code that stands by itself, or as a section of a paper."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.limits import limited
from symmem.cli.options import NAME, ORDER, OTHER_TARGETS, OUTPUT, TIMEOUT, Named
from symmem.cli.progress import progress
from symmem.cli.streams import say
from symmem.targets.registry import TARGETS, Options


@click.command(short_help="The iteration as code that stands by itself, or as a section of a paper.")
@NAME
@click.option(
    "--target", type=Named(list(TARGETS), OTHER_TARGETS), required=True, help="The language of the output."
)
@ORDER
@click.option("--standalone", is_flag=True, help="latex: a document that compiles as it is.")
@click.option("--pdf", is_flag=True, help="latex: a standalone document, compiled; needs -o.")
@click.option(
    "--runtime", is_flag=True, help="torch: the training runtime, copied beside the module; needs -o."
)
@TIMEOUT
@OUTPUT
def emit(  # noqa: PLR0917  # one argument for each option
    name: str,
    target: str,
    order: int,
    standalone: bool,
    pdf: bool,
    runtime: bool,
    timeout: float,
    output: str | None,
) -> None:
    """The memoryless iteration as code that needs no symmem, or as a section of a paper.

    latex with -o X.tex writes X.tex, X.bib and symmem-macros.tex, c with -o DIR a header and a source file; both
    list what they wrote. torch with --runtime -o X.py writes X.py and the package symmem_runtime.
    octave is a function file for GNU Octave and MATLAB: -o symmem_NAME.m. coq is a file of theorems for coqc: -o X.v.
    """
    chosen = TARGETS[target]
    if (standalone or pdf) and "standalone" not in chosen.options:
        raise click.UsageError(
            f"--standalone and --pdf belong to --target latex, not to {target}; leave them out"
        )
    if runtime and "runtime" not in chosen.options:
        raise click.UsageError(f"--runtime belongs to --target torch, not to {target}; leave it out")
    if runtime and output is None:
        raise click.UsageError("--runtime writes a package beside the module; add -o X.py")
    if chosen.needs_output and output is None:
        raise click.UsageError(chosen.needs_output)
    if pdf and output is None:
        raise click.UsageError("--pdf needs a file; add -o X.tex, and X.pdf stands beside it")
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive

    with limited(timeout):
        derivation = derive(load(name), order)
        with progress(f"writing {derivation.optimizer.name} to order {order} ..."):
            said = chosen.emit(derivation, output, Options(standalone, pdf, runtime))
    say(said)
