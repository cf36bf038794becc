"""What ``compare --all`` and ``verify --all`` share: the whole zoo, on all cores, and on where it was."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from symmem.cli.grids import checked, grid_of, parameters
from symmem.cli.progress import bar
from symmem.errors import SymmemError

if TYPE_CHECKING:
    from symmem.checks.sweeps import Row, Work

EVERY = click.option("--all", "every", is_flag=True, help="Sweep over the whole zoo; --timeout is for each.")
JOBS = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    metavar="N",
    help="Processes of a sweep.",
)
RESULTS = click.option(
    "--results", metavar="FILE", help="Keep what a sweep has done in a file, and go on from there."
)
GRID = click.option(
    "--grid",
    "axes",
    multiple=True,
    metavar="PARAMETER=NUMBER,NUMBER...",
    help="Sweep over values of a parameter; repeatable.",
)


def check_options(every: bool, *, of_sweeps: Sequence[str], of_one: Sequence[str]) -> None:
    """An option that the other form of the command has is said at once, and not left unread."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in (of_one if every else of_sweeps):
            home = "is for one optimizer, and not for --all" if every else "belongs to --all"
            raise SymmemError(f"{option.opts[0]} {home}; leave it out")


def _timed(work: Callable[..., Row]) -> Work:
    """In a sweep --timeout is the CPU time of one optimizer; where it is not given, the work has its own."""
    context = click.get_current_context()
    is_given = context.get_parameter_source("timeout") is ParameterSource.COMMANDLINE
    return partial(work, seconds=context.params["timeout"]) if is_given else work


def rows_of(work: Work, words: str, jobs: int, results: str | None, axes: tuple[str, ...] = ()) -> list[Row]:
    """The rows of the whole zoo."""
    from symmem.checks.sweeps import sweep, tasks
    from symmem.declaration.catalogue import names

    todo = tasks(names(), checked(grid_of(axes)), parameters)
    with bar(words, len(todo)) as told:
        if jobs == 1:
            return sweep(_timed(work), todo, results=results, told=told)
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs, initializer=_watch_parent) as executor:
            return sweep(_timed(work), todo, executor, results=results, told=told)


def _watch_parent() -> None:
    """In a process of a sweep: it ends with the one that started it, also where that one was killed."""
    from multiprocessing import parent_process
    from threading import Thread

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
