"""Processes that are killed while they write a set of files, and what is left; a script, for a process of its own.

``kills.py FOLDER SETS MODE``: SETS is a JSON file of ``{name: {relative path: text}}``.  For each set the old files are
laid out, a forked process writes the new ones and dies, and all that it started is waited for.  What is found then has
to be the old set or the new one, and nothing else.  MODE says how it dies: at every call of the file system, one after
the other (``calls``), by a kill after a time (``times``), or in the process that installs (``installer``).
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from symmem.output import files, installation

MOMENTS = 50
INSTALLER_CALLS = 30
NOTICED = ("open", "os.", "fcntl.", "subprocess.", "shutil.")
Texts = dict[str, str]


def die_at(moment: int) -> None:
    """This process ends, without a word, before the call of the file system with this number."""
    seen = 0

    def watch(event: str, _arguments: object) -> None:
        nonlocal seen
        if event.startswith(NOTICED):
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def found(folder: Path) -> Texts:
    """Every file, as text from which its bytes can be had again."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes().decode("utf-8", "surrogateescape") for p in files}


def laid_out(folder: Path, texts: Texts) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def forked(work: Callable[[], None], after: float | None = None) -> bool:
    """Runs the work in a process of its own, kills it after a time; whether it came to its end by itself."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with suppress(ChildProcessError):  # what the dead process has started is ours now: all of it ends
        while True:
            os.wait()
    return os.waitstatus_to_exitcode(status) == 0


def judged(folder: Path, old: Texts, new: Texts) -> str:
    left = found(folder)
    hidden = [path.name for path in folder.parent.iterdir() if path.name.startswith(".")]
    assert not hidden, hidden
    assert left in (old, new), sorted(name for name in {*left, *old, *new} if left.get(name) != old.get(name))
    return "old" if left == old else "new"


def adopt_orphans() -> None:
    """Orphans of our children are ours from now on, so that they can be waited for."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def main() -> None:
    base, sets, mode = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), sys.argv[3]
    adopt_orphans()
    random.seed(7)
    seen: Counter[str] = Counter()
    for new in sets.values() if mode != "installer" else list(sets.values())[:2]:
        old = {name: f"{text}\n# older\n" for name, text in new.items()}
        folder = base / "out"
        contents = {str(folder / name): text for name, text in new.items()}
        moment = 0
        while True:
            moment += 1
            before = old if moment % 4 else {}
            laid_out(folder, before)

            def write(moment: int = moment, contents: Texts = contents, folder: Path = folder) -> None:
                if mode == "calls":
                    die_at(moment)
                elif mode == "installer":
                    files.subprocess.Popen = killed_installer(moment)  # type: ignore[misc,assignment]
                files.write_set(contents, str(folder))

            after = random.uniform(0, 0.06) if mode == "times" else None
            ended = forked(write, after)
            state = judged(folder, before, new)
            seen[state] += 1
            assert mode != "installer" or state == "new"
            if (mode == "calls" and ended) or (mode == "times" and moment == MOMENTS):
                break
            if mode == "installer" and moment > INSTALLER_CALLS:
                break
    print(json.dumps(seen))


def killed_installer(moment: int) -> type:
    """In the place of the process that installs, one that dies at this call of the file system."""

    class Process:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def communicate(self, sent: bytes) -> tuple[bytes, None]:
            child = os.fork()
            if child == 0:
                plan = installation.receive(io.BytesIO(sent))
                assert plan is not None
                die_at(moment)
                installation.install(plan)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            return (b"null" if os.waitstatus_to_exitcode(status) == 0 else b""), None

    return Process


if __name__ == "__main__":
    main()
