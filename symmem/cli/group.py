"""The command ``symmem``: the group of all commands.  A command's module is imported when it is run, or listed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from symmem import __version__
from symmem.cli.streams import silence

COMMANDS: Mapping[str, tuple[str, str]] = {
    "list": ("zoo", "list_zoo"),
    "show": ("zoo", "show"),
    "derive": ("derive", "derive"),
    "emit": ("emit", "emit"),
    "build": ("build", "build"),
    "compare": ("compare", "compare"),
    "same": ("same", "same"),
    "scaling": ("scaling", "scaling"),
    "verify": ("verify", "verify"),
}
"""Name of the command: its module here, and its name there."""


class Commands(click.Group):
    """Knows the names of its commands, and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's interface
        """The names, as ``symmem -h`` shows them."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command; for a name that is none, all are imported, so that click can suggest one."""
        for name in (cmd_name,) if cmd_name in COMMANDS else COMMANDS:
            module, command = COMMANDS[name]
            self.add_command(getattr(import_module(f"symmem.cli.{module}"), command))
        return super().get_command(ctx, cmd_name)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As click does it; ``symmem -h`` is said on the way."""
        with _reader_may_leave():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """As click does it; the help of a command is said on the way."""
        with _reader_may_leave():
            return super().invoke(ctx)


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """A reader of help who has seen enough is no error: ``symmem -h | head``, where click ends with 1."""
    try:
        yield
    except BrokenPipeError:
        silence(sys.stdout)
        raise click.exceptions.Exit(0) from None


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
)
@click.version_option(__version__, prog_name="symmem", message="%(prog)s %(version)s")
def commands() -> None:
    """What the memory of an optimizer does to the loss, derived symbolically.

    NAME is an optimizer of the zoo (see symmem list), FILE a declaration in TOML, - standard input.
    """
