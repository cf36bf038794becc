"""Sweeps: one piece of work for every optimizer and every point of a grid, on any executor, and on where it was.

A piece of work is a function of a name and of values for parameters to a row, which is plain data.  It may run in
another process or on another machine: any ``concurrent.futures.Executor`` takes it, Dask's or MPI's too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from symmem import __version__
from symmem.declaration.loading import source_text
from symmem.errors import DeclarationError, SymmemError, quote_path
from symmem.output.files import write_whole

Row = dict[str, Any]
Values = tuple[tuple[str, str], ...]
"""Parameters and their numbers, as text: exact, and plain data."""
Work = Callable[[str, Values], Row]
KIND = "symmem sweep"


@dataclass(frozen=True)
class Task:
    """An optimizer, by its name in the zoo or its path, and the values that are put in."""

    name: str
    values: Values = ()

    @property
    def key(self) -> str:
        """What names the task in a results file."""
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.values)])


def tasks(
    names: Iterable[str], grid: Mapping[str, Sequence[str]], known: Callable[[str], Iterable[str]]
) -> list[Task]:
    """Every name at every point of the grid; of the grid, the parameters that the optimizer has (``known``)."""
    found = []
    for name in names:
        axes = [parameter for parameter in grid if parameter in known(name)] if grid else []
        for point in product(*(grid[axis] for axis in axes)):
            found.append(Task(name, tuple(zip(axes, point, strict=True))))
    return found


def sweep(
    work: Work,
    todo: Sequence[Task],
    executor: Executor | None = None,
    *,
    results: str | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """The rows of all tasks, in their order; ``results`` is a file that keeps what is done, written whole each time."""
    title = work.func.__name__ if isinstance(work, partial) else work.__name__
    kept = {} if results is None else _done(results, title)
    done = {task.key: kept[task.key]["row"] for task in todo if _is_sealed(task, title, kept.get(task.key))}
    left = [task for task in todo if task.key not in done]

    def keep(task: Task, row: Row) -> None:
        done[task.key] = row
        if results is not None:
            kept[task.key] = {"row": row, "seal": _seal(task, title, row)}
            write_whole(results, _text(title, kept))
        told(task.key)

    if executor is None:
        for task in left:
            keep(task, work(task.name, task.values))
    else:
        futures = {executor.submit(work, task.name, task.values): task for task in left}
        try:
            for future in as_completed(futures):
                keep(futures[future], future.result())
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [done[task.key] for task in todo]


def _seal(task: Task, title: str, row: object) -> str:
    """What a row is of: the work, the version, the task and the text of its declaration, as one short number."""
    try:
        declared = source_text(task.name)
    except DeclarationError:
        declared = ""
    parts = [KIND, __version__, title, task.key, declared, json.dumps(row, sort_keys=True)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _is_sealed(task: Task, title: str, entry: object) -> bool:
    """Whether an entry of the file is whole and of this task; another is made anew: nothing is mixed.

    So is one that was spent: with more time it may have an end.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("row"), dict):
        return False
    row = entry["row"]
    own = row.get("name") == task.name and row.get("values") == dict(task.values)
    return own and not row.get("spent") and entry.get("seal") == _seal(task, title, row)


def _text(title: str, rows: Mapping[str, Row]) -> str:
    return json.dumps({"kind": KIND, "symmem": __version__, "work": title, "rows": rows}, indent=1) + "\n"


def _done(path: str, title: str) -> dict[str, Row]:
    """The rows of an earlier run of the same work; nothing where there is no file."""
    if not Path(path).exists():
        return {}
    try:
        # A device may have no end.
        found = json.loads(Path(path).read_text(encoding="utf-8")) if Path(path).is_file() else None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("kind") != KIND or not isinstance(found.get("rows"), dict):
        raise SymmemError(
            f"--results {quote_path(path)}: the file is there and is no results file; choose another"
        )
    if found.get("work") != title or found.get("symmem") != __version__:
        raise SymmemError(
            f"--results {quote_path(path)}: of another sweep or another version; choose another file"
        )
    return dict(found["rows"])
