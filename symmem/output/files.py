"""Artifacts to files: there whole or not at all; what stood there before stays when writing fails."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from symmem.errors import SymmemError, quote


def write_whole(path: str, content: str | bytes) -> None:
    """Writes the content, text as UTF-8: beside the file first, then in its place in one step."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))  # a link stays a link
        if not path or path.endswith(os.sep) or target.is_dir():
            raise IsADirectoryError(0, "not a file")
        if target.exists() and not target.is_file():  # a device or a pipe is written to, not replaced
            target.write_bytes(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise SymmemError(
            f"{quote(path)} cannot be written ({reason}); choose another place with -o"
        ) from None


def make_folder(path: str) -> None:
    """The folder, with those above it."""
    try:
        if not path:
            raise FileNotFoundError(0, "not a path")
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise SymmemError(
            f"{quote(path)} cannot be a directory ({reason}); choose another place with -o"
        ) from None


def _replace(target: Path, data: bytes) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    descriptor, beside = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
        os.chmod(beside, _mode(target))
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, else those that a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
