"""The arguments and options that several commands share."""

from __future__ import annotations

import click

from symmem.work import SECONDS

NAME = click.argument("name", metavar="NAME|FILE|-")
NAMES = click.argument("names", nargs=-1, required=True, metavar="NAME|FILE ...")
ORDER = click.option(
    "--order", default=1, show_default=True, metavar="P", help="The power of h to derive to."
)
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "json"]),
    default="text",
    show_default=True,
    help="The form of the output.",
)
OUTPUT = click.option("-o", "output", metavar="FILE", help="Write to a file instead of standard output.")
TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="The most CPU time to spend.",
)
