"""A word to a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer

import click

PATIENCE = 2.0
"""Seconds without a word before a progress line appears."""


@contextmanager
def progress(words: str) -> Iterator[None]:
    """Says what is going on, on a terminal, once it takes more than two seconds; the line goes when it is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    said = Event()

    def say() -> None:
        click.echo(words, err=True, nl=False)
        said.set()

    timer = Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said.is_set():
            click.echo("\r" + " " * len(words) + "\r", err=True, nl=False)


@contextmanager
def bar(words: str, length: int) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal that moves with every piece of work; what it is given says what is done now."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=words, file=sys.stderr, item_show_func=str) as shown:
        yield lambda stage: shown.update(1, stage)
