"""A word to a person who waits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
