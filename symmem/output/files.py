"""Artifacts to files: there whole or not at all; what stood there before stays when writing fails."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
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


def write_together(contents: Mapping[str, str]) -> None:
    """Several texts by their paths: all are written beside their places before one is put in its place."""
    made = [folder for folder in {Path(path).parent for path in contents} if not folder.exists()]
    staged: list[tuple[Path, str]] = []
    try:
        for path, text in contents.items():
            make_folder(str(Path(path).parent))
            beside = Path(path).with_name(f".{Path(path).name}.{os.getpid()}")
            staged.append((beside, path))
            write_whole(str(beside), text)
        for beside, path in staged:
            write_whole(path, beside.read_bytes())
    finally:
        for beside, _ in staged:
            beside.unlink(missing_ok=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


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
