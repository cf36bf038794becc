"""``symmem build``: compiled kernels of one or several optimizers."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.limits import limited
from symmem.cli.options import NAMES, TIMEOUT
from symmem.cli.progress import progress


@click.command(short_help="Compiled kernels: a library, its packages and its Python modules.")
@NAMES
@TIMEOUT
@click.option("-o", "output", required=True, metavar="DIR", help="The directory to lay them out in.")
@click.option(
    "--threads",
    type=click.Choice(["none", "openmp"]),
    help="Threads for long vectors; else where CC has OpenMP.",
)
@click.option(
    "--wheel", "as_wheel", is_flag=True, help="Also a wheel, which pip installs without a compiler."
)
def build(
    names: tuple[str, ...], timeout: float, output: str, threads: str | None, *, as_wheel: bool
) -> None:
    """Compiled kernels of one or several optimizers, in one library.

    The compiler is CC, then cc. In DIR: include/, lib/ with pkg-config and CMake packages, python/.
    """
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive
    from symmem.targets.c.build import build as build_library

    with limited(timeout):
        optimizers = [load(name) for name in names]
        with progress(f"building {', '.join(optimizer.name for optimizer in optimizers)} ..."):
            derivations = [derive(optimizer) for optimizer in optimizers]
            build_library(derivations, output, threads=threads, as_wheel=as_wheel)
