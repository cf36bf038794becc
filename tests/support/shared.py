"""What is costly is made once in a run, however many workers there are."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path


def once(folder: Path, make: Callable[[Path], object]) -> Path:
    """The folder, filled by ``make`` where nobody has done it yet; the others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if not (folder / ".made").exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            (folder / ".made").touch()
    return folder
