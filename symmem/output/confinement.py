"""A program that can read no file but those it was given: ``confinement.py FOLDER READABLE ... -- COMMAND ...``.

Run as a script, it gives up the right to open any other file, by Landlock where the kernel of Linux has it (5.13 and
later), limits the time and the size of files, and becomes the command.  Elsewhere the command has the limits alone.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress

SECONDS = 120
LARGEST = 256 * 2**20
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of the system calls, the same on every architecture."""
_EVERYTHING = 2**13 - 1
_READING = 0b1101
"""Of the rights of the first version: execute, read a file, list a folder."""
_OF_FILES = 0b0111
_NO_NEW_PRIVILEGES = 38


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def confine(folder: str, readable: list[str]) -> bool:
    """This process from now on: all in the folder, reading in the readable places.  False without Landlock."""
    library = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(_EVERYTHING)
    rules = library.syscall(_CREATE, ctypes.byref(handled), ctypes.sizeof(handled), 0)
    if rules < 0:
        return False
    for place, rights in [
        (folder, _EVERYTHING),
        (os.devnull, _OF_FILES),
        *((each, _READING) for each in readable),
    ]:
        with suppress(OSError):
            descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
            allowed = rights if os.path.isdir(place) else rights & _OF_FILES
            rule = _Beneath(allowed, descriptor)
            library.syscall(_ADD, rules, 1, ctypes.byref(rule), 0)
            os.close(descriptor)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(library.syscall(_RESTRICT, rules, 0) == 0)


def main() -> None:
    """Confines this process and becomes the command."""
    end = sys.argv.index("--")
    folder, *readable = sys.argv[1:end]
    command = sys.argv[end + 1 :]
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
    with suppress(OSError, AttributeError):  # another system
        confine(folder, readable)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
