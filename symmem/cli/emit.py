"""``symmem emit``: one optimizer as code that stands by itself, or as a section of a paper."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.options import NAME, ORDER, OUTPUT
from symmem.cli.progress import progress
from symmem.cli.streams import say

TARGETS = ("latex", "numpy", "torch", "jax", "c", "json")


@click.command(short_help="The iteration as code that stands by itself, or as a section of a paper.")
@NAME
@click.option("--target", type=click.Choice(TARGETS), required=True, help="The language of the output.")
@ORDER
@click.option("--standalone", is_flag=True, help="latex: a document that compiles as it is.")
@click.option("--pdf", is_flag=True, help="latex: a standalone document, compiled; needs -o.")
@OUTPUT
def emit(name: str, target: str, order: int, standalone: bool, pdf: bool, output: str | None) -> None:  # noqa: PLR0917
    """The memoryless iteration as code that needs no symmem, or as a section of a paper.

    latex with -o X.tex writes X.tex, X.bib and symmem-macros.tex, c with -o DIR a header and a source file; both
    list what they wrote.
    """
    if (standalone or pdf) and target != "latex":
        raise click.UsageError(
            f"--standalone and --pdf belong to --target latex, not to {target}; leave them out"
        )
    if target == "c" and output is None:
        raise click.UsageError("--target c writes a header and a source file; add -o DIR")
    if pdf and output is None:
        raise click.UsageError("--pdf needs a file; add -o X.tex, and X.pdf stands beside it")
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive
    from symmem.targets.registry import emit as emit_target

    derivation = derive(load(name), order)
    with progress(f"writing {derivation.optimizer.name} to order {order} ..."):
        said = emit_target(derivation, target, output, standalone=standalone, pdf=pdf)
    say(said)
