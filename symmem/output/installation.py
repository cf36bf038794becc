"""A set of files goes to its place whole or not at all.  Run as a script, it is the process that does so.

The files are staged in a hidden folder with a random name, beside the output folder, and then renamed one by one; what
goes wrong on the way is undone from hard links to the old files.  A kill between two renames could not be undone by the
one that was killed: so :mod:`.files` sends the whole set to a process of its own, which no signal to the first one and
to its group reaches.  It has the whole set before it begins, and it ends what it began.  Where it is killed itself, the
first one does the work; where both are, between two renames, the set is mixed until it is written again, and a later
run removes the staging folder.

Standard library alone, and little of it: the process starts in some 20 ms.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

PREFIX = ".symmem-"
TOKEN = 32
"""Letters of the random name of a staging folder, hexadecimal."""
STALE = 600.0
"""Seconds after which a staging folder belongs to a process that was killed."""
END = b"all"


class OutputFile(NamedTuple):
    """A file of the set, by its real path; without data it has to be absent."""

    path: str
    data: bytes | None
    mode: int


class Plan(NamedTuple):
    """The set, the output folder that it belongs to, the random name of its staging folder."""

    entries: tuple[OutputFile, ...]
    root: str
    token: str
    makes_folders: bool


class Failure(NamedTuple):
    """Nothing was changed, since this place could not be written."""

    path: str
    reason: str


def install(plan: Plan) -> Failure | None:
    """Puts every file of the set in its place, or changes nothing and says why."""
    with _held(_existing(plan.root)):
        for stagings in _places(plan):
            failure, again = _attempt(plan, stagings)
            if not again:
                break
    return failure


def abandon(plan: Plan) -> None:
    """Removes what a process that was killed has staged."""
    for stagings in _places(plan):
        for staging in {*stagings}:
            _remove(staging)


def _places(plan: Plan) -> Iterator[list[str]]:
    """Where each file may be staged: beside the output folder, in it, and where links lead elsewhere at its own place.

    Only a try tells whether a file can be renamed from there.
    """
    beside, inside = _existing(os.path.dirname(plan.root)), _existing(plan.root)
    name = PREFIX + plan.token
    if os.access(beside, os.W_OK | os.X_OK) and os.stat(beside).st_dev == os.stat(inside).st_dev:
        yield [os.path.join(beside, name)] * len(plan.entries)
    yield [os.path.join(inside, name)] * len(plan.entries)
    yield [os.path.join(_existing(os.path.dirname(entry.path)), name) for entry in plan.entries]


def _attempt(plan: Plan, stagings: Sequence[str]) -> tuple[Failure | None, bool]:
    """One try; whether another place may do, because files cannot be renamed from here."""
    made: list[str] = []
    done: list[int] = []
    work = list(
        zip(plan.entries, [f"{s}/new-{k}" for k, s in enumerate(stagings)], _olds(stagings), strict=True)
    )
    at = plan.root
    try:
        for staging in dict.fromkeys(stagings):
            _sweep(os.path.dirname(staging))
            os.mkdir(staging, 0o700)
        for entry, new, _ in work:
            at = entry.path
            _stage(entry, new)
        for entry, _, old in work:
            at = entry.path
            if plan.makes_folders and entry.data is not None:
                _make_folders(os.path.dirname(entry.path), made)
            _keep(entry.path, old)
        for position, (entry, new, _) in enumerate(work):
            at = entry.path
            done.append(position)
            if entry.data is not None:
                os.replace(new, entry.path)
            else:
                with suppress(FileNotFoundError):
                    os.unlink(entry.path)
    except OSError as error:
        _undo(plan, stagings, done, made)
        return Failure(at, error.strerror or "not a path"), error.errno == errno.EXDEV
    except BaseException:
        _undo(plan, stagings, done, made)
        raise
    for staging in {*stagings}:
        _remove(staging)
    return None, False


def _olds(stagings: Sequence[str]) -> list[str]:
    return [f"{staging}/old-{position}" for position, staging in enumerate(stagings)]


def _stage(entry: OutputFile, place: str) -> None:
    if entry.data is None:
        return
    if os.path.exists(entry.path) and not os.path.isfile(entry.path):
        raise OSError(errno.EINVAL, "not a file")  # a folder, a device or a pipe: a rename would replace it
    if os.path.exists(entry.path) and not os.access(entry.path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")
    _write(place, entry.data, entry.mode)


def _write(place: str, data: bytes, mode: int) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.chmod(place, mode)


def _keep(path: str, place: str) -> None:
    """The old file a second time, to be put back; a copy where there are no hard links."""
    try:
        os.link(path, place, follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise
        with open(path, "rb") as old:
            _write(place, old.read(), stat.S_IMODE(os.stat(path).st_mode))


def _undo(plan: Plan, stagings: Sequence[str], done: Sequence[int], made: Sequence[str]) -> None:
    olds = _olds(stagings)
    for position in reversed(done):
        path = plan.entries[position].path
        with suppress(OSError):
            if os.path.lexists(olds[position]):
                os.replace(olds[position], path)
            elif not os.path.lexists(
                f"{stagings[position]}/new-{position}"
            ):  # ours, and nothing was there before
                os.unlink(path)
    for staging in {*stagings}:
        _remove(staging)
    for folder in reversed(made):
        with suppress(OSError):
            os.rmdir(folder)


def _make_folders(folder: str, made: list[str]) -> None:
    if not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder), made)
        os.mkdir(folder)
        made.append(folder)


def _existing(folder: str) -> str:
    """The folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _remove(staging: str) -> None:
    """A staging folder is flat."""
    with suppress(OSError):
        for name in os.listdir(staging):
            os.unlink(os.path.join(staging, name))
        os.rmdir(staging)


