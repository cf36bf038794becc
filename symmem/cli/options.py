"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping

import click

from symmem.work import SECONDS


class Seconds(click.ParamType[float]):
    """A positive number of seconds; no bound is no option, since a command always ends."""

    name = "seconds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click's own words for a range are a programmer's."""
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return seconds


class Named(click.Choice[str]):
    """One of several names; for another word the one that is meant is told, by other programs' names or by letters."""

    def __init__(self, names: list[str], meant: Mapping[str, str]) -> None:
        super().__init__(names)
        self.meant = meant

    def get_invalid_choice_message(self, value: str, ctx: click.Context | None) -> str:
        """click's message, and the name that is meant."""
        from symmem.declaration.names import suggestion  # noqa: PLC0415  # for mistakes alone: help needs no SymPy

        word = value.casefold()
        hint = f"; {self.meant[word]}" if word in self.meant else suggestion(word, list(self.choices))
        return f"{super().get_invalid_choice_message(value, ctx).rstrip('.')}{hint}"


FORMATS = {
    **dict.fromkeys(
        ("pdf", "tex"), "for a paper: symmem emit NAME --target latex -o X.tex, with --pdf for a PDF"
    ),
    **dict.fromkeys(("txt", "plain", "unicode"), "write text"),
}
OTHER_TARGETS = {
    **dict.fromkeys(("pytorch", "python-torch"), "write torch"),
    **dict.fromkeys(("tex", "paper"), "write latex"),
    "pdf": "write latex, with --pdf -o X.tex",
    **dict.fromkeys(("matlab", "m"), "write octave"),
    **dict.fromkeys(("python", "np", "py"), "write numpy"),
    **dict.fromkeys(("c++", "cpp", "c11"), "write c, which C++ can call"),
    **dict.fromkeys(("cuda", "gpu", "ptx"), "write triton"),
    **dict.fromkeys(("optax", "flax"), "write jax"),
    **dict.fromkeys(("rocq", "v", "proof", "proofs"), "write coq"),
}

NAME = click.argument("name", metavar="NAME|FILE|-")
NAMES = click.argument("names", nargs=-1, required=True, metavar="NAME|FILE ...")
ORDER = click.option(
    "--order", default=1, show_default=True, metavar="P", help="The power of h to derive to."
)
FORMAT = click.option(
    "--format",
    "form",
    type=Named(["text", "latex", "json"], FORMATS),
    default="text",
    show_default=True,
    help="The form of the output.",
)
OUTPUT = click.option("-o", "output", metavar="FILE", help="Write to a file instead of standard output.")
TIMEOUT = click.option(
    "--timeout",
    type=Seconds(),
    default=SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="The most CPU time to spend.",
)
