"""Definitions that emitted modules take over word for word, and the files of the runtime: read, never imported.

They are ordinary modules of :mod:`symmem.training`, which need torch; who writes text does not.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from symmem import __version__
from symmem.program.needs import Need
from symmem.targets.python.copied import Helpers, copied
from symmem.targets.python.module import MATRICES, SUMS

_TRAINING = Path(__file__).resolve().parents[2] / "training"
HELPERS = Helpers(
    _TRAINING / "standalone" / "helpers.py",
    always=("_array", "_like", "_written"),
    needed=SUMS,
)
"""What the functions of tensors call."""
ROWS = Helpers(_TRAINING / "standalone" / "noise.py", (), {Need.NOISE: ("per_sample", "_rows", "_repeated")})
"""What the averages over batches call."""


def helpers(needs: Collection[Need]) -> list[str]:
    """The source of what functions of tensors with these needs call."""
    return [*HELPERS.chosen(needs), *MATRICES.chosen(needs)]


def definitions(piece: str, *names: str) -> list[str]:
    """The source of definitions in a file of ``training/standalone``, in its order."""
    return copied(_TRAINING / "standalone" / f"{piece}.py", names)


def renamed(piece: str, name: str, new: str) -> str:
    """The source of a function under another name."""
    (source,) = definitions(piece, name)
    return source.replace(f"def {name}(", f"def {new}(", 1)


def more_helpers(needs: Collection[Need], known: Collection[Need]) -> list[str]:
    """The helpers for these needs that a module with the known ones does not have yet."""
    return [each for each in helpers(needs) if each not in helpers(known)]


def runtime_files() -> dict[str, str]:
    """The files of the runtime, by name, under a line by which a later symmem knows its own files."""
    made = f"# Made by symmem {__version__}. Do not edit: emit it again.\n"
    paths = sorted((_TRAINING / "runtime").glob("*.py"))
    return {path.name: made + path.read_text(encoding="utf-8") for path in paths}
