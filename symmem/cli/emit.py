"""``symmem emit``: one optimizer as code that stands by itself, or one or several as a paper."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import ORDER, OTHER_TARGETS, OUTPUT, TIMEOUT, Named
from symmem.cli.progress import progress
from symmem.cli.streams import say
from symmem.errors import SymmemError
from symmem.targets.registry import MINIBATCH, TARGETS, Options, Target

PARTS = ("whole", "statement", "proof", "limit")


@click.command(short_help="The iteration as code that stands by itself, or as a section of a paper.")
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE|- ...")
@click.option(
    "--target", type=Named(list(TARGETS), OTHER_TARGETS), required=True, help="The language of the output."
)
@ORDER
@click.option("--standalone", is_flag=True, help="latex: a document that compiles as it is.")
@click.option("--pdf", is_flag=True, help="latex: a standalone document, compiled; needs -o.")
@click.option(
    "--part",
    type=Named(list(PARTS), {"proofs": "write proof", "statements": "write statement", "all": "write whole"}),
    default="whole",
    show_default=True,
    help="latex: the statements, for the main text; the proofs, for the appendix; or the limit alone.",
)
@click.option(
    "--width",
    default="article",
    show_default=True,
    metavar="CLASS|POINTS",
    help="latex: the width of a line: article, IEEEtran, revtex4-2, or points (ICML 235, NeurIPS 397).",
)
@click.option("--coq", is_flag=True, help="latex: write NAME.v beside it, and refer to its proofs; needs -o.")
@click.option(
    "--runtime", is_flag=True, help="torch: the training runtime, copied beside the module; needs -o."
)
@click.option(
    "--minibatch",
    is_flag=True,
    help=f"Add what the noise of mini-batches does: {MINIBATCH}.",
)
@TIMEOUT
@OUTPUT
def emit(  # noqa: PLR0917  # one argument for each option
    names: tuple[str, ...],
    target: str,
    order: int,
    standalone: bool,
    pdf: bool,
    part: str,
    width: str,
    coq: bool,
    runtime: bool,
    minibatch: bool,
    timeout: float,
    output: str | None,
) -> None:
    """The memoryless iteration as code that needs no symmem, or as a paper about one optimizer or several.

    latex with -o X.tex writes X.tex, X.bib and symmem-macros.tex; with -o DIR/ one file for each part: the general
    theorem, a section for each optimizer, their comparison, and paper.tex with all of them. c with -o DIR writes a
    header and a source file. All list what they wrote. torch with --runtime -o X.py writes X.py and the package
    symmem_runtime. octave is a function file for GNU Octave and MATLAB: -o symmem_NAME.m. triton is a module of
    kernels for tensors on a GPU, of order 1 and for functions of single entries. coq is a file of theorems for coqc:
    -o X.v. --minibatch adds what the noise of mini-batches does: a lemma with its proof, or functions of the
    gradients of all batches.
    """
    chosen, options = TARGETS[target], Options(standalone, pdf, runtime, part, width, coq, minibatch)
    check_names(names, output)
    _check(chosen, options, names, output)
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive

    with limited(timeout, "ask for a lower order, "):
        derivations = [derive(load(name), order) for name in names]
        known = ", ".join(derivation.optimizer.name for derivation in derivations)
        with progress(f"writing {known} to order {order} ..."):
            said = chosen.emit_all(derivations, output, options)
    say(said)


def _check(chosen: Target, options: Options, names: tuple[str, ...], output: str | None) -> None:
    """An option that belongs to another target, or asks for a file where there is none, is said at once."""
    given = {
        "standalone": options.standalone,
        "pdf": options.pdf,
        "coq": options.coq,
        "runtime": options.runtime,
        "minibatch": options.minibatch,
    }
    given |= {"part": options.part != "whole", "width": options.width != "article"}
    for option, is_given in given.items():
        if is_given and option not in chosen.options:
            home = ", ".join(target.name for target in TARGETS.values() if option in target.options)
            raise SymmemError(f"--{option} belongs to --target {home}, not to {chosen.name}; leave it out")
    if len(names) > 1 and not chosen.takes_several:
        raise SymmemError(f"--target {chosen.name} takes one optimizer at a time; latex takes several")
    if output is not None:
        return
    if options.runtime:
        raise SymmemError("--runtime writes a package beside the module; add -o X.py")
    if options.coq:
        raise SymmemError("--coq writes a file of proofs beside the paper; add -o X.tex")
    if chosen.needs_output:
        raise SymmemError(chosen.needs_output)
    if options.pdf:
        raise SymmemError("--pdf needs a file; add -o X.tex, and X.pdf stands beside it")
