"""The command ``symmem``: the group of all commands."""

from __future__ import annotations

import click

from symmem import __version__
from symmem.cli.build import build
from symmem.cli.compare import compare
from symmem.cli.derive import derive
from symmem.cli.emit import emit
from symmem.cli.verify import verify
from symmem.cli.zoo import list_zoo, show


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, no_args_is_help=False
)
@click.version_option(__version__, prog_name="symmem", message="%(prog)s %(version)s")
def commands() -> None:
    """What the memory of an optimizer does to the loss, derived symbolically.

    NAME is an optimizer of the zoo (see symmem list), FILE a declaration in TOML, - standard input.
    """


for command in (list_zoo, show, derive, emit, build, compare, verify):
    commands.add_command(command)
