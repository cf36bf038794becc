"""Artifacts to files: a set of them is there whole or not at all, and nothing of the user's is lost.

The file that a person names is written over, as every compiler does.  Files beside it, whose names symmem chose, are
written over only where symmem wrote them: it knows its own by a line at their head.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from symmem.errors import SymmemError, quote_path
from symmem.output import installation
from symmem.output.installation import Failure, OutputFile, Plan

HEAD = 4000
SHORT = 20
_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
_BINARY = (b"%PDF", b"!<ar", *_PROGRAMS)
_MADE = re.compile(rb"(?:made|written|derived) by symmem \d", re.IGNORECASE)
_LEADERS = re.compile(rb"[\s*%#]+")


def write_whole(path: str, content: str | bytes) -> None:
    """Writes one file that the user named, text as UTF-8; a device or a pipe is written to, not replaced."""
    write_named({path: content})


def write_named(contents: Mapping[str, str | bytes]) -> None:
    """Writes the files that the user named, all or none; to devices and pipes once the files stand."""
    targets = {path: _named(path) for path in contents}
    if len({*targets.values()}) < len(targets):
        raise SymmemError(f"{' and '.join(map(quote_path, targets))} are one file; give each output its own")
    streams = {path for path, target in targets.items() if target.exists() and not target.is_file()}
    whole = {path: content for path, content in contents.items() if path not in streams}
    if whole:
        root = str(targets[next(iter(whole))].parent)
        write_set(whole, root, named=tuple(whole), makes_folders=False)
    for path in streams:
        try:
            targets[path].write_bytes(_bytes(contents[path]))
        except OSError as error:
            raise _unwritable(path, error.strerror or "not a path") from None


def _named(path: str) -> Path:
    """What stands, or will stand, behind a name; an error where it is a folder, or no path at all."""
    try:
        target = Path(os.path.realpath(path))
        if not path or path.endswith(os.sep) or target.is_dir():
            raise IsADirectoryError(0, "not a file")
    except (OSError, ValueError) as error:
        raise _unwritable(
            path, (error.strerror if isinstance(error, OSError) else None) or "not a path"
        ) from None
    return target


def write_set(
    contents: Mapping[str, str | bytes],
    root: str,
    *,
    named: Collection[str] = (),
    absent: Collection[str] = (),
    makes_folders: bool = True,
) -> None:
    """Several files by their paths, all or none; ``root`` is the output folder, ``named`` are those the user named.

    What the user did not name, and symmem did not write, is not written over: nothing is, then.  ``absent`` are files
    that have no place beside the new ones; they go where they are ours.
    """
    refuse_foreign({path: _bytes(content) for path, content in contents.items() if path not in named})
    try:
        old = [path for path in absent if not os.path.islink(path) and is_ours(path, b"")]
        given = {os.path.realpath(path): path for path in (*contents, *old)}  # a link stays a link
        wanted = [_entry(path, _bytes(text)) for path, text in contents.items()]
        gone = [OutputFile(os.path.realpath(path), None, 0) for path in old]
        plan = Plan(
            (*wanted, *gone),
            os.path.realpath(root),
            secrets.token_hex(installation.TOKEN // 2),
            makes_folders,
        )
    except (OSError, ValueError):
        raise _unwritable(root, "not a path") from None
    failure = _carried_out(plan)
    if failure is not None:
        raise _unwritable(given.get(failure.path, root), failure.reason)


def refuse_foreign(contents: Mapping[str, bytes]) -> None:
    """An error where one of these places holds a file that symmem did not write."""
    for path, new in contents.items():
        if not is_ours(path, new):
            raise SymmemError(
                f"{quote_path(path)} is there and was not made by symmem; move it away, or choose another place"
            )


def is_ours(path: str, new: bytes) -> bool:
    """Nothing is there, or what symmem writes: with its line at the head, with the same first line, or the same.

    A link that leads nowhere is somebody else's: what it would make lies where he wants it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        return True  # a folder, a device or a pipe, which may have no end: it is refused when it is written
    try:
        old = Path(path).read_bytes()
    except FileNotFoundError:
        return not os.path.islink(path)
    except (OSError, ValueError):
        return True  # it says what is wrong when it is written
    if new[:4] in _BINARY:
        return old[:4] == new[:4] and b"symmem" in old
    if _MADE.search(_LEADERS.sub(b" ", old[:HEAD])):
        return True
    first = new.split(b"\n", 1)[0]  # of a file that is copied word for word: the claim of its docstring
    return old == new or (len(first) > SHORT and old.split(b"\n", 1)[0] == first)


def check_folder(path: str) -> None:
    """An error where this can be no output folder: it is no name at all, or that of something else."""
    if not path or (os.path.exists(path) and not os.path.isdir(path)):
        raise SymmemError(f"{quote_path(path)} is not a directory; choose another place")


def make_folder(path: str) -> None:
    """The folder, with those above it."""
    try:
        if not path:
            raise FileNotFoundError(0, "not a path")
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise SymmemError(
            f"{quote_path(path)} cannot be a directory ({reason}); choose another place"
        ) from None


def _carried_out(plan: Plan) -> Failure | None:
    """By a process that survives this one; where there is none, or it was killed, here."""
    command = [sys.executable, "-I", "-S", str(Path(installation.__file__))]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        answer, _ = process.communicate(installation.send(plan))
        said = json.loads(answer)
    except (OSError, ValueError):
        installation.abandon(plan)
        return installation.install(plan)
    return None if said is None else Failure(*said)


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _entry(path: str, data: bytes) -> OutputFile:
    """With the permissions of the file that is replaced, else those that a new file gets."""
    if os.path.exists(path):
        return OutputFile(os.path.realpath(path), data, stat.S_IMODE(os.stat(path).st_mode))
    mask = os.umask(0)
    os.umask(mask)
    return OutputFile(os.path.realpath(path), data, (0o777 if data[:4] in _PROGRAMS else 0o666) & ~mask)


def _unwritable(path: str, reason: str) -> SymmemError:
    return SymmemError(f"{quote_path(path)} cannot be written ({reason}); choose another place")
