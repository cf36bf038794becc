"""What a command reads, beside what it writes: a mistake in the names is said before any work."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import os
from collections.abc import Sequence

from symmem.errors import SymmemError, quote_path


def check_names(names: Sequence[str], *outputs: str | None) -> None:
    """Standard input is read once, and no output is written over the declaration that it comes from."""
    from symmem.declaration.catalogue import names as zoo

    if names.count("-") > 1:
        raise SymmemError("- is given twice, and standard input can be read once; save it to a file")
    files = [name for name in names if name != "-" and name not in zoo()]
    for output in filter(None, outputs):
        if any(_is_same(name, output) for name in files):
            raise SymmemError(
                f"{quote_path(output)} is the declaration itself, which would be lost; choose another place"
            )


def _is_same(name: str, output: str) -> bool:
    try:
        return os.path.samefile(name, output)
    except (OSError, ValueError):  # one of them is not there, or is no path
        return False
