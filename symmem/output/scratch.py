"""A folder for compilers to work in, with a random name, outside every output folder; it goes when the work is done.

What a process that was killed has left is removed at the next run: it is ours, old, and nobody holds its lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from symmem.errors import SymmemError

PREFIX = "symmem-scratch-"
"""Long enough that no folder of a user begins with it."""
STALE = 600.0
"""Seconds: a folder that is younger may not have its lock yet."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder that is readable for this user alone."""
    try:
        sweep(Path(tempfile.gettempdir()))
        made = tempfile.TemporaryDirectory(prefix=PREFIX)
    except OSError as error:
        raise SymmemError(
            f"there is no place for temporary files ({error.strerror}); set TMPDIR to a folder that can be written"
        ) from None
    with made as folder, _locked(folder):
        yield Path(folder)


def sweep(base: Path) -> None:
    """Removes the folders of processes that were killed."""
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            ours = folder.is_dir() and not folder.is_symlink() and status.st_uid == os.geteuid()
            if ours and time.time() - status.st_mtime > STALE:
                with _locked(str(folder)):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Held as long as this process lives, at most; an OSError where another holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
