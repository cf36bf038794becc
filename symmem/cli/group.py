"""The command ``symmem``: the group of all commands.  A command's module is imported when it is run, or listed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from symmem import __version__

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