def _is_staging(name: str) -> bool:
    """Whether a folder is named as ours are, by a random token; a user's own ``.symmem-notes`` is not."""
    token = name.removeprefix(PREFIX)
    return name != token and len(token) == TOKEN and set(token) <= set("0123456789abcdef")


def _sweep(base: str) -> None:
    """What a process that was killed while it installed has left: ours, and old; an installation lasts no minute."""
    with suppress(OSError), os.scandir(base) as found:
        for each in found:
            if not _is_staging(each.name) or not each.is_dir(follow_symlinks=False):
                continue
            status = each.stat(follow_symlinks=False)
            if status.st_uid == os.geteuid() and time.time() - status.st_mtime > STALE:
                _remove(each.path)


@contextmanager
def _held(folder: str) -> Iterator[None]:
    """Nobody else installs there meanwhile, as far as the file system knows locks; patience has an end."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield
        return
    try:
        for _ in range(1000):
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def send(plan: Plan) -> bytes:
    """The plan as bytes; a part of them is not taken for a plan."""
    entries = [[e.path, e.mode, None if e.data is None else len(e.data)] for e in plan.entries]
    head = json.dumps([entries, plan.root, plan.token, plan.makes_folders]).encode()
    return b"".join([b"%d\n" % len(head), head, *(e.data or b"" for e in plan.entries), END])


def receive(stream: BinaryIO) -> Plan | None:
    """The plan; None where it is not whole."""
    try:
        entries, root, token, makes_folders = json.loads(stream.read(int(stream.readline())))
    except ValueError:
        return None
    read = [
        OutputFile(path, None if size is None else stream.read(size), mode) for path, mode, size in entries
    ]
    return Plan(tuple(read), root, token, makes_folders) if stream.read() == END else None


def main() -> None:
    """A plan from standard input is carried out; the failure, or null, goes to standard output."""
    plan = receive(sys.stdin.buffer)
    if plan is not None:
        failure = install(plan)
        with suppress(OSError):  # whoever sent it may be gone
            sys.stdout.write(json.dumps(failure))
            sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
